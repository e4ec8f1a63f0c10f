import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentSchema } from '../../src/project/agents/agent-schema.ts';
import { jsonSchema } from '../../src/project/open/schemas.ts';
import { ktx } from '../cli/run-cli.ts';
import { openShop, type Shop } from '../mcp/shop.ts';
import { leafKeys } from '../support/config-keys.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { fail, give, type ModelCall, say, type Script, use } from '../support/model-script.ts';
import { type HttpToolServer, openHttpToolServer } from '../support/tool-server.ts';

let endpoint: ModelEndpoint;
let shop: Shop;
let server: HttpToolServer;
const calls: ModelCall[] = [];

beforeAll(async () => {
  endpoint = await openModelEndpoint();
  endpoint.fallback = script;
  server = await openHttpToolServer('works', 'Bearer cal-token');
  shop = await openShop('sqlite');
  mkdirSync(join(shop.dir, 'agents'));
  writeFileSync(join(shop.dir, 'agents/sailor.md'), 'Speak like a sailor.');
  writeFileSync(join(shop.dir, 'agents/answer.json'), JSON.stringify(answerSchema));
  const key = 'api_key: env:KEYS_TEST_KEY';
  process.env['KEYS_TEST_KEY'] = 'made-up';
  writeFileSync(
    join(shop.dir, 'ktx.yaml'),
    `connections:
  shop: {driver: sqlite, path: shop.sqlite}
  other: {driver: sqlite, path: shop.sqlite}
llm:
  provider: {backend: anthropic, anthropic: {${key}, base_url: "${endpoint.url}/v1"}, openai: {${key}, base_url: "${endpoint.url}/v1"}}
  models: {default: model-of-project}
  prices: {model-of-project: {input: 3, output: 15}}
`,
  );
});
afterAll(async () => {
  delete process.env['KEYS_TEST_KEY'];
  await Promise.all([server?.close(), endpoint?.close()]);
  shop?.remove();
});

const answerSchema = {
  type: 'object',
  properties: { total: { type: 'integer' } },
  required: ['total'],
};

/**
 * Two queries, then the calendar, then what came of them; a model that is gone has nothing to say.
 */
const script: Script = (call) => {
  calls.push(call);
  if (call.model === 'model-that-is-gone') return fail('no-model');
  const done = call.messages.filter(({ role }) => role === 'assistant').length;
  const steps = [
    use('run_sql', { connection: 'shop', sql: 'SELECT id FROM orders LIMIT 3' }),
    use('run_sql', { connection: 'shop', sql: 'SELECT count(*) AS n FROM orders' }),
    ...(call.tools.includes('calendar__list_events')
      ? [use('calendar__list_events', { day: '2024-05-01' })]
      : []),
  ];
  const results = call.messages.map(({ text }) => text).join('\n');
  const event = /stand-up; secret .*/.exec(results)?.[0] ?? 'no event';
  return steps[done] ?? (call.wantsObject ? give({ total: 900 }) : say(`900, ${event} [q2].`));
};

const known = new Map<string, string>();

/**
 * Everything that can be seen of an agent that is asked once: what the model got, and what the
 * person.
 */
async function seen(file: string): Promise<string> {
  const told = known.get(file) ?? (await ask(file));
  known.set(file, told);
  return told;
}

async function ask(file: string): Promise<string> {
  writeFileSync(
    join(shop.dir, 'agents/probe.yaml'),
    file.startsWith('name:') ? file : `name: probe\n${file}`,
  );
  const from = calls.length;
  const { code, stdout, stderr } = await ktx(
    ['ask', '--agent', 'probe', '--output-format', 'json', 'How many orders?'],
    { cwd: shop.dir },
  );
  const asked = calls.slice(from).map(({ protocol, model, system, tools, body }) => {
    return { protocol, model, system, tools, thinking: body['thinking'] };
  });
  return JSON.stringify({ code, answer: JSON.parse(stdout), stderr, asked });
}

const stdio = (how: string, rest = ''): string =>
  `mcp_servers: {calendar: {transport: stdio, command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(join(import.meta.dirname, '../support/tool-server.ts'))}, ${how}], tools: [list_events]${rest}}}\npermissions: {mode: acceptAll}`;
const http = (rest = ', headers: {Authorization: Bearer cal-token}', url = server.url): string =>
  `mcp_servers: {calendar: {transport: http, url: "${url}", tools: [list_events]${rest}}}\npermissions: {mode: acceptAll}`;

interface Probe {
  /** The file with the key. */
  readonly set: () => string;
  /** What is seen then… */
  readonly shows: RegExp;
  /**
   * …and not of this file, which differs in the key alone; default: one with nothing but a name.
   */
  readonly unlike?: () => string;
}

