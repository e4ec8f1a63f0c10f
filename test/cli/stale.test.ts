import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { documentedShop, ingestCommand, openMachine } from '../ingest/llm-project.ts';
import { reading } from '../support/reading-model.ts';
import { ktx, ktxJson, shopDatabase } from './run-cli.ts';
import { partsOfAnswer } from '../support/answer-parts.ts';

let cwd: string;
const item = 'sources/handbook/words.md';
const metric = 'metric:warehouse.orders.average';
const field = 'field:warehouse.customers.region';
const read = (path: string) => readFileSync(join(cwd, path), 'utf8');

/** A claim as a model's reading leaves it. */
function claimed(
  file: string,
  claim: { subject: string; kind: string; body: unknown; evidence?: object },
): void {
  const by = {
    connection: 'handbook',
    origin: 'model',
    extractor: 'reading@1',
    item,
    location: 'line 3',
    quote: 'as people say',
    confidence: 0.7,
  };
  appendFileSync(
    join(cwd, file),
    `${JSON.stringify({ ...claim, evidence: { ...by, ...claim.evidence } })}\n`,
  );
}

/** What the index says that a model read of the document. */
function recordReading(change: (line: { hash: string; slice: string }) => object): void {
  const [line = ''] = read('sources/handbook/index.jsonl').split('\n');
  const now = JSON.parse(line) as { hash: string; slice: string };
  writeFileSync(
    join(cwd, 'sources/handbook/index.jsonl'),
    `${JSON.stringify({ ...now, extractor: 'docs@1+pending', read: { ...change(now), extractor: 'docs@1+reading@1' } })}\n`,
  );
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-stale-'));
  shopDatabase(join(cwd, 'shop.db'));
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  mkdirSync(join(cwd, 'docs'));
  writeFileSync(
    join(cwd, 'docs/words.md'),
    '# Words\n\nA regular is a customer who came back at least twice in a year.\n',
  );
  await ktx(['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'], { cwd });
  mkdirSync(join(cwd, 'claims/warehouse'), { recursive: true });
  claimed('claims/wiki.jsonl', { subject: 'term:regular', kind: 'title', body: 'Regular' });
  claimed('claims/wiki.jsonl', {
    subject: 'term:regular',
    kind: 'definition',
    body: 'A customer who came back at least twice in a year.',
  });
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test('what a model read stands unmarked while the item is what it read', async () => {
  claimed('claims/warehouse/orders.jsonl', {
    subject: metric,
    kind: 'metric',
    body: { agg: 'avg', of: 'amount' },
  });
  claimed('claims/warehouse/orders.jsonl', {
    subject: metric,
    kind: 'description',
    body: 'What an order comes to.',
  });
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(read('semantic-layer/warehouse/orders.yaml')).toContain('What an order comes to.');
  recordReading(({ hash, slice }) => ({ hash, slice }));
  expect(await ktxJson(['check'], { cwd })).toMatchObject({
    code: 0,
    envelope: { data: { findings: [] } },
  });
});

test('a metric that only a model read is unreviewed until a person accepts it, in every later run', async () => {
  const file = () => read('semantic-layer/warehouse/orders.yaml');
  expect(file()).toContain('{name: average, agg: avg, of: amount, unreviewed: true');
  const accepted = await ktx(['review', 'accept', 'orders.average', '--why', 'checked'], { cwd });
  expect(accepted).toMatchObject({ code: 0 });
  expect(file()).toContain('{name: average, agg: avg, of: amount, description');
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(file()).not.toMatch(/average.*unreviewed/);
  expect(read('pins.yaml')).toContain('why: checked');
  const { envelope } = await ktxJson(['sl', 'query', '-m', 'orders.average'], { cwd });
  expect(envelope.data).toMatchObject({ receipt: { metrics: [{ curated: true }] } });
});

test('what leans on an item that changed since is marked wherever it is met, and fails the check with the fix', async () => {
  recordReading(({ slice }) => ({ hash: 'ffffffffffffffff', slice }));
  const { code, envelope } = await ktxJson(['check'], { cwd });
  const { findings } = envelope.data as {
    findings: readonly { what: string; where: string; found: string; fix: string }[];
  };
  expect([code, findings.map(({ what, where }) => [what, where])]).toEqual([
    1,
    [
      ['stale', metric],
      ['stale', 'term:regular'],
    ],
  ]);
  expect(findings[0]).toMatchObject({
    found: `${item} has changed since a model read it`,
    fix: expect.stringContaining('ktx ingest') as unknown,
  });

  const { hits } = (await ktxJson(['search', 'regular'], { cwd })).envelope.data as {
    hits: readonly { subject: string; stale?: boolean }[];
  };
  expect(hits.find(({ subject }) => subject === 'term:regular')?.stale).toBe(true);
  expect((await ktx(['sl', 'read', 'orders'], { cwd })).stderr).toContain(`stale: ${metric}`);
  const asked = await ktxJson(['sl', 'query', '-m', 'orders.average'], { cwd });
  expect(asked.envelope.data).toMatchObject({ receipt: { stale: [metric] } });
  expect(
    (await ktxJson(['sl', 'query', '-m', 'orders.count'], { cwd })).envelope.data,
  ).toMatchObject({ receipt: { stale: [] } });
  expect((await ktx(['status', '--fast'], { cwd })).stdout).toContain(`stale     ${metric}`);
  expect((await ktx(['explain', 'orders.average'], { cwd })).stdout).toContain(
    `stale ${item} has changed since a model read it`,
  );
  expect((await ktxJson(['explain', 'orders.status'], { cwd })).envelope.data).toMatchObject({
    explanations: [{ stale: [] }],
  });

  expect((await ktxJson(['review'], { cwd })).envelope.data).toMatchObject({
    conflicts: [],
    left_out: [],
    stale: [{ subject: metric }, { subject: 'term:regular' }],
  });
  expect((await ktx(['review', 'list'], { cwd })).stdout).toMatch(
    /^No conflicts\.\n.* unreviewed .*total_amount.*\n.*\n {2}stale {5}metric:/,
  );

  const project = await openProject(cwd);
  const tools = openToolbox(project).tools(new AbortController().signal);
  const call = async (name: string, input: object) => {
    const result = await tools.find((tool) => tool.name === name)?.execute(input);
    return partsOfAnswer(result?.markdown);
  };
  expect(await call('search_context', { text: 'regular' })).toMatchObject({
    trust: { stale: ['term:regular'] },
  });
  expect(await call('read_context', { name: 'orders' })).toMatchObject({
    trust: { stale: [metric] },
  });
  expect(await call('read_context', { name: 'term:regular' })).toMatchObject({
    trust: { stale: ['term:regular'] },
  });
  expect(await call('query_metrics', { metrics: ['orders.average'] })).toMatchObject({
    trust: { stale: [metric] },
  });
  const [counts] = (await call('review_status', {})).untrusted.text.split('\n');
  expect(JSON.parse(counts ?? '')).toMatchObject({ stale: 2 });
  await project.close();
});

test('a description of a table that has changed is stale; one that another source supports is not', async () => {
  recordReading(({ hash, slice }) => ({ hash, slice }));
  const scanned = {
    connection: 'warehouse',
    extractor: 'descriptions@1',
    item: 'sources/warehouse/main.jsonl',
    location: 'customers',
    quote: undefined,
  };
  claimed('claims/warehouse/customers.jsonl', {
    subject: field,
    kind: 'description',
    body: 'Where they live.',
    evidence: { ...scanned, measured: { structure: 'another' } },
  });
  const stale = async () =>
    (
      (await ktxJson(['status', '--fast'], { cwd })).envelope.data as {
        attention: { stale: unknown };
      }
    ).attention.stale;
  expect(await stale()).toEqual([
    { subject: field, why: 'the table customers has changed since a model described it' },
  ]);
  claimed('claims/warehouse/customers.jsonl', {
    subject: field,
    kind: 'description',
    body: 'Where they live.',
    evidence: { origin: 'code', extractor: 'docs@1' },
  });
  expect(await stale()).toEqual([]);
});

test('a page that changed after a model read it makes what it said stale, until it is read again', async () => {
  const machine = await openMachine();
  machine.endpoint.fallback = reading;
  const env = { TEST_KEY: 'sk-made-up' };
  try {
    const page = '# Words\n\nA regular means a customer who came back at least twice in a year.\n';
    const dir = documentedShop(machine, 'anthropic', { 'words.md': page });
    const ingest = async (...args: readonly string[]) =>
      (await ingestCommand(machine, dir, { args: ['ingest', ...args] })).code;
    const stale = async () => {
      const { envelope } = await ktxJson(['status', '--fast'], { cwd: dir, env });
      return (
        envelope.data as { attention: { stale: readonly { subject: string; why: string }[] } }
      ).attention.stale;
    };
    expect([await ingest(), await stale()]).toEqual([0, []]);
    writeFileSync(join(dir, 'docs/words.md'), page.replace('twice', 'thrice'));
    expect(await ingest('--no-llm')).toBe(0);
    expect(await stale()).toEqual([
      {
        subject: expect.stringContaining('regular') as unknown,
        why: 'sources/handbook/words.md has changed since a model read it',
      },
    ]);
    expect([await ingest(), await stale()]).toEqual([0, []]);
    expect(readFileSync(join(dir, 'wiki/glossary.md'), 'utf8')).toContain('thrice');
  } finally {
    await machine.close();
  }
});
