import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ktx, ktxJson, shopDatabase } from './run-cli.ts';

let cwd: string;
const metric = 'metric:warehouse.orders.revenue';
const term = 'term:revenue';
const page = (formula: string) =>
  `| Metric | Meaning | Formula |\n|---|---|---|\n| Revenue | ${formula}, in words. | \`${formula}\` |\n`;
const read = (path: string) => readFileSync(join(cwd, path), 'utf8');

interface Queue {
  readonly conflicts: readonly { readonly subject: string; readonly variants: readonly object[] }[];
  readonly deferred: readonly object[];
}

interface ShownClaim {
  readonly kind: string;
  readonly shown: boolean;
}

async function shownMetric(): Promise<readonly ShownClaim[]> {
  const { explanations } = (await ktxJson(['explain', 'orders.revenue'], { cwd })).envelope
    .data as { readonly explanations: readonly { readonly claims: readonly ShownClaim[] }[] };
  return explanations
    .flatMap(({ claims }) => claims)
    .filter(({ kind, shown }) => kind === 'metric' && shown);
}

async function listQueue(): Promise<Queue> {
  return (await ktxJson(['review', 'list'], { cwd })).envelope.data as Queue;
}

async function openSubjects(): Promise<readonly string[]> {
  return (await listQueue()).conflicts.map(({ subject }) => subject);
}

async function contestedInCheck(): Promise<readonly string[]> {
  const { findings } = (await ktxJson(['check'], { cwd })).envelope.data as {
    readonly findings: readonly { readonly what: string; readonly where: string }[];
  };
  return findings.flatMap(({ what, where }) => (what === 'contested' ? [where] : []));
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-review-own-'));
  shopDatabase(join(cwd, 'shop.db'));
  mkdirSync(join(cwd, 'docs'));
  writeFileSync(join(cwd, 'docs/a.md'), page("sum(orders.amount) where status = 'paid'"));
  writeFileSync(join(cwd, 'docs/b.md'), page('sum(orders.amount)'));
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  await ktx(['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'], { cwd });
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  return () => rmSync(cwd, { recursive: true, force: true });
});

test('what numbers set apart is asked before what words do', async () => {
  expect(await openSubjects()).toEqual([metric, term]);
});

test('a decision that is put off leaves the queue and the check, and says so; answers keep their mark', async () => {
  const until = '2199-01-31';
  const put = await ktx(['review', 'defer', 'orders.revenue', '--until', until, '--why', 'audit'], {
    cwd,
  });
  expect(put).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`until ${until}`) as unknown,
  });
  const { conflicts, deferred } = await listQueue();
  expect(conflicts.map(({ subject }) => subject)).toEqual([term]);
  expect(deferred).toMatchObject([{ subject: metric, kind: 'metric', until, why: 'audit' }]);
  expect(await contestedInCheck()).toEqual([term]);
  const checked = await ktx(['check'], { cwd });
  expect(checked.stderr).toContain(`put off: ${metric} until ${until}`);
  const text = (await ktx(['review', 'list'], { cwd })).stdout;
  expect(text).toContain(`put off: ${metric} (metric): until ${until}`);
  const { envelope } = await ktxJson(['sl', 'query', '-m', 'orders.revenue'], { cwd });
  expect(envelope.data).toMatchObject({ receipt: { contested: [metric] } });
});

test('it comes back with a new definition', async () => {
  writeFileSync(join(cwd, 'docs/c.md'), page('max(orders.amount)'));
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(await openSubjects()).toContain(metric);
});

test('it comes back on its day', async () => {
  expect((await ktx(['review', 'defer', metric], { cwd })).code).toBe(0);
  expect(await openSubjects()).not.toContain(metric);
  const pins = read('pins.yaml');
  writeFileSync(
    join(cwd, 'pins.yaml'),
    pins.replace('choose: later', 'choose: later, until: 2020-01-31'),
  );
  expect(await openSubjects()).toContain(metric);
  writeFileSync(join(cwd, 'pins.yaml'), pins);
});

