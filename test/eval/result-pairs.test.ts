import { describe, expect, test } from 'vitest';
import { questionSetSchema } from '../../src/eval/cases/question-set-schema.ts';
import type { ResultTable } from '../../src/eval/grade/rows/result-table.ts';
import { rowDifference } from '../../src/eval/grade/rows/row-difference.ts';

/** The first line has the names, `name:type`; the others the rows, as JSON. */
function table(columns: string, ...rows: readonly (readonly unknown[])[]): ResultTable {
  return {
    columns: columns.split(' ').map((column) => {
      const [name = '', type] = column.split(':');
      return { name, type };
    }),
    rows,
  };
}

function ruleOf(match: object) {
  const result = { golden_sql: 'SELECT 1', match };
  const parsed = questionSetSchema.parse({
    cases: [{ id: 'a', question: 'Q', expect: { result } }],
  });
  const rule = parsed.cases[0]?.expect?.result?.match;
  if (rule === undefined) throw new Error('no rule');
  return rule;
}

interface Pair {
  readonly golden: ResultTable;
  readonly answer: ResultTable;
  /** What a person who declared the rule would say. */
  readonly right: boolean;
  readonly match?: object;
}

const byRegion = table('region total', ['EU', 1767.173], ['US', 927.742]);
const shares = table('region share', ['EU', 0.6558], ['US', 0.3442]);
const byMonth = table('month:date total', ['2025-01-01', 10], ['2025-02-01', 20]);
const wide = table('region paid open', ['EU', 5, 2], ['US', 7, null]);
const long = table('region status n', ['EU', 'paid', 5], ['EU', 'open', 2], ['US', 'paid', 7]);
const best = table('name total', ['Ann', 9]);
const topThree = table('name total', ['Ann', 9], ['Bob', 7], ['Cid', 5]);

