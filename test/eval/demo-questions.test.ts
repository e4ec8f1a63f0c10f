import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chromium, withPage } from '../support/browser.ts';
import type { ClaudeHome } from '../support/claude-home.ts';
import { runKtxJson } from '../support/ktx-process.ts';
import { makeMachine, missing } from '../support/llm-runtimes.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { fail, give, say, type Script, use } from '../support/model-script.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { problemsOf } from './junit-schema.ts';
import { approve } from '../support/approve.ts';

const questionFile = join(import.meta.dirname, '../../examples/demo-evals/fernholm.yaml');
const base = mkdtempSync(join(tmpdir(), 'ktx-eval-demo-'));
const dir = join(base, 'demo');
let endpoint: ModelEndpoint;
let machine: ClaudeHome;
let config: string;

beforeAll(async () => {
  endpoint = await openModelEndpoint();
  machine = await makeMachine(endpoint);
  process.env['EVAL_TEST_KEY'] = 'made-up';
  const { code, stderr } = await ktx(['demo', '--tour', '--dir', dir], { cwd: base });
  if (code !== 0) throw new Error(stderr);
  mkdirSync(join(dir, 'evals'));
  copyFileSync(questionFile, join(dir, 'evals/fernholm.yaml'));
  config = readFileSync(join(dir, 'ktx.yaml'), 'utf8');
  answering('anthropic');
});
afterAll(async () => {
  delete process.env['EVAL_TEST_KEY'];
  await endpoint?.close();
  await machine?.remove();
  rmSync(base, { recursive: true, force: true });
});

type Backend = 'anthropic' | 'claude-code';

function answering(backend: Backend): void {
  const block =
    backend === 'anthropic'
      ? `, anthropic: {api_key: env:EVAL_TEST_KEY, base_url: "${endpoint.url}/v1"}`
      : '';
  const llm = `llm:\n  provider: {backend: ${backend}${block}}\n  models: {default: claude-sonnet-4-6}\n`;
  writeFileSync(join(dir, 'ktx.yaml'), `${config}\n${llm}`);
}

const turnSchema = z.looseObject({
  question: z.string(),
  expect: z.looseObject({ result: z.looseObject({ golden_sql: z.string() }).optional() }),
});
const caseSchema = z.looseObject({
  id: z.string(),
  tags: z.array(z.string()),
  turns: z.array(turnSchema).optional(),
});
const cases = z
  .looseObject({ cases: z.array(caseSchema) })
  .parse(load(readFileSync(questionFile, 'utf8'))).cases;
const turns = cases.flatMap((one) =>
  (one.turns ?? [turnSchema.parse(one)]).map((turn) => ({ ...turn, id: one.id })),
);

/** What the semantic layer is asked where a case wants a metric. */
const metricQueries: Readonly<Record<string, object>> = {
  'orders-by-channel': { metrics: ['orders.count'], dimensions: ['orders.channel'] },
  'average-order': { metrics: ['orders.average_order'] },
  satisfaction: { metrics: ['tickets.satisfaction'] },
  'revenue-total': { metrics: ['orders.revenue'] },
  'revenue-by-month-2025': {
    metrics: ['orders.revenue'],
    dimensions: ['orders.placed_at.month'],
    where: ["orders.placed_at >= '2025-01-01'", "orders.placed_at < '2026-01-01'"],
  },
  'revenue-by-buyer-region': {
    metrics: ['orders.revenue'],
    dimensions: ['orders.buyer.regions.rgn_nm'],
  },
  'revenue-by-recipient-region': {
    metrics: ['orders.revenue'],
    dimensions: ['orders.recipient.regions.rgn_nm'],
  },
  'gifts-by-channel': {
    metrics: ['orders.gifts'],
    dimensions: ['orders.channel'],
    where: ['orders.recipient_id <> orders.buyer_id'],
  },
  'orders-and-tickets-total': { metrics: ['orders.count', 'tickets.count'] },
  'revenue-to-date': {
    metrics: ['orders.revenue_to_date'],
    dimensions: ['orders.placed_at.month'],
    where: ["orders.placed_at >= '2025-01-01'", "orders.placed_at < '2026-01-01'"],
  },
};
const words: Readonly<Record<string, string>> = {
  'revenue-total': 'Paid orders; the handbook says it differently [q1].',
  'revenue-definition':
    'Orders that were paid (dbt), or all that were not cancelled (the handbook).',
  'region-then-channel': 'DACH [q1].',
};
type Steps = readonly ReturnType<Script>[];
/** Answers that are not what their case asks for, each with what the case then is. */
const bad: Readonly<
  Record<
    string,
    {
      readonly outcome: string;
      readonly why: RegExp;
      readonly steps: (golden: string | undefined) => Steps;
    }
  >
