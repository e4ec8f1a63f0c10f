import type { Derivable } from '../candidates.ts';
import { nearness } from '../fits.ts';
import { findRare, saidLimit } from '../rare/coincidence.ts';
import type { BoundClaim } from '../through-claims.ts';

type Derive = (
  bound: BoundClaim,
  found: Pick<Derivable, 'value' | 'derivation' | 'cells'>,
) => BoundClaim;

/** A number of a table in an answer. */
interface InTable {
  /** Its place among the claims. */
  readonly index: number;
  readonly row: number;
  readonly column: number;
  readonly header: string;
}

/**
 * What follows from the numbers above in the same table: a subtotal (`Operating income` below
 * `Gross profit` and `Operating expenses`), and the shares of only some of the rows.
 */
export function downColumns(bounds: readonly BoundClaim[], derive: Derive): readonly BoundClaim[] {
  const done = [...bounds];
  for (const table of tablesOf(bounds)) {
    for (const place of table) {
      const bound = done[place.index];
      if (bound?.claim.status !== 'ungrounded' || bound.number.isYear) continue;
      const found = bound.number.isPercent
        ? (partOfShown(place, table, done) ?? besideReference(place, table, done))
        : subtotal(place, table, done);
      if (found !== undefined) done[place.index] = derive(bound, found);
    }
  }
  return done;
}

function tablesOf(bounds: readonly BoundClaim[]): readonly (readonly InTable[])[] {
  const tables: InTable[][] = [];
  let end = -1;
  let row = 0;
  for (const [index, { number, statement }] of bounds.entries()) {
    const column = statement.cells.findIndex(
      (cell) => cell.start <= number.start && number.start < cell.end,
    );
    if (column < 0) continue;
    if (statement.end !== end) {
      if (statement.start !== end) tables.push([]);
      row += 1;
      end = statement.end;
    }
    const header = statement.cells[column]?.header ?? '';
    tables.at(-1)?.push({ index, row, column, header });
  }
  return tables;
}

const mostRows = 12;

function subtotal(place: InTable, table: readonly InTable[], bounds: readonly BoundClaim[]) {
  const bound = bounds[place.index];
  if (bound === undefined || bound.number.sign !== undefined) return undefined;
  const above = table
    .filter(({ row, column }) => column === place.column && row < place.row)
    .map(({ index }) => bounds[index]?.known)
    .slice(-mostRows);
  const lastUnknown = above.lastIndexOf(undefined);
  const values = above.slice(lastUnknown + 1).flatMap((known) => known?.value ?? []);
  const candidates = values.slice(0, -1).flatMap((first, at): readonly Derivable[] => {
    const rest = values.slice(at + 1).reduce((sum, value) => sum + Math.abs(value), 0);
    return [
      { value: first - rest, derivation: 'a - … - b', cells: [], kind: 'unknown' },
      { value: first + rest, derivation: 'a + … + b', cells: [], kind: 'unknown' },
    ];
  });
  const { number, said, before } = bound;
  return findRare({ number, said, before, topic: '', header: place.header }, candidates, saidLimit);
}

/** The share that a row has of all rows with such a share. */
function partOfShown(place: InTable, table: readonly InTable[], bounds: readonly BoundClaim[]) {
  const ofColumn = table.filter(
    ({ column, index }) => column === place.column && isPart(bounds[index]),
  );
  const number = bounds[place.index]?.number;
  if (ofColumn.length < 2 || number === undefined || !isPart(bounds[place.index])) return undefined;
  const near = nearness(number, false);
  for (let column = 0; column < place.column; column += 1) {
    const amounts = ofColumn.map(({ row }) => amountOf({ row, column }, table, bounds));
    const own = amountOf({ row: place.row, column }, table, bounds);
    const total = amounts.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0);
    if (own === undefined || !Number.isFinite(total)) continue;
    const value = own / total;
    if (number.readings.some((reading) => near(value * 100, reading)))
      return { value, derivation: 'a / (a + … + b)', cells: [] };
  }
  return undefined;
}

/** By how much a row is above or below one number for all of them: the total, or the mean. */
function besideReference(place: InTable, table: readonly InTable[], bounds: readonly BoundClaim[]) {
  const ofColumn = table.filter(
    ({ column, index }) => column === place.column && bounds[index]?.number.isPercent === true,
  );
  for (let column = 0; column < place.column; column += 1) {
    const amounts = table
      .filter((own) => own.column === column)
      .flatMap((own) => amountOf(own, table, bounds) ?? []);
    const mean = amounts.reduce((sum, value) => sum + value, 0) / amounts.length;
    for (const reference of [...amounts.slice(-1), mean, ...amounts.slice(0, 1)]) {
      const changes = ofColumn.map(({ index, row }) => {
        const amount = amountOf({ row, column }, table, bounds) ?? Number.NaN;
        const value = amount / reference - 1;
        return { index, value, isFitting: isWrittenAs(bounds[index], value) };
      });
      const own = changes.find(({ index }) => index === place.index);
      const fitting = changes.filter(({ isFitting }) => isFitting).length;
      if (own?.isFitting === true && fitting >= 2)
        return { value: own.value, derivation: '(a - b) / b', cells: [] };
    }
  }
  return undefined;
}

function isWrittenAs(bound: BoundClaim | undefined, value: number): boolean {
  if (bound === undefined || !Number.isFinite(value)) return false;
  const near = nearness(bound.number, false);
  return bound.number.readings.some((reading) => near(value * 100, reading));
}

const isPart = (bound: BoundClaim | undefined): boolean =>
  bound !== undefined &&
  bound.number.isPercent &&
  bound.number.sign === undefined &&
  (bound.number.readings[0]?.value ?? 100) < 100;

function amountOf(
  { row, column }: Pick<InTable, 'row' | 'column'>,
  table: readonly InTable[],
  bounds: readonly BoundClaim[],
): number | undefined {
  const place = table.find((own) => own.row === row && own.column === column);
  const known = place === undefined ? undefined : bounds[place.index]?.known;
  return known === undefined || known.kind === 'share' ? undefined : known.value;
}
