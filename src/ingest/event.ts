import type { Conflict } from '../context/compile/conflicts.ts';
import type { ExitCode, UserError } from '../lib/error.ts';
import type { Json } from '../lib/json.ts';

/** The steps of publishing, in their order. A kill after any of them loses nothing; see `publish.ts`. */
export type PublishStep =
  | 'base_recorded'
  | 'file_written'
  | 'file_removed'
  | 'claims_written'
  | 'commit_made'
  | 'index_refreshed';

/** What happens during an ingest, for the terminal and NDJSON alike. */
export type IngestEvent =
  | { readonly type: 'lock_awaited'; readonly message: string }
  | { readonly type: 'connection_started'; readonly connection: string }
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
  | { readonly type: 'rate_limited'; readonly window: string; readonly resetsAt: string }
  | ({ readonly type: 'llm_usage' } & RunUsage)
  | {
      readonly type: 'publish_step';
      readonly step: PublishStep;
      readonly path?: string | undefined;
    }
  | { readonly type: 'published'; readonly commit: CommitReport; readonly files: FileReport };

type UnitStage = 'triage' | 'light' | 'extract';

/** What all calls of the run took so far; `input` without what came from the cache or went into it. */
interface RunUsage {
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** US dollars; null where that of some call is unknown. */
  readonly costUsd: number | null;
}

export type IngestStage =
  | 'plan'
  | 'scan'
  | 'describe'
  | 'fetch'
  | 'extract'
  | 'model'
  | 'validate'
  | 'compare'
  | 'publish'
  | 'index';

/** A claim that was left out of the artifacts, or something of a person's in them that does not work. */
export interface Quarantined {
  readonly subject: string;
  readonly kind: string;
  readonly reason: string;
  /** Where it stands, for a person to fix: `path:line`. */
  readonly location?: string | undefined;
  /** The claim, by its short id, where it is one of several. */
  readonly claim?: string | undefined;
  /** True where the same may pass another time: a warehouse that was too slow, say. */
  readonly isPassing?: boolean;
}

/** What a model mended of what a source says; the check that had failed passes. */
export interface Mended {
  readonly subject: string;
  readonly kind: string;
  /** What was wrong with it. */
  readonly reason: string;
  readonly from: Json;
  readonly to: Json;
}

/** Something that a source says and that has no place in ktx, by name. The rest goes on, and nothing waits for it. */
export interface UnusedFact {
  /** Path of the item in the project. */
  readonly item: string;
  /** Where in it: `line 12`. */
  readonly location: string;
  readonly reason: string;
}

/** Paths relative to the project, sorted. */
export type FileReport = Readonly<Record<'added' | 'changed' | 'removed', readonly string[]>>;

/** What a person changed, or took out, and ktx left as it is. */
export interface KeptEdit {
  /** `dataset.path`; `dataset` for a file that was deleted. */
  readonly path: string;
  readonly at: string;
  readonly isRemoval: boolean;
  /** Another one once the person's value or what ktx would have there is another. */
  readonly mark: string;
}

/** How people's parts of the files fared. */
export interface EditReport {
  readonly keptEdits: readonly KeptEdit[];
  /** People's leftovers of what is gone from the warehouse; the file stays. */
  readonly stale: readonly { readonly path: string; readonly at: string }[];
  /** Files that stay as they are, on disk and in the commit, although there is news for them. */
  readonly leftAlone: readonly { readonly path: string; readonly reason: string }[];
}

export interface CommitReport {
  readonly id?: string | undefined;
  /** Why there is no commit: one of `settled` in `publish.ts`, `merge under way`… Absent where there is one. */
  readonly none?: string | undefined;
  /** What went wrong after the commit, for a person to know. */
  readonly warning?: string | undefined;
}

export type Failure = Pick<UserError, 'code' | 'message' | 'hint' | 'retryable' | 'exitCode'>;

export function toFailure({ code, message, hint, retryable, exitCode }: UserError): Failure {
  return { code, message, hint, retryable, exitCode };
}

/** Work for a model: with a failure, what is not done is pending. */
interface ModelWork {
  readonly done: number;
  readonly total: number;
  readonly calls: number;
  readonly failure?: Failure | undefined;
}

export interface ConnectionReport {
  readonly connection: string;
  readonly failure?: Failure;
  /** Tables that a model describes. */
  readonly descriptions?: ModelWork;
  /** Links in doubt that a model judges. */
  readonly judgements?: ModelWork;
  readonly tables: number;
  readonly profiled: number;
  readonly reused: number;
  /** Not profiled yet: the budget of the scan was spent. */
  readonly left: number;
  /** Statements sent to the warehouse. */
  readonly queries: number;
  readonly relationships: { readonly accepted: number; readonly review: number };
}

/** What became of a source's items; keys, sorted. */
export interface ItemReport {
  readonly listing: { readonly complete: boolean; readonly reason?: string | undefined };
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** They stay as they were. */
  readonly failed: readonly { readonly key: string; readonly reason: string }[];
  readonly unchanged: number;
}

export interface SourceReport {
  readonly connection: string;
  readonly failure?: Failure;
  /** Absent where the source was not read in this run. */
  readonly items?: ItemReport;
  /** What stands once the run is done. */
  readonly total: number;
  readonly claims: number;
  /** Items with something in them that only a model can read. */
  readonly pending: readonly string[];
}

/** What became of a stage that needs a model. */
export interface StageReport {
  readonly stage: UnitStage | 'curate' | 'reconcile' | 'repair';
  /** Units of work. */
  readonly done: number;
  readonly pending: number;
  readonly calls: number;
  readonly failures: readonly Failure[];
}

/** From at least to at most. */
export type Range = readonly [number, number];

/** What a model will take, before it is asked. */
export interface Estimate {
  readonly calls: Range;
  /** Tokens, as if nothing came from a cache. */
  readonly input: Range;
  readonly output: Range;
  /** US dollars; null where the price is not known. */
  readonly costUsd: Range | null;
}

export interface IngestReport extends EditReport {
  readonly runId: string;
  readonly dryRun: boolean;
  readonly connections: readonly ConnectionReport[];
  readonly sources: readonly SourceReport[];
  /** Of a dry run, where a model is configured. */
  readonly estimate?: Estimate | undefined;
  /** Those that had work, in their order. */
  readonly stages: readonly StageReport[];
  /** What is contested once the run is done. */
  readonly conflicts: readonly Conflict[];
  /** Those of `keptEdits` that no run before met as they are now. */
  readonly newEdits: readonly KeptEdit[];
  readonly files: FileReport;
  /** Uncommitted texts of generated files that were replaced, and where the copy is. */
  readonly setAside: readonly { readonly path: string; readonly copy: string }[];
  readonly quarantined: readonly Quarantined[];
  /** In this run. */
  readonly mended: readonly Mended[];
  /** Of all sources, those of this run and those that stand. */
  readonly unfit: readonly UnusedFact[];
  readonly commit: CommitReport;
  readonly queries: number;
  readonly milliseconds: Readonly<Partial<Record<IngestStage, number>>>;
  /** 0 complete, 1 failed, 3 partial, 4 authentication. */
  readonly exitCode: ExitCode;
}
