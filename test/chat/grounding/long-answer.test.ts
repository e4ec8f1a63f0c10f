import { expect, test } from 'vitest';
import { groundAnswer } from '../../../src/chat/grounding/ground-answer.ts';

test('an answer of thousands of numbers takes no minutes: those beyond 500 are not checked, and say so', () => {
  const rows = Array.from({ length: 10 }, (_, index) => [`name ${index}`, index * 3.7]);
  const columns = [
    { name: 'a', type: 'string' as const },
    { name: 'b', type: 'decimal' as const },
  ];
  const evidence = [
    {
      id: 'q1',
      call: 'c1',
      tool: 'run_sql',
      sql: 'select a, b from t',
      columns,
      rows,
      truncated: false,
      ms: 1,
    },
  ];
  const start = process.cpuUsage();
  const claims = groundAnswer({ text: '7.4%'.repeat(2500), question: 'how much', evidence });
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(15_000);
  expect(claims.length).toBeGreaterThan(2000);
  expect(claims.slice(500).every(({ status }) => status === 'ungrounded')).toBe(true);
  expect(claims.at(-1)?.reason).toMatch(/more than 500 numbers/);
});
