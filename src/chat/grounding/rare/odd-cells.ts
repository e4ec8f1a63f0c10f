import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { nearness } from '../fits.ts';
import type { GroundedClaim } from '../ground-answer.ts';
import { findMentions } from '../names/mentions.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import type { Statement } from '../statements.ts';
import { numberOf } from '../values.ts';

interface PlacedClaim {
  readonly claim: GroundedClaim;
  readonly number: WrittenNumber;
  readonly statement: Statement;
}

/** What the numbers of one column are: a column of the rows, or what two columns give. */
interface CellMeaning {
  readonly query: string;
  readonly columns: readonly string[];
  readonly derivation: string;
}

/**
 * The numbers of a table, or of a list with as many numbers in each entry, that are of another kind
 * than most of their column, and not what the row has that their entry names. Chance explains one
 * number of a column, not several alike.
 */
export function oddCells(
  claims: readonly PlacedClaim[],
  statements: readonly Statement[],
  evidence: readonly QueryEvidence[],
): ReadonlySet<GroundedClaim> {
  const odd = blocksOf(statements).flatMap((block) =>
    columnsOf(block, claims).flatMap((column) => oddOfColumn(column, evidence)),
  );
  return new Set(odd);
}

/** The rows of each table, and the entries of each list. */
function blocksOf(statements: readonly Statement[]): readonly (readonly Statement[])[] {
  const blocks: Statement[][] = [];
  let last: Statement | undefined;
  for (const statement of statements) {
    if (statement.text.trim() === '') continue;
    const isNext = last?.isEntry === true && last.cells.length === statement.cells.length;
    if (statement.isEntry && isNext) blocks.at(-1)?.push(statement);
    else if (statement.isEntry) blocks.push([statement]);
    last = statement;
  }
  return blocks.filter(({ length }) => length > 2);
}

/** The numbers at one place of each entry. */
function columnsOf(
  block: readonly Statement[],
  claims: readonly PlacedClaim[],
): readonly (readonly PlacedClaim[])[] {
  const rows = block.map((statement) =>
    claims.filter((own) => own.statement === statement && own.claim.kind === 'number'),
  );
  const isTable = (block[0]?.cells.length ?? 0) > 0;
  if (!isTable && new Set(rows.map(({ length }) => length)).size > 1) return [];
  const byPlace = Map.groupBy(
    rows.flatMap((row) => row.map((own, index) => ({ own, place: placeOf(own, row, index) }))),
    ({ place }) => place,
  );
  return [...byPlace.values()].map((column) => column.map(({ own }) => own));
}

function placeOf(own: PlacedClaim, row: readonly PlacedClaim[], index: number): string {
  const cellOf = ({ number, statement }: PlacedClaim) =>
    statement.cells.findIndex(({ start, end }) => start <= number.start && number.end <= end);
  const cell = cellOf(own);
  const inCell = cell < 0 ? index : row.filter((each) => cellOf(each) === cell).indexOf(own);
  return `${cell} ${inCell} ${own.number.isPercent}`;
}

function oddOfColumn(
  column: readonly PlacedClaim[],
  evidence: readonly QueryEvidence[],
): readonly GroundedClaim[] {
  const meanings = column.map(({ claim }) => meaningOf(claim));
  const groups = [...Map.groupBy(meanings, (meaning) => JSON.stringify(meaning)).values()];
  const [most] = groups
    .filter(([meaning]) => meaning !== undefined)
    .toSorted((a, b) => b.length - a.length);
  const [meaning] = most ?? [];
  if (most === undefined || meaning === undefined) return [];
  if (most.length < 2 || most.length * 2 < column.length) return [];
  const query = evidence.find(({ id }) => id === meaning.query);
  if (query === undefined) return [];
  return column.flatMap((own, index) => {
    const { claim, number, statement } = own;
    if (
      claim.status === 'ungrounded' ||
      JSON.stringify(meanings[index]) === JSON.stringify(meaning)
    )
      return [];
    const row = rowOf(statement, query);
    const [cell, ...others] = claim.evidence;
    // 9,000 seconds beside 90 seconds may be told as hours.
    const isUnit = cell?.row === row && cell?.column === meaning.columns[0] && others.length === 0;
    if (isUnit) return [];
    const value = row === undefined ? undefined : valueOf(meaning, query, row);
    return value === undefined || isWritten(number, value) ? [] : [claim];
  });
}

function meaningOf({ status, evidence, derivation = '' }: GroundedClaim): CellMeaning | undefined {
  const [first] = evidence;
  const isOfRow = evidence.every(
    ({ query, row, column }) =>
      query === first?.query && row === first?.row && column !== undefined,
  );
  const isShare = derivation === 'a / sum';
  if (first === undefined || first.row === undefined || status === 'ungrounded') return undefined;
  if (!(isShare || isOfRow)) return undefined;
  return { query: first.query, columns: evidence.map(({ column = '' }) => column), derivation };
}

/** The only row that an entry names. */
function rowOf({ text, cells, start }: Statement, query: QueryEvidence): number | undefined {
  const [first] = cells;
  const label = first === undefined ? text : text.slice(first.start - start, first.end - start);
  const named = findMentions(label, [query]);
  const rows = query.rows.flatMap((row, index) =>
    named.some(({ column, cell }) => String(row[column]) === cell) ? [index] : [],
  );
  return rows.length === 1 ? rows[0] : undefined;
}

function valueOf(
  { columns, derivation }: CellMeaning,
  query: QueryEvidence,
  row: number,
): number | undefined {
  const at = (name: string | undefined, index: number) =>
    numberOf(query.rows[index]?.[query.columns.findIndex((column) => column.name === name)]);
  const [a, b] = columns.map((name) => at(name, row));
  if (a === undefined) return undefined;
  if (derivation === '') return a;
  if (derivation === 'a / sum')
    return a / query.rows.reduce((sum, _, index) => sum + (at(columns[0], index) ?? 0), 0);
  return b === undefined ? undefined : formulas[derivation]?.(a, b);
}

const formulas: Readonly<Record<string, (a: number, b: number) => number>> = {
  'a - b': (a, b) => a - b,
  'b - a': (a, b) => b - a,
  'a + b': (a, b) => a + b,
  'a * b': (a, b) => a * b,
  'a / b': (a, b) => a / b,
  'b / a': (a, b) => b / a,
  '(b - a) / a': (a, b) => (b - a) / a,
  '(a - b) / b': (a, b) => (a - b) / b,
};

function isWritten(number: WrittenNumber, value: number): boolean {
  const near = nearness(number, false);
  return number.readings.some((reading) =>
    [1, 100, -1, -100].some((scale) => near(value * scale, reading)),
  );
}
