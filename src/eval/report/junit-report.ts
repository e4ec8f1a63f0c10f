import type { CaseResult, EvalRun } from '../run/run-schema.ts';
import { failureReasons, summaryColumns } from './summary.ts';

/** JUnit XML as CI servers read it: one suite per question set. */
export function renderJunitReport(run: EvalRun): string {
  const suites = summaryColumns(run).flatMap(({ title, cases }) => {
    const casesBySet = Map.groupBy(cases, ({ id }) => id.split('/')[0] ?? '');
    return [...casesBySet].map(([set, setCases]) => {
      const name = run.without_context === undefined ? set : `${set} (${title})`;
      return renderSuite(name, setCases, run.started);
    });
  });
  const { tests, failures, errors } = countCases([...run.cases, ...(run.without_context ?? [])]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="ktx eval" tests="${tests}" failures="${failures}" errors="${errors}" time="${toSeconds(run.ms)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function renderSuite(name: string, cases: readonly CaseResult[], started: string): string {
  const { tests, failures, errors, skipped } = countCases(cases);
  const time = toSeconds(cases.reduce((sum, result) => sum + durationMs(result), 0));
  const timestamp = started.replace(/\.\d+Z$/, '');
  return [
    `  <testsuite name="${escapeXml(name)}" tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}" timestamp="${timestamp}" time="${time}">`,
    ...cases.map(renderTestCase),
    '  </testsuite>',
  ].join('\n');
}

function renderTestCase(result: CaseResult): string {
  const [set = '', id = ''] = result.id.split('/');
  const reasons = failureReasons(result);
  const text = escapeXml(reasons.join('\n'));
  const message = escapeXml(reasons[0] ?? result.outcome);
  const bodies = {
    pass: '',
    weak: '',
    fail: `<failure message="${message}" type="fail">${text}</failure>`,
    timeout: `<failure message="${message}" type="timeout">${text}</failure>`,
    error: `<error message="${message}" type="error">${text}</error>`,
    // An error, because a build must not pass on a case that could not be decided.
    inconclusive: `<error message="${message}" type="inconclusive">${text}</error>`,
    skipped: `<skipped message="${message}"/>`,
  };
  const remarks = [
    ...(result.flaky ? ['flaky'] : []),
    ...(result.outcome === 'weak' ? [`weak: ${text}`] : []),
  ];
  const output = remarks.length === 0 ? '' : `<system-out>${remarks.join('\n')}</system-out>`;
  const time = toSeconds(durationMs(result));
  return `    <testcase classname="${escapeXml(set)}" name="${escapeXml(id)}" time="${time}">${bodies[result.outcome]}${output}</testcase>`;
}

function countCases(cases: readonly CaseResult[]) {
  const count = (...counted: readonly CaseResult['outcome'][]): number =>
    cases.filter(({ outcome }) => counted.includes(outcome)).length;
  return {
    tests: cases.length,
    failures: count('fail', 'timeout'),
    errors: count('error', 'inconclusive'),
    skipped: count('skipped'),
  };
}

function durationMs({ attempts }: CaseResult): number {
  const turns = attempts.flatMap((attempt) => attempt.turns);
  return turns.reduce((sum, { ms }) => sum + ms, 0);
}

function toSeconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

const xmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
};

/**
 * Not allowed in XML 1.0: control characters (except U+007F to U+009F) and two that are no
 * characters.
 */
const notInXml = /[^\P{Cc}\u007f-\u009f]|[\ufffe\uffff]/gu;

function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[&<>"\n\t]/g, (character) => xmlEntities[character] ?? character)
    .replaceAll(notInXml, '\ufffd');
}
