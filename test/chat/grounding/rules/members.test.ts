import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';

const regions = rowsOf('q1', 'region revenue', ['North', 1200], ['South', 1300], ['East', 900]);
const open = rowsOf('q1', 'region revenue', ['North', 1200], ['South', 1300], [null, 900]);
const dated = rowsOf('q1', 'month revenue', ['2025-04-01', 1200], ['2025-05-01', 1300]);

const membersOf = (text: string, evidence = regions, question = '') =>
  groundAnswer({ text, question, evidence: [evidence] }).filter(({ kind }) => kind === 'member');
const unknownIn = (...input: Parameters<typeof membersOf>) =>
  membersOf(...input)
    .filter(({ status }) => status === 'ungrounded')
    .map(({ text }) => text);

test('a name that rows have is bound to its cell, each time it stands there', () => {
  expect(membersOf('**South** leads, before North; south again.')).toMatchObject([
    { text: 'South', span: [2, 7], evidence: [{ query: 'q1', row: 1, column: 'region' }] },
    { text: 'North', span: [24, 29], evidence: [{ row: 0 }] },
    { text: 'south', status: 'cell' },
  ]);
  expect(membersOf('In April 2025 it was 1,200.', dated)).toEqual([]);
});

const row = (name: string, value: number) => `| ${name} | ${value} |`;
const table = (...lines: readonly string[]) => ['| Region | R |', '|---|---|', ...lines].join('\n');

test.for([
  ['an item', '- **North**: 1,200\n- **South**: 1,300\n- **West**: 900', ['West']],
  ['numbered items', '1. North – 1,200\n2. West – 900\n3. South – 1,300', ['West']],
  ['a row of a table', table(row('North', 1200), row('South', 1300), row('West', 900)), ['West']],
  ['a sum', table(row('North', 1200), row('South', 1300), row('Total', 2500)), []],
  ['a result', table(row('North', 1200), row('South', 1300), row('Lead of South', 100)), []],
  ['the others', '- North: 1,200\n- South: 1,300\n- Others: 900', []],
  ['a list that names no rows', '- Best: North 1,200\n- Next: South 1,300\n- Gap: 100', []],
  ['items without numbers', '- North: large\n- South: large\n- West: closed', []],
  ['one known name', '- North: 1,200\n- West: 900', []],
] as const)('of entries, %s', ([, text, unknown]) => {
  expect(unknownIn(text)).toEqual(unknown);
});

test('a name of the question is none of the rows, and one without a name has any', () => {
  const items = '- North: 1,200\n- South: 1,300\n- West: 900';
  expect(unknownIn(items, regions, 'How do North, South and West do?')).toEqual([]);
  expect(unknownIn(items.replace('West', 'Unknown'), open)).toEqual([]);
});
