import { Command, Option, type CommanderError } from '@commander-js/extra-typings';
import type { UserError } from '../lib/error.ts';
import { nearest } from '../lib/suggest.ts';
import { readVersion } from '../lib/version.ts';
import type { Handler } from './command.ts';
import { groups, registry, type CommandEntry } from './registry.ts';
import { usageError } from './terminal/failure.ts';
import { type RowFormat, rowFormats } from './terminal/screen.ts';
import { commandsByUsualWord, flagsByUsualName } from './usual-words.ts';

export interface GlobalFlags {
  readonly projectDir?: string;
  readonly role?: string;
  readonly trust?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly color?: boolean;
  readonly format?: RowFormat;
  readonly vertical?: boolean;
  /** A flag of `ktx ask`. */
  readonly outputFormat?: 'text' | 'json' | 'stream-json';
}

/** The command tree with names and summaries. `attachCommand` adds the flags of one command. */
export function buildProgram(writeHelp: (text: string) => void): Command {
  const program: Command = new Command('ktx')
    .description(
      'The context layer for data agents: turns a database into a semantic layer that answers questions.',
    )
    .usage('<command> [options]')
    .exitOverride()
    .configureOutput({ writeOut: writeHelp, writeErr: writeHelp, outputError: () => undefined })
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .helpCommand(false)
    .addHelpText(
      'after',
      '\nRun "ktx <command> --help" for flags and examples. To start: ktx demo',
    );
  program
    .option(
      '--project-dir <dir>',
      'project folder (default: KTX_PROJECT_DIR, then the nearest folder with a ktx.yaml)',
    )
    .option(
      '--role <name>',
      'role that row rules apply to (default: KTX_ROLE, then query.role in ktx.yaml)',
    )
    .option(
      '--trust <hash>',
      'approve what the project does on this machine, as shown by ktx trust --show (default: KTX_TRUST)',
    )
    .option('--json', 'print one JSON envelope on stdout')
    .option('-q, --quiet', 'print no messages on stderr, except errors')
    .option('--debug', 'print the stack trace of an error')
    .option('--no-color', 'print without colors')
    .version(readVersion(), '-V, --version', 'print the version');
  for (const { path, summary } of registry) {
    const words = path.split(' ');
    const name = words.pop() ?? '';
    const parent = words.reduce(
      (group, word, index) => findOrAddGroup(group, word, words.slice(0, index + 1).join(' ')),
      program,
    );
    // `ktx review` is a group and a command.
    const command = findCommand(parent, name) ?? parent.command(name);
    command.summary(summary).allowExcessArguments(false);
  }
  return program;
}

/** Adds the flags, examples and handler of one command to the tree. */
export async function attachCommand(
  program: Command,
  entry: CommandEntry,
  execute: (handler: Handler, flags: GlobalFlags) => Promise<void>,
): Promise<Command> {
  const module = await entry.load();
  const command = entry.path
    .split(' ')
    .reduce((parent, word) => findCommand(parent, word) ?? parent, program);
  command.description(module.description);
  module.attach(command, (handler) => execute(handler, command.optsWithGlobals()));
  if (module.hasRows) {
    const format = new Option('--format <format>', 'output format of the rows');
    command.addOption(format.choices(rowFormats).default('table'));
    command.option('--vertical', 'one line for each column: the same as --format vertical');
  }
  const examples = module.examples.map(([line, what]) => `  ${line}\n      ${what}`).join('\n');
  command.addHelpText('after', `\nExamples:\n${examples}`);
  return command;
}

/**
 * Finds the command that the words name. `help x` becomes `x --help`, and the usual names of other
 * tools what they are here.
 */
export function resolveCommand(argv: readonly string[]): {
  words: readonly string[];
  /** The words without flags: the command, then its arguments. */
  names: readonly string[];
  entry: CommandEntry | undefined;
} {
  const [first = '', ...rest] = argv;
  const sameAs = Object.hasOwn(firstWords, first) ? firstWords[first] : undefined;
  const words = first === 'help' ? [...rest, '--help'] : [sameAs ?? first, ...rest];
  const names = words.filter(
    (word, index) =>
      !word.startsWith('-') &&
      !['--project-dir', '--role', '--trust'].includes(words[index - 1] ?? ''),
  );
  return {
    words: argv.length === 0 ? argv : words,
    names,
    entry: registry.find(({ path }) => path === names.slice(0, path.split(' ').length).join(' ')),
  };
}

/** First words that stand for others. */
const firstWords: Readonly<Record<string, string>> = {
  init: 'setup',
  version: '--version',
  '-v': '--version',
};

/** What was typed, for hints about a word that ktx does not know. */
interface TypedCommand {
  /** The command to show help for. */
  readonly command: string;
  readonly names: readonly string[];
  /** The flags of the command, like `--limit`. */
  readonly flags: readonly string[];
}

const invalidValuePattern =
  /^error: (?:option '([^']+)' |command-)argument (?:value )?'(.*)' is invalid(?: for argument '([^']+)')?\. (.*)$/s;

/** Turns an error of commander into a usage error with a hint. */
export function fromCommanderError({ message }: CommanderError, typed: TypedCommand): UserError {
  const [, option, value, argument, reason = ''] = invalidValuePattern.exec(message) ?? [];
  const name = option?.split(/,? /).find((word) => word.startsWith('--')) ?? argument;
  if (name !== undefined) {
    const hint = reason.replace(/^Allowed choices are/, 'one of').replace(/\.$/, '');
    return usageError(`${name} cannot be ${JSON.stringify(value)}.`, hint);
  }
  const [first = '', ...rest] = message.replace(/^error: /, '').split('\n');
  const unknown = /^unknown (?:command|option) '([^']+)'/.exec(first)?.[1] ?? '';
  const suggestion =
    usualMeaning(unknown, typed) ??
    /Did you mean (?:one of )?(.+?)\?/.exec(rest.join(' '))?.[1] ??
    (typed.names[0] === unknown ? nearestSubcommand(unknown) : undefined);
  return usageError(
    first.charAt(0).toUpperCase() + first.slice(1),
    suggestion === undefined ? `${typed.command} --help` : `did you mean ${suggestion}?`,
  );
}

/** What people usually mean by a command or a flag of that name. */
function usualMeaning(unknown: string, { names, flags }: TypedCommand): string | undefined {
  if (unknown.startsWith('-')) {
    const meant = Object.hasOwn(flagsByUsualName, unknown) ? flagsByUsualName[unknown] : undefined;
    return meant?.find((flag) => flags.includes(flag));
  }
  const path = names.slice(0, names.indexOf(unknown) + 1).join(' ');
  return Object.hasOwn(commandsByUsualWord, path) ? commandsByUsualWord[path] : undefined;
}

/** `sl query` for `qurey`. */
function nearestSubcommand(word: string): string | undefined {
  const subcommands = registry.map(({ path }) => path).filter((path) => path.includes(' '));
  const lastWordOf = (path: string) => path.split(' ').at(-1) ?? '';
  const [meant] = nearest(word, subcommands.map(lastWordOf), 1);
  return subcommands.find((path) => lastWordOf(path) === meant);
}

/** `path` is all the words of the group, from the first one. */
function findOrAddGroup(parent: Command, name: string, path: string): Command {
  const summary = groups[path] ?? path;
  return (
    findCommand(parent, name) ??
    parent
      .command(name)
      .summary(summary)
      .description(summary)
      .usage('<command> [options]')
      .helpCommand(false)
  );
}

function findCommand(parent: Command, name: string): Command | undefined {
  return parent.commands.find((command) => command.name() === name) as Command | undefined;
}