> = {
  // Wrong.
  'revenue-by-recipient-region': {
    outcome: 'fail',
    why: /result: q1: the columns hold|result: q1: no column/,
    steps: () => [
      use('query_metrics', metricQueries['revenue-by-buyer-region']),
      say('By region [q1].'),
    ],
  },
  'orders-and-tickets-by-month': {
    outcome: 'fail',
    why: /result: q1: no column with the values of orders/,
    steps: () => [
      use('run_sql', {
        sql: "SELECT date_trunc('month', placed_at) AS m, count(o.id), count(ticket_id) FROM orders AS o LEFT JOIN tickets AS t ON t.order_id = o.id WHERE year(placed_at) = 2025 GROUP BY 1",
      }),
      say('Side by side [q1].'),
    ],
  },
  'revenue-and-pieces': {
    outcome: 'fail',
    why: /result: q1: no column with the values of revenue/,
    steps: () => [use('query_metrics', { metrics: ['orders.orders_placed'] }), say('Here [q1].')],
  },
  'top-products': {
    outcome: 'fail',
    why: /result: q1: the right rows in another order/,
    steps: (golden) => [
      use('run_sql', { sql: `SELECT * FROM (${golden}) ORDER BY 2` }),
      say('These five [q1].'),
    ],
  },
  // Right by luck: a number from nowhere; the right number over another query; the right rows by a
  // definition of one's own.
  customers: {
    outcome: 'fail',
    why: /result: the answer is based on no query/,
    steps: () => [say('There are 927 customers.')],
  },
  'orders-2025': {
    outcome: 'fail',
    why: /result: q1: no column/,
    steps: () => [
      use('run_sql', { sql: 'SELECT count(*) FROM orders' }),
      say('3,245 orders [q1].'),
    ],
  },
  'orders-by-channel': {
    outcome: 'fail',
    why: /tools: query_metrics called: 0 matching calls/,
    steps: () => [
      use('run_sql', { sql: 'SELECT channel, count(*) FROM orders GROUP BY 1' }),
      say('By hand [q1].'),
    ],
  },
  satisfaction: {
    outcome: 'fail',
    why: /^semantic_layer: does not use tickets.satisfaction; it uses no metric$/,
    steps: (golden) => [use('run_sql', { sql: golden }), say('Rather [q1].')],
  },
  // Answers what nobody can know; says nothing of what it should have said.
  margin: {
    outcome: 'fail',
    why: /refuses: does not say that it cannot answer/,
    steps: () => [use('run_sql', { sql: 'SELECT 1 AS margin' }), say('The margin is 1 [q1].')],
  },
  'web-visits': {
    outcome: 'fail',
    why: /refuses: does not say that it cannot answer/,
    steps: () => [say('About 4,000 people.')],
  },
  // Nothing is known of the agent.
  forecast: { outcome: 'error', why: /turn: llm_/, steps: () => [fail('bad-request')] },
};

/** Does what `choose` says for the question that was asked last, a step a call. */
function agent(choose: (id: string, golden: string | undefined, n: number) => Steps): Script {
  return ({ messages }) => {
    const at = messages.findLastIndex(
      ({ role, text }) => role === 'user' && turns.some(({ question }) => text.includes(question)),
    );
    const turn = turns.findLast(({ question }) => messages[at]?.text.includes(question));
    if (turn === undefined) return say('I do not know.');
    const done = messages.slice(at).filter(({ role }) => role === 'assistant').length;
    const queries = messages.filter(({ text }) => /Evidence q\d+/.test(text)).length;
    const steps = choose(
      turn.id,
      turn.expect.result?.golden_sql,
      done === 0 ? queries + 1 : queries,
    );
    return steps[Math.min(done, steps.length - 1)] ?? say('?');
  };
}

