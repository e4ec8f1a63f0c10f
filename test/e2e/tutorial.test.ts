import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-tutorial-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Block {
  /** The text since the block before. */
  readonly before: string;
  readonly language: string;
  readonly text: string;
}

const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');
const blocks: readonly Block[] = [...page.matchAll(/([\s\S]*?)^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, before = '', language = '', text = '']) => ({ before, language, text }),
);

/** Commits are different on each machine. */
const withoutCommits = (text: string): string =>
  text.replaceAll(/^commit [0-9a-f]{10}$/gm, 'commit …');

test('the tutorial can be followed to the letter', () => {
  const home = join(folder, 'home');
  mkdirSync(join(folder, 'bin'), { recursive: true });
  mkdirSync(home);
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/main.ts')}" "$@"\n`;
  writeFileSync(join(folder, 'bin/ktx'), program, { mode: 0o755 });
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: home,
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
  };
  writeFileSync(env.GIT_CONFIG_GLOBAL, '[user]\nname = Reader\nemail = reader@example.org\n');
  let cwd = folder;
  let printed = '';
  const run = (line: string): void => {
    const [, target] = /^cd (\S+)$/.exec(line) ?? [];
    if (target !== undefined) cwd = join(cwd, target);
    // A question that has no answer is shown with its error.
    else
      printed = execFileSync('sh', ['-c', `${line} 2>errors || cat errors`], {
        cwd,
        env,
      }).toString();
  };
  const shown: string[] = [];
  for (const { before, language, text } of blocks) {
    const [, file] = /Save this as `([^`]+)`:\s*$/.exec(before) ?? [];
    if (language === 'csv') writeFileSync(join(cwd, file ?? 'unnamed'), text);
    else if (language === 'sh') text.trimEnd().split('\n').forEach(run);
    else if (language === 'yaml') {
      const [, path = '', line = ''] =
        /In `([^`]+)`, below the line `([^`]+)`, add:/.exec(before) ?? [];
      const [heading = '', ...added] = text.trimEnd().split('\n');
      const old = readFileSync(join(cwd, path), 'utf8');
      expect(old).toContain(`\n${heading}\n  ${line}\n`);
      writeFileSync(join(cwd, path), old.replace(line, [line, ...added].join('\n')));
    } else {
      expect(language).toBe('text');
      expect(withoutCommits(printed)).toBe(withoutCommits(text));
      shown.push(text);
    }
  }
  expect(shown.length).toBeGreaterThan(8);
}, 120_000);
