import { outcomes, type EvalOutcome } from '../run/outcome.ts';
import type { CaseResult, EvalRun, GradedTurn } from '../run/run-schema.ts';
import { meanInterval, wilsonInterval, type Interval, type RateInterval } from './statistics.ts';

/** The figures of a run. All are by case, however often it was asked; intervals are 95 %. */
export interface RunSummary {
  readonly cases: number;
  readonly counts: Readonly<Record<EvalOutcome, number>>;
  readonly flaky: number;
  readonly attempts: number;
  /** Cases that have an attempt that is right or wrong: neither weak, an error nor skipped. */
  readonly decided: number;
  /** The mean share of right attempts of the decided cases. */
  readonly accuracy: RateInterval | undefined;
  readonly tokens: Interval | undefined;
  /** Undefined if the cost of an attempt is unknown. */
  readonly cost_usd: Interval | undefined;
  readonly ms: Interval | undefined;
}

export function summarizeCases(cases: readonly CaseResult[]): RunSummary {
  const attempts = cases.flatMap((result) => result.attempts);
  const shares = cases.flatMap((result) => passShare(result) ?? []);
  const answered = cases
    .map((result) => result.attempts.filter(isAnswered))
    .filter((own) => own.length > 0);
  const meanPerCase = (valueOf: (turn: GradedTurn) => number) =>
    meanInterval(
      answered.map((own) => {
        const turns = own.flatMap((attempt) => attempt.turns);
        return turns.reduce((total, turn) => total + valueOf(turn), 0) / own.length;
      }),
    );
  const isPriced = answered
    .flat()
    .every(({ turns }) => turns.every((turn) => turn.cost_usd !== null));
  const counts = outcomes.map((outcome) => [
    outcome,
    cases.filter((result) => result.outcome === outcome).length,
  ]);
  return {
    cases: cases.length,
    counts: Object.fromEntries(counts) as Record<EvalOutcome, number>,
    flaky: cases.filter(({ flaky }) => flaky).length,
    attempts: attempts.length,
    decided: shares.length,
    accuracy: wilsonInterval(
      shares.reduce((sum, share) => sum + share, 0),
      shares.length,
    ),
    tokens: meanPerCase(({ tokens }) => tokens),
    cost_usd: isPriced ? meanPerCase((turn) => turn.cost_usd ?? 0) : undefined,
    ms: meanPerCase(({ ms }) => ms),
  };
}

/** What a call cost that broke off says nothing about what an answer costs. */
function isAnswered({ outcome, turns }: CaseResult['attempts'][number]): boolean {
  const isBrokenOff = turns.some(({ stop_reason: reason }) => reason === 'error');
  return outcome !== 'skipped' && turns.length > 0 && !isBrokenOff;
}

/** Outcomes that say nothing about the agent. */
const saysNothing: ReadonlySet<EvalOutcome> = new Set(['weak', 'error', 'skipped']);

/**
 * The share of right attempts among those that say something about the agent. Undefined if none
 * does: rows that show little, errors, and what was not asked, are neither right nor wrong.
 */
export function passShare({ attempts }: CaseResult): number | undefined {
  const decided = attempts.filter(({ outcome }) => !saysNothing.has(outcome));
  if (decided.length === 0) return undefined;
  return decided.filter(({ outcome }) => outcome === 'pass').length / decided.length;
}

interface SummaryColumn {
  readonly title: string;
  readonly cases: readonly CaseResult[];
  readonly summary: RunSummary;
}

/** One column for the run; a second one if it was also asked without context. */
export function summaryColumns({
  cases,
  without_context: bareCases,
}: EvalRun): readonly SummaryColumn[] {
  const summary = summarizeCases(cases);
  if (bareCases === undefined) return [{ title: 'result', cases, summary }];
  return [
    { title: 'with context', cases, summary },
    { title: 'without context', cases: bareCases, summary: summarizeCases(bareCases) },
  ];
}

export type FigureColumn = Pick<SummaryColumn, 'title' | 'summary'>;

