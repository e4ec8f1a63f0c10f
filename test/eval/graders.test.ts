import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { questionSetSchema } from '../../src/eval/cases/question-set-schema.ts';
import { gradeLimits } from '../../src/eval/grade/grade-limits.ts';
import { gradeTurn } from '../../src/eval/grade/grade-turn.ts';
import { gradeGrounding } from '../../src/eval/grade/grade-grounding.ts';
import { gradeRefusal } from '../../src/eval/grade/grade-refusal.ts';
import { gradeText } from '../../src/eval/grade/grade-text.ts';
import { gradeTools } from '../../src/eval/grade/grade-tools.ts';
import { evalExitCode, worstOutcome } from '../../src/eval/run/outcome.ts';
import type { ResultTable } from '../../src/eval/grade/rows/result-table.ts';
import { rowDifference } from '../../src/eval/grade/rows/row-difference.ts';
import type { TurnResult } from '../../src/llm/port/session.ts';
import type { QueryEvidence } from '../../src/llm/port/tool-call.ts';
import type { QueryResult } from '../../src/warehouse/warehouse.ts';
import { comparePairs } from '../../src/eval/report/compare-pairs.ts';
import { meanInterval, signTest, wilsonInterval } from '../../src/eval/report/statistics.ts';
import { summarizeCases } from '../../src/eval/report/summary.ts';

function expectation(wanted: object) {
  const parsed = questionSetSchema.parse({ cases: [{ id: 'a', question: 'Q', expect: wanted }] });
  return parsed.cases[0]?.expect ?? {};
}
function rule(match: object = {}) {
  const { result } = expectation({ result: { golden_sql: 'SELECT 1', match } });
  if (result === undefined) throw new Error('no rule');
  return result.match;
}
const rows = (columns: string, ...cells: unknown[][]): ResultTable => ({
  columns: columns.split(' ').map((name) => ({ name })),
  rows: cells,
});

