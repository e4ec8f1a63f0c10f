import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { read, run, temporaryFolder, write } from '../store/git-project.ts';
import { ingestedShop, ingestHere, ingestIn, shopProject, sql, stateOf } from './ingest-project.ts';

let dir: string;
beforeEach(() => {
  dir = shopProject();
});

const orders = 'semantic-layer/shop/orders.yaml';

function edit(path: string, change: (text: string) => string): void {
  const text = read(dir, path);
  expect(change(text)).not.toBe(text);
  write(dir, path, change(text));
}

describe('a run', () => {
  test('writes structure, artifacts and claims, and commits them and nothing else', async () => {
    write(dir, 'mine.txt', 'untracked\n');
    const report = await ingestHere(dir);
    expect(report).toMatchObject({
      exitCode: 0,
      commit: { id: run(dir, 'rev-parse', 'HEAD') },
      quarantined: [],
      leftAlone: [],
    });
    expect(report.connections).toMatchObject([
      { connection: 'shop', tables: 3, profiled: 3, relationships: { accepted: 1 } },
    ]);
    expect(report.files.added).toEqual([
      '.gitattributes',
      'claims/shop/coupons.jsonl',
      'claims/shop/customers.jsonl',
      'claims/shop/orders.jsonl',
      'semantic-layer/shop/coupons.yaml',
      'semantic-layer/shop/customers.yaml',
      'semantic-layer/shop/orders.yaml',
      'sources/shop/index.jsonl',
      'sources/shop/main.jsonl',
    ]);
    expect(run(dir, 'show', '--name-only', '--format=', 'HEAD').split('\n')).toEqual(
      report.files.added,
    );
    expect(run(dir, 'log', '-1', '--format=%an|%s|%(trailers:key=Ktx-Run,valueonly)').trim()).toBe(
      `Ada|ktx: update shop|${report.runId}`,
    );
    expect(run(dir, 'status', '--porcelain')).toBe('?? mine.txt');
  });

  test('on an unchanged database changes no byte and makes no commit', async () => {
    await ingestHere(dir);
    const before = stateOf(dir);
    const report = await ingestHere(dir);
    expect(report).toMatchObject({
      exitCode: 0,
      commit: { none: 'unchanged' },
      files: { added: [], changed: [], removed: [] },
    });
    expect(report.connections).toMatchObject([{ profiled: 0, reused: 3 }]);
    expect(stateOf(dir)).toEqual(before);
  });

  test('whose scan had no time for every table takes away nothing of the others, also where nothing is kept on this machine', async () => {
    dir = await ingestedShop();
    const before = stateOf(dir);
    rmSync(join(dir, '.ktx'), { recursive: true });
    const report = await ingestHere(dir, { scan: scanConfigSchema.parse({ max_seconds: 0.001 }) });
    expect(report).toMatchObject({
      exitCode: 3,
      connections: [{ profiled: 1, left: 2 }],
      commit: { none: 'unchanged' },
    });
    expect(stateOf(dir)).toEqual(before);
  });

  test('that is dry reads the structure and writes nothing', async () => {
    const before = stateOf(dir);
    const report = await ingestHere(dir, { dryRun: true });
    expect(report).toMatchObject({
      exitCode: 0,
      dryRun: true,
      connections: [{ tables: 3 }],
      commit: { none: 'dry run' },
    });
    expect(stateOf(dir)).toEqual(before);
    expect(existsSync(join(dir, '.ktx'))).toBe(false);
  });

  test('beside another one waits for it; both succeed', async () => {
    const results = await Promise.all([ingestIn(dir), ingestIn(dir), ingestIn(dir)]);
    expect(results.map(({ report }) => report.exitCode)).toEqual([0, 0, 0]);
    expect(results.filter(({ report }) => report.commit.id !== undefined)).toHaveLength(1);
    expect(results.some(({ steps }) => steps.includes('lock_awaited'))).toBe(true);
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });
});

