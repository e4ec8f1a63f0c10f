import { Command, Option, type CommanderError } from '@commander-js/extra-typings';
import type { UserError } from '../lib/error.ts';
import { readVersion } from '../lib/version.ts';
import type { Handler } from './command.ts';
import { usage } from './terminal/failure.ts';
import { groups, registry, type CommandEntry } from './registry.ts';

export interface GlobalFlags {
  readonly projectDir?: string;
  readonly role?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly color?: boolean;
  readonly format?: 'table' | 'csv' | 'json';
  /** Of `ktx ask`. */
  readonly outputFormat?: 'text' | 'json' | 'stream-json';
}

/** The whole tree with names and summaries; a command's own flags arrive with `attach`. */
export function buildProgram(writeHelp: (text: string) => void): Command {
  const program: Command = new Command('ktx')
    .description(
      'The context layer for data agents: from a database to a semantic layer that answers questions.',
    )
    .usage('<command> [options]')
    .exitOverride()
    .configureOutput({ writeOut: writeHelp, writeErr: writeHelp, outputError: () => undefined })
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .helpCommand(false)
    .addHelpText(
      'after',
      '\nktx <command> --help shows its flags and examples. Start with: ktx demo',
    );
  program
    .option('--project-dir <dir>', 'the project (else KTX_PROJECT_DIR, else the nearest ktx.yaml)')
    .option('--role <name>', 'who asks, for row rules (else KTX_ROLE, else query.role of ktx.yaml)')
    .option('--json', 'one JSON envelope on stdout')
    .option('-q, --quiet', 'no talk on stderr, errors excepted')
    .option('--debug', 'the stack of what fails')
    .option('--no-color', 'plain text')
    .version(readVersion(), '-V, --version', 'print the version');
  for (const { path, summary } of registry) {
    const [first = '', second] = path.split(' ');
    const parent = second === undefined ? program : group(program, first);
    const name = second ?? first;
    // A group can be a command too.
    const command = find(parent, name) ?? parent.command(name);
    command.summary(summary).allowExcessArguments(false);
  }
  return program;
}

/** Adds flags, examples and the handler of one command to the tree. */
export async function attach(
  program: Command,
  entry: CommandEntry,
  execute: (handler: Handler, flags: GlobalFlags) => Promise<void>,
): Promise<Command> {
  const module = await entry.load();
  const command = entry.path
    .split(' ')
    .reduce((parent, word) => find(parent, word) ?? parent, program);
  command.description(module.description);
  module.attach(command, (handler) => execute(handler, command.optsWithGlobals()));
  if (module.rows) {
    const format = new Option('--format <format>', 'how rows are printed').choices([
      'table',
      'csv',
      'json',
    ]);
    command.addOption(format.default('table'));
  }
  const examples = module.examples.map(([line, what]) => `  ${line}\n      ${what}`).join('\n');
  command.addHelpText('after', `\nExamples:\n${examples}`);
  return command;
}

/** What the command line means: `help x` asks for the help of x. */
export function resolveCommand(argv: readonly string[]): {
  words: readonly string[];
  entry: CommandEntry | undefined;
} {
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  const plain = words.filter(
    (word, index) =>
      !word.startsWith('-') && !['--project-dir', '--role'].includes(words[index - 1] ?? ''),
  );
  return {
    words,
    entry: registry.find(({ path }) => path === plain.slice(0, path.split(' ').length).join(' ')),
  };
}

const refusedValue =
  /^error: (?:option '([^']+)' |command-)argument (?:value )?'(.*)' is invalid(?: for argument '([^']+)')?\. (.*)$/s;

/** What commander says about a command line, as the error that people and programs get. */
export function usageError({ message }: CommanderError, command: string): UserError {
  const [, option, value, argument, why = ''] = refusedValue.exec(message) ?? [];
  const refused = option?.split(/,? /).find((word) => word.startsWith('--')) ?? argument;
  if (refused !== undefined)
    return usage(
      `${refused} cannot be ${JSON.stringify(value)}.`,
      why.replace(/^Allowed choices are/, 'one of').replace(/\.$/, ''),
    );
  const [first = '', ...rest] = message.replace(/^error: /, '').split('\n');
  const meant = /Did you mean (?:one of )?(.+?)\?/.exec(rest.join(' '))?.[1];
  return usage(
    first.charAt(0).toUpperCase() + first.slice(1),
    meant === undefined ? `${command} --help` : `did you mean ${meant}?`,
  );
}

function group(program: Command, name: string): Command {
  const summary = groups[name] ?? name;
  return (
    find(program, name) ??
    program
      .command(name)
      .summary(summary)
      .description(summary)
      .usage('<command> [options]')
      .helpCommand(false)
  );
}

function find(parent: Command, name: string): Command | undefined {
  return parent.commands.find((command) => command.name() === name) as Command | undefined;
}
