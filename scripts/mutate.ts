// Puts one fault at a time into a copy of the source, runs the tests that should notice it, and
// prints the faults that no test noticed. Exit code 1 if there is one.
//
//   npm run mutate                  all mutants
//   npm run mutate -- --fifth       those whose turn is today
//   npm run mutate -- NAME...       those whose name contains one of the words
//   npm run mutate -- --list        names, files and reasons
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import startMariadb from '../test/support/mariadb-server.ts';
import startPostgres from '../test/support/postgres-server.ts';
import { mutants } from './mutate/mutants.ts';
import type { Mutant } from './mutate/mutant.ts';

/** `unnoticed`: the tests passed with the fault in place. `broken`: they fail without it. */
type Verdict = 'noticed' | 'unnoticed' | 'timeout' | 'broken';

const root = fileURLToPath(new URL('..', import.meta.url));
const copied = ['bench', 'bin', 'docs', 'examples', 'prompts', 'schemas', 'scripts', 'skills'];
const topFiles = [
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'README.md',
  'ARCHITECTURE.md',
];
const workers = 2;
const timeoutMs = 180_000;
/** By list of tests: asked once, also by two workers at a time. */
const unchangedRuns = new Map<string, Promise<boolean>>();

const chosen = chooseMutants(process.argv.slice(2));
if (process.argv.includes('--list')) {
  for (const { name, file, why } of chosen) console.log(`${name.padEnd(32)} ${file}: ${why}`);
  process.exit(0);
}
const survivors = await runAll(chosen);
for (const { mutant, verdict } of survivors) {
  console.log(`\n${mutant.name} (${verdict}) in src/${mutant.file}`);
  console.log(`  ${mutant.why}`);
  console.log(`  tests: ${mutant.tests.join(', ')}`);
}
console.log(`\n${chosen.length} mutants, ${survivors.length} survivors`);
process.exit(survivors.length === 0 ? 0 : 1);

function chooseMutants(args: readonly string[]): readonly Mutant[] {
  const words = args.filter((argument) => !argument.startsWith('--'));
  const named = mutants.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (!args.includes('--fifth')) return named;
  const today = Math.floor(Date.now() / 86_400_000) % 5;
  return named.filter((_, index) => index % 5 === today);
}

async function runAll(
  queue: readonly Mutant[],
): Promise<readonly { readonly mutant: Mutant; readonly verdict: Verdict }[]> {
  const servers = await startServers();
  const folders = Array.from({ length: workers }, copyProject);
  const pending = queue.values();
  const unnoticed: { mutant: Mutant; verdict: Verdict }[] = [];
  let done = 0;
  try {
    const work = async (folder: string) => {
      for (const mutant of pending) {
        const started = performance.now();
        const verdict = await tryMutant(folder, mutant, servers.env);
        if (verdict === 'unnoticed' || verdict === 'broken') unnoticed.push({ mutant, verdict });
        const seconds = ((performance.now() - started) / 1000).toFixed(1);
        done += 1;
        const count = `${done}/${queue.length}`.padStart(7);
        console.log(`${count}  ${verdict.padEnd(9)} ${seconds.padStart(6)} s  ${mutant.name}`);
      }
    };
    await Promise.all(folders.map(work));
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await servers.stop();
  }
  return unnoticed;
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
  const folder = mkdtempSync(join(tmpdir(), 'ktx-mutate-'));
  for (const name of ['src', 'test', ...copied, ...topFiles])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function tryMutant(folder: string, mutant: Mutant, env: NodeJS.ProcessEnv): Promise<Verdict> {
  const path = join(folder, 'src', mutant.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    original.replace(mutant.find, () => mutant.replace),
  );
  try {
    const outcome = await runTests(folder, mutant.tests, env);
    if (outcome !== 'failed') return outcome === 'passed' ? 'unnoticed' : outcome;
  } finally {
    writeFileSync(path, original);
  }
  return (await passesUnchanged(folder, mutant.tests, env)) ? 'noticed' : 'broken';
}

/** Whether the tests pass without a fault. */
function passesUnchanged(
  folder: string,
  tests: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const key = tests.join(' ');
  const known = unchangedRuns.get(key);
  if (known !== undefined) return known;
  const run = runTests(folder, tests, env).then((outcome) => outcome === 'passed');
  unchangedRuns.set(key, run);
  return run;
}

async function runTests(
  folder: string,
  tests: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<'passed' | 'failed' | 'timeout'> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const files = tests.map((file) => `test/${file}`);
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--bail=1', '--maxWorkers=1', '--reporter=dot', ...files],
    {
      cwd: folder,
      env: { ...env, KTX_SUITES: 'all', PATH: `${dirname(process.execPath)}:${env['PATH'] ?? ''}` },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    },
  );
  const [output, , [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code === null) return 'timeout';
  if (output.includes('No test files found')) throw new Error(`No such tests: ${files.join(', ')}`);
  return code === 0 ? 'passed' : 'failed';
}
