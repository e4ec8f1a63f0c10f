import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { say, type Script, use } from '../support/model-script.ts';
import { ktx } from '../cli/run-cli.ts';

const stepSchema = z.looseObject({
  name: z.string().optional(),
  run: z.string().optional(),
  if: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const workflowSchema = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.looseObject({
    ktx: z.looseObject({ env: z.record(z.string(), z.string()), steps: z.array(stepSchema) }),
  }),
});
const file = join(import.meta.dirname, '../../examples/github-action/ktx.yml');
const { jobs, permissions } = workflowSchema.parse(load(readFileSync(file, 'utf8')));

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
  mkdirSync(join(project.dir, 'evals'));
  mkdirSync(join(project.dir, 'bin'));
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  program('ktx', `exec '${process.execPath}' '${main}' "$@"`);
  // GitHub itself: what would be commented is kept.
  program(
    'gh',
    `printf '%s\\n' "$@" > gh-said; while [ $# -gt 0 ]; do [ "$1" != --body-file ] || cp "$2" gh-body; shift; done`,
  );
  writeFileSync(
    join(project.dir, 'evals/shop.yaml'),
    'cases:\n  - {id: total, question: What is revenue?, expect: {result: {golden_sql: "SELECT sum(amount) FROM orders WHERE status = \'paid\'"}}}\n  - {id: nps, question: What is NPS?, expect: {refuses: true}}\n',
  );
});
afterAll(() => project?.close());

function program(name: string, script: string): void {
  const path = join(project.dir, 'bin', name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

const revenue: Script = ({ messages, results }) =>
  messages.some(({ text }) => text.includes('NPS'))
    ? say('We do not record NPS.')
    : results.length === 0
      ? use('query_metrics', { metrics: ['orders.revenue'] })
      : say('So much [q1].');

/**
 * The steps as the runner of GitHub takes them, those that are actions and the installation left
 * out: name to exit code.
 */
async function pushed(
  secrets: Readonly<Record<string, string>>,
): Promise<Record<string, number | 'skipped'>> {
  for (const name of ['out', 'gh-said', 'gh-body'])
    rmSync(join(project.dir, name), { recursive: true, force: true });
  const outcomes: Record<string, number | 'skipped'> = {};
  let isFailed = false;
  const filled = (text: string): string =>
    text.replaceAll(/\$\{\{ *([\w.]+) *\}\}/g, (_, path: string) =>
      path.startsWith('secrets.') ? (secrets[path.slice(8)] ?? '') : path,
    );
  const envOf = (env: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(env).map(([key, text]) => [key, filled(text)]));
  for (const { name = '', run, if: condition = 'true', env = {} } of jobs.ktx.steps) {
    if (run === undefined || run.includes('npm install')) continue;
    const own = { ...envOf(jobs.ktx.env), ...envOf(env) };
    const functions = {
      env: own,
      always: () => true,
      hashFiles: (path: string) => (existsSync(join(project.dir, path)) ? 'hash' : ''),
    };
    const isRun: boolean =
      (!isFailed || condition.includes('always()')) &&
      runInNewContext(condition, functions) === true;
    outcomes[name] = isRun ? await shell(run, own) : 'skipped';
    isFailed ||= isRun && outcomes[name] !== 0;
  }
  return outcomes;
}

function shell(script: string, env: Readonly<Record<string, string>>): Promise<number> {
  const path = [join(project.dir, 'bin'), dirname(process.execPath), process.env['PATH']].join(
    delimiter,
  );
  const around = { ...process.env, CI: 'true', PATH: path, ...env };
  return new Promise((resolve) => {
    execFile('bash', ['-e', '-c', script], { cwd: project.dir, env: around }, (error) =>
      resolve(typeof error?.code === 'number' ? error.code : error === null ? 0 : -1),
    );
  });
}

const read = (path: string): string => readFileSync(join(project.dir, path), 'utf8');

test('the steps of the example workflow, as they are written: what broke is commented though the run failed', async () => {
  project.playing(revenue);
  expect(
    await ktx(['eval', 'run', '--save', 'evals/baseline.json'], { cwd: project.dir }),
  ).toMatchObject({ code: 0 });
  const dataset = join(project.dir, 'semantic-layer/shop/orders.yaml');
  writeFileSync(
    dataset,
    readFileSync(dataset, 'utf8').replace("status = 'paid'", "status = 'refunded'"),
  );
  expect(await pushed({ WAREHOUSE_URL: 'made-up', ANTHROPIC_API_KEY: 'made-up' })).toEqual({
    'Files are valid, nothing is contested or stale': 0,
    'Golden SQL runs': 0,
    'Agents answer as before': 1,
    Comment: 0,
  });
  expect(read('gh-said')).toBe(
    'pr\ncomment\ngithub.event.pull_request.number\n--body-file\nout/eval.md\n--edit-last\n--create-if-none\n',
  );
  expect(read('gh-body')).toBe(read('out/eval.md'));
  expect(read('gh-body')).toMatch(
    /^## ktx eval\n[^]*\| `shop\/total` \| broken \| pass → fail \|[^]*^-.*'paid'[^]*^\+.*'refunded'/m,
  );
  expect(
    ['out/eval.xml', 'out/eval.html'].filter((path) => !existsSync(join(project.dir, path))),
  ).toEqual([]);
  expect(permissions).toEqual({ contents: 'read', 'pull-requests': 'write' });
});

test('ktx is installed from the address that the team gives, and never by a name', async () => {
  const { run = '' } = jobs.ktx.steps.find((step) => step.name === 'Install ktx') ?? {};
  program('npm', `printf '%s\\n' "$@" > npm-said`);
  expect(await shell(run, { KTX_PACKAGE: '' })).not.toBe(0);
  expect(existsSync(join(project.dir, 'npm-said'))).toBe(false);
  const address = 'https://example.com/a b/ktx-0.1.0.tgz';
  expect(await shell(run, { KTX_PACKAGE: address })).toBe(0);
  expect(read('npm-said')).toBe(`install\n--global\n${address}\n`);
  rmSync(join(project.dir, 'bin/npm'));
});

test('without secrets, as in a fork, files are checked and nothing is asked or said', async () => {
  const running = project.playing(revenue);
  expect(Object.values(await pushed({}))).toEqual([0, 'skipped', 'skipped', 'skipped']);
  expect(running.calls).toEqual([]);
});
