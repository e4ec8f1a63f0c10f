import { expect, test } from 'vitest';
import { openAnswerText } from '../../src/cli/chat/answer-text.ts';
import type { Screen } from '../../src/cli/terminal/screen.ts';

const screen = (width: number | undefined): Screen => ({
  format: 'table',
  interactive: true,
  live: true,
  width,
  style: (_, text) => text,
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
  'Revenue went up, and here it is by region:',
  '',
  '| region | revenue |',
  '| --- | ---: |',
  '| Nord | 1,234.50 |',
  '| 日本 \\| 東京 | 9 |',
  '',
  'As code, which stays as it is:',
  '```sql',
  'SELECT one_very_long_column, another_very_long_column FROM a_table',
  '```',
  '| no table',
  'The end.',
].join('\n');

test('lines are broken between words, tables aligned, code and what is no table left as they came', () => {
  expect(shown(answer, { width: 30 })).toBe(
    [
      'Revenue went up, and here it',
      'is by region:',
      '',
      'region        revenue',
      'Nord         1,234.50',
      '日本 | 東京         9',
      '',
      'As code, which stays as it is:',
      '```sql',
      'SELECT one_very_long_column, another_very_long_column FROM a_table',
      '```',
      '| no table',
      'The end.',
    ].join('\n'),
  );
});

test('in whatever pieces it comes, and where it ends in a table', () => {
  for (const text of [answer, answer.slice(0, answer.indexOf('9 |') + 3)]) {
    const whole = shown(text, { width: 30 });
    for (const pieces of [1, 2, 3, 7, 20]) expect(shown(text, { width: 30, pieces })).toBe(whole);
  }
});

test('without a width nothing is broken, and nothing drives the terminal', () => {
  expect(shown('a '.repeat(200), {})).toBe('a '.repeat(200));
  expect(shown('|\u001b[2J|\n|--|\n|\u0007|', {})).not.toMatch(/\u001b|\u0007/); // oxlint-disable-line no-control-regex -- what it looks for
});
