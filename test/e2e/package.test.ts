import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** A Node on the path that is older than the one ktx needs, such as the system's. */
const olderNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((file) => {
    try {
      const major = Number(
        execFileSync(file, ['-p', 'process.versions.node.split(".")[0]'], {
          encoding: 'utf8',
          stdio: 'pipe',
        }),
      );
      return major < 24;
    } catch {
      return false;
    }
  });

describe('the packed package, installed elsewhere', () => {
  let folder = '';
  let bin = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ktx-package-'));
    const { stdout } = await run(
      'npm',
      ['pack', '--json', '--loglevel=error', '--pack-destination', folder],
      { cwd: root },
    );
    const { filename } = JSON.parse(stdout.slice(stdout.indexOf('[\n')))[0];
    await run('tar', ['-xzf', join(folder, filename), '-C', folder]);
    // The dependencies of the clone stand in for those that an installation would fetch.
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    bin = join(folder, 'package/bin/ktx.js');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('says its version', async () => {
    const { stdout } = await run(process.execPath, [bin, '--version'], { cwd: folder });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('goes from nothing to an answer', async () => {
    await run(process.execPath, [bin, 'demo', '--dir', 'shop'], { cwd: folder });
    const query = ['sl', 'query', '-m', 'orders.revenue', '--project-dir', 'shop', '--json'];
    const { stdout } = await run(process.execPath, [bin, ...query], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { rows: [[expect.any(Number)]] } });
  });

  it('reads a handful of files for a command, not hundreds', async () => {
    const list = ['sl', 'list', '--project-dir', 'shop'];
    const counts: number[] = [];
    for (const words of [['--version'], ['--help'], list, list])
      counts.push(await filesLoadedBy(words));
    const [version = 0, help = 0, first = 0, prepared = 0] = counts;
    expect([version, help]).toEqual([4, 5]);
    expect(first).toBeLessThanOrEqual(20);
    expect(prepared).toBeLessThanOrEqual(9);
  });

  it('carries the licences of the code that is bundled', () => {
    const licences = readFileSync(join(folder, 'package/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    expect(licences).toMatch(/^zod [\d.]+ \(MIT\)\n\n[\s\S]*Permission is hereby granted/m);
    expect(licences).toMatch(/^commander [\d.]+ \(MIT\)$/m);
  });

  /** How many files of the package the command evaluates. */
  async function filesLoadedBy(words: readonly string[]): Promise<number> {
    const coverage = mkdtempSync(join(folder, 'coverage-'));
    const env = { ...process.env, NODE_V8_COVERAGE: coverage };
    await run(process.execPath, [bin, ...words], { cwd: folder, env });
    const [report = ''] = readdirSync(coverage);
    const { result } = JSON.parse(readFileSync(join(coverage, report), 'utf8'));
    const urls = result.map(({ url }: { readonly url: string }) => url);
    return urls.filter((url: string) => url.includes('/package/')).length;
  }

  it.skipIf(olderNode === undefined)('tells an older Node in one line what it needs', async () => {
    const failed: unknown = await run(olderNode ?? '', [bin, '--version']).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^ktx needs Node\.js 24\.10 or newer; this is .+\n$/),
    });
  });
});
