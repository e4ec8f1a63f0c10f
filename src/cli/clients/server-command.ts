import { dirname, join, resolve, sep } from 'node:path';
import { readVersion } from '../../lib/version.ts';
import type { TrustReport } from '../../project/trust/trust.ts';
import type { ServerCommand } from './client-list.ts';

/**
 * The command that starts the MCP server of a project, by absolute paths: clients on a desktop have
 * no PATH, and no folder of work that one could rely on.
 */
export function serverCommand(
  projectDir: string,
  options: { readonly role: string | undefined; readonly variables: readonly string[] },
): ServerCommand {
  const role = options.role === undefined ? [] : ['--role', options.role];
  const [command = '', ...program] = thisProgram();
  const args = [...program, 'mcp', 'serve', '--project-dir', projectDir, ...role];
  return { command, args, variables: options.variables };
}

/** The words of a client's entry that starts a program, whatever its keys are called. */
export function entryCommand(entry: Readonly<Record<string, unknown>>): ServerCommand | undefined {
  const { command, cmd, args } = entry;
  const [first, ...rest] = [command ?? cmd, args].flat().filter((word) => typeof word === 'string');
  return first === undefined ? undefined : { command: first, args: rest, variables: [] };
}

/** The project that an entry serves; undefined if it starts something else than ktx. */
export function projectOf({ args }: ServerCommand): string | undefined {
  const serve = args.indexOf('serve');
  if (serve < 1 || args[serve - 1] !== 'mcp') return undefined;
  return args[args.indexOf('--project-dir', serve) + 1];
}

/**
 * Names of the variables that the project reads its secrets from, unless its own `.env` has them.
 */
export function variablesOf(
  { grants }: TrustReport,
  isInEnvFile: (name: string) => boolean,
): readonly string[] {
  const secrets = grants.flatMap(({ effects }) => effects.filter(({ kind }) => kind === 'secret'));
  const names = secrets.flatMap(({ text }) => /^env:(\w+)/.exec(text)?.[1] ?? []);
  return [...new Set(names)].filter((name) => !isInEnvFile(name)).sort();
}

/** What npx has fetched may be cleared away: npx fetches it again. */
function thisProgram(): readonly string[] {
  const node = process.execPath;
  const entry = resolve(process.argv[1] ?? '');
  if (!entry.includes(`${sep}_npx${sep}`)) return [node, entry];
  const npx = join(dirname(node), process.platform === 'win32' ? 'npx.cmd' : 'npx');
  return [npx, '-y', `ktx@${readVersion()}`];
}
