import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable } from '../candidates.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { numberOf } from '../values.ts';

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
        const all = rows.reduce((sum, row) => sum + (numberOf(row[index]) ?? 0), 0);
        const derivation = 'sum of the group / sum';
        return [
          { value, cells, derivation: 'sum of the group', kind },
          { value: value / all, cells, derivation, kind: 'share' },
        ];
      });
  });
}

function isDay(cell: unknown): boolean {
  return typeof cell === 'string' && /^\d{4}-(?:\d\d(?:-\d\d)?|[QT]\d)(?:$|[T ])/i.test(cell);
}

function periodOf(day: string, months: number): string {
  const quarter = /[qt](\d)/i.exec(day)?.[1];
  const month = quarter === undefined ? Number(day.slice(5, 7)) : Number(quarter) * 3;
  return `${day.slice(0, 4)} ${Math.floor((month - 1) / months)}`;
}
