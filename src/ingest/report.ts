import type { Conflict } from '../context/compile/conflicts.ts';
import type { ExitCode, UserError } from '../lib/error.ts';
import type { Json } from '../lib/json.ts';
import type { UnreadFile } from '../warehouse/warehouse.ts';

export interface IngestReport extends EditReport {
  readonly runId: string;
  readonly dryRun: boolean;
  readonly connections: readonly ConnectionReport[];
  readonly sources: readonly SourceReport[];
  /** Set for a dry run with a configured model. */
  readonly estimate?: Estimate | undefined;
  /** Texts of the search index that embeddings compare; unset without embeddings. */
  readonly meanings?: ModelWork | undefined;
  /** The model stages that had work, in their order. */
  readonly stages: readonly StageReport[];
  /** The conflicts that are open after the run. */
  readonly conflicts: readonly Conflict[];
  /** The edits among `keptEdits` that no earlier run met in this form. */
  readonly newEdits: readonly KeptEdit[];
  readonly files: FileReport;
  /** Generated files with uncommitted texts that were replaced, and where a copy of each is. */
  readonly setAside: readonly { readonly path: string; readonly copy: string }[];
  readonly quarantined: readonly Quarantined[];
  /** Proposed metrics that nobody had accepted, and that the run took out of their files. */
  readonly withdrawn: readonly WithdrawnProposal[];
  /** The repairs of this run. */
  readonly mended: readonly Mended[];
  /** For all sources, whether or not this run read them. */
  readonly unfit: readonly UnusedFact[];
  readonly commit: CommitReport;
  /** Statements sent to all warehouses. */
  readonly queries: number;
  /** The time of each stage. Stages overlap. */
  readonly milliseconds: Readonly<Partial<Record<IngestStage, number>>>;
  /** From the start of the run to its end. */
  readonly wallMilliseconds: number;
  /** 0 complete, 1 failed, 3 partial, 4 authentication. */
  readonly exitCode: ExitCode;
}

/** The stages whose time is measured. */
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

export interface ConnectionReport {
  readonly connection: string;
  readonly failure?: Failure;
  /** Tables that a model describes. */
  readonly descriptions?: ModelWork;
  /** Uncertain links that a model judges. */
  readonly judgements?: ModelWork;
  /** Names that embeddings compare; unset without embeddings, or if no name has changed. */
  readonly names?: ModelWork;
  readonly tables: number;
  readonly profiled: number;
  readonly reused: number;
  /** Tables that are not profiled yet because the budget of the scan was spent. */
  readonly left: number;
  /** Statements sent to the warehouse. */
  readonly queries: number;
  readonly relationships: { readonly accepted: number; readonly review: number };
  /** Set if ktx may learn from the statements that people ran. */
  readonly history?: HistoryReport;
  /** As in `WarehouseSchema`. */
  readonly unreadFiles?: readonly UnreadFile[];
  readonly assumptions?: readonly string[];
}

interface HistoryReport {
  /** Statements that count, each with any literals. */
  readonly statements: number;
  /** Statements that the engine cut off or does not show. */
  readonly hidden: number;
  /** The day since when the engine counts. */
  readonly since?: string;
  /** Tables that people use. */
  readonly tables: number;
  /** Metrics for a person to accept. */
  readonly proposed: number;
  /** Why the history could not be read; what earlier runs learned stays. */
  readonly failure?: Failure;
}

/** An error that a person can fix, as reports show it. */
export type Failure = Pick<UserError, 'code' | 'message' | 'hint' | 'retryable' | 'exitCode'>;

export function toFailure({ code, message, hint, retryable, exitCode }: UserError): Failure {
  return { code, message, hint, retryable, exitCode };
}

/** Work for a model. After a failure, what is not done is pending. */
interface ModelWork {
  readonly done: number;
  readonly total: number;
  /** Requests that reached the model: each turn of a loop is one, and so is each attempt. */
  readonly calls: number;
  readonly failure?: Failure | undefined;
}

export interface SourceReport {
  readonly connection: string;
  readonly failure?: Failure;
  /** Absent if this run did not read the source. */
  readonly items?: ItemReport;
  /** Items after the run. */
  readonly total: number;
  readonly claims: number;
  /** Keys of items with content that only a model can read and none has read yet. */
  readonly pending: readonly string[];
  readonly coverage: CoverageReport;
}

