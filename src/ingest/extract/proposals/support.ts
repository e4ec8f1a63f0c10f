import type { NamedDataset } from '../../../context/claims/name-index.ts';
import { contradictionIn, contradictionInFormula, statesUnit } from './contradictions.ts';
import { isComputedFrom, missingNumbers, numbersIn, statedNumbers } from './numbers.ts';
import { refusal } from './resolve-names.ts';
import { foldText, isFullyNamed, isNamed, sharesWords } from './words.ts';

/** What a proposal says, and the words around its quote that have to bear it out. */
interface Supported {
  /** The paragraph of the quote with the headings above it; of SQL, the passage. */
  readonly context: string;
  readonly quote: string;
  /** Of the thing that is claimed. Some word of each has to stand in the context. */
  readonly names?: readonly string[];
  /**
   * Prose for people. Its numbers and code words have to stand in the context, and some of its
   * words; it turns nothing round.
   */
  readonly texts?: readonly string[];
  /** Other names, tags and values. Each has to stand in the context with all its words. */
  readonly words?: readonly string[];
  /** SQL. Its columns, numbers and texts have to stand in the context. */
  readonly formulas?: readonly string[];
  /** The aggregate of the formulas. */
  readonly agg?: string | undefined;
  readonly unit?: string | undefined;
  /** The dataset of the formulas. */
  readonly owner?: NamedDataset;
  /** Other words for a field of that dataset, such as its description. */
  readonly otherWords?: (field: string) => readonly string[];
}

/**
 * Refuses what the quoted paragraph does not say: a quote proves nothing if it stands in a sentence
 * about something else. The answer names what is missing.
 */
export function requireSupport(supported: Supported): void {
  const { context, names = [], words = [], formulas = [], unit } = supported;
  const texts = (supported.texts ?? []).filter((text) => text !== '');
  const place = foldText(context);
  for (const text of [...names, ...texts, ...words]) requirePlainText(text, context);
  for (const formula of formulas) requireMeaning(formula);
  const missing = [
    ...names.filter((name) => !isNamed(place, [name])),
    ...texts.flatMap((text) => missingNumbers(text, context)),
    ...[...texts, ...words].flatMap((text) => missingCodeWords(text, place)),
    ...words.filter((word) => !isStated(word, context, place)),
    ...formulas.flatMap((formula) => missingInFormula(formula, supported, place)),
    ...(unit === undefined || statesUnit(unit, context) ? [] : [unit]),
    ...texts.filter((text) => !sharesWords(text, place)).map((text) => `“${text.slice(0, 60)}”`),
  ];
  if (missing.length > 0)
    throw refusal(
      `The paragraph of the quote does not say ${[...new Set(missing)].slice(0, 5).join(', ')}. Quote the words that do, or leave it out.`,
    );
  // As one text: a title leaves out what its definition says.
  const reversed =
    (texts.length === 0 ? undefined : contradictionIn(texts.join('. '), supported)) ??
    contradictionInFormula({ formulas, agg: supported.agg }, supported);
  if (reversed !== undefined)
    throw refusal(
      `The paragraph of the quote says something else: ${reversed}. Say what it says, or leave it out.`,
    );
}

/** Another name, a tag or a value: with all its words, or as it is. */
function isStated(word: string, context: string, place: string): boolean {
  return /\p{L}/u.test(word) ? isFullyNamed(place, word) : context.includes(word);
}

const unsteady = /\b(?:random\w*|rand|newid|uuid\w*|gen_random_uuid|setseed)\s*\(/i;
const plainComparison = /([\w.]+)\s*(?:<>|!=|<=|>=|=|<|>)\s*([\w.]+)/g;

/** Refuses formulas that compute something else each time, and conditions that decide nothing. */
function requireMeaning(formula: string): void {
  const sql = formula.replaceAll(/'(?:[^']|'')*'/g, "''");
  if (unsteady.test(sql)) throw refusal('It computes something else each time: leave that out.');
  const isNumber = (text: string) => /^[\d.]+$/.test(text);
  for (const [condition, left = '', right = ''] of sql.matchAll(plainComparison))
    if (left.toLowerCase() === right.toLowerCase() || (isNumber(left) && isNumber(right)))
      throw refusal(`${condition} decides nothing: leave it out.`);
}

/** Letters that look like others: a word has those of one script. */
const mixedWord =
  /(?=\p{L}*\p{Script=Latin})(?=\p{L}*[\p{Script=Cyrillic}\p{Script=Greek}])\p{L}+/gu;

const markup = /<\/?[a-z!][^<>]*>|\]\(|!\[|\]\[/i;
const address = /\b(?:https?:\/\/|www\.)[^\s)>\]]*[^\s)>\].,;:!?]/gi;

function requirePlainText(text: string, context: string): void {
  if (markup.test(text)) throw refusal('Write plain words: no HTML and no Markdown.');
  const mixed = (text.match(mixedWord) ?? []).find((word) => !context.includes(word));
  if (mixed !== undefined) throw refusal(`${mixed} has letters of two scripts.`);
  const unknown = (text.match(address) ?? []).find((link) => !context.includes(link));
  if (unknown !== undefined) throw refusal(`The item has no link ${unknown.slice(0, 100)}.`);
}

/** Names in the spelling of code, like `order_items` or `orders.amount`. */
function missingCodeWords(text: string, place: string): string[] {
  const words = text.match(/[\p{L}\p{N}]+(?:_[\p{L}\p{N}_]+|(?:\.\p{L}[\p{L}\p{N}_]+)+)/gu) ?? [];
  return words.filter((word) => !isNamed(place, [word]));
}

/** Numbers that a formula needs without anybody saying them. */
const neutralNumbers = new Set([0, 1, 100]);

function missingInFormula(
  formula: string,
  { context, owner, otherWords = () => [] }: Supported,
  place: string,
): string[] {
  const stated = statedNumbers(context);
  const texts = [...formula.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text);
  const rest = formula.replaceAll(/'(?:[^']|'')*'/g, ' ');
  const numbers = numbersIn(rest).filter(
    (number) => !neutralNumbers.has(number) && !isComputedFrom(number, stated),
  );
  const fields = (rest.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []).flatMap(
    (word) => owner?.fields.get(word.toLowerCase()) ?? [],
  );
  return [
    ...fields.filter((field) => !isNamed(place, [field, ...otherWords(field)])),
    ...numbers.map(String),
    ...texts.filter((text) => !isNamed(place, [text])).map((text) => `'${text.slice(0, 40)}'`),
  ];
}
