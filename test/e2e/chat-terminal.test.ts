import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approve } from '../support/approve.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { type Answer, type ModelCall, say, use } from '../support/model-script.ts';

const hasTmux = spawnSync('tmux', ['-V']).error === undefined;
const main = join(import.meta.dirname, '../../src/cli/main.ts');

const months = `WITH RECURSIVE m(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM m WHERE n < 8)
SELECT printf('2024-%02d-01', n) AS month, n * n * 1000 AS revenue FROM m`;
const wide = `SELECT '2024-07-01 10:00:00' AS first_order, '2024-12-31 23:59:59' AS last_order, 'A long name of a customer' AS customer,
'日本の会社' AS owner, 1767173.25 AS revenue, 'Enterprise and everything beyond' AS segment UNION ALL SELECT '2024-08-01 10:00:00', '2024-12-30 23:59:59', 'B', 'x', 2, 'SMB'`;
const endless =
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
const report = [
  '## Revenue by month',
  '',
  'Revenue **grew** every month, see `orders.revenue` [q1]:',
  '',
  '- *July* was best',
  '- the rest was not',
  '',
  '| month of the order | what happened in that month, in the words of the team | revenue |',
  '|---|---|---:|',
  '| 2024-07-01 | a campaign in all of the regions | 49,000 |',
  '| 2024-08-01 | 夏のキャンペーン 🍏 | 64,000 |',
].join('\n');

/** True for what a person typed: what tools answer comes as a message, too. */
function isTyped({ role, text }: ModelCall['messages'][number]): boolean {
  return role === 'user' && text !== '' && !/^(?:Evidence q|run_sql was not run)/.test(text);
}

/** The model answers by what the last message says. */
function answer({ messages, results }: ModelCall): Answer {
  const message = messages.findLast(isTyped)?.text ?? '';
  // After a stopped turn the message comes with the conversation before it.
  const asked = message.split('The user now says:\n\n').at(-1) ?? '';
  const hasRun = results.length > 0;
  if (asked.includes('by month')) return hasRun ? say(report) : use('run_sql', { sql: months });
  if (asked.includes('wide')) return hasRun ? say('Here [q2].') : use('run_sql', { sql: wide });
  if (asked.includes('slow'))
    return say('Slowly.\n\nAnd so on, and so on, to the end.', { dripMs: 150 });
  if (asked.includes('endless')) return use('run_sql', { sql: endless });
  if (asked.includes('refuse')) return use('run_sql', { sql: 'SELECT 1' });
  return say(`I read ${asked.split('\n').length} lines.`);
}

