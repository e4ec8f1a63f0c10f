import type { Explanation as SourceExplanation } from '../src/context/compile/explain.ts';
import type { readJoinGraph } from '../src/project/graph/read-join-graph.ts';
import type { ReviewedConflict } from '../src/project/review/review.ts';
import type { ReviewQueue } from '../src/project/review/review-queue.ts';

/** The `data` of commands, as the pages use them. */
export interface About {
  readonly project: string;
  readonly read_only: boolean;
  readonly version: string;
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
    readonly quarantined: readonly object[];
    readonly unfit: readonly { readonly item: string; readonly reason: string }[];
  };
  readonly uncommitted?: readonly string[];
  readonly git?: string;
  readonly llm: { readonly backend: string; readonly state: string };
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
}

/** What depends on a subject. */
interface Use {
  readonly kind: string;
  readonly name: string;
  readonly file: string;
}

/** `ktx sl graph --json` */
export type JoinGraph = Awaited<ReturnType<typeof readJoinGraph>>;
