import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { markOwnStatement } from '../../history/statement-history.ts';
import type { QueryRows } from '../../driver.ts';
import { limitResultSize, rowSize } from '../../result-size.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { Cell } from '../../warehouse.ts';
import { type BigqueryApi, projectPath } from './api.ts';
import { BigqueryError, errorProtoSchema, throwTranslated } from './errors.ts';
import { type ApiField, bigqueryCell, fieldSchema, fieldTypeOf, rowSchema } from './values.ts';

export interface JobSettings {
  /** Pays for the jobs. */
  readonly project: string;
  readonly location?: string | undefined;
  readonly defaultDataset?: { readonly projectId: string; readonly datasetId: string } | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

export interface JobLimits extends CallLimits {
  readonly maxRows: number;
  /** The most that may be billed. */
  readonly maxBytes?: number | undefined;
  /** Who asks. */
  readonly asker?: string | undefined;
}

/** What BigQuery says about a statement without running it. */
export type DryRun = z.infer<typeof dryRunSchema>['statistics'];

const tableReferenceSchema = z.looseObject({
  projectId: z.string(),
  datasetId: z.string(),
  tableId: z.string(),
});
const routineReferenceSchema = z.looseObject({
  projectId: z.string(),
  datasetId: z.string(),
  routineId: z.string(),
});
const count = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d+$/)
      .transform(Number),
  ])
  .optional();

const dryRunSchema = z.looseObject({
  statistics: z.looseObject({
    totalBytesProcessed: count,
    query: z.looseObject({
      statementType: z.string().optional(),
      totalBytesProcessed: count,
      totalBytesProcessedAccuracy: z.string().optional(),
      referencedTables: z.array(tableReferenceSchema).default([]),
      referencedRoutines: z.array(routineReferenceSchema).default([]),
    }),
  }),
});

const jobSchema = z.looseObject({
  jobReference: z.looseObject({ location: z.string().optional() }).optional(),
  status: z.looseObject({ errorResult: errorProtoSchema.optional() }).optional(),
});

const pageSchema = z.looseObject({
  jobComplete: z.boolean(),
  schema: z.looseObject({ fields: z.array(fieldSchema).default([]) }).optional(),
  rows: z.array(rowSchema).default([]),
  pageToken: z.string().optional(),
  totalRows: count,
});
type RowsPage = z.infer<typeof pageSchema>;

const finishedSchema = z.looseObject({
  statistics: z.looseObject({
    totalSlotMs: count,
    query: z
      .looseObject({ totalBytesProcessed: count, totalBytesBilled: count, totalSlotMs: count })
      .default({}),
  }),
});

/** A job that was sent, or is about to be. */
interface SentJob {
  readonly id: string;
  /** Known when the API has answered. */
  location: string | undefined;
}

const mostRowsOfPage = 10_000;
/** In milliseconds: how long the API waits for the end of a job before it answers. */
const longestAnswer = 10_000;
/** In milliseconds, between two questions for the end of a job. */
const [shortestPause, longestPause] = [100, 1000];
const mostEmptyPages = 20;
const cancelTries = 5;

/** Statements as jobs of BigQuery. */
export class BigqueryJobs {
  readonly #api: BigqueryApi;
  readonly #settings: JobSettings;

  constructor(api: BigqueryApi, settings: JobSettings) {
    this.#api = api;
    this.#settings = settings;
  }

  /** Throws what BigQuery has against the statement. Costs nothing. */
  dryRun(sql: string, limits: CallLimits): Promise<DryRun> {
    const { location, project } = this.#settings;
    const request = {
      method: 'POST',
      path: projectPath(project, 'jobs'),
      json: {
        jobReference: { projectId: project, ...(location !== undefined && { location }) },
        configuration: { dryRun: true, ...this.#configuration(sql, {}) },
      },
      repeatable: true,
    } as const;
    const abort = new AbortController();
    return withTimeLimit({ ...limits, cancel: () => abort.abort() }, async () => {
      const answer = await this.#api.read(request, dryRunSchema, abort.signal);
      return answer.statistics;
    }).catch((error: unknown) => throwTranslated(error));
  }

  /** Runs a statement as a job. A job that is given up is cancelled. */
  run(sql: string, limits: JobLimits): Promise<QueryRows> {
    const job: SentJob = {
      id: `ktx_${crypto.randomUUID().replaceAll('-', '')}`,
      location: this.#settings.location,
    };
    const abort = new AbortController();
    let cancelling: Promise<void> | undefined;
    const cancel = (): void => {
      cancelling = this.#cancel(job);
      abort.abort();
    };
    const hintIfRunning = `The job is ${job.id} of project ${this.#settings.project}; it ends at its time limit.`;
    return withTimeLimit({ ...limits, cancel, hintIfRunning }, async (milliseconds) => {
      try {
        await this.#insert(
          job,
          { ...this.#configuration(sql, limits), milliseconds },
          abort.signal,
        );
        return await this.#readRows(job, limits.maxRows, abort.signal);
      } catch (error) {
        // A statement counts as stopped when BigQuery has heard of it.
        await cancelling;
        throw error;
      }
    }).catch((error: unknown) => throwTranslated(error));
  }

  #configuration(sql: string, { maxBytes, asker }: Pick<JobLimits, 'maxBytes' | 'asker'>) {
    const { defaultDataset, labels } = this.#settings;
    return {
      labels,
      query: {
        query: markOwnStatement(sql, asker),
        useLegacySql: false,
        useQueryCache: true,
        createSession: false,
        priority: 'INTERACTIVE',
        ...(defaultDataset !== undefined && { defaultDataset }),
        ...(maxBytes !== undefined && { maximumBytesBilled: String(Math.floor(maxBytes)) }),
      },
    };
  }