const right = (id: string, golden: string | undefined, n: number): Steps => {
  const query = metricQueries[id];
  if (query !== undefined)
    return [use('query_metrics', query), say(words[id] ?? `As defined [q${n}].`)];
  if (golden !== undefined)
    return [
      use('run_sql', { sql: golden }),
      say(n > 1 ? `So many [q${n}].` : (words[id] ?? `So many [q${n}].`)),
    ];
  if (id === 'revenue-definition')
    return [use('read_context', { name: 'orders' }), say(words[id] ?? '')];
  return [say('The data does not hold that.')];
};

interface Run {
  readonly id: string;
  readonly cases: readonly {
    id: string;
    outcome: string;
    attempts: readonly { turns: readonly { findings: readonly Found[] }[] }[];
  }[];
}
interface Found {
  readonly grader: string;
  readonly outcome: string;
  readonly found: string;
}

const short = (id: string): string => id.replace('fernholm/', '');

function outcomesOf({ cases: ended }: Run): Record<string, string> {
  return Object.fromEntries(ended.map(({ id, outcome }) => [short(id), outcome]));
}

/** `ktx eval run` as a process; what is bad is named by its case, with what its graders found. */
async function evaluate(...args: string[]) {
  const env = { ...machine.env, EVAL_TEST_KEY: 'made-up' };
  await approve(dir, env);
  const { code, envelope, stderr } = await runKtxJson(
    ['eval', 'run', '--concurrency', '4', ...args],
    { cwd: dir, env },
  );
  if (envelope.data === undefined) throw new Error(`${JSON.stringify(envelope.error)} ${stderr}`);
  const { run } = envelope.data as { run: Run };
  const found = run.cases.flatMap(({ id, attempts }) => {
    const findings = attempts.flatMap(({ turns: ended }) => ended.flatMap((turn) => turn.findings));
    const problems = findings
      .filter(({ outcome }) => outcome !== 'pass')
      .map(({ grader, found: text }) => `${grader}: ${text}`);
    return problems.length === 0 ? [] : [[short(id), problems.join('\n')] as const];
  });
  return { code, run, outcomes: outcomesOf(run), found: Object.fromEntries(found) };
}

const mixed = agent((id, golden, n) => bad[id]?.steps(golden) ?? right(id, golden, n));

