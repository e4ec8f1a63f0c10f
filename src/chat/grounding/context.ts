import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { GroundingCell, NamedRows } from './candidates.ts';
import { findMentions, type Mention } from './names/mentions.ts';
import { namedTogether } from './names/ranges.ts';
import { againstWords, versusWords } from './numbers/number-words.ts';
import type { WrittenNumber } from './numbers/read-numbers.ts';
import type { Statement } from './statements.ts';

/** A statement with everything that it says about its numbers. */
export interface StatementContext {
  readonly statement: Statement;
  /** The numbers of the statement, in its order. */
  readonly numbers: readonly WrittenNumber[];
  readonly evidence: readonly QueryEvidence[];
  /** The cells of numbers that are listed in the order of the rows. */
  readonly inOrder: ReadonlyMap<WrittenNumber, GroundingCell>;
}

/** The queries that a number rests on, by the citations of its statement. */
export function citedTables(
  { statement, numbers, evidence }: StatementContext,
  number: WrittenNumber,
): readonly QueryEvidence[] {
  const group =
    /\[q\d+(?:\s*,\s*q\d+)*\](?:\s*(?:,|and|und|et|y|e)?\s*\[q\d+(?:\s*,\s*q\d+)*\])*/gi;
  const citations = [...statement.text.matchAll(group)].map(({ index, 0: ids }) => ({
    at: statement.start + index,
    ids: ids.toLowerCase().match(/q\d+/g) ?? [],
  }));
  const [firstNumber] = numbers;
  const [first] = citations;
  if (first === undefined) return evidence;
  const standBefore = firstNumber !== undefined && first.at < firstNumber.start;
  const own = standBefore
    ? citations.findLast(({ at }) => at < number.start)
    : citations.find(({ at }) => at > number.start);
  const ids: readonly string[] = own?.ids ?? citations.flatMap((citation) => citation.ids);
  const tables = evidence.filter(({ id }) => ids.includes(id));
  return tables.length > 0 ? tables : evidence;
}

/** All queries that a statement cites; all of the answer if it cites none. */
export function allCitedTables({
  statement,
  evidence,
}: Pick<StatementContext, 'statement' | 'evidence'>): readonly QueryEvidence[] {
  const ids = [...statement.text.matchAll(/\[(q\d+(?:\s*,\s*q\d+)*)\]/gi)].flatMap(
    ([, cited = '']) => cited.toLowerCase().split(/\s*,\s*/),
  );
  const tables = evidence.filter(({ id }) => ids.includes(id));
  return tables.length > 0 ? tables : evidence;
}

/** The rows of a query that a text names; undefined if it names none. */
export function namedRows(query: QueryEvidence, text: string): ReadonlySet<number> | undefined {
  return rowsWith(query, findMentions(withoutCitations(text), [query]));
}

function withoutCitations(text: string): string {
  return text.replaceAll(/\[q\d+(?:\s*,\s*q\d+)*\]/gi, (citation) => ' '.repeat(citation.length));
}

/** What a number belongs to. */
export interface NumberPlace extends Omit<NamedRows, 'mentioned'> {
  /** True if the statement names a row of a table that has several. */
  readonly hasNames: boolean;
  /** The name that the number is itself: a year. */
  readonly self?: Mention | undefined;
  /** What stands above the number in a table. */
  readonly header: string;
}

