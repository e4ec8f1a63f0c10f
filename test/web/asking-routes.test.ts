import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { inTurn, say, use } from '../support/model-script.ts';
import { enterPage, envelopeOf, sendTo, startPage, type StartedPage } from './page.ts';

// The routes that keep something: a conversation, a note. Each is the command that a person types.

let project: AskedProject;
let page: StartedPage;
let own: Record<string, string>;

const revenue = inTurn(
  use('query_metrics', { metrics: ['orders.revenue'], dimensions: ['orders.status'] }),
  say('Revenue is 1,778 EUR [q1].'),
);

beforeAll(async () => {
  project = await openAskedProject();
  project.playing(revenue);
  page = await startPage(project.dir);
  own = await enterPage(page);
});
afterAll(async () => {
  await page?.[Symbol.asyncDispose]();
  await project?.close();
});

const post = (path: string, body: object) =>
  sendTo(`${page.url}${path}`, {
    method: 'POST',
    headers: { ...own, 'content-type': 'application/json' },
    body,
  });

/** Ids, times and costs, which no two runs share. */
const passing = ['ms', 'id', 'query_id', 'conversation', 'at', 'run_id', 'path', 'cost_usd'];

function lasting(value: unknown): unknown {
  const text = JSON.stringify(value ?? null, (key, inner: unknown) =>
    passing.includes(key) || key.endsWith('_ms') ? undefined : inner,
  );
  const plain = text.replaceAll(
    /\b(?:q|chat|call|toolu)_\w+|untrusted-[0-9a-f]{12}|in \d+ ms|claude-ask-\d+/g,
    'passing',
  );
  return JSON.parse(plain) as unknown;
}

const lineSchema = z.looseObject({
  type: z.string().optional(),
  ok: z.boolean().optional(),
  data: z.looseObject({}).optional(),
});
const linesOf = (texts: readonly string[]) =>
  texts.filter((text) => text !== '').map((text) => lineSchema.parse(JSON.parse(text)));

test('/api/ask streams what ktx ask prints, line by line, and ends with the same answer', async () => {
  const question = 'What is revenue?';
  const { headers, text } = await post('api/ask', { question });
  expect(headers['content-type']).toBe('text/event-stream');
  const streamed = linesOf(text.split('\n\n').map((event) => event.replace(/^data: /, '')));
  project.playing(revenue);
  const typed = await ktx(['ask', '--output-format', 'stream-json', question], {
    cwd: project.dir,
  });
  const printed = linesOf(typed.stdout.split('\n'));
  expect(streamed.length).toBeGreaterThan(3);
  // Text arrives in pieces of any size.
  const typesOf = (lines: typeof streamed) => new Set(lines.map(({ type }) => type));
  expect(typesOf(streamed)).toEqual(typesOf(printed));
  expect(streamed.at(-1)).toMatchObject({ ok: true, data: { text: 'Revenue is 1,778 EUR [q1].' } });
  expect(lasting(streamed.at(-1)?.data)).toEqual(lasting(printed.at(-1)?.data));
});

test('/api/remember keeps the note that ktx remember keeps', async () => {
  const answer = await post('api/remember', { note: '--json: revenue is net of refunds.' });
  const words = '--json: revenue is net of refunds, too.';
  const { stdout } = await ktx(['remember', '--json', '--', words], { cwd: project.dir });
  expect(envelopeOf(answer)).toMatchObject({ ok: true });
  expect(lasting(envelopeOf(answer).data)).toEqual(
    lasting(lineSchema.parse(JSON.parse(stdout)).data),
  );
  // It is there for the command line.
  const { id } = z.object({ id: z.string() }).parse(envelopeOf(answer).data);
  const known = await ktxJson(['remember', '--status', id], { cwd: project.dir });
  expect(known.envelope.data).toMatchObject({ id });
});

test('/api/eval/add makes the case that ktx eval add makes of an answer', async () => {
  project.playing(revenue);
  const asked = await post('api/ask', { question: '--set=x is what?' });
  const ended = asked.text.split('\n\n').findLast((event) => event !== '') ?? '';
  const { data } = lineSchema.parse(JSON.parse(ended.replace(/^data: /, '')));
  const { conversation } = z.object({ conversation: z.string() }).parse(data);
  for (const right of [true, false]) {
    const answer = envelopeOf(await post('api/eval/add', { conversation, turn: 1, right }));
    const typed = ['eval', 'add', conversation, '--turn', '1', ...(right ? ['--right'] : [])];
    const { envelope } = await ktxJson(typed, { cwd: project.dir });
    const [posted, made] = [answer.data, envelope.data].map((added) => caseSchema.parse(added));
    // The second one is a case of its own.
    expect({ ...posted, id: '' }).toEqual({ ...made, id: '' });
    expect(posted?.confirmed_by !== undefined).toBe(right);
  }
});

const caseSchema = z.strictObject({
  file: z.literal('evals/chat.yaml'),
  id: z.string().regex(/^set-x-is-what(-\d)?$/),
  question: z.literal('--set=x is what?'),
  expect: z.object({ result: z.object({ golden_sql: z.string().regex(/select/i) }) }),
  conversation: z.string(),
  turn: z.literal(1),
  confirmed_by: z.string().optional(),
});

test('all are refused where nothing may be kept', async () => {
  await using reader = await startPage(project.dir, ['--read-only']);
  const headers = { ...(await enterPage(reader)), 'content-type': 'application/json' };
  for (const [path, body] of [
    ['ask', { question: 'x' }],
    ['remember', { note: 'x' }],
    ['eval/add', { conversation: 'last', turn: 1 }],
  ] as const) {
    const answer = await sendTo(`${reader.url}api/${path}`, { method: 'POST', headers, body });
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'read_only']);
  }
});
