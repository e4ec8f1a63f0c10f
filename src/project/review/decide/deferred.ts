import { join } from 'node:path';
import { decideLater, parsePins, pinsPath, type Pin } from '../../../context/claims/pins.ts';
import { UserError } from '../../../lib/error.ts';
import { readText } from '../../../store/files.ts';
import type { Project } from '../../open/open.ts';
import { authorName } from '../author-name.ts';
import { readWritablePins } from './writable-pins.ts';

/** A question of the review queue: what it is about, and the claims that it is about. */
export interface OpenQuestion {
  readonly subject: string;
  readonly kind: string;
  /** Short ids of all claims on the table. */
  readonly ids: readonly string[];
}

/** A question that a person put off. */
export type DeferredQuestion = Pick<Pin, 'subject' | 'kind' | 'until' | 'why' | 'by' | 'at'>;

/** True for what people put off: it comes back with a new claim, or on the day that they named. */
export type DeferralCheck = (question: OpenQuestion) => boolean;

/** Reads what people put off, as of today. */
export async function readDeferrals({ dir }: Project): Promise<{
  readonly isDeferred: DeferralCheck;
  readonly list: (questions: readonly OpenQuestion[]) => readonly DeferredQuestion[];
}> {
  const { deferred } = parsePins(await readText(join(dir, pinsPath), dir));
  const today = new Date().toISOString().slice(0, 10);
  const find = ({ subject, kind, ids }: OpenQuestion) =>
    deferred.findLast(
      (pin) =>
        pin.subject === subject &&
        pin.kind === kind &&
        ids.every((id) => pin.seen.includes(id)) &&
        (pin.until === undefined || pin.until > today),
    );
  return {
    isDeferred: (question) => find(question) !== undefined,
    list: (questions) =>
      questions.flatMap((question) => {
        const pin = find(question);
        if (pin === undefined) return [];
        const { subject, kind, until, why, by, at } = pin;
        return [{ subject, kind, until, why, by, at }];
      }),
  };
}

interface DeferralRequest {
  readonly question: OpenQuestion;
  /** `2026-01-31` */
  readonly until?: string | undefined;
  readonly why?: string | undefined;
}

/** The entry of `pins.yaml` that puts a question off. */
export async function createDeferral(
  project: Project,
  { question, until, why }: DeferralRequest,
): Promise<Pin> {
  await readWritablePins(project);
  const today = new Date().toISOString().slice(0, 10);
  if (until !== undefined && !isFutureDay(until, today))
    throw new UserError('day_unusable', `${until} is not a day after today.`, {
      hint: `--until takes a day like ${dayAfter(today)}`,
      exitCode: 2,
    });
  return {
    subject: question.subject,
    kind: question.kind,
    choose: decideLater,
    seen: question.ids.toSorted(),
    ...(until !== undefined && { until }),
    by: await authorName(project),
    at: today,
    ...(why !== undefined && { why }),
  };
}

function isFutureDay(day: string, today: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === day && day > today;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 30 * 86_400_000).toISOString().slice(0, 10);
}
