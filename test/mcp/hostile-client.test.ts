import { Buffer } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProject, type Project } from '../../src/project/open/open.ts';
import { connectRawClient, protocols, type ProtocolVersion } from './raw-client.ts';
import { openShop, type Shop } from './shop.ts';

let shop: Shop;
let project: Project;

beforeAll(async () => {
  shop = await openShop('sqlite');
  project = await openProject(shop.dir);
});

afterAll(async () => {
  await project.close();
  shop.remove();
});

const padding = 'x'.repeat(10 * 1024 * 1024 + 1);
const nested = (depth: number, [open, close]: readonly [string, string] = ['[', ']']) =>
  `${open.repeat(depth)}${close.repeat(depth)}`;
const call = (id: string, inside: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"run_sql","arguments":${inside}}}`;
const parseError = -32_700;
const invalidRequest = -32_600;

/** What is sent, the id and the code of the one answer. No code: no answer. */
const refusals: readonly (readonly [
  string,
  string | Buffer,
  (string | number | null)?,
  number?,
])[] = [
  ['too long', call('"a"', `"${padding}"`), 'a', invalidRequest],
  ['too long, the id last', `{"params":["${padding}"],"id" : 7 }`, 7, invalidRequest],
  ['too long, not JSON', padding, null, invalidRequest],
  ['not JSON', '{"jsonrpc":"2.0","id":8,"method":', 8, parseError],
  ['not JSON at all', 'GET / HTTP/1.1\r', null, parseError],
  ['half an id', '{"jsonrpc":"2.0","method":"x","id":"8', null, parseError],
  ['two messages', '{"jsonrpc":"2.0","id":9,"method":"ping"}{}', 9, parseError],
  ['nested 20,000 deep', call('10', nested(20_000)), 10, invalidRequest],
  ['nested 1,000,000 deep', call('11', nested(1_000_000)), 11, invalidRequest],
  ['objects 20,000 deep', call('12', nested(20_000, ['{"a":', '}'])), 12, invalidRequest],
  ['nested and not closed', `{"id":13,"a":${'['.repeat(1_000_000)}`, 13, invalidRequest],
  ['brackets that open nothing', nested(500, [']', '[']), null, parseError],
  ['brackets in text', call('14', JSON.stringify({ sql: `SELECT '${nested(5000)}'` })), 14],
  ['a number', '42', null, invalidRequest],
  ['null', 'null', null, invalidRequest],
  ['a text', '"tools/list"', null, invalidRequest],
  ['an empty object', '{}', null, invalidRequest],
  ['no version', '{"id":15,"method":"ping"}', 15, invalidRequest],
  ['version 1', '{"jsonrpc":"1.0","id":16,"method":"ping"}', 16, invalidRequest],
  ['a method that is a number', '{"jsonrpc":"2.0","id":17,"method":5}', 17, invalidRequest],
  [
    'params that are a list',
    '{"jsonrpc":"2.0","id":18,"method":"ping","params":[]}',
    18,
    invalidRequest,
  ],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', null, invalidRequest],
  ['an id that is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, invalidRequest],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', null, invalidRequest],
  ['an escaped id', '{"jsonrpc":"2.0","\\u0069d":"q\\"}","method":6}', 'q"}', invalidRequest],
  ['a batch', `[${call('19', '{}')}]`, 19, invalidRequest],
  ['a batch of nothing', '[]', null, invalidRequest],
  ['binary', Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80]), null, parseError],
  [
    'invalid UTF-8',
    Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":20,"method":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]),
    20,
    parseError,
  ],
  ['null bytes', call('21', '{"sql":"a\0b"}'), 21, parseError],
  ['an empty line', ''],
  ['blanks', ' \t\r'],
  ['an answer to nothing', '{"jsonrpc":"2.0","id":22,"result":{}}'],
  ['an error to nothing', '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"?"}}'],
  ['a notification that nobody knows', '{"jsonrpc":"2.0","method":"notifications/none"}'],
  [
    'a cancellation of nothing',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}',
  ],
  [
    'a cancellation of no id',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
  ],
];

describe.each(Object.keys(protocols) as ProtocolVersion[])(
  'a client of %s that sends',
  (version) => {
    it('what is no message gets the error of the protocol, and the next request is answered', async () => {
      const client = await connectRawClient(project, version);
      try {
        for (const [what, line, id, code] of refusals) {
          const answers = await client.exchange([line], id === undefined ? 0 : 1);
          if (id === undefined) continue;
          if (code === undefined) expect(answers, what).toMatchObject([{ id }]);
          else expect(answers, what).toMatchObject([{ jsonrpc: '2.0', id, error: { code } }]);
          for (const { error } of answers)
            expect(error?.message ?? '', what).not.toMatch(/stack|\n/);
        }
      } finally {
        await client.close();
      }
    });

    it('unknown methods and wrong params gets an error for each, whatever names and ids it takes', async () => {
      const client = await connectRawClient(project, version);
      const { request } = client;
      try {
        const methods = [
          '__proto__',
          'constructor',
          'toString',
          'tools/none',
          '',
          'x'.repeat(5000),
        ];
        const ids = ['__proto__', 'constructor', -1, 0, Number.MAX_SAFE_INTEGER, '', 'é\n"'];
        for (const method of methods)
          expect(await client.exchange([request('m', method)], 1), method).toMatchObject([
            { id: 'm', error: { code: -32_601 } },
          ]);
        for (const id of ids)
          expect(await client.exchange([request(id, 'tools/list')], 1)).toMatchObject([
            { id, result: {} },
          ]);
        for (const params of [
          {},
          { name: 5 },
          { name: '__proto__' },
          { name: 'run_sql', arguments: [] },
        ])
          expect(await client.exchange([request('p', 'tools/call', params)], 1)).toMatchObject([
            { id: 'p', error: { code: -32_602 } },
          ]);
        for (const uri of [undefined, 5, '', '__proto__', 'ktx://dataset/__proto__/constructor'])
          expect(await client.exchange([request('r', 'resources/read', { uri })], 1)).toMatchObject(
            [{ id: 'r', error: { code: -32_602, message: expect.stringMatching(/^[^[{]+$/) } }],
          );
        expect(await client.exchange([request('n', 'tools/call', { name: 5 })], 1)).toMatchObject([
          {
            error: {
              message:
                'Invalid request: params.name: Invalid input: expected string, received number.',
            },
          },
        ]);
        expect(
          await client.exchange([request('s', 'tools/call', { name: 'sql' })], 1),
        ).toMatchObject([
          { error: { message: expect.stringContaining('There are search_context, ') } },
        ]);
        const mistakes = [
          { name: 'ingest', arguments: { cancel: true } },
          { name: 'review_status', arguments: { all: true } },
        ];
        const hints = ['The call that started it returned the id.', 'review_status takes nothing.'];
        for (const [at, params] of mistakes.entries())
          expect(
            JSON.stringify(await client.exchange([request('h', 'tools/call', params)], 1)),
          ).toContain(hints[at]);
        const twice = [request('d', 'tools/list'), request('d', 'tools/list')];
        expect((await client.exchange(twice, 2)).map(({ id }) => id)).toEqual(['d', 'd']);
      } finally {
        await client.close();
      }
    });

    it('a message in pieces, and one without end, is held within bounds', async () => {
      const client = await connectRawClient(project, version);
      try {
        for (const byte of Buffer.from(client.request('slow', 'tools/list')))
          client.stdin.write(Buffer.from([byte]));
        client.send('');
        expect(await client.next()).toMatchObject({ id: 'slow', result: {} });
        const piece = Buffer.alloc(1024 * 1024, 0x61);
        global.gc?.();
        const before = process.memoryUsage().arrayBuffers;
        for (let sent = 0; sent < 200; sent += 1) {
          if (!client.stdin.write(piece))
            await new Promise((resolve) => client.stdin.once('drain', resolve));
        }
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60 * 1024 * 1024);
        client.send('');
        expect(await client.next()).toMatchObject({ id: null, error: { code: invalidRequest } });
        expect(await client.exchange([], 0)).toEqual([]);
      } finally {
        await client.close();
      }
    });
  },
);

describe('a client that asks too much', () => {
  it('has 2,000 requests answered at once, and is told to wait with the others', async () => {
    const client = await connectRawClient(project, '2025-06-18');
    try {
      const requests = Array.from({ length: 2500 }, (_, id) =>
        client.request(id, 'tools/call', { name: 'review_status', arguments: { max_tokens: 1 } }),
      );
      client.stdin.write(`${requests.join('\n')}\n`);
      const answers = await Promise.all(requests.map(() => client.next()));
      expect(new Set(answers.map(({ id }) => id)).size).toBe(2500);
      const refused = answers.filter(({ error }) => error?.code === -32_029);
      expect(refused.length).toBeGreaterThan(0);
      expect(answers.length - refused.length).toBeGreaterThanOrEqual(2000);
      expect(await client.exchange([], 0)).toEqual([]);
    } finally {
      await client.close();
    }
  });

  it('and reads no answers has its requests wait, and gets all answers once it reads', async () => {
    const { stdin, stdout, request, close } = await connectRawClient(project, '2025-06-18');
    try {
      // Until now the client has read line by line.
      stdout.removeAllListeners('data');
      stdout.pause();
      // All answers are more than the 20 MB that may wait.
      const count = 4000;
      for (let id = 0; id < count; id += 1) {
        stdin.write(`${request(id, 'tools/list')}\n`);
        if (id % 200 === 0) await nextTurn();
      }
      await nextTurn();
      expect(stdout.writableLength).toBeLessThan(20 * 1024 * 1024);
      expect(stdin.readableLength + stdin.writableLength).toBeGreaterThan(0);
      let answers = 0;
      const { promise: isDone, resolve } = Promise.withResolvers<void>();
      stdout.on('data', (piece: Buffer) => {
        answers += piece.toString().split('\n').length - 1;
        if (answers === count) resolve();
      });
      stdout.resume();
      await isDone;
    } finally {
      await close();
    }
  });

  it('and no longer listens ends the server', async () => {
    const { stdout, serving } = await connectRawClient(project, '2025-06-18');
    stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await serving;
  });
});
