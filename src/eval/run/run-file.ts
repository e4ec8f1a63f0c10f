import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { absent, readText, writeAtomically } from '../../store/files.ts';
import { outcomes } from './outcome.ts';

const outcome = z.enum(outcomes);

const turnSchema = z.object({
  question: z.string(),
  outcome,
  answer: z.string(),
  stop_reason: z.string(),
  findings: z.array(
    z.object({ grader: z.string(), outcome, found: z.string(), nearest: z.string().optional() }),
  ),
  /** Without rows: those stay in the warehouse. */
  queries: z.array(
    z.object({
      id: z.string(),
      tool: z.string(),
      sql: z.string().optional(),
      metrics: z.array(z.string()),
      rows: z.number(),
      truncated: z.boolean(),
    }),
  ),
  tools: z.array(z.object({ name: z.string(), ok: z.boolean() })),
  golden_sql: z.string().optional(),
  tokens: z.number(),
  cost_usd: z.number().nullable(),
  ms: z.number(),
});

const caseResultSchema = z.object({
  id: z.string(),
  tags: z.array(z.string()),
  outcome,
  /** Some attempts passed, some did not. */
  flaky: z.boolean(),
  attempts: z.array(z.object({ outcome, turns: z.array(turnSchema) })),
  /** Why it was skipped. */
  reason: z.string().optional(),
});

/** `.ktx/evals/<id>.json`. */
const runSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  started: z.string(),
  ms: z.number(),
  ktx: z.string(),
  interrupted: z.boolean(),
  /** What the answers leaned on: two runs with the same differ by chance alone. */
  context: z.object({
    commit: z.string().optional(),
    uncommitted: z.array(z.string()),
    semantic_layer: z.string(),
    wiki: z.string(),
    questions: z.string(),
    agents: z.array(
      z.object({ name: z.string(), hash: z.string(), backend: z.string(), model: z.string() }),
    ),
  }),
  cases: z.array(caseResultSchema),
  /** The same cases, asked with no context at all. */
  without_context: z.array(caseResultSchema).optional(),
});

export type EvalRun = z.infer<typeof runSchema>;
export type CaseResult = z.infer<typeof caseResultSchema>;
export type GradedTurn = z.infer<typeof turnSchema>;

/** What looks like a credential, wherever a model or a server may have said it. */
const secrets = [
  /\b(?:sk|pk|rk|xox[abprs])-[\w-]{16,}/gi,
  // A column of a warehouse may well be named sk_customer_account_number.
  /\b(?:sk|pk|rk)_(?:live|test|prod)_\w{10,}/gi,
  /\b(?:gh[opusr]|github_pat)_\w{16,}/gi,
  /\b(Bearer|Basic)\s+[\w.~+/-]{12,}=*/gi,
  /(?<=:\/\/[^\s:/@]+:)[^\s@/]+(?=@)/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/g,
];

/** What people, models and servers wrote; ids, outcomes and hashes stay what they are, whatever a pattern matches. */
const written: ReadonlySet<string> = new Set([
  'question',
  'answer',
  'found',
  'sql',
  'golden_sql',
  'reason',
  'nearest',
]);

/** Without what looks like a credential, for whatever leaves the process; `patterns` are those of `telemetry.redaction_patterns`. */
export function redactRun<T extends EvalRun | CaseResult>(what: T, patterns: readonly string[]): T {
  const all = [...secrets, ...patterns.map((pattern) => new RegExp(pattern, 'gu'))];
  const clean = (text: string): string =>
    all.reduce((rest, secret) => rest.replace(secret, '[redacted]'), text);
  const text = JSON.stringify(what, (key, value: unknown) =>
    typeof value === 'string' && written.has(key) ? clean(value) : value,
  );
  return JSON.parse(text) as T;
}

/** ResultTable stay in the warehouse, those in findings too. */
export function withoutNearestRows(run: EvalRun): EvalRun {
  return JSON.parse(
    JSON.stringify(run, (key, value: unknown) => (key === 'nearest' ? undefined : value)),
  ) as EvalRun;
}

/** Writes the run as a whole or not at all. Gives the path. */
export async function writeRun(projectDir: string, run: EvalRun): Promise<string> {
  const { evals } = ensureStateDirectory(projectDir);
  const path = join(evals, `${run.id}.json`);
  await writeAtomically(path, `${JSON.stringify(run, undefined, 1)}\n`, { within: projectDir });
  return path;
}

/** A run by its id, `last`, `previous` (the one before), or a file, such as a baseline in git: of `cwd`, else of the project. */
export async function readRun(projectDir: string, name: string, cwd: string): Promise<EvalRun> {
  const ids = await runIds(projectDir);
  const id = name === 'last' ? ids.at(-1) : name === 'previous' ? ids.at(-2) : name;
  const isFile = id?.endsWith('.json') === true;
  const { evals } = projectPaths(projectDir);
  const places = isFile
    ? [resolve(cwd, id), resolve(projectDir, id)]
    : id === undefined
      ? []
      : [join(evals, `${id}.json`)];
  const texts = await Promise.all(places.map((place) => readText(place)));
  const at = texts.findIndex((each) => each !== undefined);
  const [path, text] = [places[at], texts[at]];
  if (text === undefined) {
    const known =
      ids.length === 0 ? 'ktx eval run' : (didYouMean(name, ids) ?? `the last one: ${ids.at(-1)}`);
    throw new UserError('run_unknown', `There is no run ${name} in .ktx/evals.`, {
      hint: known,
      exitCode: 2,
    });
  }
  const parsed = runSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const hint = 'written by another version of ktx, or cut off: run it again';
  throw new UserError('run_unreadable', `${path} is no run that this ktx can read.`, {
    hint,
    exitCode: 2,
  });
}

/** Runs that were kept, oldest first, at most so many of the newest; what cannot be read is left out. */
export async function readPastRuns(projectDir: string, most: number): Promise<readonly EvalRun[]> {
  const ids = (await runIds(projectDir)).slice(-most);
  const { evals } = projectPaths(projectDir);
  const texts = await Promise.all(ids.map((id) => readText(join(evals, `${id}.json`))));
  return texts.flatMap((text) => runSchema.safeParse(parseJson(text ?? '')).data ?? []);
}

/** Oldest first: an id begins with its time. */
async function runIds(projectDir: string): Promise<readonly string[]> {
  const names = (await readdir(projectPaths(projectDir).evals).catch(absent)) ?? [];
  return names
    .flatMap((name) => (/^[^.].*\.json$/.test(name) ? [name.slice(0, -'.json'.length)] : []))
    .sort();
}
