import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { questionSetSchema } from '../../src/eval/cases/question-set-schema.ts';
import { jsonSchema } from '../../src/project/open/schemas.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { leafKeys } from '../support/config-keys.ts';
import { give, say, type Script, use } from '../support/model-script.ts';
import { ktxJson } from '../cli/run-cli.ts';

interface Probe {
  /** What is expected, with the key. */
  readonly set: string;
  /** What its finding says then… */
  readonly shows: RegExp;
  /** …and not of this, which differs in the key alone. */
  readonly unlike?: string;
}

const plain = '{text: {contains: [EUR]}}';
const golden = (sql: string, match = ''): string => `{result: {golden_sql: "${sql}"${match}}}`;
const tool = (rest: string): string => `{tools: [{name: query_metrics${rest}}]}`;
/** The agent asks for the number of orders as well. */
const byStatus = 'SELECT status FROM orders GROUP BY status';
const backwards = 'SELECT status FROM orders GROUP BY 1 ORDER BY 1 DESC';

/** By the way to the key below `expect`. */
const expectations: Readonly<Record<string, Probe>> = {
  'result.golden_sql': { set: golden('SELECT 1800 AS v'), shows: /q\d has the golden rows/ },
  'result.match.columns': {
    set: golden('SELECT 1800 AS v', ', match: {columns: by_name}'),
    unlike: golden('SELECT 1800 AS v'),
    shows: /no column v, or other values/,
  },
  'result.match.extra_columns': {
    set: golden(byStatus, ', match: {extra_columns: refuse}'),
    unlike: golden(byStatus),
    shows: /2 columns instead of 1/,
  },
  'result.match.extra_rows': {
    set: golden(`${backwards} LIMIT 1`, ', match: {extra_rows: allow}'),
    unlike: golden(`${backwards} LIMIT 1`),
    shows: /q\d has the golden rows/,
  },
  'result.match.allow[]': {
    set: golden('SELECT 1800.4 AS v', ', match: {allow: [rounded]}'),
    unlike: golden('SELECT 1800.4 AS v'),
    shows: /q\d has the golden rows/,
  },
  'result.match.order': {
    set: golden(backwards, ', match: {order: keep}'),
    unlike: golden(backwards),
    shows: /right rows in another order/,
  },
  'result.match.numeric.rel': {
    set: golden('SELECT 1801 AS v', ', match: {numeric: {rel: 0.01}}'),
    unlike: golden('SELECT 1801 AS v'),
    shows: /q\d has the golden rows/,
  },
  'result.match.numeric.abs': {
    set: golden('SELECT 1801 AS v', ', match: {numeric: {abs: 2}}'),
    unlike: golden('SELECT 1801 AS v'),
    shows: /q\d has the golden rows/,
  },
  'semantic_layer.metrics[]': {
    set: '{semantic_layer: {metrics: [orders.order_count]}}',
    shows: /does not use orders\.order_count/,
  },
  'tools[].name': {
    set: '{tools: [{name: remember}]}',
    shows: /remember called: 0 matching calls/,
  },
  'tools[].count': { set: tool(', count: 2'), unlike: tool(''), shows: /: 1 matching call/ },
  'tools[].count.min': {
    set: tool(', count: {min: 2}'),
    unlike: tool(''),
    shows: /: 1 matching call/,
  },
  'tools[].count.max': {
    set: tool(', count: {min: 0, max: 0}'),
    unlike: tool(', count: {min: 1}'),
    shows: /: 1 matching call/,
  },
  'tools[].arguments.*': {
    set: tool(', arguments: {metrics.0: other}'),
    unlike: tool(''),
    shows: /: 0 matching calls/,
  },
  'tools[].arguments.*[]': {
    set: tool(', arguments: {metrics: [other]}'),
    unlike: tool(''),
    shows: /: 0 matching calls/,
  },
  'tools[].arguments.*.equals': {
    set: tool(', arguments: {metrics: {equals: [other]}}'),
    unlike: tool(''),
    shows: /: 0 matching calls/,
  },
  'tools[].arguments.*.contains': {
    set: tool(', arguments: {metrics: {contains: other}}'),
    unlike: tool(''),
    shows: /: 0 matching calls/,
  },
  'tools[].arguments.*.matches': {
    set: tool(', arguments: {metrics.0: {matches: ^other}}'),
    unlike: tool(''),
    shows: /: 0 matching calls/,
  },
  'tools[].arguments.*.absent': {
    set: tool(', arguments: {metrics: {absent: true}}'),
    unlike: tool(''),
    shows: /: 0 matching calls/,
  },
  'tools[].not': { set: '{tools: [{not: query_metrics}]}', shows: /called 1 time/ },
  'tools[].order[]': {
    set: '{tools: [{order: [run_sql, query_metrics]}]}',
    shows: /got query_metrics/,
  },
  'text.number.value': { set: '{text: {number: {value: 7}}}', shows: /does not say 7/ },
  'text.number.rel': {
    set: '{text: {number: {value: 1801, rel: 0}}}',
    unlike: '{text: {number: {value: 1801}}}',
    shows: /does not say 1801/,
  },
  'text.number.abs': {
    set: '{text: {number: {value: 1801, rel: 0, abs: 2}}}',
    unlike: '{text: {number: {value: 1801, rel: 0}}}',
    shows: /"says 1801"/,
  },
  'text.contains[]': { set: '{text: {contains: [dollars]}}', shows: /does not say .*dollars/ },
  'text.not_contains[]': { set: '{text: {not_contains: [EUR]}}', shows: /"text","outcome":"fail"/ },
  'text.matches': { set: '{text: {matches: ^nine}}', shows: /does not match/ },
  refuses: { set: '{refuses: true}', shows: /does not say that it cannot answer/ },
  grounded: { set: '{grounded: true}', shows: /the rows give|ungrounded/ },
  'limits.queries': { set: '{limits: {queries: 0}}', shows: /queries: 1 of 0/ },
  'limits.cost_usd': { set: '{limits: {cost_usd: 0}}', shows: /US dollars: 0\.\d+ of 0/ },
  'limits.tokens': { set: '{limits: {tokens: 1}}', shows: /tokens: \d+ of 1"/ },
  'limits.latency': {
    set: '{limits: {latency: 0.001ms}}',
    shows: /milliseconds: [\d.]+ of 0\.001/,
  },
  // The script scores 1 at first and 0.1 from then on, of what it is told to be strict with always
  // 0.2.
  'judge.samples': {
    set: '{judge: {criteria: Any two, samples: 2}}',
    unlike: '{judge: {criteria: Any one}}',
    shows: /score 0\.55, threshold 0\.7/,
  },
  'judge.threshold': {
    set: '{judge: {criteria: Any, threshold: 0}}',
    unlike: '{judge: {criteria: Any}}',
    shows: /threshold 0:/,
  },
  'judge.criteria': {
    set: '{judge: {criteria: Be strict}}',
    unlike: '{judge: {criteria: Any one}}',
    shows: /score 0\.20, threshold 0\.7/,
  },
};

const agent: Script = ({ system, messages }) => {
  const all = messages.map(({ text }) => text).join('\n');
  if (system.includes('You score one answer')) return scored(all);
  const at = messages.findLastIndex(
    ({ role, text }) => role === 'user' && /How much|Which status|Every status/.test(text),
  );
  const isLater = messages.slice(0, at).some(({ text }) => /Evidence q1/.test(text));
  if (messages.slice(at).some(({ role }) => role === 'assistant'))
    return say(`1,800 EUR [q${isLater ? 2 : 1}].`);
  if (messages[at]?.text.includes('Every status') === true)
    return use('run_sql', { sql: 'SELECT status, count(*) AS n FROM orders GROUP BY 1' });
  const isRows = messages[at]?.text.includes('Which status') === true;
  return isRows
    ? use('run_sql', { sql: 'SELECT status FROM orders GROUP BY 1 ORDER BY 1' })
    : use('query_metrics', { metrics: ['orders.revenue'] });
};
const judged = new Map<string, number>();
function scored(prompt: string): ReturnType<Script> {
  const criteria = /"criteria":"([^"]*)"/.exec(prompt)?.[1] ?? '';
  judged.set(criteria, (judged.get(criteria) ?? 0) + 1);
  const score = criteria === 'Be strict' ? 0.2 : judged.get(criteria) === 1 ? 1 : 0.1;
  return give({ score, reason: 'So.' });
}

