import type { SentValues } from '../egress/sent-values.ts';

/** What a tool may affect. Permissions and MCP annotations follow from it. */
export type ToolEffect = 'context' | 'query' | 'write' | 'external';

/** The context of one tool call. */
export interface ToolCall {
  /** The backend's id of the call. */
  readonly id: string;
  /** Aborted when the turn ends. Only set in sessions. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Announces a question to a person and stops the clocks until it is answered. Only set in
   * sessions.
   */
  readonly ask?:
    | (<T>(request: Omit<PermissionRequest, 'id'>, answer: () => Promise<T>) => Promise<T>)
    | undefined;
}

/** The model sees only `markdown`; the other fields stay with the caller. */
export interface ToolOutput<T = unknown> {
  readonly markdown: string;
  readonly structured?: T;
  /** The values of warehouses in `markdown`. Recorded before the model gets them. */
  readonly values?: readonly SentValues[] | undefined;
  /** True if the call failed; `markdown` says why. */
  readonly isError?: boolean | undefined;
  /** One line for a person. */
  readonly summary?: string | undefined;
  readonly evidence?: Omit<QueryEvidence, 'call'> | undefined;
  /** If a name in the call was ambiguous: what it may mean, for a person to pick. */
  readonly choices?: readonly string[] | undefined;
  /** Set if the call was not allowed: the reason. */
  readonly denied?: string | undefined;
}

/** The question to a person before a tool runs. */
export interface PermissionRequest {
  /** Id of the tool call. */
  readonly id: string;
  readonly tool: string;
  readonly effect: ToolEffect;
  readonly input: unknown;
  readonly sql?: string | undefined;
  readonly maxRows?: number | undefined;
  /** True if it only reads, and every number in it is defined in the semantic layer. */
  readonly isCurated?: boolean | undefined;
}

/** A query that ran for an answer: the SQL that was sent and the rows that came back. */
export interface QueryEvidence {
  /** Short, such as `q1`, and unique in its session. Answers cite it. */
  readonly id: string;
  /** Id of the tool call. */
  readonly call: string;
  readonly tool: string;
  /** Id of the query in the warehouse log; `ktx explain` takes it. */
  readonly queryId?: string | undefined;
  readonly connection?: string | undefined;
  readonly sql?: string | undefined;
  /** The outline of the plan, if the semantic layer made one. */
  readonly plan?: unknown;
  /** Metrics with their owners, filters and files, if the semantic layer answered. */
  readonly receipt?: unknown;
  /** `status` (`curated` or `ad_hoc`), files, commit, and contested definitions. */
  readonly trust?: Readonly<Record<string, unknown>> | undefined;
  readonly columns: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly rows: readonly (readonly unknown[])[];
  /** True if there are more rows than came back. */
  readonly truncated: boolean;
  /** What the warehouse, or the check of the statement, said about the result. */
  readonly warnings?: readonly string[] | undefined;
  readonly ms: number;
}
