import { regressions, type Comparison } from '../../eval/compare.ts';
import type { Outcome } from '../../eval/outcome.ts';
import type { CaseResult, EvalRun } from '../../eval/run-file.ts';
import { columnsOf, figures, passRate, whyNot } from '../../eval/summary.ts';
import { counted } from '../../lib/counted.ts';
import type { Screen } from '../output.ts';
import { printable } from '../text-width.ts';

const colors: Readonly<Record<Outcome, Parameters<Screen['style']>[0]>> = {
  pass: 'green',
  fail: 'red',
  timeout: 'red',
  error: 'red',
  inconclusive: 'yellow',
  skipped: 'dim',
};

/** A case in a line, and below it why it is no pass. */
export function caseText(one: CaseResult, { style }: Screen): string {
  const rate = passRate(one);
  const flaky = one.flaky ? style('yellow', ' flaky') : '';
  const head = `${style(colors[one.outcome], one.outcome.padEnd(12))} ${one.id}${rate && `  ${rate}`}${flaky}`;
  return [head, ...whyNot(one).map((why) => `             ${style('dim', printable(why))}`)].join('\n');
}

/** The figures of a run; two columns stand side by side. */
export function figuresText(run: EvalRun, { style }: Screen): string {
  const columns = columnsOf(run);
  const rows = (columns.map((column) => figures(column))[0] ?? []).map(([name], at) => [name, ...columns.map((column) => figures(column)[at]?.[1] ?? '')]); // prettier-ignore
  const header = columns.length === 1 ? [] : [['', ...columns.map(({ title }) => title)]];
  const all = [...header, ...rows];
  const widths = ['', ...columns].map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const lines = all.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ').trimEnd()); // prettier-ignore
  return lines.map((line, at) => (header.length > 0 && at === 0 ? style('bold', line) : line)).join('\n');
}

export function comparisonText(comparison: Comparison, { style }: Screen): string {
  const { before, after, differs, changes, summaries } = comparison;
  const outcomes = changes.filter(({ kind }) => kind !== 'sql');
  const others = changes.length - outcomes.length;
  const accuracy = summaries.map((summary) => figures({ summary }).find(([name]) => name === 'accuracy')?.[1] ?? '');
  const lines = outcomes.flatMap(({ id, kind, before: old = 'not there', after: now = 'not there', sql }) => [
    `${style(kind === 'broken' ? 'red' : kind === 'fixed' ? 'green' : 'yellow', kind.padEnd(8))} ${id}: ${old} → ${now}`,
    ...sql.map(({ mark, text }) => `    ${mark === ' ' ? `  ${printable(text)}` : style(mark === '-' ? 'red' : 'green', `${mark} ${printable(text)}`)}`),
  ]); // prettier-ignore
  return [
    `${before} → ${after}`,
    differs.length === 0 ? 'Nothing of the context differs.' : `Other than then: ${differs.join(', ')}.`,
    `accuracy ${accuracy.join(' → ')}`,
    ...(lines.length === 0 ? ['No outcome changed.'] : lines),
    ...(others === 0 ? [] : [`${counted(others, 'case')} came to the same outcome by other SQL.`]),
    `${counted(regressions(comparison).length, 'regression')}.`,
  ].join('\n');
}
