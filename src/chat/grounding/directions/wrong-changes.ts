import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { namedRows } from '../context.ts';
import { nearness } from '../fits.ts';
import type { GroundedClaim } from '../ground-answer.ts';
import { findMentions } from '../names/mentions.ts';
import { readNumbers, type WrittenNumber } from '../numbers/read-numbers.ts';
import type { Statement } from '../statements.ts';
import { numberOf } from '../values.ts';
import { onlyChangeWord } from './change-words.ts';
import { isDoubtful } from './direction-words.ts';
import { referenceOf, timeOfRowLabels } from './times.ts';

/** A claim with the value that it is bound to. */
export interface ValuedClaim {
  readonly claim: GroundedClaim;
  readonly value: number | undefined;
}

/** From one value to another, in the order of time or from what is compared with. */
interface ValueStep {
  readonly from: number;
  readonly to: number;
  /** For a reason: where the two stand. */
  readonly places: readonly string[];
  /** The rows of a query, where it is two of one. */
  readonly rows?: readonly [query: string, from: number, to: number];
}

interface Around {
  readonly statement: Statement;
  /** The claims of the statement and of the two before it. */
  readonly near: readonly ValuedClaim[];
  readonly evidence: readonly QueryEvidence[];
}

/**
 * Words beside a change that say the opposite of the rows: `down 30 %` where the value rose by as
 * much. Silent where no two values of known order give the number, or where they do not agree.
 */
export function wrongChanges({ claim }: ValuedClaim, around: Around): readonly GroundedClaim[] {
  const { text, start } = around.statement;
  const [number] = readNumbers(claim.text);
  if (number === undefined || claim.status === 'cell' || claim.status === 'question') return [];
  const word = wordBeside(text, claim.span[0] - start, claim.span[1] - start);
  if (word === undefined) return [];
  const referred = referredRow(word, around);
  const matching = stepsAround(around)
    .filter((step) => isOf(number, step, text))
    .flatMap((step) => fromReferred(step, referred));
  const signs = new Set(matching.map(({ from, to }) => Math.sign(to - from)));
  const [step] = matching;
  if (step === undefined || signs.size > 1 || !signs.has(-word.sign)) return [];
  return [
    {
      kind: 'direction',
      text: word.text,
      span: [start + word.start, start + word.end],
      status: 'ungrounded',
      evidence: [],
      derivation: 'b - a',
      reason: `the rows say the opposite: from ${step.from} (${step.places[0]}) to ${step.to} (${step.places[1]})`,
    },
  ];
}

/** The row that is named right behind `above` or `more than`: what is compared with. */
function referredRow(
  { isBehind, end }: { readonly isBehind: boolean; readonly end: number },
  { statement, evidence }: Around,
) {
  if (!isBehind) return undefined;
  const mention = findMentions(statement.text, evidence).find(
    ({ start }) => start >= end && start - end < 24,
  );
  const query = evidence.find(({ id }) => id === mention?.query);
  const row = query?.rows.findIndex(
    (cells) => String(cells[mention?.column ?? 0]) === mention?.cell,
  );
  return query === undefined || row === undefined ? undefined : { query: query.id, row };
}

function fromReferred(
  step: ValueStep,
  referred: { readonly query: string; readonly row: number } | undefined,
): readonly ValueStep[] {
  const [query, from, to] = step.rows ?? [];
  if (referred === undefined || query !== referred.query || from === referred.row) return [step];
  if (to !== referred.row) return [];
  return [{ from: step.to, to: step.from, places: step.places.toReversed() }];
}

/** The word for a direction in the clause of a number: close before it, or right behind it. */
function wordBeside(text: string, from: number, to: number) {
  const before = /(?:[^;:.!?()\d|]|(?<=\d)\.(?=\d)){0,48}$/u.exec(text.slice(0, from))?.[0] ?? '';
  const behind = /^(?:\s?[€$£%]|[^;:.!?()\d|,，。]){0,28}/u.exec(text.slice(to))?.[0] ?? '';
  const clause = `${before}${' '.repeat(to - from)}${behind}`;
  const word = onlyChangeWord(clause, before.length);
  if (word === undefined || isDoubtful(clause.replaceAll(/[;:?]/g, ' '))) return undefined;
  if (/^[-−+]/.test(text.slice(from, to))) return undefined;
  const offset = from - before.length;
  return { ...word, start: offset + word.start, end: offset + word.end };
}

function isOf(number: WrittenNumber, { from, to }: ValueStep, text: string): boolean {
  if (from < 0 || to < 0 || from === to) return false;
  const near = nearness(number, false);
  const change = Math.abs(to - from);
  const isPoints = /\p{L}/u.test(number.text.replace(/percent|prozent(?!p)/iu, ''));
  const behind = text.slice(text.indexOf(number.text) + number.text.length, undefined).slice(0, 16);
  const values = [
    ...(number.isPercent && from !== 0 ? [(change / from) * 100] : []),
    ...(isPoints || !number.isPercent ? [change] : []),
    ...(isPoints && to <= 1 && from <= 1 ? [change * 100] : []),
    ...(/^\s?(?:basis|bps?(?!\p{L}))/iu.test(behind) ? [change * 10_000, change * 100] : []),
  ];
  return values.some((value) => number.readings.some((reading) => near(value, reading)));
}

