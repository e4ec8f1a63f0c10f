import { parseSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import type { SemanticQuery } from '../../semantic/query/query.ts';
import type { Project } from '../open/open.ts';
import { readLastLeftOut } from './review-queue.ts';

interface RefusedQuery {
  readonly query: Pick<SemanticQuery, 'metrics'>;
  readonly saved?: { readonly name: string; readonly file: string } | undefined;
}

/** Why a query has no answer, with what the project knows beyond its files. */
export function explainRefusal(
  project: Project,
  error: unknown,
  { query, saved }: RefusedQuery,
): unknown {
  const explained = explainLostMetric(project, error, query);
  return saved === undefined ? explained : aboutSaved(explained, saved);
}

/** The error of a saved query, with its file: whoever runs it may not have written it. */
function aboutSaved(error: unknown, { name, file }: { name: string; file: string }): unknown {
  if (!(error instanceof UserError)) return error;
  const { code, message, hint, exitCode, details } = error;
  const place = `The saved query ${name} stands in ${file}.`;
  const options = { hint: hint === undefined ? place : `${hint} ${place}`, exitCode, details };
  return new UserError(code, message, { ...options, cause: error });
}

/**
 * The error of a query that names a metric which does not exist, with why the last ingest left it
 * out, if it did. Callers of a server do not see what was left out: they get the error as it is.
 */
function explainLostMetric(
  project: Project,
  error: unknown,
  { metrics }: Pick<SemanticQuery, 'metrics'>,
): unknown {
  const isCaller = project.role !== undefined || project.person !== undefined;
  if (!(error instanceof UserError) || error.code !== 'unknown_name' || isCaller) return error;
  const named = metrics.filter(
    (metric) => typeof metric === 'string' && error.message.includes(metric),
  );
  const lost = readLastLeftOut(project).quarantined.find(({ subject }) => {
    const { type, dataset = '', name = '' } = parseSubject(subject) ?? {};
    return type === 'metric' && (named.includes(`${dataset}.${name}`) || named.includes(name));
  });
  if (lost === undefined) return error;
  const { code, message, hint, exitCode, details } = error;
  const place = lost.location === undefined ? '' : ` (${lost.location})`;
  const reason = `The last ingest left ${lost.subject} out${place}: ${lost.reason}`;
  return new UserError(code, `${message}. ${reason}`, {
    hint: [hint, 'ktx check names the fix.'].filter(Boolean).join(' '),
    exitCode,
    details,
    cause: error,
  });
}
