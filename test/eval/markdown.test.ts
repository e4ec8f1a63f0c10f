import { expect, test } from 'vitest';
import type { RunComparison } from '../../src/eval/report/compare-runs.ts';
import { renderMarkdownReport } from '../../src/eval/report/markdown-report.ts';
import type { CaseResult, EvalRun } from '../../src/eval/run/run-schema.ts';
import { summarizeCases } from '../../src/eval/report/summary.ts';

function failed(id: string, found: string): CaseResult {
  const turn = {
    question: 'Q',
    answer: 'A',
    stop_reason: 'completed',
    queries: [],
    tools: [],
    tokens: 1,
    cost_usd: null,
    ms: 1,
  };
  const findings = [{ grader: 'text', outcome: 'fail' as const, found }];
  return {
    id,
    tags: [],
    outcome: 'fail',
    flaky: false,
    attempts: [{ outcome: 'fail', turns: [{ ...turn, outcome: 'fail', findings }] }],
  };
}

function report(cases: CaseResult[], sql = ''): string {
  const context = {
    commit: undefined,
    uncommitted: [],
    semantic_layer: 's',
    wiki: 'w',
    questions: 'q',
    agents: [],
  };
  const run: EvalRun = {
    version: 1,
    id: 'now',
    started: '2026-01-02T03:04:05.678Z',
    ms: 1,
    ktx: '0',
    interrupted: false,
    context,
    cases,
  };
  const changes = cases.map(({ id }) => ({
    id,
    kind: 'broken' as const,
    before: 'pass' as const,
    after: 'fail' as const,
    sql: [{ mark: '+' as const, text: sql }],
  }));
  const comparison: RunComparison = {
    before: 'then',
    after: 'now',
    differs: [],
    summaries: [summarizeCases([]), summarizeCases(cases)],
    paired: undefined,
    changes,
  };
  return renderMarkdownReport(run, sql === '' ? undefined : comparison);
}

test('Markdown is never longer than a comment may be, ends whole, and says what it left out', () => {
  const many = Array.from({ length: 3000 }, (_, n) =>
    failed(`shop/case-${n}`, `😀 & <b>${'ünd'.repeat(300)} ${n}`),
  );
  for (const text of [
    report(many),
    report(many, `SELECT '${'x'.repeat(900)}'`),
    report(many.slice(0, 2), 'y'.repeat(100_000)),
  ]) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
    expect(text.length).toBeGreaterThan(1000);
    expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
    expect((text.match(/^``````/gm)?.length ?? 0) % 2).toBe(0);
    expect(text).toContain('did not fit into this comment');
    expect(text).toMatch(/Run now\.\s*$/);
  }
  const few = report(many.slice(0, 20), 'SELECT 1');
  expect(few.match(/SQL of/g)).toHaveLength(20);
  expect(few).not.toContain('did not fit');
});
