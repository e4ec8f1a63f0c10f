import { join } from 'node:path';
import { loadLeftOut, type LeftOut } from '../../ingest/last-run.ts';
import { describeUnmapped } from '../../ingest/fetch/source-report.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { openState } from '../../store/state.ts';
import { listSources } from '../open/config.ts';
import { loadItemIndex } from '../../ingest/fetch/load-item-index.ts';
import type { Project } from '../open/open.ts';
import { type ChangeSummary, listRecords, summarizeRecord } from '../propose/change-record.ts';
import { noteUnknownConflicts } from './conflicts.ts';
import { correctionQuestion, listCorrections, type ProposedCorrection } from './corrections.ts';
import { listJoinsInDoubt, type ReviewedJoin } from './joins.ts';
import { loadReviewedConflicts, type ReviewedConflict } from './review.ts';
import { listUnreviewed, type UnreviewedFact } from './unreviewed.ts';
import { listStaleSubjects, type StaleSubject } from './stale.ts';
import { type DeferredQuestion, type OpenQuestion, readDeferrals } from './decide/deferred.ts';
import { sortByImpact } from './impact.ts';
import { notesName } from '../../sources/notes/note-files.ts';

/** Everything that waits for a person or a model. */
export interface ReviewQueue extends Omit<LeftOut, 'goneEdits'> {
  readonly contested: readonly ReviewedConflict[];
  /** A sentence, if nobody knows what is contested. */
  readonly unknown?: string | undefined;
  /** Joins that no query uses until a person accepts them. */
  readonly joins: readonly ReviewedJoin[];
  /** Metrics and times that only a model read or names suggest: answers say so. */
  readonly unreviewed: readonly UnreviewedFact[];
  /** What agents propose in place of what holds. */
  readonly corrections: readonly ProposedCorrection[];
  /** Subjects whose evidence has changed since a model read it, and edits of what is gone. */
  readonly stale: readonly StaleSubject[];
  /** Paths of the items that no model has read yet. */
  readonly pending: readonly string[];
  /** What people put off; it is in none of the lists above. */
  readonly deferred: readonly DeferredQuestion[];
  /** What was proposed through the server, as far as this machine knows. */
  readonly changes: readonly ChangeSummary[];
}

/**
 * Reads the project's files and the record of the last run. Connects to no warehouse and no source.
 */
export async function loadReviewQueue(project: Project): Promise<ReviewQueue> {
  const [questions, items, stale, deferrals, changes, unknown] = await Promise.all([
    loadQuestions(project),
    readItemIndexes(project),
    listStaleSubjects(project),
    readDeferrals(project),
    listRecords(project.dir),
    noteUnknownConflicts(project.dir, 'what is contested'),
  ]);
  const isOpen = (question: OpenQuestion) => !deferrals.isDeferred(question);
  const pending = items
    .filter(({ extractor }) => extractor.endsWith('+pending'))
    .map(({ item }) => item)
    .sort();
  const { quarantined, unfit } = readLastLeftOut(project);
  const edits = await listGoneEdits(project);
  // A clone has no record of the last run, but git has what the model could not turn into claims.
  const unmapped = items.flatMap(({ item, unmapped: facts = [] }) => describeUnmapped(item, facts));
  const recorded = new Set(unfit.map(({ item, reason }) => `${item} ${reason}`));
  const unrecorded = unmapped.filter(({ item, reason }) => !recorded.has(`${item} ${reason}`));
  return {
    unknown,
    contested: questions.contested.filter((conflict) => isOpen(conflictQuestion(conflict))),
    joins: questions.joins.filter((doubt) => isOpen(joinQuestion(doubt))),
    unreviewed: questions.unreviewed.filter((fact) => isOpen(factQuestion(fact))),
    corrections: questions.corrections.filter((own) => isOpen(correctionQuestion(own))),
    deferred: deferrals.list(listQuestions(questions)),
    pending,
    stale: [...stale, ...edits.map(({ path, why }) => ({ subject: path, why }))],
    changes: changes.map(summarizeRecord),
    quarantined,
    unfit: [...unfit, ...unrecorded],
  };
}

type Questions = Pick<ReviewQueue, 'contested' | 'joins' | 'unreviewed' | 'corrections'>;

/** What a person can decide, whether it is put off or not. */
export async function loadQuestions(project: Project): Promise<Questions> {
  const [contested, joins, unreviewed, corrections] = await Promise.all([
    loadReviewedConflicts(project),
    listJoinsInDoubt(project),
    listUnreviewed(project),
    listCorrections(project),
  ]);
  const sorted = await sortByImpact(project, contested);
  return { contested: sorted, joins, unreviewed, corrections };
}

export function listQuestions({
  contested,
  joins,
  unreviewed,
  corrections,
}: Questions): OpenQuestion[] {
  return [
    ...contested.map(conflictQuestion),
    ...joins.map(joinQuestion),
    ...unreviewed.map(factQuestion),
    ...corrections.map(correctionQuestion),
  ];
}

function conflictQuestion({ subject, kind, variants }: ReviewedConflict): OpenQuestion {
  return { subject, kind, ids: variants.map(({ id }) => id) };
}

function joinQuestion({ subject, id }: ReviewedJoin): OpenQuestion {
  return { subject, kind: 'relationship', ids: [id] };
}

function factQuestion({ subject, kind, id }: UnreviewedFact): OpenQuestion {
  return { subject, kind, ids: [id] };
}

/** What the last run in this folder left out of the artifacts; empty in a fresh clone. */
export function readLastLeftOut({ dir }: Project): LeftOut {
  const state = openState(dir);
  try {
    return loadLeftOut(state) ?? { quarantined: [], unfit: [], goneEdits: [] };
  } finally {
    state.close();
  }
}

interface GoneEdit {
  /** `customers.fields.country` */
  readonly path: string;
  /** The file. */
  readonly at: string;
  readonly why: string;
}

/** People's edits of what the warehouse and the sources no longer have, while their files exist. */
export async function listGoneEdits(project: Project): Promise<readonly GoneEdit[]> {
  const { goneEdits } = readLastLeftOut(project);
  const found = goneEdits.map(async ({ path, at }): Promise<GoneEdit[]> => {
    const text = await readText(join(project.dir, at), project.dir);
    return text === undefined ? [] : [{ path, at, why: `gone; your edit stays in ${at}` }];
  });
  return (await Promise.all(found)).flat();
}

/** The index lines of all sources, each with the path of its item. */
async function readItemIndexes({ dir, config }: Project) {
  const names = [...listSources(config).map(([name]) => name), notesName];
  const indexes = names.map(async (name) => {
    return (await loadItemIndex(dir, name)).map((line) => ({
      ...line,
      item: itemPath(name, line.path),
    }));
  });
  return (await Promise.all(indexes)).flat();
}
