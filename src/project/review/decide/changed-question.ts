import { join } from 'node:path';
import {
  decideLater,
  noneOfThem,
  parsePins,
  type Pin,
  pinsPath,
} from '../../../context/claims/pins.ts';
import { UserError } from '../../../lib/error.ts';
import { readText } from '../../../store/files.ts';
import type { Project } from '../../open/open.ts';
import { listJoinsInUse } from '../joins.ts';
import { listQuestions, loadReviewQueue } from '../review-queue.ts';
import type { OpenQuestion } from './deferred.ts';
import { isNamed } from './find-question.ts';

interface SeenQuestion {
  /** Subjects as a person types them, or ids. */
  readonly named: readonly string[];
  readonly kind?: string | undefined;
  /** The ids of everything that was on the table when the person looked. */
  readonly seen: readonly string[];
}

/**
 * Throws `question_changed` if other versions are on the table than those that the person saw: who
 * decides would decide about what they have not read.
 */
export async function requireUnchanged(project: Project, asked: SeenQuestion): Promise<void> {
  const { named, kind, seen } = asked;
  const open = await listDecidable(project, named);
  const isAsked = (question: OpenQuestion) =>
    (kind === undefined || question.kind === kind) &&
    (named.some((name) => isNamed(question, name)) || question.ids.some((id) => seen.includes(id)));
  const keys = new Set(open.filter(isAsked).map(keyOf));
  const ids = new Set(open.filter((own) => keys.has(keyOf(own))).flatMap((own) => own.ids));
  const known = new Set(seen);
  const [added, gone] = [ids.difference(known), known.difference(ids)];
  if (added.size === 0 && gone.size === 0) return;
  throw changed(named, [
    ...(added.size === 0 ? [] : [`new: ${[...added].join(', ')}`]),
    ...(gone.size === 0 ? [] : [`no longer open: ${[...gone].join(', ')}`]),
    ...(await describeDecisions(project, { named, kind })),
  ]);
}

/** What is open, and the joins in use that are named: those can be rejected or named anew. */
async function listDecidable(
  project: Project,
  named: readonly string[],
): Promise<readonly OpenQuestion[]> {
  const open = listQuestions(await loadReviewQueue(project));
  const isOpen = (name: string) => open.some((question) => isNamed(question, name));
  if (named.every(isOpen)) return open;
  const joins = await listJoinsInUse(project);
  const subjects = new Set(open.map(({ subject }) => subject));
  return [
    ...open,
    ...joins
      .filter(({ subject }) => !subjects.has(subject))
      .map(({ subject, ids }) => ({ subject, kind: 'relationship', ids })),
  ];
}

/** Throws `question_changed` if another decision than the one that was seen would be taken back. */
export function requireOwnDecision(pin: Pin, seen: readonly string[] | undefined): void {
  if (seen === undefined || seen.includes(pin.choose)) return;
  throw changed([pin.subject], [`${pin.by ?? 'somebody'} decided since: ${pin.choose}`]);
}

function changed(named: readonly string[], news: readonly string[]): UserError {
  const message = `${named.join(', ')} changed since you looked: ${news.join('; ')}.`;
  return new UserError('question_changed', message, {
    hint: 'look again: ktx review list',
    exitCode: 2,
    details: { news },
  });
}

function keyOf({ subject, kind }: OpenQuestion): string {
  return `${subject} ${kind}`;
}

/** What people decided about it last, in words. */
async function describeDecisions(
  { dir }: Project,
  { named, kind }: Pick<SeenQuestion, 'named' | 'kind'>,
): Promise<readonly string[]> {
  const { pins, deferred } = parsePins(await readText(join(dir, pinsPath), dir));
  const about = [...pins, ...deferred].filter(
    (pin) =>
      (kind === undefined || pin.kind === kind) &&
      named.some((name) => isNamed({ subject: pin.subject, ids: pin.seen }, name)),
  );
  return about.map(({ subject, choose, by, at }) => {
    const what = new Map([
      [noneOfThem, 'rejected it'],
      [decideLater, 'put it off'],
    ]).get(choose);
    return `${by ?? 'somebody'} ${what ?? `chose ${choose}`} on ${at ?? 'an unknown day'} (${subject})`;
  });
}
