import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { folder, ktx, shopProject } from './run-cli.ts';

afterEach(() => vi.unstubAllEnvs());

test('the first commit where git knows no name says so once, with what sets one', async () => {
  const home = folder();
  // The identity of whoever runs the test is in their home folder, or for all of the machine.
  for (const [name, value] of Object.entries({
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  }))
    vi.stubEnv(name, value);
  const cwd = await shopProject();
  const ingest = async (table: string) => {
    const db = new DatabaseSync(join(cwd, 'shop.db'));
    db.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, name TEXT)`);
    db.close();
    const { stdout, stderr, code } = await ktx(['ingest'], { cwd });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const first = await ingest('one');
  expect(first).toMatch(/commit \w{10}, by ktx <ktx@localhost>: git knows no name of yours here/);
  expect(first).toContain('git config --global user.name "Your Name"');
  expect(await ingest('two')).not.toContain('ktx@localhost');

  // With a name, the commit has it; nothing is said.
  for (const [key, value] of Object.entries({ name: 'Ada', email: 'ada@example.com' }))
    execFileSync('git', ['config', `user.${key}`, value], { cwd });
  writeFileSync(join(cwd, 'README.md'), 'Shop\n');
  execFileSync('git', ['add', '-A'], { cwd });
  execFileSync('git', ['commit', '-qm', 'Readme'], { cwd });
  expect(await ingest('three')).not.toContain('knows no name');
  const author = execFileSync('git', ['log', '-1', '--format=%an'], { cwd, encoding: 'utf8' });
  expect(author.trim()).toBe('Ada');
});
