import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openProject, viewAs } from '../../src/project/open/open.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { say, type Script, use } from '../support/model-script.ts';

let asked: AskedProject;
beforeAll(async () => {
  asked = await openAskedProject();
  mkdirSync(join(asked.dir, 'evals'));
});
afterAll(() => asked?.close());
const here = () => ({ cwd: asked.dir });
const pathOf = (name: string) => join(asked.dir, name);
const edit = (name: string, from: string, to: string) => {
  const before = readFileSync(pathOf(name), 'utf8');
  expect(before).toContain(from);
  writeFileSync(pathOf(name), before.replace(from, to));
};

const golden = "SELECT sum(amount) AS v FROM orders WHERE status = 'paid'";
const set = `cases:
  - {id: paid, question: What is the revenue of paid orders?, expect: {result: {golden_sql: "${golden}"}}}
  - {id: by-hand, question: How large is the largest amount?, expect: {result: {golden_sql: "SELECT max(amount) AS v FROM orders"}}}
  - {id: nps, question: What is our NPS?, expect: {refuses: true}}
  - id: talk
    turns: [{question: And customers?, expect: {result: {golden_sql: "SELECT count(*) AS n FROM customers"}}}, {question: So?, expect: {refuses: true}}]
`;
const revenue = use('query_metrics', { metrics: ['orders.revenue'], max_tokens: 4000 });
const bySql = (sql: string) => use('run_sql', { sql });
const answers: Readonly<Record<string, readonly ReturnType<Script>[]>> = {
  'What is the revenue': [revenue, say('1,800 EUR [q1].')],
  'How large is': [bySql('SELECT amount FROM orders ORDER BY 1 DESC LIMIT 1'), say('9 [q1].')],
  'What is our NPS': [say('We do not record NPS.')],
  'And customers?': [bySql('SELECT count(*) FROM customers'), say('40 [q1].')],
  'So?': [say('We do not record that.')],
};
function answering(own: typeof answers = answers): Script {
  return ({ messages }) => {
    const at = messages.findLastIndex(
      ({ role, text }) => role === 'user' && Object.keys(own).some((key) => text.includes(key)),
    );
    const steps = own[Object.keys(own).find((key) => messages[at]?.text.includes(key)) ?? ''] ?? [];
    const done = messages.slice(at).filter(({ role }) => role === 'assistant').length;
    return steps[Math.min(done, steps.length - 1)] ?? say('?');
  };
}

async function evaluate(script: Script, ...args: string[]) {
  const played = asked.playing(script);
  await approve(asked.dir);
  const { envelope } = await ktxJson(['eval', 'run', ...args], here());
  return {
    played,
    run: (envelope.data as { run: { id: string; cases: { outcome: string }[] } }).run,
  };
}

interface Hit {
  readonly kind: string;
  readonly subject: string;
  readonly verified?: { readonly case: string; readonly run: string; readonly at: string };
}
async function search(...words: string[]): Promise<readonly Hit[]> {
  const { envelope } = await ktxJson(['search', ...words], here());
  return (envelope.data as { hits: Hit[] }).hits;
}
const questionsOf = (hits: readonly Hit[]) =>
  hits.filter(({ kind }) => kind === 'question').map(({ subject }) => subject);

/** A tool's answer for a role, over the toolbox that MCP and chat have. */
async function call(name: string, input: object, role?: string) {
  const project = await openProject(asked.dir, {});
  try {
    const tools = openToolbox(viewAs(project, { role, person: undefined })).tools(
      new AbortController().signal,
    );
    const tool = tools.find((each) => each.name === name);
    return await (tool?.execute(input) ?? Promise.reject(new Error(name)));
  } finally {
    await project.close();
  }
}
const ask = (id: string, more: object = {}, role?: string) =>
  call('query_metrics', { saved: `question:shop/${id}`, ...more }, role);

const original = new Map<string, string>();
beforeEach(() => {
  for (const file of ['semantic-layer/shop/orders.yaml', 'semantic-layer/shop/customers.yaml']) {
    const text = original.get(file) ?? readFileSync(pathOf(file), 'utf8');
    original.set(file, text);
    writeFileSync(pathOf(file), text);
  }
  writeFileSync(pathOf('evals/shop.yaml'), set);
  rmSync(pathOf('semantic-layer/shop/queries'), { recursive: true, force: true });
});

