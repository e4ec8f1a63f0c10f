import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Its password; whatever the server does, it must not get to know it. */
export const mysqlPassword = 'secret-of-the-login';

/** What the server does in place of a hello or of the answer to the login. */
const loginTricks = [
  'slow-hello',
  'short-hello',
  'endless-hello',
  'clear-password',
  'unknown-plugin',
  'own-key',
  'own-key-of-sha256',
  'endless-factors',
] as const;
/** What it does at the first query, in place of an answer. */
const queryTricks = [
  'asks-for-a-file',
  'endless-rows',
  'endless-row',
  'endless-small-rows',
  'endless-columns',
  'endless-results',
  'no-version',
  'wrong-order',
  'closes-mid-row',
  'never-answers',
] as const;
type LoginTrick = (typeof loginTricks)[number];
type QueryTrick = (typeof queryTricks)[number];

const longestPacket = 0xff_ff_ff;

function packet(sequence: number, body: Buffer, length = body.length): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, body]);
}

const lengthCoded = (text: string): Buffer =>
  Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);

/** Protocol 4.1, secure connections, plugins for the login; no TLS. */
const capabilities = Buffer.from([0x08, 0x82]);
const capabilitiesHigh = Buffer.from([0x09, 0x00]);
const scramble = Buffer.from('ABCDEFGHIJKLMNOPQRST');

function hello(plugin: string): Buffer {
  return packet(
    0,
    Buffer.concat([
      Buffer.from('\x0a8.4.0\0'),
      Buffer.from([7, 0, 0, 0]),
      scramble.subarray(0, 8),
      Buffer.from([0]),
      capabilities,
      Buffer.from([45, 2, 0]),
      capabilitiesHigh,
      Buffer.from([21]),
      Buffer.alloc(10),
      scramble.subarray(8),
      Buffer.from(`\0${plugin}\0`),
    ]),
  );
}

const accepted = (sequence: number, status = 2): Buffer =>
  packet(sequence, Buffer.from([0, 0, 0, status, 0, 0, 0]));
const switchTo = (sequence: number, plugin: string): Buffer =>
  packet(
    sequence,
    Buffer.concat([Buffer.from(`\xfe${plugin}\0`, 'latin1'), scramble, Buffer.alloc(1)]),
  );

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keyText = publicKey.export({ type: 'spki', format: 'pem' }).toString();

/** The password, if the client has encrypted it for this server. */
function decrypted(bytes: Buffer): string {
  try {
    const padding = constants.RSA_PKCS1_OAEP_PADDING;
    const hidden = privateDecrypt({ key: privateKey, padding, oaepHash: 'sha1' }, bytes);
    return Buffer.from(hidden.map((byte, index) => byte ^ (scramble[index % 20] ?? 0))).toString();
  } catch {
    return '';
  }
}

function answerLogin(trick: LoginTrick | QueryTrick, socket: Socket, sequence: number): void {
  const next = sequence + 1;
  if (trick === 'clear-password') socket.write(switchTo(next, 'mysql_clear_password'));
  else if (trick === 'unknown-plugin') socket.write(switchTo(next, '__proto__'));
  else if (trick === 'endless-factors') socket.write(switchTo(next, 'mysql_native_password'));
  else if (trick === 'own-key')
    answerWithKey({ socket, sequence, plugin: 'caching_sha2_password' });
  else if (trick === 'own-key-of-sha256')
    answerWithKey({ socket, sequence, plugin: 'sha256_password' });
  else socket.write(accepted(next));
}

/** Step by step: the plugin, a full login, the key of this server. */
function answerWithKey(login: {
  readonly socket: Socket;
  readonly sequence: number;
  readonly plugin: string;
}): void {
  const { socket, sequence, plugin } = login;
  const next = sequence + 1;
  const key = packet(next, Buffer.from(`\x01${keyText}`));
  if (sequence === 1) socket.write(switchTo(next, plugin));
  else if (sequence === 3 && plugin === 'caching_sha2_password')
    socket.write(packet(next, Buffer.from([1, 4])));
  else socket.write(key);
}

