import { relative } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { UserError } from '../../lib/error.ts';
import type { Cell } from '../../warehouse/warehouse.ts';
import { cut, printable, textWidth } from './text-width.ts';

/** What a process gives a command line; tests hand in their own. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** How this run may print. */
export interface Screen {
  readonly format: 'table' | 'csv' | 'json';
  /** A person is there to be asked. */
  readonly interactive: boolean;
  /** stderr is a terminal that can redraw a line. */
  readonly live: boolean;
  /** Columns to cut tables to; undefined where nobody looks at a terminal. */
  readonly width: number | undefined;
  readonly style: (name: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string) => string;
}

export interface Table {
  readonly columns: readonly { readonly name: string; readonly type?: string }[];
  readonly rows: readonly (readonly (Cell | undefined)[])[];
}

/** Set by agents that run commands for a person: plain output, and nobody to ask. */
const agentVariables = [
  'CLAUDECODE',
  'CURSOR_AGENT',
  'CODEX_SANDBOX',
  'GEMINI_CLI',
  'OPENCODE',
  'AI_AGENT',
];

export function screenOf(
  { stdin, stdout, stderr, env }: Surroundings,
  format: Screen['format'],
  color: boolean,
): Screen {
  const agent = agentVariables.some((name) => env[name]);
  const dumb = env['TERM'] === 'dumb';
  const terminal = stdout.isTTY === true && !agent;
  const forced = env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0';
  const colors = color && !env['NO_COLOR'] && (forced || (terminal && !dumb));
  return {
    format,
    interactive: terminal && stdin.isTTY === true && format === 'table' && !env['CI'],
    live: stderr.isTTY === true && !agent && !dumb && format !== 'json',
    width: terminal ? Number(env['COLUMNS']) || stdout.columns || 80 : undefined,
    style: (name, text) => (colors ? styleText(name, text, { validateStream: false }) : text),
  };
}

/** Aligned columns; where a terminal cannot hold so many, a record a row, with a line for each column. */
export function renderTable(table: Table, screen: Screen): string {
  const cells = table.rows.map((row) => row.map(cellText));
  const numeric = table.columns.map(
    (column, index) =>
      column.type === 'integer' ||
      column.type === 'decimal' ||
      table.rows.some((row) => typeof row[index] === 'number'),
  );
  const natural = table.columns.map(({ name }, index) =>
    Math.max(textWidth(name), ...cells.map((row) => textWidth(row[index] ?? ''))),
  );
  const widths = screen.width === undefined ? natural : fit(natural, screen.width);
  const taken = widths.reduce((sum, width) => sum + width + 2, -2);
  if (screen.width !== undefined && taken > screen.width && widths.length > 1)
    return renderRecords(table, screen);
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) =>
        pad(cut(text, widths[index] ?? 0), widths[index] ?? 0, numeric[index] ?? false),
      )
      .join('  ')
      .trimEnd();
  const header = line(table.columns.map(({ name }) => printable(name)));
  return [screen.style('bold', header), ...cells.map(line)].join('\n');
}

function renderRecords({ columns, rows }: Table, { style, width = 80 }: Screen): string {
  const names = Math.min(
    Math.max(...columns.map(({ name }) => textWidth(name))),
    Math.floor(width / 2),
  );
  const records = rows.map((row, index) => {
    const lines = columns.map(({ name }, at) =>
      cut(
        `${pad(cut(printable(name), names), names, false)}  ${cellText(row[at])}`,
        width,
      ).trimEnd(),
    );
    return [style('bold', `row ${index + 1}`), ...lines].join('\n');
  });
  return records.join('\n\n');
}

/** RFC 4180 with plain line ends; NULL is empty, an empty text is `""`. */
export function renderCsv(table: Table): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const field = (cell: Cell | undefined) => {
    if (cell === null || cell === undefined) return '';
    const text = String(cell);
    return text === '' || /[",\r\n]/.test(text) ? quoted(text) : text;
  };
  const lines = [
    table.columns.map(({ name }) => field(name)),
    ...table.rows.map((row) => row.map(field)),
  ];
  return lines.map((line) => `${line.join(',')}\n`).join('');
}

export function renderError(error: UserError, screen: Screen): string {
  const hint = error.hint === undefined ? [] : [`  ${screen.style('dim', 'next:')} ${error.hint}`];
  // It may name tables and quote servers: lines stay lines, everything else that drives a terminal is shown.
  const message = error.message.split('\n').map(printable).join('\n');
  return [
    `${screen.style('red', 'error')} ${message} ${screen.style('dim', `[${error.code}]`)}`,
    ...hint,
  ].join('\n');
}

/** `ktx` as a person has to type it here to get to the same program and project. */
export function invocation({ env, cwd }: Surroundings, projectDir: string | undefined): string {
  const script = env['npm_lifecycle_event'] ?? '';
  const entry = shortPath(cwd, process.argv[1] ?? '');
  const clone = process.cwd();
  const isInside = !relative(clone, cwd).startsWith('..');
  const run = isInside ? 'npm run -s ktx --' : `npm --prefix ${shellWord(clone)} run -s ktx --`;
  const fromClone = ['demo', 'ktx'].includes(script) ? run : `node ${entry}`;
  const ktx = entry.endsWith('.ts') ? fromClone : script === 'npx' ? 'npx ktx' : 'ktx';
  if (projectDir === undefined) return ktx;
  return `${ktx} --project-dir ${shellWord(projectDir)}`;
}

function shellWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}

/** Relative where that is shorter to read. */
export function shortPath(cwd: string, path: string): string {
  const short = relative(cwd, path);
  return short === '' ? '.' : short.startsWith('..') ? path : short;
}

/** The value with every key in snake_case, at every depth. */
export function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (!(value instanceof Object)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.replaceAll(/(?<=[a-z])[A-Z]/g, (c) => `_${c.toLowerCase()}`),
    snakeKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

function cellText(cell: Cell | undefined): string {
  if (cell === undefined) return '';
  return cell === null ? 'NULL' : printable(String(cell));
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)));
  return right ? space + text : text + space;
}

/** Narrows the widest columns first, none below 8, until the row fits. */
function fit(natural: readonly number[], total: number): readonly number[] {
  const room = total - 2 * (natural.length - 1);
  let limit = Math.max(...natural, 8);
  const taken = () => natural.reduce((sum, width) => sum + Math.min(width, limit), 0);
  while (limit > 8 && taken() > room) limit -= 1;
  return natural.map((width) => Math.min(width, limit));
}
