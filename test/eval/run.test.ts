import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { fail, give, inTurn, say, type Script, use } from '../support/model-script.ts';
import { startKtx } from '../support/ktx-process.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { problemsOf } from './junit-schema.ts';
import { approve } from '../support/approve.ts';

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
    const asked =
      Object.keys(answers).findLast((question) => users.some((text) => text.includes(question))) ??
      '';
    const steps = answers[asked] ?? [];
    const since = call.messages.findLastIndex(({ text }) => text.includes(asked));
    const done = call.messages.slice(since).filter(({ role }) => role === 'assistant').length;
    return steps[Math.min(done, steps.length - 1)] ?? say('?');
  };
}

interface Data {
  readonly run: {
    readonly id: string;
    readonly cases: readonly {
      id: string;
      outcome: string;
      flaky: boolean;
      reason?: string;
      attempts: unknown[];
    }[];
  };
  readonly columns: readonly {
    title: string;
    accuracy: { value: number };
    counts: Record<string, number>;
  }[];
  readonly comparison?: {
    readonly changes: readonly {
      id: string;
      kind: string;
      sql: readonly { mark: string; text: string }[];
    }[];
  };
}

async function evaluate(
  ...args: string[]
): Promise<{ code: number; data: Data; outcomes: Record<string, string>; stderr: string }> {
  const { code, envelope, stderr } = await ktxJson(
    ['eval', 'run', '--concurrency', '4', ...args],
    here(),
  );
  const data = envelope.data as Data;
  return {
    code,
    data,
    stderr,
    outcomes: Object.fromEntries(
      data.run.cases.map(({ id, outcome }) => [id.replace('shop/', ''), outcome]),
    ),
  };
}

