import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { IngestEvent } from '../../src/ingest/event.ts';
import { read, run, temporaryFolder, write } from '../store/git-project.ts';
import { ingestedShop, ingestHere, sql, stateOf } from './ingest-project.ts';

let dir: string;
beforeEach(async () => {
  dir = await ingestedShop();
});

const orders = 'semantic-layer/shop/orders.yaml';
const claims = 'claims/shop/orders.jsonl';

function edit(path: string, change: (text: string) => string): void {
  const text = read(dir, path);
  expect(change(text)).not.toBe(text);
  write(dir, path, change(text));
}

/** News for two datasets, so that there is something to write. */
function moveOn(): void {
  sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT; ALTER TABLE coupons ADD COLUMN note TEXT');
}

describe('in the place of a dataset file', () => {
  const replacements: readonly (readonly [what: string, put: (path: string) => void])[] = [
    [
      'a link to a file inside',
      (path) => (
        write(dir, 'real.yaml', 'dataset: orders\n'),
        symlinkSync('../../real.yaml', path)
      ),
    ],
    ['a link that leads out', (path) => symlinkSync(join(temporaryFolder(), 'secret.yaml'), path)],
    ['a link to nothing', (path) => symlinkSync('nowhere.yaml', path)],
    ['a folder', (path) => (mkdirSync(path), write(path, 'mine.txt', 'mine\n'))],
    ['a pipe', (path) => execFileSync('sh', ['-c', 'mkfifo "$0"', path])],
  ];
  test.each(replacements)(
    '%s is left alone on disk and in git; the rest goes on',
    async (_what, put) => {
      const before = run(dir, 'rev-parse', `HEAD:${orders}`);
      rmSync(join(dir, orders));
      put(join(dir, orders));
      moveOn();
      const found = run(dir, 'status', '--porcelain');
      const report = await ingestHere(dir);
      expect(report).toMatchObject({
        exitCode: 3,
        leftAlone: [{ path: orders, reason: 'it is a link, a folder or the like' }],
      });
      expect(run(dir, 'rev-parse', `HEAD:${orders}`)).toBe(before);
      expect(run(dir, 'show', 'HEAD:semantic-layer/shop/coupons.yaml')).toContain('note');
      expect(run(dir, 'status', '--porcelain')).toBe(found);
      expect((await ingestHere(dir)).commit).toEqual({ none: 'unchanged' });
    },
  );

  test('and committed there, a link stays what it is', async () => {
    write(dir, 'real.yaml', read(dir, orders));
    rmSync(join(dir, orders));
    symlinkSync('../../real.yaml', join(dir, orders));
    run(dir, 'add', '-A');
    run(dir, 'commit', '-qm', 'a link');
    moveOn();
    expect(await ingestHere(dir)).toMatchObject({ exitCode: 3, leftAlone: [{ path: orders }] });
    expect(run(dir, 'ls-tree', 'HEAD', orders)).toMatch(/^120000/);
    expect(run(dir, 'status', '--porcelain')).toBe('');
    expect((await ingestHere(dir)).commit).toEqual({ none: 'unchanged' });
  });

  test('bytes of another encoding that are committed and repaired on disk alone stay as they are committed', async () => {
    const text = read(dir, orders).replace('fields:', 'description: Aufträge\nfields:');
    writeFileSync(join(dir, orders), Buffer.from(text, 'latin1'));
    run(dir, 'commit', '-qam', 'in another encoding');
    const before = run(dir, 'rev-parse', `HEAD:${orders}`);
    write(dir, orders, text);
    moveOn();
    expect(await ingestHere(dir)).toMatchObject({ exitCode: 0, leftAlone: [] });
    expect(run(dir, 'rev-parse', `HEAD:${orders}`)).toBe(before);
    expect(read(dir, orders)).toMatch(/Aufträge[^]*note/);
  });
});

test('a folder that is a link is refused before anything is written', async () => {
  renameSync(join(dir, 'semantic-layer'), join(dir, 'elsewhere'));
  symlinkSync('elsewhere', join(dir, 'semantic-layer'));
  moveOn();
  const before = stateOf(dir);
  await expect(ingestHere(dir)).rejects.toMatchObject({ code: 'path_is_link', exitCode: 2 });
  expect(stateOf(dir)).toEqual(before);
});

describe('a line of claims that a person wrote', () => {
  const line = (subject: string) => {
    const evidence = { confidence: 1, connection: 'shop', extractor: 'hand@1', origin: 'person' };
    return `{"subject":"${subject}","kind":"description","body":"Without taxes.","evidence":${JSON.stringify(evidence)}}\n`;
  };

  test('counts, stays, and is no commit of ktx’s', async () => {
    edit(claims, (text) => text + line('field:shop.orders.amount'));
    moveOn();
    expect(await ingestHere(dir)).toMatchObject({ exitCode: 0, setAside: [] });
    expect(read(dir, orders)).toContain(
      '{name: amount, type: decimal, description: Without taxes.}',
    );
    expect(run(dir, 'show', `HEAD:${claims}`)).not.toContain('Without taxes.');
    run(dir, 'commit', '-qam', 'told');
    expect(await ingestHere(dir)).toMatchObject({
      exitCode: 0,
      files: { changed: [] },
      commit: { none: 'unchanged' },
    });
    expect(read(dir, claims)).toContain(line('field:shop.orders.amount'));
  });

  test('about nothing that exists stays too, and is named', async () => {
    edit(claims, (text) => text + line('term:revenue') + line('field:shop.orders.amuont'));
    moveOn();
    const report = await ingestHere(dir);
    expect(report.exitCode).toBe(3);
    expect(report.quarantined.map(({ subject }) => subject).sort()).toEqual([
      'field:shop.orders.amuont',
      'term:revenue',
    ]);
    expect(read(dir, claims)).toContain(line('term:revenue'));
    expect(read(dir, claims)).toContain(line('field:shop.orders.amuont'));
  });

  test('over one of ktx’s is set aside', async () => {
    edit(claims, (text) => text.replace('"agg":"count"', '"agg":"count_distinct"'));
    moveOn();
    const { setAside } = await ingestHere(dir);
    expect(setAside.map(({ path }) => path)).toEqual([claims]);
    expect(read(dir, setAside[0]?.copy ?? '')).toContain('count_distinct');
  });
});