describe('what a person wrote', () => {
  test('stays, uncommitted, in the file that ktx brings up to date', async () => {
    dir = await ingestedShop();
    edit(orders, (text) =>
      text.replace('metrics:', 'metrics:\n  - name: revenue # gross\n    agg: sum\n    of: amount'),
    );
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    const report = await ingestHere(dir);
    expect(report).toMatchObject({ exitCode: 0, quarantined: [] });
    expect(report.keptEdits).toMatchObject([
      { path: 'orders.metrics.revenue', at: orders, isRemoval: false },
    ]);
    expect(read(dir, orders)).toMatch(
      /name: revenue # gross[^]*name: note|name: note[^]*name: revenue # gross/,
    );
    expect(run(dir, 'show', `HEAD:${orders}`)).toContain('name: note');
    expect(run(dir, 'diff', '--stat', orders)).toContain('3 insertions(+)');
    expect(run(dir, 'diff', '--numstat', orders)).toBe(`3\t0\t${orders}`);
    const before = stateOf(dir);
    expect((await ingestHere(dir)).commit).toEqual({ none: 'unchanged' });
    expect(stateOf(dir)).toEqual(before);
    run(dir, 'commit', '-qam', 'revenue');
    expect((await ingestHere(dir)).files).toEqual({ added: [], changed: [], removed: [] });
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('and does not work is named, and holds up nothing else', async () => {
    dir = await ingestedShop();
    edit(orders, (text) =>
      text.replace('metrics:', 'metrics:\n  - name: wrong\n    agg: sum\n    of: amout'),
    );
    edit(
      'semantic-layer/shop/customers.yaml',
      (text) => `${text}segments:\n  - name: northern\n    where: regoin = 'north'\n`,
    );
    sql(
      dir,
      'CREATE TABLE refunds (id INTEGER PRIMARY KEY, reason TEXT); INSERT INTO refunds VALUES (1, NULL);',
    );
    const report = await ingestHere(dir);
    expect(report.exitCode).toBe(3);
    expect(report.quarantined.map(({ location }) => location?.split(':')[0])).toEqual(
      expect.arrayContaining([orders, 'semantic-layer/shop/customers.yaml']),
    );
    expect(report.files.added).toContain('semantic-layer/shop/refunds.yaml');
    expect(read(dir, orders)).toContain('of: amout');
  });

  test('in a file that cannot be read is left alone, on disk and in the commit, and reported', async () => {
    dir = await ingestedShop();
    write(dir, orders, 'dataset: orders\n  fields: [half a thought\n');
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT; ALTER TABLE coupons ADD COLUMN note TEXT');
    const report = await ingestHere(dir);
    expect(report.exitCode).toBe(3);
    expect(report.leftAlone).toMatchObject([{ path: orders }]);
    expect(read(dir, orders)).toBe('dataset: orders\n  fields: [half a thought\n');
    expect(run(dir, 'show', '--name-only', '--format=', 'HEAD')).not.toContain('orders');
    expect(run(dir, 'show', 'HEAD:semantic-layer/shop/coupons.yaml')).toContain('note');
    run(dir, 'checkout', orders);
    expect((await ingestHere(dir)).exitCode).toBe(0);
    expect(run(dir, 'show', `HEAD:${orders}`)).toContain('note');
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('in another encoding is left alone and reported; the rest goes on', async () => {
    dir = await ingestedShop();
    const latin = Buffer.from(
      read(dir, orders).replace('dataset: orders', 'dataset: orders\ndescription: Aufträge'),
      'latin1',
    );
    writeFileSync(join(dir, orders), latin);
    writeFileSync(join(dir, 'semantic-layer/shop/mine.yaml'), Buffer.from([0x61, 0xe9, 0x0a]));
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT; ALTER TABLE coupons ADD COLUMN note TEXT');
    const report = await ingestHere(dir);
    expect(report).toMatchObject({
      exitCode: 3,
      leftAlone: [{ path: orders, reason: 'it is not valid UTF-8' }],
    });
    expect(report.quarantined.map(({ location, kind }) => [location, kind])).toContainEqual([
      'semantic-layer/shop/mine.yaml:1',
      'unreadable',
    ]);
    expect(readFileSync(join(dir, orders))).toEqual(latin);
    expect(run(dir, 'show', '--name-only', '--format=', 'HEAD')).not.toContain('orders');
    expect(run(dir, 'show', 'HEAD:semantic-layer/shop/coupons.yaml')).toContain('note');
  });

  test('outlives its table; what nobody touched goes with it', async () => {
    dir = await ingestedShop();
    edit(orders, (text) => text.replace('fields:', 'description: All orders.\nfields:'));
    run(dir, 'commit', '-qam', 'described');
    sql(dir, 'DROP TABLE orders; DROP TABLE coupons');
    const report = await ingestHere(dir);
    expect(report.files.removed).toEqual([
      'claims/shop/coupons.jsonl',
      'semantic-layer/shop/coupons.yaml',
    ]);
    expect(read(dir, orders)).toContain('All orders.');
    expect(report.stale).toContainEqual({ path: 'orders.dataset', at: orders });
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('and deleted comes back with everything that refers to it, in one run, once the file is restored', async () => {
    const customers = 'semantic-layer/shop/customers.yaml';
    await ingestHere(dir);
    const text = read(dir, customers);
    rmSync(join(dir, customers));
    await ingestHere(dir);
    expect(read(dir, orders)).not.toContain('to: customers');
    run(dir, 'commit', '-qam', 'no customers');
    expect((await ingestHere(dir)).files).toEqual({ added: [], changed: [], removed: [] });
    expect(existsSync(join(dir, customers))).toBe(false);
    write(dir, customers, text);
    expect(await ingestHere(dir)).toMatchObject({ exitCode: 0, keptEdits: [] });
    expect(read(dir, customers)).toBe(text);
    expect(read(dir, orders)).toContain('to: customers');
    const settled = stateOf(dir);
    expect((await ingestHere(dir)).files).toEqual({ added: [], changed: [], removed: [] });
    expect(stateOf(dir)).toEqual(settled);
  });

  test('and took out stays out while the file is gone and when it is back', async () => {
    const coupons = 'semantic-layer/shop/coupons.yaml';
    await ingestHere(dir);
    edit(coupons, (text) => text.replace(/.*name: percent.*\n/, ''));
    const text = read(dir, coupons);
    await ingestHere(dir);
    run(dir, 'commit', '-qam', 'no percent');
    rmSync(join(dir, coupons));
    await ingestHere(dir);
    run(dir, 'commit', '-qam', 'no coupons');
    await ingestHere(dir);
    write(dir, coupons, text);
    expect((await ingestHere(dir)).keptEdits).toMatchObject([
      { path: 'coupons.fields.percent', at: coupons, isRemoval: true },
    ]);
    expect(read(dir, coupons)).toBe(text);
  });

  test('and did not commit is the reason that there is no commit; what ktx took back is another', async () => {
    dir = await ingestedShop();
    const text = read(dir, orders);
    edit(orders, (whole) => whole.replace(/.*name: status.*\n/, ''));
    const changed = { added: [], changed: ['claims/shop/orders.jsonl'], removed: [] };
    const commit = { none: 'only in the working tree, beside your uncommitted edits' };
    const keptEdits = [{ path: 'orders.fields.status', at: orders, isRemoval: true }];
    expect(await ingestHere(dir)).toMatchObject({ exitCode: 0, files: changed, commit, keptEdits });
    expect(run(dir, 'show', 'HEAD:claims/shop/orders.jsonl')).not.toContain('edit@1');
    write(dir, orders, text);
    const restored = { none: 'the files are again as they are committed' };
    expect(await ingestHere(dir)).toMatchObject({
      exitCode: 0,
      files: changed,
      commit: restored,
      keptEdits: [],
    });
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('is told as new once, and again when ktx would write something else there', async () => {
    const customers = 'semantic-layer/shop/customers.yaml';
    await ingestHere(dir);
    edit(customers, (text) => text.replace(/(name: region.*?type: )string/, '$1integer'));
    edit(orders, (text) => text.replace(/.*name: status.*\n/, ''));
    const paths = async () => {
      const { keptEdits, newEdits } = await ingestHere(dir);
      return [keptEdits, newEdits].map((list) => list.map(({ path }) => path));
    };
    const all = ['customers.fields.region.type', 'orders.fields.status'];
    expect(await paths()).toEqual([all, all]);
    expect(await paths()).toEqual([all, []]);
    sql(
      dir,
      'ALTER TABLE customers DROP COLUMN region; ALTER TABLE customers ADD COLUMN region REAL',
    );
    expect(await paths()).toEqual([all, all.slice(0, 1)]);
  });

  test('with line ends of both kinds keeps each of them, on disk and in the commit', async () => {
    dir = await ingestedShop();
    const lines = read(dir, orders)
      .trimEnd()
      .split('\n')
      .map((line, index) => `${line}${index % 2 === 0 ? '\r\n' : '\n'}`);
    write(dir, orders, lines.join(''));
    run(dir, 'commit', '-qam', 'both kinds');
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    expect(await ingestHere(dir)).toMatchObject({ exitCode: 0, leftAlone: [], keptEdits: [] });
    const after = read(dir, orders).split(/(?<=\n)/);
    expect(after.join('')).toContain('name: note');
    expect(after.filter((line) => lines.includes(line))).toEqual(lines);
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('into a generated file is set aside before the file is replaced', async () => {
    dir = await ingestedShop();
    edit('sources/shop/main.jsonl', (text) => `${text}my own line\n`);
    const report = await ingestHere(dir);
    const [aside] = report.setAside;
    expect(aside?.path).toBe('sources/shop/main.jsonl');
    expect(read(dir, aside?.copy ?? '')).toContain('my own line');
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('and staged elsewhere stays staged', async () => {
    write(dir, 'a.txt', '1\n');
    run(dir, 'add', 'a.txt');
    await ingestHere(dir);
    expect(run(dir, 'status', '--porcelain')).toBe('A  a.txt');
    expect(run(dir, 'ls-tree', '--name-only', 'HEAD')).not.toContain('a.txt');
  });
});

describe('git', () => {
  test('and deleted in the index alone stays deleted there', async () => {
    dir = await ingestedShop();
    const coupons = 'semantic-layer/shop/coupons.yaml';
    run(dir, 'rm', '-q', '--cached', orders, coupons);
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    expect((await ingestHere(dir)).commit.id).toBe(run(dir, 'rev-parse', 'HEAD'));
    expect(run(dir, 'diff', '--cached', '--name-status')).toBe(`D\t${coupons}\nD\t${orders}`);
    expect(run(dir, 'show', `HEAD:${orders}`)).toContain('name: note');
  });

  test('in the middle of a merge: written, not committed, exit 3; the next run after it commits', async () => {
    dir = await ingestedShop();
    run(dir, 'checkout', '-qb', 'other');
    write(dir, 'ktx.yaml', '# theirs\n');
    run(dir, 'commit', '-qam', 'theirs');
    run(dir, 'checkout', '-q', 'main');
    write(dir, 'ktx.yaml', '# ours\n');
    run(dir, 'commit', '-qam', 'ours');
    expect(() => run(dir, 'merge', 'other')).toThrow('merge');
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    const head = run(dir, 'rev-parse', 'HEAD');
    const report = await ingestHere(dir);
    expect(report).toMatchObject({ exitCode: 3, commit: { none: 'merge under way' } });
    expect(read(dir, orders)).toContain('note');
    expect(run(dir, 'rev-parse', 'HEAD')).toBe(head);
    expect(existsSync(join(dir, '.git/MERGE_HEAD'))).toBe(true);
    run(dir, 'checkout', '--ours', 'ktx.yaml');
    run(dir, 'add', 'ktx.yaml');
    run(dir, 'commit', '-qm', 'merged');
    expect(await ingestHere(dir)).toMatchObject({
      exitCode: 0,
      files: { changed: [] },
      commit: { id: expect.any(String) as string },
    });
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('of a larger repository with failing hooks, required signing and ignored folders', async () => {
    const outer = temporaryFolder();
    run(outer, 'init', '-q');
    write(outer, 'README', 'x\n');
    write(outer, '.gitignore', 'sources/\nshop.sqlite\n');
    run(outer, 'add', '.');
    run(outer, 'commit', '-qm', 'start');
    for (const hook of ['pre-commit', 'commit-msg', 'reference-transaction']) {
      write(outer, `.git/hooks/${hook}`, '#!/bin/sh\nexit 1\n');
      chmodSync(join(outer, '.git/hooks', hook), 0o755);
    }
    run(outer, 'config', 'commit.gpgsign', 'true');
    const project = join(outer, 'analytics', 'ktx');
    mkdirSync(project, { recursive: true });
    for (const file of ['ktx.yaml', 'shop.sqlite']) cpSync(join(dir, file), join(project, file));
    const report = await ingestHere(project, { git: 'commit' });
    expect(report.exitCode).toBe(0);
    const committed = run(outer, 'show', '--name-only', '--format=', 'HEAD').split('\n');
    expect(
      committed.filter(
        (path) =>
          !/^analytics\/ktx\/(claims|semantic-layer)\/shop\/|^analytics\/ktx\/\.gitattributes$/.test(
            path,
          ),
      ),
    ).toEqual([]);
    expect(existsSync(join(project, 'sources/shop/main.jsonl'))).toBe(true);
    expect(run(outer, 'status', '--porcelain')).toBe('?? analytics/ktx/ktx.yaml');
    expect((await ingestHere(project)).commit).toEqual({ none: 'unchanged' });
  });

  test.each([
    ['signs its commits', 'signs its commits'],
    ['has a commit hook', 'has commit hooks'],
    ['has a commit hook in a folder of its own', 'has commit hooks'],
    ['has commit hooks of its owner', 'has commit hooks'],
    ['is told to only write', 'as you asked'],
  ] as const)(
    'of a repository that %s writes, commits nothing, and says so',
    async (kind, reason) => {
      const hook = (path: string) => {
        write(dir, path, '#!/bin/sh\nexit 1\n');
        chmodSync(join(dir, path), 0o755);
      };
      if (kind === 'signs its commits') run(dir, 'config', 'commit.gpgsign', 'true');
      if (kind === 'has a commit hook') hook('.git/hooks/pre-commit');
      if (kind === 'has a commit hook in a folder of its own') {
        run(dir, 'config', 'core.hooksPath', '.husky');
        hook('.husky/commit-msg');
      }
      if (kind === 'has commit hooks of its owner') {
        const home = temporaryFolder();
        vi.stubEnv('HOME', home);
        onTestFinished(() => void vi.unstubAllEnvs());
        write(home, 'hooks/pre-commit', '#!/bin/sh\nexit 1\n');
        chmodSync(join(home, 'hooks/pre-commit'), 0o755);
        run(dir, 'config', 'core.hooksPath', '~/hooks');
      }
      const head = run(dir, 'rev-parse', 'HEAD');
      const options = kind === 'is told to only write' ? { git: 'write' as const } : {};
      const first = await ingestHere(dir, options);
      expect(first).toMatchObject({
        exitCode: 0,
        commit: { none: expect.stringContaining(reason) as string },
      });
      expect(run(dir, 'rev-parse', 'HEAD')).toBe(head);
      expect(read(dir, orders)).toContain('amount');
      const state = run(dir, 'status', '--porcelain');
      expect((await ingestHere(dir, options)).commit.none).toContain(reason);
      expect(run(dir, 'status', '--porcelain')).toBe(state);
      expect((await ingestHere(dir, { git: 'commit' })).commit.id).toBeDefined();
      expect((await ingestHere(dir, options)).commit).toEqual({ none: 'unchanged' });
    },
  );

  test('with a file of the same name on a branch that moved on merges both sides', async () => {
    dir = await ingestedShop();
    edit(orders, (text) => text.replace('fields:', 'description: Committed.\nfields:'));
    run(dir, 'commit', '-qam', 'described');
    edit(orders, (text) => text.replace('Committed.', 'Committed, then changed.'));
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    await ingestHere(dir);
    expect(run(dir, 'show', `HEAD:${orders}`)).toMatch(/description: Committed\.\n[^]*note/);
    expect(read(dir, orders)).toMatch(/description: Committed, then changed\.\n[^]*note/);
  });
});

describe('a connection that fails', () => {
  test('evicts nothing, and the others go on', async () => {
    cpSync(join(dir, 'shop.sqlite'), join(dir, 'depot.sqlite'));
    await ingestHere(dir, { names: ['shop', 'depot'] });
    rmSync(join(dir, 'depot.sqlite'));
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    const report = await ingestHere(dir, { names: ['depot', 'shop'] });
    expect(report.exitCode).toBe(3);
    expect(report.connections).toMatchObject([
      { connection: 'depot', failure: { code: 'warehouse_not_found' } },
      { connection: 'shop', tables: 3 },
    ]);
    expect(report.files.removed).toEqual([]);
    expect(existsSync(join(dir, 'semantic-layer/depot/orders.yaml'))).toBe(true);
    expect(read(dir, orders)).toContain('note');
  });

  test('alone gives its own exit code, and no table is a failure', async () => {
    dir = await ingestedShop();
    const before = stateOf(dir);
    sql(dir, 'DROP TABLE orders; DROP TABLE customers; DROP TABLE coupons');
    expect(await ingestHere(dir)).toMatchObject({
      exitCode: 1,
      connections: [{ failure: { code: 'no_tables' } }],
    });
    expect(stateOf(dir)).toEqual(before);
    writeFileSync(join(dir, 'shop.sqlite'), 'no database at all, although the file is there');
    expect((await ingestHere(dir)).connections).toMatchObject([
      { failure: { code: 'not_a_database' } },
    ]);
  });

  test('because it was aborted publishes nothing', async () => {
    const before = stateOf(dir);
    const controller = new AbortController();
    const aborted = ingestHere(dir, {
      signal: controller.signal,
      onEvent: ({ type }) => type === 'scan_progressed' && controller.abort(),
    });
    await expect(aborted).rejects.toThrow();
    expect(stateOf(dir)).toEqual(before);
  });
});
