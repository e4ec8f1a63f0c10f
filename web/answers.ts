import type { GroundedClaim } from '../src/chat/grounding/ground-answer.ts';
import type { listRuns } from '../src/eval/report/run-list.ts';
import type { AlignedRows } from '../src/eval/report/rows/align-rows.ts';
import type { EvalRun } from '../src/eval/run/run-schema.ts';
import type { Explanation as SourceExplanation } from '../src/context/compile/explain.ts';
import type { readJoinGraph } from '../src/project/graph/read-join-graph.ts';
import type { ReviewedConflict } from '../src/project/review/review.ts';
import type { ReviewQueue } from '../src/project/review/review-queue.ts';

/** The `data` of commands, as the pages use them. */
export interface About {
  readonly project: string;
  readonly read_only: boolean;
  readonly version: string;
  /** Who asks; undefined for the person who runs `ktx web`. */
  readonly login?: { readonly name: string; readonly role?: string };
}

/** `ktx review list --json` */
export interface Waiting extends Pick<
  ReviewQueue,
  'joins' | 'unreviewed' | 'corrections' | 'stale' | 'pending' | 'deferred'
> {
  readonly conflicts: readonly ReviewedConflict[];
  readonly left_out: ReviewQueue['quarantined'];
}

export type Conflict = ReviewedConflict;
export type Variant = ReviewedConflict['variants'][number];

interface ConnectionState {
  readonly connection: string;
  readonly driver: string;
  readonly approved: boolean;
  readonly ingested: boolean;
}

/** `ktx status --fast --json` */
export interface Status {
  readonly connections: readonly (ConnectionState & {
    readonly datasets: number;
    readonly metrics: number;
    readonly relationships: number;
    readonly invalid: readonly string[];
  })[];
  readonly sources: readonly (ConnectionState & { readonly items: number })[];
  readonly attention: {
    readonly contested: readonly Conflict[];
    readonly joins: readonly object[];
    readonly unreviewed: readonly object[];
    readonly corrections: readonly object[];
    readonly pending: readonly string[];
    readonly stale: readonly object[];
    readonly deferred: readonly object[];
    readonly quarantined: ReviewQueue['quarantined'];
    readonly unfit: readonly { readonly item: string; readonly reason: string }[];
  };
  readonly uncommitted?: readonly string[];
  readonly git?: string;
  /** Undefined behind the login of a server. */
  readonly llm?: { readonly backend: string; readonly state: string };
}

/** `ktx status --runs --json` */
export interface PastRuns {
  readonly runs: readonly {
    readonly kind: string;
    readonly id: string;
    readonly at: string;
    readonly result: string;
    readonly cost_usd: number | null;
  }[];
}

/** `ktx explain … --json` */
export interface Explained {
  readonly explanations: readonly Explanation[];
}

export interface Explanation extends SourceExplanation {
  readonly contested: readonly Conflict[];
  readonly stale: readonly { readonly subject: string; readonly why: string }[];
  readonly addresses: readonly { readonly item: string; readonly address: string }[];
  readonly uses?: readonly Use[];
  readonly origins?: readonly Origin[];
}

/** What depends on a subject. */
export interface Use {
  readonly kind: string;
  readonly name: string;
  readonly file: string;
  readonly uses?: readonly Use[];
}

/** What a subject is made of. */
export interface Origin {
  readonly kind: string;
  readonly name: string;
  readonly subject?: string;
  readonly file?: string;
  readonly from: readonly Origin[];
}

/** `ktx sl graph --json` */
export type JoinGraph = Awaited<ReturnType<typeof readJoinGraph>>;

/** `ktx sl query … --json` */
export interface Answer {
  readonly sql: string;
  readonly columns: readonly { readonly name: string; readonly type?: string; kind?: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: boolean;
  readonly warnings: readonly unknown[];
  readonly ms: number;
}

/** `ktx search --json` */
export interface Found {
  readonly hits: readonly {
    readonly subject: string;
    readonly kind: string;
    readonly name: string;
    readonly detail?: string;
    readonly description?: string;
    readonly contested?: boolean;
    readonly stale?: boolean;
    readonly value?: unknown;
  }[];
  readonly truncated: boolean;
}

interface DefinedField {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
  readonly expr?: unknown;
  readonly values?: unknown;
  readonly pii?: unknown;
}

interface DefinedMetric {
  readonly name: string;
  readonly description?: string;
  readonly [key: string]: unknown;
}

/** `ktx sl read --json` */
export interface DatasetFile {
  readonly connection: string;
  readonly file: string;
  readonly yaml: string;
  readonly contested: readonly string[];
  readonly stale: readonly string[];
  readonly definition?: {
    readonly dataset: string;
    readonly source?: string;
    readonly primary_key?: readonly string[];
    readonly default_time?: string;
    readonly layer?: string;
    readonly description?: string;
    readonly fields?: readonly DefinedField[];
    readonly metrics?: readonly DefinedMetric[];
    readonly relationships?: readonly {
      readonly to: string;
      readonly on: unknown;
      readonly role?: string;
    }[];
  };
}

/** `ktx sl dimensions --json` */
export interface Dimensions {
  readonly dimensions: readonly {
    readonly dimension: string;
    readonly type?: string;
    readonly description?: string;
    readonly to_many: boolean;
  }[];
}

/** `ktx sl list --all --json` */
export interface DatasetList {
  readonly connection?: string;
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly string[])[];
}

/** `ktx eval runs --json` */
export interface EvalRuns {
  readonly runs: Awaited<ReturnType<typeof listRuns>>;
}

/** `ktx eval report --json` */
export interface EvalReport {
  readonly run: EvalRun;
}

/** `ktx eval diff --json` */
export interface ComparedAnswer extends AlignedRows {
  readonly query: string;
  readonly truncated: boolean;
}

/** `ktx status --usage --json` */
export interface Usage {
  readonly usage: readonly {
    readonly backend: string;
    readonly model: string;
    readonly role: string;
    readonly calls: number;
    readonly failed: number;
    readonly input: number;
    readonly output: number;
    readonly cost_usd: number | null;
    readonly cost_reason?: string;
  }[];
}

/** `ktx status --egress --json` */
export interface Egress {
  readonly egress: readonly {
    readonly connection: string;
    readonly source?: string;
    readonly column?: string;
    readonly kind: string;
    readonly backend: string;
    readonly host: string;
    readonly sent: number;
    readonly values: number;
    readonly last: string;
  }[];
}

/** `ktx remember --json` */
export interface Kept {
  readonly id: string;
}

/** `ktx eval add --json` */
export interface AddedCase {
  readonly file: string;
  readonly id: string;
  /** Who said that the answer is right; undefined for a draft. */
  readonly confirmed_by?: string;
}

/** A line of `ktx ask --output-format stream-json`, or the envelope that ends it. */
export interface AskEvent {
  readonly type?: string;
  readonly text?: string;
  readonly name?: string;
  readonly data?: {
    readonly conversation: string;
    readonly text: string;
    readonly evidence: readonly {
      readonly id: string;
      readonly sql?: string;
      readonly columns: Answer['columns'];
      readonly rows: Answer['rows'];
    }[];
    readonly grounding?: readonly GroundedClaim[];
    readonly tool_calls?: readonly {
      /** What an ambiguous name in the call may mean. */
      readonly choices?: readonly string[];
    }[];
  };
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}
