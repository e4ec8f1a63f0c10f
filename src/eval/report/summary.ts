import { outcomes, type EvalOutcome } from '../run/outcome.ts';
import type { CaseResult, EvalRun } from '../run/run-schema.ts';
import { meanInterval, wilsonInterval, type Interval } from './statistics.ts';

/** One column of a run in figures; means are of one attempt, intervals 95 %. */
export interface Summary {
  readonly cases: number;
  readonly counts: Readonly<Record<EvalOutcome, number>>;
  readonly flaky: number;
  readonly attempts: number;
  /** Of the attempts of which something can be said: without errors and what was skipped. */
  readonly accuracy: Interval | undefined;
  readonly tokens: Interval | undefined;
  readonly cost_usd: Interval | undefined;
  readonly ms: Interval | undefined;
}

export function summarizeCases(cases: readonly CaseResult[]): Summary {
  const attempts = cases.flatMap((each) => each.attempts);
  const decided = attempts.filter(({ outcome }) => outcome !== 'error' && outcome !== 'skipped');
  const answered = attempts.filter(
    ({ outcome, turns }) => outcome !== 'skipped' && turns.length > 0,
  );
  const sum = (
    read: (turn: (typeof attempts)[number]['turns'][number]) => number,
  ): readonly number[] =>
    answered.map(({ turns }) => turns.reduce((total, turn) => total + read(turn), 0));
  const isPriced = answered.every(({ turns }) =>
    turns.every(({ cost_usd: cost }) => cost !== null),
  );
  return {
    cases: cases.length,
    counts: Object.fromEntries(
      outcomes.map((one) => [one, cases.filter(({ outcome }) => outcome === one).length]),
    ) as Record<EvalOutcome, number>,
    flaky: cases.filter(({ flaky }) => flaky).length,
    attempts: attempts.length,
    accuracy: wilsonInterval(
      decided.filter(({ outcome }) => outcome === 'pass').length,
      decided.length,
    ),
    tokens: meanInterval(sum(({ tokens }) => tokens)),
    cost_usd: isPriced ? meanInterval(sum(({ cost_usd: cost }) => cost ?? 0)) : undefined,
    ms: meanInterval(sum(({ ms }) => ms)),
  };
}

interface Column {
  readonly title: string;
  readonly cases: readonly CaseResult[];
  readonly summary: Summary;
}

/** With context, and without where that was asked for. */
export function summaryColumns({ cases, without_context: without }: EvalRun): readonly Column[] {
  const own = {
    title: without === undefined ? 'result' : 'with context',
    cases,
    summary: summarizeCases(cases),
  };
  return without === undefined
    ? [own]
    : [own, { title: 'without context', cases: without, summary: summarizeCases(without) }];
}

/** The columns of a run, behind what it is compared with. */
export function columnsWithBaseline(
  before: Summary | undefined,
  run: EvalRun,
): readonly FigureColumn[] {
  const [own, ...without] = summaryColumns(run);
  if (before === undefined || own === undefined) return summaryColumns(run);
  return [
    { title: 'before', summary: before },
    { ...own, title: without.length === 0 ? 'now' : own.title },
    ...without,
  ];
}

export type FigureColumn = Pick<Column, 'title' | 'summary'>;

/** What every report shows, in the same words: a row of titles, then a row a figure, its name first. */
export function figureRows(columns: readonly FigureColumn[]): readonly (readonly string[])[] {
  const all = columns.map(({ summary }) => figures(summary));
  const rows = (all[0] ?? []).map(([name], at) => [
    name,
    ...all.map((figure) => figure[at]?.[1] ?? ''),
  ]);
  return [
    ['', ...columns.map(({ title }) => title)],
    ...rows.filter(([, ...texts]) => texts.some((text) => text !== '')),
  ];
}

function figures({
  counts,
  cases,
  flaky,
  accuracy,
  tokens,
  cost_usd: cost,
  ms,
}: Summary): readonly (readonly [name: string, text: string])[] {
  const said = (
    interval: Interval | undefined,
    [before, after]: readonly [string, string],
    text: (value: number) => string,
  ): string =>
    interval === undefined
      ? 'unknown'
      : `${before}${text(interval.value)}${after} (${text(interval.low)} to ${text(interval.high)})`;
  const others = outcomes
    .filter((one) => one !== 'pass' && counts[one] > 0)
    .map((one) => `${counts[one]} ${one}`);
  return [
    ['cases', `${counts.pass} of ${cases} pass`],
    ['not passed', others.join(', ')],
    ['flaky', flaky > 0 ? String(flaky) : ''],
    ['accuracy', said(accuracy, ['', ' %'], (value) => String(Math.round(value * 100)))],
    ['tokens a case', said(tokens, ['', ''], (value) => Math.round(value).toLocaleString('en-US'))],
    ['cost a case', said(cost, ['$', ''], (value) => value.toFixed(4))],
    ['time a case', said(ms, ['', ' s'], (value) => (value / 1000).toFixed(1))],
  ];
}

/** Why a case is not a pass, from its first attempt that is none. */
export function failureReasons({ attempts, reason, outcome }: CaseResult): readonly string[] {
  if (reason !== undefined) return [reason];
  const bad = attempts.find((each) => each.outcome !== 'pass');
  if (bad === undefined || outcome === 'pass') return [];
  return bad.turns.flatMap((turn, index) =>
    turn.findings
      .filter((finding) => finding.outcome !== 'pass')
      .map(({ grader, found, nearest }) => {
        const turnOf = bad.turns.length > 1 ? `turn ${index + 1}, ` : '';
        return `${turnOf}${grader}: ${found}${nearest === undefined ? '' : `; ${nearest}`}`;
      }),
  );
}

/** `3/5` where a case was asked more than once. */
export function passRate({ attempts }: CaseResult): string {
  const passed = attempts.filter(({ outcome }) => outcome === 'pass').length;
  const interval = wilsonInterval(passed, attempts.length);
  if (interval === undefined || attempts.length < 2) return '';
  return `${passed}/${attempts.length} (${Math.round(interval.low * 100)} to ${Math.round(interval.high * 100)} %)`;
}
