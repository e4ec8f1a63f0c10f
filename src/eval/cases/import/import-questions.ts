import { slug } from '../../../context/catalog/slug.ts';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Project } from '../../../project/open/open.ts';
import { goldenRows } from '../golden-sql.ts';
import {
  type ImportedQuestion,
  type LeftOutQuestion,
  type ReadQuestions,
} from './imported-question.ts';

/** A question that became a case of a question set. */
interface ImportedCase {
  readonly id: string;
  readonly question: string;
  readonly evidence?: string;
  readonly connection: string;
  readonly tags: readonly string[];
  readonly expect: { readonly result: { readonly golden_sql: string } };
}

interface ImportOptions extends ReadQuestions {
  /** The connection of all questions, instead of that of their database. */
  readonly connection: string | undefined;
  /** Ids that the question set has already. */
  readonly known: ReadonlySet<unknown>;
  /** Most new cases. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly onQuestion: (count: number) => void;
}

interface ImportedQuestions {
  readonly cases: readonly ImportedCase[];
  /** How many are in the question set already. */
  readonly kept: number;
  /** Ids of cases whose golden SQL finds nothing. */
  readonly weak: readonly string[];
  readonly left: readonly LeftOutQuestion[];
  /** Databases that no connection has, with how many questions wait for one. */
  readonly missing: readonly { readonly database: string; readonly questions: number }[];
}

/**
 * Makes cases of questions whose golden SQL runs on a connection of the project. Asks no model.
 * What is left out is named with the reason; a later import adds what works by then.
 */
export async function importQuestions(
  project: Project,
  options: ImportOptions,
): Promise<ImportedQuestions> {
  const { questions, limit, signal, onQuestion } = options;
  const results: QuestionResult[] = [];
  const seen = new Set<string>();
  let found = 0;
  for (const question of questions) {
    if (found >= limit) break;
    signal.throwIfAborted();
    onQuestion(results.length + 1);
    const result = await importQuestion(project, question, { ...options, seen });
    results.push(result);
    seen.add(question.id);
    if (result.kind === 'case') found += 1;
  }
  const imported = results.flatMap((result) => (result.kind === 'case' ? [result] : []));
  const databases = results.flatMap((result) =>
    result.kind === 'unconnected' ? [result.database] : [],
  );
  const missing = [...Map.groupBy(databases, (name) => name)].map(([database, all]) => ({
    database,
    questions: all.length,
  }));
  return {
    cases: imported.map(({ made }) => made),
    kept: results.filter(({ kind }) => kind === 'known').length,
    weak: imported.filter(({ isWeak }) => isWeak).map(({ made }) => made.id),
    left: [
      ...options.left,
      ...results.flatMap((result) => (result.kind === 'left' ? [result.left] : [])),
      ...missing.map(({ database, questions: count }) => ({
        what: formatCount(count, 'question'),
        why: `no connection has the database ${database}`,
      })),
    ],
    missing,
  };
}

/** What became of one question. */
type QuestionResult =
  | { readonly kind: 'case'; readonly made: ImportedCase; readonly isWeak: boolean }
  | { readonly kind: 'known' }
  | { readonly kind: 'left'; readonly left: LeftOutQuestion }
  | { readonly kind: 'unconnected'; readonly database: string };

async function importQuestion(
  project: Project,
  question: ImportedQuestion,
  { seen, known, connection: chosen, signal }: ImportOptions & { readonly seen: Set<string> },
): Promise<QuestionResult> {
  const { id, sql, database = '' } = question;
  const leaveOut = (why: string): QuestionResult => ({
    kind: 'left',
    left: { what: `${id} (${shorten(question.question)})`, why },
  });
  if (seen.has(id)) return leaveOut('its id stands twice in the file');
  if (known.has(id)) return { kind: 'known' };
  const connection = connectionOf(project, question, chosen);
  if (connection === undefined) return { kind: 'unconnected', database };
  const rows = await rowsOrProblem(project, { connection, sql }, signal);
  return typeof rows === 'string'
    ? leaveOut(rows)
    : { kind: 'case', made: toCase(question, connection), isWeak: rows === 0 };
}

/** An id alone says nothing where the file has none. */
function shorten(question: string): string {
  return question.length > 60 ? `${question.slice(0, 60)}…` : question;
}

/** Undefined if no connection has the name of the question's database. */
function connectionOf(
  project: Project,
  { database }: ImportedQuestion,
  chosen: string | undefined,
): string | undefined {
  if (chosen !== undefined || database === undefined) return project.connection(chosen).name;
  const names = [database.toLowerCase(), slug(database)];
  return project.warehouses.find((name) => names.includes(name.toLowerCase()));
}

/** How many rows the golden SQL has, or why it cannot be used. */
async function rowsOrProblem(
  project: Project,
  statement: Parameters<typeof goldenRows>[1],
  signal: AbortSignal,
): Promise<number | string> {
  try {
    const { rows, truncated } = await goldenRows(project, statement, signal);
    if (truncated) return 'its SQL has too many rows to compare';
    return rows.every((row) => row.every((cell) => cell === null)) ? 0 : rows.length;
  } catch (failure) {
    if (!(failure instanceof UserError) || signal.aborted) throw failure;
    return failure.message.split('\n')[0] ?? failure.code;
  }
}

function toCase(
  { id, question, evidence, tags, sql }: ImportedQuestion,
  connection: string,
): ImportedCase {
  return {
    id,
    question,
    ...(evidence === undefined ? {} : { evidence }),
    connection,
    tags,
    expect: { result: { golden_sql: sql } },
  };
}
