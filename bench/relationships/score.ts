import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scan, type ScanOptions, type ScanResult } from '../../src/scan/scan.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import type { DatabaseTruth } from './generated-database.ts';

export interface Score {
  readonly name: string;
  readonly tables: number;
  readonly hits: number;
  readonly accepted: number;
  readonly links: number;
  readonly keyHits: number;
  readonly keys: number;
  readonly queries: number;
  readonly bound: number;
  /** (probability, was true) of every link that was judged. */
  readonly judged: readonly (readonly [number, boolean])[];
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
  readonly wrongKeys: readonly string[];
}

export function fixtureDatabase(name: string, dir: string): { path: string; truth: DatabaseTruth } {
  const base = join(import.meta.dirname, '../../test/fixtures/relationships', name);
  const path = join(dir, `${name}.sqlite`);
  writeFileSync(path, gunzipSync(readFileSync(join(base, 'data.sqlite.gz'))));
  return {
    path,
    truth: JSON.parse(readFileSync(join(base, 'truth.json'), 'utf8')) as DatabaseTruth,
  };
}

/** Copies the tables and rows without keys, indexes or constraints. */
export function withoutDeclarations(path: string): string {
  const copy = path.replace('.sqlite', '-bare.sqlite');
  if (existsSync(copy)) return copy;
  const db = new DatabaseSync(copy);
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  db.exec(`ATTACH '${path}' AS source`);
  const tables = db
    .prepare(
      "SELECT name FROM source.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    )
    .all();
  for (const { name } of tables) {
    const columns = db
      .prepare('SELECT name, type FROM pragma_table_info(?, ?)')
      .all(String(name), 'source');
    db.exec(
      `CREATE TABLE main.${quote(String(name))} (${columns.map((column) => `${quote(String(column['name']))} ${String(column['type'])}`).join(', ')})`,
    );
    db.exec(`INSERT INTO main.${quote(String(name))} SELECT * FROM source.${quote(String(name))}`);
  }
  db.close();
  return copy;
}

export async function withWarehouse<T>(
  path: string,
  run: (warehouse: Warehouse) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-bench-'));
  const spec = {
    connection: 'bench',
    config: { driver: 'sqlite' as const, path },
    projectDir: dir,
    cacheDir: dir,
    secrets: () => '',
  };
  const warehouse = await openWarehouse(spec, new AbortController().signal);
  try {
    return await run(warehouse);
  } finally {
    await warehouse.close();
    rmSync(dir, { recursive: true });
  }
}

export async function scanFile(
  path: string,
  ignoreDeclared: ScanOptions['ignoreDeclared'],
  queryLogs: readonly string[] = [],
): Promise<ScanResult> {
  const db = new DatabaseSync(':memory:');
  try {
    return await withWarehouse(path, (warehouse) =>
      scan({
        warehouse,
        scope: {},
        state: { db },
        config: scanConfigSchema.parse({ query_logs: queryLogs }),
        ignoreDeclared,
        signal: new AbortController().signal,
      }),
    );
  } finally {
    db.close();
  }
}

const constant = 12;

export function scoreOf(name: string, result: ScanResult, truth: DatabaseTruth): Score {
  type End = readonly [string, readonly string[]];
  // The pairs of columns of one link may stand in any order.
  const arrow = ([from, fromColumns]: End, [to, toColumns]: End): string => {
    const pairs = fromColumns.map((column, index) => [column, toColumns[index] ?? ''] as const);
    const sorted = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
    const ends = [0, 1].map((end) => sorted.map((pair) => pair[end]).join());
    return `${from}(${ends[0]}) -> ${to}(${ends[1]})`;
  };
  const wanted = new Set(
    truth.links.map((link) => arrow([link.from, link.from_columns], [link.to, link.to_columns])),
  );
  const open = new Set(
    truth.open?.map((link) => arrow([link.from, link.from_columns], [link.to, link.to_columns])),
  );
  // The truth may know the joins of tables only. A table that is joined to a view is wrong all the
  // same.
  const views = new Set(
    result.catalog.tables.filter(({ kind }) => kind === 'view').map(({ table }) => table),
  );
  const known = new Set([...truth.links, ...(truth.open ?? [])].map(({ from }) => from));
  const ofTables = result.links.filter(
    ({ from: { table } }) => !views.has(table.table) || known.has(table.table),
  );
  const every = ofTables.map((link) => ({
    ...link,
    text: arrow([link.from.table.table, link.from.columns], [link.to.table.table, link.to.columns]),
  }));
  const all = every.filter(({ text }) => !open.has(text));
  const accepted = all.filter(({ status }) => status === 'accepted');
  const keys = new Map(
    result.primaryKeys
      .filter(({ status }) => status === 'accepted')
      .map(({ table, columns }) => [table.table, [...columns].sort().join()]),
  );
  const wrongKeys = Object.entries(truth.primary_keys).filter(
    ([table, columns]) => keys.get(table) !== [...columns].sort().join(),
  );
  const parents = new Set(
    all
      .filter(({ origin }) => origin === 'inferred')
      .map(({ to }) => `${to.table.table}(${to.columns.join()})`),
  );
  const note = (text: string): string => {
    const link = all.find((candidate) => candidate.text === text);
    return link
      ? `${text} ${link.status} ${link.probability.toFixed(2)} ${JSON.stringify(link.evidence)}`
      : text;
  };
  return {
    name,
    tables: Object.keys(truth.primary_keys).length,
    hits: accepted.filter(({ text }) => wanted.has(text)).length,
    accepted: accepted.length,
    links: wanted.size,
    keyHits: Object.keys(truth.primary_keys).length - wrongKeys.length,
    keys: Object.keys(truth.primary_keys).length,
    queries: result.queries,
    bound: Object.keys(truth.primary_keys).length + views.size + parents.size + constant,
    judged: all
      .filter(({ origin }) => origin === 'inferred')
      .map(({ text, probability }) => [probability, wanted.has(text)] as const),
    missed: [...wanted].filter((text) => !accepted.some((link) => link.text === text)).map(note),
    wrong: accepted.filter(({ text }) => !wanted.has(text)).map(({ text }) => note(text)),
    wrongKeys: wrongKeys.map(
      ([table, columns]) => `${table}: ${columns.join()} not ${keys.get(table) ?? '-'}`,
    ),
  };
}

export const f1 = ({
  hits,
  accepted,
  links,
}: {
  hits: number;
  accepted: number;
  links: number;
}): number => (2 * hits) / Math.max(1, accepted + links);

export function total(scores: readonly Score[]): {
  hits: number;
  accepted: number;
  links: number;
  keyHits: number;
  keys: number;
  queries: number;
  bound: number;
} {
  const sum = (read: (score: Score) => number): number =>
    scores.reduce((all, score) => all + read(score), 0);
  return {
    hits: sum((s) => s.hits),
    accepted: sum((s) => s.accepted),
    links: sum((s) => s.links),
    keyHits: sum((s) => s.keyHits),
    keys: sum((s) => s.keys),
    queries: sum((s) => s.queries),
    bound: sum((s) => s.bound),
  };
}

/** Expected calibration error over ten bins of probability. */
export function calibrationError(judged: readonly (readonly [number, boolean])[]): number {
  const bins = Map.groupBy(judged, ([probability]) => Math.min(9, Math.floor(probability * 10)));
  return [...bins.values()].reduce((error, bin) => {
    const mean = bin.reduce((sum, [probability]) => sum + probability, 0) / bin.length;
    const share = bin.filter(([, isTrue]) => isTrue).length / bin.length;
    return error + (bin.length / Math.max(1, judged.length)) * Math.abs(mean - share);
  }, 0);
}
