import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import type { QueryEvidence } from '../../../../src/llm/port/tool-call.ts';
import { rowsOf } from '../blind/answer.ts';

const withSql = (query: QueryEvidence, sql: string): QueryEvidence => ({ ...query, sql });
const sold = rowsOf('q1', 'sold', [104_794]);
const june = withSql(sold, "SELECT … WHERE d >= '2025-06-01' AND d < '2025-07-01'");
const between = withSql(sold, "SELECT … WHERE d BETWEEN DATE '2025-06-01' AND DATE '2025-06-30'");
const since = withSql(sold, "SELECT … WHERE d >= '2025-06-01'");
const inYear = withSql(sold, 'SELECT … WHERE EXTRACT(year FROM d) = 2025');
const today = withSql(sold, "SELECT … WHERE d >= current_date - interval '30' day");
const months = rowsOf('q1', 'm revenue', ['2025-04-01', 12], ['2025-05-01', 9], ['2025-07-01', 15]);
const weeks = rowsOf('q1', 'w n', ['2025-05-05', 7], ['2025-05-12', 8], ['2025-05-19', 9]);
const ends = rowsOf('q1', 'first_order last_order', ['2021-03-04', '2025-06-30T10:00:00']);
const quarters = rowsOf('q1', 'q revenue', ['2025-Q1', 1200], ['2025-Q2', 1250]);
const names = rowsOf('q1', 'month orders', ['January', 12], ['Feb', 13]);
const yearly = rowsOf('q1', 'year revenue', [2023, 1200], [2024, 1250]);
const lagged = withSql(months, 'SELECT m, lag(revenue) OVER (ORDER BY m) FROM t');

const cases: readonly (readonly [
  text: string,
  evidence: QueryEvidence,
  wrong: readonly string[],
])[] = [
  ['In June 2025 we sold it.', june, []],
  ['In May 2025 we sold it.', june, ['May 2025']],
  ['In July 2025 we sold it.', june, ['July 2025']],
  ['In Q3 2025 and Q2 2025.', june, ['Q3 2025']],
  ['From June 1 to June 30, 2025, before 1 July.', june, []],
  ['On 3 June 2025 we sold it.', june, ['3 June 2025']],
  ['Vom 1. bis zum 30. Juni 2025, nicht im Juli.', between, ['Juli']],
  ['Since 1 June 2025, so also in March 2031, not in May 2025.', since, ['May 2025']],
  ['In March 2025, not in March 2024.', inYear, ['March 2024']],
  ['From 28 May 2025 on.', today, []],
  ['In April and in June 2025, not since March.', months, ['March']],
  ['En avril 2025 et en août 2025.', months, ['août 2025']],
  ['2025年6月は、2025年8月より', months, ['2025年8月']],
  ['Compared with June 2024.', months, ['June 2024']],
  ['Compared with June 2024.', lagged, []],
  ['The week of 12 May, until 18 May, until 25 May.', weeks, []],
  ['The week of 13 May was the best.', weeks, ['13 May']],
  ['From March 4, 2021 to 30.06.2025.', ends, []],
  ['From March 5, 2021 to 06/30/2025.', ends, ['March 5, 2021']],
  ['Q2 2025 beats 2025-Q1 and Q4 2024.', quarters, ['Q4 2024']],
  ['In January and February, not in August.', names, ['August']],
  ['In May 2024 and in May 2025.', yearly, ['May 2025']],
  ['It may march on in 5 sets.', june, []],
  ['`2024-01-01` stands in the code.', june, []],
  ['In June there was none.', sold, ['June']],
];

test.for(cases)('%s', ([text, query, wrong]) => {
  const claims = groundAnswer({ text, question: '', evidence: [query] });
  const dates = claims.filter(({ kind }) => kind === 'date');
  expect(dates.filter(({ status }) => status === 'ungrounded').map((claim) => claim.text)).toEqual(
    wrong,
  );
});

test('what the question says is no claim of the rows', () => {
  const question = 'How many in May 2025?';
  const claims = groundAnswer({ text: 'In May 2025, not June.', question, evidence: [sold] });
  expect(claims).toMatchObject([{ kind: 'date', text: 'May 2025', status: 'question' }]);
});

test('a date is one claim, with the query that has it', () => {
  const text = 'On 1 June 2025 we began [q1].';
  expect(groundAnswer({ text, question: '', evidence: [june] })).toEqual([
    {
      kind: 'date',
      text: '1 June 2025',
      span: [3, 14],
      status: 'cell',
      evidence: [{ query: 'q1' }],
    },
  ]);
});
