import { expect, test } from 'vitest';
import { openAnswerText } from '../../src/cli/chat/answer-text.ts';
import { textWidth } from '../../src/cli/terminal/text-width.ts';
import type { Screen } from '../../src/cli/terminal/screen.ts';

const screen = (width: number | undefined): Screen => ({
  format: 'table',
  interactive: true,
  live: true,
  unicode: true,
  width,
  noteWidth: undefined,
  style: (_, text) => text,
  link: (_, text) => text,
});

/** What stands on the screen after the text came in pieces of so many characters. */
function shown(
  text: string,
  { width, pieces = text.length }: { readonly width?: number; readonly pieces?: number },
): string {
  let written = '';
  const answer = openAnswerText((more) => (written += more), screen(width));
  for (let at = 0; at < text.length; at += pieces) answer.push(text.slice(at, at + pieces));
  answer.end();
  return written;
}

const answer = [
  '## Revenue',
  '',
  'Revenue of **EMEA** went *up* 3 * 4 times, see `orders.net_revenue` and',
  '[the page](https://example.com/a):',
  '',
  '- **Nord** is first,',
  '  by far',
  '- Süd is not',
  '',
  '1. one',
  '2. two',
  '',
  '| region | revenue | since |',
  '| --- | --- | --- |',
  '| **Nord** | 1,234.50 | 2024-07-01 |',
  '| 日本 \\| 東京 | 9 | 2024-08-01 |',
  '| 🍏 fruit | -3 | 2024-09-01 |',
  '',
  '> A quoted line',
  '',
  '```sql',
  'SELECT one_very_long_column, another_very_long_column FROM a_table',
  '',
  'WHERE **x**',
  '```',
  '| no table',
  'The end.',
].join('\n');

const rendered = [
  'Revenue',
  '',
  'Revenue of EMEA went up 3 * 4 times, see',
  'orders.net_revenue and the page',
  '(https://example.com/a):',
  '',
  '• Nord is first, by far',
  '• Süd is not',
  '',
  '1. one',
  '2. two',
  '',
  'region        revenue  since',
  'Nord         1,234.50  2024-07-01',
  '日本 | 東京         9  2024-08-01',
  '🍏 fruit           -3  2024-09-01',
  '',
  '│ A quoted line',
  '',
  '  SELECT one_very_long_column, another_very_long_column FROM a_table',
  '',
  '  WHERE **x**',
  '',
  '| no table The end.',
  '',
].join('\n');

test('no Markdown is left: lines are broken between words, tables aligned, code stays as it is', () => {
  expect(shown(answer, { width: 40 })).toBe(rendered);
});

test('in whatever pieces it comes, and where it ends in a table', () => {
  for (const text of [answer, answer.slice(0, answer.indexOf('-3 |') + 3)]) {
    const whole = shown(text, { width: 40 });
    for (const pieces of [1, 2, 3, 7, 20]) expect(shown(text, { width: 40, pieces })).toBe(whole);
  }
});

test('a wide table stands vertically, and no date or number is cut', () => {
  const wide = [
    '| customer | first order | last order | revenue | segment |',
    '|---|---|---|---|---|',
    '| A very long name of a customer | 2024-07-01 10:00 | 2024-12-31 23:59 | 1,767,173.25 | Enterprise |',
  ].join('\n');
  for (const width of [30, 40, 60, 80]) {
    const lines = shown(wide, { width }).trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    for (const value of ['2024-07-01 10:00', '2024-12-31 23:59', '1,767,173.25'])
      expect(lines.join('\n')).toContain(value);
  }
  expect(shown(wide, { width: 40 })).toMatch(/^row 1\ncustomer +A very/);
});

test.for([
  ['キャンペーン', 12],
  ['ｱｲｳ', 3],
  ['〒「全角」Ａ', 12],
  ['한국어', 6],
  ['🍏👩‍👩‍👧🇩🇪', 6],
  ['e\u0301\u200b', 1],
] as const)('%s takes %i columns', ([text, columns]) => {
  expect(textWidth(text)).toBe(columns);
});

test('a word that is longer than the line, or one without spaces, is broken inside', () => {
  expect(shown('日本語の長い文章です', { width: 8 })).toBe('日本語の\n長い文章\nです\n');
});

test('without a width nothing is broken, and nothing drives the terminal', () => {
  expect(shown('a '.repeat(200), {})).toBe(`${'a '.repeat(200).trimEnd()}\n`);
  expect(shown('|\u001b[2J|\n|--|\n|\u0007|\n\n`\u001b[2J`\n\n    \u009b2J', {})).not.toMatch(
    /\u001b|\u0007|\u009b/, // oxlint-disable-line no-control-regex -- what it looks for
  );
});

test('an address opens itself, whole on each line that has a part of it, and no text leads elsewhere', () => {
  let written = '';
  const address = 'https://example.com/a-long-one';
  const linked = (url: string, text: string) => `<${url}|${text}>`;
  const narrow = { ...screen(20), link: linked };
  const shownAnswer = openAnswerText((more) => (written += more), narrow);
  shownAnswer.push(`[https://bank.example](${address}) **b**`);
  shownAnswer.end();
  expect(written).toBe(
    [
      'https://bank.example',
      `(<${address}|https://example.com>`,
      `<${address}|/a-long-one>) b`,
      '',
    ].join('\n'),
  );
});
