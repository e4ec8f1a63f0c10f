import {
  brokenCases,
  type CaseChange,
  type RunComparison,
} from '../../../eval/report/compare-runs.ts';
import type { DiffLine } from '../../../eval/report/line-diff.ts';
import type { EvalOutcome } from '../../../eval/run/outcome.ts';
import type { CaseResult } from '../../../eval/run/run-schema.ts';
import {
  figureRows,
  passRate,
  failureReasons,
  type FigureColumn,
} from '../../../eval/report/summary.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls, textWidth } from '../../terminal/text-width.ts';

const colors: Readonly<Record<EvalOutcome, Parameters<Screen['style']>[0]>> = {
  pass: 'green',
  fail: 'red',
  timeout: 'red',
  error: 'red',
  inconclusive: 'yellow',
  skipped: 'dim',
};
const kindColors: Readonly<Record<CaseChange['kind'], Parameters<Screen['style']>[0]>> = {
  broken: 'red',
  fixed: 'green',
  other: 'yellow',
  sql: 'dim',
  added: 'yellow',
  removed: 'yellow',
};

/** A case in a line, and below it why it is no pass. */
export function caseText(one: CaseResult, { style, width }: Screen): string {
  const rate = passRate(one);
  const flaky = one.flaky ? style('yellow', ' flaky') : '';
  const head = `${style(colors[one.outcome], one.outcome.padEnd(12))} ${one.id}${rate && `  ${rate}`}${flaky}`;
  const indent = ' '.repeat(13);
  const why = failureReasons(one).flatMap((text) =>
    wrapped(escapeControls(text), width === undefined ? Infinity : width - indent.length),
  );
  return [head, ...why.map((line) => `${indent}${style('dim', line)}`)].join('\n');
}

/** The figures of one column, or of several side by side. */
export function figuresText(columns: readonly FigureColumn[], { style }: Screen): string {
  const [titles = [], ...rows] = figureRows(columns);
  const lines = aligned(columns.length === 1 ? rows : [titles, ...rows]);
  return lines
    .map((line, at) => (columns.length > 1 && at === 0 ? style('bold', line) : line))
    .join('\n');
}

/** What changed, each case with the lines of its SQL that differ. */
export function comparisonText(comparison: RunComparison, { style }: Screen): string {
  const { differs, changes } = comparison;
  const listed = changes.filter(({ kind }) => kind !== 'sql');
  const others = changes.length - listed.length;
  const heads = aligned(
    listed.map(({ kind, id, before = 'not there', after = 'not there' }) => [
      kind,
      id,
      `${before} → ${after}`,
    ]),
  );
  const lines = listed.flatMap(({ kind, sql }, at) => {
    const head = heads[at] ?? '';
    return [`${style(kindColors[kind], kind)}${head.slice(kind.length)}`, ...hunks(sql, style)];
  });
  return [
    differs.length === 0
      ? 'Nothing of the context differs.'
      : `Other than then: ${differs.join(', ')}.`,
    '',
    ...(lines.length === 0 ? ['No outcome changed.'] : lines),
    ...(others === 0
      ? []
      : [`${formatCount(others, 'case')} came to the same outcome by other SQL.`]),
    `${formatCount(brokenCases(comparison).length, 'regression')}.`,
  ].join('\n');
}

const near = 1;

/** The lines that differ, with those around them. */
function hunks(sql: readonly DiffLine[], style: Screen['style']): readonly string[] {
  const isShown = sql.map((_, at) =>
    sql.slice(Math.max(0, at - near), at + near + 1).some(({ mark }) => mark !== ' '),
  );
  return sql.flatMap(({ mark, text }, at) => {
    if (isShown[at] !== true)
      return isShown[at - 1] === true && isShown.includes(true, at) ? [style('dim', '    …')] : [];
    const line = `    ${mark} ${escapeControls(text)}`;
    return [mark === ' ' ? style('dim', line) : style(mark === '-' ? 'red' : 'green', line)];
  });
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => textWidth(row[at] ?? ''))),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - textWidth(cell)))
      .join('  ')
      .trimEnd(),
  );
}

/** Cut between words; a word that is too long stays whole. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
