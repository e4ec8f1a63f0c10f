import type { EngineColumn } from '../duckdb-rows.ts';

/** A type of the wire: how a column of it is described, and a value that is not NULL. */
export interface WireType {
  readonly info: Buffer;
  readonly encode: (text: string) => Buffer;
  /** How NULL is written. */
  readonly none: Buffer;
}

const collation = Buffer.from([0x09, 0x04, 0xd0, 0x00, 0x34]);
const zero = Buffer.from([0]);
/** Days from 0001-01-01 to 1970-01-01. */
const daysToEpoch = 719_162n;
const day = 86_400n;

/** A column named `…__money` and the like has that type of SQL Server, which DuckDB lacks. */
export function typeOf({ name, type }: EngineColumn): WireType {
  const wanted = /__(?<type>money|smallmoney|xml|geography|real|datetime|smalldatetime)$/.exec(name)
    ?.groups?.['type'];
  const special = wanted === undefined ? undefined : specialTypes[wanted];
  if (special !== undefined) return special;
  const [, precision = '38', scale = '0'] = /^DECIMAL\((\d+),\s*(\d+)\)/.exec(type) ?? [];
  if (type.startsWith('DECIMAL') || type === 'HUGEINT')
    return decimal(Number(precision), Number(scale));
  return types[type] ?? text;
}

export function encodeValue(cell: string | null, type: WireType = text): Buffer {
  return cell === null ? type.none : type.encode(cell);
}

const sized = (kind: number, size: number, write: (bytes: Buffer, value: string) => void) => ({
  info: Buffer.from([kind, size]),
  none: zero,
  encode: (value: string) => {
    const bytes = Buffer.alloc(size);
    write(bytes, value);
    return Buffer.concat([Buffer.from([size]), bytes]);
  },
});

/** Without a length known before: one chunk, and the end. */
const chunked = (value: Buffer): Buffer => {
  const whole = Buffer.alloc(8);
  whole.writeBigUInt64LE(BigInt(value.length));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(value.length);
  const chunks = value.length === 0 ? [] : [size, value];
  return Buffer.concat([whole, ...chunks, Buffer.alloc(4)]);
};
const noChunks = Buffer.alloc(8, 0xff);

const text: WireType = {
  info: Buffer.concat([Buffer.from([0xe7, 0xff, 0xff]), collation]),
  none: noChunks,
  encode: (value) => chunked(Buffer.from(value, 'utf16le')),
};
const int32 = sized(0x26, 4, (bytes, value) => bytes.writeInt32LE(Number(value)));
const int64 = sized(0x26, 8, (bytes, value) => bytes.writeBigInt64LE(BigInt(value)));

const types: Readonly<Record<string, WireType>> = {
  TINYINT: sized(0x26, 2, (bytes, value) => bytes.writeInt16LE(Number(value))),
  SMALLINT: sized(0x26, 2, (bytes, value) => bytes.writeInt16LE(Number(value))),
  INTEGER: int32,
  BIGINT: int64,
  BOOLEAN: sized(0x68, 1, (bytes, value) => void (bytes[0] = value === 'true' ? 1 : 0)),
  DOUBLE: sized(0x6d, 8, (bytes, value) => bytes.writeDoubleLE(Number(value))),
  FLOAT: sized(0x6d, 4, (bytes, value) => bytes.writeFloatLE(Number(value))),
  UUID: sized(0x24, 16, writeUuid),
  DATE: { info: Buffer.from([0x28]), none: zero, encode: (value) => counted(dateBytes(value)) },
  TIME: { info: Buffer.from([0x29, 7]), none: zero, encode: (value) => counted(clockBytes(value)) },
  TIMESTAMP: {
    info: Buffer.from([0x2a, 7]),
    none: zero,
    encode: (value) => {
      const [date = '', clock = ''] = value.split(' ');
      return counted(Buffer.concat([clockBytes(clock), dateBytes(date)]));
    },
  },
  'TIMESTAMP WITH TIME ZONE': {
    info: Buffer.from([0x2b, 7]),
    none: zero,
    encode: (value) => {
      const [date = '', clock = ''] = value.replace(/\+00$/, '').split(' ');
      return counted(Buffer.concat([clockBytes(clock), dateBytes(date), Buffer.from([60, 0])]));
    },
  },
  BLOB: {
    info: Buffer.from([0xa5, 0xff, 0xff]),
    none: noChunks,
    encode: (value) => chunked(Buffer.from(value, 'latin1')),
  },
};

