import { isWithin, type Span } from '../../sql/analyzer.ts';
import { findClosing, isSymbol, isWord, type Token } from '../../sql/tokens.ts';
import { division } from './query-tree.ts';
import type { SqlSplice } from './sql-piece.ts';

/**
 * Makes each `a / b` among the tokens keep its fraction, and be NULL if `b` is 0: engines truncate
 * whole numbers, and give an error, NULL or infinity for a zero. `a % b` is NULL too. What cannot
 * truncate or is no zero stays as written, as does everything in `replaced`.
 */
export function divisionSplices(
  tokens: readonly Token[],
  replaced: readonly Span[] = [],
): readonly SqlSplice[] {
  return tokens.flatMap((token, index): readonly SqlSplice[] => {
    if (!isDivision(tokens, index) || replaced.some((span) => isWithin(token, span))) return [];
    const { start, end } = token;
    const next = tokens[index + 1];
    const canTruncate = token.text === '/' && !hasDecimalBeside(tokens, index);
    const operator = canTruncate ? division : token.text;
    const operandEnds = operandEnd(tokens, index + 1);
    if (isNumberEndingAt(tokens, index + 1, operandEnds))
      return canTruncate ? [{ start, end, parts: [operator] }] : [];
    return [
      { start: operandEnds, end: operandEnds, parts: [', 0)'] },
      { start, end: next?.start ?? operandEnds, parts: [operator, ' NULLIF('] },
    ];
  });
}

/** True for a `/` or `%` with an operand before it, which is no part of `//` or `|/`. */
function isDivision(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  const before = tokens[index - 1];
  if (!isSymbol(token, '/') && !isSymbol(token, '%')) return false;
  if (before === undefined || isSymbol(tokens[index + 1], '/')) return false;
  return before.kind !== 'symbol' || ')]'.includes(before.text);
}

/** True if the operand at `index` is a number, with a sign or without, that is not 0. */
function isNumberEndingAt(tokens: readonly Token[], index: number, end: number): boolean {
  const first = tokens[index];
  const isSigned = isSymbol(first, '-') || isSymbol(first, '+');
  const number = isSigned ? tokens[index + 1] : first;
  return number?.kind === 'number' && Number(number.text) !== 0 && number.end === end;
}

function hasDecimalBeside(tokens: readonly Token[], index: number): boolean {
  return [tokens[index - 1], tokens[index + 1]].some(
    (operand) => operand?.kind === 'number' && /[.e]/i.test(operand.text),
  );
}

/**
 * The text offset where the operand at `index` ends: signs, then a name, literal, call, CASE or
 * parentheses, then casts.
 */
function operandEnd(tokens: readonly Token[], index: number): number {
  const first = tokens[index];
  if (isSymbol(first, '-') || isSymbol(first, '+')) return operandEnd(tokens, index + 1);
  return tokens[lastCast(tokens, lastOfOperand(tokens, index))]?.end ?? 0;
}

function lastOfOperand(tokens: readonly Token[], index: number): number {
  if (isSymbol(tokens[index], '(')) return findClosing(tokens, index);
  let last = isWord(tokens[index], 'case') ? endOfCase(tokens, index) : index;
  while (isSymbol(tokens[last + 1], '.')) last += 2;
  return isSymbol(tokens[last + 1], '(') ? findClosing(tokens, last + 1) : last;
}

function lastCast(tokens: readonly Token[], operand: number): number {
  let last = operand;
  while (isSymbol(tokens[last + 1], '::')) {
    last += 2;
    while (isWord(tokens[last + 1], 'precision', 'varying')) last += 1;
    if (isSymbol(tokens[last + 1], '(')) last = findClosing(tokens, last + 1);
  }
  return last;
}

function endOfCase(tokens: readonly Token[], start: number): number {
  let depth = 0;
  return tokens.findIndex((token, index) => {
    if (index < start) return false;
    if (isWord(token, 'case')) depth += 1;
    if (isWord(token, 'end')) depth -= 1;
    return depth === 0;
  });
}
