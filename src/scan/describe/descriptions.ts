import PQueue from 'p-queue';
import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { UserError } from '../../lib/error.ts';
import { countRequests } from '../../llm/count-requests.ts';
import { isFatalToRun } from '../../llm/port/error.ts';
import type { ScanResult } from '../scan.ts';
import { askForBatch, type BatchAnswers } from './ask-for-batch.ts';
import type { DescribeContext } from './ask-for-description.ts';
import { type DescriptionBatch, planBatches, smallerBatches } from './description-batches.ts';
import {
  claimsFromAnswer,
  type DescriptionJournal,
  type DescriptionTask,
  planDescriptions,
} from './description-task.ts';
import type { ScanModel } from './scan-model.ts';
import { showTable } from './shown-table.ts';

export interface DescribeInput {
  readonly found: ScanResult;
  /** The current claims of the connection, from git. */
  readonly known: readonly Claim[];
  /** If undefined, known descriptions stay, and nothing is added. */
  readonly model: ScanModel | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

export interface Descriptions {
  readonly claims: readonly Claim[];
  /** Number of tables that lack a comment, or of which a column does, in the database. */
  readonly total: number;
  /** How many of them have descriptions for their current structure. */
  readonly done: number;
  /** Requests that reached the model. */
  readonly calls: number;
  /** The first failure; if there is one, `done` is less than `total`. */
  readonly failure?: UserError | undefined;
}

/**
 * Describes tables and columns that have no comment in the database. Small tables share a call. A
 * description is kept until the structure of its table changes.
 */
export async function describeTables(input: DescribeInput): Promise<Descriptions> {
  const { found, known, model, signal } = input;
  const tasks = planDescriptions(found.catalog, { known, journal: model?.journal });
  const pending = tasks.filter(({ current }) => current === undefined);
  const results: DescriptionResults =
    model === undefined
      ? { claims: new Map(), calls: 0 }
      : await describeAll(pending, model, input);
  signal.throwIfAborted();
  const currentClaims = tasks.flatMap(({ current }) => current ?? []);
  // A table without a new answer keeps its earlier description.
  const newClaims = pending.flatMap((task) => results.claims.get(task) ?? task.earlier);
  return {
    claims: [...currentClaims, ...newClaims],
    total: tasks.length,
    done: tasks.length - pending.length + results.claims.size,
    calls: results.calls,
    failure: results.failure,
  };
}

/** For each table that a model would be asked to describe, the number of descriptions it lacks. */
export function countUndescribedColumns(
  catalog: Catalog,
  options: { readonly known: readonly Claim[]; readonly journal: DescriptionJournal | undefined },
): number[] {
  return planDescriptions(catalog, options)
    .filter(({ current }) => current === undefined)
    .map(({ missing }) => missing.length);
}

interface DescriptionResults {
  readonly claims: ReadonlyMap<DescriptionTask, Claim[]>;
  readonly calls: number;
  readonly failure?: UserError | undefined;
}

async function describeAll(
  pending: readonly DescriptionTask[],
  asked: ScanModel,
  { found, signal, onProgress }: DescribeInput,
): Promise<DescriptionResults> {
  const { model, requests: sent } = countRequests(asked);
  const context: DescribeContext = { model, connection: found.catalog.connection, signal };
  const requests = pending.map((task) => ({ task, shown: showTable(task, found, model.send) }));
  const queue = new PQueue({ concurrency: model.concurrency });
  const claims = new Map<DescriptionTask, Claim[]>();
  let failure: UserError | undefined;
  let isOver = false;
  const keepAnswers = (answers: BatchAnswers): void => {
    // The answers were paid for, so they count even if the journal cannot store them.
    for (const [{ task }, answer] of answers) claims.set(task, claimsFromAnswer(task, answer));
    for (const [{ task }, answer] of answers) model.journal.keep(task.key, answer);
    onProgress(claims.size, pending.length);
  };
  /** Returns what has to be asked again. */
  const askOnce = async (batch: DescriptionBatch): Promise<DescriptionBatch[]> => {
    if (isOver) return [];
    try {
      const answers = await askForBatch(batch, context);
      keepAnswers(answers);
      return batch.filter((request) => !answers.has(request)).map((request) => [request]);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      isOver ||= isFatalToRun(error);
      const parts = smallerBatches(batch, error);
      if (parts.length === 0) failure ??= error;
      return parts;
    }
  };
  const ask = async (batch: DescriptionBatch): Promise<void> => {
    const parts = await queue.add(() => askOnce(batch));
    await Promise.all(parts.map(ask));
  };
  if (pending.length > 0) onProgress(0, pending.length);
  await Promise.all(planBatches(requests).map(ask));
  return { claims, calls: sent(), failure };
}
