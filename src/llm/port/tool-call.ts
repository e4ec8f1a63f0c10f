/** What a tool may touch; permissions and annotations follow from it. */
export type ToolEffect = 'context' | 'query' | 'write' | 'external';

/** A call as the tool sees it. */
export interface ToolCall {
  /** The backend's id of the call. */
  readonly id: string;
  /** Aborted when the turn ends; in sessions only. */
  readonly signal?: AbortSignal | undefined;
  /** Tells that a person is asked and stops the clocks until there is an answer; in sessions only. */
  readonly ask?:
    | (<T>(request: Omit<PermissionRequest, 'id'>, answer: () => Promise<T>) => Promise<T>)
    | undefined;
}

/** `markdown` is all that a model sees; the rest stays with who called. */
export interface ToolOutput<T = unknown> {
  readonly markdown: string;
  readonly structured?: T;
  /** The call failed, and `markdown` says why. */
  readonly isError?: boolean | undefined;
  /** One line for a person. */
  readonly summary?: string | undefined;
  readonly evidence?: Omit<QueryEvidence, 'call'> | undefined;
  /** Why the call was not allowed. */
  readonly denied?: string | undefined;
}

/** What is asked before a tool runs. */
export interface PermissionRequest {
  /** Of the tool call. */
  readonly id: string;
  readonly tool: string;
  readonly effect: ToolEffect;
  readonly input: unknown;
  readonly sql?: string | undefined;
  readonly maxRows?: number | undefined;
}

/** A query that ran for an answer: what was sent, and what came back. */
export interface QueryEvidence {
  /** Short and unique in its session; answers cite it. */
  readonly id: string;
  /** Of the tool call. */
  readonly call: string;
  readonly tool: string;
  /** Of the warehouse; `ktx explain` takes it. */
  readonly queryId?: string | undefined;
  readonly connection?: string | undefined;
  readonly sql?: string | undefined;
  /** Blocks, joins, filters and columns in words, where the semantic layer planned it. */
  readonly plan?: unknown;
  /** Metrics with their owners, filters and files, where the semantic layer answered. */
  readonly receipt?: unknown;
  /** `status` is `curated` or `ad_hoc`; files, commit, and what is contested. */
  readonly trust?: Readonly<Record<string, unknown>> | undefined;
  readonly columns: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly rows: readonly (readonly unknown[])[];
  /** More rows exist than came back. */
  readonly truncated: boolean;
  readonly ms: number;
}
