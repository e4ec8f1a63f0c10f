import { queryMetrics } from './query-metrics.ts';
import { readContext } from './read-context.ts';
import { rememberNote } from './remember.ts';
import { runSql } from './run-sql.ts';
import { searchContext } from './search-context.ts';
import type { ToolDefinition } from './tool.ts';

/** Every tool, in the order in which surfaces list them. */
export const registry: readonly ToolDefinition[] = [searchContext, readContext, queryMetrics, runSql, rememberNote];
