import { decideConflict } from './apps/decide-conflict.ts';
import { readConflictsTool } from './apps/read-conflicts.ts';
import { cannotAnswer } from './cannot-answer.ts';
import { findValuesTool } from './find-values.ts';
import { ingestTool } from './ingest.ts';
import { queryMetrics } from './query-metrics.ts';
import { readContext } from './context/read-context.ts';
import { rememberNote } from './remember.ts';
import { reviewStatus } from './review-status.ts';
import { runSql } from './run-sql.ts';
import { searchContext } from './search-context.ts';
import type { ToolDefinition } from './tool.ts';

interface Registry {
  /** Over MCP and in chat, in the order in which surfaces list them. */
  readonly agents: readonly ToolDefinition[];
  /** Only for the apps that an MCP client shows: no model calls them. */
  readonly apps: readonly ToolDefinition[];
  /** Only in conversations of ktx, after those above. */
  readonly conversation: readonly ToolDefinition[];
}

/** Every tool of agents, by where it is offered. Those of an ingest: `loop-registry.ts`. */
export const registry: Registry = {
  agents: [
    searchContext,
    findValuesTool,
    readContext,
    queryMetrics,
    runSql,
    rememberNote,
    ingestTool,
    reviewStatus,
  ],
  apps: [readConflictsTool, decideConflict],
  conversation: [cannotAnswer],
};
