import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { runCli } from '../../src/cli/run.ts';
import { approve } from '../support/approve.ts';
import { openTypedInput, type Typed } from './typed-input.ts';

export const envelopeSchema = z.strictObject({
  ok: z.boolean(),
  data: z.unknown().optional(),
  error: z
    .strictObject({
      code: z.string().regex(/^[a-z0-9_-]+$/),
      message: z.string().min(1),
      hint: z.string().optional(),
      retryable: z.boolean(),
      details: z.unknown().optional(),
    })
    .optional(),
  meta: z.looseObject({
    command: z.string(),
    version: z.string(),
    run_id: z.string(),
    ms: z.number(),
  }),
});

interface Given {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** True if `env` is all that the command gets of an environment. */
  readonly isWholeEnv?: boolean;
  readonly stdin?: string;
  readonly terminal?: boolean;
  /** What a person types at a terminal, in place of `stdin`. */
  readonly typed?: readonly Typed[] | undefined;
  /** False: nobody has approved what the project does on this machine. */
  readonly approved?: boolean;
}

/** Variables that decide how ktx prints and finds its project: a test sets them itself. */
const ownVariables =
  /^(?:CI|NO_COLOR|FORCE_COLOR|COLUMNS|TERM|INIT_CWD|npm_.*|KTX_(?:PROJECT_DIR|ROLE|TRUST)|TERM_PROGRAM|TMUX|STY|VTE_VERSION|WT_SESSION|KONSOLE_VERSION|FORCE_HYPERLINK|SSH_CONNECTION|CLAUDECODE|CURSOR_AGENT|CODEX_SANDBOX|GEMINI_CLI|OPENCODE|AI_AGENT)$/;

/** The environment of a test, with its variables for secrets, and what `env` adds. */
export function environment(env: Record<string, string>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !ownVariables.test(name));
  return { ...Object.fromEntries(inherited), ...env };
}

function projectOf(argv: readonly string[], cwd: string): string {
  const flag = argv.indexOf('--project-dir');
  return flag === -1 ? cwd : resolve(cwd, argv[flag + 1] ?? '');
}

/** One command line in this process, in a folder, with everything that it printed. */
export async function ktx(
  argv: readonly string[],
  {
    cwd,
    env: given = {},
    isWholeEnv = false,
    stdin = '',
    typed,
    terminal = typed !== undefined,
    approved = true,
  }: Given,
) {
  const env = isWholeEnv ? given : environment(given);
  // A test of a defect passes a folder that is no text.
  if (approved && typeof cwd === 'string') await approve(projectOf(argv, cwd), env);
  const keyboard = typed && openTypedInput(typed);
  const [stdout, stderr] = [collector(terminal, keyboard), collector(terminal, keyboard)];
  const input = Object.assign(Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]), {
    isTTY: terminal,
  });
  const host = {
    stdin: keyboard?.stdin ?? input,
    stdout,
    stderr,
    env,
    cwd,
    signal: new AbortController().signal,
  };
  const code = await runCli(argv, host);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** The same with `--json`: the last line of stdout, checked to be an envelope. */
export async function ktxJson(argv: readonly string[], given: Given) {
  const { code, stdout, stderr } = await ktx([...argv, '--json'], given);
  const lines = stdout.trimEnd().split('\n');
  return { code, stderr, lines, envelope: envelopeSchema.parse(JSON.parse(lines.at(-1) ?? '')) };
}

/** An empty folder for the running test. */
export function folder(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-cli-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A SQLite file with two tables that declare nothing. */
export function shopDatabase(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`
    CREATE TABLE customers (id INTEGER, name TEXT, region TEXT);
    CREATE TABLE orders (id INTEGER, customer_id INTEGER, amount INTEGER, status TEXT);
    INSERT INTO customers VALUES (11, 'Ada', 'North'), (12, 'Grace', 'South'), (13, 'Edsger', NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO orders SELECT 1000 + i, 11 + i % 3, i * 10, CASE i % 4 WHEN 0 THEN 'open' ELSE 'paid' END FROM n;
  `);
  db.close();
}

/** A project on that database. */
export async function shopProject(): Promise<string> {
  const cwd = folder();
  shopDatabase(join(cwd, 'shop.db'));
  const { code, stderr } = await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  if (code !== 0) throw new Error(stderr);
  return cwd;
}

function collector(isTTY: boolean, keyboard?: ReturnType<typeof openTypedInput>) {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString('utf8'));
      done();
      keyboard?.see(chunk.toString('utf8'));
    },
  });
  return Object.assign(stream, { isTTY, columns: 80, text: () => chunks.join('') });
}
