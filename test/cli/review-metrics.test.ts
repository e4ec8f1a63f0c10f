import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { createReviewPin, findUnreviewed } from '../../src/project/review/unreviewed.ts';
import { ktx, ktxJson } from './run-cli.ts';

let cwd: string;
const subject = 'metric:warehouse.orders.big';

/** A project as an ingest leaves it in which a model read the metric `big` in a page. */
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-unreviewed-'));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL);');
  db.exec('INSERT INTO orders VALUES (1, 5), (2, 50), (3, 500);');
  db.close();
  expect((await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd })).code).toBe(0);
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  const file = join(cwd, 'semantic-layer/warehouse/orders.yaml');
  const metric = "  - {name: big, agg: count, where: 'amount > 9', unreviewed: true}\n";
  writeFileSync(file, readFileSync(file, 'utf8').replace('metrics:\n', `metrics:\n${metric}`));
  const evidence = {
    connection: 'pages',
    origin: 'model',
    extractor: 'reading@1',
    item: 'sources/pages/terms.md',
    quote: 'Big orders are over 9 euros.',
    confidence: 0.8,
  };
  const body = { agg: 'count', where: 'amount > 9' };
  const claim = { subject, kind: 'metric', body, evidence };
  appendFileSync(join(cwd, 'claims/warehouse/orders.jsonl'), `${JSON.stringify(claim)}\n`);
  return () => rmSync(cwd, { recursive: true, force: true });
});

test('its numbers and hits say that nobody has reviewed it', async () => {
  const asked = await ktx(['sl', 'query', '-m', 'orders.big'], { cwd });
  expect(asked.stdout).toMatch(/\n +2\n/);
  expect(asked.stderr).toContain('unreviewed, nobody has accepted orders.big: ktx review');
  const found = await ktx(['search', 'big', '--kind', 'metric'], { cwd });
  expect(found.stdout).toMatch(/metric:warehouse\.orders\.big +unreviewed/);
});

test('review lists it with the words that a model quotes, and the command that decides', async () => {
  const { stdout, stderr } = await ktx(['review', 'list'], { cwd });
  expect(stdout).toContain(subject);
  expect(stdout).toContain('sources/pages/terms.md: Big orders are over 9 euros.');
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  const { unreviewed } = envelope.data as { readonly unreviewed: readonly { id: string }[] };
  expect(unreviewed).toMatchObject([{ subject, says: { agg: 'count' } }]);
  expect(stderr).toContain(`ktx review accept ${unreviewed[0]?.id}`);
});

test.each(['orders.big', 'warehouse.orders.big', subject])('%s names it', async (name) => {
  const project = await openProject(cwd);
  const metric = await findUnreviewed(project, name);
  if (metric === undefined) throw new Error('not found');
  const accepted = await createReviewPin(project, metric, { isAccepted: true, why: 'checked' });
  expect(accepted).toMatchObject({ subject, kind: 'metric', choose: metric.id, why: 'checked' });
  const rejected = await createReviewPin(project, metric, { isAccepted: false });
  expect(rejected).toMatchObject({ choose: 'none', seen: [metric.id] });
  expect(await findUnreviewed(project, 'orders.small')).toBeUndefined();
});
