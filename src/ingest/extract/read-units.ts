import type { UserError } from '../../lib/error.ts';
import { isContextTooLong } from '../../llm/port/error.ts';
import { noteAttempt } from './attempts.ts';
import { runExtractionLoop } from './extraction-loop.ts';
import { openProposalsSession, type ProposalsSession } from './proposals/proposals-session.ts';
import {
  brokenOutcome,
  isFaultOfText,
  journaledOutcome,
  type ReadingStage,
  type ReadingStep,
  recordBroken,
  recordFailure,
  recordOutcome,
  runConcurrently,
  saveResult,
  tryCall,
} from './reading-stage.ts';
import { skimPage } from './skim-page.ts';
import {
  journaledVerdict,
  needsTriage,
  type PageVerdict,
  triageKey,
  triagePage,
} from './triage-page.ts';
import {
  halveItems,
  type PendingItem,
  pendingPath,
  singleItemUnit,
  unitOf,
  type WorkUnit,
} from './work-units.ts';

/** Tells the observers of the run how much work is ahead. */
function announceUnits({ emit }: ReadingStage, stage: ReadingStep, units: number): void {
  if (units > 0) emit({ type: 'work_units_planned', stage, units });
}

/** The verdict of each item. Pages that could not be sorted have none. */
export async function triagePages(
  stage: ReadingStage,
  items: readonly PendingItem[],
): Promise<Map<PendingItem, PageVerdict>> {
  const { model, signal, counts, emit, isAnew } = stage;
  const verdicts = new Map<PendingItem, PageVerdict>();
  for (const item of items) {
    const earlier = isAnew ? undefined : journaledVerdict(item, model);
    const verdict = needsTriage(item) ? earlier : 'full';
    if (verdict !== undefined) verdicts.set(item, verdict);
  }
  const unsorted = items.filter((item) => !verdicts.has(item));
  announceUnits(stage, 'triage', unsorted.length);
  if (stage.workers !== undefined) {
    await stage.workers.read(stage, 'triage', chunk(unsorted));
    for (const item of unsorted) {
      const verdict = journaledVerdict(item, model);
      if (verdict !== undefined) verdicts.set(item, verdict);
    }
    return verdicts;
  }
  await runConcurrently(stage, unsorted, async (item) => {
    const unit = pendingPath(item);
    emit({ type: 'work_unit_started', unit, stage: 'triage', items: [unit] });
    const verdict = await tryCall(stage, { step: 'triage', unit }, (counted) =>
      triagePage(item, counted, signal),
    );
    const finish = (outcome: 'natural' | 'error') =>
      emit({ type: 'work_unit_finished', unit, stage: 'triage', outcome, claims: 0 });
    if (verdict === undefined) return finish('error');
    saveResult(stage, 'triage', { key: triageKey(item), result: verdict });
    verdicts.set(item, verdict);
    counts.triage.done += 1;
    finish('natural');
  });
  return verdicts;
}

/** Reads each page in one call. A page for which that is not enough gets the verdict `full`. */
export async function skimPages(
  stage: ReadingStage,
  pages: readonly PendingItem[],
  verdicts: Map<PendingItem, PageVerdict>,
): Promise<void> {
  const { model, counts, emit } = stage;
  announceUnits(stage, 'light', pages.length);
  if (stage.workers !== undefined) {
    await stage.workers.read(stage, 'light', chunk(pages));
    for (const item of pages) {
      takeJournaled(stage, item);
      const verdict = stage.outcomes.has(item) ? undefined : journaledVerdict(item, model);
      if (verdict === 'full') verdicts.set(item, verdict);
    }
    return;
  }
  await runConcurrently(stage, pages, async (item) => {
    const unit = singleItemUnit(item);
    emit({ type: 'work_unit_started', unit: unit.id, stage: 'light', items: [unit.id] });
    const session = await openUnitSession(stage, unit, 'light');
    const isAccepted = await tryCall(stage, { step: 'light', unit: unit.id }, (counted) =>
      skimPage(unit, session, counted),
    );
    const finish = (how: 'natural' | 'error', claims: number) =>
      emit({ type: 'work_unit_finished', unit: unit.id, stage: 'light', outcome: how, claims });
    if (isAccepted === undefined) return finish('error', 0);
    counts.light.done += 1;
    const outcome = isAccepted ? session.outcomes().get(item.item.key) : undefined;
    if (outcome !== undefined) recordOutcome(stage, 'light', { item, outcome });
    else {
      saveResult(stage, 'light', { key: triageKey(item), result: 'full' });
      // A verdict that the journal did not take is not acted upon either.
      if (journaledVerdict(item, model) === 'full') verdicts.set(item, 'full');
    }
    finish('natural', outcome?.claims.length ?? 0);
  });
}

/** Pages that a worker gets at once: a job for each would cost more than its calls. */
const pagesAtOnce = 10;

function chunk(pages: readonly PendingItem[]): WorkUnit[] {
  const bySource = Object.values(Object.groupBy(pages, ({ connection }) => connection));
  return bySource.flatMap((own = []) =>
    Array.from({ length: Math.ceil(own.length / pagesAtOnce) }, (_, index) =>
      unitOf(own.slice(index * pagesAtOnce, (index + 1) * pagesAtOnce)),
    ),
  );
}

/** Takes from the journal what a worker read in the item. */
function takeJournaled({ model, outcomes, broken }: ReadingStage, item: PendingItem): void {
  const outcome = journaledOutcome(model.journal, item);
  if (outcome !== undefined) return void outcomes.set(item, outcome);
  const accepted = brokenOutcome(model.journal, item);
  if (accepted !== undefined) broken.set(item, accepted);
}

