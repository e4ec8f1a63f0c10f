import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { fail, give, inTurn, say, type Script, use } from '../support/model-script.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
  mkdirSync(join(project.dir, 'evals'));
});
afterAll(() => project?.close());
const here = () => ({ cwd: project.dir });

function questions(text: string): void {
  writeFileSync(join(project.dir, 'evals/shop.yaml'), text);
}

/** An agent that answers by what it was asked last: calls first, then words. */
function knowing(answers: Readonly<Record<string, readonly ReturnType<Script>[]>>): Script {
  return (call) => {
    const users = call.messages.filter(({ role }) => role === 'user').map(({ text }) => text);
    const asked = Object.keys(answers).findLast((question) => users.some((text) => text.includes(question))) ?? '';
    const steps = answers[asked] ?? [];
    const since = call.messages.findLastIndex(({ text }) => text.includes(asked));
    const done = call.messages.slice(since).filter(({ role }) => role === 'assistant').length;
    return steps[Math.min(done, steps.length - 1)] ?? say('?');
  };
}

interface Data {
  readonly run: { readonly id: string; readonly cases: readonly { id: string; outcome: string; flaky: boolean; attempts: unknown[] }[] };
  readonly columns: readonly { title: string; accuracy: { value: number }; counts: Record<string, number> }[];
  readonly comparison?: { readonly changes: readonly { id: string; kind: string; sql: readonly { mark: string; text: string }[] }[] };
}

async function evaluate(...args: string[]): Promise<{ code: number; data: Data; outcomes: Record<string, string>; stderr: string }> {
  const { code, envelope, stderr } = await ktxJson(['eval', 'run', '--concurrency', '4', ...args], here());
  const data = envelope.data as Data;
  return { code, data, stderr, outcomes: Object.fromEntries(data.run.cases.map(({ id, outcome }) => [id.replace('shop/', ''), outcome])) };
}

const golden = "SELECT sum(amount) AS v FROM orders WHERE status = 'paid'";
const set = `cases:
  - {id: right, question: What is right?, expect: {result: {golden_sql: "${golden}"}, semantic_layer: {metrics: [orders.revenue]}, tools: [{name: query_metrics}, {not: run_sql}], limits: {queries: 1, cost_usd: 1}}}
  - {id: wrong, question: What is wrong?, expect: {result: {golden_sql: "${golden}"}}}
  - {id: luck-no-query, question: What is guessed?, expect: {result: {golden_sql: "${golden}"}, text: {number: {value: 1800}}}}
  - {id: luck-by-hand, question: What is by hand?, expect: {result: {golden_sql: "${golden}"}, semantic_layer: {metrics: [orders.revenue]}}}
  - {id: nps, question: What is NPS?, expect: {refuses: true}}
  - {id: dodge, question: What is dodged?, expect: {refuses: true}}
  - {id: cut, question: What is cut?, expect: {result: {golden_sql: "SELECT id FROM orders"}}}
  - {id: broken-golden, question: What is right?, expect: {result: {golden_sql: "SELECT nothing FROM nowhere"}}}
  - {id: down, question: What is down?, expect: {refuses: true}}
  - {id: later, question: Q, expect: {refuses: true}, skip: not yet}
  - id: talk
    turns:
      - {question: How much in total?, expect: {text: {number: {value: 1800}}}}
      - {question: And how many orders?, expect: {result: {golden_sql: "SELECT count(*) AS n FROM orders"}}}
`;
const revenue = use('query_metrics', { metrics: ['orders.revenue'] });
const answers = {
  'What is right?': [revenue, say('1,800 EUR [q1].')],
  'What is wrong?': [use('query_metrics', { metrics: ['sum(orders.amount)'] }), say('4,050 EUR [q1].')],
  'What is guessed?': [say('1,800 EUR.')],
  'What is by hand?': [use('run_sql', { sql: golden }), say('1,800 EUR [q1].')],
  'What is NPS?': [say('We do not record NPS.')],
  'What is dodged?': [revenue, say('It is 1,800 [q1].')],
  'What is cut?': [use('run_sql', { sql: 'SELECT id FROM orders' }), say('All of them [q1].')],
  'What is down?': [fail('bad-request')],
  'How much in total?': [revenue, say('1,800 EUR [q1].')],
  'And how many orders?': [use('query_metrics', { metrics: ['orders.order_count'] }), say('900 [q2].')],
};