/** The rows that a number belongs to, by the names around it. */
export function placeNumber(
  context: StatementContext,
  number: WrittenNumber,
  tables: readonly QueryEvidence[],
): NumberPlace {
  const { statement } = context;
  const text = withoutCitations(statement.text);
  const mentions = findMentions(text, tables);
  const at = number.start - statement.start;
  const self = mentions.find(({ start, end }) => start <= at && at < end);
  const cell = statement.cells.find(
    ({ start, end }) => start <= number.start && number.start < end,
  );
  const header = cell?.header ?? '';
  const above = findMentions(header, tables);
  const picked = tables.map((table): PickedRows => {
    const ofTable = mentions.filter(({ query }) => query === table.id);
    const ofHeader = above.filter(({ query }) => query === table.id);
    const names = pickNames({ context, number, text }, ofTable, ofHeader);
    const near = nearRows(table, names);
    const named = rowsWith(table, [...ofTable, ...ofHeader]);
    const together = namedTogether(text, ofTable).map((group) => rowsWith(table, group));
    const behind = nameBehind(context, number, ofTable);
    return { id: table.id, near, named, names, behind, together };
  });
  const find = (id: string) => picked.find((rows) => rows.id === id);
  return {
    isNear: (query, row) => find(query)?.near?.has(row) ?? true,
    named: (query) => find(query)?.named,
    groups: (query, column) => groupsOf(find(query), column),
    together: (query) => find(query)?.together.filter((rows) => rows !== undefined) ?? [],
    hasNames: picked.some(({ named }) => named !== undefined),
    self,
    header,
  };
}

interface PickedRows {
  readonly id: string;
  /** Undefined for all rows. */
  readonly near: ReadonlySet<number> | undefined;
  readonly named: ReadonlySet<number> | undefined;
  /** For each column that is named: the names that the number may belong to. */
  readonly names: ReadonlyMap<number, readonly string[]>;
  /** What is named between the number and the next one. */
  readonly behind: readonly Mention[];
  /** Rows that are named in one breath. */
  readonly together: readonly (ReadonlySet<number> | undefined)[];
}

/** The names that a number may belong to, and one right behind it: `26 on desktop`. */
function groupsOf(picked: PickedRows | undefined, column: number): ReadonlySet<string> | undefined {
  const names = picked?.names.get(column);
  if (names === undefined || picked === undefined) return undefined;
  const behind = picked.behind.filter((mention) => mention.column === column);
  return new Set([...names, ...behind.map(({ cell }) => cell)]);
}

function nameBehind(
  { statement, numbers }: StatementContext,
  number: WrittenNumber,
  mentions: readonly Mention[],
): readonly Mention[] {
  const next = numbers.find(({ start }) => start > number.start);
  const from = number.end - statement.start;
  const to = next === undefined ? statement.text.length : next.start - statement.start;
  return mentions.filter(({ start, end }) => from <= start && end <= to && start - from < 40);
}

interface PickInput {
  readonly context: StatementContext;
  readonly number: WrittenNumber;
  /** Of the statement, without citations. */
  readonly text: string;
}

/** For each column that is named: the names that the number may belong to. */
function pickNames(
  input: PickInput,
  mentions: readonly Mention[],
  above: readonly Mention[],
): ReadonlyMap<number, readonly string[]> {
  const columns = new Set([...mentions, ...above].map(({ column }) => column));
  const picks = new Map(
    [...columns].map((column) => {
      const ofHeader = above.filter((mention) => mention.column === column);
      const names = mentions.filter((mention) => mention.column === column);
      const found = ofHeader.length > 0 ? ofHeader : pickFromColumn(input, names);
      const picked = isOfOtherNumber(input, found, mentions) ? [] : found;
      return [column, picked.map(({ cell }) => cell)];
    }),
  );
  return new Map([...picks].filter(([, cells]) => cells.length > 0));
}

/**
 * `81 in 2023 to 90 in 2024, Chur from 41 to 39`: the last year belongs to the number before it,
 * and a comma and a name of another column begin something new.
 */
function isOfOtherNumber(
  { context: { statement, numbers }, number, text }: PickInput,
  picked: readonly Mention[],
  mentions: readonly Mention[],
): boolean {
  const [own] = picked;
  const at = number.start - statement.start;
  if (own === undefined || own.end > at) return false;
  const isTaken = numbers.some((before) => {
    const end = before.end - statement.start;
    return before !== number && end <= own.start && prepositionGap.test(text.slice(end, own.start));
  });
  const subject = mentions.find(
    ({ column, start, end }) => column !== own.column && start >= own.end && end <= at,
  );
  return isTaken && subject !== undefined && /[,;]/.test(text.slice(own.end, subject.start));
}

