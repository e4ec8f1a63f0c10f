import type { Json } from '../../lib/json.ts';
import type { SharedResults } from '../../store/shared/shared-results.ts';
import { extractUnits, skimPages, triagePages } from '../extract/read-units.ts';
import {
  brokenOutcome,
  journaledOutcome,
  openReadingStage,
  type ReadingStage,
} from '../extract/reading-stage.ts';
import { journaledVerdict } from '../extract/triage-page.ts';
import { type PendingItem, unitOf } from '../extract/work-units.ts';
import type { IngestModel } from '../model.ts';
import type { Snapshot } from '../project-snapshot.ts';
import { toFailure } from '../report.ts';
import { journalKeys, receiveUnit, type UnitJob, type UnitReply } from './unit-job.ts';

interface ReadJobOptions {
  readonly results: SharedResults;
  readonly snapshot: Snapshot;
  readonly model: Omit<IngestModel, 'journal'>;
  readonly signal: AbortSignal;
}

/**
 * Reads a unit for another process. What it reads is among the shared results when this resolves;
 * what is there already is not read again. Undefined if the unit is there no more: its run is over.
 */
export async function readJob(
  { unit, step }: UnitJob,
  { results, snapshot, model, signal }: ReadJobOptions,
): Promise<UnitReply | undefined> {
  const sent = (await results.find([unit])).get(unit);
  if (sent === undefined) return undefined;
  const items = receiveUnit(sent, snapshot.catalogs);
  const journal = await openUnitJournal(results, items);
  const stage = openReadingStage({
    findings: { connections: [], sources: [] },
    model: { ...model, journal },
    snapshot: async () => snapshot,
    asked: new Set(),
    isAnew: false,
    signal,
    emit: () => undefined,
  });
  await readItems(stage, step, items);
  signal.throwIfAborted();
  await journal.written();
  const { done, calls, failures } = stage.counts[step];
  return {
    unit,
    step,
    done,
    calls,
    failures: failures.map(toFailure),
    refused: stage.refused.flatMap(({ subject, kind, reason }) =>
      kind === 'reading' ? [{ subject, kind, reason }] : [],
    ),
    isOver: stage.isOver,
  };
}

async function readItems(
  stage: ReadingStage,
  step: UnitJob['step'],
  items: readonly PendingItem[],
): Promise<void> {
  const { journal } = stage.model;
  if (step === 'triage') return void (await triagePages(stage, items));
  const unread = items.filter((item) => journaledOutcome(journal, item) === undefined);
  if (step === 'light') {
    const pages = unread.filter((item) => journaledVerdict(item, stage.model) !== 'full');
    return skimPages(stage, pages, new Map());
  }
  for (const item of unread) {
    const accepted = brokenOutcome(journal, item);
    if (accepted !== undefined) stage.broken.set(item, accepted);
  }
  if (unread.length > 0) await extractUnits(stage, [unitOf(unread)]);
}

/** The journal of one unit: what it keeps is on its way to the others at once. */
async function openUnitJournal(results: SharedResults, items: readonly PendingItem[]) {
  const known = new Map(await results.find(items.flatMap(journalKeys)));
  const writing: Promise<void>[] = [];
  return {
    result: (key: string): Json | undefined => known.get(key),
    keep(key: string, result: Json): void {
      known.set(key, result);
      const written = results.keep(key, result);
      written.catch(() => undefined);
      writing.push(written);
    },
    /** Rejects if something could not be written. */
    written: async (): Promise<void> => void (await Promise.all(writing)),
  };
}
