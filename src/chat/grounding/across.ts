import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { Derivable, NamedRows } from './candidates.ts';
import { columnKinds, isLabel } from './columns.ts';
import { compareAll, type Located, numberOf } from './values.ts';

/** Totals of more columns would explain any number. */
const mostTotals = 8;

/** What people compute from the totals of columns: spending as a share of the budget. */
export function ofTotals(evidence: readonly QueryEvidence[]): Derivable[] {
  const totals = evidence.flatMap((query): Located[] => {
    if (query.truncated || query.rows.length === 0) return [];
    if (query.rows.length === 1 && evidence.length < 2) return [];
    return numericColumns(query).map(({ name, index, kind }) => {
      const value = query.rows.reduce((sum, row) => sum + (numberOf(row[index]) ?? 0), 0);
      return { value, cell: { query: query.id, column: name }, row: -1, kind };
    });
  });
  return totals.length > mostTotals ? [] : compareAll(totals);
}

/** `The other 55 countries`: a count that one result has, without the rows of another. */
export function restOfCounts(
  evidence: readonly QueryEvidence[],
  { named }: NamedRows,
): Derivable[] {
  const single = evidence.filter(({ rows }) => rows.length === 1);
  return evidence.flatMap(({ id, rows }) => {
    const few = named(id)?.size ?? rows.length;
    if (rows.length < 2 || rows.length > 20) return [];
    return single.flatMap((query) =>
      locate(query, 0).flatMap(({ value, cell }): Derivable[] => {
        const derivation = 'count of other rows';
        return [few, rows.length].flatMap((count) =>
          Number.isInteger(value) && value > count && value <= 1000
            ? [{ value: value - count, cells: [cell], derivation, kind: 'count' }]
            : [],
        );
      }),
    );
  });
}

/** A row of one result as a share of a total that another has. */
export function ofParts(evidence: readonly QueryEvidence[], { named }: NamedRows): Derivable[] {
  const singles = evidence.filter(({ rows }) => rows.length === 1);
  return evidence.flatMap((query) => {
    const rows = query.rows.length < 2 ? [] : [...(named(query.id) ?? [])].slice(0, 8);
    return rows.flatMap((row) =>
      locate(query, row).flatMap((part) =>
        singles
          .flatMap((single) => locate(single, 0))
          .filter(({ value, kind }) => kind === part.kind && Math.abs(value) > Math.abs(part.value))
          .map((whole): Derivable => {
            const cells = [part.cell, whole.cell];
            return { value: part.value / whole.value, cells, derivation: 'a / b', kind: 'share' };
          }),
      ),
    );
  });
}

function locate(query: QueryEvidence, row: number): readonly Located[] {
  return numericColumns(query).flatMap(({ name, index, kind }) => {
    const value = numberOf(query.rows[row]?.[index]);
    const cell = { query: query.id, row, column: name };
    return value === undefined ? [] : [{ value, cell, row, kind }];
  });
}

/** The rows of two results that have the same name: late parcels of a carrier, and all of them. */
export function ofSameNames(
  evidence: readonly QueryEvidence[],
  { isNear }: NamedRows,
): Derivable[] {
  if (evidence.length < 2) return [];
  const located = evidence.flatMap((query) => {
    const columns = query.rows.length < 2 ? [] : numericColumns(query);
    if (columns.length === 0) return [];
    return query.rows.flatMap((cells, row) => {
      const name = cells.find((cell) => typeof cell === 'string');
      if (name === undefined || !isNear(query.id, row)) return [];
      return columns.flatMap(({ name: column, index, kind }) => {
        const value = numberOf(cells[index]);
        const cell = { query: query.id, row, column };
        return value === undefined ? [] : [{ name, value, cell, row, kind }];
      });
    });
  });
  // Of many rows, chance would explain any number.
  if (located.length > 40) return [];
  return located.flatMap((one, index) =>
    located
      .slice(index + 1)
      .filter(({ name, cell }) => name === one.name && cell.query !== one.cell.query)
      .flatMap((namesake) => compareAll([one, namesake])),
  );
}