/**
 * The name that a number belongs to: the last one before it, or, where the numbers stand before the
 * names (`5 for EMEA, 3 for APAC`), the next one. Several numbers behind the last of several names
 * belong to all of them.
 */
function pickFromColumn(
  { context: { statement, numbers: all }, number, text }: PickInput,
  everywhere: readonly Mention[],
): readonly Mention[] {
  const { names, numbers } = ofClause({ statement, text, number }, everywhere, all);
  const at = (written: WrittenNumber) => written.start - statement.start;
  const values = numbers.filter(
    (written) =>
      /\d/.test(written.text) &&
      !written.isYear &&
      !names.some(({ start, end }) => start <= at(written) && at(written) < end),
  );
  const position = at(number);
  const next = rightBehind(text, position + number.text.length, names);
  if (next !== undefined) return names.filter(({ start }) => start === next.start);
  const [firstValue] = values;
  const nearest = nearestName(text, { names, position, first: firstValue && at(firstValue) });
  if (nearest === undefined) return [];
  const last = names.at(-1);
  const isLast = last !== undefined && nearest.start === last.start && position > last.start;
  const behind = values.filter((written) => last !== undefined && at(written) > last.start);
  if (!isLast || behind.length < 2 || new Set(names.map(({ cell }) => cell)).size < 2)
    return names.filter(({ start }) => start === nearest.start);
  const between = values.some(
    (written) => at(written) > (names[0]?.start ?? 0) && at(written) < last.start,
  );
  const words = between ? versusWords : againstWords;
  const inOrder = pairedName({ names, behind, number, text, words, offset: statement.start });
  if (inOrder !== undefined) return [inOrder];
  return between ? names.filter(({ start }) => start === nearest.start) : names;
}

/** The name before a number, or the one behind it where numbers stand before their names. */
function nearestName(
  text: string,
  {
    names,
    position,
    first,
  }: {
    readonly names: readonly Mention[];
    readonly position: number;
    /** Where the first number stands. */
    readonly first: number | undefined;
  },
): Mention | undefined {
  const before = names.findLast(({ start }) => start < position);
  const after = names.find(({ start }) => start > position);
  const comesFirst = first !== undefined && (names[0]?.start ?? -1) > first;
  const isNextCloser =
    comesFirst && !isCloser(text, { from: before?.end, at: position, to: after?.start });
  return isNextCloser ? (after ?? before) : (before ?? after);
}

/** `5 for EMEA`: nothing but a preposition stands between the number and the name. */
function rightBehind(text: string, end: number, names: readonly Mention[]): Mention | undefined {
  const after = names.find(({ start }) => start >= end);
  if (after === undefined) return undefined;
  const gap = text.slice(end, after.start);
  // `Ulm heeft 5 en Jena 3`: what is `in` in one language is `and` in another.
  const before = names.findLast((name) => name.end <= end);
  const isTaken =
    before !== undefined &&
    !/\d|[,;:]/.test(text.slice(before.end, end - 1).replace(/[\d.,\s]+$/, ''));
  if (isTaken && /^\s*[%％]?\s*(?:en|i|a|na)\s+$/iu.test(gap)) return undefined;
  return prepositionGap.test(gap) ? after : undefined;
}

const prepositionGap =
  /^\s*(?:[%％€$£]|EUR|USD|GBP|CHF|kr)?\s*(?:for|in|of|at|by|on|from|del|de|des|di|nel|von|van|do|da|z|av|bei|für|im|in der|in den|auf|pour|en|à|au|para|em|no|na|per|nel|a|voor|op|dla|w|i|för)\s+(?:the\s+)?$/iu;

