import { toFailure, type Quarantined, type StageReport } from '../report.ts';
import type { ProjectFindings, SourceFindings } from '../fetch/findings.ts';
import { hashItem, readingVersion, createTablesHasher } from '../fetch/item-files.ts';
import { openProposalsSession, type ItemOutcome } from './proposals-session.ts';
import { readLightly } from './skim-page.ts';
import { readFully } from './extraction-loop.ts';
import {
  atOnce,
  attempted,
  type Counted,
  failed,
  isOfItem,
  keep,
  openStage,
  paidOutcome,
  type ReadingRun,
  settle,
  type Stage,
} from './reading-stage.ts';
import { isSorted, knownVerdict, triage, triageKey, type Verdict } from './triage-page.ts';
import { pendingItems, type PendingItem, unitsOf, type WorkUnit } from './work-units.ts';

const confidences = { light: 0.6, extract: 0.7 } as const;

interface ReadByModel {
  readonly sources: readonly SourceFindings[];
  readonly stages: readonly StageReport[];
  /** Items that a model would not read, or could not: they stay pending. */
  readonly refused: readonly Quarantined[];
  readonly isOver: boolean;
}

/**
 * A model reads what code could not: pages are sorted first, then read in one call or, as all else, in a loop per work unit.
 * What was paid for is kept before it counts, and is never paid for again. What is not read stays pending, with the claims of before.
 */
export async function readWithModel(run: ReadingRun): Promise<ReadByModel> {
  const { findings, model, isAnew } = run;
  const pending = pendingItems(findings, { sources: run.asked, isAnew });
  const stage = openStage(run);
  const { outcomes, counts } = stage;
  for (const one of isAnew ? [] : pending) {
    const paid = paidOutcome(stage.model.journal, one);
    if (paid !== undefined) outcomes.set(one, paid);
  }
  const open = pending.filter((one) => !outcomes.has(one));
  const verdicts = await sortPages(stage, open);
  const sorted = Map.groupBy(open, (one) => verdicts.get(one) ?? 'unsorted');
  for (const one of sorted.get('skip') ?? [])
    settle(stage, 'triage', { one, outcome: { claims: [], unmapped: [] } });
  const light = sorted.get('light') ?? [];
  plan(stage, 'light', light.length);
  await atOnce(stage, light, (one) => readPage(stage, one));
  const unread = light.filter(
    (one) =>
      verdicts.get(one) === 'light' && !outcomes.has(one) && knownVerdict(one, model) === 'full',
  );
  const full = new Set([...(sorted.get('full') ?? []), ...unread]);
  const units = unitsOf(open.filter((one) => full.has(one)));
  plan(stage, 'extract', units.length);
  await atOnce(stage, units, (unit) => readUnit(stage, unit));
  run.signal.throwIfAborted();
  const left = (...kinds: readonly (Verdict | 'unsorted')[]) =>
    open.filter(
      (one) =>
        kinds.includes(full.has(one) ? 'full' : (verdicts.get(one) ?? 'unsorted')) &&
        !outcomes.has(one),
    ).length;
  const stages = [
    reportOf('triage', counts.triage, left('unsorted')),
    reportOf('light', counts.light, left('light')),
    reportOf('extract', counts.extract, left('full')),
  ];
  const worked = stages.filter(({ done, pending: rest, calls }) => done + rest + calls > 0);
  return {
    sources: withOutcomes(findings, outcomes),
    stages: worked,
    refused: stage.refused,
    isOver: stage.isOver,
  };
}

function reportOf(
  stage: StageReport['stage'],
  { done, calls, failures }: Counted,
  pending: number,
): StageReport {
  return { stage, done, pending, calls, failures: failures.map(toFailure) };
}

/** Undefined for pages that could not be sorted. */
async function sortPages(
  stage: Stage,
  items: readonly PendingItem[],
): Promise<Map<PendingItem, Verdict>> {
  const { model, signal, counts, emit, isAnew } = stage;
  const verdicts = new Map<PendingItem, Verdict>();
  for (const one of items) {
    const known = isSorted(one) ? (isAnew ? undefined : knownVerdict(one, model)) : 'full';
    if (known !== undefined) verdicts.set(one, known);
  }
  const unsorted = items.filter((one) => !verdicts.has(one));
  plan(stage, 'triage', unsorted.length);
  await atOnce(stage, unsorted, async (one) => {
    const unit = unitNamed(one);
    emit({ type: 'work_unit_started', unit, stage: 'triage', items: [unit] });
    const verdict = await attempted(stage, { name: 'triage', unit }, () =>
      triage(one, model, signal),
    );
    if (verdict === undefined) return;
    keep(stage, 'triage', { key: triageKey(one), result: verdict });
    verdicts.set(one, verdict);
    counts.triage.done += 1;
    emit({ type: 'work_unit_finished', unit, stage: 'triage', outcome: 'natural', claims: 0 });
  });
  return verdicts;
}