describe('a case that passed', () => {
  test('is found by what it asks, with when and by which run, and answered at once', async () => {
    const { run } = await evaluate(answering());
    const hits = await search('revenue of paid orders');
    expect(hits[0]).toMatchObject({
      kind: 'question',
      subject: 'question:shop/paid',
      description: 'What is the revenue of paid orders?',
      file: 'evals/shop.yaml',
      verified: { case: 'shop/paid', run: run.id },
    });
    const { stdout } = await ktx(['search', 'revenue', 'of', 'paid', 'orders'], here());
    expect(stdout).toMatch(new RegExp(`verified \\d{4}-\\d\\d-\\d\\d by ${run.id}`));
    const found = await call('search_context', { text: 'revenue of paid orders' });
    const [first] = (found.structured?.untrusted['hits'] ?? []) as object[];
    expect(first).toMatchObject({ name: 'question:shop/paid', verified: { run: run.id } });
    const answer = await ask('paid');
    expect(answer.answer).toMatchObject({
      items: [[1800]],
      trust: { status: 'curated', verified: { case: 'shop/paid', run: run.id } },
      details: { receipt: { verified: { case: 'shop/paid', run: run.id } } },
    });
    expect(answer.markdown).toContain('A verified question: shop/paid passed in');
    const told = await ktx(['sl', 'query', '--saved', 'question:shop/paid'], here());
    expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('1800')]);
    expect(told.stderr).toContain(`verified question shop/paid: passed in ${run.id}`);
  });

  test('is answered by its golden SQL where SQL answered it, as it stands', async () => {
    const { run } = await evaluate(answering());
    const { answer } = await ask('by-hand');
    expect(answer).toMatchObject({
      items: [[9]],
      ran: { sql: 'SELECT max(amount) AS v FROM orders' },
      trust: { status: 'ad_hoc', verified: { run: run.id }, files: ['evals/shop.yaml'] },
    });
    expect((await ask('by-hand', { limit: 1 })).error?.code).toBe('query_fixed');
    expect((await ask('by-hand', { dry_run: true })).answer).toMatchObject({
      items: [],
      details: { sql: 'SELECT max(amount) AS v FROM orders' },
    });
    const told = await ktx(['sl', 'query', '--saved', 'question:shop/by-hand'], here());
    expect([told.code, told.stderr]).toEqual([0, expect.stringContaining('shop/by-hand: passed')]);
    const config = readFileSync(pathOf('ktx.yaml'), 'utf8');
    writeFileSync(pathOf('ktx.yaml'), `${config}query: {run_sql: semantic_layer_only}\n`);
    expect((await ask('by-hand')).error?.code).toBe('question_unknown');
    expect((await ask('paid')).error).toBeUndefined();
    expect(questionsOf(await search('how large is the largest amount'))).toEqual([]);
    writeFileSync(pathOf('ktx.yaml'), config);
  });

  test('is another question once a call changes it', async () => {
    await evaluate(answering());
    const { answer } = await ask('paid', { dimensions: ['orders.status'] });
    expect(answer?.items).toEqual([
      ['paid', 1800],
      ['refunded', null],
    ]);
    expect(JSON.stringify([answer?.trust, answer?.details])).not.toContain('verified');
    expect(answer?.summary).not.toContain('verified');
  });

  test('is a question of its own: no refusal, no turn of a conversation', async () => {
    await evaluate(answering());
    expect(readdirSync(pathOf('.ktx/verified'))).toHaveLength(2);
    expect((await ask('nps')).error?.code).toBe('question_unknown');
    expect((await ask('talk')).error?.code).toBe('question_unknown');
    expect(questionsOf(await search('NPS'))).toEqual([]);
  });

  test('marks the saved query that it asked', async () => {
    mkdirSync(pathOf('semantic-layer/shop/queries'));
    const file = 'semantic-layer/shop/queries/turnover.yaml';
    writeFileSync(pathOf(file), 'query: turnover\nmetrics: [orders.revenue]\n');
    const saved = use('query_metrics', { saved: 'turnover' });
    const { run } = await evaluate(
      answering({ ...answers, 'What is the revenue': [saved, say('1,800 EUR [q1].')] }),
    );
    const hit = async () => (await search('turnover')).find(({ kind }) => kind === 'query');
    expect((await hit())?.verified).toMatchObject({ case: 'shop/paid', run: run.id });
    expect((await ask('paid')).answer?.items).toEqual([[1800]]);
    writeFileSync(pathOf(file), 'query: turnover\nmetrics: [orders.revenue]\nlimit: 3\n');
    expect((await hit())?.verified).toBeUndefined();
    expect((await ask('paid')).error?.code).toBe('question_unknown');
  });
});

