import type { SentValues } from '../../llm/egress/sent-values.ts';
import { refusal } from '../extract/proposals/resolve-names.ts';
import {
  type AggregateCell,
  discloseAverage,
  discloseCount,
  discloseSum,
  dropSmallCells,
  fewestRows,
  uniteCells,
} from './disclose.ts';
import { type CellColumns, type CellReader, readCells } from './read-cells.ts';
import type { AggregateRequest } from './request-schema.ts';
import {
  type AggregatableColumn,
  type AggregateTable,
  type ColumnRules,
  openAggregateTable,
} from './table-columns.ts';

export interface RowAggregationContext extends ColumnRules, Pick<CellReader, 'check' | 'signal'> {}

/** One group of an answer, with numbers that tell about no single row. */
export interface AggregateGroup {
  readonly by?: Readonly<Record<string, string | null>>;
  readonly rows: number | string;
  readonly missing?: Readonly<Record<string, number | string>>;
  readonly distinct?: Readonly<Record<string, number | string>>;
  readonly sum?: Readonly<Record<string, number | string>>;
  readonly average?: Readonly<Record<string, number | string>>;
}

export interface AggregateAnswer {
  readonly groups: readonly AggregateGroup[];
  readonly note?: string;
  readonly values: readonly SentValues[];
}

/**
 * Counts, sums and averages for a model. Nothing else about rows leaves an ingest: groups have at
 * least five rows and names that are not personal; counts are rounded to fives, and sums so that no
 * row shows. Refuses every other request.
 */
export async function aggregateRows(
  request: AggregateRequest,
  { check, signal, ...rules }: RowAggregationContext,
): Promise<AggregateAnswer> {
  const table = openAggregateTable(rules, request.dataset);
  const columns = chooseColumns(table, request);
  const warehouse = await rules.snapshot.warehouse(table.connection);
  const { cells, distinct } = await readCells(table, columns, { warehouse, check, signal });
  const { kept, isCut } = dropSmallCells(cells);
  const selected = kept.filter((cell) => meetsConditions(cell, columns, request));
  const groups = groupCells(selected, columns, request).map((cell) =>
    describeGroup(cell, columns, { request, distinct }),
  );
  const note = 'Counts are rounded to fives, sums more coarsely.';
  const cut = ` Groups of fewer than ${fewestRows} rows are left out.`;
  return {
    groups,
    note: isCut || groups.length === 0 ? note + cut : note,
    values: valuesIn(groups, table, request),
  };
}

/** The columns of the request; refuses the ones that it must not use so. */
function chooseColumns(table: AggregateTable, request: AggregateRequest): CellColumns {
  const { by, where, sum, average, missing, distinct } = request;
  const groupFields = [...new Set([...where.map(({ field }) => field), ...by])];
  if (distinct.length > 0 && groupFields.length > 0)
    throw refusal('Different values are counted over all rows: leave out `by` and `where`.');
  const numberFields = new Set([...sum, ...average]);
  const groups = groupFields.map((field) => table.column(field));
  const closed = groups.find((column) => column.groups === undefined);
  if (closed !== undefined)
    throw refusal(
      `${closed.field} cannot group or select rows here: only fields with few known values can, and no keys and no personal ones.`,
    );
  const numbers = [...numberFields].map((field) => table.column(field));
  const notNumber = numbers.find(({ isMeasure }) => !isMeasure);
  if (notNumber !== undefined)
    throw refusal(
      `${notNumber.field} cannot be added up here: only numbers can, and no keys and no personal ones.`,
    );
  const counted = missing
    .filter((field) => !numberFields.has(field))
    .map((field): AggregatableColumn => ({ ...table.column(field), isMeasure: false }));
  return {
    groups,
    measures: [...numbers, ...counted],
    distinct: distinct.map((field) => table.column(field)),
  };
}

function meetsConditions(
  { key }: AggregateCell,
  { groups }: CellColumns,
  { where }: AggregateRequest,
): boolean {
  return where.every(({ field, values, exclude }) => {
    const name = key[groups.findIndex((column) => column.field === field)] ?? null;
    const wanted = values.map((value) => (value === null ? null : String(value)));
    return wanted.includes(name) !== exclude;
  });
}

/** The cells united by the fields of `by`. */
function groupCells(
  cells: readonly AggregateCell[],
  { groups }: CellColumns,
  { by }: AggregateRequest,
): AggregateCell[] {
  const positions = by.map((field) => groups.findIndex((column) => column.field === field));
  const keyOf = ({ key }: AggregateCell) => positions.map((position) => key[position] ?? null);
  const byKey = Map.groupBy(cells, (cell) => JSON.stringify(keyOf(cell)));
  return [...byKey.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [uniteCells(keyOf(first), same)];
  });
}

interface DescribedRequest {
  readonly request: AggregateRequest;
  readonly distinct: readonly number[];
}

function describeGroup(
  cell: AggregateCell,
  { measures }: CellColumns,
  { request, distinct }: DescribedRequest,
): AggregateGroup {
  const { by, missing, sum, average } = request;
  const measured = (field: string) => {
    const found = cell.measures[measures.findIndex((column) => column.field === field)];
    if (found === undefined) throw new Error(`${field} was not measured`);
    return found;
  };
  const named = <Value>(fields: readonly string[], read: (field: string, index: number) => Value) =>
    fields.length === 0
      ? undefined
      : Object.fromEntries(fields.map((field, index) => [field, read(field, index)]));
  const withValues = {
    by: named(by, (_, index) => cell.key[index] ?? null),
    missing: named(missing, (field) => discloseCount(cell.rows - measured(field).present)),
    distinct: named(request.distinct, (_, index) => discloseCount(distinct[index] ?? 0)),
    sum: named(sum, (field) => discloseSum(measured(field))),
    average: named(average, (field) => discloseAverage(measured(field))),
  };
  const given = Object.entries(withValues).filter(([, value]) => value !== undefined);
  return { rows: discloseCount(cell.rows), ...Object.fromEntries(given) };
}

/** What the ledger has of an answer: a count for each group, and the names of the groups. */
function valuesIn(
  groups: readonly AggregateGroup[],
  { connection, dataset: source }: AggregateTable,
  { by, missing, distinct, sum, average }: AggregateRequest,
): SentValues[] {
  const count = groups.length;
  if (count === 0) return [];
  const place = { connection, source, count };
  return [
    { ...place, column: '*', kind: 'aggregate' },
    ...[...missing, ...distinct, ...sum, ...average].map((column): SentValues => ({
      ...place,
      column,
      kind: 'aggregate',
    })),
    ...by.map((column): SentValues => ({ ...place, column, kind: 'group' })),
  ];
}