/** The columns of a run, after that of its baseline. */
export function columnsWithBaseline(
  baseline: RunSummary | undefined,
  run: EvalRun,
): readonly FigureColumn[] {
  const [own, ...bare] = summaryColumns(run);
  if (baseline === undefined || own === undefined) return summaryColumns(run);
  return [
    { title: 'before', summary: baseline },
    { ...own, title: bare.length === 0 ? 'now' : own.title },
    ...bare,
  ];
}

/** The table that every report shows: a row of titles, then one row per figure, its name first. */
export function figureRows(columns: readonly FigureColumn[]): readonly (readonly string[])[] {
  const figuresByColumn = columns.map(({ summary }) => summaryFigures(summary));
  const names = (figuresByColumn[0] ?? []).map(([name]) => name);
  const rows = names.map((name, index) => [
    name,
    ...figuresByColumn.map((figures) => figures[index]?.[1] ?? ''),
  ]);
  return [
    ['', ...columns.map(({ title }) => title)],
    ...rows.filter(([, ...texts]) => texts.some((text) => text !== '')),
  ];
}

function summaryFigures({
  counts,
  cases,
  flaky,
  accuracy,
  tokens,
  cost_usd: cost,
  ms,
}: RunSummary): readonly (readonly [name: string, text: string])[] {
  const countsOf = (of: readonly EvalOutcome[]): string =>
    of
      .filter((outcome) => counts[outcome] > 0)
      .map((outcome) => `${counts[outcome]} ${outcome}`)
      .join(', ');
  const undecided = counts.weak + counts.error + counts.skipped;
  const percent = (value: number) => String(Math.round(value * 100));
  const wholeNumber = (value: number) => Math.round(value).toLocaleString('en-US');
  return [
    ['cases', `${counts.pass} of ${cases - undecided} pass`],
    ['not passed', countsOf(['fail', 'timeout', 'inconclusive'])],
    ['shows little', countsOf(['weak'])],
    ['not graded', countsOf(['error', 'skipped'])],
    ['flaky', flaky > 0 ? String(flaky) : ''],
    ['accuracy', intervalText(accuracy, { after: ' %', format: percent })],
    ['tokens a case', intervalText(tokens, { format: wholeNumber })],
    ['cost a case', intervalText(cost, { before: '$', format: (value) => value.toFixed(4) })],
    [
      'time a case',
      intervalText(ms, { after: ' s', format: (value) => (value / 1000).toFixed(1) }),
    ],
  ];
}

/** `87 % (62 to 96)` */
export function intervalText(
  interval: Interval | undefined,
  {
    before = '',
    after = '',
    format,
  }: {
    readonly before?: string;
    readonly after?: string;
    readonly format: (value: number) => string;
  },
): string {
  if (interval === undefined) return 'unknown';
  const { value, low, high } = interval;
  const text = `${before}${format(value)}${after}`;
  if (low === undefined || high === undefined) return text;
  return `${text} (${format(Math.max(0, low))} to ${format(high)})`;
}

/** Why a case did not pass, from its first attempt that did not; empty for a case that passed. */
export function failureReasons({ attempts, reason, outcome }: CaseResult): readonly string[] {
  if (reason !== undefined) return [reason];
  const failed = attempts.find((attempt) => attempt.outcome !== 'pass');
  if (failed === undefined || outcome === 'pass') return [];
  return failed.turns.flatMap(({ findings }, index) => {
    const turn = failed.turns.length > 1 ? `turn ${index + 1}, ` : '';
    return findings
      .filter((finding) => finding.outcome !== 'pass')
      .map(({ grader, found, nearest }) => {
        const example = nearest === undefined ? '' : `; ${nearest}`;
        return `${turn}${grader}: ${found}${example}`;
      });
  });
}

/** `3/5 (23 to 88 %)`; empty for a case that was asked once. */
export function passRate({ attempts }: CaseResult): string {
  const passed = attempts.filter(({ outcome }) => outcome === 'pass').length;
  const interval = wilsonInterval(passed, attempts.length);
  if (interval === undefined || attempts.length < 2) return '';
  const low = Math.round(interval.low * 100);
  const high = Math.round(interval.high * 100);
  return `${passed}/${attempts.length} (${low} to ${high} %)`;
}
