import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { approve } from '../support/approve.ts';

const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;

/** What `ktx scan --json` says, as far as it matters here. */
const scanned = z.object({
  data: z.object({
    profiled: z.number(),
    reused: z.number(),
    left: z.number(),
    queries: z.number(),
    links: z.array(z.unknown()),
  }),
});
export type Scanned = z.infer<typeof scanned>['data'];

/** What the server itself counted. */
interface Statement {
  readonly query: string;
  readonly calls: number;
}

export type ScanKilling = Awaited<ReturnType<typeof openScanKilling>>;

/**
 * A database of `tables` small tables, each of which refers to another, a project on it, and what
 * the server counts of the statements of its reader.
 */
export async function openScanKilling(server: string, tables: number) {
  const database = `killed_${tables}_${Date.now().toString(36)}`;
  await withClient(server, (client) => client.query(`CREATE DATABASE ${database}`));
  const url = Object.assign(new URL(server), { pathname: `/${database}` });
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query('CREATE EXTENSION pg_stat_statements');
  for (let start = 0; start < tables; start += 100)
    await client.query(tableScript(start, Math.min(tables, start + 100)));
  // What the server counts of the rows is its change marker, and comes a moment later where nobody
  // asks for it.
  await client.query('SELECT pg_stat_force_next_flush()');
  const role = `${database}_reader`;
  await client.query(
    `CREATE ROLE ${role} LOGIN PASSWORD 'r'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`,
  );
  const reader = Object.assign(new URL(url.href), { username: role, password: 'r' });
  const dir = mkdtempSync(join(tmpdir(), 'ktx-killed-scan-'));
  writeFileSync(
    join(dir, 'ktx.yaml'),
    'connections:\n  many: {driver: postgres, url: env:READER}\n',
  );
  await approve(dir);
  const spawned = (...flags: readonly string[]) =>
    spawn(process.execPath, [main, 'scan', '--json', ...flags], {
      cwd: dir,
      env: { ...process.env, READER: reader.href },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const statements = async (): Promise<Statement[]> => {
    const sql = `SELECT query, sum(calls)::int AS calls FROM pg_stat_statements(true) WHERE dbid = (SELECT oid FROM pg_database WHERE datname = '${database}')
      AND userid = '${role}'::regrole GROUP BY 1`;
    return (await client.query<Statement>(sql)).rows;
  };
  /** How often each table was profiled. */
  const profiles = async (): Promise<ReadonlyMap<string, number>> => {
    const own = (await statements()).flatMap(({ query, calls }) => {
      const table = /^SELECT count\(\*\) AS n, .* FROM \S*?(entity_\d+)"?$/s.exec(query)?.[1];
      return table === undefined ? [] : [{ table, calls }];
    });
    return new Map(
      [...Map.groupBy(own, ({ table }) => table)].map(([table, all]) => [
        table,
        all.reduce((sum, { calls }) => sum + calls, 0),
      ]),
    );
  };
  return {
    tables,
    dir,
    /** Of a table that was changed. */
    change: (table: string) => client.query(`ALTER TABLE ${table} ADD COLUMN colour text`),
    statements,
    profiles,
    async scan(...flags: readonly string[]): Promise<Scanned> {
      const child = spawned(...flags);
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await once(child, 'close');
      return scanned.parse(JSON.parse(text)).data;
    },
    /**
     * Kills a scan when that share of the tables is stored, or the next time after that; says which
     * tables were finished.
     */
    async kill(
      share: number,
    ): Promise<{ readonly finished: readonly string[]; readonly isKilled: boolean }> {
      const child = spawned();
      child.stdout.resume();
      const ended = once(child, 'exit');
      const state = (): readonly string[] => finishedIn(dir);
      while (state().length < share * tables && child.exitCode === null) await sleep(2);
      child.kill('SIGKILL');
      return { isKilled: (await ended)[1] === 'SIGKILL', finished: state() };
    },
    async close(): Promise<void> {
      await client.end();
      await withClient(server, (one) => one.query(`DROP DATABASE ${database} WITH (FORCE)`));
      await withClient(server, (one) => one.query(`DROP ROLE ${role}`));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The tables whose profiles are stored. */
function finishedIn(dir: string): readonly string[] {
  try {
    const state = new DatabaseSync(join(dir, '.ktx/state.db'), { readOnly: true });
    const rows = state.prepare("SELECT key FROM scan_memo WHERE key LIKE '[%'").all();
    state.close();
    return rows.map(({ key }) => (JSON.parse(String(key)) as string[]).at(-1) ?? '');
  } catch {
    return [];
  }
}

/** Keys and names that tell who refers to whom; nothing is declared. */
function tableScript(start: number, end: number): string {
  const one = (n: number): string =>
    `CREATE TABLE entity_${n} AS SELECT i AS entity_${n}_id, i * 7 % 30 + 1 AS entity_${Math.floor(n / 2)}_ref, 'value ' || i AS label
       FROM generate_series(1, 40) i;`;
  return Array.from({ length: end - start }, (_, index) => one(start + index)).join('\n');
}

async function withClient(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await work(client).finally(() => client.end());
}

/**
 * Kills scans at these shares of the tables, lets the last one end, changes a table; every number
 * but 0 in `repeated` is a fault.
 */
export async function killedAndResumed(killing: ScanKilling, shares: readonly number[]) {
  const finished: {
    readonly tables: readonly string[];
    readonly before: ReadonlyMap<string, number>;
  }[] = [];
  for (const share of shares) {
    const { isKilled, finished: tables } = await killing.kill(share);
    if (isKilled) finished.push({ tables, before: await killing.profiles() });
  }
  const resumed = await killing.scan();
  const after = await killing.profiles();
  const repeated = finished.flatMap(({ tables, before }) =>
    tables.filter((table) => after.get(table) !== before.get(table)),
  );
  const profiles = [...after.values()].reduce((sum, calls) => sum + calls, 0);
  const again = await killing.scan();
  const known = await callsOf(killing);
  await killing.change('entity_7');
  const changed = await killing.scan();
  const sent = [...(await callsOf(killing))]
    .filter(([query, calls]) => calls !== known.get(query))
    .map(([query]) => query);
  // Of the statements over the tables; those over the system's catalogs are the introspection.
  const touching = sent.filter((query) => /entity_\d/.test(query));
  const strangers = touching.filter((query) => !/\bentity_7\b/.test(query));
  return {
    kills: finished.map(({ tables }) => tables.length),
    resumed,
    repeated,
    profiles,
    again,
    changed,
    touching,
    strangers,
  };
}

async function callsOf(killing: ScanKilling): Promise<ReadonlyMap<string, number>> {
  return new Map((await killing.statements()).map(({ query, calls }) => [query, calls]));
}
