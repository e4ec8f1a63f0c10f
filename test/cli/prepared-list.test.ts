import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerBasis, readPrepared } from '../../src/project/prepared/prepared-answer.ts';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const dataset = 'semantic-layer/warehouse/orders.yaml';

/** What `ktx sl list` kept for the next time. */
async function preparedIn(dir: string): Promise<unknown> {
  const question = { command: 'sl list', all: false, connection: null };
  return readPrepared(answerBasis(dir, question, undefined));
}

async function metricsListed(cwd: string, ...flags: readonly string[]): Promise<unknown> {
  const { envelope } = await ktxJson(['sl', 'list', ...flags], { cwd });
  const { datasets } = envelope.data as { datasets: { dataset: string; metrics: string[] }[] };
  return Object.fromEntries(datasets.map(({ dataset: name, metrics }) => [name, metrics]));
}

test('the list of datasets is prepared, and says the same from the first time on', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  expect(await preparedIn(cwd)).toBeUndefined();
  const first = await ktx(['sl', 'list'], { cwd });
  expect(await preparedIn(cwd)).toMatchObject({ data: { datasets: expect.any(Array) } });
  expect(await ktx(['sl', 'list'], { cwd })).toEqual(first);
});

test('a change of anything that the list is made of is seen at once', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  const before = await metricsListed(cwd);
  expect(before).toMatchObject({ orders: ['count', 'total_amount'] });

  const text = readFileSync(join(cwd, dataset), 'utf8');
  writeFileSync(join(cwd, dataset), text.replace('name: count', 'name: tally'));
  expect(await metricsListed(cwd)).toMatchObject({ orders: ['tally', 'total_amount'] });

  const copy = text.replaceAll(/^dataset: orders$/gm, 'dataset: orders_again');
  writeFileSync(join(cwd, 'semantic-layer/warehouse/orders_again.yaml'), copy);
  expect(await metricsListed(cwd, '--all')).toHaveProperty('orders_again');
  rmSync(join(cwd, 'semantic-layer/warehouse/orders_again.yaml'));
  expect(await metricsListed(cwd, '--all')).not.toHaveProperty('orders_again');

  const [catalog = ''] = globSync('sources/warehouse/*main*.jsonl', { cwd });
  writeFileSync(join(cwd, catalog), 'broken\n');
  expect(await ktx(['sl', 'list'], { cwd })).toMatchObject({ code: 1 });
});

test('a changed ktx.yaml makes the list anew', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  await ktx(['sl', 'list'], { cwd });
  writeFileSync(join(cwd, 'ktx.yaml'), 'connections: {}\n');
  const { stderr } = await ktx(['sl', 'list'], { cwd });
  expect(stderr).toContain('ktx.yaml has no warehouse');
});

test('what somebody else prepared is not shown', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  await ktx(['sl', 'list'], { cwd });
  const clone = await shopProject();
  rmSync(clone, { recursive: true });
  cpSync(cwd, clone, { recursive: true, preserveTimestamps: true });
  const forged = globSync('.ktx/cache/checks/answer-*.json', { cwd: clone });
  expect(forged).toHaveLength(1);
  writeFileSync(join(clone, '.ktx/id'), `${'0'.repeat(32)}\n`);
  expect(await preparedIn(clone)).toBeUndefined();
  const { stdout } = await ktx(['sl', 'list'], { cwd: clone });
  expect(stdout).toBe((await ktx(['sl', 'list'], { cwd })).stdout);
});
