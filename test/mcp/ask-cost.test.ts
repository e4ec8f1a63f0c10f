import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { serveBilled } from './billed-shop.ts';

const sql = 'SELECT id FROM orders';
const query = { max_bytes: 1000, max_bytes_allowed: '1MB' };
type Answer = { action: 'accept'; content: { run: boolean } } | { action: 'decline' };
const accept: Answer = { action: 'accept', content: { run: true } };

async function openAsking(url: string, mode: 'legacy' | 'auto', answer: Answer) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  );
  const questions: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params.message);
    return answer;
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    questions,
    async call(statement: string) {
      const { content, isError } = await client.callTool({
        name: 'run_sql',
        arguments: { sql: statement },
      });
      const [block] = content;
      return { isError: isError === true, text: block?.type === 'text' ? block.text : '' };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe.each(['legacy', 'auto'] as const)('an expensive query, for a client of %s', (mode) => {
  it('is run once if the person agrees', async () => {
    await using served = await serveBilled({ query });
    await using session = await openAsking(served.url, mode, accept);
    const { text, isError } = await session.call(sql);
    expect(isError, text).toBe(false);
    expect(text).toContain('1000 rows');
    expect(session.questions).toEqual([
      'This query would read 8.0 kB; without asking, 1.0 kB is the most. Run it once?',
    ]);
    // The next one is asked about again.
    await session.call(sql);
    expect(session.questions).toHaveLength(2);
  });

  it('is not run if the person declines, or says no', async () => {
    await using served = await serveBilled({ query });
    const no: Answer = { action: 'accept', content: { run: false } };
    for (const answer of [{ action: 'decline' } as const, no]) {
      await using session = await openAsking(served.url, mode, answer);
      expect((await session.call(sql)).text).toMatch(/^Error too_expensive/);
      expect(session.questions).toHaveLength(1);
    }
  });

  it('is not asked about without the setting, and not beyond it', async () => {
    for (const other of [{ max_bytes: 1000 }, { max_bytes: 1000, max_bytes_allowed: 5000 }]) {
      await using served = await serveBilled({ query: other });
      await using session = await openAsking(served.url, mode, accept);
      expect((await session.call(sql)).text).toMatch(/^Error too_expensive/);
      expect(session.questions).toEqual([]);
    }
  });
});

it('an answer allows no other query', async () => {
  await using served = await serveBilled({ query });
  const send = async (params: object) => {
    const response = await fetch(served.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'run_sql',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const text = await response.text();
    const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
    return (JSON.parse(json) as { result: { requestState?: string } }).result;
  };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const base = { name: 'run_sql', _meta: meta };
  const asked = await send({ ...base, arguments: { sql } });
  expect(asked.requestState).toBeDefined();
  const inputResponses = { cost: accept };
  const again = { ...base, requestState: asked.requestState, inputResponses };
  const other = await send({ ...again, arguments: { sql: 'SELECT id AS other FROM orders' } });
  expect(JSON.stringify(other)).toContain('too_expensive');
  expect(JSON.stringify(await send({ ...again, arguments: { sql } }))).toContain('1000 rows');
});