  /** The id is ours: a job that was sent twice is one job. */
  async #insert(
    job: SentJob,
    { milliseconds, ...configuration }: { readonly milliseconds: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { project } = this.#settings;
    const { id: jobId, location } = job;
    const request = {
      method: 'POST',
      path: projectPath(project, 'jobs'),
      json: {
        jobReference: { projectId: project, jobId, ...(location !== undefined && { location }) },
        configuration: { jobTimeoutMs: String(milliseconds), ...configuration },
      },
      repeatable: true,
    } as const;
    try {
      const sent = await this.#api.read(request, jobSchema, signal);
      job.location = sent.jobReference?.location ?? location;
      const failed = sent.status?.errorResult;
      if (failed !== undefined) throw jobError(failed);
    } catch (error) {
      const isSentTwice = error instanceof BigqueryError && error.code === 'duplicate';
      if (!isSentTwice) throw error;
    }
  }

  async #readRows(job: SentJob, maxRows: number, signal: AbortSignal): Promise<QueryRows> {
    const countBytes = limitResultSize();
    const first = await this.#firstPage(job, maxRows, signal);
    const fields = first.schema?.fields ?? [];
    const rows: Cell[][] = [];
    let emptyPages = 0;
    for (let page = first; ;) {
      for (const { f: cells } of page.rows.slice(0, maxRows + 1 - rows.length)) {
        const row = readRow(cells, fields);
        countBytes(rowSize(row));
        rows.push(row);
      }
      emptyPages = page.rows.length === 0 ? emptyPages + 1 : 0;
      if (emptyPages > mostEmptyPages)
        throw warehouseError('query_failed', 'BigQuery sends pages without rows and no end.');
      if (page.pageToken === undefined || rows.length > maxRows) break;
      const asked = { pageToken: page.pageToken, maxRows: maxRows + 1 - rows.length };
      page = await this.#page(job, asked, signal);
    }
    if (rows.length <= maxRows) requireWhole(rows.length, first);
    return {
      columns: fields.map((field) => ({ name: field.name, type: fieldTypeOf(field) })),
      rows: rows.slice(0, maxRows),
      truncated: rows.length > maxRows,
      cost: await this.#cost(job, signal),
    };
  }

  /** Asks until the job has ended. */
  async #firstPage(job: SentJob, maxRows: number, signal: AbortSignal): Promise<RowsPage> {
    for (let wait = shortestPause; ; wait = Math.min(longestPause, wait * 2)) {
      const asked = performance.now();
      const page = await this.#page(job, { maxRows: maxRows + 1 }, signal);
      if (page.jobComplete) return page;
      const waited = performance.now() - asked;
      if (waited < wait) await pause(wait - waited, undefined, { signal });
    }
  }

  #page(
    { id, location }: SentJob,
    { maxRows, pageToken }: { readonly maxRows: number; readonly pageToken?: string },
    signal: AbortSignal,
  ): Promise<RowsPage> {
    return this.#api.read(
      {
        method: 'GET',
        path: projectPath(this.#settings.project, 'queries', id),
        query: {
          maxResults: String(Math.min(maxRows, mostRowsOfPage)),
          timeoutMs: String(longestAnswer),
          'formatOptions.useInt64Timestamp': 'true',
          ...(location !== undefined && { location }),
          ...(pageToken !== undefined && { pageToken }),
        },
      },
      pageSchema,
      signal,
    );
  }

  /** What the job has cost. The rows are there: they count more than an answer to this. */
  async #cost({ id, location }: SentJob, signal: AbortSignal): Promise<QueryRows['cost']> {
    const path = projectPath(this.#settings.project, 'jobs', id);
    const query = { fields: 'statistics', ...(location !== undefined && { location }) };
    try {
      const job = await this.#api.read({ method: 'GET', path, query }, finishedSchema, signal);
      const { query: done, totalSlotMs } = job.statistics;
      return {
        bytesRead: done.totalBytesProcessed,
        bytesBilled: done.totalBytesBilled,
        slotMs: totalSlotMs ?? done.totalSlotMs,
      };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error) return undefined;
      throw error;
    }
  }

  /**
   * Resolves when BigQuery has taken the cancellation. A job that is still on its way is unknown
   * there for a moment; if it stays so, or nothing answers, never resolves.
   */
  async #cancel({ id, location }: SentJob): Promise<void> {
    const path = projectPath(this.#settings.project, 'jobs', id, 'cancel');
    const query: Record<string, string> = location === undefined ? {} : { location };
    const signal = AbortSignal.timeout(longestAnswer);
    const request = { method: 'POST', path, query, repeatable: true } as const;
    for (let tries = 1; tries <= cancelTries; tries += 1) {
      try {
        await this.#api.read(request, z.unknown(), signal);
        return;
      } catch {
        await pause(shortestPause, undefined, { ref: false });
      }
    }
    await new Promise<never>(() => undefined);
  }
}

function jobError({ reason = 'error', message = reason }: z.infer<typeof errorProtoSchema>) {
  return new BigqueryError(reason, message, 200);
}

function requireWhole(read: number, { totalRows = read }: RowsPage): void {
  if (totalRows === read) return;
  throw warehouseError('query_failed', `BigQuery announced ${totalRows} rows and sent ${read}.`);
}

function readRow(cells: readonly { readonly v?: unknown }[], fields: readonly ApiField[]): Cell[] {
  if (cells.length !== fields.length)
    throw warehouseError('query_failed', 'BigQuery sent a row of other columns.');
  return fields.map((field, index) => bigqueryCell(cells[index]?.v, field));
}