test('what a person took out stays out when its table goes and comes back', async () => {
  edit(orders, (text) => text.replace(/.*name: status.*\n/, ''));
  await ingestHere(dir);
  const text = read(dir, orders);
  run(dir, 'commit', '-qam', 'no status');
  sql(dir, 'ALTER TABLE orders RENAME TO sales');
  await ingestHere(dir);
  expect(existsSync(join(dir, orders))).toBe(false);
  expect(read(dir, claims)).toContain('"edit@1"');
  expect((await ingestHere(dir)).commit).toEqual({ none: 'unchanged' });
  sql(dir, 'ALTER TABLE sales RENAME TO orders');
  expect((await ingestHere(dir)).keptEdits).toMatchObject([
    { path: 'orders.fields.status', isRemoval: true },
  ]);
  expect(read(dir, orders)).toBe(text);
  expect(run(dir, 'status', '--porcelain')).toBe('');
});

test('what both sides of a merge did survives an ingest amid its conflicts', async () => {
  // With ktx's attributes git would unite the claims without a conflict.
  run(dir, 'rm', '-q', '.gitattributes');
  run(dir, 'commit', '-qm', 'no attributes');
  run(dir, 'checkout', '-qb', 'other');
  edit(orders, (text) => text.replace('fields:', 'description: Theirs.\nfields:'));
  sql(dir, 'ALTER TABLE orders ADD COLUMN theirs TEXT');
  await ingestHere(dir);
  run(dir, 'commit', '-qam', 'theirs');
  run(dir, 'checkout', '-q', 'main');
  edit(orders, (text) =>
    text.replace('fields:', 'description: Ours.\nfields:').replace(/.*name: status.*\n/, ''),
  );
  sql(dir, 'ALTER TABLE orders ADD COLUMN ours TEXT');
  await ingestHere(dir);
  run(dir, 'commit', '-qam', 'ours');
  expect(() => run(dir, 'merge', 'other')).toThrow('merge');
  const conflict = read(dir, orders);
  expect(conflict).toMatch(/<<<<<<<[^]*Ours\.[^]*Theirs\./);
  expect(read(dir, claims)).toContain('<<<<<<<');
  expect(await ingestHere(dir)).toMatchObject({
    exitCode: 3,
    commit: { none: 'merge under way' },
    leftAlone: [{ path: orders }],
  });
  expect(read(dir, orders)).toBe(conflict);
  write(dir, orders, conflict.replaceAll(/<<<<<<<.*\n([^]*?)=======\n[^]*?>>>>>>>.*\n/g, '$1'));
  expect((await ingestHere(dir)).keptEdits.map(({ path }) => path)).toEqual([
    'orders.description',
    'orders.fields.status',
  ]);
  expect(read(dir, claims)).not.toContain('<<<<<<<');
  run(dir, 'add', '-A');
  run(dir, 'commit', '-qm', 'merged');
  expect(await ingestHere(dir)).toMatchObject({ exitCode: 0, commit: { none: 'unchanged' } });
  expect(read(dir, orders)).toMatch(/description: Ours\.[^]*name: theirs[^]*name: ours/);
  expect(read(dir, orders)).not.toContain('status');
});

test.each<[IngestEvent & { type: 'publish_step' }]>([
  [{ type: 'publish_step', step: 'file_written', path: 'sources/shop/main.jsonl' }],
  [{ type: 'publish_step', step: 'base_recorded', path: claims }],
  [{ type: 'publish_step', step: 'file_written', path: orders }],
  [{ type: 'publish_step', step: 'claims_written', path: claims }],
])(
  'what a person saves while ktx publishes stays, and stays uncommitted: after %j',
  async (moment) => {
    moveOn();
    let saves = 0;
    const onEvent = (event: IngestEvent) => {
      if (
        event.type !== 'publish_step' ||
        event.step !== moment.step ||
        event.path !== moment.path ||
        saves > 0
      )
        return;
      saves += 1;
      edit(orders, (text) => `${text}# saved\n`);
    };
    expect((await ingestHere(dir, { onEvent })).exitCode).toBe(0);
    expect(saves).toBe(1);
    expect(read(dir, orders)).toMatch(/name: note[^]*# saved\n$/);
    expect(run(dir, 'show', `HEAD:${orders}`)).toMatch(/name: note/);
    expect(run(dir, 'show', `HEAD:${orders}`)).not.toContain('# saved');
    expect(run(dir, 'status', '--porcelain')).toBe(` M ${orders}`);
  },
);