const golden = "SELECT sum(amount) AS v FROM orders WHERE status = 'paid'";
const set = `cases:
  - {id: right, question: What is right?, expect: {result: {golden_sql: "${golden}"}, semantic_layer: {metrics: [orders.revenue]}, tools: [{name: query_metrics}, {not: run_sql}], limits: {queries: 1, cost_usd: 1}}}
  - {id: wrong, question: What is wrong?, expect: {result: {golden_sql: "${golden}"}}}
  - {id: luck-no-query, question: What is guessed?, expect: {result: {golden_sql: "${golden}"}, text: {number: {value: 1800}}}}
  - {id: luck-invented, question: What is invented?, expect: {result: {golden_sql: "${golden}"}, text: {number: {value: 1800}}}}
  - {id: luck-by-hand, question: What is by hand?, expect: {result: {golden_sql: "${golden}"}, semantic_layer: {metrics: [orders.revenue]}}}
  - {id: nps, question: What is NPS?, expect: {refuses: true}}
  - {id: dodge, question: What is dodged?, expect: {refuses: true}}
  - {id: cut, question: What is cut?, expect: {result: {golden_sql: "SELECT id FROM orders"}}}
  - {id: broken-golden, question: What is right?, expect: {result: {golden_sql: "SELECT nothing FROM nowhere"}}}
  - {id: down, question: What is down?, expect: {refuses: true}}
  - {id: later, question: Q, expect: {refuses: true}, skip: not yet}
  - id: talk
    turns:
      - {question: "How much in total, and is it above 1,500?", expect: {text: {number: {value: 1800}}}}
      - {question: And how many orders?, expect: {result: {golden_sql: "SELECT count(*) AS n FROM orders"}}}
`;
const revenue = use('query_metrics', { metrics: ['orders.revenue'] });
const answers = {
  'What is right?': [revenue, say('1,800 EUR [q1].')],
  'What is wrong?': [
    use('query_metrics', { metrics: ['sum(orders.amount)'] }),
    say('4,050 EUR [q1].'),
  ],
  'What is guessed?': [say('1,800 EUR.')],
  'What is invented?': [revenue, say('1,800 EUR [q9].')],
  'What is by hand?': [use('run_sql', { sql: golden }), say('1,800 EUR [q1].')],
  'What is NPS?': [say('We do not record NPS.')],
  'What is dodged?': [revenue, say('It is 1,800 [q1].')],
  'What is cut?': [use('run_sql', { sql: 'SELECT id FROM orders' }), say('All of them [q1].')],
  'What is down?': [fail('bad-request')],
  'How much in total, and is it above 1,500?': [revenue, say('1,800 EUR [q1].')],
  'And how many orders?': [
    use('query_metrics', { metrics: ['orders.order_count'] }),
    say('900 [q2], beside the 1,500 that you named.'),
  ],
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
      'luck-invented': 'fail',
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
    // Who asks sees where rows differ; a comment on a pull request does not.
    const told = await ktx(['eval', 'run', '--case', 'wrong', '--markdown', 'wrong.md'], here());
    expect(told.stderr).toContain('golden has [1800], the nearest row is [4050]');
    expect(readFileSync(join(project.dir, 'wrong.md'), 'utf8')).toMatch(
      /result: q1: (?!.*golden has)/,
    );
    expect(JSON.stringify(data)).not.toContain('golden has');
    expect(data.columns[0]?.counts).toEqual({
      pass: 3,
      weak: 0,
      fail: 5,
      error: 2,
      timeout: 0,
      skipped: 1,
      inconclusive: 1,
    });
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
    const { outcomes, data } = await evaluate(
      '--case',
      'right',
      '--repeat',
      '4',
      '--markdown',
      'flaky.md',
      '--junit',
      'flaky.xml',
    );
    expect(readFileSync(join(project.dir, 'flaky.md'), 'utf8')).toContain(
      '| `shop/right` | fail, flaky 2/4 (15 to 85 %) |',
    );
    expect(readFileSync(join(project.dir, 'flaky.xml'), 'utf8')).toContain(
      '</failure><system-out>flaky</system-out></testcase>',
    );
    expect((await ktx(['eval', 'report'], here())).stdout).toMatch(
      /^fail +shop\/right +2\/4 \(15 to 85 %\) flaky$/m,
    );
    expect([
      outcomes['right'],
      data.run.cases[0]?.flaky,
      data.run.cases[0]?.attempts.length,
    ]).toEqual(['fail', true, 4]);
    expect(data.columns[0]?.accuracy).toMatchObject({
      value: 0.5,
      low: expect.closeTo(0.05, 2),
      high: expect.closeTo(0.95, 2),
    });
    const firsts = running.calls.filter(({ results }) => results.length === 0);
    expect(
      firsts.every(
        ({ messages }) => messages.filter(({ role }) => role === 'assistant').length === 0,
      ),
    ).toBe(true);
  });

  test('the judge is asked last, only where all else passed; one that fails is an error', async () => {
    const judged = (wanted: string): void =>
      questions(
        `cases: [{id: j, question: What is right?, expect: {${wanted}, judge: {criteria: Says the unit., threshold: 0.7, samples: 2}}}]\n`,
      );
    const scoring = (score: number): Script => {
      const agent = knowing(answers);
      return (call) =>
        call.system.includes('You score one answer') ? give({ score, reason: 'So.' }) : agent(call);
    };
    judged('text: {number: {value: 1800}}');
    project.playing(scoring(0.9));
    expect((await evaluate()).outcomes['j']).toBe('pass');
    project.playing(scoring(0));
    expect((await evaluate()).outcomes['j']).toBe('fail');
    const failing = knowing(answers);
    project.playing((call) =>
      call.system.includes('You score one answer') ? fail('bad-request') : failing(call),
    );
    expect((await evaluate()).outcomes['j']).toBe('error');
    judged('text: {number: {value: 7}}');
    const running = project.playing(scoring(1));
    expect((await evaluate()).outcomes['j']).toBe('fail');
    expect(running.calls.some(({ system }) => system.includes('You score'))).toBe(false);
  });

  test('what could change something is off, told in one line, unless it is allowed', async () => {
    questions(
      'cases: [{id: w, question: Keep it., expect: {tools: [{name: remember, count: 0}, {not: ingest}]}}]\n',
    );
    const script = inTurn(use('remember', { text: 'Plum is red.' }), say('Kept.'));
    project.playing(script, 'tools: {allow: [remember, run_sql]}');
    const { code, stderr } = await ktx(['eval', 'run', '--agent', 'analyst'], here());
    expect(stderr).toContain(
      'Disabled because they can change something (analyst: remember). To run them: --allow-side-effects',
    );
    expect(code).toBe(0);
    project.playing(
      inTurn(use('run_sql', { sql: golden }), say('No.')),
      'permissions: {mode: manual}',
    );
    questions('cases: [{id: m, question: Ask., expect: {tools: [{name: run_sql}]}}]\n');
    expect((await evaluate('--agent', 'analyst')).outcomes).toEqual({ m: 'fail' });
  });

  test('the run is kept: fingerprint, no secrets, no rows; JUnit and Markdown', async () => {
    questions('cases: [{id: s, question: What is <said>?, expect: {text: {contains: [yes]}}}]\n');
    project.playing(() => say(`No & never: sk-ant-${'x1'.repeat(12)} <b>\u0007`), 'tools: {}');
    const args = [
      '--junit',
      'out/eval.xml',
      '--markdown',
      'out/eval.md',
      '--html',
      'out/eval.html',
      '--save',
      'baseline.json',
    ];
    const { code, data } = await evaluate(...args);
    expect(code).toBe(1);
    const text = readFileSync(join(project.dir, '.ktx/evals', `${data.run.id}.json`), 'utf8');
    const reports = ['eval.xml', 'eval.md', 'eval.html'].map((file) =>
      readFileSync(join(project.dir, 'out', file), 'utf8'),
    );
    expect(
      [text, JSON.stringify(data), ...reports].filter((one) => one.includes('sk-ant')),
    ).toEqual([]);
    expect(text).toBe(readFileSync(join(project.dir, 'baseline.json'), 'utf8'));
    expect(JSON.parse(text)).toMatchObject({
      version: 1,
      context: {
        commit: expect.stringMatching(/^[0-9a-f]{40}$/),
        semantic_layer: expect.stringMatching(/^[0-9a-f]{12}$/),
        agents: [{ name: 'ktx', backend: 'anthropic' }],
      },
    });
    const xml = readFileSync(join(project.dir, 'out/eval.xml'), 'utf8');
    expect(xml).toMatch(
      /<testsuite name="shop" tests="1" failures="1" .*\n *<testcase classname="shop" name="s" .*<failure message="text: does not say &quot;yes&quot;"/,
    );
    const page = readFileSync(join(project.dir, 'out/eval.html'), 'utf8');
    expect(page).toContain('What is &lt;said&gt;?');
    const [script = '', own = ''] = /<script>([^]*?)<\/script>/.exec(page) ?? [];
    const hash = createHash('sha256').update(own).digest('base64');
    expect(page).toContain(
      `content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'"`,
    );
    // Nothing else that a browser would fetch or run; links lead to places of the page.
    const rest = page.replace(script, '').replaceAll(/href="#case-\d+"/g, '');
    expect(
      rest.match(
        /<(?:script|link|img|iframe|object|embed|base|form)\b|\b(?:src|href|srcset|on\w+)=|url\(|@import|https?:/gi,
      ),
    ).toEqual(null);
    expect(readFileSync(join(project.dir, 'out/eval.md'), 'utf8')).toContain(
      '| `shop/s` | fail | text: does not say "yes" |',
    );
  });

  test('patterns of redaction take words out, and never what makes the run a run; a key of a table is no key of an account', async () => {
    questions('cases: [{id: p, question: Ask., expect: {text: {contains: [no]}}}]\n');
    project.playing(
      inTurn(
        use('run_sql', { sql: 'SELECT 1 AS sk_customer_account_number' }),
        say('no 12345678, all pass'),
      ),
      'tools: {}',
    );
    const config = readFileSync(join(project.dir, 'ktx.yaml'), 'utf8');
    writeFileSync(
      join(project.dir, 'ktx.yaml'),
      `${config}telemetry: {redaction_patterns: ['\\d{2,}', '[a-z]*pass']}\n`,
    );
    const { data } = await evaluate();
    const kept = JSON.parse(
      readFileSync(join(project.dir, '.ktx/evals', `${data.run.id}.json`), 'utf8'),
    ) as object;
    expect(kept).toMatchObject({
      id: data.run.id,
      cases: [
        { outcome: 'pass', attempts: [{ turns: [{ answer: 'no [redacted], all [redacted]' }] }] },
      ],
    });
    expect(JSON.stringify(kept)).toContain('sk_customer_account_number');
    expect((await ktx(['eval', 'report', 'last'], here())).code).toBe(0);
  });
});

