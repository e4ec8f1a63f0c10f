import { describe, expect, onTestFinished, test } from 'vitest';
import { chooseChart, type ChartedRows } from '../../src/cli/chart/choose-chart.ts';
import { renderTextChart } from '../../src/cli/chart/text-chart.ts';
import type { Screen } from '../../src/cli/terminal/screen.ts';
import { textWidth } from '../../src/cli/terminal/text-width.ts';
import { openAskedProject } from '../support/asked-project.ts';
import { say } from '../support/model-script.ts';
import { ktx } from './run-cli.ts';

const screen = (width: number, unicode = true): Screen => ({
  format: 'table',
  interactive: true,
  live: true,
  unicode,
  width,
  noteWidth: undefined,
  style: (_, text) => text,
  link: (_, text) => text,
});

const months = ['2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01', '2024-05-01'];
const monthly: ChartedRows = {
  columns: [
    { name: 'month', type: 'date' },
    { name: 'revenue', type: 'decimal' },
  ],
  rows: months.map((month, index) => [month, [10, 30, null, '20.5', 40][index]]),
};
const ranking: ChartedRows = {
  columns: [
    { name: 'region', type: 'string' },
    { name: 'revenue', type: 'integer' },
  ],
  rows: [
    ['Nord', 1200],
    ['日本', 600],
    ['Süd\u001b[2J', 3],
    [null, 0],
  ],
};
const withRows = ({ columns }: ChartedRows, rows: ChartedRows['rows']) => ({ columns, rows });

function drawn(rows: ChartedRows, width: number, unicode = true): string {
  const choice = chooseChart(rows);
  if (choice.kind === 'none') throw new Error(choice.reason);
  return choice.charts.map((chart) => renderTextChart(chart, screen(width, unicode))).join('\n\n');
}

describe('whether rows make a chart', () => {
  test.for([
    ['a series of five months', monthly, 'line', true],
    ['three months', withRows(monthly, monthly.rows.slice(0, 3)), 'line', false],
    ['a ranking', ranking, 'bars', true],
    [
      'categories in no order',
      withRows(ranking, ranking.rows.toReversed().with(0, ['x', 900])),
      'bars',
      false,
    ],
    ['two categories', withRows(ranking, ranking.rows.slice(0, 2)), 'bars', false],
    [
      'years that a query groups by',
      {
        columns: [
          { name: 'orders.created_at.year', type: 'integer', kind: 'dimension' },
          { name: 'n', type: 'integer' },
        ],
        rows: [2021, 2022, 2023, 2024].map((year) => [year, year - 2000]),
      },
      'line',
      true,
    ],
  ] as const)('%s: %s', ([, rows, kind, isNatural]) => {
    const choice = chooseChart(rows);
    expect(choice).toMatchObject({ kind: 'charts', isNatural, charts: [{ kind }] });
  });

  test.for([
    ['one row', withRows(ranking, ranking.rows.slice(0, 1)), /one row/],
    ['no numbers', { columns: [{ name: 'a', type: 'string' }], rows: [['x'], ['y']] }, /numbers/],
    ['labels twice', withRows(ranking, [...ranking.rows, ['Nord', 1]]), /different labels/],
    [
      'too many labels',
      withRows(
        ranking,
        Array.from({ length: 31 }, (_, n) => [`c${n}`, n]),
      ),
      /at most 30/,
    ],
    ['a period twice', withRows(monthly, [...monthly.rows, ['2024-01-01', 1]]), /one value/],
  ] as const)('%s: none', ([, rows, reason]) => {
    expect(chooseChart(rows)).toMatchObject({
      kind: 'none',
      reason: expect.stringMatching(reason),
    });
  });
});

