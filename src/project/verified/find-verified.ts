import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { queryWords, toSingular } from '../../search/words.ts';
import type { SemanticQuery } from '../../semantic/query/query.ts';
import { seesAllRows } from '../../semantic/resolve/row-rules.ts';
import type { Project } from '../open/open.ts';
import { hashBasis } from './basis.ts';
import { readAllVerified, type VerifiedQuestion } from './verified-file.ts';

/** When an answer passed an eval case, by which run, and which case. */
export type VerifiedMark = ReturnType<typeof verifiedMark>;

export function verifiedMark({ id, run, at }: VerifiedQuestion) {
  return { case: id, run, at };
}

/** What search prints and `--saved` takes. */
export function questionSubject({ id }: Pick<VerifiedQuestion, 'id'>): string {
  return `question:${id}`;
}

/** More would hide what else a search finds. */
const mostFound = 3;

/** Of the words of two texts together, how many both have. */
const leastShared = 0.5;

export interface FoundQuestion {
  readonly question: VerifiedQuestion;
  /** From 0.5 to 1: equal words. */
  readonly likeness: number;
}

/** The verified questions that ask almost what the text asks, best first. */
export async function findLikeQuestions(
  project: Project,
  text: string,
  connections: readonly string[],
): Promise<readonly FoundQuestion[]> {
  if (project.offersVerified === false) return [];
  const words = wordsOf(text);
  const alike = (await readAllVerified(project.dir))
    .filter(({ connection }) => connections.includes(connection))
    .map((question) => ({ question, likeness: likenessOf(words, wordsOf(question.question)) }))
    .filter(({ likeness }) => likeness >= leastShared)
    .toSorted((a, b) => b.likeness - a.likeness || (a.question.id < b.question.id ? -1 : 1));
  const found: FoundQuestion[] = [];
  for (const each of alike) {
    if (found.length === mostFound) break;
    if (await isOffered(project, each.question)) found.push(each);
  }
  return found;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(queryWords(text).map(toSingular));
}

/** Dice's coefficient. */
function likenessOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const shared = [...left].filter((word) => right.has(word)).length;
  return left.size + right.size === 0 ? 0 : (2 * shared) / (left.size + right.size);
}

/**
 * The verified question of that id or subject. Throws `question_unknown`, in the same words for one
 * that does not exist, one that is not verified any more, and one that the role must not see.
 */
export async function findVerifiedQuestion(
  project: Project,
  subject: string,
): Promise<VerifiedQuestion> {
  const id = subject.replace(/^question:/, '');
  const questions = project.offersVerified === false ? [] : await readAllVerified(project.dir);
  const found = questions.find((question) => question.id === id);
  if (found !== undefined && (await isOffered(project, found))) return found;
  throw new UserError('question_unknown', `There is no verified question ${id}.`, {
    hint: 'ktx search finds those that are verified now. An eval run verifies the cases that pass.',
    exitCode: 2,
  });
}

/** The case that this query passed as it stands, if it still holds. */
export async function findMarkOfQuery(
  project: Project,
  { connection, query }: { readonly connection: string; readonly query: SemanticQuery },
): Promise<VerifiedMark | undefined> {
  if (project.offersVerified === false) return undefined;
  const wanted = canonicalJson(query);
  for (const question of await readAllVerified(project.dir)) {
    const { answer } = question;
    const isSame =
      question.connection === connection &&
      answer.kind === 'query' &&
      canonicalJson(answer.query) === wanted;
    if (isSame && (await isOffered(project, question))) return verifiedMark(question);
  }
  return undefined;
}

async function isOffered(project: Project, question: VerifiedQuestion): Promise<boolean> {
  if (!project.warehouses.includes(question.connection)) return false;
  if (question.answer.kind === 'sql' && project.config.query.run_sql !== 'on') return false;
  if (!(await seesAllOf(project, question))) return false;
  return (await hashBasis(project, question)) === question.basis;
}

/**
 * True if row rules hide no row from the role that the answer reads. The answer that passed was one
 * of all rows: for others the question is not verified, and it may name what they must not see.
 */
export async function seesAllOf(
  project: Project,
  { connection, answer, uses }: Pick<VerifiedQuestion, 'connection' | 'answer' | 'uses'>,
): Promise<boolean> {
  // What the warehouse itself hides, ktx cannot see.
  if (project.warehouseIdentity(connection) !== undefined) return false;
  const { model } = await project.model(connection);
  if (!model.hasRules) return true;
  const used = [...model.datasets.values()].filter(
    ({ file }) => answer.kind === 'sql' || uses.includes(file),
  );
  return model.excluded.size === 0 && used.every((dataset) => seesAllRows(dataset, project.role));
}
