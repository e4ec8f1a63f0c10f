import { defaultTolerance, type MatchRule } from '../cases/question-set-schema.ts';

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
  if (typeof cell === 'boolean') return Number(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  if (isNumeric && /^-?\d+\.\d+$/.test(text)) return Number(text);
  // A date equals its midnight.
  return text.replace(midnight, '$1');
}

/** Equality within the tolerance of the rule. A text counts as a number only next to a number. */
export function valueEquality({ numeric }: MatchRule): IsSameValue {
  const { rel, abs } = numeric;
  return (a, b) => {
    if (a === b) return true;
    const x = toNumber(a, b);
    const y = toNumber(b, a);
    if (x === undefined || y === undefined) return false;
    if (mustBeExact(x, y, numeric)) return x === y;
    const larger = Math.max(Math.abs(x), Math.abs(y));
    return Math.abs(x - y) <= Math.max(abs, rel * larger);
  };
}

/**
 * Ids that differ by one are close as numbers, so whole numbers must be equal unless the rule is
 * wider than the default.
 */
function mustBeExact(a: number, b: number, { rel, abs }: MatchRule['numeric']): boolean {
  const isDefault = rel <= defaultTolerance && abs <= defaultTolerance;
  return isDefault && Number.isInteger(a) && Number.isInteger(b);
}

function toNumber(value: ComparableValue, other: ComparableValue): number | undefined {
  if (typeof value === 'number') return value;
  const isNumericText =
    typeof value === 'string' &&
    typeof other === 'number' &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value);
  return isNumericText ? Number(value) : undefined;
}