/** An amount for each of a count, or a share of it: 40 pieces at 5 EUR, 20 % of 900 users. */
export function ofProducts(query: QueryEvidence, row: number): Derivable[] {
  const columns = numericColumns(query).flatMap(({ name, index, kind }) => {
    const value = numberOf(query.rows[row]?.[index]);
    return value === undefined
      ? []
      : [{ value, kind, cell: { query: query.id, row, column: name } }];
  });
  const counts = columns.filter(({ kind }) => kind === 'count');
  return counts.flatMap((count) =>
    columns.flatMap((factor): Derivable[] => {
      const isFraction = factor.kind === 'share' && Math.abs(factor.value) <= 1;
      if (!isFraction && factor.kind !== 'money') return [];
      const value = count.value * factor.value;
      const cells = [count.cell, factor.cell];
      return [{ value, cells, derivation: 'a * b', kind: isFraction ? 'count' : 'money' }];
    }),
  );
}

interface NumericColumn {
  readonly name: string;
  readonly index: number;
  readonly kind: Located['kind'];
}

function numericColumns(query: QueryEvidence): readonly NumericColumn[] {
  const kinds = columnKinds(query);
  return query.columns.flatMap(({ name }, index): NumericColumn[] => {
    const kind = kinds[index] ?? 'unknown';
    const isNumeric = query.rows.some((row) => numberOf(row[index]) !== undefined);
    return isNumeric && !isLabel(kind) ? [{ name, index, kind }] : [];
  });
}

/** Rows of several members and devices: the sums of the rows of one of them, and shares of it. */
export function ofGroups(query: QueryEvidence, rows: NamedRows): Derivable[] {
  if (query.truncated) return [];
  return query.columns.flatMap((_, index) => {
    const groups = Map.groupBy(query.rows.keys(), (row) => query.rows[row]?.[index]);
    const isGrouped = groups.size > 1 && groups.size < query.rows.length && groups.size <= 20;
    const areNames =
      columnKinds(query)[index] === 'year' ||
      [...groups.keys()].every((name) => typeof name === 'string');
    if (!isGrouped || !areNames) return [];
    const wanted = rows.groups?.(query.id, index);
    return [...groups].flatMap(([name, members]) =>
      wanted === undefined || wanted.has(String(name)) ? ofGroup(query, members, rows) : [],
    );
  });
}

function ofGroup(
  query: QueryEvidence,
  members: readonly number[],
  { named }: NamedRows,
): Derivable[] {
  return numericColumns(query).flatMap(({ name, index, kind }): Derivable[] => {
    if (kind === 'share') return [];
    const cellAt = (row: number) => ({ query: query.id, row, column: name });
    const valueAt = (row: number) => numberOf(query.rows[row]?.[index]) ?? 0;
    const value = members.reduce((sum, row) => sum + valueAt(row), 0);
    const cells = members.slice(0, 10).map(cellAt);
    const all = query.rows.reduce((sum, _, row) => sum + valueAt(row), 0);
    const own = members.filter((row) => named(query.id)?.has(row) ?? true);
    return [
      { value, cells, derivation: 'sum of the group', kind },
      { value: value / all, cells, derivation: 'sum of the group / sum', kind: 'share' },
      ...own.map((row): Derivable => {
        const place = [cellAt(row), ...cells];
        const derivation = 'a / sum of the group';
        return { value: valueAt(row) / value, cells: place, derivation, kind: 'share' };
      }),
    ];
  });
}

/** The sums of rows that are named in one breath, and their shares. */
export function ofTogether(
  query: QueryEvidence,
  groups: readonly ReadonlySet<number>[],
): Derivable[] {
  if (query.truncated) return [];
  return groups.flatMap((group) =>
    numericColumns(query).flatMap(({ name, index, kind }): Derivable[] => {
      if (kind === 'share') return [];
      const valueAt = (row: number) => numberOf(query.rows[row]?.[index]) ?? 0;
      const value = [...group].reduce((sum, row) => sum + valueAt(row), 0);
      const all = query.rows.reduce((sum, _, row) => sum + valueAt(row), 0);
      const cells = [...group].slice(0, 10).map((row) => ({ query: query.id, row, column: name }));
      const derivation = 'sum of those together';
      return [
        { value, cells, derivation, kind },
        { value: value / all, cells, derivation: `${derivation} / sum`, kind: 'share' },
        {
          value: value / group.size,
          cells,
          derivation: 'mean of those together',
          kind: meanKind(kind),
        },
      ];
    }),
  );
}

/** The mean of counts has decimals. */
const meanKind = (kind: Derivable['kind']) => (kind === 'count' ? ('unknown' as const) : kind);
