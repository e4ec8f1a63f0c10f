import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scanReport } from '../../src/scan/report.ts';
import { scan, type ScanOptions, type ScanResult } from '../../src/scan/scan.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { engines, isThere, makeDatabase, never, type EngineName } from '../support/warehouses.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

interface Bench {
  readonly run: (options?: Partial<ScanOptions>) => Promise<ScanResult>;
}

async function bench(engine: EngineName, script: string): Promise<Bench> {
  const database = await makeDatabase(engine, script);
  const warehouse = await database.open();
  const db = new DatabaseSync(':memory:');
  opened.push(
    () => database.remove(),
    () => db.close(),
    () => warehouse.close(),
  );
  const defaults = {
    warehouse,
    scope: {},
    state: { db },
    config: scanConfigSchema.parse({}),
    signal: never,
  };
  return { run: (options = {}) => scan({ ...defaults, ...options }) };
}

const arrows = (result: ScanResult, status = 'accepted'): string[] =>
  scanReport(result)
    .links.filter((link) => link.status === status)
    .map(
      ({ from, to }) =>
        `${from.table}(${from.columns.join()}) -> ${to.table}(${to.columns.join()})`,
    );
const keysOf = (result: ScanResult): string[] =>
  scanReport(result)
    .primary_keys.filter(({ status }) => status === 'accepted')
    .map(({ table, columns }) => `${table}(${columns.join()})`);

/** `count` rows, of which each value is SQL over its 0-based position `{n}`. */
function insert(
  table: string,
  count: number,
  values: (n: number) => readonly (string | number | null)[],
): string {
  const literal = (value: string | number | null): string =>
    value === null
      ? 'NULL'
      : typeof value === 'number'
        ? String(value)
        : `'${value.replaceAll("'", "''")}'`;
  const rows = Array.from({ length: count }, (_, n) => `(${values(n).map(literal).join(', ')})`);
  return rows.length === 0 ? '' : `INSERT INTO ${table} VALUES ${rows.join(', ')};`;
}

/**
 * Dense ids everywhere, two roles, a self-reference, a bridge, orphans, an empty child, a
 * polymorphic reference.
 */
const shop = [
  'CREATE TABLE region (region_id integer, name varchar(20));',
  insert('region', 4, (n) => [n + 1, `Region ${n}`]),
  'CREATE TABLE customer (customer_id integer, full_name varchar(40), region_id integer, referred_by integer);',
  insert('customer', 60, (n) => [
    n + 1,
    `Person ${n} Smith`,
    (n % 4) + 1,
    n < 20 ? null : (n % 20) + 1,
  ]),
  'CREATE TABLE product (product_id integer, title varchar(40), price decimal(10,2));',
  insert('product', 30, (n) => [n + 1, `Thing number ${n}`, n * 1.5]),
  'CREATE TABLE orders (order_id integer, buyer_customer_id integer, recipient_customer_id integer, quantity integer, note varchar(80));',
  insert('orders', 200, (n) => [
    n + 1,
    ((n * 7) % 60) + 1,
    ((n * 11) % 62) + 1,
    (n % 5) + 1,
    `bring it to the green door number ${n}`,
  ]),
  'CREATE TABLE order_product (order_id integer, product_id integer);',
  insert('order_product', 200, (n) => [n + 1, ((n * 13) % 30) + 1]),
  insert('order_product', 100, (n) => [n + 1, ((n * 13 + 5) % 30) + 1]),
  'CREATE TABLE refund (refund_id integer, order_id integer, amount decimal(10,2));',
  'CREATE TABLE attachment (attachment_id integer, owner_type varchar(20), owner_id integer);',
  insert('attachment', 50, (n) => [n + 1, n % 2 === 0 ? 'product' : 'orders', (n % 30) + 1]),
].join('\n');