describe('rows against golden rows', () => {
  const golden = rows('region revenue', ['EU', 10], ['US', 20], ['US', 20]);

  test.each([
    ['another order', rows('region revenue', ['US', 20], ['EU', 10], ['US', 20]), {}, true],
    [
      'other names and places of columns',
      rows('total r', [20, 'US'], [10, 'EU'], [20, 'US']),
      {},
      true,
    ],
    ['more columns', rows('n r total', [1, 'US', 20], [2, 'EU', 10], [3, 'US', 20]), {}, true],
    ['a row too few', rows('region revenue', ['EU', 10], ['US', 20]), {}, false],
    [
      'a row too many',
      rows('region revenue', ['EU', 10], ['US', 20], ['US', 20], ['US', 20]),
      {},
      false,
    ],
    [
      'a row of NULLs too many',
      rows('region revenue', ['EU', 10], ['US', 20], ['US', 20], [null, null]),
      {},
      false,
    ],
    [
      'a row doubled in place of another',
      rows('region revenue', ['EU', 10], ['EU', 10], ['US', 20]),
      {},
      false,
    ],
    [
      'the right values in the wrong rows',
      rows('region revenue', ['US', 10], ['US', 20], ['EU', 20]),
      {},
      false,
    ],
    ['a column missing', rows('revenue', [10], [20], [20]), {}, false],
    [
      'within the tolerance',
      rows('region revenue', ['EU', 10.004], ['US', 20], ['US', 20]),
      { numeric: { abs: 0.01 } },
      true,
    ],
    [
      'outside of it',
      rows('region revenue', ['EU', 10.02], ['US', 20], ['US', 20]),
      { numeric: { abs: 0.01 } },
      false,
    ],
    ['NULL is not 0', rows('region revenue', ['EU', null], ['US', 20], ['US', 20]), {}, false],
    [
      'by name, named otherwise',
      rows('r revenue', ['EU', 10], ['US', 20], ['US', 20]),
      { columns: 'by_name' },
      false,
    ],
    [
      'by name, in another case',
      rows('REVENUE Region', [10, 'EU'], [20, 'US'], [20, 'US']),
      { columns: 'by_name' },
      true,
    ],
    ['order kept', golden, { order: 'keep' }, true],
    [
      'order not kept',
      rows('region revenue', ['US', 20], ['EU', 10], ['US', 20]),
      { order: 'keep' },
      false,
    ],
  ] as const)('%s', (...[, got, match, isSame]) => {
    expect(rowDifference(got, golden, rule(match)) === undefined).toBe(isSame);
  });

  test('decimals as text, days as timestamps, and flags as 0 and 1 where that is allowed', () => {
    const want: ResultTable = {
      columns: [{ name: 'd', type: 'date' }, { name: 'x', type: 'decimal' }, { name: 'b' }],
      rows: [['2024-01-01', '123456789012.10', true]],
    };
    const got: ResultTable = {
      columns: want.columns,
      rows: [['2024-01-01T00:00:00', 123456789012.1, 1]],
    };
    expect(rowDifference(got, want, rule({ allow: ['flags'] }))).toBeUndefined();
    expect(rowDifference(got, want, rule())).toContain('no column b');
    // A code is no number: 007 is not 7, and ids beyond a double do not blur.
    expect(rowDifference(rows('code', [7]), rows('code', ['007']), rule())).toBeDefined();
    expect(
      rowDifference(rows('id', ['9007199254740993']), rows('id', ['9007199254740992']), rule()),
    ).toBeDefined();
    // Nor do those within: whole numbers are near each other only where the rule says so.
    expect(
      rowDifference(rows('id', [4_000_000_001]), rows('id', [4_000_000_003]), rule()),
    ).toBeDefined();
    expect(
      rowDifference(
        rows('id', [4_000_000_001]),
        rows('id', [4_000_000_003]),
        rule({ numeric: { rel: 1e-8, abs: 0 } }),
      ),
    ).toBeUndefined();
    expect(
      rowDifference(rows('sum', [4_000_000_000.0000005]), rows('sum', [4_000_000_000]), rule()),
    ).toBeUndefined();
  });

  test('many columns that hold the same: at once, whether they suffice or not', () => {
    const zeros = (width: number, last: unknown[] = []): ResultTable =>
      rows(
        [
          ...Array.from({ length: width }, (_, at) => `m${at}`),
          ...last.map((_, at) => `x${at}`),
        ].join(' '),
        [...Array.from({ length: width }, () => 0), ...last],
      );
    expect(rowDifference(zeros(20), zeros(20), rule())).toBeUndefined();
    expect(rowDifference(zeros(19, [1]), zeros(20), rule())).toBe(
      'no column with the values of m19',
    );
    const { columns, rows: cells } = zeros(20);
    const named = { columns: columns.map(({ name }) => ({ name: `g ${name}` })), rows: cells };
    expect(rowDifference(zeros(19, [1]), named, rule())).toMatch(
      /^fewer columns with the same values/,
    );
    // Each holds 0 to 5, in another row each: only one choice of columns gives the golden rows.
    const turned = (names: string, shifts: number[]): ResultTable =>
      rows(names, ...[0, 1, 2, 3, 4, 5].map((row) => shifts.map((shift) => (row + shift) % 6)));
    expect(
      rowDifference(
        turned('a b c d e f', [5, 4, 3, 2, 1, 0]),
        turned('u v w x y z', [0, 1, 2, 3, 4, 5]),
        rule(),
      ),
    ).toBeUndefined();
  });

  test('thousands of rows whose numbers are rounded, wherever their ids stand', () => {
    const exact = Array.from({ length: 3000 }, (_, id) => [
      10 + (id % 7) + ((id * 7919) % 101) / 1e5,
      id,
      `name ${id}`,
    ]);
    const rounded = exact
      .map(([value, ...rest]) => [Math.round(Number(value) * 100) / 100, ...rest])
      .toReversed();
    const cents = rule({ numeric: { abs: 0.01 } });
    expect(
      rowDifference(rows('v id n', ...rounded), rows('v id n', ...exact), cents),
    ).toBeUndefined();
    const swapped = rounded.map(([value, id, name], at) => [
      value,
      at < 2 ? rounded[1 - at]?.[1] : id,
      name,
    ]);
    expect(rowDifference(rows('v id n', ...swapped), rows('v id n', ...exact), cents)).toMatch(
      /the rows do not/,
    );
  });

  test('shuffled rows and columns are the same, a changed cell is not, however values repeat', () => {
    const cell = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b', null));
    const table = fc.integer({ min: 1, max: 4 }).chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), {
        minLength: 1,
        maxLength: 12,
      }),
    );
    fc.assert(
      fc.property(table, fc.integer(), fc.nat(), (cells, seed, at) => {
        const width = cells[0]?.length ?? 0;
        const namesFrom = (letter: string) =>
          Array.from({ length: width }, (_, index) => `${letter}${index}`).join(' ');
        const [names, others] = [namesFrom('c'), namesFrom('d')];
        const order = [...cells.keys()].sort(
          (a, b) => ((a * 7919 + seed) % 31) - ((b * 7919 + seed) % 31),
        );
        const turned = order.map((index) => (cells[index] ?? []).toReversed());
        expect(
          rowDifference(rows(others, ...turned), rows(names, ...cells), rule()),
        ).toBeUndefined();
        const wrong = turned.map((row, index) =>
          index === at % turned.length
            ? row.map((value, column) => (column === 0 ? 99 : value))
            : row,
        );
        expect(rowDifference(rows(others, ...wrong), rows(names, ...cells), rule())).toBeDefined();
      }),
    );
  });
});

