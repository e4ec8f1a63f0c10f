/** What of the library's reader of values is used here. */
interface ValueReader {
  readValue: (this: void, ...place: ValuePlace) => ReadValue;
}
/** Where a value stands, and what the columns of the result say of it. */
type ValuePlace = readonly [
  bytes: Buffer,
  offset: number,
  metadata: NumberMetadata,
  options: unknown,
];
interface ReadValue {
  value: unknown;
  readonly offset: number;
}
interface NumberMetadata {
  readonly type: { readonly name: string };
  readonly scale?: number | undefined;
}

let isExact = false;

/**
 * From now on the library returns decimals and money as their digits. It makes doubles of them,
 * which 17 digits and more do not survive, and it has no setting for that.
 */
export async function readNumbersExactly(): Promise<void> {
  if (isExact) return;
  const { default: module } = await import('tedious/lib/value-parser.js');
  const reader = module as unknown as ValueReader;
  const read = reader.readValue;
  reader.readValue = (...place) => {
    const result = read(...place);
    const [bytes, offset, metadata] = place;
    if (typeof result.value === 'number') {
      const exact = exactDigits(bytes.subarray(offset, result.offset), metadata);
      if (exact !== undefined) result.value = exact;
    }
    return result;
  };
  isExact = true;
}

/** From the bytes of one value; undefined for other types. */
function exactDigits(bytes: Buffer, { type, scale = 0 }: NumberMetadata): string | undefined {
  switch (type.name) {
    case 'DecimalN':
    case 'NumericN': {
      // Its length, its sign, its digits.
      const digits = [...bytes.subarray(2)].reduceRight(
        (sum, byte) => sum * 256n + BigInt(byte),
        0n,
      );
      return withPoint(bytes[1] === 0 ? -digits : digits, scale);
    }
    case 'SmallMoney':
      return withPoint(BigInt(bytes.readInt32LE(0)), 4);
    case 'Money':
      return withPoint(moneyOf(bytes), 4);
    case 'MoneyN':
      return withPoint(
        bytes[0] === 4 ? BigInt(bytes.readInt32LE(1)) : moneyOf(bytes.subarray(1)),
        4,
      );
    default:
      return undefined;
  }
}

/** The high half comes first. */
function moneyOf(bytes: Buffer): bigint {
  return (BigInt(bytes.readInt32LE(0)) << 32n) + BigInt(bytes.readUInt32LE(4));
}

function withPoint(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const sign = value < 0n ? '-' : '';
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
