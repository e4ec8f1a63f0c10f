import { type Pin, takenBack } from '../../../context/claims/pins.ts';
import { UserError } from '../../../lib/error.ts';
import { didYouMean } from '../../../lib/suggest.ts';
import { listNotes } from '../../open/known-notes.ts';
import type { Project } from '../../open/open.ts';
import { listQuestions, loadQuestions } from '../review-queue.ts';
import { requireOwnDecision } from './changed-question.ts';
import { readWritablePins } from './writable-pins.ts';

interface UndoRequest {
  /** A subject, with or without its type and connection; or the id of what was chosen. */
  readonly named: string;
  /** Needed only if several things about the subject were decided. */
  readonly kind?: string | undefined;
  /** What the decision chose, as whoever takes it back knows it. */
  readonly seen?: readonly string[] | undefined;
}

/** Takes the newest decision about a subject back. */
export async function createUndo(
  project: Project,
  { named, kind, seen }: UndoRequest,
): Promise<Pin> {
  const { pins, deferred } = await readWritablePins(project);
  const decided = [...pins, ...deferred];
  const matches = decided.filter(
    (pin) =>
      (spellings(pin.subject).includes(named) || isChoice(pin, named)) &&
      (kind === undefined || pin.kind === kind),
  );
  const known = matches.filter(({ choose }) => seen?.includes(choose) === true);
  const questions = new Map(
    (known.length > 0 ? known : matches).map((pin) => [`${pin.subject} ${pin.kind}`, pin]),
  );
  const [pin, ...others] = questions.values();
  if (pin !== undefined && others.length === 0) {
    // The newest: what was seen may have another decision after it.
    const newest = decided.findLast(
      ({ subject, kind: about }) => subject === pin.subject && about === pin.kind,
    );
    requireOwnDecision(newest ?? pin, seen);
    return { subject: pin.subject, kind: pin.kind, choose: takenBack, seen: [] };
  }
  if (pin === undefined)
    throw new UserError('decision_unknown', `Nobody has decided about ${named}.`, {
      hint:
        (await noteHint(project, named)) ??
        didYouMean(
          named,
          decided.map(({ subject }) => subject),
        ) ??
        decidedHint(decided),
      exitCode: 2,
    });
  const [first = pin] = matches;
  const isKind = others.every((own) => own.subject === first.subject);
  throw new UserError('decision_ambiguous', `${named} could be several decisions.`, {
    hint: isKind
      ? `--kind ${[pin, ...others].map((own) => own.kind).join(' or ')}`
      : `name one: ${[pin, ...others].map((own) => own.subject).join(' or ')}`,
    exitCode: 2,
  });
}

/** In words, what holds now that a decision is taken back and the files are up to date. */
export async function describeUndone(
  project: Project,
  { subject, kind }: Pick<Pin, 'subject' | 'kind'>,
): Promise<string> {
  const isMeant = (own: Pick<Pin, 'subject' | 'kind'>) =>
    own.subject === subject && own.kind === kind;
  if (listQuestions(await loadQuestions(project)).some(isMeant)) return 'open again';
  const { pins } = await readWritablePins(project);
  const before = pins.findLast(isMeant);
  if (before === undefined) return 'taken back; nothing about it is open without it';
  const { choose, by } = before;
  const whose = by === undefined ? '' : ` of ${by}`;
  return `taken back; the decision${whose} before it holds again: ${choose}`;
}

/** Notes are no decisions. */
async function noteHint(project: Project, named: string): Promise<string | undefined> {
  const notes = named.length < 4 ? [] : await listNotes(project);
  const note = notes.find(({ id }) => id.startsWith(named));
  return note && `it is a note: ktx forget ${note.id} removes it`;
}

/** True for the id of what was chosen, or its beginning. */
function isChoice({ choose }: Pin, named: string): boolean {
  return /^[0-9a-f]{6,}$/.test(named) && choose.startsWith(named);
}

/** What can be taken back, the newest first. */
function decidedHint(decided: readonly Pin[]): string {
  const subjects = [...new Set(decided.toReversed().map(({ subject }) => subject))];
  if (subjects.length === 0) return 'pins.yaml has no decision';
  const shown = subjects.slice(0, 3).map((subject) => `ktx review undo ${subject}`);
  return `${shown.join(', or ')}; pins.yaml has all decisions`;
}

/** `metric:shop.orders.revenue`, `shop.orders.revenue`, `orders.revenue`. */
function spellings(subject: string): readonly string[] {
  const untyped = subject.slice(subject.indexOf(':') + 1);
  return [subject, untyped, untyped.slice(untyped.indexOf('.') + 1)];
}
