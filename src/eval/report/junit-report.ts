import type { CaseResult, EvalRun } from '../run/run-schema.ts';
import { summaryColumns, failureReasons } from './summary.ts';

/** JUnit's XML as CI servers read it: a suite for each question set. */
export function renderJunitReport(run: EvalRun): string {
  const suites = summaryColumns(run).flatMap(({ title, cases }) => {
    const sets = Map.groupBy(cases, ({ id }) => id.split('/')[0] ?? '');
    return [...sets].map(([set, own]) =>
      suite(run.without_context === undefined ? set : `${set} (${title})`, own, run.started),
    );
  });
  const total = [...run.cases, ...(run.without_context ?? [])];
  const { tests, failures, errors } = counts(total);
  const head = `<testsuites name="ktx eval" tests="${tests}" failures="${failures}" errors="${errors}" time="${seconds(run.ms)}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>', ''].join(
    '\n',
  );
}

function suite(name: string, cases: readonly CaseResult[], started: string): string {
  const { tests, failures, errors, skipped } = counts(cases);
  const time = cases.reduce((sum, each) => sum + msOf(each), 0);
  const stamp = started.replace(/\.\d+Z$/, '');
  const head = `<testsuite name="${xml(name)}" tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}" timestamp="${stamp}" time="${seconds(time)}">`;
  return [`  ${head}`, ...cases.map(testcase), '  </testsuite>'].join('\n');
}

function testcase(one: CaseResult): string {
  const [set = '', id = ''] = one.id.split('/');
  const why = failureReasons(one);
  const text = xml(why.join('\n'));
  const message = xml(why[0] ?? one.outcome);
  const bodies = {
    pass: '',
    fail: `<failure message="${message}" type="fail">${text}</failure>`,
    timeout: `<failure message="${message}" type="timeout">${text}</failure>`,
    error: `<error message="${message}" type="error">${text}</error>`,
    // Nothing is known of it, and a build must not pass on that.
    inconclusive: `<error message="${message}" type="inconclusive">${text}</error>`,
    skipped: `<skipped message="${message}"/>`,
  };
  const flaky = one.flaky ? '<system-out>flaky</system-out>' : '';
  return `    <testcase classname="${xml(set)}" name="${xml(id)}" time="${seconds(msOf(one))}">${bodies[one.outcome]}${flaky}</testcase>`;
}

function counts(cases: readonly CaseResult[]) {
  const of = (...wanted: readonly string[]): number =>
    cases.filter(({ outcome }) => wanted.includes(outcome)).length;
  return {
    tests: cases.length,
    failures: of('fail', 'timeout'),
    errors: of('error', 'inconclusive'),
    skipped: of('skipped'),
  };
}

function msOf({ attempts }: CaseResult): number {
  return attempts.reduce(
    (sum, { turns }) => sum + turns.reduce((total, { ms }) => total + ms, 0),
    0,
  );
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
};

/** XML 1.0 has no place for most control characters, nor for half a surrogate pair. */
function xml(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"\n\t]/g, (mark) => entities[mark] ?? mark);
}
