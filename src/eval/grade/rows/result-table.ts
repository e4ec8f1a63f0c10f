/** A query result, from a warehouse or from evidence. */
export interface ResultTable {
  readonly columns: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A cell in the form that is compared. */
export type ComparableValue = string | number | null;
export type ComparableRow = readonly ComparableValue[];

export type IsSameValue = (a: ComparableValue, b: ComparableValue) => boolean;

/**
 * Decimals that came as text become numbers. Whole numbers in text, too long for a double, stay
 * text: ids must not be rounded.
 */
export function toComparableRows({ columns, rows }: ResultTable): readonly ComparableRow[] {
  const isNumeric = columns.map(({ type }) => type === 'decimal' || type === 'integer');
  return rows.map((row) =>
    columns.map((_, index) => toComparableValue(row[index], isNumeric[index] ?? false)),
  );
}

const midnight = /^(\d{4}-\d\d-\d\d)[T ]00:00:00(?:\.0+)?(?:Z|[+-]00(?::?00)?)?$/;

function toComparableValue(cell: unknown, isNumeric: boolean): ComparableValue {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'boolean') return String(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  if (isNumeric && /^-?\d+\.\d+$/.test(text)) return Number(text);
  // A date equals its midnight.
  return text.replace(midnight, '$1');
}