const pairs: Readonly<Record<string, Pair>> = {
  'two columns swapped under equal names': {
    golden: table('paid refunded', [5, 2], [7, 1]),
    answer: table('paid refunded', [2, 5], [1, 7]),
    right: false,
  },
  'two columns swapped with their names': {
    golden: table('paid refunded', [5, 2], [7, 1]),
    answer: table('Refunded Paid', [2, 5], [1, 7]),
    right: true,
  },
  'names in another order beside one more': {
    golden: table('paid refunded', [5, 2]),
    answer: table('id refunded paid', [1, 2, 5]),
    right: true,
  },
  'four counts where one was asked, if more columns are refused': {
    golden: table('n', [4610]),
    answer: table('a b c d', [1, 2, 3, 4610]),
    right: false,
    match: { extra_columns: 'refuse' },
  },
  'true is not 1': {
    golden: table('is_paid', [true], [false]),
    answer: table('is_paid', [1], [0]),
    right: false,
  },
  'true is 1 where flags are allowed': {
    golden: table('is_paid', [true], [false]),
    answer: table('is_paid', [1], [0]),
    right: true,
    match: { allow: ['flags'] },
  },
  'yes and no are flags': {
    golden: table('is_paid', [true], [false], [null]),
    answer: table('paid', ['Yes'], ['no'], [null]),
    right: true,
    match: { allow: ['flags'] },
  },
  'a flag turned round': {
    golden: table('is_paid', [true], [false], [false]),
    answer: table('is_paid', [0], [1], [1]),
    right: false,
    match: { allow: ['flags'] },
  },
  'a count is no flag': {
    golden: table('n', [2]),
    answer: table('n', [true]),
    right: false,
    match: { allow: ['flags'] },
  },
  'a rounded average without the rule': {
    golden: byRegion,
    answer: table('region total', ['EU', 1767.17], ['US', 927.74]),
    right: false,
  },
  'a rounded average': {
    golden: byRegion,
    answer: table('region total', ['EU', 1767.17], ['US', 927.74]),
    right: true,
    match: { allow: ['rounded'] },
  },
  'rounded to whole numbers': {
    golden: byRegion,
    answer: table('region total', ['EU', 1767], ['US', 928]),
    right: true,
    match: { allow: ['rounded'] },
  },
  'cut instead of rounded': {
    golden: byRegion,
    answer: table('region total', ['EU', 1767], ['US', 927]),
    right: false,
    match: { allow: ['rounded'] },
  },
  'rounded to one digit says too little': {
    golden: table('rate', [3.4]),
    answer: table('rate', [3]),
    right: false,
    match: { allow: ['rounded'] },
  },
  'zero is no rounding': {
    golden: table('rate', [0.4]),
    answer: table('rate', [0]),
    right: false,
    match: { allow: ['rounded'] },
  },
  'rounded thousands are another number': {
    golden: table('total', [1_767_173]),
    answer: table('total', [1_767_000]),
    right: false,
    match: { allow: ['rounded'] },
  },
  'an id is not rounded': {
    golden: table('id', [1001]),
    answer: table('id', [1000.6]),
    right: false,
    match: { allow: ['rounded'] },
  },
  'rounded in the wrong row': {
    golden: byRegion,
    answer: table('region total', ['US', 1767.17], ['EU', 927.74]),
    right: false,
    match: { allow: ['rounded'] },
  },
  'a share as percent without the rule': {
    golden: shares,
    answer: table('region share', ['EU', 65.58], ['US', 34.42]),
    right: false,
  },
  'a share as percent': {
    golden: shares,
    answer: table('region share', ['EU', 65.58], ['US', 34.42]),
    right: true,
    match: { allow: ['percent'] },
  },
  'a share as text with a sign, rounded': {
    golden: shares,
    answer: table('region pct', ['EU', '66 %'], ['US', '34 %']),
    right: true,
    match: { allow: ['percent'] },
  },
  'a percentage of another share': {
    golden: shares,
    answer: table('region share', ['EU', 56.58], ['US', 43.42]),
    right: false,
    match: { allow: ['percent'] },
  },
  'a share a hundred times too small': {
    golden: shares,
    answer: table('region share', ['EU', 0.006558], ['US', 0.003442]),
    right: false,
    match: { allow: ['percent'] },
  },
  'a count is no percentage': {
    golden: table('n', [12]),
    answer: table('n', [1200]),
    right: false,
    match: { allow: ['percent'] },
  },
  'decimals as text, rounded to whole numbers': {
    golden: table('region total:decimal', ['EU', '1767.173'], ['US', '927.742']),
    answer: table('region total:decimal', ['EU', '1767'], ['US', '928']),
    right: true,
    match: { allow: ['rounded'] },
  },
  'months as text without the rule': {
    golden: byMonth,
    answer: table('month total', ['2025-01', 10], ['2025-02', 20]),
    right: false,
  },
  'months as text': {
    golden: byMonth,
    answer: table('month total', ['2025-01', 10], ['2025-02', 20]),
    right: true,
    match: { allow: ['dates'] },
  },
  'the month after': {
    golden: byMonth,
    answer: table('month total', ['2025-02', 10], ['2025-03', 20]),
    right: false,
    match: { allow: ['dates'] },
  },
  'a year as a number': {
    golden: table('year:date total', ['2024-01-01', 10], ['2025-01-01', 20]),
    answer: table('year total', [2024, 10], [2025, 20]),
    right: true,
    match: { allow: ['dates'] },
  },
  'quarters as text': {
    golden: table('quarter:date total', ['2024-04-01', 10], ['2024-07-01', 20]),
    answer: table('quarter total', ['2024-Q2', 10], ['2024-Q3', 20]),
    right: true,
    match: { allow: ['dates'] },
  },
  'a day is not its month': {
    golden: table('day:date total', ['2024-04-02', 10]),
    answer: table('day total', ['2024-04', 10]),
    right: false,
    match: { allow: ['dates'] },
  },
  'a pivot without the rule': { golden: long, answer: wide, right: false },
  'a pivot': { golden: long, answer: wide, right: true, match: { allow: ['pivot'] } },
  'rows for a golden pivot': {
    golden: wide,
    answer: long,
    right: true,
    match: { allow: ['pivot'] },
  },
  'a pivot with two columns swapped': {
    golden: long,
    answer: table('region open paid', ['EU', 5, 2], ['US', 7, null]),
    right: false,
    match: { allow: ['pivot'] },
  },
  'a pivot with a value too many': {
    golden: long,
    answer: table('region paid open', ['EU', 5, 2], ['US', 7, 3]),
    right: false,
    match: { allow: ['pivot'] },
  },
  'a pivot of rounded months': {
    golden: table(
      'month:date status:string n',
      ['2025-01-01', 'paid', 5.25],
      ['2025-01-01', 'open', 2.13],
    ),
    answer: table('month Paid Open', ['2025-01', 5.3, 2.1]),
    right: true,
    match: { allow: ['pivot', 'dates', 'rounded'] },
  },
  'the best of three without the rule': { golden: best, answer: topThree, right: false },
  'the best of three': {
    golden: best,
    answer: topThree,
    right: true,
    match: { extra_rows: 'after' },
  },
  'the best last': {
    golden: best,
    answer: table('name total', ['Bob', 7], ['Ann', 9]),
    right: false,
    match: { extra_rows: 'after' },
  },
  'the golden rows among others': {
    golden: table('name total', ['Ann', 9], ['Cid', 5]),
    answer: topThree,
    right: true,
    match: { extra_rows: 'allow' },
  },
  'the golden rows among others, in their order': {
    golden: table('name total', ['Cid', 5], ['Ann', 9]),
    answer: topThree,
    right: false,
    match: { extra_rows: 'allow', order: 'keep' },
  },
  'one of the golden rows is missing among others': {
    golden: table('name total', ['Ann', 9], ['Dan', 4]),
    answer: topThree,
    right: false,
    match: { extra_rows: 'allow' },
  },
  'values of the golden rows, in the wrong rows among others': {
    golden: table('name total', ['Ann', 7]),
    answer: topThree,
    right: false,
    match: { extra_rows: 'allow' },
  },
  'a golden row twice, and once among others': {
    golden: table('name total', ['Ann', 9], ['Ann', 9]),
    answer: table('name total', ['Ann', 9], ['Bob', 9], ['Ann', 7]),
    right: false,
    match: { extra_rows: 'allow' },
  },
  'fewer rows than the golden ones': {
    golden: topThree,
    answer: best,
    right: false,
    match: { extra_rows: 'allow' },
  },
};

describe('the rows of an answer against golden rows', () => {
  test.each(Object.entries(pairs))('%s', (_, { golden, answer, right, match = {} }) => {
    const difference = rowDifference(answer, golden, ruleOf(match));
    expect(difference === undefined, difference).toBe(right);
  });

  test('are not looked for among too many others, and that is said', () => {
    const rows = Array.from({ length: 600 }, (_, row) => [row]);
    const rule = ruleOf({ extra_rows: 'allow' });
    expect(rowDifference(table('n', ...rows, [-1]), table('n', ...rows), rule)).toContain(
      'too many',
    );
  });

  test('are compared to the end, however many rows and equal columns there are', () => {
    const width = 40;
    const columns = Array.from({ length: width }, (_, index) => `c${index}`).join(' ');
    const names = Array.from({ length: width }, (_, index) => `x${index}`).join(' ');
    const rows = Array.from({ length: 3000 }, (_, row) =>
      Array.from({ length: width }, () => row % 7),
    );
    const rule = ruleOf({
      extra_rows: 'allow',
      allow: ['rounded', 'percent', 'dates', 'flags', 'pivot'],
    });
    expect(rowDifference(table(names, ...rows), table(columns, ...rows), rule)).toBeUndefined();
  });
});
