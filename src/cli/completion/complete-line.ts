import tree from './completion-tree.json' with { type: 'json' };
import { listProjectNames, type NameKind } from './project-names.ts';

// Own code: @bomb.sh/tab completes from the whole commander program, which would load the module of
// every command each time a person presses Tab. The names of a project would stay our own code
// there too.

/** What follows a flag: nothing, one of these words, or a value with this placeholder name. */
type FlagValue = null | string | readonly string[];
/** By how each flag is written: `-q, --quiet`. */
type FlagValues = Readonly<Record<string, FlagValue>>;

interface CommandArguments {
  /** `name`, `name...` for several, `name=a|b` for a choice. */
  readonly arguments: readonly string[];
  readonly flags: FlagValues;
}

const commands: Readonly<Record<string, CommandArguments>> = tree.commands;
const globalFlags: FlagValues = tree.globals;

/**
 * What kind of name an argument or flag takes: by command and argument, or by the argument alone.
 */
const nameKinds: Readonly<Record<string, NameKind>> = {
  'connection test name': 'connection',
  'connection remove name': 'connection',
  connection: 'connection',
  connections: 'connection',
  '--connection': 'connection',
  '--warehouse': 'connection',
  dataset: 'dataset',
  subject: 'subject',
  '--metric': 'metric',
  metric: 'metric',
  '--by': 'field',
  '--dimension': 'field',
  '--saved': 'query',
  '--segment': 'segment',
  sets: 'set',
  set: 'set',
  '--case': 'case',
  '--agent': 'agent',
};

/**
 * The words that can complete the line: commands, flags, values, names of the project. A person
 * waits for it, so it loads no command; the tree of commands is a generated file.
 */
export function completeLine(
  line: string,
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): string[] {
  const words = line.trimStart().split(/\s+/).slice(1);
  const [previous, word] = [words.slice(0, -1), words.at(-1) ?? ''];
  const expected = findExpected(previous, word);
  const candidates =
    'words' in expected
      ? expected.words
      : listNames(expected, { ...place, projectDir: projectDirIn(previous), word });
  return candidates.filter((candidate) => candidate.startsWith(word));
}

function projectDirIn(words: readonly string[]): string | undefined {
  return /--project-dir[ =](\S+)/.exec(words.join(' '))?.[1];
}

type ExpectedWord = { readonly words: readonly string[] } | ExpectedName;

interface ExpectedName {
  readonly path: string;
  /** An argument of the command, or a flag. */
  readonly name: string;
}

function listNames(
  { path, name }: ExpectedName,
  place: Parameters<typeof listProjectNames>[1],
): readonly string[] {
  const kind = nameKinds[`${path} ${name}`] ?? nameKinds[name];
  return kind === undefined ? [] : listProjectNames(kind, place);
}

/** What the word being typed has to be, by the words before it. */
function findExpected(previous: readonly string[], word: string): ExpectedWord {
  const { path, args } = splitCommand(previous);
  const command = commands[path];
  const flags = { ...command?.flags, ...globalFlags };
  const last = previous.at(-1) ?? '';
  const value = last.startsWith('-') ? findFlag(flags, last)?.value : undefined;
  if (typeof value === 'string') return { path, name: longNameOf(flags, last) };
  if (Array.isArray(value)) return { words: value };
  if (word.startsWith('-'))
    return { words: Object.keys(flags).flatMap((spellings) => spellings.split(', ')) };
  const subcommands = args.length === 0 ? subcommandsOf(path) : [];
  return subcommands.length > 0
    ? { words: subcommands }
    : expectedArgument(path, command?.arguments[args.length] ?? command?.arguments.at(-1) ?? '');
}

/** `argument` as the generated tree has it: `name`, `name...` or `name=a|b`. */
function expectedArgument(path: string, argument: string): ExpectedWord {
  const choices = /^.*=(.*)$/.exec(argument)?.[1];
  return choices === undefined
    ? { path, name: argument.replace(/\.\.\.$/, '') }
    : { words: choices.split('|') };
}

/** The next words of the commands that begin with `path`. */
function subcommandsOf(path: string): readonly string[] {
  const prefix = path === '' ? '' : `${path} `;
  const words = Object.keys(commands)
    .filter((command) => command !== path && command.startsWith(prefix))
    .map((command) => command.slice(prefix.length).split(' ')[0] ?? '');
  return [...new Set(words)];
}

/**
 * The longest command that the words begin with, and its arguments, without flags and their values.
 */
function splitCommand(words: readonly string[]): {
  readonly path: string;
  readonly args: readonly string[];
} {
  const flags = { ...globalFlags, ...commands[commandPathOf(words)]?.flags };
  const takesValue = (word: string): boolean => {
    const flag = findFlag(flags, word);
    return flag !== undefined && flag.value !== null;
  };
  const names = words.filter(
    (word, index) => !word.startsWith('-') && !takesValue(words[index - 1] ?? ''),
  );
  const path = commandPathOf(names);
  return { path, args: names.slice(path === '' ? 0 : path.split(' ').length) };
}

function commandPathOf(words: readonly string[]): string {
  const isKnown = (path: string): boolean =>
    Object.keys(commands).some((command) => command === path || command.startsWith(`${path} `));
  const [one, two] = [words[0] ?? '', words.slice(0, 2).join(' ')];
  if (words.length > 1 && isKnown(two)) return two;
  return isKnown(one) ? one : '';
}

function findFlag(
  flags: FlagValues,
  word: string,
): { readonly spellings: string; readonly value: FlagValue } | undefined {
  const entry = Object.entries(flags).find(([spellings]) => spellings.split(', ').includes(word));
  return entry && { spellings: entry[0], value: entry[1] };
}

/** `--metric` for `-m`. */
function longNameOf(flags: FlagValues, word: string): string {
  const spellings = findFlag(flags, word)?.spellings.split(', ') ?? [];
  return spellings.find((spelling) => spelling.startsWith('--')) ?? word;
}
