import type { Options, PermissionResult, SDKSystemMessage } from '@anthropic-ai/claude-agent-sdk';
import { LlmError } from '../port/error.ts';
import type { AccountPolicy } from './account-policy.ts';
import { builtInTools } from './built-in-tools.ts';

/** The only MCP server that a child may have. */
export const serverName = 'ktx';
export const outputTool = 'StructuredOutput';

/** Plugins that ship with the program and are on by default. */
const builtInPlugins = [
  'cc-plugin-agents-md',
  'cc-plugin-plugin-authoring',
  'cc-plugin-privacy',
  'cc-plugin-telemetry',
];

/** The program's name of a tool of ours. */
export function toolId(name: string): string {
  return `mcp__${serverName}__${name}`;
}

/** What the `init` message of a child has to report: exactly this and nothing else. */
export interface ExpectedInit {
  /** Names of the call's own tools, by tool id. */
  readonly tools: ReadonlyMap<string, string>;
  /** True if the program adds its own tool for object answers. */
  readonly hasObject: boolean;
}

/**
 * The SDK options that isolate a child, the same for every call and probe. None is left to its
 * default.
 */
export function isolationOptions({ tools }: ExpectedInit): Options {
  return {
    settingSources: [],
    settings: {
      // A second lock beside the variables of `child/env.ts`.
      autoCompactEnabled: false,
      idleCompaction: false,
      precomputeCompactionEnabled: false,
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
    canUseTool: allowOnly([...tools.keys()]),
  };
}

/** A second lock: with `dontAsk` the program normally decides without asking this. */
function allowOnly(toolIds: readonly string[]): NonNullable<Options['canUseTool']> {
  return (name, input, { toolUseID }): Promise<PermissionResult> =>
    Promise.resolve(
      toolIds.includes(name)
        ? { behavior: 'allow', updatedInput: input, toolUseID }
        : { behavior: 'deny', message: `${name} is not a tool of this task.`, toolUseID },
    );
}

type InitMessage = Pick<
  SDKSystemMessage,
  'tools' | 'mcp_servers' | 'plugins' | 'apiKeySource' | 'permissionMode'
>;

/**
 * Throws if a child has anything that ktx did not give it, or lacks something. Commands, skills and
 * agents of the machine do not count: the program lists them, but they cannot be invoked.
 */
export function checkInit(
  init: InitMessage,
  { tools: ownTools, hasObject }: ExpectedInit,
  policy: AccountPolicy,
): void {
  const expectedTools = [...(hasObject ? [outputTool] : []), ...ownTools.keys()];
  const tools = nameDifferences(init.tools, expectedTools);
  const names = init.mcp_servers.map(({ name }) => name);
  const servers = nameDifferences(names, ownTools.size > 0 ? [serverName] : []);
  const notConnected = init.mcp_servers
    .filter(({ status }) => status !== 'connected')
    .map(({ name, status }) => `${name} is ${status}`);
  const plugins = init.plugins
    .filter(({ path }) => path !== 'builtin')
    .map(({ name }) => `unexpected ${name}`);
  const mode = init.permissionMode === 'dontAsk' ? [] : [init.permissionMode];
  const differences = {
    tools,
    'MCP servers': [...servers, ...notConnected],
    plugins,
    'permission mode': mode,
  };
  const problems = Object.entries(differences)
    .filter(([, entries]) => entries.length > 0)
    .map(([what, entries]) => `${what}: ${entries.join(', ')}`);
  if (problems.length > 0)
    throw new LlmError('isolation', `Claude Code did not start isolated; ${problems.join('; ')}.`);
  policy.checkKeySource(init.apiKeySource);
}

function nameDifferences(actual: readonly string[], expected: readonly string[]): string[] {
  const unexpected = actual.filter((name) => !expected.includes(name));
  const missing = expected.filter((name) => !actual.includes(name));
  return [
    ...unexpected.map((name) => `unexpected ${name}`),
    ...missing.map((name) => `missing ${name}`),
  ];
}
