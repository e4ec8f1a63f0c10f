import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { run } from '../store/git-project.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { inTurn, say, use } from '../support/model-script.ts';
import { everyEngine, isThere, makeDatabase, type TestDatabase } from '../support/warehouses.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const values = (count: number, row: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `(${row(at)})`).join(', ');
/** The same in every dialect here. Half of the orders are of one region. */
const script = `
  CREATE TABLE customers (id INTEGER, name VARCHAR(20), region VARCHAR(20));
  CREATE TABLE orders (id INTEGER, customer_id INTEGER, amount INTEGER);
  INSERT INTO customers VALUES ${values(40, (at) => `${at * 3 + 11}, 'Name ${at}', '${at % 2 === 0 ? 'North' : 'South'}'`)};
  INSERT INTO orders VALUES ${values(240, (at) => `${at + 7000}, ${(at % 40) * 3 + 11}, ${at}`)};
`;

/** How a person gives a connection to the command line. */
function flagsOf(config: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const name = `--${key.replaceAll('_', '-')}`;
    if (value === true) return [name];
    if (Array.isArray(value)) return value.flatMap((each) => [name.replace(/s$/, ''), `${each}`]);
    if (value === undefined) return [];
    return [name, typeof value === 'string' ? value : JSON.stringify(value)];
  });
}

/** The variables of the references in a connection, with its one secret. */
function secretsOf({ config, secret }: TestDatabase): Record<string, string> {
  const names = Object.values(config).flatMap((value) =>
    typeof value === 'string' && value.startsWith('env:') ? [value.slice(4)] : [],
  );
  return Object.fromEntries(names.map((name) => [name, secret]));
}

let endpoint: ModelEndpoint;
beforeAll(async () => {
  endpoint = await openModelEndpoint();
});
afterAll(() => endpoint?.close());

describe.each(everyEngine)('the commands on %s', (engine) => {
  describe.skipIf(!isThere(engine))('', () => {
    let database: TestDatabase;
    let cwd: string;
    let env: Record<string, string>;
    beforeAll(async () => {
      database = await makeDatabase(engine, script);
      cwd = realpathSync(mkdtempSync(join(tmpdir(), `ktx-commands-`)));
      env = { ...secretsOf(database), ASK_KEY: 'made-up' };
      writeFileSync(join(cwd, 'ktx.yaml'), 'connections: {}\n');
      run(cwd, 'init', '-q', '-b', 'main');
      run(cwd, 'add', '.');
      run(cwd, 'commit', '-qm', 'start');
    });
    afterAll(async () => {
      await database?.remove();
      rmSync(cwd, { recursive: true, force: true });
    });

    const succeed = async (...argv: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await ktx(argv, { cwd, env });
      expect(code, stdout + stderr).toBe(0);
      return stdout + stderr;
    };
    const dataOf = async (...argv: readonly string[]): Promise<Record<string, unknown>> => {
      const { envelope } = await ktxJson(argv, { cwd, env });
      expect(envelope.error).toBeUndefined();
      return envelope.data as Record<string, unknown>;
    };
    const byRegion = [
      ['North', 120],
      ['South', 120],
    ];

    test('connection add and test', async () => {
      const added = await succeed('connection', 'add', 'wh', ...flagsOf(database.config));
      expect(added).toContain('2 tables');
      const file = readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
      if (database.secret.length > 8) expect(file).not.toContain(database.secret);
      expect(await succeed('connection', 'test', 'wh')).toMatch(/login/i);
    });

    test('scan finds the join, and ingest writes the datasets', async () => {
      const { links } = (await dataOf('scan')) as { links: readonly { status: string }[] };
      expect(links.filter(({ status }) => status === 'accepted')).toMatchObject([
        { from: { columns: [expect.stringMatching(/^customer_id$/i)] } },
      ]);
      await succeed('ingest');
      expect(await succeed('sl', 'list')).toMatch(/orders/i);
    });

    test('sql reads, and writes nothing', async () => {
      const { rows } = await dataOf('sql', 'SELECT sum(amount) AS total FROM orders');
      expect(rows).toEqual([[28_680]]);
      for (const sql of ['DELETE FROM orders', 'DROP TABLE orders']) {
        const { envelope } = await ktxJson(['sql', sql], { cwd, env });
        expect(envelope.error).toMatchObject({ code: 'gate_refused' });
      }
    });

    test('sl query joins', async () => {
      const metrics = ['-m', 'orders.count', '-d', 'orders.customers.region'];
      expect((await dataOf('sl', 'query', ...metrics))['rows']).toEqual(byRegion);
    });

    test('an MCP client asks', async () => {
      const client = new Client({ name: 'test', version: '1' });
      const whole = { ...process.env, ...env } as Record<string, string>;
      const args = [main, 'mcp', 'serve', '--project-dir', cwd];
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args, env: whole }),
      );
      try {
        const answer = await client.callTool({
          name: 'query_metrics',
          arguments: { metrics: ['orders.count'], dimensions: ['orders.customers.region'] },
        });
        expect([answer.isError ?? false, JSON.stringify(answer.content)]).toEqual([
          false,
          expect.stringMatching(/North.*120/),
        ]);
      } finally {
        await client.close();
      }
    });

    test('ask answers from rows', async () => {
      const model = `claude-ask-${engine}`;
      const provider = `{backend: anthropic, anthropic: {api_key: env:ASK_KEY, base_url: "${endpoint.url}/v1"}}`;
      const file = readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
      writeFileSync(
        join(cwd, 'ktx.yaml'),
        `${file}llm:\n  provider: ${provider}\n  models: {default: ${model}}\n`,
      );
      endpoint.start(
        inTurn(
          use('query_metrics', { metrics: ['orders.count'] }),
          say('There are 240 orders [q1].'),
        ),
        model,
      );
      const { text, grounding } = await dataOf('ask', '--require-grounded', 'How many orders?');
      expect([text, grounding]).toEqual([
        'There are 240 orders [q1].',
        [expect.objectContaining({ text: '240', status: 'cell' })],
      ]);
    });
  });
});
