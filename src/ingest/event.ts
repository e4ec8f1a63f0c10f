import type { PauseEvent } from '../llm/governor/retries/pause-event.ts';
import type { PlannedReads } from '../scan/profile/budget.ts';
import type { CommitReport, FileReport, UnitStage } from './report.ts';

/** What happens during an ingest, for the terminal and for NDJSON. */
export type IngestEvent =
  | { readonly type: 'lock_awaited'; readonly message: string }
  | { readonly type: 'connection_started'; readonly connection: string }
  | ({ readonly type: 'scan_planned'; readonly connection: string } & PlannedReads)
  | {
      readonly type: 'scan_progressed';
      readonly connection: string;
      readonly step: string;
      readonly done: number;
      readonly total: number;
    }
  | {
      readonly type: 'description_progressed';
      readonly connection: string;
      readonly done: number;
      readonly total: number;
    }
  | {
      readonly type: 'server_awaited';
      readonly connection: string;
      readonly host: string;
      /** ISO 8601. */
      readonly until: string;
    }
  | {
      readonly type: 'items_fetched';
      readonly connection: string;
      readonly added: number;
      readonly changed: number;
      readonly gone: number;
    }
  | { readonly type: 'work_units_planned'; readonly stage: UnitStage; readonly units: number }
  | {
      readonly type: 'work_unit_started';
      readonly unit: string;
      readonly stage: UnitStage;
      readonly items: readonly string[];
    }
  | {
      readonly type: 'work_unit_step';
      readonly unit: string;
      readonly stepIndex: number;
      readonly stepBudget: number;
    }
  | {
      readonly type: 'work_unit_finished';
      readonly unit: string;
      readonly stage: UnitStage;
      readonly outcome: 'natural' | 'budget' | 'error';
      readonly claims: number;
    }
  | { readonly type: 'curate_step'; readonly stepIndex: number; readonly stepBudget: number }
  | { readonly type: 'reconcile_step'; readonly stepIndex: number; readonly stepBudget: number }
  | PauseEvent
  | ({ readonly type: 'llm_usage' } & RunUsage)
  | {
      readonly type: 'publish_step';
      readonly step: PublishStep;
      readonly path?: string | undefined;
    }
  | { readonly type: 'published'; readonly commit: CommitReport; readonly files: FileReport };

/**
 * What all calls of the run have used so far; `input` excludes tokens that were read from or
 * written to a cache.
 */
interface RunUsage {
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** US dollars; null if the cost of a call is unknown. */
  readonly costUsd: number | null;
}

/**
 * The steps of publishing, in their order. A kill after any of them loses nothing; see
 * `publish.ts`.
 */
export type PublishStep =
  | 'base_recorded'
  | 'file_written'
  | 'file_removed'
  | 'claims_written'
  | 'commit_made'
  | 'index_refreshed';