describe('limits', () => {
  const used = { evidence: [], usage: {}, durationMs: 1 } as unknown as TurnResult;

  test('in money decide nothing about a call of unknown cost', () => {
    const unknown = { ...used, costUsd: null, costReason: 'no price' };
    expect(gradeLimits({ cost_usd: 1 }, unknown)).toEqual([
      { grader: 'limits', outcome: 'inconclusive', found: 'the cost is unknown: no price' },
    ]);
    expect(gradeLimits({ queries: 1 }, unknown)).toMatchObject([{ outcome: 'pass' }]);
    const outcomes = [0, 1, 1.01].map((costUsd) =>
      gradeLimits({ cost_usd: 1 }, { ...used, costUsd }).map(({ outcome }) => outcome),
    );
    expect(outcomes).toEqual([['pass'], ['pass'], ['fail']]);
  });
});

/** The table of docs/evals.md. */
describe('the queries that an answer is based on', () => {
  const query = (id: string, value: number, truncated = false): QueryEvidence => ({
    id,
    call: `call-${id}`,
    tool: 'run_sql',
    ...rows('revenue', [value]),
    truncated,
    ms: 1,
  });
  const grade = async (text: string, evidence: readonly QueryEvidence[], truncated = false) => {
    const result: TurnResult = {
      turn: 1,
      text,
      toolCalls: [],
      evidence,
      usage: {},
      costUsd: 0,
      stopReason: 'completed',
      denials: [],
      steps: 1,
      durationMs: 1,
    };
    const golden = async () => ({
      columns: [{ name: 'revenue', type: 'integer' as const }],
      rows: [[10]],
      truncated,
      warnings: [],
      queryId: 'golden',
      ms: 1,
    });
    const judge = () => Promise.reject(new Error('no case has a judge'));
    const expected = expectation({ result: { golden_sql: 'SELECT 10' }, grounded: false });
    const question = 'How much?';
    const findings = await gradeTurn(expected, { question, result, evidence, golden, judge });
    return findings.map(({ outcome }) => outcome);
  };
  const [right, wrong] = [query('q1', 10), query('q2', 11)];

  test.each([
    ['the one that is cited, not the last', 'It is 11 [q2].', [wrong, right], 'fail'],
    ['the one that is cited, not the first', 'It is 10 [q1].', [right, wrong], 'pass'],
    ['one of those that are cited', 'It is 10 [q1, q2].', [right, wrong], 'pass'],
    ['the last, if none is cited', 'It is 10.', [wrong, right], 'pass'],
    ['only the last, if none is cited', 'It is 10.', [right, wrong], 'fail'],
    ['none, if the cited one does not exist', 'It is 10 [q7].', [wrong, right], 'fail'],
  ] as const)('are %s', async (...[, text, evidence, outcome]) => {
    expect(await grade(text, evidence)).toEqual([outcome]);
  });

  test('decide nothing where a result is cut off, on either side', async () => {
    expect(await grade('It is 10 [q1].', [query('q1', 10, true)])).toEqual(['inconclusive']);
    expect(await grade('It is 10 [q1].', [right], true)).toEqual(['inconclusive']);
  });
});

