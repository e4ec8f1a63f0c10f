import { shortId } from '../../../context/claims/claim.ts';
import { parseSubject, parseWikiSubject } from '../../../context/claims/subject.ts';
import { UserError } from '../../../lib/error.ts';
import { explainSubject } from '../../answer/explain.ts';
import type { Project } from '../../open/open.ts';
import type { OpenQuestion } from './deferred.ts';

/**
 * What words of a person correct: the definition of a term, the text of a rule, the description of
 * a dataset, field or metric. An error with the choices if the name fits none or several.
 */
export async function findCorrected(
  project: Project,
  named: string,
  signal: AbortSignal,
): Promise<OpenQuestion> {
  const found = await explainSubject(project, { subject: named, measure: false }, { signal });
  const questions = found.flatMap(({ subject, claims }): OpenQuestion[] => {
    const kind = correctedKind(subject);
    if (kind === undefined) return [];
    return [{ subject, kind, ids: claims.filter((claim) => claim.kind === kind).map(shortId) }];
  });
  const [question, ...others] = questions;
  if (question !== undefined && others.length === 0) return question;
  throw new UserError(
    question === undefined ? 'correction_unusable' : 'question_ambiguous',
    question === undefined
      ? `Words correct a term, a rule, a dataset, a field or a metric, not ${named}.`
      : `${named} could be several things.`,
    {
      hint:
        question === undefined
          ? 'ktx review accept or reject decides about a join'
          : `name one: ${questions.map(({ subject }) => subject).join(' or ')}`,
      exitCode: 2,
    },
  );
}

/** The kind of what words about a subject take the place of; undefined for a join. */
export function correctedKind(subject: string): 'definition' | 'rule' | 'description' | undefined {
  const wiki = parseWikiSubject(subject)?.type;
  if (wiki !== undefined) return wiki === 'term' ? 'definition' : 'rule';
  const type = parseSubject(subject)?.type;
  return type === undefined || type === 'relationship' ? undefined : 'description';
}
