import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { fail, inTurn, say, type Script, use } from '../support/model-script.ts';
import { ktx, ktxJson } from './run-cli.ts';

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
});
afterAll(() => project?.close());

const playing: AskedProject['playing'] = (...args) => project.playing(...args);
const revenue: Script = inTurn(
  use('query_metrics', { metrics: ['orders.revenue'], dimensions: ['orders.status'] }),
  say('Revenue is 1,778 EUR [q1].'),
);
const here = () => ({ cwd: project.dir });

describe('ktx ask', () => {
  test('in a pipe: the answer on stdout and nothing else, its receipt on stderr', async () => {
    const running = playing(revenue);
    const { code, stdout, stderr } = await ktx(['ask', 'What is revenue?'], here());
    expect([code, stdout]).toEqual([0, 'Revenue is 1,778 EUR [q1].\n']);
    expect(stderr).toMatch(/\[q1\] curated, 2 rows from shop; 2 steps, 240 tokens, \$0\.0012/);
    const [first, second] = running.calls;
    expect(first?.tools).toEqual(
      expect.arrayContaining(['query_metrics', 'run_sql', 'search_context']),
    );
    expect(first?.system).toContain('shop (sqlite)');
    expect(second?.results[0]?.text).toMatch(/^Evidence q1\.\n/);
  });

  test('as JSON: the answer, its queries with rows and receipt, and what it cost', async () => {
    playing(revenue);
    const { code, stdout } = await ktx(
      ['ask', '--output-format', 'json', 'What is revenue?'],
      here(),
    );
    const { ok, data } = JSON.parse(stdout) as { ok: boolean; data: Record<string, unknown> };
    expect([code, ok]).toEqual([0, true]);
    expect(data).toMatchObject({
      text: 'Revenue is 1,778 EUR [q1].',
      stop_reason: 'completed',
      tool_calls: [{ name: 'query_metrics', ok: true, evidence_id: 'q1' }],
      evidence: [
        {
          id: 'q1',
          connection: 'shop',
          sql: expect.stringContaining('SELECT'),
          trust: { status: 'curated' },
          receipt: { metrics: [{ name: 'orders.revenue' }] },
          plan: { blocks: [{ rows_of: 'orders' }] },
          ms: expect.any(Number),
        },
      ],
      cost_usd: expect.any(Number),
    });
    const [one] = data['evidence'] as { id: string; rows: unknown[]; query_id: string }[];
    expect(one?.rows.length).toBeGreaterThan(0);
    // What the answer cites leads on to what justifies it.
    expect(String(data['text'])).toContain(`[${one?.id}]`);
    const explained = await ktx(['explain', one?.query_id ?? ''], here());
    expect([explained.code, explained.stdout]).toEqual([
      0,
      expect.stringMatching(/orders\.revenue/),
    ]);
  });

  test('a number that no query gives is named, and an error where the answer has to be grounded', async () => {
    const wrong: Script = ({ messages, results }) =>
      results.length === 0 && !messages.some(({ text }) => text.includes('no query q7'))
        ? use('query_metrics', { metrics: ['orders.revenue'] })
        : say('Revenue is EUR 2,999,999 [q1], see also [q7].');
    playing(wrong);
    const plain = await ktx(['ask', 'What is revenue?'], here());
    expect(plain.code).toBe(0);
    expect(plain.stderr).toContain('not grounded: EUR 2,999,999 (nothing in q1 gives it)');
    expect(plain.stderr).toContain('not grounded: [q7] (there is no query q7)');
    playing(wrong);
    const strict = await ktx(['ask', '--require-grounded', 'What is revenue?'], here());
    expect(strict.code).toBe(3);
    expect(strict.stderr).toContain('The answer has what no query gives: EUR 2,999,999, [q7].');
  });

  test('a wrong citation goes back to the model once, and what it says then is the answer', async () => {
    const right = 'There are many [q1].';
    const script =
      (last: string): Script =>
      ({ messages, results }) => {
        if (messages.some(({ text }) => text.includes('there is no query q7'))) return say(last);
        return results.length === 0
          ? use('query_metrics', { metrics: ['orders.revenue'] })
          : say('There are many [q7].');
      };
    const mended = playing(script(right));
    const answer = await ktx(['ask', 'What is revenue?'], here());
    expect([answer.code, answer.stdout, mended.calls.length]).toEqual([0, `${right}\n`, 3]);
    expect(answer.stderr).toMatch(/citations of the answer were wrong; .*there is no query q7/);
    expect(answer.stderr).not.toContain('not grounded');
    const again = playing(script('I am sure [q7].'));
    const stubborn = await ktx(['ask', '--require-grounded', 'What is revenue?'], here());
    expect([stubborn.code, again.calls.length]).toEqual([3, 3]);
    expect(stubborn.stderr).toContain('not grounded: [q7] (there is no query q7)');
  });

  test('an answer with a wrong citation stays if asking once more fails', async () => {
    const failing: Script = ({ messages, results }) => {
      if (messages.some(({ text }) => text.includes('there is no query q7')))
        return fail('bad-request');
      return results.length === 0
        ? use('query_metrics', { metrics: ['orders.revenue'] })
        : say('There are many [q7].');
    };
    playing(failing);
    const { code, stdout, stderr } = await ktx(['ask', 'What is revenue?'], here());
    expect([code, stdout]).toEqual([0, 'There are many [q7].\n']);
    expect(stderr).toContain('the first one stays');
    expect(stderr).toContain('not grounded: [q7] (there is no query q7)');
  });

  test('a number of its rows is grounded, with the cell in JSON', async () => {
    const total: Script = inTurn(
      use('query_metrics', { metrics: ['orders.count'] }),
      say('There are 8 orders [q1].'),
    );
    playing(total);
    const { stdout } = await ktx(
      ['ask', '--require-grounded', '--output-format', 'json', 'How many orders?'],
      here(),
    );
    const { data } = JSON.parse(stdout) as {
      data: { text: string; evidence: { rows: number[][] }[]; grounding: object[] };
    };
    const [claim] = data.grounding;
    const isRight = data.evidence[0]?.rows[0]?.[0] === 8;
    expect(claim).toMatchObject({ text: '8', status: isRight ? 'cell' : 'ungrounded' });
  });

  test('as a stream: an event a line, the envelope last', async () => {
    playing(revenue);
    const { stdout } = await ktx(
      ['ask', '--output-format', 'stream-json', 'What is revenue?'],
      here(),
    );
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type?: string; ok?: boolean });
    expect([...new Set(lines.map(({ type }) => type))]).toEqual([
      'session_started',
      'tool_start',
      'tool_end',
      'text_delta',
      'usage',
      undefined,
    ]);
    expect(lines.at(-1)?.ok).toBe(true);
  });

  test('keeps the conversation for its owner alone, and goes on from it', async () => {
    const running = playing(inTurn(say('First.'), say('Second.')));
    const { envelope } = await ktxJson(['ask', 'Remember plum.'], here());
    const { conversation } = envelope.data as { conversation: string };
    const file = join(project.dir, '.ktx/chats', `${conversation}.jsonl`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await ktx(['ask', '--resume', 'last', 'What was it?'], here());
    expect(again.stdout).toBe('Second.\n');
    expect(running.calls[1]?.messages.map(({ text }) => text).join('\n')).toContain('plum');
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(2);
    expect(
      readdirSync(join(project.dir, '.ktx/chats')).filter(
        (name) => name === `${conversation}.jsonl`,
      ),
    ).toHaveLength(1);
    expect(await ktxJson(['ask', '--resume', 'chat_none', 'Hm?'], here())).toMatchObject({
      code: 2,
      envelope: { error: { code: 'chat_unknown' } },
    });
  });

  test('without a terminal what would be asked is denied, recorded, and in the exit code', async () => {
    const script = inTurn(
      use('remember', { text: 'Revenue is net.' }),
      say('I could not note it.'),
    );
    playing(script);
    const { code, envelope } = await ktxJson(['ask', 'Note that revenue is net.'], here());
    expect([code, envelope.error?.code]).toEqual([3, 'turn_denied']);
    expect(envelope.data).toMatchObject({
      stop_reason: 'denied',
      denials: [{ tool: 'remember', reason: 'nobody to ask' }],
    });
    playing(revenue);
    const manual = await ktxJson(['ask', '--permissions', 'manual', 'What is revenue?'], here());
    expect(manual.envelope.data).toMatchObject({
      denials: [{ tool: 'query_metrics' }],
      evidence: [],
    });
  });

  test('at a terminal a person is asked, with the SQL, and decides', async () => {
    playing(
      inTurn(
        use('run_sql', { sql: 'SELECT count(*) AS n FROM orders' }),
        use('run_sql', { sql: 'SELECT 1 AS n' }),
        say('There are 900 [q1].'),
      ),
    );
    const { code, stdout, stderr } = await ktx(['ask', 'How many orders?'], {
      ...here(),
      typed: ['s'],
    });
    expect(code).toBe(0);
    expect(stderr).toContain('SELECT count(*) AS n FROM orders');
    expect(stderr).toContain('at most 1000 rows');
    // Asked once: it was allowed for the session.
    expect(stderr.split('(query, at most')).toHaveLength(2);
    expect(stdout).toContain('There are 900 [q1].');
  });

  test('an agent file: its instructions, tools, limits, and the form of its answers', async () => {
    const schema = '{type: object, properties: {orders: {type: integer}}, required: [orders]}';
    const running = playing(
      inTurn(
        use('run_sql', { sql: 'SELECT id FROM orders' }),
        use('run_sql', { sql: 'SELECT 2' }),
        say('{"orders": 900}'),
      ),
      `instructions: Speak like a sailor.\ntools: {deny: [remember]}\nlimits: {max_rows: 5, max_queries: 1}\nresponse_format: {schema: ${schema}}`,
    );
    const { envelope } = await ktxJson(['ask', '--agent', 'analyst', 'How many?'], here());
    expect(envelope.data).toMatchObject({
      text: '{"orders":900}',
      structured: { orders: 900 },
      tool_calls: [{ ok: true }, { ok: false, summary: expect.stringContaining('max_queries') }],
      evidence: [{ rows: { length: 5 }, truncated: true }],
    });
    expect(running.calls[0]?.system).toContain('Speak like a sailor.');
    expect(running.calls[0]?.tools).not.toContain('remember');
  });

  test('semantic_layer required offers no SQL; off offers nothing else, and the names of the tables', async () => {
    const required = playing(() => say('ok'), 'context: {semantic_layer: required}');
    await ktx(['ask', '--agent', 'analyst', 'Hm?'], here());
    expect(required.calls[0]?.tools).not.toContain('run_sql');
    const off = playing(() => say('ok'), 'context: {semantic_layer: off}');
    await ktx(['ask', '--agent', 'analyst', 'Hm?'], here());
    expect(off.calls[0]?.tools).toEqual(['cannot_answer', 'run_sql']);
  });

  test.for([
    ['tools: {allow: [query_metric]}', /there is no tool query_metric.*query_metrics/s],
    ['context: {connections: [nowhere]}', /no warehouse nowhere/],
    ['limit: {max_turns: 3}', /analyst\.yaml:2:1.*limits/s],
    ['instructions: {file: ./missing.md}', /refers to \.\/missing\.md/],
    ['response_format: {schema: {type: array}}', /type object/],
    ['model: {backend: vertex}', /vertex/],
    [
      'mcp_servers: {ktx: {transport: http, url: "http://localhost", tools: [a]}}',
      /ktx is the name of ktx’s own server/,
    ],
    [
      'mcp_servers: {cal: {transport: stdio, command: no-such-program-here, tools: [a]}}',
      /there is no program no-such-program-here/,
    ],
  ] as const)('an agent that cannot be: %s', async ([text, message]) => {
    const running = playing(() => say('Never.'), text);
    const { code, envelope } = await ktxJson(['ask', '--agent', 'analyst', 'Hm?'], here());
    expect(code).toBe(2);
    expect(`${envelope.error?.message} ${envelope.error?.hint}`).toMatch(message);
    expect(running.calls).toEqual([]);
  });

  test('an agent that is not there is told with those that are', async () => {
    playing(() => say('Never.'), 'instructions: x');
    const { envelope } = await ktxJson(['ask', '--agent', 'analist', 'Hm?'], here());
    expect(envelope.error).toMatchObject({ code: 'agent_unknown', hint: 'Did you mean analyst?' });
  });

  test('a failing provider is the failure of the command', async () => {
    playing(() => fail('auth'));
    const { code, envelope } = await ktxJson(['ask', 'Hm?'], here());
    expect([code, envelope.error?.code]).toEqual([4, 'llm_auth']);
  });

  test('without a backend it names every one, with its command [U8]', async () => {
    writeFileSync(
      join(project.dir, 'ktx.yaml'),
      'connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n',
    );
    const { code, envelope } = await ktxJson(['ask', 'Hm?'], here());
    expect([code, envelope.error?.code]).toEqual([2, 'llm_missing']);
    for (const name of [
      'anthropic',
      'vertex',
      'gateway',
      'openai',
      'bedrock',
      'claude-code',
      'claude-agent',
    ]) {
      expect(envelope.error?.hint).toContain(`setup --llm-backend ${name}`);
    }
  });
});
