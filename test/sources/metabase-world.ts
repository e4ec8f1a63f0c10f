import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { datasetNames } from '../../src/context/catalog/dataset-names.ts';
import { type Claim, type ClaimKind, subjects } from '../../src/context/claims/claim.ts';
import { compileDatasets } from '../../src/context/compile/compile.ts';
import type { Json } from '../../src/lib/json.ts';
import {
  cardItem,
  databaseItem,
  segmentItem,
  settingsItem,
  tableItem,
} from '../../src/sources/metabase/items.ts';
import { metabase } from '../../src/sources/metabase/source.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { compile, load } from '../semantic/shop.ts';
import { duckdbFile, summary } from './dbt-fixture.ts';

type StoredCard = Parameters<typeof cardItem>[0];
type StoredTable = Parameters<typeof tableItem>[0];

/** A database for the cards of a Metabase, and what ktx makes of each card. */
export async function openMetabaseWorld(
  statements: string,
  schemas: readonly [string, ...string[]],
) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-cards-')));
  await duckdbFile(dir, statements);
  const signal = AbortSignal.timeout(60_000);
  const warehouse = await openWarehouse(
    {
      connection: 'shop',
      config: { driver: 'duckdb', path: 'warehouse.duckdb' },
      projectDir: dir,
      cacheDir: join(dir, 'cache'),
      secrets: () => '',
    },
    signal,
  );
  const { tables } = await warehouse.introspect({ schemas: [...schemas] }, signal);
  const catalog: Catalog = {
    connection: 'shop',
    dialect: 'duckdb',
    firstSchema: schemas[0],
    tables,
  };
  const rows = async (sql: string) => {
    const result = await warehouse.query(sql, { maxRows: 10_000, timeoutMs: 20_000 }, signal);
    return result.rows.map((row) => JSON.stringify(row.map(plainValue))).sort();
  };
  const close = async () => {
    await warehouse.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { catalog, rows, close };
}

/** Numbers and times as engines and statements differ in writing them. */
function plainValue(value: unknown): unknown {
  const text = String(value);
  if (value === null || /^\d{4}-/.test(text)) return value === null ? null : text.slice(0, 10);
  return Number.isNaN(Number(text)) ? text : Number(text);
}

export interface MetabaseExport {
  readonly database: number;
  readonly tables: readonly StoredTable[];
  readonly cards: readonly StoredCard[];
  readonly segments?: readonly Parameters<typeof segmentItem>[0][];
  /** Like `monday`. */
  readonly startOfWeek?: string;
}

/** What code reads in these cards, and a model of the claims to ask. */
export async function readCards(
  { database, tables, cards, segments = [], startOfWeek }: MetabaseExport,
  catalog: Catalog,
) {
  const items = [
    ...(startOfWeek === undefined ? [] : [settingsItem(startOfWeek)]),
    ...segments.map(segmentItem),
    databaseItem({ id: database, name: 'db', engine: 'duckdb' }),
    ...tables.map((table) => tableItem(table, database)),
    ...cards.map((card) => cardItem(card, 'Finance')),
  ];
  const extractions = metabase.extract(items, {
    connection: 'bi',
    config: {
      driver: 'metabase',
      base_url: 'https://bi.example.com',
      api_key: 'env:KEY',
      databases: { [database]: 'shop' },
    },
    catalogs: new Map([['shop', catalog]]),
  });
  const { claims, leftOut, problems } = summary(extractions);
  const compiled = compileDatasets([...structureClaims(catalog), ...claims]);
  const { model, diagnostics } = await load(
    Object.fromEntries(compiled.artifacts.map((one) => [one.dataset, stringify(one)])),
  );
  const faults = diagnostics.filter(({ severity }) => severity === 'error');
  const queries = new Map(
    cards.flatMap(({ id, name, type }) => {
      const subject = subjects.term(`${name.trim()} (Metabase ${type} ${id})`);
      const text = claims.find(
        (claim) => claim.subject === subject && claim.kind === 'description',
      );
      const [, json] = /^Query: (.*)$/m.exec(typeof text?.body === 'string' ? text.body : '') ?? [];
      return json === undefined ? [] : [[id, json] as const];
    }),
  );
  const sqlOf = (id: number) => compile(model, JSON.parse(queries.get(id) ?? '') as object).sql;
  const datasets = new Map(
    claims.flatMap(({ kind, subject, body, evidence: [evidence] }) => {
      const [, id] = /cards\/(\d+)\.jsonl$/.exec(evidence?.item ?? '') ?? [];
      const sql = kind === 'dataset' ? (body as { readonly sql: string }).sql : undefined;
      return sql === undefined ? [] : [[Number(id), { subject, sql }] as const];
    }),
  );
  return { claims, leftOut, problems, faults, queries, datasets, sqlOf, compiled };
}

/** What a scan says about each table, as far as queries need it. */
function structureClaims(catalog: Catalog): Claim[] {
  const names = datasetNames(catalog);
  const claim = (subject: string, kind: ClaimKind, body: Json): Claim => ({
    subject,
    kind,
    body,
    evidence: [{ connection: 'shop', origin: 'catalog', extractor: 'structure@1', confidence: 1 }],
  });
  return catalog.tables.flatMap((table) => {
    const dataset = names.dataset(table);
    const source = { schema: table.schema, table: table.table };
    return [
      claim(subjects.dataset('shop', dataset), 'dataset', { source, kind: 'table' }),
      claim(subjects.metric('shop', dataset, 'count'), 'metric', { agg: 'count' }),
      ...table.columns.flatMap(({ name, type }, position) => {
        const subject = subjects.field('shop', dataset, names.field(table, name));
        return [
          claim(subject, 'field', { column: name, position }),
          ...(type === 'unknown' ? [] : [claim(subject, 'type', type)]),
        ];
      }),
    ];
  });
}
