import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const orders = 'semantic-layer/warehouse/orders.yaml';

/** Each alias stands for nine of the last: a gigabyte in all. */
const ninefold = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from(
    { length: 9 },
    (_, index) => `a${index + 1}: &a${index + 1} [${Array(9).fill(`*a${index}`).join(', ')}]`,
  ),
].join('\n');

test.each([
  ['stands for what holds it', 'dataset: orders\nfields: &f\n  - *f\n', ':3:6: '],
  ['stands for a gigabyte', `dataset: orders\n${ninefold}\n`, ':7:'],
])('an alias of YAML that %s is named, and stops nothing', async (_, text, place) => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  writeFileSync(join(cwd, orders), text);
  const check = await ktx(['check'], { cwd });
  expect(check.stdout).toContain(`${orders}${place}`);
  expect(check.stderr).not.toContain('bug in ktx');
  const { code, envelope } = await ktxJson(['ingest'], { cwd });
  expect({ code, envelope }).toMatchObject({
    code: 3,
    envelope: { data: { left_alone: [{ path: orders }] } },
  });
  expect(readFileSync(join(cwd, orders), 'utf8')).toBe(text);
});

test.each(['claims/warehouse/orders.jsonl', 'sources/warehouse/main.jsonl'])(
  '%s in UTF-16 stops an ingest with the reason, and a copy in UTF-8 mends it',
  async (path) => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const text = readFileSync(join(cwd, path), 'utf8');
    writeFileSync(join(cwd, path), Buffer.from(`\ufeff${text}`, 'utf16le'));
    const { code, stderr } = await ktx(['ingest'], { cwd });
    expect(code).not.toBe(0);
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /: it is UTF-16, and ktx reads UTF-8\. \[file_unreadable\] next: Restore it from git, or save/,
    );
    writeFileSync(join(cwd, path), text);
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  },
);

test('a list of conflicts that cannot be read is not called empty', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  writeFileSync(join(cwd, 'conflicts.yaml'), 'conflicts: [');
  const said = /^conflicts\.yaml cannot be read \(.*\), so it is not known what is contested/;
  for (const command of [['review', 'list'], ['review']]) {
    const { stdout } = await ktx(command, { cwd });
    expect(stdout).toMatch(said);
    expect(stdout).not.toContain('No conflicts');
  }
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  expect(envelope.data).toMatchObject({ unknown: expect.stringMatching(said) as string });
});

test.each([
  ['itself', 'orders.yaml'],
  ['nothing', 'gone.yaml'],
])('a dataset file that is a link to %s is named, and stops nothing', async (_, target) => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  rmSync(join(cwd, orders));
  symlinkSync(target, join(cwd, orders));
  expect((await ktx(['status'], { cwd })).stdout).toContain(
    `${orders}:1:1: This file is not read: it is a link`,
  );
  for (const command of [
    ['sl', 'query', 'customers.count'],
    ['sl', 'list'],
    ['search', 'region'],
  ])
    expect(await ktx(command, { cwd })).toMatchObject({ code: 0 });
});

test('a metric of a damaged file is not only unknown: its file has errors', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  writeFileSync(join(cwd, orders), 'dataset: [');
  for (const metric of ['orders.count', 'revenue']) {
    const { code, stderr } = await ktx(['sl', 'query', metric], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/There is no metric named \S+ ?[^]*errors/);
    expect(stderr).toContain('ktx sl validate');
  }
  expect((await ktx(['sl', 'query', 'customers.revenue'], { cwd })).stderr).not.toContain('errors');
});

test('an ingest writes a catalog with the marks of a merge again', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  const file = join(cwd, 'sources/warehouse/main.jsonl');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, `<<<<<<< HEAD\n${before}`);
  const query = await ktxJson(['sl', 'query', 'orders.count'], { cwd });
  expect(query.envelope.error).toMatchObject({
    code: 'catalog_damaged',
    message: 'sources/warehouse/main.jsonl:1 cannot be read.',
  });
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(await ktx(['sl', 'query', 'orders.count'], { cwd })).toMatchObject({ code: 0 });
});