describe('the questions of the demo', () => {
  test('are at least 25 of every kind, and their golden SQL proves something', async () => {
    expect(cases.length).toBeGreaterThanOrEqual(25);
    const kinds = [
      'simple',
      'contested',
      'role-playing',
      'multi-fact',
      'time-comparison',
      'unanswerable',
      'follow-up',
    ];
    expect(
      kinds.filter((kind) => cases.filter(({ tags }) => tags.includes(kind)).length < 3),
    ).toEqual([]);
    const { code, stdout } = await ktx(['eval', 'check'], { cwd: dir });
    expect([code, stdout.match(/^(?:error|weak) .*$/gm)]).toEqual([0, null]);
  });

  // A case of Claude Code takes a child of a second: there, all that are not to pass, and the
  // conversations.
  describe.each<Backend>(['anthropic', 'claude-code'])(
    'asked by ktx eval run over %s',
    (backend) => {
      test.skipIf(missing(backend) !== undefined)(
        'right, wrong, right by luck, down: every outcome is what its case says',
        async () => {
          answering(backend);
          endpoint.fallback = mixed;
          const junit = join(base, `${backend}.xml`);
          const asked =
            backend === 'anthropic'
              ? cases
              : cases.filter(({ id, turns: several }) => id in bad || several !== undefined);
          const { outcomes, found, code } = await evaluate(
            '--junit',
            junit,
            ...asked.flatMap(({ id }) => ['--case', id]),
          );
          expect(outcomes).toEqual(
            Object.fromEntries(asked.map(({ id }) => [id, bad[id]?.outcome ?? 'pass'])),
          );
          for (const [id, { why }] of Object.entries(bad))
            expect([id, found[id]]).toEqual([id, expect.stringMatching(why)]);
          expect(Object.keys(found).sort()).toEqual(Object.keys(bad).sort());
          expect(code).toBe(1);
          expect(await problemsOf({ junit: readFileSync(junit, 'utf8') })).toEqual({ junit: [] });
        },
      );
    },
  );

  test('exit codes: 0 all passed, 2 the configuration, 3 nothing failed but of something nothing can be said', async () => {
    answering('anthropic');
    endpoint.fallback = agent(right);
    expect(await evaluate('--tag', 'unanswerable')).toMatchObject({ code: 0, found: {} });
    endpoint.fallback = mixed;
    expect(await evaluate('--case', 'forecast', '--case', 'nps-by-store')).toMatchObject({
      code: 3,
      outcomes: { forecast: 'error', 'nps-by-store': 'pass' },
    });
    const { code, envelope } = await runKtxJson(['eval', 'run', '--agent', 'nobody'], {
      cwd: dir,
      env: machine.env,
    });
    expect([code, envelope.error?.code]).toEqual([2, 'agent_unknown']);
  });

  test('without context: both columns in one table, and metrics are not graded there', async () => {
    endpoint.fallback = (call) =>
      call.tools.includes('query_metrics')
        ? agent(right)(call)
        : agent((_id, golden) =>
            golden === undefined ? [say('Not in the data.')] : [say('About 100.')],
          )(call);
    const { code, stdout } = await ktx(
      [
        'eval',
        'run',
        '--without-context',
        '--case',
        'customers',
        '--case',
        'satisfaction',
        '--case',
        'margin',
        '--case',
        'revenue-definition',
      ],
      { cwd: dir },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ +with context +without context\ncases +4 of 4 pass +1 of 4 pass\nnot passed +3 fail\naccuracy +100 % \(51 to 100\) +25 % \(5 to 70\)\ntokens/m,
    );
  });

  test('a changed definition breaks exactly what stands on it, and the comparison shows its SQL', async () => {
    endpoint.fallback = agent(right);
    const ask = () =>
      evaluate(
        ...['simple', 'contested', 'multi-fact', 'role-playing'].flatMap((tag) => ['--tag', tag]),
      );
    expect(await ask()).toMatchObject({ code: 0, found: {} });
    const file = join(dir, 'semantic-layer/shop/orders.yaml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      before.replace(
        "{name: revenue, agg: sum, of: amount, where: status = 'paid'",
        "{name: revenue, agg: sum, of: amount, where: status <> 'cancelled'",
      ),
    );
    const { found } = await ask();
    const { envelope } = await ktxJson(['eval', 'compare', 'previous', 'last'], { cwd: dir });
    const { stdout } = await ktx(['eval', 'compare', 'previous', 'last'], { cwd: dir });
    writeFileSync(file, before);
    // Lines of SQL stay whole, so that they can be copied.
    const prose = stdout.split('\n').filter((line) => !/^ {4}/.test(line));
    expect(Math.max(...prose.map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect(stdout).toMatch(
      /^cases +17 of 17 pass +12 of 17 pass\nnot passed +5 fail\naccuracy +100 % \(82 to 100\) +71 % \(47 to 87\)$/m,
    );
    expect(
      stdout.match(
        /^broken +\S+ +pass → fail\n(?: {4}.*\n)*? {4}- .* = 'paid'.*\n {4}\+ .* <> 'cancelled'/gm,
      ),
    ).toHaveLength(5);
    const onRevenue = [
      'average-order',
      'revenue-total',
      'revenue-by-month-2025',
      'revenue-by-buyer-region',
      'revenue-by-recipient-region',
    ];
    expect(Object.keys(found)).toEqual(onRevenue);
    const { differs, changes } = envelope.data as {
      differs: string[];
      changes: { id: string; kind: string; sql: { mark: string; text: string }[] }[];
    };
    expect(differs).toEqual(['semantic_layer']);
    expect(changes.map(({ id, kind }) => `${kind} ${id.replace('fernholm/', '')}`)).toEqual(
      onRevenue.map((id) => `broken ${id}`),
    );
    for (const { sql } of changes) {
      const marked = (mark: string): string =>
        sql
          .filter((line) => line.mark === mark)
          .map(({ text }) => text)
          .join('\n');
      expect(marked('-')).toContain("= 'paid'");
      expect(marked('+')).toContain("<> 'cancelled'");
    }
  });

  test.skipIf(chromium === undefined)(
    'the HTML page in Chromium: nothing in its console, it asks for nothing, and it fits a telephone',
    async () => {
      const page = join(base, 'eval.html');
      expect(
        await ktx(['eval', 'report', 'last', '--baseline', 'previous', '--html', page], {
          cwd: dir,
        }),
      ).toMatchObject({ code: 0 });
      const hostile = join(base, 'hostile.html');
      const fetches = `<img src="${endpoint.url}/from-page"><script>document.title = "ran"</script><link rel="stylesheet" href="${endpoint.url}/from-page">`;
      writeFileSync(
        hostile,
        readFileSync(page, 'utf8').replace('<h2>Answers</h2>', (title) => `${fetches}${title}`),
      );
      await withPage(
        pathToFileURL(page).href,
        async ({ requests, console: said, evaluate: look, send }) => {
          expect([requests, said]).toEqual([[pathToFileURL(page).href], []]);
          expect(await look('document.querySelectorAll(".matrix tr").length - 1')).toBe(17);
          expect(await look('document.querySelectorAll("ins, del").length')).toBe(10);
          const isDark = 'getComputedStyle(document.body).backgroundColor';
          const seen = [];
          for (const [width, value] of [
            [1280, 'light'],
            [420, 'dark'],
            [360, 'light'],
          ] as const) {
            await send('Emulation.setDeviceMetricsOverride', {
              width,
              height: 900,
              deviceScaleFactor: 1,
              mobile: width < 600,
            });
            await send('Emulation.setEmulatedMedia', {
              features: [{ name: 'prefers-color-scheme', value }],
            });
            await look('for (const one of document.querySelectorAll("details")) one.open = true');
            seen.push([
              width,
              await look('document.documentElement.scrollWidth <= innerWidth'),
              await look(isDark),
            ]);
          }
          expect(seen).toEqual([
            [1280, true, 'rgb(255, 255, 255)'],
            [420, true, 'rgb(21, 25, 31)'],
            [360, true, 'rgb(255, 255, 255)'],
          ]);
        },
      );
      // Even where markup of an answer got in, the page's own policy refuses what it would fetch or
      // run.
      await withPage(pathToFileURL(hostile).href, async ({ console: said, evaluate: look }) => {
        expect(endpoint.requests.filter(({ path }) => path === '/from-page')).toEqual([]);
        expect(
          said.filter((line) => /Content Security Policy/.test(line)).length,
        ).toBeGreaterThanOrEqual(3);
        expect(await look('document.title')).toMatch(/^ktx eval /);
      });
    },
  );

  test('every command of the guide runs as it stands there, one after the other', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/evals.md'), 'utf8');
    const blocks = (kind: string): string[] =>
      [...guide.matchAll(new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
        ([, text = '']) => text,
      );
    const [questions = ''] = blocks('yaml');
    rmSync(join(dir, 'evals/fernholm.yaml'));
    mkdirSync(join(dir, 'reports'));
    writeFileSync(join(dir, 'evals/revenue.yaml'), questions);
    writeFileSync(join(dir, 'reports/board.sql'), blocks('sql').join('\n'));
    writeQuestionFiles();
    endpoint.fallback = obedient;
    // The answer that becomes a case.
    const guideSet = load(questions) as { cases: Record<string, unknown>[] };
    const [asked] = guideSet.cases.map((each) => askedSchema.safeParse(each).data);
    expect((await ktx(['ask', asked?.question ?? ''], { cwd: dir })).code).toBe(0);
    const commands = blocks('sh').flatMap((block) => block.trim().split('\n'));
    const codes = [];
    for (const command of commands)
      codes.push([command, (await ktx(command.split(' ').slice(1), { cwd: dir })).code]);
    expect(codes).toEqual(commands.map((command) => [command, 0]));
    expect(commands.length).toBeGreaterThan(12);
    const { envelope } = await ktxJson(['eval', 'report', 'last'], { cwd: dir });
    const { run } = envelope.data as { run: Run };
    expect(run.cases.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'board/how-many-orders-are-there-by-status',
        'dev/shop-1',
        'generated/orders-revenue',
        'revenue/follow-up',
      ]),
    );
  });
});

