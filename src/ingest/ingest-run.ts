import type { Authority } from '../context/compile/authority.ts';
import type { Pin } from '../context/claims/pins.ts';
import { collectBetweenStages } from '../lib/collect-early.ts';
import type { ScanConfig } from '../scan/config.ts';
import type { ScanModel } from '../scan/describe/scan-model.ts';
import type { KtxEmbeddingPort } from '../llm/port/embedding.ts';
import type { ReadSecret } from '../store/secrets.ts';
import type { EmbeddedIndex } from '../search/meanings/embed-index.ts';
import type { State } from '../store/state.ts';
import type { OpenSource } from '../sources/registry.ts';
import type { HistoryConfig } from '../warehouse/history/history-config.ts';
import type { Scope, Warehouse } from '../warehouse/warehouse.ts';
import type { EstimateInput } from './estimate.ts';
import type { IngestEvent } from './event.ts';
import type { ReadingWorkers } from './extract/reading-stage.ts';
import type { IngestModel } from './model.ts';
import type { StandingQuery } from './render/standing-queries.ts';
import type { IngestReport, IngestStage } from './report.ts';

/** A source of the project. */
export interface SourceInput {
  readonly name: string;
  readonly open: () => Promise<OpenSource>;
  readonly secrets: ReadSecret;
  /** False if this run only uses the items that are stored already. */
  readonly isAsked: boolean;
}

export interface IngestedWarehouse {
  readonly name: string;
  readonly scope: Scope;
  /** What may be learned from the statements that people ran there. */
  readonly history?: HistoryConfig | undefined;
}

export interface IngestInput {
  /** The folder that holds `ktx.yaml`. */
  readonly dir: string;
  /** Where relative paths of sources begin; `dir` if undefined. */
  readonly sourceDir?: string | undefined;
  readonly runId: string;
  /** The warehouses to scan. */
  readonly connections: readonly IngestedWarehouse[];
  /**
   * The other warehouses of the project: their recorded catalogs and claims count, and their files
   * are brought up to date.
   */
  readonly otherWarehouses?: readonly string[];
  /** All sources of the project. */
  readonly sources?: readonly SourceInput[];
  /** Which source counts more where they disagree. */
  readonly authority?: Authority | undefined;
  /** The queries that no new join of a scan may change; without it, metrics only. */
  readonly standingQueries?: () => Promise<readonly StandingQuery[]>;
  /** The decisions that a person makes with this run, as one commit. */
  readonly pins?: readonly Pin[] | undefined;
  /** Called once the run holds the lock. Throws if the person would decide about other things. */
  readonly beforeDecision?: (() => Promise<void>) | undefined;
  readonly scan: ScanConfig;
  /** How long the server of a source may make the run wait, in milliseconds. */
  readonly longestServerWait: number;
  /** Opens a connection; the caller closes it. */
  readonly warehouse: (name: string, signal: AbortSignal) => Promise<Warehouse>;
  /** The model that describes tables; undefined if none is configured. */
  readonly model?: ScanModel | undefined;
  /** Compares names by their meaning; undefined without a provider. */
  readonly embeddings?: KtxEmbeddingPort | undefined;
  /** The model that reads prose, curates and reconciles; undefined if none is configured. */
  readonly reader?: IngestModel | undefined;
  /** Processes that read prose for this run; without them it reads by itself. */
  readonly workers?: ReadingWorkers | undefined;
  /** For a dry run: what is needed to estimate what the model would cost. */
  readonly estimateOptions?:
    | ({ readonly journal: IngestModel['journal'] | undefined } & Pick<
        EstimateInput,
        'stepBudget' | 'priced'
      >)
    | undefined;
  /** True if models read again what they have read. */
  readonly reExtract?: boolean | undefined;
  /** True if an empty source was emptied on purpose. */
  readonly allowEmpty?: boolean | undefined;
  /** Whether files are committed; unset: where the repository demands nothing of commits. */
  readonly git?: 'commit' | 'write' | undefined;
  /** The branch to commit on. Unset: the one that is checked out. */
  readonly branch?: string | undefined;
  /**
   * Brings the search index up to date. Called after publishing, with the database of the index.
   * Returns what became of its meanings, undefined without embeddings.
   */
  readonly updateIndex?: (state: State) => Promise<EmbeddedIndex | undefined>;
  /** Stops after the plan: reports what would be read, and writes nothing. */
  readonly dryRun?: boolean;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: IngestEvent) => void;
}

export interface PipelineRun extends IngestInput {
  readonly emit: (event: IngestEvent) => void;
  /** Filled by `measureStage`. */
  readonly milliseconds: Partial<Record<IngestStage, number>>;
}

/** The part of the report that a run adds to an empty one. */
export type PipelineOutcome = Pick<IngestReport, 'connections' | 'commit'> & Partial<IngestReport>;

/** Does the work, without the garbage of what was done before, and adds its time to the stage's. */
export async function measureStage<T>(
  { milliseconds }: Pick<PipelineRun, 'milliseconds'>,
  stage: IngestStage,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now();
  collectBetweenStages();
  const result = await work();
  milliseconds[stage] = (milliseconds[stage] ?? 0) + Math.round(performance.now() - start);
  return result;
}