/** True if the number follows the name before it at once, and not the name behind it. */
function isCloser(
  text: string,
  {
    from,
    at,
    to,
  }: { readonly from: number | undefined; readonly at: number; readonly to: number | undefined },
): boolean {
  if (from === undefined || to === undefined) return false;
  const gap = text.slice(from, at);
  // In brackets behind the name: `in 2024 (6.8 of 27.6)`.
  if (/^\s?\([^()]*$/.test(gap)) return true;
  const behind = text.slice(at, to).replace(/^[\d.,\s]+/, '');
  return !partEnd.test(gap) && !/\d/.test(gap) && (partEnd.test(behind) || /\d/.test(behind));
}

const partEnd =
  /[,;:)、，；：）]|(?<!\p{L})(?:and|und|et|y|e|och|while|but|against|versus|vs)(?!\p{L})/iu;

/** What stands between the semicolons around a number; all of the statement if it names nothing. */
function ofClause(
  {
    statement,
    text,
    number,
  }: { readonly statement: Statement; readonly text: string; readonly number: WrittenNumber },
  names: readonly Mention[],
  numbers: readonly WrittenNumber[],
): { readonly names: readonly Mention[]; readonly numbers: readonly WrittenNumber[] } {
  const at = number.start - statement.start;
  const from = text.lastIndexOf(';', at);
  const next = text.indexOf(';', at);
  const to = next < 0 ? text.length : next;
  const own = names.filter(({ start }) => from < start && start < to);
  if (own.length === 0) return { names, numbers };
  const isIn = ({ start }: WrittenNumber) =>
    from < start - statement.start && start - statement.start < to;
  return { names: own, numbers: numbers.filter(isIn) };
}

/** What is compared stands before these words. */
const thanWords = /(?<!\p{L})(?:than|als|que|di|dan|än|niż)(?!\p{L})/iu;

interface PairInput {
  readonly names: readonly Mention[];
  readonly behind: readonly WrittenNumber[];
  readonly number: WrittenNumber;
  readonly text: string;
  /** What may stand between the two numbers. */
  readonly words: RegExp;
  readonly offset: number;
}

/** `A is ahead of B: 5 against 3`: the numbers are in the order of the names. */
function pairedName({
  names,
  behind,
  number,
  text,
  words,
  offset,
}: PairInput): Mention | undefined {
  const [one, other] = behind.slice(-2);
  if (one === undefined || other === undefined) return undefined;
  const between = text.slice(one.end - offset, other.start - offset);
  if (between.length > 40 || !words.test(between)) return undefined;
  const than = text.search(thanWords);
  const subject = names.findLast(({ end }) => end <= than);
  if (number === one) return subject ?? names.at(-2);
  return number === other ? names.at(-1) : undefined;
}

function nearRows(
  { rows }: QueryEvidence,
  picked: ReadonlyMap<number, readonly string[]>,
): ReadonlySet<number> | undefined {
  if (picked.size === 0) return undefined;
  const has = (row: readonly unknown[], [column, cells]: readonly [number, readonly string[]]) =>
    cells.includes(String(row[column]));
  const all = rows.flatMap((row, index) =>
    [...picked].every((names) => has(row, names)) ? [index] : [],
  );
  const some = rows.flatMap((row, index) =>
    [...picked].some((names) => has(row, names)) ? [index] : [],
  );
  return new Set(all.length > 0 ? all : some);
}

function rowsWith(
  { rows }: QueryEvidence,
  mentions: readonly Mention[],
): ReadonlySet<number> | undefined {
  if (mentions.length === 0) return undefined;
  const columns = new Map<number, Set<string>>();
  for (const { column, cell } of mentions)
    columns.set(column, (columns.get(column) ?? new Set()).add(cell));
  const named = rows.flatMap((row, index) =>
    [...columns].every(([column, cells]) => cells.has(String(row[column]))) ? [index] : [],
  );
  return named.length === 0 ? undefined : new Set(named);
}
