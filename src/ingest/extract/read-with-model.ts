import { uniteClaims } from '../../context/claims/claims-file.ts';
import type { ProjectFindings, SourceFindings } from '../fetch/findings.ts';
import { createTablesHasher, hashItem, readingVersion } from '../fetch/item-files.ts';
import { type Quarantined, type StageReport, toFailure } from '../report.ts';
import { withoutSetAside } from './attempts.ts';
import { outcomesOfWholes, splitItem } from './item-parts.ts';
import type { ItemOutcome } from './proposals/proposals-session.ts';
import { extractUnits, skimPages, triagePages } from './read-units.ts';
import {
  brokenOutcome,
  journaledOutcome,
  openReadingStage,
  type ReadingInput,
  type ReadingStage,
  type ReadingStep,
  recordOutcome,
} from './reading-stage.ts';
import type { PageVerdict } from './triage-page.ts';
import { groupIntoUnits, listPendingItems, type PendingItem } from './work-units.ts';

interface ModelReading {
  readonly sources: readonly SourceFindings[];
  /** Only of the steps that had work. */
  readonly stages: readonly StageReport[];
  /** Items that a model refused to read, or could not read; they stay pending. */
  readonly refused: readonly Quarantined[];
  /** No further call can succeed. */
  readonly isOver: boolean;
}

/**
 * A model reads what code could not. Pages are sorted first; then they are skipped, read in one
 * call, or read in a loop like all other items. Every result goes into the journal before it
 * counts, so that nothing is paid for twice. Items that are not read stay pending, with their
 * earlier claims.
 */
export async function readWithModel(input: ReadingInput): Promise<ModelReading> {
  const { findings, model, isAnew } = input;
  const stage = openReadingStage(input);
  const { outcomes } = stage;
  const pending = listPendingItems(findings, { sources: input.asked, isAnew });
  const split = new Set(pending.flatMap((item) => [item, ...splitItem(item)]));
  await input.workers?.recall([...split]);
  for (const item of isAnew ? [] : pending) {
    const outcome = journaledOutcome(model.journal, item);
    if (outcome !== undefined) outcomes.set(item, outcome);
  }
  const parts = pending.filter((item) => !outcomes.has(item)).flatMap(splitItem);
  for (const part of isAnew ? [] : parts) {
    const outcome = part.whole && journaledOutcome(model.journal, part);
    if (outcome !== undefined) outcomes.set(part, outcome);
  }
  const unread = parts.filter((part) => !outcomes.has(part));
  for (const part of isAnew ? [] : unread) {
    const outcome = brokenOutcome(model.journal, part);
    if (outcome !== undefined) stage.broken.set(part, outcome);
  }
  const open = withoutSetAside(stage, unread);
  const verdicts = await triagePages(stage, open);
  const withVerdict = (verdict: PageVerdict) =>
    open.filter((item) => verdicts.get(item) === verdict);
  for (const item of withVerdict('skip'))
    recordOutcome(stage, 'triage', { item, outcome: { claims: [], unmapped: [] } });
  await skimPages(stage, withVerdict('light'), verdicts);
  await extractUnits(stage, groupIntoUnits(withVerdict('full')));
  input.signal.throwIfAborted();
  const countLeft = (verdict: PageVerdict | undefined) =>
    unread.filter((item) => verdicts.get(item) === verdict && !outcomes.has(item)).length;
  const reports = [
    reportStep(stage, 'triage', countLeft(undefined)),
    reportStep(stage, 'light', countLeft('light')),
    reportStep(stage, 'extract', countLeft('full')),
  ];
  return {
    sources: applyOutcomes(findings, outcomesOfWholes(outcomes, parts), stage.broken),
    stages: reports.filter(({ done, pending: left, calls }) => done + left + calls > 0),
    refused: stage.refused,
    isOver: stage.isOver,
  };
}

function reportStep({ counts }: ReadingStage, step: ReadingStep, pending: number): StageReport {
  const { done, calls, failures } = counts[step];
  return { stage: step, done, pending, calls, failures: failures.map(toFailure) };
}

/**
 * The sources with the new outcomes in place of earlier readings, and with what was accepted beside
 * them where a reading broke off; the same object for a source without any.
 */
function applyOutcomes(
  { sources, connections }: ProjectFindings,
  outcomes: ReadonlyMap<PendingItem, ItemOutcome>,
  broken: ReadonlyMap<PendingItem, ItemOutcome>,
): readonly SourceFindings[] {
  const hashTables = createTablesHasher(connections.map(({ catalog }) => catalog));
  const byItem = new Map([...outcomes].map(([{ item }, outcome]) => [item, outcome]));
  const brokenByItem = Map.groupBy(broken, ([{ item }]) => item);
  return sources.map((source) => {
    const extractions = new Map(
      source.extractions.map((extraction) => [extraction.key, extraction]),
    );
    const readings = new Map(source.readings);
    const changed = source.items.filter((item) => byItem.has(item) || brokenByItem.has(item));
    if (changed.length === 0) return source;
    for (const item of changed) {
      const outcome = byItem.get(item);
      const reading = readings.get(item.key);
      if (outcome === undefined && reading !== undefined) {
        const accepted = brokenByItem.get(item)?.flatMap(([, own]) => own.claims) ?? [];
        const claims = uniteClaims([...reading.claims, ...accepted]);
        readings.set(item.key, { ...reading, claims });
      }
      if (outcome === undefined) continue;
      const { claims, unmapped } = outcome;
      const slice = hashTables(extractions.get(item.key), claims);
      const extractor = `${source.extractor}+${readingVersion}`;
      readings.set(item.key, {
        claims,
        read: { hash: hashItem(item), slice, extractor },
        isCurrent: true,
        unmapped: selectUnmapped(unmapped),
      });
    }
    return { ...source, readings };
  });
}

const mostUnmapped = 20;

/** That an item claims nothing about data is no loss, and not worth a line. */
function selectUnmapped(unmapped: ItemOutcome['unmapped']): ItemOutcome['unmapped'] {
  return unmapped.filter(({ reason }) => reason !== 'nothing_to_claim').slice(0, mostUnmapped);
}