describe.each(engines)('a scan of %s that declares nothing', (engine) => {
  const onEngine = test.skipIf(!isThere(engine));

  onEngine(
    'finds keys, roles, the bridge, guesses for the empty child, and leaves the polymorphic reference alone',
    async () => {
      const { run } = await bench(engine, shop);
      const result = await run();
      expect(keysOf(result)).toEqual([
        'attachment(attachment_id)',
        'customer(customer_id)',
        'order_product(order_id,product_id)',
        'orders(order_id)',
        'product(product_id)',
        'region(region_id)',
      ]);
      expect(arrows(result)).toEqual([
        'customer(referred_by) -> customer(customer_id)',
        'customer(region_id) -> region(region_id)',
        'order_product(order_id) -> orders(order_id)',
        'order_product(product_id) -> product(product_id)',
        'orders(buyer_customer_id) -> customer(customer_id)',
        'orders(recipient_customer_id) -> customer(customer_id)',
      ]);
      // Names alone are a guess: a person decides.
      const guessed = result.links.find(({ from }) => from.table.table === 'refund');
      expect([guessed?.status, guessed?.evidence['why']]).toEqual([
        'review',
        'no rows to judge by',
      ]);
      const roles = result.links.flatMap(({ role, status }) =>
        role !== undefined && status === 'accepted' ? [role] : [],
      );
      expect(roles.sort()).toEqual(['buyer', 'recipient']);
      const orphans = result.links.find(({ from }) => from.columns[0] === 'recipient_customer_id')
        ?.evidence['orphans'];
      expect(orphans).toBeGreaterThan(0);
      expect(arrows(result, 'review')).toEqual([
        'attachment(owner_id) -> orders(order_id)',
        'attachment(owner_id) -> product(product_id)',
        // Without rows, a guess waits for a person.
        'refund(order_id) -> orders(order_id)',
      ]);
      expect(scanReport(result).notes).toEqual([
        'attachment(owner_id) is not joined, polymorphic: owner_type tells which table is meant (orders, product)',
      ]);
    },
  );

  onEngine(
    'sends no more statements than tables, parents and a constant, and none for profiles the second time',
    async () => {
      const { run } = await bench(engine, shop);
      const first = await run();
      const introspection = first.queries - first.profiled;
      expect(first).toMatchObject({ profiled: 7, reused: 0 });
      expect(introspection).toBeLessThanOrEqual(
        new Set(first.links.map(({ to }) => to.table.table)).size + 12,
      );
      const second = await run();
      expect(second).toMatchObject({ profiled: 0, reused: 7 });
      expect(second.queries).toBeLessThan(first.queries - 7);
      expect(scanReport(second).links).toEqual(scanReport(first).links);
    },
  );

  onEngine(
    'survives empty tables, single rows, odd names and columns that cannot be compared',
    async () => {
      const blob = { duckdb: 'BLOB', sqlite: 'BLOB', postgres: 'bytea', mysql: 'BLOB' }[engine];
      const json = { duckdb: 'JSON', sqlite: 'JSON', postgres: 'json', mysql: 'VARBINARY(20)' }[
        engine
      ];
      // MySQL takes no name beyond the 16 bits of Unicode.
      const sign = engine === 'mysql' ? '☃' : '🎉';
      const { run } = await bench(
        engine,
        [
          'CREATE TABLE empty_one (id integer, label varchar(10));',
          'CREATE TABLE single (id integer, label varchar(10));',
          "INSERT INTO single VALUES (1, 'a');",
          `CREATE TABLE "it's a ""table"" ${sign}" ("the ${sign}" integer, "a ""quoted"" column" varchar(20), data ${json}, bytes ${blob}, "select" varchar(5));`,
          `INSERT INTO "it's a ""table"" ${sign}" VALUES (1, 'x', '{"a":1}', NULL, 'a'), (2, 'y', NULL, NULL, 'b'), (3, 'z', '{}', NULL, 'b');`,
        ].join('\n'),
      );
      const { tables } = await run();
      const odd = tables.find(({ table }) => table.table.includes(sign));
      expect(odd?.profile?.note).toBeUndefined();
      expect(odd?.profile?.columns.map(({ name, distinct }) => [name, distinct])).toEqual([
        [`the ${sign}`, 3],
        ['a "quoted" column', 3],
        ['data', 0],
        ['bytes', 0],
        ['select', 2],
      ]);
      expect(odd?.profile?.columns.find(({ name }) => name === 'data')?.note).toContain(
        'no statistics',
      );
      expect(
        tables.filter(({ profile }) => profile?.rows === 0).map(({ table }) => table.table),
      ).toEqual(['empty_one']);
    },
  );

  onEngine('profiles a thousand columns in few statements', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `c${index}`);
    const { run } = await bench(
      engine,
      `CREATE TABLE wide (${names.map((name) => `${name} integer`).join(', ')}); INSERT INTO wide (c0, c999) VALUES (1, 7), (2, 7);`,
    );
    const result = await run();
    const columns = result.tables[0]?.profile?.columns ?? [];
    expect(columns).toHaveLength(1000);
    expect(columns.at(-1)).toMatchObject({ name: 'c999', distinct: 1, min: 7 });
    expect(result.queries).toBeLessThanOrEqual(20);
  });
});

