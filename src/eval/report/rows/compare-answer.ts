import { UserError } from '../../../lib/error.ts';
import { didYouMean } from '../../../lib/suggest.ts';
import type { Project } from '../../../project/open/open.ts';
import { goldenRows } from '../../cases/golden-sql.ts';
import { type EvalCase, loadQuestionSets } from '../../cases/question-set.ts';
import { citedIds } from '../../grade/cited-ids.ts';
import { readRun } from '../../run/run-file.ts';
import type { GradedTurn } from '../../run/run-schema.ts';
import { alignRows, type AlignedRows } from './align-rows.ts';

interface AnswerToCompare {
  /** An id, `last` or `previous`, or a file. */
  readonly run: string;
  readonly caseId: string;
  /** From 1; undefined: of the first attempt that did not pass. */
  readonly attempt: number | undefined;
  readonly cwd: string;
}

interface ComparedAnswer extends AlignedRows {
  readonly run: string;
  readonly case: string;
  readonly attempt: number;
  readonly question: string;
  /** The query of the answer. */
  readonly query: string;
  readonly connection: string;
  readonly goldenSql: string;
  readonly sql: string;
  /** True if a result was cut off: what is missing may be there. */
  readonly truncated: boolean;
}

/**
 * The rows that a case expects beside those of an answer, as the warehouse has them now: a run
 * keeps no rows. Both statements pass the gate.
 */
export async function compareAnswer(
  project: Project,
  asked: AnswerToCompare,
  signal: AbortSignal,
): Promise<ComparedAnswer> {
  const { run, id, attempt, turn, goldenSql, query } = await findAnswer(project, asked);
  const own = await caseOf(project, id);
  const expected = own?.turns.findLast(({ expect }) => expect?.result !== undefined)?.expect;
  const { numeric, allow } = expected?.result?.match ?? exact;
  const connection = project.connection(own?.connection).name;
  const [golden, actual] = await Promise.all([
    goldenRows(project, { connection, sql: goldenSql }, signal),
    goldenRows(project, { connection: query.connection ?? connection, sql: query.sql }, signal),
  ]);
  return {
    run,
    case: id,
    attempt,
    question: turn.question,
    query: query.id,
    connection,
    goldenSql,
    sql: query.sql,
    truncated: golden.truncated || actual.truncated,
    ...alignRows(actual, golden, { numeric, allow }),
  };
}

/** What was asked for in the run, with both statements. */
async function findAnswer(
  { dir }: Project,
  { run: name, caseId, attempt: wanted, cwd }: AnswerToCompare,
) {
  const run = await readRun(dir, name, cwd);
  const graded = run.cases.find(({ id }) => id === caseId || id.endsWith(`/${caseId}`));
  if (graded === undefined)
    throw new UserError('case_unknown', `Run ${run.id} has no case ${caseId}.`, {
      hint:
        didYouMean(
          caseId,
          run.cases.map(({ id }) => id),
        ) ?? `ktx eval report ${run.id} lists them`,
      exitCode: 2,
    });
  const { id, attempts } = graded;
  const failed = attempts.findIndex(({ outcome }) => outcome !== 'pass');
  const attempt = wanted ?? Math.max(0, failed) + 1;
  const found = (attempts[attempt - 1]?.turns ?? []).flatMap(comparableTurn);
  const answer = found.findLast(({ turn }) => turn.outcome !== 'pass') ?? found.at(-1);
  if (answer !== undefined) return { run: run.id, id, attempt, ...answer };
  throw new UserError('rows_unknown', `Answer ${attempt} to ${id} has no rows to compare.`, {
    hint: 'it needs golden SQL, and an answer that rests on a query',
    exitCode: 2,
  });
}

/** The turn with both statements, if it has them: the query that the answer cites, or the last. */
function comparableTurn(turn: GradedTurn) {
  const { answer, queries, golden_sql: goldenSql } = turn;
  const cited = citedIds(answer);
  const used = queries.find(({ id }) => cited.includes(id)) ?? queries.at(-1);
  if (goldenSql === undefined || used?.sql === undefined) return [];
  const query = { id: used.id, connection: used.connection, sql: used.sql };
  return [{ turn, goldenSql, query }];
}

const exact = { numeric: { rel: 1e-9, abs: 1e-9 }, allow: [] };

/** As its file has it now; undefined if it is gone. */
async function caseOf(project: Project, id: string): Promise<EvalCase | undefined> {
  const [set = ''] = id.split('/');
  const sets = await loadQuestionSets(project.dir, { sets: [set] }).catch((error: unknown) => {
    if (error instanceof UserError) return [];
    throw error;
  });
  return sets.flatMap(({ cases }) => cases).find((own) => own.id === id);
}
