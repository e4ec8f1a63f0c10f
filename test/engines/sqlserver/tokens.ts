import type { EngineColumn, EngineRows } from '../duckdb-rows.ts';
import { encodeValue, typeOf } from './types.ts';

/** The words that an answer consists of. */
const [colMetadata, row, done, doneProc, loginAck, envChange, error, info] = [
  0x81, 0xd1, 0xfd, 0xfe, 0xad, 0xe3, 0xaa, 0xab,
];

export interface ServerMessage {
  readonly number: number;
  /** 16 and above: the statement failed. */
  readonly severity: number;
  readonly text: string;
}

export function rowsTokens({ columns, rows }: EngineRows): readonly Buffer[] {
  const types = columns.map((column) => typeOf(column));
  const described = columns.map((column, index) =>
    Buffer.concat([
      // The user's type, and flags: nullable, of an unknown kind.
      Buffer.from([0, 0, 0, 0, 9, 0]),
      types[index]?.info ?? Buffer.alloc(0),
      shortText(nameOf(column)),
    ]),
  );
  return [
    Buffer.concat([Buffer.from([colMetadata]), uint16(columns.length), ...described]),
    ...rows.map((cells) =>
      Buffer.concat([
        Buffer.from([row]),
        ...cells.map((cell, index) => encodeValue(cell, types[index])),
      ]),
    ),
  ];
}

/** What has no name in T-SQL has one in DuckDB. */
function nameOf({ name }: EngineColumn): string {
  return /^\w+$|^[^()'"+*/]+$/.test(name) && !/^\d/.test(name) ? name : '';
}

export function messageToken({ number, severity, text }: ServerMessage): Buffer {
  const place = Buffer.alloc(4);
  place.writeUInt32LE(1);
  const body = Buffer.concat([
    int32(number),
    Buffer.from([1, severity]),
    longText(text),
    shortText('test'),
    shortText(''),
    place,
  ]);
  return token(severity > 10 ? error : info, body);
}

/** `count` is undefined where no rows are counted. */
export function doneToken(
  status: { readonly failed?: boolean; readonly attention?: boolean; readonly count?: number },
  isOfProcedure = false,
): Buffer {
  const { failed = false, attention = false, count } = status;
  const bits = (failed ? 2 : 0) | (count === undefined ? 0 : 0x10) | (attention ? 0x20 : 0);
  const rest = Buffer.alloc(8);
  rest.writeBigUInt64LE(BigInt(count ?? 0));
  return Buffer.concat([
    Buffer.from([isOfProcedure ? doneProc : done]),
    uint16(bits),
    uint16(0xc1),
    rest,
  ]);
}

export function loginTokens(database: string): readonly Buffer[] {
  const version = Buffer.from([1, 0x74, 0, 0, 4]);
  const program = Buffer.concat([shortText('Microsoft SQL Server'), Buffer.from([16, 0, 16, 0])]);
  return [
    token(envChange, Buffer.concat([Buffer.from([1]), shortText(database), shortText('master')])),
    messageToken({
      number: 5701,
      severity: 0,
      text: `Changed database context to '${database}'.`,
    }),
    token(envChange, Buffer.concat([Buffer.from([4]), shortText('4096'), shortText('4096')])),
    token(loginAck, Buffer.concat([version, program])),
  ];
}

/** Of a transaction that begins (8) or is rolled back (10). */
export function transactionToken(kind: 8 | 10, id: number): Buffer {
  const descriptor = Buffer.alloc(8);
  descriptor.writeUInt32LE(id);
  const none = Buffer.from([0]);
  const [now, before] =
    kind === 8 ? [Buffer.concat([Buffer.from([8]), descriptor]), none] : [none, none];
  return token(envChange, Buffer.concat([Buffer.from([kind]), now, before]));
}

function token(kind: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([kind]), uint16(body.length), body]);
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')]);
}

function longText(text: string): Buffer {
  return Buffer.concat([uint16(text.length), Buffer.from(text, 'utf16le')]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