describe('what ends before its time', () => {
  const three = `cases:\n${['a', 'b', 'c'].map((id) => `  - {id: ${id}, question: What is ${id}?, expect: {text: {contains: [fine]}}}\n`).join('')}`;
  const fine = (id: string) => ({ [`What is ${id}?`]: [say(`${id} is fine.`)] });
  const reasons = (data: Data): unknown[] =>
    data.run.cases.map(
      ({ reason, attempts }) =>
        reason ?? (attempts as Attempts).map(({ turns }) => turns[0]?.findings[0]?.found)[0],
    );
  type Attempts = readonly {
    readonly turns: readonly { readonly findings: readonly { readonly found: string }[] }[];
  }[];

  test('a case that takes too long is a timeout, the others go on; steps and money of the agent fail its case', async () => {
    questions(three);
    project.playing(
      knowing({ ...fine('a'), ...fine('c'), 'What is b?': [say('b', { hang: 'mid-stream' })] }),
      'limits: {timeout: 500ms}',
    );
    const slow = await evaluate('--agent', 'analyst');
    expect([slow.code, slow.outcomes]).toEqual([1, { a: 'pass', b: 'timeout', c: 'pass' }]);
    expect(reasons(slow.data)[1]).toMatch(/^llm_timeout: .*limits\.timeout/);
    project.playing(
      knowing({ ...fine('a'), 'What is b?': [revenue] }),
      'limits: {max_turns: 2, max_budget_usd: 0.0001}',
    );
    const { outcomes, data } = await evaluate('--agent', 'analyst', '--case', 'a', '--case', 'b');
    // The answer to a is complete when its money is spent, so it counts; b would go on.
    expect(outcomes).toEqual({ a: 'pass', b: 'fail' });
    expect(reasons(data)[1]).toMatch(/limits\.max_budget_usd/);
    project.playing(knowing({ 'What is b?': [revenue] }), 'limits: {max_turns: 2}');
    const endless = await evaluate('--agent', 'analyst', '--case', 'b');
    expect([endless.outcomes, reasons(endless.data)]).toEqual([
      { b: 'fail' },
      ['the turn ended with max_turns'],
    ]);
  });

  test.for([
    ['auth', 'llm_auth'],
    ['billing', 'llm_billing'],
    ['permission', 'llm_permission'],
  ] as const)(
    'an account that refuses (%s) ends the run: nothing more is asked',
    async ([name, code]) => {
      questions(three);
      const running = project.playing(() => fail(name));
      const { code: exit, outcomes, data } = await evaluate('--concurrency', '1');
      expect([exit, outcomes]).toEqual([3, { a: 'error', b: 'skipped', c: 'skipped' }]);
      expect(reasons(data)).toEqual(
        [0, 1, 1].map(
          (later) =>
            expect.stringMatching(new RegExp(`^${later ? 'not asked: ' : ''}${code}: `)) as unknown,
        ),
      );
      expect(running.calls).toHaveLength(1);
    },
  );

  test('the money of the whole run says nothing about the agent: an error, and nothing more is asked', async () => {
    questions(three);
    const running = project.playing(
      knowing({ ...fine('a'), ...fine('b'), ...fine('c') }),
      undefined,
      'max_usd_per_run: 0.0005',
    );
    const { code, outcomes, data } = await evaluate('--concurrency', '1');
    expect([code, outcomes]).toEqual([3, { a: 'pass', b: 'error', c: 'skipped' }]);
    expect(reasons(data)[2]).toMatch(/^not asked: llm_budget_spent: .*llm\.max_usd_per_run/);
    expect(running.calls).toHaveLength(1);
  });

  test('a rate limit is waited for; one that stays is an error of its case', async () => {
    questions(three);
    const soon = { 'retry-after': '0' };
    const patient = knowing({ ...fine('a'), ...fine('b') });
    const running = project.playing((call) =>
      call.n === 1 ? fail('rate-limit', soon) : patient(call),
    );
    expect((await evaluate('--concurrency', '1', '--case', 'a')).outcomes).toEqual({ a: 'pass' });
    expect(running.calls).toHaveLength(2);
    project.playing((call) =>
      call.messages.some(({ text }) => text.includes('What is a?'))
        ? fail('rate-limit', soon)
        : patient(call),
    );
    const stays = await evaluate('--concurrency', '1', '--case', 'a', '--case', 'b');
    expect([stays.code, stays.outcomes]).toEqual([3, { a: 'error', b: 'pass' }]);
    expect(reasons(stays.data)[0]).toMatch(/^llm_rate_limit: /);
  });

  test('Ctrl-C in the middle: 130, and what was asked is in the run that is kept', async () => {
    questions(three);
    const running = project.playing(
      knowing({ ...fine('a'), 'What is b?': [say('b', { hang: 'mid-stream' })], ...fine('c') }),
    );
    await approve(project.dir);
    const started = startKtx(['eval', 'run', '--concurrency', '1', '--junit', 'cut.xml'], {
      cwd: project.dir,
      env: process.env,
    });
    await running.arrived(2);
    started.interrupt();
    const { code, stdout, stderr } = await started.ended;
    expect([code, stderr]).toEqual([
      130,
      expect.stringContaining('Interrupted; the answers so far are in .ktx/evals.'),
    ]);
    expect(stdout).toMatch(/^cases +1 of 1 pass\nnot graded +2 skipped$/m);
    const { envelope } = await ktxJson(['eval', 'report'], here());
    const { run } = envelope.data as { run: Data['run'] & { interrupted: boolean } };
    expect(run).toMatchObject({
      interrupted: true,
      cases: [
        { outcome: 'pass' },
        { outcome: 'skipped' },
        { outcome: 'skipped', reason: 'interrupted' },
      ],
    });
    expect(await problemsOf({ cut: readFileSync(join(project.dir, 'cut.xml'), 'utf8') })).toEqual({
      cut: [],
    });
    expect(running.calls).toHaveLength(2);
  });

  test('--baseline, --fail-on-regression: only what passed and does not now fails, errors too; a case that is new does not', async () => {
    questions(three);
    project.playing(knowing({ ...fine('a'), ...fine('b'), 'What is c?': [say('Bad.')] }));
    expect((await evaluate('--case', 'a', '--case', 'c', '--save', 'base.json')).code).toBe(1);
    const gate = ['--baseline', 'base.json', '--fail-on-regression'];
    project.playing(
      knowing({ ...fine('a'), 'What is b?': [say('Bad.')], 'What is c?': [say('Worse.')] }),
    );
    const same = await evaluate(...gate);
    expect([
      same.code,
      same.data.comparison?.changes.map(({ id, kind }) => `${kind} ${id}`),
    ]).toEqual([0, ['added shop/b']]);
    project.playing(knowing({ 'What is a?': [fail('bad-request')], ...fine('b'), ...fine('c') }));
    const { code, stdout, stderr } = await ktx(['eval', 'run', ...gate], here());
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('1 case passed before and not now.'),
    ]);
    expect(stdout).toMatch(/^broken +shop\/a +pass → error$/m);
    expect(stdout).toMatch(/^fixed +shop\/c +fail → pass$/m);
    expect(
      (await ktx(['eval', 'compare', 'base.json', 'last', '--fail-on-regression'], here())).code,
    ).toBe(1);
    expect(
      (await ktx(['eval', 'compare', 'last', 'last', '--fail-on-regression'], here())).code,
    ).toBe(0);
    // What --save wrote beside the caller is found from there.
    mkdirSync(join(project.dir, 'sub'));
    const beside = { cwd: join(project.dir, 'sub') };
    expect((await ktx(['eval', 'run', '--case', 'a', '--save', 'near.json'], beside)).code).toBe(3);
    expect((await ktx(['eval', 'compare', 'near.json', 'last'], beside)).code).toBe(0);
    expect((await ktx(['eval', 'compare', 'base.json', 'last'], beside)).code).toBe(0);
    // Nothing is asked for a gate that could not close.
    writeFileSync(
      join(project.dir, 'other.json'),
      readFileSync(join(project.dir, 'base.json'), 'utf8').replaceAll('shop/', 'renamed/'),
    );
    for (const args of [
      ['run', '--baseline', 'other.json', '--fail-on-regression'],
      ['compare', 'other.json', 'last', '--fail-on-regression'],
    ]) {
      const refused = await ktxJson(['eval', ...args], here());
      expect([refused.code, refused.envelope.error?.code]).toEqual([2, 'baseline_unfit']);
    }
    const running = project.playing(knowing({}));
    writeFileSync(join(project.dir, 'cut.json'), '{"version": 1');
    for (const [flags, wanted] of [
      [['--fail-on-regression'], 'usage'],
      [['--baseline', 'none'], 'run_unknown'],
      [['--baseline', 'cut.json'], 'run_unreadable'],
    ] as const) {
      const refused = await ktxJson(['eval', 'run', ...flags], here());
      expect([refused.code, refused.envelope.error?.code]).toEqual([2, wanted]);
    }
    expect(running.calls).toEqual([]);
  });
});