test.for([
  ['2020-01-31', /is not a day after today/],
  ['2199-02-30', /is not a day after today/],
  ['tomorrow', /is not a day after today/],
] as const)('--until %s is refused', async ([until, error]) => {
  const before = read('pins.yaml');
  const { code, stderr } = await ktx(['review', 'defer', term, '--until', until], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(error)]);
  expect(read('pins.yaml')).toBe(before);
});

test.for([
  ['YAML that is no metric', [metric, '{sum: amount}'], /That is no metric/],
  ['a metric in words', [metric, 'all of it'], /definition_unusable/],
  ['a formula over a column that is not there', [metric, 'sum(amont)'], /amont/],
  ['an unknown subject', ['orders.revenu', 'sum(amount)'], /Did you mean orders\.revenue/],
] as const)('%s is refused, and nothing is written', async ([, args, error]) => {
  const before = [read('pins.yaml'), read('semantic-layer/warehouse/orders.yaml')];
  const { code, stderr } = await ktx(['review', 'edit', ...args], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(error)]);
  expect([read('pins.yaml'), read('semantic-layer/warehouse/orders.yaml')]).toEqual(before);
});

test('a definition of one’s own answers, is explained, and settles the question until a new one appears', async () => {
  const own = await ktx(
    ['review', 'edit', metric, "{expr: sum(amount), where: status <> 'open'}", '--why', 'CFO'],
    { cwd },
  );
  expect(own).toMatchObject({ code: 0 });
  expect(await openSubjects()).not.toContain(metric);
  const { envelope } = await ktxJson(['sl', 'query', '-m', 'orders.revenue'], { cwd });
  expect(envelope.data).toMatchObject({ receipt: { contested: [] } });
  expect(read('semantic-layer/warehouse/orders.yaml')).toContain("status <> 'open'");
  const { stdout } = await ktx(['explain', 'orders.revenue'], { cwd });
  expect(stdout).toContain('pins.yaml');
  expect(await shownMetric()).toMatchObject([{ body: { where: "status <> 'open'" } }]);
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(read('semantic-layer/warehouse/orders.yaml')).toContain("status <> 'open'");
  writeFileSync(join(cwd, 'docs/d.md'), page('min(orders.amount)'));
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(await openSubjects()).toContain(metric);
  expect(read('semantic-layer/warehouse/orders.yaml')).toContain("status <> 'open'");
});

test('words of one’s own stand in the glossary', async () => {
  const words = 'What the finance team counts: "after" refunds.';
  expect((await ktx(['review', 'edit', term, words], { cwd })).code).toBe(0);
  expect(read('wiki/glossary.md')).toContain(words);
  expect(await openSubjects()).not.toContain(term);
});

test('explain marks the version that a person chose', async () => {
  const [conflict] = (await listQueue()).conflicts.filter(({ subject }) => subject === metric);
  const last = conflict?.variants.at(-1) as { readonly id: string; readonly says: unknown };
  expect((await ktx(['review', 'choose', metric, last.id], { cwd })).code).toBe(0);
  expect(await shownMetric()).toMatchObject([{ body: last.says }]);
});

describe('a correction in words', () => {
  test('outranks what a source says, and what it says next, and is explained', async () => {
    const words = 'Money of the orders that were paid, after refunds.';
    const corrected = await ktx(['remember', '--corrects', 'orders.amount', words], { cwd });
    expect(corrected).toMatchObject({ code: 0 });
    expect(read('semantic-layer/warehouse/orders.yaml')).toContain(words);
    const { stdout } = await ktx(['explain', 'orders.amount'], { cwd });
    expect(stdout).toContain('pins.yaml');
    writeFileSync(join(cwd, 'docs/e.md'), '# Columns\n\n`orders.amount` is what was ordered.\n');
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
    expect(read('semantic-layer/warehouse/orders.yaml')).toContain(words);
  });

  test('takes the place of the definition of a term', async () => {
    const words = 'Corrected: money that came in.';
    expect((await ktx(['remember', '--corrects', term, words], { cwd })).code).toBe(0);
    expect(read('wiki/glossary.md')).toContain(words);
  });

  test('of something unknown is refused with a guess', async () => {
    const before = read('pins.yaml');
    const { code, stderr } = await ktx(['remember', '--corrects', 'orders.amont', 'x'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('orders.amount')]);
    expect(read('pins.yaml')).toBe(before);
  });
});
