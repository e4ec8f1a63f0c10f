import { z } from 'zod';
import { errorMessage, UserError } from '../lib/error.ts';
import { untrustedBlock } from '../lib/untrusted.ts';
import type { ToolOutput } from '../llm/port/tool-call.ts';
import type { ServerConfig } from './agent-schema.ts';
import {
  connectServer,
  failure,
  invalid,
  type ListedTool,
  type ServerConnection,
} from './mcp-connection.ts';

/** A tool of another server, as one of the agent's own. */
export interface ExternalTool {
  /** `<server>__<tool>` */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  call(input: unknown, signal: AbortSignal): Promise<ToolOutput>;
}

export interface ExternalServers {
  readonly tools: readonly ExternalTool[];
  /** What is missing, of servers that are not required. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

interface Servers {
  readonly projectDir: string;
  readonly servers: Readonly<Record<string, ServerConfig>>;
  /** For all of them together to connect and to list. */
  readonly waitMs?: number;
}

const preflightMs = 30_000;
const longestDescription = 1000;
const longestSchema = 20_000;
const longestAnswer = 40_000;

/**
 * Connects to every server and checks that it has the tools that the agent may use, before anything is asked of a model.
 * ktx is the client: nothing of a server reaches a child of a backend but the tools that are named here, as they were
 * listed then, whatever it lists later.
 */
export async function openServers(
  { projectDir, servers, waitMs = preflightMs }: Servers,
  signal: AbortSignal,
): Promise<ExternalServers> {
  const connections: ServerConnection[] = [];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  const opened = await Promise.allSettled(
    Object.entries(servers).map(async ([name, config]) => {
      const connection = await connectServer({ projectDir, name, config }, limit);
      connections.push(connection);
      return { name, ...(await toolsOf(connection, limit)) };
    }),
  );
  const close = async (): Promise<void> =>
    void (await Promise.allSettled(connections.map((each) => each.close())));
  const failed = opened.flatMap((one, index) => {
    const [name = '', config] = Object.entries(servers)[index] ?? [];
    return one.status === 'rejected'
      ? [{ name, isRequired: config?.required !== false, reason: one.reason as unknown }]
      : [];
  });
  const found = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const tools = found.flatMap((each) => each.tools);
  const fatal =
    failed.find(({ isRequired, reason }) => isRequired || !(reason instanceof UserError))?.reason ??
    clashOf(tools);
  if (fatal !== undefined || signal.aborted) {
    await close();
    signal.throwIfAborted();
    throw fatal;
  }
  return {
    tools,
    warnings: [
      ...failed.map(({ reason }) => errorMessage(reason)),
      ...found.flatMap(({ warnings }) => warnings),
    ],
    close,
  };
}

/** `a` with the tool `b__c` and `a__b` with `c` have one name: a call would go to either. */
function clashOf(tools: readonly ExternalTool[]): UserError | undefined {
  const [name] = tools
    .map((tool) => tool.name)
    .filter((each, index, names) => names.indexOf(each) !== index);
  if (name === undefined) return undefined;
  const options = { hint: 'name one of the servers otherwise', exitCode: 2 } as const;
  return new UserError(
    'mcp_server_invalid',
    `Two tools of mcp_servers would have the name ${name}.`,
    options,
  );
}

async function toolsOf(connection: ServerConnection, limit: AbortSignal) {
  const { name, config } = connection;
  const listed = await connection.list(limit).catch((error: unknown) => {
    throw failure(
      name,
      limit.aborted ? 'it took too long to list its tools' : connection.wordsOf(error),
      error,
    );
  });
  const tools: ExternalTool[] = [];
  const warnings: string[] = [];
  for (const wanted of config.tools) {
    const same = listed.filter((tool) => tool.name === wanted);
    const [found] = same;
    const problem =
      found === undefined
        ? `it has no tool ${wanted}`
        : same.length > 1
          ? `it lists ${wanted} twice`
          : undefined;
    const tool = found && problem === undefined ? external(connection, found) : (problem ?? '');
    if (typeof tool !== 'string') tools.push(tool);
    else if (config.required)
      throw invalid(
        name,
        tool,
        `correct mcp_servers.${name}.tools of the agent, or set required: false`,
      );
    else warnings.push(`mcp server ${name}: ${tool}; going on without.`);
  }
  return { tools, warnings };
}

/** The tool, or what is wrong with it. What a server says of the effects of its tools is not believed. */
function external(connection: ServerConnection, listed: ListedTool): ExternalTool | string {
  const server = connection.name;
  const name = `${server}__${listed.name}`;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    return `the name of ${listed.name} is none that a model can use`;
  const size = JSON.stringify(listed.inputSchema).length;
  if (size > longestSchema)
    return `the schema of ${listed.name} has ${size} characters, and ${longestSchema} is the most for a model`;
  const inputSchema = objectSchema(listed.inputSchema);
  if (inputSchema === undefined) return `what ${listed.name} takes is no valid schema`;
  const about = (listed.description ?? '').replaceAll(/\s+/g, ' ').slice(0, longestDescription);
  return {
    name,
    description: `Tool ${listed.name} of the server ${server}, which is not part of ktx. It says of itself: ${about}`,
    inputSchema,
    async call(input, signal) {
      const args = (input ?? {}) as Record<string, unknown>;
      const result = await connection.call(listed.name, args, signal).catch((error: unknown) => {
        throw new UserError(
          'mcp_server_failed',
          `The server ${server} failed: ${connection.wordsOf(error)}`,
          { cause: error },
        );
      });
      const text = textOf(result);
      const cut =
        text.length > longestAnswer
          ? `${text.slice(0, longestAnswer)}\n(cut: ${text.length} characters in all)`
          : text;
      const isError = result.isError === true;
      const summary = isError
        ? `${server} answered with an error`
        : `${text.length} characters from ${server}`;
      return { markdown: untrustedBlock(name, cut), summary, isError };
    },
  };
}

const partsSchema = z
  .array(z.looseObject({ type: z.string(), text: z.string().optional() }))
  .catch([]);

/** What it said as text; only what has no text is told as the object that it is. */
function textOf({
  content,
  structuredContent,
}: {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
}): string {
  const parts = partsSchema.parse(content);
  if (parts.length === 0 && structuredContent !== undefined)
    return JSON.stringify(structuredContent);
  return parts.map((part) => part.text ?? `(${part.type}, not shown)`).join('\n');
}

function objectSchema(json: object): z.ZodObject | undefined {
  try {
    const schema = z.fromJSONSchema(
      withoutPatterns(json) as Parameters<typeof z.fromJSONSchema>[0],
    );
    return schema instanceof z.ZodObject ? schema : undefined;
  } catch {
    return undefined;
  }
}

/** A regular expression of others can keep the process busy for ever: it is told to the model, and the server checks it. */
function withoutPatterns(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutPatterns);
  if (!(json instanceof Object)) return json;
  const entries = Object.entries(json).filter(
    ([key, value]) =>
      key !== 'patternProperties' && !(key === 'pattern' && typeof value === 'string'),
  );
  const kept = Object.fromEntries(
    entries.map(([key, value]: [string, unknown]) => [key, withoutPatterns(value)]),
  );
  const { pattern, description = '' } = json as {
    readonly pattern?: unknown;
    readonly description?: unknown;
  };
  return typeof pattern === 'string'
    ? { ...kept, description: `${String(description)} Pattern: ${pattern}`.trim() }
    : kept;
}
