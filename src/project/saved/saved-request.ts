import { canonicalJson } from '../../lib/json.ts';
import { UserError } from '../../lib/error.ts';
import { querySchema, type SemanticQuery } from '../../semantic/query/query.ts';
import { changeQuery } from '../../semantic/query/saved-query.ts';
import type { planQuery } from '../answer/query.ts';
import type { Project } from '../open/open.ts';
import { findMarkOfQuery, findVerifiedQuestion, verifiedMark } from '../verified/find-verified.ts';
import type { VerifiedQuestion } from '../verified/verified-file.ts';
import { findSavedQuery } from './saved-queries.ts';

interface QueryCall {
  readonly connection?: string | undefined;
  /** A saved query, or the subject of a verified question. */
  readonly saved?: string | undefined;
  /** The query; beside `saved`, what it adds and replaces. */
  readonly query: Partial<SemanticQuery>;
}

export type AskedQuery =
  | { readonly kind: 'query'; readonly request: Parameters<typeof planQuery>[1] }
  /** A verified question that SQL answers. */
  | { readonly kind: 'sql'; readonly sql: string; readonly question: VerifiedQuestion };

/** What a call asks: its query, or the saved or verified one with what the call changes. */
export async function resolveQueryCall(
  project: Project,
  { connection, saved: name, query }: QueryCall,
): Promise<AskedQuery> {
  if (name === undefined)
    return { kind: 'query', request: { connection, query: querySchema.parse(query) } };
  if (name.startsWith('question:')) return askVerified(project, name, query);
  const saved = await findSavedQuery(project, name, connection);
  const changed = querySchema.parse(changeQuery(saved.query, query));
  const verified = await findMarkOfQuery(project, { ...saved, query: changed });
  return {
    kind: 'query',
    request: { connection: saved.connection, query: changed, saved, verified },
  };
}

async function askVerified(
  project: Project,
  subject: string,
  given: Partial<SemanticQuery>,
): Promise<AskedQuery> {
  const question = await findVerifiedQuestion(project, subject);
  const { answer, connection } = question;
  if (answer.kind === 'query') {
    const changed = querySchema.parse(changeQuery(answer.query, given));
    const isAsVerified = canonicalJson(changed) === canonicalJson(answer.query);
    const verified = isAsVerified ? verifiedMark(question) : undefined;
    return { kind: 'query', request: { connection, query: changed, verified } };
  }
  const [change] = Object.keys(given);
  if (change === undefined) return { kind: 'sql', sql: answer.sql, question };
  throw new UserError('query_fixed', `SQL answers ${subject}, so ${change} cannot change it.`, {
    hint: 'Ask for it alone, or ask for metrics.',
    exitCode: 2,
  });
}

/** What a query is that says nothing. */
const unchanged = querySchema.parse({});

/** The parts that say something: a call comes with the defaults of all others. */
export function givenParts(query: Partial<SemanticQuery>): Partial<SemanticQuery> {
  return Object.fromEntries(
    Object.entries(query).filter(
      ([key, value]) =>
        JSON.stringify(value) !== JSON.stringify(unchanged[key as keyof SemanticQuery]),
    ),
  );
}
