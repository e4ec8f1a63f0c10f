import { type AddressInfo, createServer, type Socket } from 'node:net';

/** What the server does in place of the login. */
const loginTricks = [
  'wrong-columns-at-login',
  'endless-notices-at-login',
  'error-without-end',
  'short-login',
  'negative-length',
] as const;
type LoginTrick = (typeof loginTricks)[number];
/** What the server does at the first query over its catalog, in place of an answer. */
const queryTricks = [
  'endless-rows',
  'endless-row',
  'endless-small-rows',
  'closes-mid-row',
  'wrong-columns',
  'notice-without-end',
  'never-answers',
] as const;
type QueryTrick = (typeof queryTricks)[number];
export type PostgresTrick = LoginTrick | QueryTrick;

function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const ready = message('Z', Buffer.from('I'));
const login = Buffer.concat([message('R', int32(0)), message('K', Buffer.alloc(8)), ready]);
const rowHead = message(
  'T',
  Buffer.concat([
    int16(1),
    text('database'),
    int32(0),
    int16(0),
    int32(25),
    int16(-1),
    int32(-1),
    int16(0),
  ]),
);
const row = (value: Buffer): Buffer =>
  message('D', Buffer.concat([int16(1), int32(value.length), value]));
const nullRow = message('D', Buffer.concat([int16(1), int32(-1)]));
const wrongRow = message('D', Buffer.concat([int16(9), int32(4), Buffer.from('abcd')]));

function attackLogin(trick: LoginTrick, socket: Socket): void {
  switch (trick) {
    case 'wrong-columns-at-login':
      socket.write(Buffer.concat([wrongRow, login]));
      return;
    case 'endless-notices-at-login':
      return pour(message('N', Buffer.concat([text('M'.repeat(65_536)), int16(0)])), socket);
    case 'error-without-end':
      socket.write(message('E', text('SFATAL')));
      return;
    case 'short-login':
      socket.write(message('R', Buffer.from([0])));
      return;
    case 'negative-length':
      socket.write(Buffer.concat([Buffer.from('R'), int32(1), login]));
      return;
  }
}

function attack(trick: QueryTrick, socket: Socket): void {
  const big = row(Buffer.alloc(65_536, 'y'));
  switch (trick) {
    case 'endless-rows':
      socket.write(rowHead);
      return pour(big, socket);
    case 'endless-small-rows':
      socket.write(rowHead);
      return pour(Buffer.concat(Array.from({ length: 1000 }, () => nullRow)), socket);
    case 'endless-row': {
      const head = Buffer.from([...Buffer.from('D'), 0x7f, 0xff, 0xff, 0xff]);
      socket.write(Buffer.concat([rowHead, head, int16(1), int32(0x7ffffff0)]));
      return pour(Buffer.alloc(65_536, 'y'), socket);
    }
    case 'closes-mid-row':
      socket.write(Buffer.concat([rowHead, big.subarray(0, 100)]));
      socket.end();
      return;
    case 'wrong-columns':
      socket.write(Buffer.concat([rowHead, wrongRow, message('C', text('SELECT 1')), ready]));
      return;
    case 'never-answers':
      return;
    case 'notice-without-end':
      // In two pieces: the end of a message can stand in the next one.
      socket.write(message('N', text('SNOTICE')).subarray(0, -1));
      setTimeout(() => socket.write('\0'), 50);
      return;
  }
}

/** Writes the piece for ever, as fast as it is taken. */
function pour(piece: Buffer, socket: Socket): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}

function serve(trick: PostgresTrick, socket: Socket): void {
  let held: Buffer = Buffer.alloc(0);
  let isStarted = false;
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const head = isStarted ? 1 : 0;
      if (held.length < head + 4) return;
      const length = head + held.readInt32BE(head);
      if (held.length < length) return;
      const body = held.subarray(head + 4, length);
      held = held.subarray(length);
      if (!isStarted) {
        isStarted = true;
        if (isLoginTrick(trick)) attackLogin(trick, socket);
        else socket.write(login);
      } else if (body.includes('current_database') && !isLoginTrick(trick)) attack(trick, socket);
      else socket.write(Buffer.concat([message('C', text('SET')), ready]));
    }
  });
}

function isLoginTrick(trick: PostgresTrick): trick is LoginTrick {
  return loginTricks.some((name) => name === trick);
}

const trick = [...loginTricks, ...queryTricks].find((name) => name === process.argv[2]);
if (trick !== undefined) {
  const server = createServer((socket) => serve(trick, socket));
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${port}\n`);
  });
}
