import { describe, expect, test } from 'vitest';
import { gradeText } from '../../src/eval/grade/grade-text.ts';
import { gradeTools } from '../../src/eval/grade/grade-tools.ts';
import { matchesPattern, openRedactor } from '../../src/lib/patterns/bounded-pattern.ts';

/** Takes longer than the universe has existed. */
const evil = '^(a+)+$';
const victim = `${'a'.repeat(60)}!`;

describe('a regular expression of somebody else', () => {
  test('matches and redacts as it would anywhere', () => {
    expect(matchesPattern('^in emea', 'In EMEA')).toBe(true);
    expect(matchesPattern('apac', 'In EMEA')).toBe(false);
    const redact = openRedactor(['[a-z]+@[a-z.]+', '\\d{4}']);
    expect(redact('ask ada@example.com, 1234 and 5678')).toBe(
      'ask [redacted], [redacted] and [redacted]',
    );
    expect(openRedactor([])('text')).toBe('text');
  });

  test('that takes for ever ends, and what it would have redacted is not kept', () => {
    expect(matchesPattern(evil, victim)).toBeUndefined();
    const redact = openRedactor([evil, 'secret']);
    for (const text of [victim, 'secret', 'short'])
      expect(redact(text)).not.toMatch(/a{2}|secret|short/);
  });

  test('of a question set gives no verdict', () => {
    expect(gradeText(victim, { matches: evil }).map(({ outcome }) => outcome)).toEqual(['error']);
    const call = { name: 'run_sql', ok: true, input: { sql: victim } };
    const rule = { not: 'run_sql', arguments: { sql: { matches: evil } } };
    expect(() => gradeTools([call], [rule])).toThrow(/takes too long/);
  });
});
