import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Dice } from '../conformance/seeded.ts';
import { approve } from '../support/approve.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { startKtx } from '../support/ktx-process.ts';
import { say, type Script, use } from '../support/model-script.ts';

/** Half of them in the form of BIRD, a quarter each in that of Spider and in a CSV file. */
const size = Number(process.env['KTX_EVAL_CASES'] ?? 120);
const kills = 6;
const concurrency = 8;
const mostMegabytes = 600;

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
});
afterAll(() => project?.close());

const sqlOf = (index: number) => `SELECT count(*) AS n FROM orders WHERE id < ${index % 900}`;
const questionOf = (index: number) =>
  `Question ${index}: how many orders are below ${index % 900}?`;

/** Fetches the rows of the question, and says the number that they have. */
const analyst: Script = ({ messages, results }) => {
  const index = Number(/Question (\d+):/.exec(messages.map(({ text }) => text).join('\n'))?.[1]);
  if (results.length === 0) return use('run_sql', { sql: sqlOf(index) });
  return say(`There are ${index % 900} [q1].`);
};

function writeQuestions(): readonly string[] {
  const all = Array.from({ length: size }, (_, index) => index);
  const [half, threeQuarters] = [Math.floor(size / 2), Math.floor((size * 3) / 4)];
  const files = {
    'bird.json': JSON.stringify(
      all.slice(0, half).map((index) => ({
        question_id: index,
        db_id: 'shop',
        question: questionOf(index),
        evidence: '',
        SQL: sqlOf(index),
        difficulty: ['simple', 'moderate', 'challenging'][index % 3],
      })),
    ),
    'spider.json': JSON.stringify(
      all.slice(half, threeQuarters).map((index) => ({
        db_id: 'shop',
        query: sqlOf(index),
        question: questionOf(index),
      })),
    ),
    'board.csv': [
      'id,question,sql,difficulty',
      ...all
        .slice(threeQuarters)
        .map((index) => `c${index},"${questionOf(index)}","${sqlOf(index)}",hard`),
    ].join('\n'),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project.dir, name), text);
  return Object.keys(files);
}

/** The memory of a process and of those that it started, in MB: what each held at most so far. */
function megabytes(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = readOrEmpty(`/proc/${name}/stat`);
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]));
  }
  const isOwn = (of: number | undefined): boolean =>
    of !== undefined && of > 1 && (of === pid || isOwn(parents.get(of)));
  return [...parents.keys()]
    .filter(isOwn)
    .map(
      (own) => Number(/VmHWM:\s+(\d+)/.exec(readOrEmpty(`/proc/${own}/status`))?.[1] ?? 0) / 1024,
    )
    .reduce((sum, own) => sum + own, 0);
}

/** A process may end while it is looked at. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function ktxMeasured(argv: readonly string[], until?: Promise<void>) {
  const started = startKtx(argv, { cwd: project.dir, env: process.env });
  const state = { peak: 0, hasEnded: false };
  const ended = started.ended.finally(() => (state.hasEnded = true));
  void until?.then(() => started.kill());
  while (!state.hasEnded) {
    if (existsSync('/proc')) state.peak = Math.max(state.peak, megabytes(started.pid));
    await Promise.race([ended, sleep(500)]);
  }
  return { ...(await ended), peak: state.peak };
}

/** The ids of the cases whose answers are kept. */
function keptCases(): ReadonlySet<string> {
  const folder = join(project.dir, '.ktx/evals');
  const logs = existsSync(folder) ? readdirSync(folder) : [];
  const lines = logs
    .filter((name) => name.endsWith('.attempts.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return new Set(lines.flatMap((line) => /^\{"case":"([^"]+)".*\}$/.exec(line)?.[1] ?? []));
}

const questionIn = (text: string) => /Question (\d+):/.exec(text)?.[1] ?? '';

test('imported questions are answered once each, however often the run is killed', async () => {
  const model = project.playing(analyst);
  await approve(project.dir);
  for (const name of writeQuestions()) {
    const { code, stdout, stderr } = await ktxMeasured(['eval', 'import', name]);
    expect([code, stderr], stdout).toMatchObject([0, expect.any(String)]);
  }
  const dice = new Dice(7);
  const peaks: number[] = [];
  /** By question: how often it was asked when its answer was kept. */
  const settled = new Map<string, number>();
  const askedFirst = () => {
    const counts = new Map<string, number>();
    for (const { messages, results } of model.calls) {
      if (results.length > 0) continue;
      const question = questionIn(messages.map(({ text }) => text).join('\n'));
      counts.set(question, (counts.get(question) ?? 0) + 1);
    }
    return counts;
  };
  const run = ['eval', 'run', '--concurrency', String(concurrency)];
  for (let kill = 0; kill < kills; kill += 1) {
    // Two requests for each question; the kill falls anywhere between two of them.
    const at = model.calls.length + 1 + Math.floor(dice.next() * ((2 * size) / (kills + 2)));
    const flags = keptCases().size > 0 ? ['--resume'] : [];
    const { peak } = await ktxMeasured([...run, ...flags], model.arrived(at));
    peaks.push(peak);
    const counts = askedFirst();
    const kept = keptCases().size;
    expect(kept).toBeLessThan(size);
    settled.set(`kill ${kill}`, kept);
    // Whatever was asked again was under way when a run was killed.
    const again = [...counts.values()].filter((count) => count > 1).length;
    expect(again).toBeLessThanOrEqual(concurrency * (kill + 1));
  }
  const before = keptCases();
  const countsBefore = askedFirst();
  const last = await ktxMeasured([...run, '--resume']);
  peaks.push(last.peak);
  expect(last.code, last.stderr.slice(-2000)).toBe(0);
  // What was kept before the last run was not asked again.
  const counts = askedFirst();
  const askedAgain = [...counts].filter(([question, count]) => {
    const was = countsBefore.get(question);
    return was !== undefined && count > was;
  });
  expect(before.size).toBeGreaterThan(0);
  expect(counts.size).toBe(size);
  expect(askedAgain.length).toBeLessThanOrEqual(concurrency);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  expect(total).toBeLessThanOrEqual(size + concurrency * kills);
  expect(keptCases().size).toBe(0);
  const report = await ktxMeasured(['eval', 'report', '--html', 'eval.html', '--json']);
  expect(report.code).toBe(0);
  const passed = [...report.stdout.matchAll(/"outcome":"pass","flaky"/g)].length;
  expect(passed).toBe(size);
  peaks.push(report.peak);
  console.log(
    `${size} cases, ${total} asked, memory at most ${Math.max(...peaks).toFixed(0)} MB, page ${(statSync(join(project.dir, 'eval.html')).size / 1e6).toFixed(1)} MB; kept at the kills: ${[...settled.values()].join(', ')}`,
  );
  expect(Math.max(...peaks)).toBeLessThan(mostMegabytes);
});
