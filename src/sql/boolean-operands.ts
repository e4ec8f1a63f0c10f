import type { Span } from './analyzer.ts';
import { findClosing, isSymbol, isWord, type Token } from './tokens.ts';

/**
 * The operands of OR at the top level, parentheses around the whole ignored; one span if there is
 * no OR.
 */
export function splitDisjuncts(tokens: readonly Token[]): readonly Span[] {
  const inner = stripParentheses(tokens);
  const cuts = topLevelIndexes(inner).filter((index) => isWord(inner[index], 'or'));
  return spansBetween(inner, cuts);
}

/**
 * The operands of AND at the top level, parentheses around the whole ignored; `whole` if there is
 * an OR beside them.
 */
export function splitConjuncts(tokens: readonly Token[], whole: Span): readonly Span[] {
  const inner = stripParentheses(tokens);
  const cuts: number[] = [];
  let openBetweens = 0;
  for (const index of topLevelIndexes(inner)) {
    const token = inner[index];
    if (isWord(token, 'or')) return [whole];
    if (isWord(token, 'between')) openBetweens += 1;
    else if (isWord(token, 'and') && openBetweens > 0) openBetweens -= 1;
    else if (isWord(token, 'and')) cuts.push(index);
  }
  return spansBetween(inner, cuts);
}

/** True if the tokens are a condition, and not a value: they compare, or join conditions. */
export function isCondition(tokens: readonly Token[]): boolean {
  const inner = stripParentheses(tokens);
  return topLevelIndexes(inner).some((index) => {
    const token = inner[index];
    const isComparison = token?.kind === 'symbol' && '=<>'.includes(token.text);
    return isComparison || isWord(token, ...conditionWords);
  });
}

const conditionWords = ['and', 'or', 'not', 'is', 'in', 'like', 'between', 'exists', 'ilike'];

/**
 * True if a name stands where a condition does: it is an operand of AND, OR, NOT or WHEN, but not
 * all there is.
 */
export function isOperand(tokens: readonly Token[], { start, end }: Span): boolean {
  let before = tokens.findIndex((token) => token.start === start) - 1;
  let after = tokens.findIndex((token) => token.end === end) + 1;
  while (isSymbol(tokens[before], '(') && isSymbol(tokens[after], ')')) {
    if (isCall(tokens, before)) return false;
    before -= 1;
    after += 1;
  }
  const [previous, next] = [tokens[before], tokens[after]];
  if (previous === undefined && next === undefined) return false;
  const closes = next === undefined || isSymbol(next, ')') || isWord(next, 'and', 'or', 'then');
  return closes && opensOperand(tokens, before);
}

/** True if a condition can begin behind the token. */
function opensOperand(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  if (token === undefined) return true;
  if (isSymbol(token, '(')) return !isCall(tokens, index);
  return isWord(token, ...operandWords) && !isBetween(tokens, index);
}

/** True for the parenthesis of a function's arguments. */
function isCall(tokens: readonly Token[], index: number): boolean {
  const caller = tokens[index - 1];
  return caller?.kind === 'word' && !isWord(caller, ...operandWords);
}

const operandWords = ['and', 'or', 'not', 'when'];

/** True for the AND of `x between 1 and 2`. */
function isBetween(tokens: readonly Token[], index: number): boolean {
  return isWord(tokens[index], 'and') && isWord(tokens[index - 2], 'between');
}

function stripParentheses(tokens: readonly Token[]): readonly Token[] {
  if (!isSymbol(tokens[0], '(')) return tokens;
  // Where the parenthesis that closes at an index opens.
  const openings = new Map<number, number>();
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (isSymbol(token, '(')) open.push(index);
    else if (isSymbol(token, ')')) openings.set(index, open.pop() ?? -1);
  }
  let outer = 0;
  while (openings.get(tokens.length - 1 - outer) === outer) outer += 1;
  return tokens.slice(outer, tokens.length - outer);
}

/** The indexes of tokens outside of parentheses and CASE; members of a dotted name are skipped. */
function topLevelIndexes(tokens: readonly Token[]): readonly number[] {
  const indexes: number[] = [];
  let caseDepth = 0;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (isSymbol(tokens[index - 1], '.')) continue;
    if (isSymbol(token, '(')) index = findClosing(tokens, index);
    else if (isWord(token, 'case')) caseDepth += 1;
    else if (isWord(token, 'end')) caseDepth -= 1;
    else if (caseDepth === 0) indexes.push(index);
  }
  return indexes;
}

/** The spans between the tokens at `cuts`. */
function spansBetween(tokens: readonly Token[], cuts: readonly number[]): readonly Span[] {
  const starts = [0, ...cuts.map((cut) => cut + 1)];
  return starts.map((start, index) => ({
    start: tokens[start]?.start ?? 0,
    end: tokens[(cuts[index] ?? tokens.length) - 1]?.end ?? 0,
  }));
}
