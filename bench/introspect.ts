import { spawnSync } from 'node:child_process';
import { Client } from 'pg';
import startServer from '../test/support/postgres-server.ts';
import { openWarehouse } from '../src/warehouse/open.ts';

/**
 * `npm run bench:introspect [-- <tables> …]` times how long ktx takes to read the structure of a
 * Postgres with many tables, and compares it with bare queries for the same facts. Tables have 22
 * columns, keys and comments; the role has only SELECT.
 */
/** With `--once <url>`: the peak of the memory of a process that only reads the structure. */
const [flag, onceUrl] = process.argv.slice(2);
const sizes = process.argv.slice(2).map(Number);
const rounds = 7;
const raw = [
  `SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 2, 3`,
  `SELECT a.attrelid, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atttypid, d.description
    FROM pg_attribute a LEFT JOIN pg_description d ON d.objoid = a.attrelid AND d.objsubid = a.attnum AND d.classoid = 'pg_class'::regclass JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE a.attnum > 0 AND NOT a.attisdropped
    AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1, 2`,
  `SELECT conrelid, contype, conname, conkey, confrelid, confkey, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid <> 0 ORDER BY 1, 2`,
];

const spec = {
  connection: 'bench',
  config: { driver: 'postgres' as const, url: 'env:URL' },
  projectDir: '/',
  cacheDir: '/',
};
const { signal } = new AbortController();
if (flag === '--once') {
  const warehouse = await openWarehouse({ ...spec, secrets: () => onceUrl ?? '' }, signal);
  const { tables } = await warehouse.introspect({}, signal);
  await warehouse.close();
  console.log(`${tables.length} ${Math.round(process.resourceUsage().maxRSS / 1024)}`);
  process.exit();
}

let url = '';
const stop = await startServer({
  provide: (_: string, value: unknown) => void (url = String(value)),
} as Parameters<typeof startServer>[0]);
try {
  for (const tables of sizes.length === 0 ? [100, 1000, 10_000] : sizes) await measured(tables);
} finally {
  await stop();
}

async function measured(tables: number): Promise<void> {
  const database = `bench_${tables}`;
  await run(url, async (client) => void (await client.query(`CREATE DATABASE ${database}`)));
  const own = Object.assign(new URL(url), { pathname: database });
  await run(own.href, (client) => make(client, tables));
  const reader = Object.assign(new URL(own.href), { username: 'bench_reader', password: 'r' });
  const warehouse = await openWarehouse({ ...spec, secrets: () => reader.href }, signal);
  const bareClient = new Client({ connectionString: reader.href });
  await bareClient.connect();
  const times: { ktx: number; bare: number }[] = [];
  let found = { tables: 0, columns: 0, keys: 0, queries: 0 };
  // Alternates, so that both run under the same load.
  for (let round = 0; round < rounds; round += 1) {
    const bare = await timed(async () => {
      for (const sql of raw) await bareClient.query(sql);
    });
    const ktx = await timed(async () => {
      const { tables: all, queries } = await warehouse.introspect({}, signal);
      const count = (read: (table: (typeof all)[number]) => number): number =>
        all.reduce((sum, table) => sum + read(table), 0);
      found = {
        tables: all.length,
        columns: count((table) => table.columns.length),
        keys: count((table) => table.foreignKeys.length + 1),
        queries,
      };
    });
    times.push({ ktx, bare });
  }
  await warehouse.close();
  await bareClient.end();
  const [ktx, bare] = [
    median(times.map((time) => time.ktx)),
    median(times.map((time) => time.bare)),
  ];
  const child = spawnSync(process.execPath, [import.meta.filename, '--once', reader.href]);
  const [, memory] = String(child.stdout).trim().split(' ');
  console.log(
    `${found.tables} tables, ${found.columns} columns, ${found.keys} keys: ${Math.round(ktx)} ms, bare queries ${Math.round(bare)} ms, ratio ${(ktx / bare).toFixed(2)}; ${found.queries} statements, ${memory} MiB`,
  );
}

/** In batches: one transaction for all tables would need more locks than the server has. */
async function make(client: Client, tables: number): Promise<void> {
  await client.query("CREATE ROLE bench_reader LOGIN PASSWORD 'r'").catch(() => undefined);
  const column = (index: number): string =>
    `column_${index} ${['integer', 'varchar(40)', 'numeric(12,2)', 'timestamp', 'boolean'][index % 5]}`;
  const columns = Array.from({ length: 20 }, (_, index) => column(index)).join(', ');
  for (let start = 0; start < tables; start += 200) {
    const statements = Array.from({ length: Math.min(200, tables - start) }, (_, index) => {
      const [table, parent] = [start + index, Math.floor((start + index) / 2)];
      return `CREATE TABLE table_${table} (id integer PRIMARY KEY, parent_id integer REFERENCES table_${parent} (id), ${columns}); COMMENT ON TABLE table_${table} IS 'Table ${table}';`;
    });
    await client.query(statements.join('\n'));
  }
  await client.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO bench_reader');
}

async function run(address: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: address });
  await client.connect();
  await work(client).finally(() => client.end());
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
