import { expect, test } from 'vitest';
import { brokenCases, compareRuns } from '../../src/eval/report/compare-runs.ts';
import { renderJunitReport } from '../../src/eval/report/junit-report.ts';
import { outcomes } from '../../src/eval/run/outcome.ts';
import type { CaseResult, EvalRun } from '../../src/eval/run/run-schema.ts';
import { problemsOf } from './junit-schema.ts';

/** What no report may trip over; half a surrogate pair and controls have no place in XML. */
const hostile = `"quoted" & 'so' ]]> <!-- <![CDATA[ 🦊 ü \u0007\u0000\u001b[31m \ud800 \ufffe\nsecond line\ttab\r`;

function caseOf(id: string, outcome: CaseResult['outcome'], found = hostile): CaseResult {
  const turn = {
    question: found,
    outcome,
    answer: found,
    stop_reason: 'completed',
    findings: [{ grader: 'text', outcome, found }],
    queries: [],
    tools: [],
    tokens: 1,
    cost_usd: null,
    ms: 12_345,
  };
  const asked =
    outcome === 'skipped'
      ? { attempts: [], reason: found }
      : { attempts: [{ outcome, turns: [turn] }] };
  return { id, tags: [], outcome, flaky: outcome === 'fail', ...asked };
}

function runOf(cases: CaseResult[], without?: CaseResult[]): EvalRun {
  const context = {
    commit: undefined,
    uncommitted: [],
    semantic_layer: 's',
    wiki: 'w',
    questions: 'q',
    agents: [],
  };
  const about = {
    version: 1,
    id: 'eval',
    started: '2026-01-02T03:04:05.678Z',
    ms: 61_001,
    ktx: '0',
    interrupted: false,
  } as const;
  return { ...about, context, cases, ...(without && { without_context: without }) };
}

test('a case that passed and now shows little is no regression; one that fails is', () => {
  const before = runOf([caseOf('shop/a', 'pass'), caseOf('shop/b', 'pass')]);
  const after = runOf([caseOf('shop/a', 'weak'), caseOf('shop/b', 'fail')]);
  const comparison = compareRuns(before, after);
  expect(comparison.changes.map(({ id, kind }) => [id, kind])).toEqual([
    ['shop/a', 'other'],
    ['shop/b', 'broken'],
  ]);
  expect(brokenCases(comparison).map(({ id }) => id)).toEqual(['shop/b']);
});

const every = outcomes.map((outcome) => caseOf(`shop/${outcome}`, outcome));

test('libxml2 accepts what is written: every outcome, two columns, no case at all, texts that are no XML', async () => {
  const whole = renderJunitReport(runOf(every, every));
  expect(await problemsOf({ whole, none: renderJunitReport(runOf([])) })).toEqual({
    whole: [],
    none: [],
  });
  expect(whole).toContain(
    "&quot;quoted&quot; &amp; 'so' ]]&gt; &lt;!-- &lt;![CDATA[ 🦊 ü \ufffd\ufffd\ufffd[31m \ufffd \ufffd&#10;second line&#9;tab\ufffd",
  );
  expect(whole).toContain(
    '<testsuite name="shop (without context)" tests="7" failures="2" errors="2" skipped="1"',
  );
});

test('and nothing that lacks a part, or has one that nobody knows', async () => {
  const report = renderJunitReport(runOf(every));
  const without = (element: string, attribute: string): string =>
    report.replace(new RegExp(`(<${element} [^>]*?) ?\\b${attribute}="[^"]*"`), '$1');
  const parts = {
    testsuite: ['name', 'tests', 'failures', 'errors', 'skipped'],
    testcase: ['name', 'classname', 'time'],
    failure: ['type'],
    error: ['type'],
  };
  const lacking = Object.entries(parts).flatMap(([element, names]) =>
    names.map((name) => [`${element}-${name}`, without(element, name)] as const),
  );
  const broken = {
    ...Object.fromEntries(lacking),
    unknown: report.replace('<testcase ', '<testcase outcome="pass" '),
    alone: report.replaceAll(/<\/?testsuites[^>]*>/g, ''),
    mark: report.replace('&amp;', '&'),
    control: report.replace('\ufffd', '\u0007'),
    text: report.replace('</testcase>', 'and so on</testcase>'),
  };
  expect(Object.values(broken)).not.toContain(report);
  const found = await problemsOf(broken);
  expect(Object.keys(found).filter((name) => found[name]?.length === 0)).toEqual([]);
  expect(lacking).toHaveLength(10);
});