let project: AskedProject;
beforeAll(async () => {
  project = await openAskedProject();
  mkdirSync(join(project.dir, 'evals'));
  project.playing(agent);
});
afterAll(() => project?.close());

type Ran = ReadonlyMap<string, { readonly turns: readonly string[]; readonly whole: string }>;
const known = new Map<string, Ran>();

/** What a run of the file says, a case by its id; a file that is refused says why. */
async function ran(file: string): Promise<Ran> {
  const told = known.get(file) ?? (await run(file));
  known.set(file, told);
  return told;
}

async function run(file: string): Promise<Ran> {
  writeFileSync(join(project.dir, 'evals/shop.yaml'), file);
  const { envelope } = await ktxJson(['eval', 'run', '--concurrency', '8'], { cwd: project.dir });
  if (envelope.data === undefined)
    return new Map([['', { turns: [], whole: JSON.stringify(envelope.error) }]]);
  const { run: done } = envelope.data as {
    run: { cases: { id: string; attempts: { turns: { findings: unknown }[] }[] }[] };
  };
  return new Map(
    done.cases.map((one) => {
      const turns = one.attempts.flatMap((attempt) =>
        attempt.turns.map(({ findings }) => JSON.stringify(findings)),
      );
      return [one.id.replace('shop/', ''), { turns, whole: JSON.stringify(one) }] as const;
    }),
  );
}

