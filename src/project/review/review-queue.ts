import { join } from 'node:path';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import { loadLeftOut, type LeftOut } from '../../ingest/last-run.ts';
import { describeUnmapped } from '../../ingest/fetch/read-sources.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { openState } from '../../store/state.ts';
import { notesName, listSources } from '../open/config.ts';
import type { Project } from '../open/open.ts';
import { loadReviewedConflicts, type ReviewedConflict } from './review.ts';
import { listStaleSubjects } from './stale.ts';

/** What waits for a person, or for a model. */
export interface ReviewQueue extends LeftOut {
  readonly contested: readonly ReviewedConflict[];
  /** What leans on something that has changed since a model read it. */
  readonly stale: readonly { readonly subject: string; readonly why: string }[];
  /** Paths of items in which a model has yet to read. */
  readonly pending: readonly string[];
}

/** From the files and what the last run here left out; asks no warehouse and no source. */
export async function loadReviewQueue(project: Project): Promise<ReviewQueue> {
  const [contested, lines, stale] = await Promise.all([
    loadReviewedConflicts(project),
    linesOfItems(project),
    listStaleSubjects(project),
  ]);
  const pending = lines
    .flatMap(({ item, extractor }) => (extractor.endsWith('+pending') ? [item] : []))
    .sort();
  const { quarantined, unfit } = readLastLeftOut(project);
  // In a clone no run has told of anything yet; what a model could not claim is in git.
  const unmapped = lines.flatMap((line) => describeUnmapped(line.item, line.unmapped ?? []));
  const told = new Set(unfit.map(({ item, reason }) => `${item} ${reason}`));
  const untold = unmapped.filter(({ item, reason }) => !told.has(`${item} ${reason}`));
  return { contested, pending, stale, quarantined, unfit: [...unfit, ...untold] };
}

/** Of the last run in this folder; nothing in a fresh clone. */
export function readLastLeftOut({ dir }: Project): LeftOut {
  const state = openState(dir);
  try {
    return loadLeftOut(state) ?? { quarantined: [], unfit: [] };
  } finally {
    state.close();
  }
}

/** What git has of each item of the sources. */
async function linesOfItems({ dir, config }: Project) {
  const names = [...listSources(config).map(([name]) => name), notesName];
  const indexes = names.map(async (name) => {
    const lines = parseItemIndex(
      (await readText(join(dir, itemPath(name, 'index.jsonl')), dir)) ?? '',
    );
    return lines.map((line) => ({ ...line, item: itemPath(name, line.path) }));
  });
  return (await Promise.all(indexes)).flat();
}
