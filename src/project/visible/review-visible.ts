import { UserError } from '../../lib/error.ts';
import type { Project } from '../open/open.ts';
import { isNamed } from '../review/decide/find-question.ts';
import {
  listQuestions,
  loadQuestions,
  loadReviewQueue,
  type ReviewQueue,
} from '../review/review-queue.ts';
import type { ReviewedConflict } from '../review/review.ts';
import { openVisibleSubjects } from './visible-subjects.ts';

/**
 * What waits, as callers of a server may see it: nothing about what is hidden, no row rules, no
 * numbers over rows that the caller may not see, and nothing that only who runs ktx can correct.
 */
export async function loadVisibleQueue(project: Project): Promise<ReviewQueue> {
  const [queue, visible] = await Promise.all([
    loadReviewQueue(project),
    openVisibleSubjects(project),
  ]);
  const isVisible = ({ subject }: { readonly subject: string }) => visible.isVisible(subject);
  return {
    ...queue,
    contested: queue.contested
      .filter(isVisible)
      .map((own) => (visible.mayShowNumbers(own.subject) ? own : withoutNumbers(own))),
    joins: queue.joins.filter(isVisible),
    unreviewed: queue.unreviewed.filter((own) => own.kind !== 'access' && isVisible(own)),
    corrections: queue.corrections.filter(isVisible),
    stale: queue.stale.filter(isVisible),
    deferred: queue.deferred.filter(isVisible),
    quarantined: [],
    unfit: [],
  };
}

/** How a model explains the difference may have numbers, too. */
function withoutNumbers({ difference: _difference, ...own }: ReviewedConflict): ReviewedConflict {
  return { ...own, variants: own.variants.map(({ number: _number, ...variant }) => variant) };
}

/** Throws if a caller of a server would decide about what they may not see. */
export async function requireVisible(project: Project, named: readonly string[]): Promise<void> {
  const [questions, visible] = await Promise.all([
    loadQuestions(project),
    openVisibleSubjects(project),
  ]);
  const all = listQuestions(questions);
  const isVisible = (name: string): boolean => {
    const meant = all.filter((question) => isNamed(question, name));
    const rules = meant.some(({ kind }) => kind === 'access');
    if (meant.length === 0) return visible.isVisible(name);
    return !rules && meant.every(({ subject }) => visible.isVisible(subject));
  };
  const unseen = named.find((name) => !isVisible(name));
  if (unseen === undefined) return;
  throw new UserError('question_unknown', `Nothing is open about ${unseen}.`, {
    hint: 'ktx review on the machine of the server decides about what is hidden',
    exitCode: 2,
  });
}
