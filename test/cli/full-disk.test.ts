import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ktx, shopProject, folder } from './run-cli.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** A process that the system lets write no file beyond some kB: what a full disk does. */
function cramped(kilobytes: number, argv: readonly string[], cwd: string) {
  const script = `ulimit -f ${kilobytes}; exec "$0" "$@"`;
  const child = spawnSync('bash', ['-c', script, process.execPath, main, ...argv], {
    cwd,
    encoding: 'utf8',
  });
  return { code: child.status, stderr: child.stderr };
}

test.skipIf(process.platform === 'win32')(
  'a disk that is full at any point of an ingest is an error, not a defect, and the next run heals',
  async () => {
    const template = await shopProject();
    for (const kilobytes of [16, 48, 160]) {
      const cwd = folder();
      cpSync(template, cwd, { recursive: true });
      const { code, stderr } = cramped(kilobytes, ['ingest'], cwd);
      expect(`${kilobytes} kB: ${stderr}`).not.toMatch(/bug in ktx|rollback/);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be |full|disk/)]);
      expect((await ktx(['ingest'], { cwd })).code).toBe(0);
      expect((await ktx(['check'], { cwd })).code).toBe(0);
    }
  },
);

test('an answer whose record cannot be kept is given, and says so', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  // Nothing can be written into it, as on a disk that is read-only.
  writeFileSync(join(cwd, '.ktx/logs'), '');
  const { code, stdout, stderr } = await ktx(['sl', 'query', 'orders.count'], { cwd });
  expect([code, stdout]).toEqual([0, expect.stringContaining('60')]);
  expect(stderr).toContain('ktx explain will not find this answer: ');
});
