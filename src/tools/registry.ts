import { decideConflict } from './apps/decide-conflict.ts';
import { readConflictsTool } from './apps/read-conflicts.ts';
import { cannotAnswer } from './cannot-answer.ts';
import { findValuesTool } from './find-values.ts';
import { ingestTool } from './ingest.ts';
import type { LoopTool } from './loop-tool.ts';
import { aggregateTool } from './loops/aggregate-rows.ts';
import { curateTools } from './loops/curate.ts';
import { skillTool } from './loops/load-skill.ts';
import { proposeTools } from './loops/propose.ts';
import { unitTools } from './loops/read-item.ts';
import { projectTools } from './loops/read-project.ts';
import { usageTool } from './loops/read-usage.ts';
import { reconcileTools } from './loops/reconcile.ts';
import { queryMetrics } from './query-metrics.ts';
import { readContext } from './context/read-context.ts';
import { rememberNote } from './remember.ts';
import { reviewStatus } from './review-status.ts';
import { runSql } from './run-sql.ts';
import { searchContext } from './search-context.ts';
import type { ToolDefinition } from './tool.ts';
import type { CurationSession } from '../ingest/decide/curate/curation-session.ts';
import type { ProposalsSession } from '../ingest/extract/proposals/proposals-session.ts';
import type { ReconciliationSession } from '../ingest/decide/reconcile/reconciliation-session.ts';

interface Registry {
  /** Over MCP and in chat, in the order in which surfaces list them. */
  readonly agents: readonly ToolDefinition[];
  /** Only for the apps that an MCP client shows: no model calls them. */
  readonly apps: readonly ToolDefinition[];
  /** Only in conversations of ktx, after those above. */
  readonly conversation: readonly ToolDefinition[];
  /** In the loops of an ingest, by stage. */
  readonly extract: readonly LoopTool<ProposalsSession>[];
  readonly curate: readonly LoopTool<CurationSession>[];
  readonly reconcile: readonly LoopTool<ReconciliationSession>[];
}

/** Every tool, by where it is offered. */
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
  extract: [
    ...unitTools,
    ...projectTools,
    usageTool,
    aggregateTool,
    skillTool('extract'),
    ...proposeTools,
  ],
  curate: [
    ...curateTools,
    ...projectTools.filter(({ name }) => ['search_context', 'read_page'].includes(name)),
    skillTool('curate'),
  ],
  reconcile: [
    ...reconcileTools,
    ...projectTools.filter(({ name }) => ['read_dataset', 'entity_details'].includes(name)),
    usageTool,
    skillTool('reconcile'),
  ],
};