describe('what people decided, and what waits for them', () => {
  const subject = 'metric:warehouse.orders.revenue';

  /** A project whose documents disagree about revenue. */
  async function contestedProject(): Promise<string> {
    const cwd = await shopProject();
    const page = (formula: string) =>
      `| Metric | Meaning | Formula |\n|---|---|---|\n| Revenue | Money. | \`${formula}\` |\n`;
    mkdirSync(join(cwd, 'docs'));
    writeFileSync(join(cwd, 'docs/a.md'), page("sum(orders.amount) where status = 'paid'"));
    writeFileSync(join(cwd, 'docs/b.md'), page('sum(orders.amount)'));
    await ktx(['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'], { cwd });
    await ktx(['ingest'], { cwd });
    return cwd;
  }

  test('stay as they are where a merge left its marks in the decisions', async () => {
    const cwd = await contestedProject();
    const { envelope } = await ktxJson(['review', 'list'], { cwd });
    const { conflicts } = envelope.data as { conflicts: { variants: { id: string }[] }[] };
    // Not what is shown without a decision.
    await ktx(['review', 'choose', subject, conflicts[0]?.variants[1]?.id ?? ''], { cwd });
    const decided = readFileSync(join(cwd, orders), 'utf8');
    const pins = `${readFileSync(join(cwd, 'pins.yaml'), 'utf8')}<<<<<<< HEAD\n`;
    writeFileSync(join(cwd, 'pins.yaml'), pins);

    const ingest = await ktxJson(['ingest'], { cwd });
    expect(ingest).toMatchObject({ code: 2, envelope: { error: { code: 'pins_unreadable' } } });
    expect(readFileSync(join(cwd, orders), 'utf8')).toBe(decided);
    expect(readFileSync(join(cwd, 'pins.yaml'), 'utf8')).toBe(pins);
    expect((await ktx(['status'], { cwd })).stdout).toContain('pins.yaml is not read: ');
  });

  test.each([
    ['has the marks of a merge', (text: string) => `${text}<<<<<<< HEAD\n`],
    ['is empty', () => ''],
    ['is a list', () => '- 1\n'],
  ])('are not taken for none where their file %s', async (_, damage) => {
    const cwd = await contestedProject();
    const file = join(cwd, 'conflicts.yaml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, damage(before));
    const check = await ktxJson(['check'], { cwd });
    expect(check.code).toBe(1);
    expect(JSON.stringify(check.envelope)).toContain('conflicts.yaml');
    const { stderr } = await ktx(['sl', 'query', 'orders.revenue'], { cwd });
    expect(stderr).toContain('conflicts.yaml cannot be read');
    await ktx(['ingest'], { cwd });
    expect(readFileSync(file, 'utf8')).toBe(before);
    const answer = await ktx(['sl', 'query', 'orders.revenue'], { cwd });
    expect(answer.stderr).toContain(`contested: ${subject}`);
    expect(answer.stderr).not.toContain('cannot be read');
  });

  test.each([
    ['NUL characters, as after a crash', (text: string) => '\0'.repeat(text.length), 'has NUL'],
    [
      'the marks of a merge',
      (text: string) => text.replace('Money.', '<<<<<<< HEAD\nMoney.\n=======\n>>>>>>> theirs'),
      'is a merge conflict marker',
    ],
  ])('a page with %s is not what people wrote', async (_, damage, reason) => {
    const cwd = await contestedProject();
    const file = join(cwd, 'wiki/glossary.md');
    const before = readFileSync(file, 'utf8');
    expect(before).toContain('Money.');
    writeFileSync(file, damage(before));
    const { code, envelope } = await ktxJson(['ingest'], { cwd });
    expect({ code, envelope }).toMatchObject({
      code: 3,
      envelope: { data: { kept_edits: [], left_alone: [{ path: 'wiki/glossary.md' }] } },
    });
    expect(readFileSync(file, 'utf8')).toBe(damage(before));
    expect((await ktx(['status'], { cwd })).stdout).toContain(reason);
    expect((await ktx(['wiki', 'list'], { cwd })).stdout).not.toContain('<<<<');
    writeFileSync(file, before);
    expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});