const specialTypes: Readonly<Record<string, WireType>> = {
  money: sized(0x6e, 8, (bytes, value) => {
    const units = BigInt(Math.round(Number(value.replace(/^.*\./, '').padEnd(4, '0'))));
    const whole = BigInt(value.split('.')[0] ?? '0') * 10_000n;
    const all = value.startsWith('-') ? whole - units : whole + units;
    bytes.writeInt32LE(Number(all >> 32n), 0);
    bytes.writeUInt32LE(Number(all & 0xffffffffn), 4);
  }),
  smallmoney: sized(0x6e, 4, (bytes, value) =>
    bytes.writeInt32LE(Math.round(Number(value) * 10_000)),
  ),
  real: sized(0x6d, 4, (bytes, value) => bytes.writeFloatLE(Number(value))),
  xml: {
    info: Buffer.from([0xf1, 0]),
    none: noChunks,
    encode: (value) => chunked(Buffer.from(value, 'utf16le')),
  },
  geography: {
    info: Buffer.concat([
      Buffer.from([0xf0, 0xff, 0xff]),
      ...['test', 'sys', 'geography'].map((part) =>
        Buffer.concat([Buffer.from([part.length]), Buffer.from(part, 'utf16le')]),
      ),
      Buffer.from([0, 0]),
    ]),
    none: noChunks,
    encode: (value) => chunked(Buffer.from(value, 'latin1')),
  },
  datetime: sized(0x6f, 8, (bytes, value) => {
    const at = Date.parse(`${value.replace(' ', 'T')}Z`) - Date.UTC(1900, 0, 1);
    const days = Math.floor(at / 86_400_000);
    bytes.writeInt32LE(days, 0);
    bytes.writeUInt32LE(Math.round(((at - days * 86_400_000) * 3) / 10), 4);
  }),
  smalldatetime: sized(0x6f, 4, (bytes, value) => {
    const minutes = (Date.parse(`${value.replace(' ', 'T')}Z`) - Date.UTC(1900, 0, 1)) / 60_000;
    bytes.writeUInt16LE(Math.floor(minutes / 1440), 0);
    bytes.writeUInt16LE(minutes % 1440, 2);
  }),
};

function decimal(precision: number, scale: number): WireType {
  return {
    info: Buffer.from([0x6c, 17, precision, scale]),
    none: zero,
    encode: (value) => {
      let digits = BigInt(value.replace(/[-.]/g, ''));
      const bytes = Buffer.alloc(17);
      bytes[0] = value.startsWith('-') ? 0 : 1;
      for (let place = 1; place < 17; place += 1) {
        bytes[place] = Number(digits & 255n);
        digits >>= 8n;
      }
      return counted(bytes);
    },
  };
}

function counted(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function dateBytes(date: string): Buffer {
  const days = BigInt(Date.parse(`${date}T00:00:00Z`)) / (day * 1000n) + daysToEpoch;
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE(Number(days), 0, 3);
  return bytes;
}

/** In units of 100 nanoseconds. */
function clockBytes(clock: string): Buffer {
  const [hours = '0', minutes = '0', seconds = '0'] = clock.split(':');
  const [whole = '0', fraction = ''] = seconds.split('.');
  const units =
    (Number(hours) * 3600 + Number(minutes) * 60 + Number(whole)) * 10_000_000 +
    Number(fraction.slice(0, 7).padEnd(7, '0'));
  const bytes = Buffer.alloc(5);
  bytes.writeUIntLE(units, 0, 5);
  return bytes;
}

/** The first three groups are written from their end. */
function writeUuid(bytes: Buffer, value: string): void {
  const raw = Buffer.from(value.replaceAll('-', ''), 'hex');
  for (const [from, to] of [
    [0, 4],
    [4, 6],
    [6, 8],
  ] as const)
    raw.subarray(from, to).reverse();
  raw.copy(bytes);
}
