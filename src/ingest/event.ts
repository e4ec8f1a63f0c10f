import type { ExitCode } from '../lib/error.ts';

/** The steps of publishing, in their order. A kill after any of them loses nothing; see `publish.ts`. */
export type PublishStep = 'base_recorded' | 'file_written' | 'file_removed' | 'claims_written' | 'commit_made' | 'index_refreshed';

/** What happens during an ingest, for the terminal, NDJSON and MCP alike. The last event carries the report. */
export type IngestEvent =
  | { readonly type: 'ingest_started'; readonly runId: string; readonly connections: readonly string[] }
  | { readonly type: 'lock_awaited'; readonly message: string }
  | { readonly type: 'connection_started'; readonly connection: string }
  | {
      readonly type: 'scan_progressed';
      readonly connection: string;
      readonly step: string;
      readonly done?: number;
      readonly total?: number;
    }
  | { readonly type: 'stage_finished'; readonly stage: Stage; readonly ms: number }
  | { readonly type: 'connection_failed'; readonly connection: string; readonly error: Failure }
  | { readonly type: 'claim_quarantined'; readonly quarantined: Quarantined }
  | { readonly type: 'publish_step'; readonly step: PublishStep; readonly path?: string }
  | { readonly type: 'published'; readonly commit: CommitReport; readonly files: FileReport }
  | { readonly type: 'ingest_finished'; readonly report: IngestReport };

export type Stage = 'plan' | 'scan' | 'validate' | 'publish' | 'index';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly retryable: boolean;
}

/** A claim that was left out of the artifacts, or something of a person's in them that does not work. */
export interface Quarantined {
  readonly subject: string;
  readonly kind: string;
  readonly reason: string;
  /** Where it stands, for a person to fix: `path:line`. */
  readonly location?: string | undefined;
}

/** Paths relative to the project, sorted. */
export interface FileReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export interface CommitReport {
  readonly id?: string | undefined;
  /** Why there is no commit: `unchanged`, `merge under way`… Absent where there is one. */
  readonly none?: string | undefined;
  /** What went wrong after the commit, for a person to know. */
  readonly warning?: string | undefined;
}

export interface ConnectionReport {
  readonly connection: string;
  readonly failure?: Failure | undefined;
  readonly tables: number;
  readonly profiled: number;
  readonly reused: number;
  /** Statements sent to the warehouse. */
  readonly queries: number;
  readonly relationships: { readonly accepted: number; readonly review: number };
}

export interface IngestReport {
  readonly runId: string;
  readonly dryRun: boolean;
  readonly connections: readonly ConnectionReport[];
  readonly files: FileReport;
  /** What people changed and ktx left as it is: `dataset.path` and file. */
  readonly keptEdits: readonly { readonly path: string; readonly at: string }[];
  /** People's leftovers of what is gone from the warehouse; the file stays. */
  readonly stale: readonly { readonly path: string; readonly at: string }[];
  /** Files that were left alone, and why. */
  readonly leftAlone: readonly { readonly path: string; readonly reason: string }[];
  /** Uncommitted texts of generated files that were replaced, and where the copy is. */
  readonly setAside: readonly { readonly path: string; readonly copy: string }[];
  readonly quarantined: readonly Quarantined[];
  readonly commit: CommitReport;
  readonly queries: number;
  readonly milliseconds: Readonly<Partial<Record<Stage, number>>>;
  /** 0 complete, 1 failed, 3 partial, 4 authentication. */
  readonly exitCode: ExitCode;
}
