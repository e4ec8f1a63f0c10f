import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { Derivable } from './candidates.ts';
import { columnKinds, isLabel } from './columns.ts';
import { numberOf } from './values.ts';

/** The sums of months, weeks or days by quarter, half and year, where the rows have several. */
export function sumsOfPeriods(query: QueryEvidence): readonly Derivable[] {
  const { id, columns, rows, truncated } = query;
  const days = rows.map((row) => row.find(isDay));
  if (truncated || days.some((day) => day === undefined)) return [];
  const kinds = columnKinds(query);
  return columns.flatMap(({ name }, index): Derivable[] => {
    const kind = kinds[index] ?? 'unknown';
    if (isLabel(kind) || kind === 'share') return [];
    const groups = [3, 6, 12].flatMap((months) => [
      ...Map.groupBy(rows.keys(), (row) => periodOf(String(days[row]), months)).values(),
    ]);
    return groups
      .filter((group) => group.length > 1 && group.length < rows.length)
      .flatMap((group): Derivable[] => {
        const values = group.map((row) => numberOf(rows[row]?.[index]));
        if (values.some((value) => value === undefined)) return [];
        const value = values.reduce<number>((sum, own) => sum + (own ?? 0), 0);
        const cells = group.slice(0, 12).map((row) => ({ query: id, row, column: name }));
        return [{ value, cells, derivation: 'sum of the group', kind }];
      });
  });
}

function isDay(cell: unknown): boolean {
  return typeof cell === 'string' && /^\d{4}-\d\d(?:-\d\d)?(?:$|[T ])/.test(cell);
}

function periodOf(day: string, months: number): string {
  return `${day.slice(0, 4)} ${Math.floor((Number(day.slice(5, 7)) - 1) / months)}`;
}
