import { z } from 'zod';
import { formatCount } from '../../lib/format-count.ts';
import type { KtxRuntimeToolDescriptor } from '../../llm/port/runtime.ts';
import type {
  PermissionRequest,
  ToolCall,
  ToolEffect,
  ToolOutput,
} from '../../llm/port/tool-call.ts';
import { planQuery } from '../../project/answer/query.ts';
import type { Project } from '../../project/open/open.ts';
import { metricsInputSchema, metricsRequest } from '../../tools/answers/metrics-request.ts';
import type { Permissions } from './permissions.ts';

/** A tool before its limits and permissions are applied. */
export interface UnguardedTool extends Pick<
  KtxRuntimeToolDescriptor,
  'name' | 'description' | 'inputSchema'
> {
  readonly effect: ToolEffect;
  run(input: unknown, call?: ToolCall): Promise<ToolOutput>;
}

/** Counts the queries of one message. */
interface QueryCounter {
  count: number;
  readonly max: number;
}

interface ToolGuard {
  readonly project: Project;
  readonly permissions: Permissions;
  readonly queries: QueryCounter;
}

/** The tool behind the query limit and the permissions. */
export function guardTool(tool: UnguardedTool, guard: ToolGuard): KtxRuntimeToolDescriptor {
  const { name, description, inputSchema, effect } = tool;
  const { project, permissions, queries } = guard;
  const isLimitReached = (): boolean => effect === 'query' && queries.count >= queries.max;
  return {
    name,
    description,
    inputSchema,
    async execute(input, call) {
      if (isLimitReached()) return limitReachedOutput(queries.max);
      if (permissions.isAsked({ tool: name, effect })) {
        const details = effect === 'query' ? await queryDetails(project, name, input) : {};
        const denial = await permissions.refusal({ tool: name, effect, input, ...details }, call);
        if (denial !== undefined) return deniedOutput(name, denial);
      }
      // Other queries may have run while the person was thinking.
      if (isLimitReached()) return limitReachedOutput(queries.max);
      if (effect === 'query') queries.count += 1;
      return tool.run(input, call);
    },
  };
}

function limitReachedOutput(max: number): ToolOutput {
  const summary = `${formatCount(max, 'query')} were allowed for one message (limits.max_queries)`;
  return {
    markdown: `No more queries: ${summary}. Answer from what you have, and say what is missing.`,
    summary,
    isError: true,
  };
}

function deniedOutput(name: string, reason: string): ToolOutput {
  const markdown = `${name} was not run: ${reason}. Do not try it again; say what you could not do.`;
  return { markdown, summary: `not run: ${reason}`, isError: true, denied: reason };
}

/**
 * The SQL that would run, for the person who is asked. Without SQL if the query cannot be planned.
 */
async function queryDetails(
  project: Project,
  tool: string,
  input: unknown,
): Promise<Pick<PermissionRequest, 'sql' | 'maxRows' | 'isCurated'>> {
  const maxRows = project.config.query.max_rows;
  const { data: statement } = z.looseObject({ sql: z.string() }).safeParse(input);
  if (statement !== undefined) return { sql: statement.sql, maxRows };
  const { data: asked } = metricsInputSchema.strip().safeParse(input ?? {});
  if (tool !== 'query_metrics' || asked === undefined) return { sql: undefined, maxRows };
  const { dry_run: _isDry, ...call } = asked;
  const request = await metricsRequest(project, call).catch(() => undefined);
  if (request?.kind === 'sql') return { sql: request.sql, maxRows, isCurated: true };
  const planned = request && (await planQuery(project, request.request).catch(() => undefined));
  const isCurated = planned?.receipt.metrics.every(({ curated }) => curated);
  return { sql: planned?.sql, maxRows, isCurated };
}