/** The processes that run a statement right now, for a ktx which runs in the folder. */
function busyReaders(folder: string): readonly string[] {
  const running = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return running.filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const isReader = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('reader-process');
      return isReader && state === 'R' && readlinkSync(`/proc/${parent}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}

/**
 * The conversations of an analyst in a real terminal; skipped where tmux is not installed. There
 * ktx asks only where `CI` is not set, so the shell has none.
 */
describe.skipIf(!hasTmux).each([
  [80, 24],
  [120, 40],
])('a conversation in a terminal of %i by %i', (width, height) => {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-test-chat-'));
  const socket = join(dir, 'tmux');
  let project: AskedProject;
  let calls: readonly ModelCall[] = [];
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  const type = (...keys: readonly string[]): string => tmux('send-keys', '-t', 'ktx', ...keys);
  const enter = (line: string): void => {
    type('-l', line);
    type('Enter');
  };
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'ktx', '-S', '-2000');
  const sees = (text: RegExp) =>
    expect.poll(screen, { timeout: 120_000, interval: 100 }).toMatch(text);
  /** What the last message of a person was, and how many there were. */
  const messages = (): readonly string[] => {
    const texts = calls.flatMap((call) => call.messages.filter(isTyped).map(({ text }) => text));
    return [...new Set(texts)];
  };

  beforeAll(async () => {
    project = await openAskedProject();
    calls = project.playing(answer).calls;
    await approve(project.dir);
    const size = ['-x', String(width), '-y', String(height)];
    const shell = 'env -u CI -u CLAUDECODE -u AI_AGENT LANG=C.UTF-8 PS1="ready> " sh';
    tmux('-u', 'new-session', '-d', '-s', 'ktx', ...size, '-c', project.dir, shell);
    type(`clear; ${process.execPath} --disable-warning=ExperimentalWarning ${main} chat`, 'Enter');
  });
  afterAll(async () => {
    spawnSync('tmux', ['-S', socket, 'kill-server']);
    await project?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('an answer is rendered, with a chart; no date is cut, no Markdown left', async () => {
    await sees(/\/help lists the commands[^]*›/);
    enter('Revenue by month?');
    await sees(/Allow it\?/);
    enter('o');
    await sees(/Revenue by month[^]*\$0\.\d+[^]*›$/m);
    const shown = screen();
    expect(shown).not.toMatch(/\*\*|^##|\|---|`/m);
    expect(shown).not.toMatch(/\d{4}-[\d-]*…/);
    expect(shown).toMatch(/^• July was best\n• the rest was not$/m);
    // The wide characters before it have pushed no digit to the next line.
    expect(shown).toMatch(/2024-08-01 .*夏のキャンペーン 🍏 +64,000$/m);
    expect(shown).toMatch(/64,000 ┤.*[\u2801-\u28ff][^]*2024-01-01 +2024-08-01/);
  });

  test('a wide result stands vertically where it does not fit; dates are whole', async () => {
    enter('And the wide one?');
    await sees(/Allow it\?[^]*Allow it\?/);
    enter('o');
    await sees(/Here \[q2\][^]*\[q2\] ad hoc[^]*›$/m);
    const shown = screen();
    for (const date of ['2024-07-01 10:00:00', '2024-12-31 23:59:59', '2024-12-30 23:59:59'])
      expect(shown).toContain(date);
    expect(shown).toContain('1767173.25');
    if (width === 80) expect(shown).toMatch(/^row 1\nfirst_order +2024-07-01 10:00:00$/m);
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
  });

  test('help, receipts, exports and pages: lines break between words', async () => {
    enter('/help');
    await sees(/leave; also Ctrl-D, or Ctrl-C twice\n›/);
    enter('/why q2');
    await sees(/\[q2\] run_sql, [^]*'SMB'\n›$/m);
    enter('/export q1 rows.md');
    await sees(/wrote 8 rows of q1 to/);
    enter('/share all.html --all');
    await sees(/wrote \S*all\.html/);
    const shown = screen().slice(screen().indexOf('/help  '));
    for (const words of ['a line for each column', 'add the last exchange as a case'])
      expect(shown.replaceAll(/\s+/g, ' ')).toContain(words);
    for (const line of shown.split('\n').filter((own) => own.startsWith('  /')))
      expect(line.length).toBeLessThanOrEqual(width);
    // A word that a terminal broke would begin the next line in its first column.
    expect(shown.slice(0, shown.indexOf('› /export'))).not.toMatch(/\n(?![ \n›[]|$)/);
    expect(readFileSync(join(project.dir, 'rows.md'), 'utf8')).toMatch(/\| 2024-08-01 \|/);
    const page = readFileSync(join(project.dir, 'all.html'), 'utf8');
    expect(page.match(/<h1>[^<]*<\/h1>/g)).toHaveLength(2);
  });

  test.each([
    ['with marks', ['-p']],
    ['without marks', []],
  ])('a paste of 30 lines %s is one paid turn', async (name, flags) => {
    const before = calls.length;
    const lines = Array.from({ length: 30 }, (_, index) => `${name}, line ${index + 1}`);
    tmux('set-buffer', lines.join('\n'));
    tmux('paste-buffer', '-t', 'ktx', ...flags);
    await sees(/\[paste \d: 30 lines\]/);
    type('Enter');
    await expect.poll(() => calls.length, { timeout: 60_000 }).toBe(before + 1);
    await sees(/I read 30 lines\.[^]*›$/m);
    expect(messages().at(-1)).toBe(lines.join('\n'));
    expect(calls).toHaveLength(before + 1);
    tmux('clear-history', '-t', 'ktx');
    type('C-l');
  });

  test('what is typed while an answer runs is not lost', async () => {
    enter('Be slow.');
    await sees(/Slowly\./);
    enter('next one');
    // What comes faster than a person types is a paste.
    await pause(100);
    type('-l', 'and half of');
    await sees(/› next one\n[^]*I read 1 lines\.[^]*› and half of/);
    enter(' a line');
    await expect.poll(() => messages().at(-1), { timeout: 60_000 }).toBe('and half of a line');
    expect(messages().at(-2)).toBe('next one');
  });

  test.skipIf(!existsSync('/proc'))(
    'Ctrl-C ends a statement that runs, also in the warehouse; the next question works',
    async () => {
      tmux('clear-history', '-t', 'ktx');
      enter('And an endless one?');
      await sees(/Allow it\? [^\n]*$/m);
      await expect.poll(() => screen().trimEnd(), { timeout: 60_000 }).toMatch(/\[n\]o:$/);
      enter('o');
      await expect.poll(() => busyReaders(project.dir), { timeout: 60_000 }).toHaveLength(1);
      type('C-c');
      await sees(/stopping[^]*ended: interrupted[^]*›$/m);
      await expect.poll(() => busyReaders(project.dir), { timeout: 60_000 }).toEqual([]);
      enter('And the wide one again?');
      await sees(/interrupted[^]*Allow it\?[^]*\[n\]o:/);
      enter('o');
      await sees(/interrupted[^]*Here \[q2\][^]*›$/m);
    },
  );

  test('Ctrl-C at a permission stops the turn, and the next line is a message', async () => {
    tmux('clear-history', '-t', 'ktx');
    enter('Please refuse.');
    await sees(/Allow it\? [^\n]*$/m);
    await expect.poll(() => screen().trimEnd(), { timeout: 60_000 }).toMatch(/\[n\]o:$/);
    type('C-c');
    await sees(/stopping[^]*ended: interrupted[^]*›$/m);
    const before = calls.length;
    enter('o');
    await expect.poll(() => calls.length, { timeout: 60_000 }).toBe(before + 1);
    expect(screen().match(/Allow it\?/g)?.length ?? 0).toBeLessThanOrEqual(3);
    await sees(/I read \d+ lines\.[^]*›$/m);
    enter('/quit');
    await sees(/chat --resume[^]*ready>/);
  });
});