describe('a composite key that every combination of its columns fills', () => {
  const pairs = (table: string, third: string): string =>
    `CREATE TABLE ${table}; ${insert(table.slice(0, table.indexOf('(')), 240, (n) => [(n % 20) + 101, Math.floor(n / 20) + 1, `${third} ${n} of them all`])}`;

  test('is referred to by the table that is named after it and repeats its columns, not by one that shares bare ids', async () => {
    const { run } = await bench(
      'sqlite',
      [
        pairs('settlement(member_no integer, period integer, remark text)', 'settled'),
        'CREATE TABLE settlement_line (member_no integer, period integer, line_no integer, amount decimal(8,2));',
        insert('settlement_line', 480, (n) => [
          (n % 20) + 101,
          (Math.floor(n / 20) % 12) + 1,
          Math.floor(n / 240) + 1,
          n,
        ]),
        pairs('account(tenant_id integer, id integer, remark text)', 'account'),
        pairs('account_type(tenant_id integer, id integer, remark text)', 'type'),
      ].join('\n'),
    );
    const composite = arrows(await run()).filter((arrow) => arrow.includes(','));
    expect(composite).toEqual([
      'settlement_line(member_no,period) -> settlement(member_no,period)',
    ]);
  });
});

describe('a column that fits the keys of many tables equally well', () => {
  test('is accepted for none of them, and measured against none', async () => {
    const tables = Array.from({ length: 30 }, (_, table) => {
      const name = `thing_${String.fromCharCode(97 + (table % 26))}${table}`;
      return `CREATE TABLE ${name} (id integer, black integer, red_id integer); ${insert(name, 20, (n) => [n + 1, ((n * 3) % 20) + 1, ((n * 7) % 20) + 1])}`;
    });
    const { run } = await bench('sqlite', tables.join('\n'));
    const result = await run();
    expect(arrows(result)).toEqual([]);
    expect(keysOf(result)).toHaveLength(30);
    expect(result.queries).toBeLessThanOrEqual(30 + 12);
  });

  test('is not compared with each of them where tables are many', async () => {
    const name = (table: number): string => `t${table}_${'abcdefghij'[table % 10]}`;
    const tables = Array.from(
      { length: 150 },
      (_, table) =>
        `CREATE TABLE ${name(table)} (id integer, size integer, other_id integer); INSERT INTO ${name(table)} VALUES (1, 1, 1);`,
    );
    const { run } = await bench('sqlite', tables.join('\n'));
    const result = await run();
    expect(arrows(result)).toEqual([]);
    expect(result.links.length).toBeLessThan(150 * 4);
    expect(result.queries).toBeLessThanOrEqual(150 + 12);
  });
});

describe('values', () => {
  test('hash alike, whatever the type that holds them, in every engine', async () => {
    const sketches = await Promise.all(
      engines.filter(isThere).map(async (engine) => {
        const { run } = await bench(
          engine,
          "CREATE TABLE t (i integer, d decimal(12,2), s varchar(20), day date); INSERT INTO t VALUES (7, 7, '7', '2024-02-29'), (-12, -12, '-12', '1999-12-31');",
        );
        return (await run()).tables[0]?.profile?.columns.map(({ sketch }) => sketch) ?? [];
      }),
    );
    expect(sketches.length).toBeGreaterThanOrEqual(3);
    for (const [integer, decimal, string, day] of sketches) {
      expect(integer).toHaveLength(2 * 12);
      expect(decimal).toBe(integer);
      expect(string).toBe(integer);
      expect(day).toHaveLength(2 * 12);
    }
  });

  test('that identify people are stored masked', async () => {
    const { run } = await bench(
      'sqlite',
      `CREATE TABLE p (id integer, mail text, phone text, city text); ${insert('p', 20, (n) => [n, `ada${n % 2}@example.com`, `+44 20 7946 000${n % 3}`, n % 2 === 0 ? 'Bath' : 'York'])}`,
    );
    const profile = (await run()).tables[0]?.profile;
    const shown = JSON.stringify(profile?.columns.map(({ top }) => top));
    expect(shown).toContain('Bath');
    expect(shown).not.toContain('ada');
    expect(shown).not.toContain('7946');
  });
});

