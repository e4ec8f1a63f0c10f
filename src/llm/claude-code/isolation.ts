import type { Options, PermissionResult, SDKSystemMessage } from '@anthropic-ai/claude-agent-sdk';
import { LlmError } from '../port/error.ts';
import type { Access } from './access.ts';
import { builtInTools } from './built-in-tools.ts';

/** The name of the one MCP server that a child may have. */
export const serverName = 'ktx';
export const outputTool = 'StructuredOutput';

/** Plugins that ship inside the program and are on by default. */
const builtInPlugins = [
  'cc-plugin-agents-md',
  'cc-plugin-plugin-authoring',
  'cc-plugin-privacy',
  'cc-plugin-telemetry',
];

export function toolId(name: string): string {
  return `mcp__${serverName}__${name}`;
}

/** What a child may have: what `init` must report, no more and no less. */
export interface Expected {
  /** Names of the call's own tools by their ids. */
  readonly tools: ReadonlyMap<string, string>;
  /** True where the program adds its tool to give an object. */
  readonly hasObject: boolean;
}

/** The part of the options that is the same for every call, warm start and probe; nothing is left to a default. */
export function isolationOptions({ tools }: Expected): Options {
  return {
    settingSources: [],
    settings: {
      enabledPlugins: Object.fromEntries(builtInPlugins.map((name) => [`${name}@builtin`, false])),
    },
    skills: [],
    plugins: [],
    tools: [],
    agents: {},
    hooks: {},
    additionalDirectories: [],
    persistSession: false,
    strictMcpConfig: true,
    permissionMode: 'dontAsk',
    allowedTools: [...tools.keys()],
    disallowedTools: [...builtInTools],
    canUseTool: permission([...tools.keys()]),
    verbatimPrompts: true,
  };
}

/** Insurance: `dontAsk` decides before it is asked. */
function permission(toolIds: readonly string[]): NonNullable<Options['canUseTool']> {
  return (name, input, { toolUseID }): Promise<PermissionResult> =>
    Promise.resolve(
      toolIds.includes(name)
        ? { behavior: 'allow', updatedInput: input, toolUseID }
        : { behavior: 'deny', message: `${name} is no tool of this task.`, toolUseID },
    );
}

type Init = Pick<
  SDKSystemMessage,
  'tools' | 'mcp_servers' | 'plugins' | 'apiKeySource' | 'permissionMode'
>;

/**
 * Throws where a child has anything that ktx did not give it, or lacks something. Commands, skills and agents that it
 * found on the host are none of it: they are listed, and cannot be invoked.
 */
export function checkInit(init: Init, { tools: own, hasObject }: Expected, access: Access): void {
  const tools = differences(init.tools, hasObject ? [outputTool, ...own.keys()] : [...own.keys()]);
  const names = init.mcp_servers.map(({ name }) => name);
  const servers = differences(names, own.size > 0 ? [serverName] : []);
  const down = init.mcp_servers
    .filter(({ status }) => status !== 'connected')
    .map(({ name, status }) => `${name} is ${status}`);
  const plugins = init.plugins
    .filter(({ path }) => path !== 'builtin')
    .map(({ name }) => `unexpected ${name}`);
  const mode = init.permissionMode === 'dontAsk' ? [] : [init.permissionMode];
  const found = { tools, 'MCP servers': [...servers, ...down], plugins, 'permission mode': mode };
  const problems = Object.entries(found).flatMap(([what, those]) =>
    those.length === 0 ? [] : [`${what}: ${those.join(', ')}`],
  );
  if (problems.length > 0)
    throw new LlmError('isolation', `Claude Code did not start isolated; ${problems.join('; ')}.`);
  access.checkKeySource(init.apiKeySource);
}

function differences(found: readonly string[], expected: readonly string[]): string[] {
  const unexpected = found
    .filter((name) => !expected.includes(name))
    .map((name) => `unexpected ${name}`);
  return [
    ...unexpected,
    ...expected.filter((name) => !found.includes(name)).map((name) => `missing ${name}`),
  ];
}
