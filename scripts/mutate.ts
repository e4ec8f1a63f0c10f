// Puts one fault at a time into a copy of the source, runs the tests that should notice it, and
// prints the faults that no test noticed. Exit code 1 if there is one.
//
//   npm run mutate                  all mutants
//   npm run mutate -- --fifth       those whose turn is today
//   npm run mutate -- --fifth=2     the third fifth, whatever the date (0 to 4)
//   npm run mutate -- --workers=1   one at a time (the default is 2)
//   npm run mutate -- --minutes=15  starts no mutant after that time, and says how many were left
//   npm run mutate -- NAME...       those whose name contains one of the words
//   npm run mutate -- --list        names, files and reasons
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { TestProject } from 'vitest/node';
import startMariadb from '../test/support/mariadb-server.ts';
import startPostgres from '../test/support/postgres-server.ts';
import { chooseMutants } from './mutate/choose-mutants.ts';
import { mutants } from './mutate/mutants.ts';
import type { Mutant } from './mutate/mutant.ts';
import { runTests, type TestRun } from './mutate/run-tests.ts';

interface MutantResult {
  readonly mutant: Mutant;
  /**
   * `noticed` and `hung` are what a mutant should come to: its tests fail or do not end, and pass
   * without the fault. `unnoticed`: they pass with it. `broken`: they fail or hang without it.
   */
  readonly verdict: 'noticed' | 'hung' | 'unnoticed' | 'broken';
  /** The test that failed. */
  readonly failure?: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const copied = [
  'bench',
  'bin',
  'docs',
  'examples',
  'extras',
  'prompts',
  'schemas',
  'scripts',
  'skills',
  'web',
];
const topFiles = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
  'README.md',
  'ARCHITECTURE.md',
];
/**
 * By list of tests: what becomes of it without a fault, asked once, also by two workers at a time.
 */
const unchangedRuns = new Map<string, Promise<TestRun>>();
/** The tests of the unchanged source may take this long. */
const unchangedLimitMs = 600_000;
/** With a fault they may take four times as long as without, and this long at least. */
const shortestLimitMs = 120_000;
const interruption = new AbortController();

const { values: flags, positionals: words } = parseArgs({
  args: process.argv.slice(2).map((argument) => (argument === '--fifth' ? '--fifth=' : argument)),
  allowPositionals: true,
  options: {
    fifth: { type: 'string' },
    workers: { type: 'string', default: '2' },
    minutes: { type: 'string', default: 'Infinity' },
    list: { type: 'boolean' },
  },
});
const chosen = chooseMutants(mutants, { words, fifth: flags.fifth, now: Date.now() });
if (flags.list === true) {
  for (const { name, file, why } of chosen) console.log(`${name.padEnd(32)} ${file}: ${why}`);
  process.exit(0);
}
const deadline = performance.now() + Number(flags.minutes) * 60_000;
const results = await tryAll(chosen);
const survivors = results.filter(({ verdict }) => verdict === 'unnoticed' || verdict === 'broken');
for (const { mutant, verdict, failure } of survivors) {
  console.log(`\n${mutant.name} (${verdict}) in src/${mutant.file}`);
  console.log(`  ${mutant.why}`);
  console.log(`  tests: ${mutant.tests.join(', ')}`);
  if (failure !== undefined) console.log(`  without the fault: ${failure}`);
}
console.log(`\n${results.length} mutants, ${survivors.length} survivors`);
const untried = chosen.length - results.length;
if (untried > 0) console.log(`${untried} were not tried in the time that they had.`);
process.exit(interruption.signal.aborted ? 130 : survivors.length === 0 ? 0 : 1);

async function tryAll(queue: readonly Mutant[]): Promise<readonly MutantResult[]> {
  const servers = await startServers();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // The library of the Postgres server listens too, and would end this process before it has
    // cleaned up.
    process.removeAllListeners(signal);
    process.on(signal, () => interruption.abort());
  }
  const projects = Array.from({ length: Number(flags.workers) }, copyProject);
  const pending = queue.values();
  const tried: MutantResult[] = [];
  try {
    const work = async (project: string) => {
      for (const mutant of pending) {
        const started = performance.now();
        if (started > deadline) return;
        const result = await tryMutant(project, mutant, servers.env);
        if (result === undefined) return;
        tried.push(result);
        const seconds = ((performance.now() - started) / 1000).toFixed(1);
        const count = `${tried.length}/${queue.length}`.padStart(7);
        console.log(
          `${count}  ${result.verdict.padEnd(9)} ${seconds.padStart(6)} s  ${mutant.name}`,
        );
        if (result.failure !== undefined) console.log(`         by ${result.failure}`);
      }
    };
    await Promise.all(projects.map(work));
  } finally {
    for (const project of projects) rmSync(dirname(project), { recursive: true, force: true });
    await servers.stop();
  }
  return tried;
}

/** The servers of the tests, once for all runs. */
async function startServers() {
  const provided: Record<string, unknown> = {};
  const project = {
    provide: (key: string, value: unknown) => {
      provided[key] = value;
    },
  } as unknown as TestProject;
  const stops = [await startPostgres(project), await startMariadb(project)];
  return {
    env: { ...process.env, KTX_TEST_SERVERS: JSON.stringify(provided), CI: 'true' },
    stop: async () => {
      for (const stop of stops) await stop?.();
    },
  };
}

/** The project in a folder of its own, with the installed packages of this one. */
function copyProject(): string {
  const project = join(mkdtempSync(join(tmpdir(), 'ktx-mutate-')), 'project');
  for (const name of ['src', 'test', ...copied, ...topFiles])
    cpSync(join(root, name), join(project, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  return project;
}

/** Undefined if the run was interrupted. */
async function tryMutant(
  project: string,
  mutant: Mutant,
  env: NodeJS.ProcessEnv,
): Promise<MutantResult | undefined> {
  const { signal } = interruption;
  const { tests } = mutant;
  const unchanged = await runUnchanged(project, tests, env);
  if (signal.aborted) return undefined;
  if (unchanged.outcome !== 'passed')
    return { mutant, verdict: 'broken', failure: unchanged.failure ?? unchanged.outcome };
  const path = join(project, 'src', mutant.file);
  const original = readFileSync(path, 'utf8');
  if (original.split(mutant.find).length !== 2)
    throw new Error(`${mutant.name}: src/${mutant.file} does not have its text exactly once.`);
  writeFileSync(
    path,
    original.replace(mutant.find, () => mutant.replace),
  );
  const timeoutMs = Math.max(shortestLimitMs, 4 * unchanged.ms);
  const run = await runTests({ project, tests, env, signal, timeoutMs }).finally(() =>
    writeFileSync(path, original),
  );
  if (run.outcome === 'interrupted') return undefined;
  if (run.outcome === 'passed') return { mutant, verdict: 'unnoticed' };
  if (run.outcome === 'timeout') return { mutant, verdict: 'hung' };
  return { mutant, verdict: 'noticed', failure: run.failure };
}

/** Tries a second time if it fails: on a busy machine a test can miss its time. */
function runUnchanged(
  project: string,
  tests: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<TestRun> {
  const options = { project, tests, env, signal: interruption.signal, timeoutMs: unchangedLimitMs };
  const key = tests.join(' ');
  const run =
    unchangedRuns.get(key) ??
    runTests(options).then((first) => (first.outcome === 'failed' ? runTests(options) : first));
  unchangedRuns.set(key, run);
  return run;
}