/** What became of the statements that code read in a source. */
export interface CoverageReport {
  /** Lines of the items that say something, and whether it arrived. */
  readonly statements: number;
  readonly arrived: number;
  /** What ktx understands and has no place for, by kind, the most frequent first. */
  readonly leftOut: readonly {
    /** Like `unit test`. */
    readonly what: string;
    /** `sources/dbt/models/orders.yml line 12: weekly_orders` */
    readonly places: readonly string[];
  }[];
}

/** What happened to the items of a source: their keys, sorted. */
export interface ItemReport {
  readonly listing: { readonly complete: boolean; readonly reason?: string | undefined };
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** Items that could not be fetched. They stay as they were. */
  readonly failed: readonly { readonly key: string; readonly reason: string }[];
  readonly unchanged: number;
}

export type UnitStage = 'triage' | 'light' | 'extract';

/** The outcome of a stage that asks a model. */
export interface StageReport {
  readonly stage: UnitStage | 'curate' | 'reconcile' | 'repair';
  /** Units of work. */
  readonly done: number;
  readonly pending: number;
  /** As in `ModelWork`. */
  readonly calls: number;
  readonly failures: readonly Failure[];
}

/** From minimum to maximum. */
export type Range = readonly [number, number];

/** What a run would likely ask of a model. */
export interface Estimate {
  /** Requests to the model. */
  readonly calls: Range;
  /** Tokens, those that come from a cache included. */
  readonly input: Range;
  readonly output: Range;
  /** US dollars; null if the price is unknown. */
  readonly costUsd: Range | null;
}

/** A claim that was left out of the artifacts, or a person's part of a file that does not work. */
export interface Quarantined {
  readonly subject: string;
  readonly kind: string;
  readonly reason: string;
  /** Where a person can fix it: `path:line`. */
  readonly location?: string | undefined;
  /** The short id of the claim, if the subject has several of the kind. */
  readonly claim?: string | undefined;
  /** True if the same claim may pass another time, for example because a warehouse was too slow. */
  readonly isPassing?: boolean;
}

/** A claim of a source that a model repaired, so that it passes the check. */
export interface Mended {
  readonly subject: string;
  readonly kind: string;
  /** What was wrong with the claim. */
  readonly reason: string;
  readonly from: Json;
  readonly to: Json;
}

/** Something in a source that ktx cannot use. The rest of the item is used. */
export interface UnusedFact {
  /** Path of the item in the project. */
  readonly item: string;
  /** The location in the item: `line 12`. */
  readonly location: string;
  readonly reason: string;
}

/** A proposed metric that a run took out of its file. */
export interface WithdrawnProposal {
  /** `orders.total_amount` */
  readonly metric: string;
  readonly at: string;
  readonly why: string;
}

/** Paths relative to the project, sorted. */
export type FileReport = Readonly<Record<'added' | 'changed' | 'removed', readonly string[]>>;

/** Something that a person changed or took out, and that ktx left that way. */
export interface KeptEdit {
  /** `dataset.path`; `dataset` for a file that was deleted. */
  readonly path: string;
  /** Path of the file. */
  readonly at: string;
  readonly isRemoval: boolean;
  /** A hash that changes when the person's value or ktx's value changes. */
  readonly mark: string;
}

/** What happened to people's parts of the files. */
export interface EditReport {
  readonly keptEdits: readonly KeptEdit[];
  /** People's edits to things that are gone from the warehouse. Their files stay. */
  readonly stale: readonly { readonly path: string; readonly at: string }[];
  /** Files that stay as they are, on disk and in the commit, although ktx has changes for them. */
  readonly leftAlone: readonly { readonly path: string; readonly reason: string }[];
}

export interface CommitReport {
  readonly id?: string | undefined;
  /** The branch of the commit, if it is not the one that is checked out. */
  readonly branch?: string | undefined;
  /**
   * Why there is no commit: one of `noCommitReasons` in `publish.ts`, or for example `merge under
   * way`. Absent if there is one.
   */
  readonly none?: string | undefined;
  /** What went wrong after the commit. */
  readonly warning?: string | undefined;
  /** True if git knows no name of the person, and the commit before was not in that of ktx. */
  readonly isFirstUnnamed?: true | undefined;
}