describe('a table above sample_rows', () => {
  test.each(['duckdb', 'postgres'] as const)('is sampled in %s, and says so', async (engine) => {
    const script = [
      'CREATE TABLE parent AS SELECT i AS parent_id FROM generate_series(1, 40000) AS s (i);',
      'CREATE TABLE child AS SELECT i AS child_id, i % 40000 + 1 AS parent_id FROM generate_series(1, 600000) AS s (i);',
    ];
    const { run } = await bench(
      engine,
      [...script, engine === 'postgres' ? 'ANALYZE;' : ''].join('\n'),
    );
    const result = await run({ config: scanConfigSchema.parse({ sample_rows: 200_000 }) });
    const child = result.tables.find(({ table }) => table.table === 'child')?.profile;
    expect(child?.fraction).toBeCloseTo(1 / 3, 1);
    expect(child?.rows).toBeLessThan(500_000);
    expect(child?.rows).toBeGreaterThan(50_000);
    expect(
      result.primaryKeys.find(({ table }) => table.table === 'child')?.evidence,
    ).toHaveProperty('duplicates_below');
    expect(arrows(result)).toEqual(['child(parent_id) -> parent(parent_id)']);
  });
});

describe('what is declared', () => {
  const declared =
    'CREATE TABLE a (k integer PRIMARY KEY, x integer); CREATE TABLE b (n integer PRIMARY KEY, odd integer REFERENCES a (k)); INSERT INTO a VALUES (1, 1), (2, 1); INSERT INTO b VALUES (1, 2), (2, NULL);';

  test.each(engines.filter(isThere))(
    'is accepted as declared in %s, and can be ignored',
    async (engine) => {
      const { run } = await bench(engine, declared);
      const known = await run();
      expect(arrows(known)).toEqual(['b(odd) -> a(k)']);
      expect(known.primaryKeys.map(({ origin }) => origin)).toEqual(['declared', 'declared']);
      const hidden = await run({ ignoreDeclared: 'all' });
      expect(
        [...hidden.links, ...hidden.primaryKeys].filter(({ origin }) => origin === 'declared'),
      ).toEqual([]);
    },
  );
});

describe('a changed table', () => {
  test('is profiled again, alone, where the engine tells which it was', async () => {
    const url = await createDatabase('scan');
    await runPostgres(url, shop);
    const context = {
      connection: 'wh',
      config: { driver: 'postgres' as const, url: 'env:URL' },
      projectDir: '.',
      cacheDir: '.',
    };
    const warehouse = await openWarehouse({ ...context, secrets: () => url }, never);
    const db = new DatabaseSync(':memory:');
    opened.push(
      () => db.close(),
      () => warehouse.close(),
    );
    const run = () =>
      scan({
        warehouse,
        scope: {},
        state: { db },
        config: scanConfigSchema.parse({}),
        signal: never,
      });
    await run();
    await runPostgres(url, 'ALTER TABLE product ADD COLUMN colour text');
    const result = await run();
    expect(result).toMatchObject({ profiled: 1, reused: 6 });
    expect(result.tables.find(({ outcome }) => outcome === 'profiled')?.table.table).toBe(
      'product',
    );
  });

  test('without a change marker is profiled again after max_age', async () => {
    const { run } = await bench('duckdb', 'CREATE VIEW v AS SELECT 1 AS id');
    expect(await run()).toMatchObject({ profiled: 1 });
    expect(await run()).toMatchObject({ profiled: 0, reused: 1 });
    expect(await run({ config: scanConfigSchema.parse({ max_age: '0m' }) })).toMatchObject({
      profiled: 1,
      reused: 0,
    });
  });
});