const probes: Readonly<Record<string, Probe>> = {
  version: { set: () => 'version: 2', shows: /agent_invalid.*version/ },
  name: { set: () => 'name: someone', shows: /the agent is named someone/ },
  instructions: {
    set: () => 'instructions: Speak like a pirate.',
    shows: /"system":"[^"]*Speak like a pirate\./,
  },
  'instructions.file': {
    set: () => 'instructions: {file: ./sailor.md}',
    shows: /"system":"[^"]*Speak like a sailor\./,
  },
  'model.inherit': {
    set: () => 'model: {inherit: true, name: mine}',
    unlike: () => 'model: {name: mine}',
    shows: /inherit cannot be combined with/,
  },
  'model.backend': {
    set: () => 'model: {backend: openai, name: mine}',
    unlike: () => 'model: {name: mine}',
    shows: /"protocol":"openai"/,
  },
  'model.name': { set: () => 'model: {name: mine}', shows: /"model":"mine"/ },
  'model.auth': { set: () => 'model: {auth: bedrock}', shows: /anthropic takes no auth/ },
  'model.effort': { set: () => 'model: {effort: low}', shows: /"budget_tokens":1024/ },
  'model.fallback': {
    set: () => 'model: {name: model-that-is-gone, fallback: second}',
    unlike: () => 'model: {name: model-that-is-gone}',
    shows: /"model":"second"/,
  },
  'context.connections[]': {
    set: () => 'context: {connections: [other]}',
    shows: /no connection shop|connection_unknown/,
  },
  'context.semantic_layer': {
    set: () => 'context: {semantic_layer: required}',
    shows: /"system":"[^"]*no way around the semantic layer/,
  },
  'tools.allow[]': {
    set: () => 'tools: {allow: [run_sql]}',
    shows: /"tools":\["cannot_answer","run_sql"\]/,
  },
  'tools.deny[]': { set: () => 'tools: {deny: [run_sql]}', shows: /"name":"run_sql","ok":false/ },
  'mcp_servers.*.transport': {
    set: () => http().replace('http, ', 'smoke, '),
    unlike: () => http(),
    shows: /agent_invalid.*transport/,
  },
  'mcp_servers.*.url': {
    set: () => http(undefined, 'no address'),
    unlike: () => http(),
    shows: /its address is not an http/,
  },
  'mcp_servers.*.headers.*': {
    set: () => http(),
    unlike: () => http(', required: false'),
    shows: /stand-up; secret/,
  },
  'mcp_servers.*.command': {
    set: () => stdio('works').replace(process.execPath, '/nowhere/node'),
    unlike: () => stdio('works'),
    shows: /server_failed|\/nowhere\/node/,
  },
  'mcp_servers.*.args[]': {
    set: () => stdio('lies'),
    unlike: () => stdio('works'),
    shows: /900, no event/,
  },
  'mcp_servers.*.env.*': {
    set: () => stdio('works', ', env: {CAL_TOKEN: given}'),
    unlike: () => stdio('works'),
    shows: /secret given/,
  },
  'mcp_servers.*.tools[]': {
    set: () => http().replace('[list_events]', '[list_events, delete_all]'),
    unlike: () => http(),
    shows: /calendar__delete_all/,
  },
  'mcp_servers.*.required': {
    set: () => http(', required: false'),
    unlike: () => http(', required: true'),
    shows: /"code":0/,
  },
  'permissions.mode': {
    set: () => 'permissions: {mode: manual}',
    shows: /"tool":"run_sql","reason":"nobody to ask"/,
  },
  'limits.max_turns': { set: () => 'limits: {max_turns: 1}', shows: /"stop_reason":"max_turns"/ },
  'limits.timeout': { set: () => 'limits: {timeout: 1ms}', shows: /"stop_reason":"timeout"/ },
  'limits.max_budget_usd': {
    set: () => 'limits: {max_budget_usd: 0.0000001}',
    shows: /"stop_reason":"budget"/,
  },
  'limits.max_rows': {
    set: () => 'limits: {max_rows: 2}',
    shows: /"rows":\[\[0\],\[1\]\],"truncated":true/,
  },
  'limits.max_queries': { set: () => 'limits: {max_queries: 1}', shows: /limits\.max_queries/ },
  'response_format.file': {
    set: () => 'response_format: {file: ./answer.json}',
    shows: /"structured(?:_output)?":\{"total":900\}/,
  },
  'response_format.schema.*': {
    set: () => `response_format: {schema: ${JSON.stringify(answerSchema)}}`,
    shows: /"structured(?:_output)?":\{"total":900\}/,
  },
};

test('every key of an agent has a probe, and a probe every key', () => {
  expect(Object.keys(probes).sort()).toEqual(leafKeys(jsonSchema(agentSchema)));
});

test.for(Object.entries(probes))('%s does something', async ([, { set, unlike, shows }]) => {
  expect(await seen(set())).toMatch(shows);
  expect(await seen(unlike?.() ?? '')).not.toMatch(shows);
});
