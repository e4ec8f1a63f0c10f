import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openChildFolder } from '../../src/llm/claude-code/child/child-folder.ts';

const base = mkdtempSync(join(tmpdir(), 'ktx-folder-'));
afterAll(() => rmSync(base, { recursive: true }));
const parent = join(import.meta.dirname, '../support/child-folder-parent.ts');

test.for(['closes', 'is killed'])(
  'the temporary files of Claude Code are gone after ktx %s',
  async (way) => {
    const started = spawn(process.execPath, [parent, base, way], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(started, 'exit');
    const [said] = (await once(started.stdout, 'data')) as [Buffer];
    const folder = String(said).trim();
    expect(dirname(folder)).toBe(base);
    if (way === 'is killed') {
      expect(existsSync(join(folder, 'probe'))).toBe(true);
      expect(statSync(folder).mode & 0o077).toBe(0);
      started.kill('SIGKILL');
    }
    await exit;
    await expect.poll(() => readdirSync(base), { timeout: 10_000 }).toEqual([]);
  },
);

test('a temporary folder that is missing or relative starts a child all the same', async () => {
  const missing = join(base, 'missing');
  for (const [variable, parentFolder] of [
    [missing, tmpdir()],
    ['', tmpdir()],
    [relative(process.cwd(), base), base],
  ] as const) {
    const created: string[] = [];
    const folder = openChildFolder((path) => created.push(path));
    const { CLAUDE_CODE_TMPDIR: path = '' } = folder.variables({ TMPDIR: variable });
    expect(dirname(path)).toBe(parentFolder);
    expect(created).toEqual([path]);
    await folder.remove();
    expect(existsSync(path)).toBe(false);
  }
});
