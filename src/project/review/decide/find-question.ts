import { UserError } from '../../../lib/error.ts';
import { didYouMean } from '../../../lib/suggest.ts';
import type { Project } from '../../open/open.ts';
import type { OpenQuestion } from './deferred.ts';
import { listQuestions, loadQuestions } from '../review-queue.ts';

interface WantedQuestion {
  /** A subject, with or without its type and connection, or the beginning of an id. */
  readonly named: string;
  /** Needed only if several things about the subject are open. */
  readonly kind?: string | undefined;
}

/** The one open question that a person names, put off or not; an error with the choices if none. */
export async function findQuestion(
  project: Project,
  { named, kind }: WantedQuestion,
): Promise<OpenQuestion> {
  const all = listQuestions(await loadQuestions(project));
  const matches = all.filter(
    (question) => (kind === undefined || question.kind === kind) && isNamed(question, named),
  );
  const [match, ...others] = [...new Map(matches.map((own) => [questionKey(own), own])).values()];
  const ids = matches.flatMap((own) => own.ids);
  if (match !== undefined && others.length === 0) return { ...match, ids: [...new Set(ids)] };
  if (match === undefined)
    throw new UserError('question_unknown', `Nothing is open about ${named}.`, {
      hint:
        didYouMean(
          named.replaceAll(' ', ''),
          all.flatMap(({ subject }) => spellingsOf(subject)),
        ) ??
        'ktx review list shows what is open; ktx remember --corrects takes your words about the rest',
      exitCode: 2,
    });
  const kinds = [...new Set(matches.map((own) => own.kind))];
  throw new UserError('question_ambiguous', `${named} could be several questions.`, {
    hint:
      kinds.length > 1 ? `--kind ${kinds.join(' or ')}` : `name one by its id: ${ids.join(', ')}`,
    exitCode: 2,
  });
}

/** True if a person's words mean it: its subject, or the beginning of an id. */
export function isNamed(
  { subject, ids }: Pick<OpenQuestion, 'subject' | 'ids'>,
  named: string,
): boolean {
  const wanted = named.replaceAll(' ', '');
  return (
    spellingsOf(subject).includes(wanted) ||
    (wanted.length >= 4 && ids.some((id) => id.startsWith(wanted)))
  );
}

function questionKey({ subject, kind }: OpenQuestion): string {
  return `${subject} ${kind}`;
}

/** `metric:shop.orders.revenue`, `shop.orders.revenue`, `orders.revenue`. */
function spellingsOf(subject: string): readonly string[] {
  const untyped = subject.slice(subject.indexOf(':') + 1);
  return [subject, untyped, untyped.slice(untyped.indexOf('.') + 1)];
}
