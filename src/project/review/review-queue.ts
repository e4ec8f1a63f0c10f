import { join } from 'node:path';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import { loadLeftOut, type LeftOut } from '../../ingest/last-run.ts';
import { describeUnmapped } from '../../ingest/fetch/source-report.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { openState } from '../../store/state.ts';
import { listSources, notesName } from '../open/config.ts';
import type { Project } from '../open/open.ts';
import { listJoinsInDoubt, type ReviewedJoin } from './joins.ts';
import { loadReviewedConflicts, type ReviewedConflict } from './review.ts';
import { listUnreviewed, type UnreviewedFact } from './unreviewed.ts';
import { listStaleSubjects, type StaleSubject } from './stale.ts';

/** Everything that waits for a person or a model. */
export interface ReviewQueue extends LeftOut {
  readonly contested: readonly ReviewedConflict[];
  /** Joins that no query uses until a person accepts them. */
  readonly joins: readonly ReviewedJoin[];
  /** Metrics and times that only a model read or names suggest: answers say so. */
  readonly unreviewed: readonly UnreviewedFact[];
  /** Subjects whose evidence has changed since a model read it. */
  readonly stale: readonly StaleSubject[];
  /** Paths of the items that no model has read yet. */
  readonly pending: readonly string[];
}

/**
 * Reads the project's files and the record of the last run. Connects to no warehouse and no source.
 */
export async function loadReviewQueue(project: Project): Promise<ReviewQueue> {
  const [contested, joins, unreviewed, items, stale] = await Promise.all([
    loadReviewedConflicts(project),
    listJoinsInDoubt(project),
    listUnreviewed(project),
    readItemIndexes(project),
    listStaleSubjects(project),
  ]);
  const pending = items
    .filter(({ extractor }) => extractor.endsWith('+pending'))
    .map(({ item }) => item)
    .sort();
  const { quarantined, unfit } = readLastLeftOut(project);
  // A clone has no record of the last run, but git has what the model could not turn into claims.
  const unmapped = items.flatMap(({ item, unmapped: facts = [] }) => describeUnmapped(item, facts));
  const recorded = new Set(unfit.map(({ item, reason }) => `${item} ${reason}`));
  const unrecorded = unmapped.filter(({ item, reason }) => !recorded.has(`${item} ${reason}`));
  return {
    contested,
    joins,
    unreviewed,
    pending,
    stale,
    quarantined,
    unfit: [...unfit, ...unrecorded],
  };
}

/** What the last run in this folder left out of the artifacts; empty in a fresh clone. */
export function readLastLeftOut({ dir }: Project): LeftOut {
  const state = openState(dir);
  try {
    return loadLeftOut(state) ?? { quarantined: [], unfit: [] };
  } finally {
    state.close();
  }
}

/** The index lines of all sources, each with the path of its item. */
async function readItemIndexes({ dir, config }: Project) {
  const names = [...listSources(config).map(([name]) => name), notesName];
  const indexes = names.map(async (name) => {
    const text = (await readText(join(dir, itemPath(name, 'index.jsonl')), dir)) ?? '';
    return parseItemIndex(text).map((line) => ({ ...line, item: itemPath(name, line.path) }));
  });
  return (await Promise.all(indexes)).flat();
}
