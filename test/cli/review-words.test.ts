import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ktx, ktxJson, shopDatabase } from './run-cli.ts';

const subject = 'metric:warehouse.orders.revenue';
const file = 'semantic-layer/warehouse/orders.yaml';
let cwd: string;

const read = () => readFileSync(join(cwd, file), 'utf8');

function document(name: string, formula: string): void {
  const row = `| Revenue | What comes in. | \`${formula}\` |`;
  const table = `| Metric | Meaning | Formula |\n|---|---|---|\n${row}\n`;
  writeFileSync(join(cwd, `docs/${name}.md`), table);
}

/** Changes the line of the metric, and ingests. */
async function edit(change: (line: string) => string): Promise<void> {
  const text = read().replace(/^.*name: revenue,.*$/m, change);
  expect(text).not.toBe(read());
  writeFileSync(join(cwd, file), text);
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
}

async function isOpen(): Promise<boolean> {
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  const { conflicts } = envelope.data as { readonly conflicts: readonly { subject: string }[] };
  return conflicts.some((conflict) => conflict.subject === subject);
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-review-words-'));
  shopDatabase(join(cwd, 'shop.db'));
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  mkdirSync(join(cwd, 'docs'));
  document('a', "sum(orders.amount) where status = 'paid'");
  document('b', 'sum(orders.amount)');
  await ktx(['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'], { cwd });
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test('a decision is taken back by the id that was chosen, and what can be taken back is named', async () => {
  const { conflicts } = (await ktxJson(['review', 'list'], { cwd })).envelope.data as {
    readonly conflicts: readonly { readonly variants: readonly { readonly id: string }[] }[];
  };
  const [first = '', second = ''] = conflicts[0]?.variants.map(({ id }) => id) ?? [];
  const refused = async (named: string) =>
    (await ktxJson(['review', 'undo', named], { cwd })).envelope.error?.hint;
  expect(await refused(second)).toBe('pins.yaml has no decision');
  expect((await ktx(['review', 'choose', subject, first], { cwd })).code).toBe(0);
  expect(await isOpen()).toBe(false);
  expect(await refused('abcdef')).toBe(`ktx review undo ${subject}; pins.yaml has all decisions`);
  expect((await ktx(['review', 'undo', first.slice(0, 8)], { cwd })).code).toBe(0);
  expect(await isOpen()).toBe(true);
});

test('words beside a contested metric decide nothing; what it computes does, until something new', async () => {
  expect(await isOpen()).toBe(true);
  const words = 'unit: GBP, synonyms: [sales], owner: ann';
  await edit((line) => line.replace(/\}$/, `, ${words}}`));
  expect(read()).toContain(words);
  expect(await isOpen()).toBe(true);

  await edit((line) => line.replace(/, description: What comes in\./, ''));
  expect(read()).not.toContain('What comes in.');
  expect(await isOpen()).toBe(true);

  await edit((line) => line.replace('agg: sum', 'agg: max'));
  expect(await isOpen()).toBe(false);

  // A new definition is seen by nobody, though words beside the old one change with it.
  document('c', 'min(orders.amount)');
  await edit((line) => line.replace('unit: GBP', 'unit: EUR'));
  expect(read()).toContain('agg: max');
  expect(await isOpen()).toBe(true);
});
