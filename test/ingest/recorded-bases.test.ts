import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readProjectFiles } from '../../src/ingest/publish/project-files.ts';
import {
  readRecordedBases,
  recordBases,
  recoverBases,
} from '../../src/ingest/publish/recorded-bases.ts';
import { run, read, write } from '../store/git-project.ts';
import { copyOf, ingestedShop, ingestHere, ingestIn, shopProject, sql } from './ingest-project.ts';

const claims = 'claims/shop/orders.jsonl';
const orders = 'semantic-layer/shop/orders.yaml';
const record = '.ktx/publishing.jsonl';

/** A project whose first ingest was killed right after a dataset's file was written. */
async function killedProject(): Promise<string> {
  const dir = shopProject();
  const { steps } = await ingestIn(copyOf(dir));
  const last = steps.findIndex((step) => step === `file_written ${orders}`);
  expect(last).toBeGreaterThan(0);
  expect((await ingestIn(dir, last + 1)).killed).toBe(true);
  expect(existsSync(join(dir, orders))).toBe(true);
  expect(existsSync(join(dir, claims))).toBe(false);
  return dir;
}

test('what a killed run wrote is known as ktx’s to every reader, and to the next run', async () => {
  const dir = await killedProject();
  const files = await readProjectFiles(dir, ['claims/shop'], { tidy: false });
  expect(files.get(claims)).toContain('"base"');
  expect(existsSync(join(dir, claims))).toBe(false);
  // What ktx wrote is not what it would write now.
  sql(dir, 'ALTER TABLE orders RENAME COLUMN amount TO total');
  expect((await ingestHere(dir)).keptEdits).toEqual([]);
  expect(read(dir, orders)).not.toContain('amount');
  expect(existsSync(join(dir, record))).toBe(false);
});

test('a record is of claims files only: no other file is written, and none stops a run', async () => {
  const dir = await ingestedShop();
  const paths = [
    '.git/hooks/pre-push',
    'new.yaml',
    '../out.jsonl',
    'claims/../x.jsonl',
    'claims/a\0.jsonl',
  ];
  const lines = paths.map((path) => `${JSON.stringify({ path, text: 'x', final: 'x' })}\n`);
  write(dir, record, lines.join(''));
  expect(readRecordedBases(dir).size).toBe(0);
  await recoverBases(dir);
  expect(existsSync(join(dir, record))).toBe(false);
  expect(paths.slice(0, 4).filter((path) => existsSync(join(dir, path)))).toEqual([]);
});

test('what a person changed after the kill stays theirs', async () => {
  const dir = await killedProject();
  write(dir, orders, read(dir, orders).replace('fields:', 'description: Theirs.\nfields:'));
  expect((await ingestHere(dir)).keptEdits.map(({ path }) => path)).toEqual(['orders.description']);
  expect(read(dir, orders)).toContain('description: Theirs.');
});

test('a base joins what the claims file has meanwhile, and is not needed once it is final', async () => {
  const dir = await ingestedShop();
  const before = read(dir, claims);
  const base = (name: string) => `{"base":{"description":"${name}"}}\n`;
  const writes = (final: string) => [
    { step: 'base_recorded' as const, path: claims, text: base('aaaaaaaa') },
    { step: 'claims_written' as const, path: claims, text: final },
  ];
  const rendering = (final: string) => ({
    writes: writes(final),
    leftAlone: [],
    keptEdits: [],
    stale: [],
    quarantined: [],
    conflicts: [],
    claims: [],
  });
  expect(await recordBases(dir, rendering('other\n'), new Map([[claims, before]]))).toEqual([
    claims,
  ]);
  const united = readRecordedBases(dir).get(claims) ?? '';
  expect(united).toContain('{"base":{"description":"aaaaaaaa"}}');
  for (const line of before.trim().split('\n')) expect(united).toContain(line);
  await recordBases(dir, rendering(before), new Map([[claims, before]]));
  expect(readRecordedBases(dir)).toEqual(new Map());
});

test.each(['', 'no line of ktx\n', '{"path":"ktx.yaml"}\n', '{"path":'])(
  'a record that ktx did not write counts for nothing: %j',
  async (text) => {
    const dir = await ingestedShop();
    write(dir, record, text);
    expect(readRecordedBases(dir)).toEqual(new Map());
    expect(await ingestHere(dir)).toMatchObject({ exitCode: 0, commit: { none: 'unchanged' } });
    expect(run(dir, 'status', '--porcelain')).toBe('');
    rmSync(join(dir, record), { force: true });
  },
);

test('a link in place of a claims file that a killed run had not finished says what to do', async () => {
  const dir = await killedProject();
  const elsewhere = `${dir}-elsewhere.jsonl`;
  writeFileSync(elsewhere, '');
  symlinkSync(elsewhere, join(dir, claims));
  await expect(ingestHere(dir)).rejects.toMatchObject({
    code: 'path_outside_project',
    message: expect.stringContaining(`ended before it had finished ${claims}`),
    hint: expect.stringContaining(`rm ${claims}`),
  });
  rmSync(join(dir, claims));
  rmSync(elsewhere);
  expect((await ingestHere(dir)).keptEdits).toEqual([]);
  expect(existsSync(join(dir, record))).toBe(false);
});
