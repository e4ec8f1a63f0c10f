import { expect, test } from 'vitest';
import { z } from 'zod';
import { openTranscript } from '../../src/chat/transcript.ts';
import { writeRun } from '../../src/eval/run/run-file.ts';
import { usageRecorder } from '../../src/llm/governor/usage.ts';
import { openProject } from '../../src/project/open/open.ts';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const runsSchema = z.object({
  runs: z.array(
    z.strictObject({
      kind: z.string(),
      id: z.string(),
      at: z.iso.datetime(),
      result: z.string(),
      cost_usd: z.number().nullable(),
    }),
  ),
});

async function listRuns(cwd: string) {
  const { envelope } = await ktxJson(['status', '--runs'], { cwd });
  return runsSchema.parse(envelope.data).runs;
}

const usage = { claude: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };
const metrics = { durationMs: 1, steps: 1, apiCalls: 1, usage };
const at = (hour: number) => `2099-01-01T0${hour}:00:00.000Z`;

test('what was run last stands with its cost, the newest first', async () => {
  const cwd = await shopProject();
  await ktx(['ingest'], { cwd });
  const [first] = await listRuns(cwd);
  expect(first).toMatchObject({ kind: 'ingest', result: 'updated warehouse', cost_usd: 0 });

  const project = await openProject(cwd);
  const record = usageRecorder(project.journal().db);
  const call = { backend: 'anthropic', model: 'claude', outcome: 'ok' };
  // A model read something for the ingest of that commit, and for one that committed nothing.
  record({ ...call, run: first?.id ?? '', role: 'triage', metrics: { ...metrics, costUsd: 0.5 } });
  record({ ...call, run: 'run_2', role: 'curator', metrics: { ...metrics, costUsd: 0.25 } });
  // Answers of agents stand with their conversation, not as an ingest.
  record({ ...call, run: 'run_3', role: 'default', metrics: { ...metrics, costUsd: 9 } });
  await project.close();
  const answered = { text: '4', stopReason: 'completed' as const, turn: 1, steps: 1 };
  const nothing = { toolCalls: [], evidence: [], denials: [], usage: {}, durationMs: 1 };
  const turn = { agent: 'analyst', backend: 'anthropic', model: 'claude', message: 'How many?' };
  const transcript = openTranscript(cwd, 'chat_1');
  for (const costUsd of [0.1, 0.2])
    await transcript.keep({ ...turn, result: { ...answered, ...nothing, costUsd } });
  const graded = { cost_usd: 0.75 };
  await writeRun(cwd, evalRun('run_4', [graded, graded]));
  await writeRun(cwd, evalRun('run_5', [graded, { cost_usd: null }]));

  const runs = await listRuns(cwd);
  const shown = Object.fromEntries(runs.map(({ id, ...run }) => [id, run]));
  expect(shown).toMatchObject({
    [first?.id ?? '']: { kind: 'ingest', result: 'updated warehouse', cost_usd: 0.5 },
    run_2: { kind: 'ingest', result: 'nothing committed', cost_usd: 0.25 },
    run_4: { kind: 'eval', at: at(1), result: '1 of 2 cases right', cost_usd: 1.5 },
    run_5: { kind: 'eval', cost_usd: null },
    chat_1: { kind: 'conversation', result: '2 questions to analyst' },
  });
  expect(shown['chat_1']?.cost_usd).toBeCloseTo(0.3);
  expect(Object.keys(shown)).not.toContain('run_3');
  expect(runs.map((run) => run.at)).toEqual(
    runs
      .map((run) => run.at)
      .toSorted()
      .toReversed(),
  );
});

test('before anything was run the command says so', async () => {
  const cwd = await shopProject();
  const { code, stdout } = await ktx(['status', '--runs'], { cwd });
  expect([code, stdout]).toEqual([0, expect.stringContaining('Nothing was ingested')]);
});

function evalRun(id: string, turns: readonly { readonly cost_usd: number | null }[]) {
  const cases = turns.map(({ cost_usd }, index) => ({
    id: `set/${index}`,
    tags: [],
    outcome: index === 0 ? ('pass' as const) : ('fail' as const),
    flaky: false,
    attempts: [{ outcome: 'pass' as const, turns: [{ ...gradedTurn, cost_usd }] }],
  }));
  return { ...evaluated, id, cases };
}

const gradedTurn = {
  question: 'How many?',
  answer: '4',
  stop_reason: 'completed' as const,
  findings: [],
  outcome: 'pass' as const,
  queries: [],
  tools: [],
  tokens: 1,
  ms: 1,
};
const evaluated = {
  version: 1 as const,
  started: at(1),
  ms: 1,
  ktx: '0.1.0',
  interrupted: false,
  context: { uncommitted: [], semantic_layer: '', wiki: '', questions: '', agents: [] },
};