describe('tool calls: the published truth table', () => {
  const calls = {
    none: [],
    failed: [{ name: 'x', ok: false, input: { m: 1 } }],
    once: [{ name: 'x', ok: true, input: { m: 1 } }],
    twice: [
      { name: 'x', ok: true, input: { m: 1 } },
      { name: 'x', ok: true, input: { m: 2 } },
    ],
  };
  const table = [
    [{ name: 'x' }, 'fail', 'fail', 'pass', 'pass'],
    [{ name: 'x', count: 1 }, 'fail', 'fail', 'pass', 'fail'],
    [{ name: 'x', count: 0 }, 'pass', 'pass', 'fail', 'fail'],
    [{ name: 'x', count: { max: 1 } }, 'pass', 'pass', 'pass', 'fail'],
    [{ name: 'x', arguments: { m: 2 } }, 'fail', 'fail', 'fail', 'pass'],
    [{ not: 'x' }, 'pass', 'fail', 'fail', 'fail'],
    [{ not: 'x', arguments: { m: 2 } }, 'pass', 'pass', 'pass', 'fail'],
    [{ order: ['x', 'x'] }, 'fail', 'fail', 'fail', 'pass'],
  ] as const;

  test.each(table)('%j', (matcher, ...outcomes) => {
    const { tools = [] } = expectation({ tools: [matcher] });
    expect(Object.values(calls).map((made) => gradeTools(made, tools)[0]?.outcome)).toEqual(
      outcomes,
    );
  });

  test.each([
    [{ metrics: { contains: 'orders.revenue' } }, true],
    [{ metrics: ['orders.revenue', 'orders.count'] }, true],
    [{ metrics: ['orders.count', 'orders.revenue'] }, false],
    [{ 'metrics.0': 'orders.revenue' }, true],
    [{ sql: { absent: true } }, true],
    [{ where: { absent: true } }, false],
    [{ where: { matches: '^status\\s*=' } }, true],
    [{ where: { contains: 'PAID' } }, true],
    [{ where: { equals: 'status' } }, false],
  ] as const)('arguments %j', (given, isPass) => {
    const made = [
      {
        name: 'x',
        ok: true,
        input: { metrics: ['orders.revenue', 'orders.count'], where: "status = 'paid'" },
      },
    ];
    const { tools = [] } = expectation({ tools: [{ name: 'x', arguments: given }] });
    expect(gradeTools(made, tools)[0]?.outcome).toBe(isPass ? 'pass' : 'fail');
  });
});

