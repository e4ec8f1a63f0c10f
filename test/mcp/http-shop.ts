import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { openServerAudit } from '../../src/mcp/audit/shared-audit-log.ts';
import { serveHttp } from '../../src/mcp/http/serve-http.ts';
import { openServeState } from '../../src/mcp/shared/serve-state.ts';
import { openProject } from '../../src/project/open/open.ts';
import { approve } from '../support/approve.ts';

const tables = `
  CREATE TABLE orders (id INTEGER PRIMARY KEY, region VARCHAR(20), amount INTEGER);
  INSERT INTO orders VALUES (1, 'canary-dach', 10), (2, 'canary-dach', 20), (3, 'canary-us', 500);
  CREATE TABLE cities (id INTEGER PRIMARY KEY, name VARCHAR(20));
  INSERT INTO cities VALUES ${Array.from({ length: 900 }, (_, id) => `(${id}, 'town ${id}')`).join(', ')};`;

const datasets = {
  orders: `dataset: orders
source: orders
primary_key: [id]
access:
  - {role: dach, where: "region = 'canary-dach'"}
  - {role: us, where: "region = 'canary-us'"}
  - {role: admin, where: 'true'}
fields:
  - {name: id, type: integer}
  - {name: region, type: string}
  - {name: amount, type: integer}
metrics:
  - {name: revenue, agg: sum, of: amount}
`,
  cities: `dataset: cities
source: cities
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: name, type: string}
metrics:
  - {name: city_count, agg: count}
`,
};

const towns = `dataset: towns
source: cities
primary_key: [id]
fields:
  - {name: id, type: integer}
metrics:
  - {name: city_count, agg: sum, of: id}
`;

/** Adds a second metric of the name `city_count`. */
export function addTowns(dir: string): void {
  writeFileSync(join(dir, 'semantic-layer/shop/towns.yaml'), towns);
}

/** SQL that runs until it is cancelled. */
export const endless =
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';

/** A project whose orders have rows for the roles dach, us and admin. */
export async function makeRegions(serve: object = {}): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-http-'));
  const db = new DatabaseSync(join(dir, 'shop.sqlite'));
  db.exec(tables);
  db.close();
  writeFileSync(
    join(dir, 'ktx.yaml'),
    `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\nserve: ${JSON.stringify(serve)}\n`,
  );
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  for (const [name, text] of Object.entries(datasets))
    writeFileSync(join(dir, `semantic-layer/shop/${name}.yaml`), text);
  await approve(dir);
  return dir;
}

type Overrides = Partial<Omit<Parameters<typeof serveHttp>[1], 'signal' | 'onListening'>>;

/** Serves a project in this process, on a free port. `stop` returns when the server has ended. */
export async function serveRegions(overrides: Overrides = {}, serve: object = {}, known?: string) {
  const dir = known ?? (await makeRegions(serve));
  const project = await openProject(dir);
  const state = await openServeState(project, process.env);
  const { tokens } = state;
  const audit = await openServerAudit(dir, process.env, state);
  const interrupt = new AbortController();
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  const served = serveHttp(project, {
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    state,
    audit,
    limits: { requestsPerMinute: 10_000, concurrentQueries: 4 },
    graceMs: 100,
    ...overrides,
    signal: interrupt.signal,
    onListening: ({ url }) => resolve(url),
  });
  const url = await Promise.race([listening, served.then(() => '')]);
  const stop = async (): Promise<void> => {
    interrupt.abort();
    await served;
  };
  return {
    dir,
    url,
    tokens,
    stop,
    interrupt: () => interrupt.abort(),
    async [Symbol.asyncDispose](): Promise<void> {
      await stop();
      await state[Symbol.asyncDispose]();
      audit[Symbol.dispose]();
      await project.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface CallOptions {
  readonly signal?: AbortSignal;
  /** Called every second, so that a test knows that a call runs. */
  readonly onprogress?: () => void;
}

/** An SDK client with a token, of the current revision of the protocol or of those of 2025. */
export async function connect(
  url: string,
  token = '',
  how: 'legacy' | 'auto' | { readonly mode?: 'legacy'; readonly capabilities: object } = 'auto',
) {
  const { mode = 'auto', capabilities = {} } =
    typeof how === 'string' ? { mode: how, capabilities: {} } : how;
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode } },
  );
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return {
    client,
    async call(name: string, args: Record<string, unknown>, options?: CallOptions) {
      const result = await client.callTool({ name, arguments: args }, options);
      const [block] = result.content;
      const text = block?.type === 'text' ? block.text : '';
      return { text, isError: result.isError === true, structured: result.structuredContent };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
