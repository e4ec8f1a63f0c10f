import { askForTrust } from '../terminal/ask-for-trust.ts';
import { usageError } from '../terminal/failure.ts';
import type { CommandContext } from '../command.ts';
import type { ClientEntry, McpClient, ServerAddress, ServerCommand } from './client-list.ts';
import { serverCommand, variablesOf } from './server-command.ts';
import { tryAddress, tryServer, type ServerTrial } from './try-server.ts';

/** The server that clients are to use: a program of this machine, or an address. */
export interface ServerTarget {
  /** Variables that the server needs. */
  readonly variables: readonly string[];
  /** The entry of a client; undefined if its file takes no such server. */
  readonly entryFor: (client: McpClient, name: string) => ClientEntry | undefined;
  /** Starts or reaches it as the client would. */
  readonly tryAs: (client: McpClient) => Promise<ServerTrial>;
}

interface TargetFlags {
  readonly http?: string | undefined;
  readonly tokenEnv?: string | undefined;
}

export async function describeTarget(
  { http, tokenEnv }: TargetFlags,
  context: CommandContext,
): Promise<ServerTarget> {
  if (http !== undefined) return describeAddress({ url: http, tokenVariable: tokenEnv }, context);
  if (tokenEnv !== undefined)
    throw usageError('--token-env is for a server over HTTP.', 'Add --http, or leave it out.');
  const project = await context.project({ mayAsk: false });
  const { trust, config, dir } = project;
  let report = await trust.report();
  if (!report.isApproved && context.screen.interactive && (await askForTrust(report, context))) {
    await trust.approve(report);
    report = await trust.report();
  }
  if (!report.isApproved) {
    context.printNote(
      'What this project does on this machine is not approved yet: agents can search, and query once you have run ktx trust.',
    );
  }
  const { readEnvFile } = await import('../../project/trust/env-file.ts');
  const { variables: inFile } = await readEnvFile(dir);
  const role = project.role === config.query.role ? undefined : project.role;
  const variables = variablesOf(report, (name) => inFile.has(name));
  return describeProgram(serverCommand(dir, { role, variables }), context);
}

function describeProgram(server: ServerCommand, { host, signal }: CommandContext): ServerTarget {
  const trials = new Map<boolean, Promise<ServerTrial>>();
  const start = (passesVariables: boolean) => {
    // Not in the project: clients start servers from wherever they were started themselves.
    const cwd = host.env['HOME'] || '/';
    const trial = tryServer(server, { env: host.env, passesVariables, cwd, signal });
    trials.set(passesVariables, trial);
    return trial;
  };
  return {
    variables: server.variables,
    entryFor: (client, name) => client.stdioEntry(server, name),
    tryAs: ({ passesVariables }) => trials.get(passesVariables) ?? start(passesVariables),
  };
}

function describeAddress(address: ServerAddress, { host, signal }: CommandContext): ServerTarget {
  if (!URL.canParse(address.url) || !/^https?:$/.test(new URL(address.url).protocol))
    throw usageError(`--http takes an address, not ${address.url}.`, 'as https://host/mcp');
  let trial: Promise<ServerTrial> | undefined;
  return {
    variables: [],
    entryFor: (client) => client.httpEntry?.(address),
    tryAs: () => (trial ??= tryAddress(address, { env: host.env, signal })),
  };
}