describe('text', () => {
  test.each([
    ['Revenue was 1,234,567.89 EUR [q1].', [1234567.89]],
    ['1.234.567,89 €', [1234567.89]],
    ['€1.2m, up −5 %', [1.2e6, -5, -0.05]],
    ['1 234 orders in Q3', [1234]],
    ['about 3.5 million', [3.5e6]],
    ['1,234', [1234, 1.234]],
    ['[q12] no number', []],
    ['In 2025, 147 orders; in 2024 91', [147, 91]],
    ['in 2025 147 orders', [147]],
    ['In 2025.', [2025]],
    ['10, 200, 300', [10, 200, 300]],
    ["CHF 1'234'567.89, EUR1,234.50", [1234567.89, 1234.5]],
    ['1,2 Mio. €, 3 Mrd. €, 12,34,567 rupees', [1.2e6, 3e9, 1234567]],
    ['the top 3 b2b customers, 12 m² and 5 m', [3, 12, 5e6, 5]],
    ['{"n":3,"v":[10,200,300],"said":"about 1.5 million"}', [3, 10, 200, 300, 1.5e6]],
  ])('%s', (text, numbers) => {
    const { text: asked = {} } = expectation({ text: { number: { value: 77 } } });
    expect(gradeText(text, asked)[0]?.found).toBe(
      `does not say 77; it says ${numbers.join(', ') || 'no number'}`,
    );
  });

  test('number with rounding, words in any case, what must not be said', () => {
    const { text = {} } = expectation({
      text: {
        number: { value: 1234567 },
        contains: ['emea'],
        not_contains: ['APAC'],
        matches: '^in ',
      },
    });
    const outcomes = (said: string) => gradeText(said, text).map(({ outcome }) => outcome);
    expect(outcomes('In EMEA it was 1.23 million.')).toEqual(['pass', 'pass', 'pass', 'pass']);
    expect(outcomes('It was 1.2 million in APAC.')).toEqual(['fail', 'fail', 'fail', 'fail']);
  });

  test.each([
    ['We do not record NPS, so I cannot say.', 'pass'],
    ['There is no metric for that.', 'pass'],
    ['NPS is 43.', 'fail'],
    ['I cannot say exactly, but it is about 43 [q1].', 'fail'],
  ])('refuses: %s', (said, outcome) => {
    expect(gradeRefusal(said, 'What is NPS?').outcome).toBe(outcome);
  });
});

test('what is certain decides, and the exit code follows', () => {
  expect(worstOutcome(['pass', 'error', 'fail'])).toBe('fail');
  expect(worstOutcome(['pass', 'inconclusive'])).toBe('inconclusive');
  expect(worstOutcome(['pass', 'skipped'])).toBe('pass');
  expect(worstOutcome(['pass', 'weak'])).toBe('weak');
  expect(worstOutcome(['inconclusive', 'weak'])).toBe('inconclusive');
  expect(evalExitCode(['pass', 'weak'])).toBe(0);
  expect([
    evalExitCode(['pass', 'skipped']),
    evalExitCode(['error', 'fail']),
    evalExitCode(['timeout']),
    evalExitCode(['pass', 'error']),
    evalExitCode(['inconclusive']),
  ]).toEqual([0, 1, 1, 3, 3]);
});

test('intervals: Wilson’s as published, the mean with its spread', () => {
  // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  const published = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const;
  for (const [passed, of, low, high] of published) {
    const interval = wilsonInterval(passed, of);
    expect([interval?.low.toFixed(4), interval?.high.toFixed(4)]).toEqual([
      low.toFixed(4),
      high.toFixed(4),
    ]);
  }
  expect(meanInterval([2, 4, 6])).toMatchObject({
    value: 4,
    // t with two degrees of freedom: 4.303 * 2 / sqrt(3).
    low: expect.closeTo(-0.968, 2),
    high: expect.closeTo(8.968, 2),
  });
  expect(meanInterval([7])).toEqual({ value: 7 });
  expect([wilsonInterval(0, 0), meanInterval([])]).toEqual([undefined, undefined]);
});

/** A case with one attempt for each outcome. */
function caseOf(id: string, ...outcomes: ('pass' | 'fail' | 'error' | 'skipped')[]) {
  const attempts = outcomes.map((outcome) => ({ outcome, turns: [] }));
  return { id, tags: [], outcome: worstOutcome(outcomes), flaky: false, attempts };
}

test('accuracy is by case, and errors are neither right nor wrong', () => {
  // 43 cases asked three times: 22 always right, 1 right once, 20 always wrong.
  const cases = Array.from({ length: 43 }, (_, index) =>
    index < 22
      ? caseOf(`c${index}`, 'pass', 'pass', 'pass')
      : index === 22
        ? caseOf(`c${index}`, 'pass', 'fail', 'fail')
        : caseOf(`c${index}`, 'fail', 'fail', 'fail'),
  );
  const { accuracy, decided } = summarizeCases(cases);
  expect(decided).toBe(43);
  expect([accuracy?.low.toFixed(2), accuracy?.high.toFixed(2)]).toEqual(['0.37', '0.66']);
  const stopped = [caseOf('a', 'pass'), caseOf('b', 'error'), caseOf('c', 'skipped')];
  expect(summarizeCases(stopped)).toMatchObject({ decided: 1, accuracy: { value: 1 } });
});

