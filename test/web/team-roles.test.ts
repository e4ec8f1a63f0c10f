import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pageRoutes } from '../../src/web/page-routes.ts';
import { teamRoutes } from '../../src/web/team/team-routes.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { connect } from '../mcp/http-shop.ts';
import { envelopeOf, type Received, removeFolder, sendTo } from './page.ts';
import { createToken, enterTeam, type StartedTeam, startTeam } from './team.ts';
import { rolesProject } from './team-project.ts';

let cwd: string;
let team: StartedTeam;
let us: Record<string, string>;
let admin: Record<string, string>;
let reader: Record<string, string>;
let umaToken: string;
const revenue = 'metric:warehouse.orders.revenue';
const secretMetric = 'metric:warehouse.orders.secret_margin';

beforeAll(async () => {
  cwd = await rolesProject();
  const everything = ['--scope', 'read', 'query', 'write'];
  const of = (name: string, flags: readonly string[]) => createToken(cwd, name, flags);
  const tokens = [
    await of('uma', ['--role', 'us', ...everything]),
    await of('ada', ['--role', 'admin', ...everything]),
    await of('rob', ['--role', 'us', '--scope', 'read']),
  ];
  umaToken = tokens[0] ?? '';
  team = await startTeam(cwd);
  const [uma, ada, rob] = await Promise.all(tokens.map((token) => enterTeam(team, token)));
  [us, admin, reader] = [uma ?? {}, ada ?? {}, rob ?? {}];
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  removeFolder(cwd);
});

const ask = (headers: Record<string, string>, path: string): Promise<Received> =>
  sendTo(`${team.url}api/${path}`, { headers });
