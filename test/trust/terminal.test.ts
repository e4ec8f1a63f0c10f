import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shopDatabase } from '../cli/run-cli.ts';
import { write } from '../store/git-project.ts';

const hasTmux = spawnSync('tmux', ['-V']).error === undefined;
const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** A person types in a real terminal; skipped where tmux is not installed. */
describe.skipIf(!hasTmux)('a person who opens a clone at a terminal', () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-test-trust-')));
  const socket = join(dir, 'tmux');
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  const type = (...keys: readonly string[]): string => tmux('send-keys', '-t', 'ktx', ...keys);
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'ktx', '-S', '-200');
  const sees = (text: RegExp) =>
    expect.poll(screen, { timeout: 120_000, interval: 100 }).toMatch(text);

  beforeAll(() => {
    const clone = join(dir, 'clone');
    mkdirSync(clone);
    shopDatabase(join(dir, 'shop.db'));
    write(clone, 'ktx.yaml', 'connections: {shop: {driver: sqlite, path: ../shop.db}}\n');
    const shell = `env -u CI XDG_CONFIG_HOME=${dir}/config PS1="ready> " sh`;
    tmux('new-session', '-d', '-s', 'ktx', '-x', '140', '-y', '50', '-c', clone, shell);
    type(
      `ktx() { ${process.execPath} --disable-warning=ExperimentalWarning ${main} "$@"; }; clear`,
      'Enter',
    );
  });
  afterAll(() => {
    spawnSync('tmux', ['-S', socket, 'kill-server']);
    rmSync(dir, { recursive: true, force: true });
  });

  test('is asked once, with the list; a no changes nothing, a yes goes on', async () => {
    type('ktx sql "SELECT count(*) AS n FROM orders"', 'Enter');
    await sees(/\+ connection shop[^]*reads +\S*shop\.db[^]*may it do this on this machine\?/);
    type('Enter');
    await sees(/You did not approve[^]*trust_required[^]*ready>/);
    expect(screen()).not.toContain('Nobody has approved');
    type('clear; ktx sql "SELECT count(*) AS n FROM orders"', 'Enter');
    await sees(/may it do this on this machine\?/);
    type('y');
    await sees(/\b60\b[^]*ready>/);
    type('clear; ktx sql "SELECT 41 + 1 AS answer"', 'Enter');
    await sees(/\b42\b[^]*ready>/);
    expect(screen()).not.toContain('may it do this');
  });
});