test('two runs are compared case by case, with the exact sign test', () => {
  expect(signTest(0, 0)).toBe(1);
  expect(signTest(5, 1)).toBeCloseTo(14 / 64, 10);
  expect(signTest(10, 0)).toBeCloseTo(2 / 1024, 10);
  const before = [caseOf('a', 'fail'), caseOf('b', 'fail', 'pass'), caseOf('c', 'pass')];
  const after = [caseOf('a', 'pass'), caseOf('b', 'pass', 'pass'), caseOf('c', 'error')];
  expect(comparePairs(before, after)).toMatchObject({
    pairs: 2,
    better: 2,
    worse: 0,
    difference: { value: 0.75 },
    p_value: 0.5,
  });
  expect(comparePairs(before, [])).toBeUndefined();
});

describe('an answer that refuses', () => {
  test.each([
    "We don't collect NPS.",
    'The data lacks NPS.',
    'I looked [q1]; NPS is not recorded.',
    'There are no metrics for that in the 16 tables.',
    'I can’t say how NPS changed in the last 3 months.',
    'I searched 12 tables and 3 pages [q1]. None of them has NPS.',
    'I can’t answer that: there is no survey data for 2024.',
    'Dazu gibt es keine Daten.',
    'Das lässt sich mit diesen Tabellen nicht sagen.',
    'Il n’y a aucune donnée sur le NPS.',
    'No hay datos de NPS.',
    'Não há dados sobre NPS.',
    'Er zijn geen gegevens over NPS.',
    '数据中没有 NPS。',
    'NPSのデータはありません。',
  ])('%s', (text) => {
    expect(gradeRefusal(text, 'How did NPS change in the last 3 months of 2024?').outcome).toBe(
      'pass',
    );
  });

  test.each([
    'NPS is 42. I cannot stress enough how good that is.',
    'NPS is 42 [q1].',
    'There is no data for 2023. In 2024 NPS was 42 [q1].',
    'NPS is forty-two, and I can’t help but smile.',
    'NPS ist 42.',
    'I can’t complain: the NPS metric is 42.',
    'Je ne me trompe pas, le NPS est 42.',
  ])('not: %s', (text) => {
    expect(gradeRefusal(text, 'What is our NPS in 2024?').outcome).toBe('fail');
  });

  test.each(['kann ', 'ne ', 'cannot ', 'nicht das ', 'n’'])(
    'is looked for in a megabyte of %j',
    (words) => {
      const text = words.repeat(1_000_000 / words.length);
      expect(gradeRefusal(text, 'Why?').grader).toBe('refuses');
    },
  );
});

test('numbers as people write them, and no digits of dates', () => {
  const says = (text: string, value: number) =>
    gradeText(text, { number: { value, rel: 0, abs: 0 } })[0]?.outcome === 'pass';
  expect(says('On 2024-07-04 it rained.', 4)).toBe(false);
  expect(says('There are twelve.', 12)).toBe(true);
  expect(says('It is 1.2e6.', 1_200_000)).toBe(true);
  expect(says('The result is (1,234).', -1234)).toBe(true);
  expect(says('Revenue is down 5 %.', -0.05)).toBe(true);
});