describe('is not verified any more', () => {
  const isVerified = async () => {
    const { error } = await ask('paid');
    const found = questionsOf(await search('revenue of paid orders')).includes(
      'question:shop/paid',
    );
    expect(found).toBe(error === undefined);
    return found;
  };
  const changes: Readonly<Record<string, () => unknown>> = {
    'a later run failed it': () =>
      evaluate(answering({ 'What is the revenue': [revenue, say('1,900 EUR [q1].')] })),
    'its question changed': () => edit('evals/shop.yaml', 'paid orders?', 'paid orders now?'),
    'its golden SQL changed': () => edit('evals/shop.yaml', "'paid'", "'refunded'"),
    'it was removed': () => edit('evals/shop.yaml', '{id: paid', '{id: unpaid'),
    'its dataset changed': () =>
      edit('semantic-layer/shop/orders.yaml', 'agg: sum, of: amount', 'agg: max, of: amount'),
    'the question set is no YAML': () => writeFileSync(pathOf('evals/shop.yaml'), 'cases: ['),
  };
  test.for(Object.entries(changes))('%s', async ([, change]) => {
    await evaluate(answering());
    expect(await isVerified()).toBe(true);
    await change();
    expect(await isVerified()).toBe(false);
  });

  test('but what does not concern it may change', async () => {
    await evaluate(answering());
    edit('evals/shop.yaml', '{id: paid, ', '{id: paid, tags: [board], ');
    edit(
      'evals/shop.yaml',
      '  - {id: nps',
      '  - {id: new, question: Q, expect: {refuses: true}}\n  - {id: nps',
    );
    edit('semantic-layer/shop/customers.yaml', 'dataset: customers', '# ours\ndataset: customers');
    expect(await isVerified()).toBe(true);
    // An error says nothing about the agent.
    await evaluate(() => say(''), '--case', 'paid', '--max-minutes', '0.0000001');
    expect(await isVerified()).toBe(true);
  });
});

describe('row rules', () => {
  const canary = 'canary-4711';
  const rules = (where: string) => {
    writeFileSync(
      pathOf('semantic-layer/shop/orders.yaml'),
      `${original.get('semantic-layer/shop/orders.yaml')}access:\n  - {role: head, where: "true"}\n  - {role: clerk, where: "${where}"}\n`,
    );
    edit('evals/shop.yaml', 'revenue of paid orders', `revenue of ${canary} orders`);
    edit('evals/shop.yaml', 'the largest amount', `the largest ${canary}`);
  };
  test.for(['clerk', 'stranger', undefined])('keep it from %s', async (role) => {
    rules('status = $$paid$$'.replaceAll('$$', "'"));
    await evaluate(answering(), '--role', 'head');
    expect((await ask('paid', {}, 'head')).answer?.items).toEqual([[1800]]);
    expect((await ask('by-hand', {}, 'head')).answer?.items).toEqual([[9]]);
    for (const id of ['paid', 'by-hand'])
      for (const more of [{}, { dry_run: true }, { limit: 5 }]) {
        const refused = await ask(id, more, role);
        expect([refused.error?.code, refused.answer]).toEqual(['question_unknown', undefined]);
        expect(refused.markdown).not.toMatch(/canary-4711|1800/);
      }
    const texts = [`revenue of ${canary} orders`, `How large is the largest ${canary}?`, canary];
    for (const text of texts) {
      const found = await call('search_context', { text }, role);
      expect(found.markdown).not.toContain(canary);
    }
    expect((await call('search_context', { text: texts[0] }, 'head')).markdown).toContain(canary);
  });

  test('an answer of some rows verifies nothing', async () => {
    rules("status = 'paid'");
    rmSync(pathOf('.ktx/verified'), { recursive: true });
    const customers = 'SELECT count(*) AS n FROM customers';
    edit('evals/shop.yaml', 'SELECT max(amount) AS v FROM orders', customers);
    const own = { ...answers, 'How large is': [bySql(customers), say('40 [q1].')] };
    const { run } = await evaluate(answering(own), '--role', 'clerk');
    expect(run.cases.map(({ outcome }) => outcome)).toContain('pass');
    expect((await ask('by-hand', {}, 'head')).error?.code).toBe('question_unknown');
    expect((await ask('paid', {}, 'head')).error?.code).toBe('question_unknown');
    expect((await ask('paid', {}, 'clerk')).error?.code).toBe('question_unknown');
  });
});

test('an eval does not find what answered its questions before', async () => {
  await evaluate(answering());
  const text = 'What is the revenue of paid orders?';
  const lookup = [
    use('search_context', { text }),
    use('query_metrics', { saved: 'question:shop/paid' }),
    say('Nothing.'),
  ];
  const { played } = await evaluate(answering({ 'What is the revenue': lookup }), '--case', 'paid');
  const got = JSON.stringify(played.calls);
  expect(got).toContain('question_unknown');
  expect(got).not.toContain('verified question,');
  expect(got).not.toContain('evals/shop.yaml');
});