/** Reads the units in loops. */
export async function extractUnits(stage: ReadingStage, units: readonly WorkUnit[]): Promise<void> {
  announceUnits(stage, 'extract', units.length);
  if (stage.workers === undefined)
    return runConcurrently(stage, units, (unit) => extractUnit(stage, unit));
  await stage.workers.read(stage, 'extract', units);
  for (const item of units.flatMap(({ items }) => items)) takeJournaled(stage, item);
}

/** The code of an answer that the loop could not use. */
const unusable = 'llm_invalid_output';

/** Claims of a loop count more than those of one call. */
const confidences = { light: 0.6, extract: 0.7 } as const;

async function openUnitSession(
  { snapshot, signal, broken }: ReadingStage,
  unit: WorkUnit,
  step: keyof typeof confidences,
): Promise<ProposalsSession> {
  const confidence = confidences[step];
  const kept = new Map(
    unit.items.map((item) => [pendingPath(item), broken.get(item)?.claims ?? []]),
  );
  return openProposalsSession(unit, { snapshot: await snapshot(), confidence, kept, signal });
}

/**
 * Reads a unit in a loop. If its steps or the budget are spent, the items that have an outcome are
 * read and the others pending.
 */
async function extractUnit(stage: ReadingStage, unit: WorkUnit): Promise<void> {
  const { signal, emit } = stage;
  const items = unit.items.map(pendingPath);
  emit({ type: 'work_unit_started', unit: unit.id, stage: 'extract', items });
  const session = await openUnitSession(stage, unit, 'extract');
  const onStep = ({ stepIndex, stepBudget }: { stepIndex: number; stepBudget: number }) =>
    emit({ type: 'work_unit_step', unit: unit.id, stepIndex, stepBudget });
  const result = await tryCall(stage, { step: 'extract', unit: unit.id }, (model) =>
    runExtractionLoop(unit, session, { model, onStep }),
  );
  const { outcome, failure } = result ?? { outcome: 'error' as const, failure: undefined };
  signal.throwIfAborted();
  const finish = (claims: number) =>
    emit({ type: 'work_unit_finished', unit: unit.id, stage: 'extract', outcome, claims });
  if (failure !== undefined && unit.items.length > 1 && isFaultOfText(failure)) {
    finish(recordFinished(stage, unit, session));
    return extractParts(stage, unit, failure);
  }
  if (failure !== undefined) recordFailure(stage, { step: 'extract' }, failure);
  const isCut = outcome === 'budget' || failure?.code === 'llm_budget_spent';
  finish(recordRead(stage, { unit, session, isWhole: outcome === 'natural' || isCut }));
  // A loop whose turns are spent and that has left nothing would do the same again.
  const isSpent = outcome === 'budget' && session.outcomes().size === 0;
  if (result !== undefined && (!isCut || isSpent)) noteUnread(stage, { unit, session, failure });
}

interface ReadUnit {
  readonly unit: WorkUnit;
  readonly session: ProposalsSession;
  /** False if the reading broke off: what was accepted is kept, and the items stay pending. */
  readonly isWhole: boolean;
}

/** Records what the session has of each item. Returns the number of claims. */
function recordRead(stage: ReadingStage, { unit, session, isWhole }: ReadUnit): number {
  const outcomes = session.outcomes();
  let claims = 0;
  for (const item of unit.items) {
    const outcome = outcomes.get(item.item.key);
    if (outcome === undefined) continue;
    claims += outcome.claims.length;
    if (isWhole) {
      recordOutcome(stage, 'extract', { item, outcome });
      stage.counts.extract.done += 1;
    } else if (outcome.claims.length > 0) recordBroken(stage, item, outcome);
  }
  return claims;
}

interface FinishedUnit {
  readonly unit: WorkUnit;
  readonly session: ProposalsSession;
  readonly failure: UserError | undefined;
}

/** The items that a model had before it and said nothing about count as one attempt each. */
function noteUnread(stage: ReadingStage, { unit, session, failure }: FinishedUnit): void {
  const isOfText = failure === undefined || isFaultOfText(failure) || failure.code === unusable;
  for (const item of isOfText ? unit.items : []) {
    if (stage.outcomes.has(item)) continue;
    const refusal = session.refusalOf(pendingPath(item));
    const why =
      refusal === undefined
        ? 'the model ended without a claim or a report about it'
        : `every proposal was refused: ${refusal}`;
    noteAttempt(stage, 'extract', { item, reason: failure?.message ?? why });
  }
}

/**
 * Records the items that were read before the others failed: they are not paid for again. Returns
 * the number of claims.
 */
function recordFinished(stage: ReadingStage, unit: WorkUnit, session: ProposalsSession): number {
  const outcomes = session.outcomes();
  const finished = session.finished();
  let claims = 0;
  for (const item of unit.items) {
    const outcome = outcomes.get(item.item.key);
    if (outcome === undefined || !finished.has(item.item.key)) continue;
    recordOutcome(stage, 'extract', { item, outcome });
    stage.counts.extract.done += 1;
    claims += outcome.claims.length;
  }
  return claims;
}

/**
 * Reads the rest of a unit: by halves if it is too long together, else one by one, because one item
 * keeps the model from the others.
 */
async function extractParts(
  stage: ReadingStage,
  unit: WorkUnit,
  failure: UserError,
): Promise<void> {
  const rest = unit.items.filter((item) => !stage.outcomes.has(item));
  const parts = isContextTooLong(failure) ? halveItems(rest) : rest.map(singleItemUnit);
  for (const part of parts) if (!stage.isOver) await extractUnit(stage, part);
}