/** Keys beside `expect`: the file with the key, and the one that differs in it. */
const one = (rest = '', about = ''): string =>
  `${about}cases: [{id: one, question: How much?, expect: ${golden('SELECT 1800 AS v')}${rest}}]\n`;
const others: Readonly<
  Record<string, { readonly set: string; readonly shows: RegExp; readonly unlike?: string }>
> = {
  version: { set: one('', 'version: 2\n'), shows: /eval_invalid.*version/ },
  agent: { set: one('', 'agent: nobody\n'), shows: /agent_unknown/ },
  connection: { set: one('', 'connection: nowhere\n'), shows: /the golden SQL fails: .*nowhere/ },
  repeat: { set: one('', 'repeat: 2\n'), shows: /stop_reason.*stop_reason/ },
  'cases[].connection': {
    set: one(', connection: nowhere'),
    shows: /the golden SQL fails: .*nowhere/,
  },
  'cases[].id': { set: one().replace('id: one', 'id: two'), shows: /"id":"shop\/two"/ },
  'cases[].question': {
    set: one().replace('How much?', 'Which status?'),
    shows: /"result","outcome":"fail"/,
  },
  'cases[].evidence': {
    set: one(', evidence: Net of returns'),
    shows: /"question":"How much\?\\n\\nNet of returns"/,
  },
  'cases[].confirmed_by': {
    set: one(", confirmed_by: ''"),
    shows: /eval_invalid.*confirmed_by/,
  },
  'cases[].repeat': { set: one(', repeat: 2'), shows: /stop_reason.*stop_reason/ },
  'cases[].skip': { set: one(', skip: not now'), shows: /"outcome":"skipped".*not now/ },
  'cases[].tags[]': { set: one(', tags: [board]'), shows: /"tags":\["board"\]/ },
  'cases[].turns[].question': {
    set: `cases: [{id: one, turns: [{question: How much?}, {question: How much?, expect: ${plain}}]}]\n`,
    shows: /stop_reason.*stop_reason/,
  },
};

describe('every key of a question set', () => {
  test('has a probe, and a probe every key', () => {
    const below = Object.keys(expectations).flatMap((key) => [
      `cases[].expect.${key}`,
      `cases[].turns[].expect.${key}`,
    ]);
    expect([...below, ...Object.keys(others)].sort()).toEqual(
      leafKeys(jsonSchema(questionSetSchema)),
    );
  });

  test('of what is expected does something; a turn is graded as a case is', async () => {
    const probes = Object.entries(expectations);
    const questionOf = (text: string): string =>
      text.includes(backwards)
        ? 'Which status?'
        : text.includes(byStatus)
          ? 'Every status?'
          : 'How much?';
    // Many differ from the same file.
    const bases = [...new Set(probes.map(([, { unlike = plain }]) => unlike))];
    const tops = new Map(
      probes.map(([key, { set }]) => [key.split('.')[0]?.replace('[]', '') ?? '', set]),
    );
    const cases = [
      ...probes.map(
        ([, { set }], at) => `{id: set-${at}, question: "${questionOf(set)}", expect: ${set}}`,
      ),
      ...bases.map(
        (text, at) => `{id: base-${at}, question: "${questionOf(text)}", expect: ${text}}`,
      ),
      ...[...tops].map(
        ([key, set]) =>
          `{id: turn-${key}, turns: [{question: "${questionOf(set)}", expect: ${set}}]}`,
      ),
    ];
    const results = await ran(`cases:\n${cases.map((each) => `  - ${each}\n`).join('')}`);
    const found = (id: string): string => results.get(id)?.turns[0] ?? '';
    const said = probes.map(([key, { set, shows, unlike = plain }], at) => {
      const top = [...tops].find(([, text]) => text === set)?.[0];
      const inTurn = top === undefined ? '' : found(`turn-${top}`);
      const without = found(`base-${bases.indexOf(unlike)}`);
      return [
        key,
        shows.test(found(`set-${at}`)) || found(`set-${at}`),
        shows.test(without) && without,
        top === undefined || shows.test(inTurn) || inTurn,
      ];
    });
    expect(said).toEqual(probes.map(([key]) => [key, true, false, true]));
    expect([...tops.keys()].sort()).toEqual([
      'grounded',
      'judge',
      'limits',
      'refuses',
      'result',
      'semantic_layer',
      'text',
      'tools',
    ]);
  });

  test.for(Object.entries(others))(
    '%s does something',
    async ([, { set, shows, unlike = one() }]) => {
      const whole = async (file: string): Promise<string> =>
        [...(await ran(file)).values()].map((each) => each.whole).join('\n');
      expect(await whole(set)).toMatch(shows);
      expect(await whole(unlike)).not.toMatch(shows);
    },
  );
});