/** So that whoever looks on can say what is left. */
function plan({ emit }: Stage, stage: keyof Stage['counts'], units: number): void {
  if (units > 0) emit({ type: 'work_units_planned', stage, units });
}

const unitNamed = ({ connection, item }: PendingItem): string =>
  `sources/${connection}/${item.path}`;

/** One call for one page. */
async function readPage(stage: Stage, one: PendingItem): Promise<void> {
  const { model, signal, counts, emit } = stage;
  const [unit] = unitsOf([one]);
  if (unit === undefined) return;
  emit({ type: 'work_unit_started', unit: unit.id, stage: 'light', items: [unit.id] });
  const session = openProposalsSession(unit, {
    snapshot: await stage.snapshot(),
    confidence: confidences.light,
    signal,
  });
  const holds = await attempted(stage, { name: 'light', unit: unit.id }, () =>
    readLightly(unit, session, model),
  );
  if (holds === undefined) return;
  counts.light.done += 1;
  const outcome = session.outcomes().get(one.item.key);
  if (holds && outcome !== undefined) settle(stage, 'light', { one, outcome });
  // What one call could not say is read in a loop.
  else keep(stage, 'light', { key: triageKey(one), result: 'full' });
  emit({
    type: 'work_unit_finished',
    unit: unit.id,
    stage: 'light',
    outcome: 'natural',
    claims: holds ? (outcome?.claims.length ?? 0) : 0,
  });
}

/** A loop. With its steps, or the money, spent, the items that it came to are read and the others stay pending. */
async function readUnit(stage: Stage, unit: WorkUnit): Promise<void> {
  const { model, signal, counts, emit } = stage;
  emit({
    type: 'work_unit_started',
    unit: unit.id,
    stage: 'extract',
    items: unit.items.map(unitNamed),
  });
  const session = openProposalsSession(unit, {
    snapshot: await stage.snapshot(),
    confidence: confidences.extract,
    signal,
  });
  const onStep = ({
    stepIndex,
    stepBudget,
  }: {
    readonly stepIndex: number;
    readonly stepBudget: number;
  }) => emit({ type: 'work_unit_step', unit: unit.id, stepIndex, stepBudget });
  const { outcome, failure } = (await attempted(stage, { name: 'extract', unit: unit.id }, () =>
    readFully(unit, session, { model, onStep }),
  )) ?? { outcome: 'error' as const, failure: undefined };
  signal.throwIfAborted();
  if (failure !== undefined && unit.items.length > 1 && isOfItem(failure)) {
    emit({ type: 'work_unit_finished', unit: unit.id, stage: 'extract', outcome, claims: 0 });
    // One of them is in the way of the others: each alone.
    for (const alone of unit.items.flatMap((one) => unitsOf([one])))
      if (!stage.isOver) await readUnit(stage, alone);
    return;
  }
  if (failure !== undefined)
    failed(stage, { name: 'extract', ...(unit.items.length === 1 && { unit: unit.id }) }, failure);
  const isCut = outcome === 'budget' || failure?.code === 'llm_budget_spent';
  const outcomes = session.outcomes();
  let claims = 0;
  for (const one of outcome === 'natural' || isCut ? unit.items : []) {
    const own = outcomes.get(one.item.key) ?? { claims: [], unmapped: [] };
    if (isCut && own.claims.length + own.unmapped.length === 0) continue;
    settle(stage, 'extract', { one, outcome: own });
    counts.extract.done += 1;
    claims += own.claims.length;
  }
  emit({ type: 'work_unit_finished', unit: unit.id, stage: 'extract', outcome, claims });
}

const mostUnmapped = 20;

/** That an item says nothing of the data is no loss. */
function worthALine(unmapped: ItemOutcome['unmapped']): ItemOutcome['unmapped'] {
  return unmapped.filter(({ reason }) => reason !== 'nothing_to_claim').slice(0, mostUnmapped);
}

/** The findings with what was read now in place of what was read before. */
function withOutcomes(
  { sources, connections }: ProjectFindings,
  outcomes: ReadonlyMap<PendingItem, ItemOutcome>,
): readonly SourceFindings[] {
  const sliceOf = createTablesHasher(connections.map(({ catalog }) => catalog));
  const read = new Map([...outcomes].map(([one, outcome]) => [unitNamed(one), outcome]));
  return sources.map((source) => {
    const code = new Map(source.extractions.map((extraction) => [extraction.key, extraction]));
    const fresh = source.items.flatMap((item) => {
      const outcome = read.get(`sources/${source.connection}/${item.path}`);
      if (outcome === undefined) return [];
      const slice = sliceOf(code.get(item.key), outcome.claims);
      const state = {
        hash: hashItem(item),
        slice,
        extractor: `${source.extractor}+${readingVersion}`,
      };
      return [
        [
          item.key,
          {
            claims: outcome.claims,
            read: state,
            isCurrent: true,
            unmapped: worthALine(outcome.unmapped),
          },
        ] as const,
      ];
    });
    return { ...source, readings: new Map([...source.readings, ...fresh]) };
  });
}
