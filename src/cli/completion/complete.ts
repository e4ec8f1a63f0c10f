import tree from './completion-tree.json' with { type: 'json' };
import { liveNames, type LiveKind } from './live-names.ts';

interface Command {
  readonly arguments: readonly string[];
  /** Flags by how they are written, and what follows each: nothing, one of these words, or something by this name. */
  readonly flags: Readonly<Record<string, Expected>>;
}
type Expected = null | string | readonly string[];

const commands: Readonly<Record<string, Command>> = tree.commands;
const globals: Readonly<Record<string, Expected>> = tree.globals;

/** What an argument or the value of a flag names: by command and name, or by name alone. */
const kinds: Readonly<Record<string, LiveKind>> = {
  'connection test name': 'connection',
  'connection remove name': 'connection',
  connection: 'connection',
  connections: 'connection',
  '--connection': 'connection',
  '--warehouse': 'connection',
  dataset: 'dataset',
  subject: 'subject',
  '--metric': 'metric',
  '--dimension': 'field',
  '--segment': 'segment',
  sets: 'set',
  set: 'set',
  '--case': 'case',
  '--agent': 'agent',
};

/**
 * The words that may stand where the line ends: commands, flags, values, names of the project. It runs while a person waits for a
 * key to answer, so it loads no command: the tree is generated from them.
 */
export function complete(
  line: string,
  at: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): string[] {
  const words = line.trimStart().split(/\s+/).slice(1);
  const [before, word] = [words.slice(0, -1), words.at(-1) ?? ''];
  const isNamed = before.some((one) => one.startsWith('--project-dir'));
  const projectDir = isNamed
    ? (/--project-dir[ =](\S+)/.exec(before.join(' '))?.[1] ?? undefined)
    : undefined;
  const namesOf = (kind: LiveKind | undefined): readonly string[] =>
    kind === undefined ? [] : liveNames(kind, { ...at, projectDir, word });
  const offered = expectedAt(before, word);
  const all =
    'words' in offered
      ? offered.words
      : namesOf(kinds[`${offered.path} ${offered.name}`] ?? kinds[offered.name]);
  return all.filter((one) => one.startsWith(word));
}

type Offered =
  | { readonly words: readonly string[] }
  | { readonly path: string; readonly name: string };

function expectedAt(before: readonly string[], word: string): Offered {
  const { path, rest } = commandOf(before);
  const command = commands[path];
  const flags = { ...command?.flags, ...globals };
  const last = before.at(-1) ?? '';
  const follows = spelled(flags, last);
  if (last.startsWith('-') && typeof follows === 'string')
    return { path, name: longOf(flags, last) };
  if (last.startsWith('-') && Array.isArray(follows)) return { words: follows };
  if (word.startsWith('-'))
    return { words: Object.keys(flags).flatMap((written) => written.split(', ')) };
  const next = Object.keys(commands).flatMap((one) =>
    one === path || !one.startsWith(`${path} `.trimStart())
      ? []
      : one
          .slice(path === '' ? 0 : path.length + 1)
          .split(' ')
          .slice(0, 1),
  );
  if (next.length > 0 && rest.length === 0) return { words: [...new Set(next)] };
  const name = command?.arguments[rest.length] ?? command?.arguments.at(-1) ?? '';
  const choices = /^(.*)=(.*)$/.exec(name);
  return choices
    ? { words: (choices[2] ?? '').split('|') }
    : { path, name: name.replace(/\.\.\.$/, '') };
}

/** The longest command that the words begin with, and its arguments: what is no flag and no value of one. */
function commandOf(before: readonly string[]): {
  readonly path: string;
  readonly rest: readonly string[];
} {
  const takesValue = (written: string): boolean => {
    const one = Object.entries({ ...globals, ...commands[pathOf(before)]?.flags }).find(([flag]) =>
      flag.split(', ').includes(written),
    );
    return one !== undefined && one[1] !== null;
  };
  const plain = before.filter(
    (one, index) => !one.startsWith('-') && !takesValue(before[index - 1] ?? ''),
  );
  const path = pathOf(plain);
  return { path, rest: plain.slice(path === '' ? 0 : path.split(' ').length) };
}

function pathOf(words: readonly string[]): string {
  const known = (path: string): boolean =>
    Object.keys(commands).some((one) => one === path || one.startsWith(`${path} `));
  const [two, one] = [words.slice(0, 2).join(' '), words[0] ?? ''];
  return words.length > 1 && known(two) ? two : known(one) ? one : '';
}

function spelled(flags: Readonly<Record<string, Expected>>, written: string): Expected {
  return Object.entries(flags).find(([flag]) => flag.split(', ').includes(written))?.[1] ?? null;
}

function longOf(flags: Readonly<Record<string, Expected>>, written: string): string {
  const flag = Object.keys(flags).find((one) => one.split(', ').includes(written)) ?? written;
  return flag.split(', ').find((one) => one.startsWith('--')) ?? written;
}