/** The files that the guide imports, with a question each. */
function writeQuestionFiles(): void {
  const count = (table: string) => ({
    question: `How many ${table} are there?`,
    sql: `SELECT count(*) AS n FROM ${table}`,
  });
  const [tags, regions, products] = [count('tags'), count('regions'), count('products')];
  const bird = { question_id: 1, db_id: 'shop', question: tags.question, SQL: tags.sql };
  const spider = { db_id: 'shop', question: regions.question, query: regions.sql };
  for (const [folder, entry] of Object.entries({ bird, spider })) {
    mkdirSync(join(dir, folder));
    writeFileSync(join(dir, folder, 'dev.json'), JSON.stringify([entry]));
  }
  writeSpider2('tags');
  const inquiry =
    'x:1 rdf:type q:Inquiry ; q:expects x:2 ; q:prompt "How many tickets are there?" .';
  const query = 'x:2 rdf:type x:SqlQuery ; q:queryText "SELECT count(*) AS n FROM tickets" .';
  writeFileSync(join(dir, 'benchmark_questions.ttl'), `${inquiry}\n${query}\n`);
  copyFileSync(join(questionFile, '../retrieval.yaml'), join(dir, 'retrieval.yaml'));
  const csv = `question,sql\n${products.question},${products.sql}\n`;
  writeFileSync(join(dir, 'questions.csv'), csv);
}

