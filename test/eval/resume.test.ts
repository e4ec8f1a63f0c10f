import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { startKtx } from '../support/ktx-process.ts';
import { ktxJson } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';
import { say } from '../support/model-script.ts';

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
  mkdirSync(join(project.dir, 'evals'));
});
afterAll(() => project?.close());

const size = 8;
const questions = (word: string) =>
  writeFileSync(
    join(project.dir, 'evals/shop.yaml'),
    `cases:\n${Array.from({ length: size }, (_, index) => `  - {id: c${index}, question: "${word} ${index}?", expect: {refuses: true}}\n`).join('')}`,
  );
const logs = () =>
  readdirSync(join(project.dir, '.ktx/evals')).filter((name) => name.endsWith('.attempts.jsonl'));

interface RunData {
  readonly run: {
    readonly id: string;
    readonly cases: readonly { readonly outcome: string; readonly reason?: string }[];
  };
}

async function evaluate(...args: string[]) {
  const { code, envelope, stderr } = await ktxJson(['eval', 'run', '--concurrency', '1', ...args], {
    cwd: project.dir,
  });
  return { code, data: envelope.data as RunData, error: envelope.error, stderr };
}

test('a run that is killed, again and again, is resumed without asking twice', async () => {
  const model = project.playing(() => say('There is no data on that.'));
  questions('Is it');
  await approve(project.dir);
  for (let kill = 1; kill <= 3; kill += 1) {
    const flags = kill === 1 ? [] : ['--resume'];
    const started = startKtx(['eval', 'run', '--concurrency', '1', ...flags], {
      cwd: project.dir,
      env: process.env,
    });
    await model.arrived(2 * kill);
    started.kill();
    await started.ended;
  }
  expect(logs()).toHaveLength(1);
  const { code, data } = await evaluate('--resume');
  expect([code, data.run.cases.map(({ outcome }) => outcome)]).toEqual([
    0,
    Array.from({ length: size }, () => 'pass'),
  ]);
  // Each case once, and at most the one again that was under way at each kill.
  expect(model.calls.length).toBeLessThanOrEqual(size + 3);
  expect(logs()).toEqual([]);
  const nothing = await evaluate('--resume');
  expect([nothing.code, nothing.error?.code]).toEqual([2, 'run_unknown']);
});

test('time and money end a run that goes on later; changed questions do not join it', async () => {
  const model = project.playing(() => say('There is no data on that.'));
  questions('Was it');
  await approve(project.dir);
  const late = await evaluate('--max-minutes', '0.000001');
  expect([late.code, late.error?.code, late.data.run.cases[0]?.reason]).toEqual([
    3,
    'eval_incomplete',
    expect.stringContaining('not asked'),
  ]);
  expect(model.calls).toEqual([]);
  const poor = await evaluate('--budget', '0.0000001');
  expect(poor.code).toBe(3);
  expect(model.calls.length).toBeLessThanOrEqual(1);
  questions('Will it');
  const changed = await evaluate('--resume');
  expect([changed.code, changed.error?.code]).toEqual([2, 'eval_changed']);
  expect(changed.error?.message).toContain('questions');
});
