import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { Project } from '../../project/open/open.ts';

/**
 * The process that a command line runs in. Tests pass their own streams, environment and folder.
 */
export interface CliHost {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /**
   * A project that is open already, for several command lines. The runner takes it in place of one
   * of its own, and does not close it.
   */
  readonly openProject?: (() => Promise<Project>) | undefined;
}

/** Every value of `--format`. */
export const rowFormats = [
  'table',
  'vertical',
  'markdown',
  'csv',
  'json',
  'jsonl',
  'parquet',
  'xlsx',
] as const;
export type RowFormat = (typeof rowFormats)[number];

/** How this run may print. */
export interface Screen {
  readonly format: RowFormat;
  /** True if a person can answer prompts. */
  readonly interactive: boolean;
  /** True if stderr is a terminal whose lines can be redrawn. */
  readonly live: boolean;
  /** False if the terminal shows ASCII only: `LANG` and its like name no UTF-8. */
  readonly unicode: boolean;
  /** Columns of the terminal; undefined if stdout is not one. */
  readonly width: number | undefined;
  /** Columns for notes and errors; undefined if stderr is no terminal. */
  readonly noteWidth: number | undefined;
  readonly style: (name: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string) => string;
  /** The text, which opens the address where the terminal can (OSC 8). */
  readonly link: (address: string, text: string) => string;
}

/** Set by coding agents that run commands for a person: they get plain output and no prompts. */
const agentVariables = [
  'CLAUDECODE',
  'CURSOR_AGENT',
  'CODEX_SANDBOX',
  'GEMINI_CLI',
  'OPENCODE',
  'AI_AGENT',
];

export function detectScreen(
  { stdin, stdout, stderr, env }: CliHost,
  format: Screen['format'],
  allowsColor: boolean,
): Screen {
  const isAgent = agentVariables.some((name) => env[name]);
  const isDumb = env['TERM'] === 'dumb';
  const isForPeople = format === 'table' || format === 'vertical';
  const isTerminal = stdout.isTTY === true && !isAgent;
  const hasColor = allowsColor && wantsColor(env, isTerminal && !isDumb);
  // Notes with links are on stderr.
  const mayLink = [isTerminal, isForPeople, stderr.isTTY].every(Boolean);
  const width = isTerminal ? columnsOf(stdout, env) : undefined;
  return {
    format,
    interactive: isTerminal && stdin.isTTY === true && isForPeople && !env['CI'],
    live: stderr.isTTY === true && !isAgent && !isDumb && format !== 'json',
    unicode: !isTerminal || showsUnicode(env),
    width,
    noteWidth: stderr.isTTY === true ? width : undefined,
    style: (name, text) => (hasColor ? styleText(name, text, { validateStream: false }) : text),
    link: linkMaker(env, mayLink),
  };
}

function columnsOf(stdout: CliHost['stdout'], env: CliHost['env']): number {
  return Number(env['COLUMNS']) || stdout.columns || 80;
}

/** Writes links; a text whose address nothing may open stays a text. */
function linkMaker(env: CliHost['env'], mayLink: boolean): Screen['link'] {
  if (!mayLink || !showsLinks(env)) return (_, text) => text;
  return (address, text) => {
    const url = openableUrl(address, env);
    return url === undefined ? text : `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`;
  };
}

/** Without control characters. A file of another machine cannot be opened. */
function openableUrl(address: string, env: CliHost['env']): string | undefined {
  const url = URL.parse(address);
  const protocols = env['SSH_CONNECTION'] ? ['http:', 'https:'] : ['http:', 'https:', 'file:'];
  return url !== null && protocols.includes(url.protocol) ? url.href : undefined;
}

const programsWithLinks = ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'WarpTerminal', 'Hyper'];
const terminalsWithLinks = /kitty|ghostty|alacritty|foot|wezterm/;

/** Only terminals that are known to: others print the address as garbage. */
function showsLinks(env: CliHost['env']): boolean {
  const { TERM = '', TERM_PROGRAM = '', FORCE_HYPERLINK: forced } = env;
  if (forced !== undefined) return forced !== '0';
  if (env['TMUX'] || env['STY']) return false;
  const isKnown = programsWithLinks.includes(TERM_PROGRAM) || terminalsWithLinks.test(TERM);
  const isVte = Number(env['VTE_VERSION']) >= 5000;
  return isKnown || isVte || Boolean(env['WT_SESSION'] || env['KONSOLE_VERSION']);
}

/** Without any of these variables, as on Windows, a terminal of today is taken for granted. */
function showsUnicode(env: CliHost['env']): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  return locale === undefined || /utf-?8/i.test(locale);
}

function wantsColor(env: CliHost['env'], byDefault: boolean): boolean {
  if (env['NO_COLOR']) return false;
  const isForced = env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0';
  return isForced || byDefault;
}
