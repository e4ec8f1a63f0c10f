import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { roleSettings, type Effort } from '../../port/roles.ts';
import type { KtxModelRole, KtxToolSet } from '../../port/runtime.ts';
import { type Expected, isolationOptions, serverName, toolId } from '../isolation.ts';
import { toolServer } from '../tool-server.ts';

/** All that a child is told before its prompt. */
export interface Order {
  readonly model: string;
  readonly role: KtxModelRole;
  readonly system: string;
  readonly tools: KtxToolSet;
  /** Draft-7 JSON schema of the object that is asked for. */
  readonly schema?: Record<string, unknown> | undefined;
  readonly stepBudget: number;
  /** In place of that of the role. */
  readonly effort?: Effort | undefined;
  /** US dollars that the child may spend. */
  readonly budgetUsd?: number | undefined;
  /** True where no other call like it is to be expected. */
  readonly isLone?: boolean | undefined;
}

export function optionsOf(order: Order): Options {
  const { model, role, system, tools, schema, stepBudget, budgetUsd } = order;
  const { thinking, effort } = roleSettings[role];
  return {
    ...isolationOptions(expectedOf(order)),
    model,
    systemPrompt: system,
    maxTurns: stepBudget,
    thinking: { type: thinking ? 'adaptive' : 'disabled' },
    effort: order.effort ?? effort,
    ...(budgetUsd === undefined ? {} : { maxBudgetUsd: budgetUsd }),
    includePartialMessages: true,
    ...(hasTools(order) ? { mcpServers: { [serverName]: toolServer(tools) } } : {}),
    ...(schema === undefined ? {} : { outputFormat: { type: 'json_schema', schema } }),
  };
}

export function expectedOf({ tools, schema }: Order): Expected {
  return {
    tools: new Map(Object.keys(tools).map((name) => [toolId(name), name])),
    hasObject: schema !== undefined,
  };
}

/** Orders of one key can take each other's child; undefined for those that share none, as the ones with tools. */
export function poolKey(order: Order): string | undefined {
  const { model, role, system, schema, stepBudget } = order;
  return hasTools(order) || order.isLone === true
    ? undefined
    : JSON.stringify([model, roleSettings[role], system, schema, stepBudget]);
}

export function hasTools({ tools }: Pick<Order, 'tools'>): boolean {
  return Object.keys(tools).length > 0;
}
