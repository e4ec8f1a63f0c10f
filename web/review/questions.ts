import type { Conflict, Waiting } from '../answers.ts';
import { nameSubject } from '../parts/text.ts';

/** Something that a person can decide. */
export type Question =
  | { readonly type: 'conflict'; readonly key: string; readonly about: Conflict }
  | { readonly type: 'join'; readonly key: string; readonly about: Waiting['joins'][number] }
  | { readonly type: 'fact'; readonly key: string; readonly about: Waiting['unreviewed'][number] }
  | {
      readonly type: 'correction';
      readonly key: string;
      readonly about: Waiting['corrections'][number];
    };

export const questionTitles: Readonly<Record<Question['type'], string>> = {
  conflict: 'Conflicts',
  join: 'Joins in doubt',
  fact: 'Unreviewed',
  correction: 'Corrections',
};

/** In the order in which `ktx review` asks. */
export function listQuestions(waiting: Waiting): readonly Question[] {
  return [
    ...waiting.conflicts.map((about) => ({
      type: 'conflict' as const,
      key: `${about.subject} ${about.kind}`,
      about,
    })),
    ...waiting.joins.map((about) => ({ type: 'join' as const, key: about.id, about })),
    ...waiting.unreviewed.map((about) => ({ type: 'fact' as const, key: about.id, about })),
    ...waiting.corrections.map((about) => ({
      type: 'correction' as const,
      key: `${about.id} correction`,
      about,
    })),
  ];
}

/** What a decision about it is kept under in `pins.yaml`. */
export function pinnedKind(question: Question): string {
  return question.type === 'join' ? 'relationship' : question.about.kind;
}

export function questionName(question: Question): string {
  return nameSubject(question.about.subject).name;
}

/** A decision, as the routes of the server take it. */
export interface Decision {
  readonly question: Question;
  readonly path: string;
  readonly input: object;
  /** In words: `chose version 1`. */
  readonly says: string;
}

/** The decision that a number key or its button makes; undefined if there is no such choice. */
export function numberedDecision(question: Question, number: number): Decision | undefined {
  const { about } = question;
  if (question.type === 'conflict') {
    const variant = question.about.variants[number - 1];
    if (variant === undefined) return undefined;
    const input = { subject: about.subject, kind: question.about.kind, version: variant.id };
    return { question, path: 'review/choose', input, says: `chose version ${number}` };
  }
  const verb = (['accept', 'reject'] as const)[number - 1];
  if (verb === undefined) return undefined;
  const id = question.about.id;
  return { question, path: `review/${verb}`, input: { id }, says: `${verb}ed` };
}

export function ownDecision(question: Question, definition: string): Decision {
  const input = { subject: question.about.subject, kind: pinnedKind(question), definition };
  return { question, path: 'review/edit', input, says: 'your definition' };
}

/** For 30 days, as `ktx review` does. */
export function deferral(question: Question, why: string): Decision {
  const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const reason = why.trim() === '' ? {} : { why: why.trim() };
  const { subject } = question.about;
  const input = { subject, kind: pinnedKind(question), until, ...reason };
  return { question, path: 'review/defer', input, says: `put off until ${until}` };
}
