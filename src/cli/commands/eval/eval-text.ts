import {
  brokenCases,
  type CaseChange,
  contextChangeText,
  type RunComparison,
} from '../../../eval/report/compare-runs.ts';
import { describePairs } from '../../../eval/report/compare-pairs.ts';
import { type FigureGroup, groupRows } from '../../../eval/report/figure-groups.ts';
import type { DiffLine } from '../../../eval/report/line-diff.ts';
import {
  failureReasons,
  figureRows,
  passRate,
  type FigureColumn,
} from '../../../eval/report/summary.ts';
import type { EvalOutcome } from '../../../eval/run/outcome.ts';
import type { CaseResult } from '../../../eval/run/run-schema.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Screen } from '../../terminal/screen.ts';
import { alignColumns } from '../../terminal/table.ts';
import { escapeControls, wrapText } from '../../terminal/text-width.ts';

type Color = Parameters<Screen['style']>[0];

const outcomeColors: Readonly<Record<EvalOutcome, Color>> = {
  pass: 'green',
  weak: 'yellow',
  fail: 'red',
  timeout: 'red',
  error: 'red',
  inconclusive: 'yellow',
  skipped: 'dim',
};
const changeColors: Readonly<Record<CaseChange['kind'], Color>> = {
  broken: 'red',
  fixed: 'green',
  other: 'yellow',
  sql: 'dim',
  added: 'yellow',
  removed: 'yellow',
};
const reasonIndent = ' '.repeat(13);

/** One line per case; if it did not pass, the reasons below it. */
export function describeCase(result: CaseResult, { style, width }: Screen): string {
  const { id, outcome, flaky } = result;
  const rate = passRate(result);
  const title = `${style(outcomeColors[outcome], outcome.padEnd(12))} ${id}${rate && `  ${rate}`}`;
  const reasonWidth = width === undefined ? undefined : width - reasonIndent.length;
  const reasons = failureReasons(result).flatMap((text) =>
    wrapText(escapeControls(text), reasonWidth),
  );
  return [
    title + (flaky ? style('yellow', ' flaky') : ''),
    ...reasons.map((line) => `${reasonIndent}${style('dim', line)}`),
  ].join('\n');
}

/** The figures of a run, or of several runs side by side with titles. */
export function describeFigures(columns: readonly FigureColumn[], { style }: Screen): string {
  const [titles = [], ...rows] = figureRows(columns);
  const hasTitles = columns.length > 1;
  const lines = alignColumns(hasTitles ? [titles, ...rows] : rows);
  return lines
    .map((line, index) => (hasTitles && index === 0 ? style('bold', line) : line))
    .join('\n');
}

/** Of more groups, the reports have all. */
const maxGroups = 20;

/** The figures by difficulty, tag, agent and model; no lines if there are none. */
export function describeGroups(
  groups: readonly FigureGroup[],
  { style }: Screen,
): readonly string[] {
  if (groups.length === 0) return [];
  const rows = groupRows(groups.slice(0, maxGroups)).map((row) => row.map(escapeControls));
  const [titles = '', ...lines] = alignColumns(rows);
  const left = groups.length - lines.length;
  const more = left > 0 ? [style('dim', `and ${left} more: see the reports, or --json`)] : [];
  return ['', style('bold', titles), ...lines, ...more];
}

/** What changed between two runs: each case, with the lines of its SQL that differ. */
export function describeComparison(comparison: RunComparison, { style }: Screen): string {
  const { changes } = comparison;
  const outcomeChanges = changes.filter(({ kind }) => kind !== 'sql');
  const sqlChanges = changes.length - outcomeChanges.length;
  const titles = alignColumns(
    outcomeChanges.map(({ kind, id, before = 'not there', after = 'not there' }) => [
      kind,
      id,
      `${before} → ${after}`,
    ]),
  );
  const lines = outcomeChanges.flatMap(({ kind, sql }, index) => {
    const title = titles[index] ?? '';
    const coloredTitle = style(changeColors[kind], kind) + title.slice(kind.length);
    return [coloredTitle, ...diffHunks(sql, style)];
  });
  return [
    contextChangeText(comparison),
    '',
    ...(lines.length === 0 ? ['No outcome changed.'] : lines),
    ...(sqlChanges === 0
      ? []
      : [`${formatCount(sqlChanges, 'case')} with the same outcome but different SQL.`]),
    `${formatCount(brokenCases(comparison).length, 'regression')}.`,
    ...(comparison.paired === undefined ? [] : [`Now ${describePairs(comparison.paired)}.`]),
  ].join('\n');
}

/** Unchanged lines shown around a changed one. */
const contextLines = 1;

function diffHunks(sql: readonly DiffLine[], style: Screen['style']): readonly string[] {
  const isShown = sql.map((_, index) =>
    sql
      .slice(Math.max(0, index - contextLines), index + contextLines + 1)
      .some(({ mark }) => mark !== ' '),
  );
  return sql.flatMap(({ mark, text }, index) => {
    if (isShown[index] !== true) {
      const isGapStart = isShown[index - 1] === true && isShown.includes(true, index);
      return isGapStart ? [style('dim', '    …')] : [];
    }
    const line = `    ${mark} ${escapeControls(text)}`;
    return [mark === ' ' ? style('dim', line) : style(mark === '-' ? 'red' : 'green', line)];
  });
}