const post = (headers: Record<string, string>, path: string, body: object): Promise<Received> =>
  sendTo(`${team.url}api/${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
const cities = { metrics: ['orders.revenue'], dimensions: ['orders.city'] };
const rowsOf = (answer: Received) =>
  z.object({ rows: z.array(z.unknown()) }).parse(envelopeOf(answer).data).rows;

/** What each route is asked, and the command that prints the same for a role. */
const reading: Readonly<Record<string, { ask?: string; body?: object; typed: string[] }>> = {
  '/api/status': { typed: ['status', '--visible'] },
  '/api/review': { typed: ['review', 'list', '--visible'] },
  '/api/datasets': { typed: ['sl', 'list', '--all'] },
  '/api/dataset': { ask: '?dataset=orders', typed: ['sl', 'read', 'orders', '--visible'] },
  '/api/graph': { typed: ['sl', 'graph'] },
  '/api/dimensions': {
    ask: '?metric=orders.revenue',
    typed: ['sl', 'dimensions', 'orders.revenue'],
  },
  '/api/explain': { ask: `?subject=${revenue}`, typed: ['explain', '--visible', revenue] },
  '/api/search': { ask: '?words=revenue', typed: ['search', '--limit', '30', 'revenue'] },
  '/api/query': {
    body: cities,
    typed: ['sl', 'query', '-m', 'orders.revenue', '-d', 'orders.city'],
  },
};

function lasting(data: unknown): unknown {
  const text = JSON.stringify(data ?? null, (key, value: unknown) =>
    ['ms', 'query_id'].includes(key) ? undefined : value,
  );
  return JSON.parse(text) as unknown;
}

describe('behind the login of a server', () => {
  test('every route that reads is compared with its command, and the rest is left out', () => {
    const routes = Object.entries(teamRoutes);
    const compared = routes.filter(([, { effect }]) => effect !== 'write').map(([path]) => path);
    expect(compared.sort()).toEqual(Object.keys(reading).sort());
    const known = new Set(Object.keys(teamRoutes));
    expect(Object.keys(pageRoutes).filter((path) => !known.has(path))).toEqual([
      '/api/runs',
      '/api/usage',
      '/api/egress',
      '/api/evals',
      '/api/eval',
      '/api/eval/diff',
      '/api/eval/add',
      '/api/ask',
      '/api/remember',
    ]);
  });

  test.for(Object.keys(reading))('%s is what the command prints for the role', async (path) => {
    const { ask: query = '', body, typed = [] } = reading[path] ?? {};
    const name = path.slice('/api/'.length);
    const answer = await (body === undefined ? ask(us, `${name}${query}`) : post(us, name, body));
    const { envelope } = await ktxJson([...typed, '--role', 'us'], { cwd });
    expect([answer.status, envelope.ok]).toEqual([200, true]);
    expect(lasting(envelopeOf(answer).data)).toEqual(lasting(envelope.data));
  });

  test.for(['runs', 'usage', 'egress', 'evals', 'eval?run=last'])(
    'what others asked and paid is not there: %s',
    async (path) => {
      const answer = await ask(admin, path);
      expect([answer.status, envelopeOf(answer).error?.code]).toEqual([404, 'route_unknown']);
    },
  );

  test('nobody asks an agent or writes a note', async () => {
    for (const path of ['ask', 'remember'])
      expect((await post(admin, path, { question: 'a', note: 'a' })).status).toBe(404);
  });
});

const subjects = [
  revenue,
  secretMetric,
  'dataset:warehouse.orders',
  'field:warehouse.orders.city',
  'field:warehouse.orders.cost_secret',
  'dataset:warehouse.shops',
  'term:revenue',
];
const everywhere = [
  'about',
  'status',
  'review',
  'datasets',
  'dataset?dataset=orders',
  'dataset?dataset=shops',
  'graph',
  'dimensions?metric=orders.revenue',
  ...subjects.map((subject) => `explain?subject=${encodeURIComponent(subject)}`),
  ...['canary', 'canary-dach', 'cost_secret', 'rule_secret'].map((word) => `search?words=${word}`),
];

describe('a person of one role', () => {
  test('sees no value of another role, nothing hidden and no row rule, on any route', async () => {
    const answers = await Promise.all(
      everywhere.map(async (path) => [path, (await ask(us, path)).text] as const),
    );
    answers.push(['query', (await post(us, 'query', cities)).text]);
    const filtered = { ...cities, where: ["orders.city = 'canary-dach'"] };
    expect(rowsOf(await post(us, 'query', filtered))).toEqual([]);
    for (const [path, text] of answers) {
      const said = text.replaceAll(/orders\.city = .{0,20}|Nothing is known about [^"]*/g, '');
      expect([path, /canary-dach|cost_secret|rule_secret/.exec(said)?.[0]]).toEqual([
        path,
        undefined,
      ]);
      // Numbers over all rows, from before there were row rules.
      expect([path, /18300|12000|"number"/.exec(said)?.[0]]).toEqual([path, undefined]);
    }
  });

  test('sees their own rows, and admins those of all', async () => {
    expect(rowsOf(await post(us, 'query', cities))).toEqual([['canary-us', 9000]]);
    expect(rowsOf(await post(admin, 'query', cities))).toHaveLength(2);
  });

  test('gets no number from before there were row rules over MCP either', async () => {
    await using client = await connect(team.mcp, umaToken);
    const { text, isError } = await client.call('review_status', {});
    expect(isError).toBe(false);
    expect(text).toContain(revenue);
    expect(text).not.toMatch(/18300|12000/);
    const { stdout } = await ktx(['review', 'list'], { cwd });
    expect(stdout).toContain('not everybody sees every row');
    expect(stdout).not.toMatch(/18300|12000/);
  });

  test('is told nothing of a hidden conflict, and decides nothing about it', async () => {
    const { envelope } = await ktxJson(['review', 'list'], { cwd });
    const { conflicts } = z
      .object({
        conflicts: z.array(
          z.object({ subject: z.string(), variants: z.array(z.object({ id: z.string() })) }),
        ),
      })
      .parse(envelope.data);
    const hidden = conflicts.find(({ subject }) => subject === secretMetric);
    const ids = hidden?.variants.map(({ id }) => id) ?? [];
    expect(ids).toHaveLength(2);
    expect((await ask(admin, 'review')).text).not.toContain(secretMetric);
    const head = () => execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' });
    const before = head();
    const decisions: readonly (readonly [string, object])[] = [
      ['choose', { subject: secretMetric, version: ids[0], seen: ids }],
      ['edit', { subject: ids[0], definition: 'count(*)', seen: ids }],
      ['defer', { subject: 'orders.secret_margin', seen: ids }],
      ['accept', { ids: ['field:warehouse.orders.cost_secret'], seen: ids }],
      ['reject', { ids: ['dataset:warehouse.shops'], seen: ids }],
      ['undo', { subjects: [secretMetric], seen: ids }],
    ];
    for (const [verb, body] of decisions) {
      const answer = await post(admin, `review/${verb}`, body);
      expect([verb, envelopeOf(answer).error?.code]).toEqual([verb, 'question_unknown']);
    }
    expect(head()).toBe(before);
  });
});

test.for([[], ['--role', 'us']])(
  'over MCP a token is told no more of what waits than on the page: %j',
  async (flags) => {
    const own = await createToken(cwd, `max${flags.length}`, [...flags, '--scope', 'read']);
    await using client = await connect(team.mcp, own);
    const { text } = await client.call('review_status', {});
    expect(text).toContain(revenue);
    expect(/rule_secret|secret_margin|cost_secret|"gives"/.exec(text)?.[0]).toBeUndefined();
  },
);

describe('a definition of one’s own', () => {
  test('is not computed from what is hidden, however it is written', async () => {
    const { data } = envelopeOf(await ask(us, 'review'));
    const conflictsSchema = z.object({
      conflicts: z.array(z.object({ variants: z.array(z.object({ id: z.string() })) })),
    });
    const [conflict] = conflictsSchema.parse(data).conflicts;
    const seen = conflict?.variants.map(({ id }) => id) ?? [];
    const edit = (definition: string) =>
      post(us, 'review/edit', { subject: revenue, definition, seen });
    const file = join(cwd, 'semantic-layer/warehouse/orders.yaml');
    const before = readFileSync(file, 'utf8');
    // The values of the region, under a name that nobody but the file knows.
    const renamed = before.replace('{name: region,', '{name: place, hidden: true, expr: region,');
    writeFileSync(file, renamed);
    expect(envelopeOf(await edit('count(distinct region)')).error?.code).toBe(
      'definition_unusable',
    );
    writeFileSync(file, before);
    const formulas = [
      'sum(cost_secret)',
      'sum(orders.cost_secret)',
      'sum("orders" . "COST_SECRET")',
      String.raw`{agg: sum, of: "cost\x5fsecret"}`,
      'secret_margin * 1',
      '{ratio: [orders.secret_margin, orders.count]}',
      'sum(amount) filter (where cost_secret > 30)',
    ];
    for (const formula of formulas) {
      const answer = await edit(formula);
      expect([formula, envelopeOf(answer).error?.code]).toEqual([formula, 'definition_unusable']);
    }
    const messageOf = async (definition: string) =>
      String(envelopeOf(await edit(definition)).error?.message);
    const refused = await messageOf('sum(orders.cost_secret)');
    expect(refused.replace('cost_secret', 'nothing')).toBe(await messageOf('sum(orders.nothing)'));
    expect((await post(us, 'query', cities)).text).not.toContain('cost_secret');
  });
});

describe('the scopes of a token', () => {
  test.for(['query', 'review/choose', 'review/accept', 'review/undo'])(
    'that may only read refuse %s',
    async (path) => {
      const seen = ['ffff'];
      const body =
        path === 'query'
          ? cities
          : { subject: revenue, version: 'ffff', ids: seen, subjects: seen, seen };
      const given = Object.fromEntries(
        Object.entries(body).filter(([key]) => teamRoutes[`/api/${path}`] && isInput(path, key)),
      );
      const answer = await post(reader, path, given);
      expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'scope_missing']);
    },
  );

  test('are said to the page, which offers no decisions then', async () => {
    expect(envelopeOf(await ask(reader, 'about')).data).toMatchObject({
      read_only: true,
      login: { name: 'rob', role: 'us', scopes: ['read'] },
    });
    expect(envelopeOf(await ask(us, 'about')).data).toMatchObject({ read_only: false });
  });
});

function isInput(path: string, key: string): boolean {
  const keys: Readonly<Record<string, readonly string[]>> = {
    query: ['metrics', 'dimensions'],
    'review/choose': ['subject', 'version', 'seen'],
    'review/accept': ['ids', 'seen'],
    'review/undo': ['subjects', 'seen'],
  };
  return keys[path]?.includes(key) === true;
}

test('a decision is a commit signed with the name of the token, and stands in the audit', async () => {
  const { data } = envelopeOf(await ask(us, 'review'));
  const { conflicts } = z
    .object({ conflicts: z.array(z.object({ variants: z.array(z.object({ id: z.string() })) })) })
    .parse(data);
  const seen = conflicts[0]?.variants.map(({ id }) => id) ?? [];
  const input = { subject: revenue, kind: 'metric', version: seen[1], seen };
  const answer = await post(us, 'review/choose', input);
  expect([answer.status, envelopeOf(answer).ok]).toEqual([200, true]);
  const subject = execFileSync('git', ['log', '-1', '--format=%s'], { cwd, encoding: 'utf8' });
  expect(subject.trim()).toBe(`ktx: decide ${revenue}`);
  const pins = execFileSync('git', ['show', 'HEAD:pins.yaml'], { cwd, encoding: 'utf8' });
  expect(pins).toContain('by: uma');
  const again = await post(us, 'review/choose', input);
  expect([again.status, envelopeOf(again).error?.code]).toEqual([409, 'question_changed']);
  const { stdout } = await ktx(['audit', 'list', '--person', 'uma', '--json'], { cwd });
  expect(stdout).toContain('page review/choose');
  expect(stdout).toContain('page query');
  expect((await ktx(['audit', 'verify'], { cwd })).code).toBe(0);
});
