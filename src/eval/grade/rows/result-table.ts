/** A query result, from a warehouse or from evidence. */
export interface ResultTable {
  readonly columns: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A cell in the form that is compared. */
export type ComparableValue = string | number | null;
export type ComparableRow = readonly ComparableValue[];

/** Compares values of the answer and of the golden result, at the place of a golden column. */
export type IsSameValue = (
  actual: ComparableValue,
  golden: ComparableValue,
  column?: number,
) => boolean;

/**
 * Decimals that came as text become numbers, as far as a double holds their whole part; longer
 * ones and ids stay text and must be equal. Moments are in UTC, in one form; texts are without the
 * blanks behind them that some engines add.
 */
export function toComparableRows({ columns, rows }: ResultTable): readonly ComparableRow[] {
  const isNumeric = columns.map(({ type }) => type === 'decimal' || type === 'integer');
  return rows.map((row) =>
    columns.map((_, index) => toComparableValue(row[index], isNumeric[index] ?? false)),
  );
}

function toComparableValue(cell: unknown, isNumeric: boolean): ComparableValue {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'boolean') return String(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  const number = isNumeric ? plainDecimal(text) : undefined;
  return number ?? moment(text) ?? text.normalize('NFC').trimEnd();
}

/** Whole numbers of more digits are not exact as doubles. */
const exactDigits = 15;

function plainDecimal(text: string): ComparableValue | undefined {
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text)) return undefined;
  const [, whole = ''] = /^[-+]?0*(\d*)/.exec(text) ?? [];
  if (whole.length > exactDigits) return text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  const number = Number(text);
  return number === 0 ? 0 : number;
}

const momentPattern =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d(?:\.\d+)?))? ?(Z|UTC|[-+]\d\d(?::?\d\d)?)?$/i;

/** `2024-07-04T08:30:00`; only the day at midnight. A moment without a zone is in UTC. */
function moment(text: string): string | undefined {
  const [, day, minutes, seconds = '00', zone = 'Z'] = momentPattern.exec(text) ?? [];
  if (day === undefined || minutes === undefined) return undefined;
  const [whole = '', fraction = ''] = seconds.split('.');
  const offset = /^[-+]/.test(zone)
    ? zone.replace(/^(...):?(\d\d)?$/, (_, hours, rest = '00') => `${hours}:${rest}`)
    : 'Z';
  const time = Date.parse(`${day}T${minutes}:${whole}${offset}`);
  if (Number.isNaN(time)) return undefined;
  const inUtc = new Date(time).toISOString().slice(0, 19);
  const rest = fraction.replace(/0+$/, '');
  const isMidnight = inUtc.endsWith('T00:00:00') && rest === '';
  return isMidnight ? inUtc.slice(0, 10) : `${inUtc}${rest === '' ? '' : `.${rest}`}`;
}