describe('ktx eval run', () => {
  test('right, wrong, right by luck, refused, cut off, broken: every outcome is what its case says', async () => {
    questions(set);
    project.playing(knowing(answers), 'limits: {max_rows: 100}');
    const { code, outcomes, data } = await evaluate('--agent', 'analyst');
    expect(outcomes).toEqual({
      right: 'pass',
      wrong: 'fail',
      'luck-no-query': 'fail',
      'luck-by-hand': 'fail',
      nps: 'pass',
      dodge: 'fail',
      cut: 'inconclusive',
      'broken-golden': 'error',
      down: 'error',
      later: 'skipped',
      talk: 'pass',
    });
    expect(code).toBe(1);
    expect(data.columns[0]?.counts).toEqual({ pass: 3, fail: 4, error: 2, timeout: 0, skipped: 1, inconclusive: 1 });
    // Nothing of an eval is a conversation to go on from.
    expect(readdirSync(join(project.dir, '.ktx'))).not.toContain('chats');
  });

  test('exit codes: 0 all passed, 3 errors only, 2 the configuration', async () => {
    project.playing(knowing(answers), 'limits: {max_rows: 100}');
    expect((await evaluate('--case', 'right', '--case', 'nps')).code).toBe(0);
    expect((await evaluate('--case', 'right', '--case', 'down')).code).toBe(3);
    const { code, envelope } = await ktxJson(['eval', 'run', '--agent', 'nobody'], here());
    expect([code, envelope.error?.code]).toEqual([2, 'agent_unknown']);
  });

  test('repeats: pass rate, and what is flaky; each attempt begins anew', async () => {
    let asked = 0;
    const running = project.playing((call) => {
      if (call.results.length > 0) return say('1,800 [q1].');
      return (asked += 1) % 2 === 1 ? revenue : say('I think 1,800.');
    });
    const { outcomes, data } = await evaluate('--case', 'right', '--repeat', '4');
    expect([outcomes['right'], data.run.cases[0]?.flaky, data.run.cases[0]?.attempts.length]).toEqual(['fail', true, 4]);
    expect(data.columns[0]?.accuracy).toMatchObject({ value: 0.5, low: expect.closeTo(0.15, 2), high: expect.closeTo(0.85, 2) });
    const firsts = running.calls.filter(({ results }) => results.length === 0);
    expect(firsts.every(({ messages }) => messages.filter(({ role }) => role === 'assistant').length === 0)).toBe(true);
  });

  test('the judge is asked last, only where all else passed; one that fails is an error', async () => {
    const judged = (wanted: string): void =>
      questions(`cases: [{id: j, question: What is right?, expect: {${wanted}, judge: {criteria: Says the unit., threshold: 0.7, samples: 2}}}]\n`); // prettier-ignore
    const scoring = (score: number): Script => {
      const agent = knowing(answers);
      return (call) => (call.system.includes('You score one answer') ? give({ score, reason: 'So.' }) : agent(call));
    };
    judged('text: {number: {value: 1800}}');
    project.playing(scoring(0.9));
    expect((await evaluate()).outcomes['j']).toBe('pass');
    project.playing(scoring(0));
    expect((await evaluate()).outcomes['j']).toBe('fail');
    const failing = knowing(answers);
    project.playing((call) => (call.system.includes('You score one answer') ? fail('bad-request') : failing(call)));
    expect((await evaluate()).outcomes['j']).toBe('error');
    judged('text: {number: {value: 7}}');
    const running = project.playing(scoring(1));
    expect((await evaluate()).outcomes['j']).toBe('fail');
    expect(running.calls.some(({ system }) => system.includes('You score'))).toBe(false);
  });

  test('what could change something is off, told in one line, unless it is allowed', async () => {
    questions('cases: [{id: w, question: Keep it., expect: {tools: [{name: remember, count: 0}, {not: nothing}]}}]\n');
    const script = inTurn(use('remember', { text: 'Plum is red.' }), say('Kept.'));
    project.playing(script, 'tools: {allow: [remember, run_sql]}');
    const { code, stderr } = await ktx(['eval', 'run', '--agent', 'analyst'], here());
    expect(stderr).toContain('Disabled, as they could change something (analyst: remember); --allow-side-effects runs them.');
    expect(code).toBe(0);
    project.playing(inTurn(use('run_sql', { sql: golden }), say('No.')), 'permissions: {mode: manual}');
    questions('cases: [{id: m, question: Ask., expect: {tools: [{name: run_sql}]}}]\n');
    expect((await evaluate('--agent', 'analyst')).outcomes).toEqual({ m: 'fail' });
  });

  test('the run is kept: fingerprint, no secrets, no rows; JUnit and Markdown', async () => {
    questions('cases: [{id: s, question: What is <said>?, expect: {text: {contains: [yes]}}}]\n');
    project.playing(() => say(`No & never: sk-ant-${'x1'.repeat(12)} <b>\u0007`), 'tools: {}');
    const args = ['--junit', 'out/eval.xml', '--markdown', 'out/eval.md', '--html', 'out/eval.html', '--save', 'baseline.json'];
    const { code, data } = await evaluate(...args);
    expect(code).toBe(1);
    const text = readFileSync(join(project.dir, '.ktx/evals', `${data.run.id}.json`), 'utf8');
    expect(text).not.toContain('sk-ant');
    expect(text).toBe(readFileSync(join(project.dir, 'baseline.json'), 'utf8'));
    expect(JSON.parse(text)).toMatchObject({
      version: 1,
      context: { commit: expect.stringMatching(/^[0-9a-f]{40}$/), semantic_layer: expect.stringMatching(/^[0-9a-f]{12}$/), agents: [{ name: 'ktx', backend: 'anthropic' }] },
    }); // prettier-ignore
    const xml = readFileSync(join(project.dir, 'out/eval.xml'), 'utf8');
    expect(xml).toMatch(/<testsuite name="shop" tests="1" failures="1" .*\n *<testcase classname="shop" name="s" .*<failure message="text: not: says &quot;yes&quot;"/); // prettier-ignore
    const page = readFileSync(join(project.dir, 'out/eval.html'), 'utf8');
    expect(page).toContain('What is &lt;said&gt;?');
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    // Nothing that a browser would fetch or run.
    expect(page.match(/<(?:script|link|img|iframe|object|embed|base|form)\b|\b(?:src|href|srcset|on\w+)=|url\(|@import|https?:/gi)).toEqual(
      null,
    );
    expect(readFileSync(join(project.dir, 'out/eval.md'), 'utf8')).toContain('| `shop/s` | fail | text: not: says "yes" |');
  });
});
