import type { Conflict, Waiting } from '../answers.ts';
import { nameSubject } from '../parts/text.ts';

/** What every question has. */
interface Asked {
  readonly key: string;
  /** The ids of all that is known about its subject and kind: what a decision is about. */
  readonly seen: readonly string[];
}

/** Something that a person can decide. */
export type Question = Asked &
  (
    | { readonly type: 'conflict'; readonly about: Conflict }
    | { readonly type: 'join'; readonly about: Waiting['joins'][number] }
    | { readonly type: 'fact'; readonly about: Waiting['unreviewed'][number] }
    | { readonly type: 'correction'; readonly about: Waiting['corrections'][number] }
  );

export const questionTitles: Readonly<Record<Question['type'], string>> = {
  conflict: 'Conflicts',
  join: 'Joins in doubt',
  fact: 'Unreviewed',
  correction: 'Corrections',
};

/** In the order in which `ktx review` asks. */
export function listQuestions(waiting: Waiting): readonly Question[] {
  const seen: readonly string[] = [];
  const questions: readonly Question[] = [
    ...waiting.conflicts.map((about) => ({
      type: 'conflict' as const,
      key: `${about.subject} ${about.kind}`,
      about,
      seen,
    })),
    ...waiting.joins.map((about) => ({ type: 'join' as const, key: about.id, about, seen })),
    ...waiting.unreviewed.map((about) => ({ type: 'fact' as const, key: about.id, about, seen })),
    ...waiting.corrections.map((about) => ({
      type: 'correction' as const,
      key: `${about.id} correction`,
      about,
      seen,
    })),
  ];
  const alike = Map.groupBy(questions, subjectAndKind);
  return questions.map((question) => ({
    ...question,
    seen: (alike.get(subjectAndKind(question)) ?? []).flatMap(idsOf),
  }));
}

function subjectAndKind(question: Question): string {
  return `${question.about.subject} ${pinnedKind(question)}`;
}

function idsOf(question: Question): readonly string[] {
  return question.type === 'conflict'
    ? question.about.variants.map(({ id }) => id)
    : [question.about.id];
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
  /** Several if the same was decided about them, as one commit. */
  readonly questions: readonly Question[];
  readonly path: string;
  readonly input: object;
  /** In words: `chose version 1`. */
  readonly says: string;
}

/** The decision that a number key or its button makes; undefined if there is no such choice. */
export function numberedDecision(question: Question, number: number): Decision | undefined {
  if (question.type !== 'conflict') {
    const verb = (['accept', 'reject'] as const)[number - 1];
    return verb && decideAll([question], verb);
  }
  const { about, seen } = question;
  const variant = about.variants[number - 1];
  if (variant === undefined) return undefined;
  const input = { subject: about.subject, kind: about.kind, version: variant.id, seen };
  const says = `chose version ${number}`;
  return { questions: [question], path: 'review/choose', input, says };
}

/** True if it can be decided together with others: what is accepted or rejected. */
export function isSelectable({ type }: Question): boolean {
  return type === 'join' || type === 'fact';
}

/** The same about all of them, as one commit. Conflicts are no part of it. */
export function decideAll(questions: readonly Question[], verb: 'accept' | 'reject'): Decision {
  const ids = questions.flatMap((question) =>
    question.type === 'conflict' ? [] : [question.about.id],
  );
  const seen = [...new Set(questions.flatMap((question) => question.seen))];
  return { questions, path: `review/${verb}`, input: { ids, seen }, says: `${verb}ed` };
}

/** A join under another name: accepted, if it is not in use yet. */
export function renaming(question: Question, role: string): Decision {
  const { input, ...decision } = decideAll([question], 'accept');
  return { ...decision, input: { ...input, role }, says: `named ${role}` };
}

export function ownDecision(question: Question, definition: string): Decision {
  const { about, seen } = question;
  const input = { subject: about.subject, kind: pinnedKind(question), definition, seen };
  return { questions: [question], path: 'review/edit', input, says: 'your definition' };
}

/** For 30 days, as `ktx review` does. */
export function deferral(question: Question, why: string): Decision {
  const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const reason = why.trim() === '' ? {} : { why: why.trim() };
  const { about, seen } = question;
  const input = { subject: about.subject, kind: pinnedKind(question), until, seen, ...reason };
  return { questions: [question], path: 'review/defer', input, says: `put off until ${until}` };
}

/** What the line about a decision names: a subject, or how many. */
export function decisionName({ questions }: Decision): string {
  const [first, ...others] = questions;
  const name = first === undefined ? '' : questionName(first);
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}