/** A local question of Spider 2 on a database that is connected. */
function writeSpider2(table: string): void {
  const root = join(dir, 'spider2-lite');
  const gold = join(root, 'evaluation_suite/gold/sql');
  for (const folder of [gold, join(root, 'resource/databases/spider2-localdb')])
    mkdirSync(folder, { recursive: true });
  const line = { instance_id: 'local001', db: 'shop', question: 'How many labels are there?' };
  writeFileSync(join(root, 'spider2-lite.jsonl'), JSON.stringify(line));
  writeFileSync(join(gold, 'local001.sql'), `SELECT count(*) AS n FROM ${table}`);
}

const askedSchema = z.looseObject({
  question: z.string(),
  expect: z.looseObject({
    result: z.looseObject({ golden_sql: z.string() }).optional(),
    semantic_layer: z.looseObject({ metrics: z.array(z.string()) }).optional(),
    text: z.looseObject({ number: z.looseObject({ value: z.number() }) }).optional(),
  }),
});

/** Answers what stands in the project as its question sets want it. */
const obedient: Script = ({ system, messages, tools }) => {
  if (system.includes('You score one answer')) return give({ score: 1, reason: 'So.' });
  const sets = globSync('evals/*.yaml', { cwd: dir }).map(
    (file) => load(readFileSync(join(dir, file), 'utf8')) as { cases: { turns?: unknown[] }[] },
  );
  const asked = sets
    .flatMap(({ cases: all }) => all.flatMap((each) => each.turns ?? [each]))
    .map((each) => askedSchema.parse(each));
  const at = messages.findLastIndex(
    ({ role, text }) => role === 'user' && asked.some(({ question }) => text.includes(question)),
  );
  const wanted = asked.findLast(({ question }) => messages[at]?.text.includes(question))?.expect;
  if (wanted?.text !== undefined) return say(`${wanted.text.number.value} orders.`);
  if (wanted?.result === undefined) return say('We do not record that.');
  if (messages.slice(at).some(({ role }) => role === 'assistant')) return say('So much [q1].');
  const { semantic_layer: layer, result } = wanted;
  if (layer === undefined || !tools.includes('query_metrics'))
    return use('run_sql', { sql: result.golden_sql });
  const regions = {
    dimensions: ['orders.buyer.regions.rgn_nm'],
    where: ["orders.placed_at >= '2025-01-01'"],
  };
  return use('query_metrics', {
    metrics: layer.metrics,
    ...(messages[at]?.text.includes('by region') ? regions : {}),
  });
};
