import { describe, expect, test } from 'vitest';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { UserError } from '../../src/lib/error.ts';
import { renderCsv } from '../../src/cli/terminal/csv.ts';
import { renderError } from '../../src/cli/terminal/failure.ts';
import { wrapQuestion } from '../../src/cli/terminal/prompt.ts';
import { detectScreen, type CliHost } from '../../src/cli/terminal/screen.ts';
import { renderTable } from '../../src/cli/terminal/table.ts';
import {
  escapeControls,
  textWidth,
  truncateText,
  wrapNote,
  wrapText,
} from '../../src/cli/terminal/text-width.ts';
import { ktx, shopProject } from './run-cli.ts';

function hostOf(env: Record<string, string>, isTTY = true): CliHost {
  const stream = () => Object.assign(new PassThrough(), { isTTY, columns: 40 });
  return {
    stdin: stream(),
    stdout: stream(),
    stderr: stream(),
    env,
    cwd: '/',
    signal: new AbortController().signal,
  };
}
const screen = (env: Record<string, string> = {}, isTTY = true) =>
  detectScreen(hostOf(env, isTTY), 'table', true);
const isColored = (env: Record<string, string>, isTTY = true) =>
  screen(env, isTTY).style('red', 'x') !== 'x';

describe('what a terminal may get', () => {
  test('an error that quotes a table or a server cannot drive it', () => {
    const text = renderError(
      new UserError('some_code', 'two\nlines of evil\u001b[2J\u0007'),
      screen({ NO_COLOR: '1' }),
    );
    expect(text).toBe('error: two\nlines of evil\\u001b[2J\\u0007 [some_code]');
  });

  test('notes and errors are broken between words, what people copy is not', () => {
    const narrow = screen({});
    const note = `a note that is longer than forty columns is broken here\n  ktx sl query -m orders.count -d orders.status --json\nktx sl query -m orders.count -d orders.status\n  assumed  a thing that is told in an indented line`;
    expect(wrapNote(note, narrow.noteWidth)).toBe(
      'a note that is longer than forty columns\nis broken here\n  ktx sl query -m orders.count -d orders.status --json\nktx sl query -m orders.count -d orders.status\n  assumed  a thing that is told in an\n  indented line',
    );
    const error = new UserError('a_code', 'This is a message of more than forty columns', {
      hint: 'write what is right, and try it once more',
    });
    expect(stripVTControlCharacters(renderError(error, narrow)).split('\n')).toEqual([
      'error: This is a message of more than',
      'forty columns [a_code]',
      '  next: write what is right, and try it',
      '  once more',
    ]);
    expect(renderError(error, screen({ NO_COLOR: '1' }, false)).split('\n')).toHaveLength(2);
  });

  test('a command in a sentence is not broken', () => {
    const hint =
      'or keep it: ktx sl query -m orders.count --where "status = 1", then ktx review list shows it';
    expect(wrapText(hint, 40)).toEqual([
      'or keep it:',
      'ktx sl query -m orders.count --where "status = 1",',
      'then ktx review list shows it',
    ]);
    expect(wrapText('what ktx is told of in the morning', 12)).toEqual([
      'what',
      'ktx is told',
      'of in the',
      'morning',
    ]);
  });

  test('a question of several lines stands in its frame', () => {
    expect(wrapQuestion('a question that is longer than forty columns is', { width: 40 })).toBe(
      'a question that is longer than forty\n│  columns is',
    );
    expect(wrapQuestion('a short one', { width: undefined })).toBe('a short one');
  });

  test('colour for a person, unless it is refused', () => {
    expect(isColored({})).toBe(true);
    const plain: Record<string, string>[] = [
      { NO_COLOR: '1' },
      { TERM: 'dumb' },
      { CLAUDECODE: '1' },
      { CURSOR_AGENT: '1' },
      { CODEX_SANDBOX: 'seatbelt' },
    ];
    for (const env of plain)
      expect({ env, colored: isColored(env) }).toEqual({ env, colored: false });
    expect(isColored({}, false)).toBe(false);
    expect(isColored({ FORCE_COLOR: '1' }, false)).toBe(true);
    expect(isColored({ FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false);
  });

  test('links where the terminal is known to show them, to addresses without control characters', () => {
    const link = (env: Record<string, string>, address = 'https://a.b/c', isTTY = true) =>
      screen(env, isTTY).link(address, 'x');
    const shown = '\u001b]8;;https://a.b/c\u001b\\x\u001b]8;;\u001b\\';
    const known: Record<string, string>[] = [
      { TERM_PROGRAM: 'iTerm.app' },
      { TERM: 'xterm-kitty' },
      { VTE_VERSION: '7006' },
      { WT_SESSION: 'a' },
      { FORCE_HYPERLINK: '1' },
    ];
    for (const env of known) expect(link(env)).toBe(shown);
    const unknown: Record<string, string>[] = [
      {},
      { TERM: 'xterm-256color' },
      { VTE_VERSION: '3405' },
      { TERM_PROGRAM: 'iTerm.app', TMUX: '/tmp/x' },
      { TERM_PROGRAM: 'iTerm.app', FORCE_HYPERLINK: '0' },
      { TERM_PROGRAM: 'iTerm.app', CLAUDECODE: '1' },
    ];
    for (const env of unknown) expect({ env, link: link(env) }).toEqual({ env, link: 'x' });
    const iterm = { TERM_PROGRAM: 'iTerm.app' };
    expect(link(iterm, 'https://a.b/c', false)).toBe('x');
    for (const address of ['javascript:alert(1)', 'not an address', 'ssh://a.b'])
      expect(link(iterm, address)).toBe('x');
    const hostile = link(iterm, 'https://a.b/\u001b\\\u0007evil');
    expect(hostile).toContain(';;https://a.b/%1B');
    expect(hostile.slice(4)).not.toContain('\u0007');
    expect(link({ ...iterm, SSH_CONNECTION: 'a' }, 'file:///a')).toBe('x');
    expect(link(iterm, 'file:///a')).not.toBe('x');
  });

  test('no prompt and no redrawn line for an agent or a pipe', () => {
    expect(screen()).toMatchObject({ interactive: true, live: true, width: 40 });
    expect(screen({ COLUMNS: '100' }).width).toBe(100);
    expect(screen({ CLAUDECODE: '1' })).toMatchObject({
      interactive: false,
      live: false,
      width: undefined,
    });
    expect(screen({}, false)).toMatchObject({ interactive: false, live: false, width: undefined });
  });
});

describe('rows', () => {
  const table = {
    columns: [{ name: 'city' }, { name: 'n', type: 'integer' }, { name: 'note' }],
    rows: [
      ['東京', 1200, 'a "quoted", text'],
      ['Zürich', 7, null],
      ['👩‍👩‍👧 café', null, ''],
      ['two\nlines', -3, '\u001b[31mred'],
    ],
  };

  test('align by what they take in a terminal, with control characters made visible', () => {
    expect(renderTable(table, screen({}, false))).toMatchInlineSnapshot(`
      "city           n  note
      東京        1200  a "quoted", text
      Zürich         7  NULL
      👩‍👩‍👧 café     NULL
      two\\nlines    -3  \\u001b[31mred"
    `);
  });

  test('are cut to the width of a terminal, widest columns first', () => {
    const lines = renderTable(table, screen({ NO_COLOR: '1', COLUMNS: '24' })).split('\n');
    expect(lines.map(textWidth).filter((width) => width > 24)).toEqual([]);
    expect(lines[1]).toContain('…');
  });

  test('of too many columns for a terminal become records', () => {
    const columns = ['id', ...Array.from({ length: 5 }, (_, index) => `column ${index}`)].map(
      (name) => ({ name }),
    );
    const rows = [
      [1, 'a', 'b', null, 'a text that is longer than the terminal', 'two\nlines'],
      [2, 'a', 'b', 'c', 'd', 'e'],
    ];
    const wide = renderTable({ columns, rows }, screen({ NO_COLOR: '1' }));
    expect(wide.split('\n\n')[0]).toMatchInlineSnapshot(`
      "row 1
      id        1
      column 0  a
      column 1  b
      column 2  NULL
      column 3  a text that is longer than th…
      column 4  two\\nlines"
    `);
    expect(renderTable({ columns, rows }, screen({}, false)).split('\n')).toHaveLength(3);
  });

  test('as CSV tell NULL from an empty text', () => {
    expect(renderCsv({ ...table, rows: table.rows.slice(0, 3) })).toMatchInlineSnapshot(`
      "city,n,note
      東京,1200,"a ""quoted"", text"
      Zürich,7,
      👩‍👩‍👧 café,,""
      "
    `);
  });
});

test('width and cut count columns, not code units', () => {
  expect(['abc', 'é', 'e\u0301', '漢字', '👍🏽', '\u200b'].map(textWidth)).toEqual([
    3, 1, 1, 4, 2, 0,
  ]);
  expect([truncateText('漢字漢字', 5), truncateText('abc', 3), truncateText('abcdef', 3)]).toEqual([
    '漢字…',
    'abc',
    'ab…',
  ]);
  expect(escapeControls('a\u202eb\u0007')).toBe('a\\u202eb\\u0007');
});

test('a person gets colour and a next step, a pipe gets neither escape nor cut', async () => {
  const cwd = await shopProject();
  const terminal = await ktx(['connection', 'list'], { cwd, terminal: true });
  expect(terminal.stdout).toContain('\u001b[1m');
  const piped = await ktx(['connection', 'list'], { cwd });
  expect(piped.stdout).toMatchInlineSnapshot(`
    "connection  driver  at
    warehouse   sqlite  shop.db
    "
  `);
  const quiet = await ktx(['sql', 'SELECT 1 AS one', '--quiet'], { cwd });
  expect(quiet).toEqual({ code: 0, stdout: 'one\n  1\n', stderr: '' });
});