const column = Buffer.concat([
  ...['def', '', '', '', 'version', 'version'].map(lengthCoded),
  Buffer.from([12, 45, 0, 0xff, 0xff, 0, 0, 0xfd, 0, 0, 0, 0, 0]),
]);
const end = (sequence: number): Buffer => packet(sequence, Buffer.from([0xfe, 0, 0, 2, 0]));
const rowHead = Buffer.concat([packet(1, Buffer.from([1])), packet(2, column), end(3)]);
const cell = Buffer.concat([Buffer.from([0xfd, 0xfc, 0xff, 0]), Buffer.alloc(65_532, 'y')]);

/** 256 rows of one NULL. */
const nullRows = Buffer.concat(
  Array.from({ length: 256 }, (_, index) => packet((index + 4) % 256, Buffer.from([0xfb]))),
);

function attack(trick: QueryTrick, socket: Socket): void {
  switch (trick) {
    case 'asks-for-a-file':
      socket.write(packet(1, Buffer.from(`\xfb${process.argv[3]}`, 'latin1')));
      return;
    case 'endless-rows':
      socket.write(rowHead);
      return pour((count) => packet((count + 4) % 256, cell), socket);
    case 'endless-row':
      socket.write(rowHead);
      return pour((count) => packet((count + 4) % 256, Buffer.alloc(longestPacket, 'y')), socket);
    case 'endless-small-rows':
      socket.write(rowHead);
      return pour(() => nullRows, socket);
    case 'endless-columns':
      socket.write(packet(1, Buffer.from([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0])));
      return pour((count) => packet((count + 2) % 256, column), socket);
    case 'endless-results':
      return pour((count) => accepted((count + 1) % 256, 8), socket);
    case 'no-version':
      socket.write(Buffer.concat([rowHead, packet(4, Buffer.from([0xfb])), end(5)]));
      return;
    case 'wrong-order':
      return pour(() => packet(9, Buffer.from([1])), socket);
    case 'closes-mid-row':
      socket.write(Buffer.concat([rowHead, packet(4, cell).subarray(0, 100)]));
      socket.end();
      return;
    case 'never-answers':
      return;
  }
}

/** Writes pieces for ever, as fast as they are taken. */
function pour(piece: (count: number) => Buffer, socket: Socket): void {
  let count = 0;
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece(count++)));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}

function greet(trick: LoginTrick | QueryTrick, socket: Socket): void {
  const first = hello('mysql_native_password');
  if (trick === 'short-hello') socket.write(packet(0, Buffer.from([10])));
  else if (trick === 'endless-hello')
    pour((count) => packet(count % 256, Buffer.alloc(longestPacket, 'y')), socket);
  else if (trick === 'slow-hello') {
    let at = 0;
    const timer = setInterval(() => socket.write(first.subarray(at, ++at)), 500);
    socket.on('close', () => clearInterval(timer));
  } else socket.write(first);
}

function serve(trick: LoginTrick | QueryTrick, socket: Socket): void {
  let all = Buffer.alloc(0);
  let isLoggedIn = false;
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    all = Buffer.concat([all, bytes]).subarray(-100_000);
    const told = `${all.toString('latin1')}${decrypted(bytes.subarray(4))}`;
    for (const secret of [mysqlPassword, 'secret-of-the-file'])
      if (told.includes(secret)) process.stdout.write(`knows ${secret}\n`);
    const sequence = bytes[3] ?? 0;
    if (isLoggedIn && bytes[4] === 3) {
      const isSetting = /^(?:SET|START|ROLLBACK)/.test(bytes.toString('latin1', 5));
      if (isSetting) socket.write(accepted(1));
      else if (!isLoginTrick(trick)) attack(trick, socket);
    } else if (!isLoggedIn) {
      isLoggedIn = !isLoginTrick(trick);
      answerLogin(trick, socket, sequence);
    } else socket.write(accepted(sequence + 1));
  });
  greet(trick, socket);
}

function isLoginTrick(trick: LoginTrick | QueryTrick): trick is LoginTrick {
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
