import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import type { KtxToolSet } from '../../llm/port/runtime.ts';
import type { ToolCall, ToolEffect, ToolOutput } from '../../llm/port/tool-call.ts';
import type { Project } from '../../project/open/open.ts';
import { cannotAnswer } from '../../tools/cannot-answer.ts';
import { openToolbox } from '../../tools/toolbox.ts';
import type { Agent } from '../../project/agents/agent.ts';
import { guardTool, type UnguardedTool } from './guarded-tool.ts';
import type { ExternalTool } from '../mcp-client/external-tool.ts';
import type { Permissions } from './permissions.ts';
import { toolEvidence } from './tool-evidence.ts';

interface AgentToolsOptions {
  readonly project: Project;
  readonly agent: Agent;
  readonly permissions: Permissions;
  readonly external: readonly ExternalTool[];
  /** Number of evidence records that the conversation already has. */
  readonly firstEvidence: number;
}

export interface AgentTools {
  readonly set: KtxToolSet;
  /** Each tool with its effect, in the order in which it is shown. */
  readonly list: readonly { readonly name: string; readonly effect: ToolEffect }[];
  /** Resets the counters that apply to one message. */
  begin(): void;
}

/** Tools that an agent without context (`semantic_layer: off`) does not get. */
const contextTools = new Set([
  'search_context',
  'read_context',
  'query_metrics',
  'remember',
  'ingest',
  'review_status',
  'find_values',
]);

/** The agent's tools, from ktx and from its MCP servers, each behind its limits and permissions. */
export function agentTools(options: AgentToolsOptions): AgentTools {
  const { project, agent, permissions, external, firstEvidence } = options;
  const never = new AbortController().signal;
  const toolbox = openToolbox(project, {
    sendsValues: project.config.llm.send_rows === 'on',
    isReviewedOnly: agent.context.semantic_layer === 'required',
    isConversation: true,
  });
  const ktxTools = toolbox.tools(never);
  checkToolNames(
    agent,
    ktxTools.map(({ name }) => name),
  );
  const runTool = ktxToolRunner(toolbox, firstEvidence);
  const tools: readonly UnguardedTool[] = [
    ...ktxTools
      .filter(({ name }) => isOffered(name, agent))
      .map((tool) => ({
        ...tool,
        run: (input: unknown, call?: ToolCall) => runTool(tool.name, input, call?.signal ?? never),
      })),
    ...external.map((tool) => ({
      ...tool,
      effect: 'external' as const,
      run: (input: unknown, call?: ToolCall) => tool.call(input, call?.signal ?? never),
    })),
  ];
  const queries = { count: 0, max: agent.limits.max_queries };
  const guard = { project, permissions, queries };
  return {
    set: Object.fromEntries(tools.map((tool) => [tool.name, guardTool(tool, guard)])),
    list: tools.map(({ name, effect }) => ({ name, effect })),
    begin() {
      queries.count = 0;
    },
  };
}

type ToolRunner = (name: string, input: unknown, signal: AbortSignal) => Promise<ToolOutput>;

/** Runs tools of ktx and numbers the evidence of their queries: `q1`, `q2`… */
function ktxToolRunner(toolbox: ReturnType<typeof openToolbox>, firstEvidence: number): ToolRunner {
  let evidenceCount = firstEvidence;
  return async (name, input, signal) => {
    const tool = toolbox.tools(signal).find((candidate) => candidate.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const startedAt = performance.now();
    const { markdown, structured, error, answer, values } = await tool.execute(input);
    if (error !== undefined)
      return {
        markdown,
        values,
        isError: true,
        choices: choicesOf(error),
        summary: `${error.code}: ${error.message.split('\n')[0]}`,
      };
    const ms = Math.round(performance.now() - startedAt);
    // Awaited before the id is taken: calls may run at the same time.
    const plan = await answer?.ran?.outline?.();
    const id = `q${evidenceCount + 1}`;
    const evidence = answer && toolEvidence(answer, { id, tool: name, ms, plan });
    if (evidence === undefined) return { markdown, structured, values, summary: answer?.summary };
    evidenceCount += 1;
    return {
      markdown: `Evidence ${id}.\n${markdown}`,
      structured,
      values,
      summary: answer?.summary,
      evidence,
    };
  };
}

/** What an ambiguous name may mean. */
function choicesOf({ code, details }: UserError): readonly string[] | undefined {
  if (!code.startsWith('ambiguous')) return undefined;
  return z.looseObject({ choices: z.array(z.string()) }).safeParse(details).data?.choices;
}

function isOffered(name: string, { tools, context }: Agent): boolean {
  if (context.semantic_layer === 'required' && name === 'run_sql') return false;
  if (context.semantic_layer === 'off' && contextTools.has(name)) return false;
  // A list of tools for the data says nothing against an agent that has no answer.
  const isListed = tools.allow?.includes(name) ?? true;
  return (isListed || name === cannotAnswer.name) && !tools.deny.includes(name);
}

/** Throws if `tools.allow` or `tools.deny` names a tool that does not exist. */
function checkToolNames({ name, tools }: Agent, known: readonly string[]): void {
  const unknown = [...(tools.allow ?? []), ...tools.deny].find((tool) => !known.includes(tool));
  if (unknown === undefined) return;
  const hint = didYouMean(unknown, known) ?? `one of ${known.join(', ')}`;
  throw new UserError('agent_invalid', `agents/${name}.yaml: there is no tool ${unknown}.`, {
    hint,
    exitCode: 2,
  });
}