function stepsAround({ statement, near, evidence }: Around): readonly ValueStep[] {
  return [
    ...betweenClaims(near, evidence),
    ...evidence.flatMap((query) => [
      ...betweenRows(query, statement),
      ...acrossColumns(query, statement, near),
    ]),
  ];
}

/** Two bound numbers of the same kind in rows whose times are known. */
function betweenClaims(
  near: readonly ValuedClaim[],
  evidence: readonly QueryEvidence[],
): readonly ValueStep[] {
  const located = near.flatMap(({ claim, value }) => {
    const rows = new Set(claim.evidence.map(({ query, row }) => `${query} ${row}`));
    const [cell] = claim.evidence;
    const query = evidence.find(({ id }) => id === cell?.query);
    if (query === undefined || cell?.row === undefined || rows.size > 1) return [];
    const time = timeOfRowLabels(query, cell.row);
    if (value === undefined || time === undefined) return [];
    const columns = claim.evidence.map(({ column }) => column).join(' ');
    const unit = `${query.id} ${columns} ${claim.derivation ?? ''}`;
    const place = `${query.id}, row ${cell.row + 1}`;
    return [{ value, time, unit, place, query: query.id, row: cell.row }];
  });
  return located.flatMap((a, index) =>
    located.slice(index + 1).flatMap((b): readonly ValueStep[] => {
      if (a.unit !== b.unit || a.time.form !== b.time.form || a.time.at === b.time.at) return [];
      const [first, last] = a.time.at < b.time.at ? [a, b] : [b, a];
      return [
        {
          from: first.value,
          to: last.value,
          places: [first.place, last.place],
          rows: [first.query, first.row, last.row],
        },
      ];
    }),
  );
}

/** Rows in time that the statement names, and the row before each. */
function betweenRows(query: QueryEvidence, { text }: Statement): readonly ValueStep[] {
  const kinds = columnKinds(query);
  const named = [...(namedRows(query, text) ?? [])];
  const rows = query.rows.length === 2 && named.length === 0 ? [0, 1] : named;
  if (rows.length === 0 || rows.length > 4) return [];
  const pairs = rows.flatMap((row) => [
    [row - 1, row] as const,
    ...rows.filter((next) => next > row).map((next) => [row, next] as const),
  ]);
  return pairs.flatMap(([one, two]) => {
    const [a, b] = [timeOfRowLabels(query, one), timeOfRowLabels(query, two)];
    if (a === undefined || b === undefined || a.form !== b.form || a.at === b.at) return [];
    const [first, last] = a.at < b.at ? [one, two] : [two, one];
    return query.columns.flatMap((_, column): readonly ValueStep[] => {
      const [from, to] = [first, last].map((row) => numberOf(query.rows[row]?.[column]));
      if (from === undefined || to === undefined || isLabel(kinds[column])) return [];
      const places = [first, last].map((row) => `${query.id}, row ${row + 1}`);
      return [{ from, to, places, rows: [query.id, first, last] }];
    });
  });
}

/** A row in which one column is compared with another, and the sums of two such columns. */
function acrossColumns(
  query: QueryEvidence,
  { text }: Statement,
  near: readonly ValuedClaim[],
): readonly ValueStep[] {
  const ofClaims = near.flatMap(({ claim }) =>
    claim.evidence.flatMap(({ query: id, row }) =>
      id === query.id && row !== undefined ? [row] : [],
    ),
  );
  const named = findMentions(text, [query]).length > 0 ? namedRows(query, text) : undefined;
  const rows = [...new Set(named ?? ofClaims)].slice(0, 6);
  const values = query.columns.map(({ name }, column) => ({
    name,
    ofRow: (row: number) => numberOf(query.rows[row]?.[column]),
    sum: query.rows.reduce((total, cells) => total + (numberOf(cells[column]) ?? 0), 0),
  }));
  const areNumbers = ({ ofRow }: (typeof values)[number]) =>
    query.rows.every((_, row) => ofRow(row) !== undefined);
  return values.filter(areNumbers).flatMap((a, index, numeric) =>
    numeric.slice(index + 1).flatMap((b): readonly ValueStep[] => {
      const order = referenceOf(a.name, b.name);
      if (order === undefined) return [];
      const [first, last] = order === -1 ? [a, b] : [b, a];
      const places = [first.name, last.name].map((name) => `${query.id}, ${name}`);
      const ofRows = rows.flatMap((row): readonly ValueStep[] => {
        const [from, to] = [first.ofRow(row), last.ofRow(row)];
        return from === undefined || to === undefined ? [] : [{ from, to, places }];
      });
      const sums = query.rows.length > 1 && !query.truncated;
      return [...ofRows, ...(sums ? [{ from: first.sum, to: last.sum, places }] : [])];
    }),
  );
}
