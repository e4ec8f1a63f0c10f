import type { Agent } from '../../project/agents/agent.ts';
import type { PermissionPolicy } from '../../chat/tools/permissions.ts';

/** An agent as an eval may run it. */
export interface PreparedAgent {
  /** The agent of its file, unchanged. */
  readonly declared: Agent;
  /** The agent to ask: without MCP servers unless side effects are allowed. */
  readonly agent: Agent;
  readonly policy: PermissionPolicy;
  /** The tools and servers that the file asks for and that are disabled. */
  readonly disabled: readonly string[];
}

/** Tools that change something. */
const writeTools = ['remember', 'ingest'];

/**
 * Without side effects, only context and queries run: policy `unattended` denies the rest. A file
 * with `mode: manual` keeps it, although nobody is there to answer.
 */
export function prepareAgent(declared: Agent, allowSideEffects: boolean): PreparedAgent {
  const { mode } = declared.permissions;
  if (allowSideEffects)
    return { declared, agent: declared, policy: { mode: mode ?? 'acceptAll' }, disabled: [] };
  const servers = Object.keys(declared.mcp_servers).map((name) => `server ${name}`);
  return {
    declared,
    agent: { ...declared, mcp_servers: {} },
    policy: { mode: mode === 'manual' ? 'manual' : 'unattended' },
    disabled: [...requestedWriteTools(declared), ...servers],
  };
}

/** An agent without a file offers write tools by default; only a file can ask for them. */
function requestedWriteTools({ permissions: { mode }, tools }: Agent): readonly string[] {
  const { allow, deny } = tools;
  const isRequested = allow !== undefined || mode === 'acceptAll' || mode === 'acceptEdits';
  if (!isRequested) return [];
  return writeTools.filter((name) => (allow?.includes(name) ?? true) && !deny.includes(name));
}

/** The warning about disabled tools; undefined if nothing is disabled. */
export function disabledToolsWarning(
  agents: ReadonlyMap<string, PreparedAgent>,
): string | undefined {
  const lists = [...agents].flatMap(([name, { disabled }]) =>
    disabled.length === 0 ? [] : [`${name}: ${disabled.join(', ')}`],
  );
  return lists.length === 0
    ? undefined
    : `Disabled because they can change something (${lists.join('; ')}). To run them: --allow-side-effects`;
}
