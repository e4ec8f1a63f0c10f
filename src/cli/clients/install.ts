import { existsSync } from 'node:fs';
import { errorMessage, UserError } from '../../lib/error.ts';
import type { CommandContext } from '../command.ts';
import { toUserError } from '../terminal/failure.ts';
import { clientPlace, diffLines, planChange, requireOwn } from './change-client.ts';
import { mcpClients, type ClientScope, type McpClient } from './client-list.ts';
import { entryCommand, projectOf } from './server-command.ts';
import type { ServerTarget } from './server-target.ts';
import { tryServer, type ServerTrial } from './try-server.ts';

/** What became of one client. */
export interface ClientReport {
  readonly client: string;
  readonly state: 'installed' | 'unchanged' | 'planned' | 'removed' | 'absent' | 'failed';
  readonly file?: string;
  /** The copy of the file as it was. */
  readonly backup?: string | undefined;
  readonly trial?: ServerTrial;
  readonly diff?: readonly string[];
  readonly error?: UserError;
}

/** How a client has ktx now. */
export interface ClientStatus {
  readonly client: string;
  readonly state: 'installed' | 'other' | 'absent' | 'unreadable';
  readonly file?: string;
  readonly project?: string | undefined;
  readonly answers?: string;
}

export interface InstallFlags {
  readonly name: string;
  readonly scope: ClientScope;
  readonly replace?: true | undefined;
  readonly dryRun?: true | undefined;
}

/** The clients whose folders are on this machine. */
export function foundClients({ host }: CommandContext): readonly McpClient[] {
  const place = clientPlace(host);
  return mcpClients.filter((client) => existsSync(client.folder(place)));
}

/** The server has to answer first; then the entry is written. */
export async function installClient(
  client: McpClient,
  { target, ...flags }: InstallFlags & { readonly target: ServerTarget },
  context: CommandContext,
): Promise<ClientReport> {
  const { name, scope } = flags;
  const entry = target.entryFor(client, name);
  if (entry === undefined) {
    throw new UserError('client_without_http', `${client.title} takes no server over HTTP here.`, {
      hint: 'leave out --http, or add the address in its own settings',
      exitCode: 2,
    });
  }
  const change = await planChange({ client, scope, name, entry }, context.host);
  if (flags.replace !== true) requireOwn(change);
  const { path, before, after } = change;
  if (flags.dryRun === true) {
    const diff = diffLines(before, after);
    return { client: client.name, state: 'planned', file: path, diff };
  }
  context.progress.update(`starting ktx as ${client.title} does`);
  const trial = await target.tryAs(client).catch((error: unknown) => {
    throw new UserError('server_failed', `ktx did not answer: ${errorMessage(error)}`, {
      hint: 'nothing was written; ktx doctor finds most causes',
    });
  });
  if (before === after) return { client: client.name, state: 'unchanged', file: path, trial };
  const backup = await change.apply();
  return { client: client.name, state: 'installed', file: path, backup, trial };
}

export async function uninstallClient(
  client: McpClient,
  { name, scope, replace, dryRun }: InstallFlags,
  { host }: CommandContext,
): Promise<ClientReport> {
  const change = await planChange({ client, scope, name, entry: undefined }, host);
  const { path, before, after, old } = change;
  if (old === undefined) return { client: client.name, state: 'absent', file: path };
  if (replace !== true) requireOwn(change);
  if (dryRun === true) {
    return { client: client.name, state: 'planned', file: path, diff: diffLines(before, after) };
  }
  const backup = await change.apply();
  return { client: client.name, state: 'removed', file: path, backup };
}

/** One client that fails stops no other one. */
export async function reportFailure(
  { name }: McpClient,
  work: () => Promise<ClientReport>,
): Promise<ClientReport> {
  try {
    return await work();
  } catch (error) {
    return { client: name, state: 'failed', error: toUserError(error) };
  }
}

/** Starts what the client's file says, as the client would. */
export async function clientStatus(
  client: McpClient,
  { name, scope }: InstallFlags,
  { host, signal }: CommandContext,
): Promise<ClientStatus> {
  try {
    const { path, old } = await planChange({ client, scope, name, entry: undefined }, host);
    if (old === undefined) return { client: client.name, state: 'absent', file: path };
    const command = entryCommand(old);
    const project = command && projectOf(command);
    if (command === undefined || project === undefined)
      return { client: client.name, state: 'other', file: path };
    const { passesVariables } = client;
    const cwd = clientPlace(host).home;
    const answers = await tryServer(command, { env: host.env, passesVariables, cwd, signal }).then(
      ({ version, seconds }) => `ktx ${version}, ${seconds} s`,
      (error: unknown) => `no: ${errorMessage(error)}`,
    );
    return { client: client.name, state: 'installed', file: path, project, answers };
  } catch (error) {
    const { message } = toUserError(error);
    return { client: client.name, state: 'unreadable', answers: message };
  }
}
