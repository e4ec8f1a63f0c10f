import { z } from 'zod';
import { formatCount } from '../lib/format-count.ts';
import { UserError } from '../lib/error.ts';
import { didYouMean } from '../lib/suggest.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../llm/port/runtime.ts';
import type { QueryEvidence, ToolCall, ToolEffect, ToolOutput } from '../llm/port/tool-call.ts';
import type { Project } from '../project/open/open.ts';
import { planQuery } from '../project/answer/query.ts';
import { querySchema } from '../semantic/query/query.ts';
import type { Answer } from '../tools/tool.ts';
import { openToolbox } from '../tools/toolbox.ts';
import type { Agent } from './agent.ts';
import type { ExternalTool } from './mcp-servers.ts';
import type { Permissions } from './permissions.ts';

interface ToolsOptions {
  readonly project: Project;
  readonly agent: Agent;
  readonly permissions: Permissions;
  readonly external: readonly ExternalTool[];
  /** Number of evidence records that the conversation already has. */
  readonly firstEvidence: number;
}

export interface AgentTools {
  readonly set: KtxToolSet;
  /** Each with its effect, in the order in which it is shown. */
  readonly list: readonly { readonly name: string; readonly effect: ToolEffect }[];
  /** A message begins: what is counted for each begins anew. */
  begin(): void;
}

/** Without context there are only the warehouse and its SQL. */
const contextTools = new Set([
  'search_context',
  'read_context',
  'query_metrics',
  'remember',
  'ingest',
  'review_status',
  'find_values',
]);

/** The agent's tools: those of the one registry and of its servers, each behind its limits and permissions. */
export function agentTools({
  project,
  agent,
  permissions,
  external,
  firstEvidence,
}: ToolsOptions): AgentTools {
  const never = new AbortController().signal;
  const toolbox = openToolbox(project);
  const counters = { evidence: firstEvidence, queries: 0 };
  const own = toolbox.tools(never);
  const offered = own.filter(({ name }) => isOffered(name, agent));
  checkNames(
    agent,
    own.map(({ name }) => name),
  );
  const run = async (
    name: string,
    input: unknown,
    call: ToolCall | undefined,
  ): Promise<ToolOutput> => {
    const tool = toolbox.tools(call?.signal ?? never).find((each) => each.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const started = performance.now();
    const { markdown, structured, error, answer } = await tool.execute(input);
    if (error !== undefined)
      return { markdown, isError: true, summary: `${error.code}: ${error.message.split('\n')[0]}` };
    const ms = Math.round(performance.now() - started);
    // Before the id is taken: calls may run at the same time.
    const plan = await answer?.ran?.outline?.();
    const evidence =
      answer && evidenceOf(answer, { id: `q${counters.evidence + 1}`, tool: name, ms, plan });
    if (evidence === undefined) return { markdown, structured, summary: answer?.summary };
    counters.evidence += 1;
    return {
      markdown: `Evidence ${evidence.id}.\n${markdown}`,
      structured,
      summary: answer?.summary,
      evidence,
    };
  };
  const guarded = (tool: Guarded): KtxRuntimeToolDescriptor => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    async execute(input, call) {
      const { name, effect } = tool;
      const isSpent = () => effect === 'query' && counters.queries >= agent.limits.max_queries;
      if (isSpent()) return spent(agent.limits.max_queries);
      if (permissions.isAsked({ tool: name, effect })) {
        const about =
          effect === 'query'
            ? { sql: await sqlOf(project, name, input), maxRows: project.config.query.max_rows }
            : {};
        const reason = await permissions.refusal({ tool: name, effect, input, ...about }, call);
        if (reason !== undefined) return refused(name, reason);
      }
      // Others may have run while the person thought.
      if (isSpent()) return spent(agent.limits.max_queries);
      if (effect === 'query') counters.queries += 1;
      return tool.run(input, call);
    },
  });
  const all: readonly Guarded[] = [
    ...offered.map((tool) => ({
      ...tool,
      run: (input: unknown, call?: ToolCall) => run(tool.name, input, call),
    })),
    ...external.map((tool) => ({
      ...tool,
      effect: 'external' as const,
      run: (input: unknown, call?: ToolCall) => tool.call(input, call?.signal ?? never),
    })),
  ];
  return {
    set: Object.fromEntries(all.map((tool) => [tool.name, guarded(tool)])),
    list: all.map(({ name, effect }) => ({ name, effect })),
    begin() {
      counters.queries = 0;
    },
  };
}

interface Guarded extends Pick<KtxRuntimeToolDescriptor, 'name' | 'description' | 'inputSchema'> {
  readonly effect: ToolEffect;
  run(input: unknown, call?: ToolCall): Promise<ToolOutput>;
}

function isOffered(name: string, { tools, context }: Agent): boolean {
  if (context.semantic_layer === 'required' && name === 'run_sql') return false;
  if (context.semantic_layer === 'off' && contextTools.has(name)) return false;
  return (tools.allow?.includes(name) ?? true) && !tools.deny.includes(name);
}

/** A tool that is not there would be missed in silence. */
function checkNames({ name, tools }: Agent, known: readonly string[]): void {
  const wrong = [...(tools.allow ?? []), ...tools.deny].find((each) => !known.includes(each));
  if (wrong === undefined) return;
  const hint = didYouMean(wrong, known) ?? `one of ${known.join(', ')}`;
  throw new UserError('agent_invalid', `agents/${name}.yaml: there is no tool ${wrong}.`, {
    hint,
    exitCode: 2,
  });
}

function spent(most: number): ToolOutput {
  const summary = `${formatCount(most, 'query')} were allowed for one message (limits.max_queries)`;
  return {
    markdown: `No more queries: ${summary}. Answer from what you have, and say what is missing.`,
    summary,
    isError: true,
  };
}

function refused(name: string, reason: string): ToolOutput {
  const markdown = `${name} was not run: ${reason}. Do not try it again; say what you could not do.`;
  return { markdown, summary: `not run: ${reason}`, isError: true, denied: reason };
}

/** What would be sent, for the person who is asked; what cannot be planned fails when it runs. */
async function sqlOf(project: Project, tool: string, input: unknown): Promise<string | undefined> {
  const { sql, connection, ...query } = z
    .looseObject({ sql: z.string().optional(), connection: z.string().optional() })
    .parse(input ?? {});
  if (sql !== undefined) return sql;
  const { data } = querySchema.strip().safeParse(query);
  if (tool !== 'query_metrics' || data === undefined) return undefined;
  return planQuery(project, { connection, query: data }).then(
    (plan) => plan.sql,
    () => undefined,
  );
}

function evidenceOf(
  { ran, queryId, beside = {}, items, truncated = false, trust }: Answer,
  about: Pick<QueryEvidence, 'id' | 'tool' | 'ms' | 'plan'>,
) {
  if (ran === undefined) return undefined;
  const { connection, sql } = ran;
  const columns = Array.isArray(beside['columns'])
    ? (beside['columns'] as QueryEvidence['columns'])
    : [];
  return {
    ...about,
    queryId,
    connection,
    sql,
    receipt: beside['receipt'],
    trust: { ...trust },
    columns,
    rows: items as QueryEvidence['rows'],
    truncated,
  };
}
