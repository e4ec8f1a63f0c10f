import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { expect } from 'vitest';
import { serveStdio } from '../../src/mcp/stdio/serve-stdio.ts';
import type { Project } from '../../src/project/open/open.ts';

export interface Answer {
  readonly id: unknown;
  readonly result?: { readonly isError?: boolean; readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

const clientInfo = { name: 'test', version: '1' };

/** The two ways to speak: with a handshake, or with the version in every request. */
export const protocols = {
  '2025-06-18': {
    hello: { method: 'initialize', version: '2025-06-18' },
    meta: {},
  },
  '2026-07-28': {
    hello: { method: 'server/discover', version: '2026-07-28' },
    meta: {
      _meta: {
        [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
        [CLIENT_INFO_META_KEY]: clientInfo,
        [CLIENT_CAPABILITIES_META_KEY]: {},
      },
    },
  },
} as const;
export type ProtocolVersion = keyof typeof protocols;

/** A client that can send anything. */
export async function connectRawClient(project: Project, version: ProtocolVersion) {
  const [stdin, stdout, end] = [new PassThrough(), new PassThrough(), new AbortController()];
  const serving = serveStdio(project, { stdin, stdout, signal: end.signal });
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<Answer> =>
    JSON.parse(String((await lines.next()).value)) as Answer;
  const { hello, meta } = protocols[version];
  const request = (id: unknown, method: string, params: object = {}): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...meta, ...params } });
  const client = {
    stdin,
    stdout,
    serving,
    next,
    request,
    send: (line: string | Buffer) => {
      stdin.write(line);
      stdin.write('\n');
    },
    /**
     * Sends the lines and a valid request. Returns `count` answers beside that to the request:
     * there are no others.
     */
    async exchange(sent: readonly (string | Buffer)[], count: number): Promise<Answer[]> {
      const last = `last-${Math.random()}`;
      [...sent, request(last, 'tools/list')].forEach(client.send);
      const answers: Answer[] = [];
      while (answers.length <= count) answers.push(await next());
      const served = answers.find(({ id }) => id === last);
      expect(served?.result?.['tools'], JSON.stringify(answers).slice(0, 500)).toHaveLength(8);
      return answers.filter((answer) => answer !== served);
    },
    close: async (): Promise<void> => {
      end.abort();
      await serving;
    },
  };
  client.send(
    request(0, hello.method, { protocolVersion: hello.version, capabilities: {}, clientInfo }),
  );
  expect(await next()).toMatchObject({ id: 0, result: {} });
  return client;
}
