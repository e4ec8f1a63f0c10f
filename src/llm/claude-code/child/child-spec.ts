import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { roleSettings, type Effort } from '../../port/roles.ts';
import type { KtxModelRole, KtxToolSet } from '../../port/runtime.ts';
import { type ExpectedInit, isolationOptions, serverName, toolId } from '../isolation.ts';
import { openToolServer, type ToolDesk } from '../tool-server.ts';

/** Everything that a child is told before its prompt. */
export interface ChildSpec {
  readonly model: string;
  readonly role: KtxModelRole;
  readonly system: string;
  readonly tools: KtxToolSet;
  /** JSON Schema (draft-7) of the answer, if it has to be an object. */
  readonly schema?: Record<string, unknown> | undefined;
  readonly stepBudget: number;
  /** Overrides the effort of the role. */
  readonly effort?: Effort | undefined;
  /** US dollars that the child may spend, asked when it starts; undefined without a limit. */
  readonly budgetLeft?: (() => number | undefined) | undefined;
  /** True if the child serves nothing else: a session, or a call that is not expected again. */
  readonly isSingleUse?: boolean | undefined;
}

/** The SDK options of a child. Its tools are those of the call at the desk. */
export function childOptions(
  spec: ChildSpec,
  desk: ToolDesk = { call: { tools: spec.tools } },
): Options {
  const { model, role, system, tools, schema, stepBudget } = spec;
  const budgetUsd = spec.budgetLeft?.() ?? 0;
  const { thinking, effort } = roleSettings[role];
  return {
    ...isolationOptions(expectedInit(spec)),
    // A child that serves several calls takes one command between them: `child/launch.ts` marks the
    // prompts instead.
    verbatimPrompts: spec.isSingleUse === true,
    model,
    systemPrompt: system,
    maxTurns: stepBudget,
    thinking: { type: thinking ? 'adaptive' : 'disabled' },
    effort: spec.effort ?? effort,
    ...(budgetUsd > 0 && { maxBudgetUsd: budgetUsd }),
    includePartialMessages: true,
    ...(specHasTools(spec) ? { mcpServers: { [serverName]: openToolServer(tools, desk) } } : {}),
    ...(schema === undefined ? {} : { outputFormat: { type: 'json_schema', schema } }),
  };
}

/**
 * ktx asks for an object again itself, as on every backend. A child with one turn cannot, so it may
 * go on reading an answer that does not fit: its end says whether it was cut off.
 */
export function childVariables({ stepBudget }: ChildSpec): Record<string, string> {
  return { MAX_STRUCTURED_OUTPUT_RETRIES: stepBudget === 1 ? '2' : '1' };
}

export function expectedInit({ tools, schema }: ChildSpec): ExpectedInit {
  return {
    tools: new Map(Object.keys(tools).map((name) => [toolId(name), name])),
    hasObject: schema !== undefined,
  };
}

/**
 * Specs with the same key can share children: a child is told the same whichever of them it is
 * started for. Tools count by what the model is told of them, not by what they do.
 */
export function poolKey(spec: ChildSpec): string {
  const { model, role, system, schema, stepBudget, effort, isSingleUse = false } = spec;
  const tools = Object.values(spec.tools).map(({ name, description, inputSchema }) => [
    name,
    description,
    z.toJSONSchema(inputSchema, { io: 'input', unrepresentable: 'any' }),
  ]);
  const settings = [roleSettings[role], effort, isSingleUse];
  return JSON.stringify([model, settings, system, tools, schema, stepBudget]);
}

export function specHasTools({ tools }: Pick<ChildSpec, 'tools'>): boolean {
  return Object.keys(tools).length > 0;
}
