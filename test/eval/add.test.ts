import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { say, use } from '../support/model-script.ts';

let project: AskedProject;
let cwd: string;

beforeAll(async () => {
  project = await openAskedProject();
  cwd = project.dir;
  execFileSync('git', ['config', 'user.name', 'Uma Reviewer'], { cwd });
});
afterAll(() => project?.close());

const byStatus = { metrics: ['orders.revenue'], dimensions: ['orders.status'] };

/** Asks these questions in one conversation; every answer but the first rests on a query. */
async function converse(questions: readonly string[]): Promise<string> {
  const turns = questions.flatMap((_, index) =>
    index === 0 ? [say('Ask away.')] : [use('query_metrics', byStatus), say('It is 4.')],
  );
  project.playing(({ n }) => turns[n - 1] ?? say('No.'));
  let id: string | undefined;
  for (const question of questions) {
    const resume = id === undefined ? [] : [`--resume=${id}`];
    const { envelope } = await ktxJson(['ask', ...resume, question], { cwd });
    ({ conversation: id } = z.object({ conversation: z.string() }).parse(envelope.data));
  }
  return id ?? '';
}

const setSchema = z.looseObject({ cases: z.array(z.looseObject({ id: z.string() })) });
const casesOf = (set: string) =>
  setSchema.parse(load(readFileSync(join(cwd, `evals/${set}.yaml`), 'utf8'))).cases;

test('an answer becomes a case with what was asked before it, and with who says it is right', async () => {
  const conversation = await converse(['Hello?', 'What is revenue?', 'And now?']);
  const { code, stdout } = await ktx(['eval', 'add', '--right', '--set', 'revenue'], { cwd });
  expect([code, stdout]).toEqual([0, 'Added case and-now to evals/revenue.yaml.\n']);
  expect(casesOf('revenue')).toEqual([
    {
      id: 'and-now',
      turns: [
        { question: 'Hello?' },
        { question: 'What is revenue?' },
        {
          question: 'And now?',
          expect: {
            result: { golden_sql: expect.stringMatching(/select/i) },
            semantic_layer: { metrics: ['orders.revenue'] },
          },
        },
      ],
      confirmed_by: 'Uma Reviewer',
    },
  ]);
  // The golden SQL runs, and finds something.
  expect((await ktx(['eval', 'check', 'revenue'], { cwd })).code).toBe(0);

  const second = ['eval', 'add', conversation, '--turn', '2'];
  const draft = await ktx(second, { cwd });
  expect(draft.stdout).toContain('A draft: check there what it expects.');
  expect((await ktxJson(second, { cwd })).envelope.data).toMatchObject({
    id: 'what-is-revenue-2',
    conversation,
    turn: 2,
  });
  const [first] = casesOf('chat');
  expect(first).toMatchObject({
    turns: [{ question: 'Hello?' }, { question: 'What is revenue?' }],
  });
  expect(first).not.toHaveProperty('confirmed_by');
  // Nothing was asked of the warehouse in the first answer.
  await ktx(['eval', 'add', conversation, '--turn', '1', '--set', 'first'], { cwd });
  expect(casesOf('first')).toEqual([
    { id: 'hello', question: 'Hello?', expect: { refuses: true } },
  ]);
});

test('what is no conversation, no answer or no set is refused, and nothing is written', async () => {
  const conversation = await converse(['Hello?']);
  for (const [argv, error] of [
    [['chat_none'], 'chat_unknown'],
    [['../ktx'], 'chat_unknown'],
    [[conversation, '--turn', '2'], 'turn_unknown'],
  ] as const) {
    const { code, envelope } = await ktxJson(['eval', 'add', ...argv, '--set=new'], { cwd });
    expect([argv, code, envelope.error?.code]).toEqual([argv, 2, error]);
  }
  const { code, envelope } = await ktxJson(['eval', 'add', '--set=../x'], { cwd });
  expect([code, envelope.error?.code]).toEqual([2, 'usage']);
  expect(['evals/new.yaml', 'x.yaml'].map((file) => existsSync(join(cwd, file)))).toEqual([
    false,
    false,
  ]);
});