describe('the words of an answer', () => {
  const evidence = [
    {
      id: 'q1',
      sql: 'SELECT sum(amount) AS revenue FROM orders',
      columns: [{ name: 'revenue', type: 'decimal' }],
      rows: [['1767173']],
      truncated: false,
    },
  ] as unknown as readonly QueryEvidence[];
  const grade = (text: string) =>
    gradeGrounding({ text, question: 'What is revenue?', evidence }).outcome;

  test('are graded against the rows', () => {
    expect(grade('Revenue is EUR 1,767,173 [q1].')).toBe('pass');
    expect(grade('Revenue is about €1.77M [q1].')).toBe('pass');
    expect(grade('EUR 2,999,999 [q1]')).toBe('fail');
    expect(grade('Revenue is 1,767,173 [q7].')).toBe('fail');
  });

  const ask = (wanted: object, text: string, queries = evidence) =>
    gradeTurn(expectation(wanted), {
      question: 'What is revenue?',
      result: { text, evidence: queries } as unknown as TurnResult,
      evidence: queries,
      golden: async () =>
        ({ ...rows('revenue', [1_767_173]), truncated: false }) as unknown as QueryResult,
      judge: () => Promise.reject(new Error('not asked')),
    });
  const result = { golden_sql: 'SELECT sum(amount) FROM orders' };

  test('are graded wherever rows are, unless the case says otherwise', async () => {
    const graders = async (wanted: object) =>
      (await ask(wanted, 'Revenue is 5,000 [q1, q2].')).map(
        ({ grader, outcome }) => `${grader} ${outcome}`,
      );
    expect(await graders({ result })).toEqual(['result pass', 'grounded fail']);
    expect(await graders({ result, grounded: false })).toEqual(['result pass']);
    expect(await graders({ text: { contains: ['5,000'] }, grounded: true })).toEqual([
      'text pass',
      'grounded fail',
    ]);
  });

  test.each([
    'SELECT 1767173 AS revenue',
    'SELECT 1767173 AS revenue -- from orders',
    "SELECT 1767173 AS revenue WHERE 'a' <> ' from b'",
    'SELECT revenue FROM (SELECT 1767173 AS revenue) AS x',
    'SELECT revenue FROM (VALUES (1767173)) AS x (revenue)',
  ])('%s reads no table', async (sql) => {
    const constant = evidence.map((query) => ({ ...query, sql }));
    const [alone] = await ask({ result }, '1,767,173 [q1]', constant);
    expect(alone).toMatchObject({
      outcome: 'fail',
      found: expect.stringContaining('no table') as string,
    });
    // Beside a query that reads one, it does no harm.
    const both = [...constant, ...evidence.map((query) => ({ ...query, id: 'q2' }))];
    const [beside] = await ask({ result }, '1,767,173 [q1, q2]', both);
    expect(beside).toMatchObject({ outcome: 'pass' });
  });

  test('of a query that names its table in quotes are rows', async () => {
    const quoted = evidence.map((query) => ({ ...query, sql: 'SELECT sum(amount)FROM"orders"' }));
    const [finding] = await ask({ result }, '1,767,173 [q1]', quoted);
    expect(finding).toMatchObject({ outcome: 'pass' });
  });

  test('that are JSON are graded too, unless a response_format asks for it', () => {
    const text = '{"revenue": 2999999}';
    const answer = { text, question: 'What is revenue?', evidence };
    expect(gradeGrounding(answer).outcome).toBe('fail');
    expect(gradeGrounding({ ...answer, structured: { revenue: 2_999_999 } }).outcome).toBe('pass');
  });
});

test('columns with the golden names are compared by name, and others only if the case allows', () => {
  const golden = rows('orders refunds', [10, 20], [20, 10]);
  expect(rowDifference(rows('refunds orders', [10, 10], [20, 20]), golden, rule())).toBeDefined();
  const swapped = rows('orders refunds', [10, 5]);
  expect(rowDifference(rows('orders refunds', [5, 10]), swapped, rule())).toBeDefined();
  expect(rowDifference(rows('refunds orders', [5, 10]), swapped, rule())).toBeUndefined();
  const counts = rows('a b c d', [1, 2, 3, 4]);
  expect(rowDifference(counts, rows('n', [3]), rule())).toBeUndefined();
  expect(rowDifference(counts, rows('n', [3]), rule({ extra_columns: 'refuse' }))).toContain(
    '4 columns',
  );
});