describe('a chart in characters', () => {
  test('bars fit the width, aligned behind wide characters; nothing drives the terminal', () => {
    expect(drawn(ranking, 40)).toBe(
      [
        'revenue',
        'Nord          1,200  ███████████████████',
        '日本            600  █████████▌',
        'Süd\\u001b[2J      3  ▏',
        'NULL              0',
      ].join('\n'),
    );
  });

  test('bars of losses stand on the other side of zero', () => {
    const rows = withRows(ranking, [
      ['a', 10],
      ['b', -10],
    ]);
    expect(drawn(rows, 30)).toBe(
      ['revenue', 'a   10             ███████████', 'b  -10  ███████████'].join('\n'),
    );
  });

  test('in ASCII where the terminal is not UTF-8', () => {
    for (const rows of [withRows(ranking, [ranking.rows[0] ?? [], ['S', 600]]), monthly])
      expect(drawn(rows, 40, false)).toMatch(/^[ -~\n]+$/);
  });

  test('a line has its range, its periods and a gap where there is no value', () => {
    const lines = drawn(monthly, 60, false).split('\n');
    expect(lines[0]).toBe('revenue');
    expect(lines[1]).toMatch(/^40 \| +\*$/);
    expect(lines.at(-2)).toMatch(/^ 0 \|/);
    expect(lines.at(-1)).toMatch(/^ +2024-01-01 +2024-05-01$/);
    const middle = lines.slice(1, -1).map((line) => line.slice(4 + 7, 4 + 18));
    expect(middle.join('').trim()).toBe('');
  });

  test('a line whose axis does not begin at 0 says so; one of losses and gains crosses it', () => {
    const of = (values: readonly number[]) =>
      drawn(
        withRows(
          monthly,
          months.map((month, index) => [month, values[index] ?? 0]),
        ),
        60,
      );
    const first = (values: readonly number[]) => of(values).split('\n')[0];
    expect(first([90, 95, 92, 99, 100])).toBe('revenue (the axis begins at 90, not at 0)');
    expect(first([-90, -95, -92, -99, -100])).toBe('revenue (the axis ends at -90, not at 0)');
    expect(first([-5, 3, 4, 5, 6])).toBe('revenue');
  });

  test('each category has a line of its own, on one scale', () => {
    const { columns } = monthly;
    const rows = ['EU', 'US'].flatMap((region, index) =>
      months.map((month, at) => [month, region, at * 10 + index * 50]),
    );
    const [first, second] = columns;
    const chart = drawn(
      {
        columns: [
          first ?? { name: '' },
          { name: 'region', type: 'string' },
          second ?? { name: '' },
        ],
        rows,
      },
      60,
    );
    expect(chart.match(/^ *90 ┤/gm)).toHaveLength(2);
    expect(chart).toMatch(/^EU$[^]*^US$/m);
  });

  test('no line is wider than the terminal', () => {
    const many = withRows(
      monthly,
      Array.from({ length: 400 }, (_, n) => [2000 + n, n * 1e6]),
    );
    for (const rows of [ranking, monthly, many])
      for (const width of [20, 40, 80, 120])
        for (const line of drawn(rows, width).split('\n'))
          expect(textWidth(line)).toBeLessThanOrEqual(width);
  });
});

test('ktx sl query --chart draws in place of the table, or says why not', async () => {
  const project = await openAskedProject();
  onTestFinished(() => project.close());
  project.playing(() => say('Not asked.'));
  const cwd = project.dir;
  const query = ['sl', 'query', '-m', 'orders.revenue', '-d', 'orders.status'];
  const bars = await ktx([...query, '--chart'], { cwd, env: { COLUMNS: '60' }, terminal: true });
  expect(bars.stdout).toMatch(/orders\.revenue.*\n\w+ +[\d,.]+ +█/);
  expect(bars.stdout).not.toContain('orders.status');
  const none = await ktx([...query.slice(0, 4), '--chart'], { cwd });
  expect(none.stderr).toContain('No chart: one row has nothing to compare.');
  expect(none.stdout).toMatch(/\d+/);
  const csv = await ktx([...query, '--chart', '--format', 'csv'], { cwd });
  expect(csv.stdout).toMatch(/^orders\.status,orders\.revenue\n/);
});
