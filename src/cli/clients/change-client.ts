import { homedir } from 'node:os';
import { UserError } from '../../lib/error.ts';
import type { CliHost } from '../terminal/screen.ts';
import { findClaude, removeClaudeServer, setClaudeServer } from './claude-program.ts';
import { findEntry, openClientFile, planEntry, writeClientFile } from './client-file.ts';
import type { ClientEntry, ClientPlace, ClientScope, McpClient } from './client-list.ts';
import { entryCommand, projectOf } from './server-command.ts';

/** One server in the file of one client, as it is to be. */
export interface ClientChange {
  readonly client: McpClient;
  readonly scope: ClientScope;
  readonly name: string;
  /** Undefined removes it. */
  readonly entry: ClientEntry | undefined;
}

/** What a change would do. */
export interface PlannedChange extends ClientChange {
  readonly path: string;
  /** The entry that is there now. */
  readonly old: Readonly<Record<string, unknown>> | undefined;
  readonly before: string;
  readonly after: string;
  /** Writes it. Returns the path of the copy of the old file, if there was one. */
  readonly apply: () => Promise<string | undefined>;
}

export function clientPlace({ env, cwd }: CliHost): ClientPlace {
  const home = env['HOME'] || env['USERPROFILE'] || homedir();
  return { home, platform: process.platform, env, workFolder: cwd };
}

/** Reads the file of the client and works out its new text. Nothing is written yet. */
export async function planChange(change: ClientChange, host: CliHost): Promise<PlannedChange> {
  const { client, scope, name, entry } = change;
  const path = client.file(scope, clientPlace(host));
  if (path === undefined) {
    throw new UserError('client_scope', `${client.title} has no servers of a single project.`, {
      hint: 'leave out --scope',
      exitCode: 2,
    });
  }
  // A folder that was cloned may have a link to somewhere else there.
  const within = scope === 'project' ? host.cwd : undefined;
  const file = await openClientFile({ path, within }, client.title);
  const old = await findEntry(file, client, name);
  const before = file.text ?? '';
  const isUnchanged = entry === undefined && old === undefined;
  const after = isUnchanged ? before : await planEntry(file, client, { name, entry });
  return {
    ...change,
    path,
    old,
    before,
    after,
    async apply() {
      const program = client.name === 'claude-code' ? await findClaude(host.env) : undefined;
      if (program === undefined) return writeClientFile(file, client, after);
      const call = { program, cwd: host.cwd, env: host.env, signal: host.signal };
      if (entry === undefined) await removeClaudeServer(call, { name, scope });
      else await setClaudeServer(call, { name, scope, entry });
      return undefined;
    },
  };
}

/**
 * Refuses to replace a server that is not ktx, or serves another project: a person may have set it
 * up by hand.
 */
export function requireOwn({ old, entry, client, name }: PlannedChange): void {
  if (old === undefined) return;
  const [there, wanted] = [old, entry].map((own) => own && entryCommand(own));
  const project = there && projectOf(there);
  // An entry without a command leads to a server over HTTP.
  const isSameKind = entry === undefined || (there === undefined) === (wanted === undefined);
  const isSameProject =
    there === undefined ||
    (project !== undefined && (wanted === undefined || project === projectOf(wanted)));
  if (isSameKind && isSameProject) return;
  const what =
    there === undefined
      ? 'a server over HTTP'
      : project === undefined
        ? 'another server'
        : `the project ${project}`;
  throw new UserError('client_entry_exists', `${client.title} has ${what} under ${name}.`, {
    hint: 'choose another name with --name, or pass --replace',
    exitCode: 2,
  });
}

/** The lines that a change takes away and adds, each with its sign. */
export function diffLines(before: string, after: string): readonly string[] {
  const [old, now] = [before.split(/\r?\n/), after.split(/\r?\n/)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end))
    end += 1;
  return [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
  ];
}
