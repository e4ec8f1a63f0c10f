import { expect, test } from 'vitest';
import { ktx } from '../cli/run-cli.ts';
import { read, run, write } from '../store/git-project.ts';
import { shopProject, sql } from './ingest-project.ts';

// A newer scan may find a second way from one table to another. What people ask already keeps its
// answer: such a join is asked about.

const orders = 'semantic-layer/shop/orders.yaml';
const savedQuery = 'semantic-layer/shop/queries/amount_by_region.yaml';
const join = 'billing_customer_id: id';
const subject = 'relationship:shop.orders(billing_customer_id)';

async function command(dir: string, ...args: readonly string[]): Promise<unknown> {
  const { code, stdout } = await ktx([...args, '--json', '--project-dir', dir], { cwd: dir });
  expect(code, stdout).toBe(0);
  // An ingest prints its events before.
  const last = stdout.trim().split('\n').at(-1) ?? '';
  return (JSON.parse(last) as { data: unknown }).data;
}

/** A shop with one join and, if asked, a saved query by a dimension; then a second join appears. */
async function shopWithSecondJoin(dimension: string | undefined): Promise<string> {
  const dir = shopProject();
  await command(dir, 'ingest');
  const query = `query: amount_by_region\nmetrics: [orders.total_amount]\ndimensions: [${dimension}]\n`;
  if (dimension !== undefined) write(dir, savedQuery, query);
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'a query', '--allow-empty');
  sql(
    dir,
    `ALTER TABLE orders ADD COLUMN billing_customer_id INTEGER;
     UPDATE orders SET billing_customer_id = (1 + id * 17 % 60) * 7`,
  );
  return dir;
}

const answer = async (dir: string) =>
  ((await command(dir, 'sl', 'query', '--saved', 'amount_by_region')) as { rows: unknown }).rows;

test('a second join that spoils a saved query is asked about, with what was measured', async () => {
  const dir = await shopWithSecondJoin('customers.region');
  const before = await answer(dir);
  expect(await command(dir, 'ingest')).toMatchObject({
    connections: [{ relationships: { accepted: 1, review: 1 } }],
  });
  expect(read(dir, orders)).not.toContain(join);
  expect(await answer(dir)).toEqual(before);
  expect(await command(dir, 'review', 'list')).toMatchObject({
    joins: [
      {
        subject,
        to: 'customers',
        why: 'with it saved query amount_by_region would be ambiguous; values without a match: none; the names match',
      },
    ],
  });
  const { stdout } = await ktx(['review', '--project-dir', dir], { cwd: dir });
  expect(stdout).toContain('with it saved query amount_by_region would be ambiguous');
  // Another scan says the same.
  const commit = run(dir, 'rev-parse', 'HEAD');
  sql(dir, 'UPDATE orders SET amount = amount + 1 WHERE id = 1');
  await command(dir, 'ingest');
  expect(read(dir, orders)).not.toContain(join);
  expect(run(dir, 'rev-parse', 'HEAD')).toBe(commit);
  await command(dir, 'review', 'accept', subject);
  expect(read(dir, orders)).toContain(join);
});

test('it is used once the saved query says which way it takes', async () => {
  const dir = await shopWithSecondJoin('customers.region');
  await command(dir, 'ingest');
  write(dir, savedQuery, read(dir, savedQuery).replace('[customers.', '[orders.customer.'));
  sql(dir, "INSERT INTO customers VALUES (9999, 'late', 'north')");
  await command(dir, 'ingest');
  expect(read(dir, orders)).toContain(join);
});

test.for([undefined, 'orders.status'])(
  'a second join that spoils nothing is used; dimension of the saved query: %s',
  async (dimension) => {
    const dir = await shopWithSecondJoin(dimension);
    await command(dir, 'ingest');
    expect(read(dir, orders)).toContain(join);
  },
);
