import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireStatistics } from '../../src/sql/dialect.ts';
import type { Cell, TableSchema, Warehouse } from '../../src/warehouse/warehouse.ts';
import {
  everyEngine,
  generous,
  isThere,
  makeDatabase,
  never,
  type TestDatabase,
  type TestEngine,
} from '../support/warehouses.ts';

const odd = 'o"dd ☃ näme';

/** The same in every dialect here; quoted names that need it. */
const script = `
  CREATE TABLE parent (a INTEGER NOT NULL, b INTEGER NOT NULL, label VARCHAR(20) UNIQUE, state VARCHAR(10) CHECK (state IN ('open', 'it''s')), PRIMARY KEY (b, a));
  CREATE TABLE child (id INTEGER PRIMARY KEY, pb INTEGER, pa INTEGER, born DATE, seen TIMESTAMP, price DECIMAL(10, 2), done BOOLEAN, FOREIGN KEY (pb, pa) REFERENCES parent (b, a));
  CREATE TABLE "${odd.replaceAll('"', '""')}" ("se lect" INTEGER, "quo""te" VARCHAR);
  CREATE TABLE many (n INTEGER);
  CREATE VIEW seen_children AS SELECT id, seen FROM child;
  INSERT INTO parent VALUES (1, 10, 'x', 'open'), (2, 20, 'y', 'it''s');
  INSERT INTO child VALUES (1, 10, 1, '2024-02-29', '2024-02-29 10:00:00', 12.50, true), (2, NULL, NULL, NULL, NULL, NULL, false);
  INSERT INTO "${odd.replaceAll('"', '""')}" VALUES (1, 'it''s ☃😀');
  INSERT INTO many VALUES (1), (2), (3), (4), (5);
`;
/** ClickHouse has no keys but the one that sorts the rows, and enum types in place of checks. */
const withoutKeys = script
  .replace(
    /CREATE TABLE parent .*;/,
    "CREATE TABLE parent (a INTEGER NOT NULL, b INTEGER NOT NULL, label VARCHAR(20), state Enum8('open' = 1, 'it''s' = 2)) PRIMARY KEY (b, a);",
  )
  .replace(/, FOREIGN KEY .*?\(b, a\)/, '')
  .replace('id INTEGER PRIMARY KEY', 'id INTEGER NOT NULL');
/** What some engines do not have; the others are asked for it. */
type Trait =
  | 'keys'
  | 'unique keys'
  /** Checks or enum types that declare the values of a column. */
  | 'declared values'
  | 'two columns of one name'
  /** Tells every login whether a table changed. */
  | 'marks';

interface EngineTraits {
  /** The schema of the tables; undefined: the default one of the connection. */
  readonly schema?: string;
  /** Never ends by itself within any limit here. */
  readonly endless: string;
  readonly lacks: readonly Trait[];
  /** True if the login of the tests cannot write. */
  readonly isReadOnly?: true;
}

/** All that the suite knows of an engine. */
const traits: Readonly<Record<TestEngine, EngineTraits>> = {
  duckdb: {
    schema: 'main',
    endless:
      'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE (a.range * b.range) % 7 = 3',
    lacks: [],
    isReadOnly: true,
  },
  sqlite: {
    schema: 'main',
    endless:
      'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c',
    lacks: [],
    isReadOnly: true,
  },
  postgres: {
    schema: 'public',
    endless: 'SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b',
    lacks: [],
  },
  mysql: { endless: productOf('abcdefghijklmn'), lacks: [] },
  clickhouse: {
    endless: 'SELECT sum(sipHash64(number)) FROM numbers(100000000000000)',
    lacks: ['keys', 'unique keys', 'two columns of one name'],
  },
  redshift: {
    schema: 'public',
    endless: productOf('abcdefghijklmn'),
    lacks: ['declared values', 'marks'],
  },
  // It lets no role in that could write.
  snowflake: {
    endless: productOf('abcdefghijklmnopqrst'),
    lacks: ['declared values'],
    isReadOnly: true,
  },
  bigquery: {
    schema: 'main',
    endless: productOf('abcdefghijklmnopqrst'),
    lacks: ['unique keys', 'declared values', 'two columns of one name'],
    isReadOnly: true,
  },
  trino: {
    schema: 'main',
    endless: productOf('abcdefghijklmnopqrst'),
    lacks: ['keys', 'unique keys', 'declared values', 'marks'],
  },
  databricks: {
    schema: 'main',
    endless: productOf('abcdefghijklmnopqrst'),
    lacks: ['unique keys', 'declared values', 'marks'],
  },
  sqlserver: {
    schema: 'main',
    endless: productOf('abcdefghijklmnopqrst'),
    lacks: ['marks'],
  },
};

/** A product of as many tables as there are letters. */
function productOf(letters: string): string {
  return `SELECT sum(${letters.split('').join('.n * ')}.n) FROM ${letters.replaceAll(/./g, ', many $&').slice(2)}`;
}

describe.each(everyEngine)('a warehouse on %s', (engine) => {
  describe.skipIf(!isThere(engine))('', () => contract(engine));
});

/** Throws where vitest, which does not check types, meets an engine that is not in the list. */
function traitsOf(engine: TestEngine): EngineTraits {
  const found: EngineTraits | undefined = traits[engine];
  if (found !== undefined) return found;
  throw new Error(`Say in \`traits\` of test/contract/warehouse.test.ts what ${engine} lacks.`);
}

function contract(engine: TestEngine): void {
  let database: TestDatabase;
  let warehouse: Warehouse;
  const { schema: schemaOfTables, endless, lacks, isReadOnly = false } = traitsOf(engine);
  const has = (trait: Trait): boolean => !lacks.includes(trait);
  const hasKeys = has('keys');
  /** Snowflake keeps names without quotes in upper case. */
  const kept = (name: string): string =>
    engine === 'snowflake' && /^[a-z_]\w*$/.test(name) ? name.toUpperCase() : name;
  /** On MySQL and ClickHouse a database is a schema. */
  const ownSchema = (): string => schemaOfTables ?? warehouse.dialect.defaultSchema;

  beforeAll(async () => {
    database = await makeDatabase(engine, engine === 'clickhouse' ? withoutKeys : script);
    warehouse = await database.open();
  });
  afterAll(async () => {
    await warehouse?.close();
    await database?.remove();
  });

  const query = (sql: string) => warehouse.query(sql, generous, never);
  const tableNamed = async (name: string): Promise<TableSchema> => {
    const found = (await warehouse.introspect({}, never)).tables.find(
      ({ table }) => table === kept(name),
    );
    if (found === undefined) throw new Error(`no table ${name}`);
    return found;
  };

  test('lists every table, sorted, with its kind and schema', async () => {
    const { tables } = await warehouse.introspect({}, never);
    const expected = [
      ['child', 'table'],
      ['many', 'table'],
      [odd, 'table'],
      ['parent', 'table'],
      ['seen_children', 'view'],
    ].map(([name = '', kind = '']) => [kept(name), kind]);
    expect(tables.map(({ table, kind }) => [table, kind])).toEqual(
      expected.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    );
    expect(new Set(tables.map(({ schema }) => schema))).toEqual(new Set([ownSchema()]));
  });

  test('sends as many statements for thirty tables as for five', async () => {
    const many = await makeDatabase(
      engine,
      Array.from(
        { length: 30 },
        (_, index) =>
          `CREATE TABLE t${index} (a INTEGER NOT NULL${hasKeys ? ' PRIMARY KEY' : ''});`,
      ).join('\n'),
    );
    const open = await many.open();
    try {
      const [few, more] = [await warehouse.introspect({}, never), await open.introspect({}, never)];
      expect(more.tables).toHaveLength(30);
      expect(more.queries).toBeLessThanOrEqual(few.queries);
      expect(few.queries).toBeLessThanOrEqual(5);
    } finally {
      await open.close();
      await many.remove();
    }
  });

  test('reads ordered keys, foreign keys, unique keys, nullability and declared values', async () => {
    const [parent, child] = [await tableNamed('parent'), await tableNamed('child')];
    const all = (names: readonly string[]) => names.map(kept);
    expect(parent.primaryKey).toEqual(hasKeys ? all(['b', 'a']) : undefined);
    expect(parent.uniqueKeys).toEqual(has('unique keys') ? [all(['label'])] : []);
    const declared = has('declared values') ? ['open', "it's"] : undefined;
    expect(parent.columns.find(({ name }) => name === kept('state'))?.values).toEqual(declared);
    expect(parent.columns.map(({ name, nullable }) => [name, nullable])).toEqual([
      [kept('a'), false],
      [kept('b'), false],
      [kept('label'), true],
      [kept('state'), true],
    ]);
    const to = { table: { schema: ownSchema(), table: kept('parent') }, columns: all(['b', 'a']) };
    expect(child.foreignKeys).toEqual(hasKeys ? [{ columns: all(['pb', 'pa']), to }] : []);
    expect(child.primaryKey).toEqual(hasKeys ? all(['id']) : undefined);
  });

  test('gives columns the types of the semantic layer', async () => {
    const { columns } = await tableNamed('child');
    expect(Object.fromEntries(columns.map(({ name, type }) => [name.toLowerCase(), type]))).toEqual(
      {
        id: 'integer',
        pb: 'integer',
        pa: 'integer',
        born: 'date',
        seen: 'datetime',
        price: 'decimal',
        done: 'boolean',
      },
    );
  });

  test('leaves out what is not in scope', async () => {
    expect((await warehouse.introspect({ schemas: ['nowhere'] }, never)).tables).toEqual([]);
  });

  test('returns cells as the contract says', async () => {
    const { rows, columns, truncated, queryId } = await query(
      'SELECT id, born, seen, price, done FROM child ORDER BY id',
    );
    expect(rows).toEqual([
      [1, '2024-02-29', '2024-02-29 10:00:00', 12.5, true],
      [2, null, null, null, false],
    ]);
    const names = ['id', 'born', 'seen', 'price', 'done'];
    expect(columns.map(({ name }) => name)).toEqual(names.map(kept));
    expect(truncated).toBe(false);
    expect(queryId).toMatch(/^q_/);
  });

  test('keeps integers exact beyond a double', async () => {
    const rows: readonly (readonly Cell[])[] = (
      await query('SELECT 9007199254740991, 9007199254740993, -9007199254740993')
    ).rows;
    expect(rows).toEqual([[9007199254740991, '9007199254740993', '-9007199254740993']]);
  });

  test.skipIf(!has('two columns of one name'))(
    'keeps two columns with the same name apart',
    async () => {
      const { columns, rows } = await query('SELECT 1 AS x, 2 AS x');
      expect([columns.map(({ name }) => name), rows]).toEqual([[kept('x'), kept('x')], [[1, 2]]]);
    },
  );

  test('reads tables and columns with any name', async () => {
    const quote = (name: string) => warehouse.dialect.quote(name);
    const { rows } = await query(
      `SELECT ${quote('se lect')}, ${quote('quo"te')} FROM ${quote(odd)}`,
    );
    expect(rows).toEqual([[1, "it's ☃😀"]]);
  });

  test('stops at the row limit and says so', async () => {
    const limited = (maxRows: number) =>
      warehouse.query('SELECT n FROM many ORDER BY n', { ...generous, maxRows }, never);
    expect(await limited(3)).toMatchObject({ rows: [[1], [2], [3]], truncated: true });
    expect(await limited(5)).toMatchObject({ rows: [[1], [2], [3], [4], [5]], truncated: false });
    expect(await limited(0)).toMatchObject({ rows: [], truncated: true });
  });

  test('answers an empty result with its columns', async () => {
    expect(await query('SELECT n FROM many WHERE n > 100')).toMatchObject({
      rows: [],
      columns: [{ name: kept('n'), type: 'integer' }],
      truncated: false,
    });
  });

  test('cancels at the time limit, and goes on answering', async () => {
    await expect(
      warehouse.query(endless, { maxRows: 1, timeoutMs: 300 }, never),
    ).rejects.toMatchObject({
      code: 'query_timeout',
      retryable: true,
    });
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  });

  test('cancels when its caller does, and goes on answering', async () => {
    const abort = new AbortController();
    const running = warehouse.query(endless, generous, abort.signal);
    setTimeout(() => abort.abort(), 200);
    await expect(running).rejects.toMatchObject({ code: 'query_cancelled', exitCode: 130 });
    await expect(warehouse.query('SELECT 1', generous, abort.signal)).rejects.toMatchObject({
      code: 'query_cancelled',
    });
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  });

  test('cancels one query and leaves another alone', async () => {
    const abort = new AbortController();
    const long = warehouse.query(endless, { maxRows: 1, timeoutMs: 1500 }, never);
    const other = warehouse
      .query('SELECT count(*) FROM many', generous, abort.signal)
      .catch((error: unknown) => error);
    setTimeout(() => abort.abort(), 100);
    await expect(long).rejects.toMatchObject({ code: 'query_timeout' });
    expect(await other).toSatisfy(
      (answer) =>
        'rows' in (answer as object) || (answer as { code: string }).code === 'query_cancelled',
    );
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  });

  test('answers several queries at once', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) => query(`SELECT ${n}, count(*) FROM many`)),
    );
    expect(answers.map(({ rows }) => rows)).toEqual([1, 2, 3, 4, 5, 6].map((n) => [[n, 5]]));
  });

  test('explains what the engine refuses, and goes on answering', async () => {
    await expect(query('SELECT nothing_like_it FROM many')).rejects.toMatchObject({
      code: 'missing_object',
      message: expect.stringContaining(kept('nothing_like_it')),
    });
    await expect(query('SELECT sum(n) FROM many GROUP BY sum(n)')).rejects.toMatchObject({
      code: 'query_failed',
    });
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  });

  test('computes the statistics of its dialect through the gate', async () => {
    const { dialect } = warehouse;
    const statistics = requireStatistics(dialect);
    const parts = [
      statistics.sketch(statistics.text('n', 'integer'), 3, dialect.quote(kept('many'))),
      statistics.jsonList(statistics.text('n', 'integer'), 5),
      dialect.percentile?.('n', 0.5) ?? '3',
      `sum(n) ${dialect.division} count(*)`,
    ];
    const [row] = (await query(`SELECT ${parts.join(', ')} FROM many`)).rows;
    const sketch = JSON.parse(String(row?.[0])) as string[];
    expect(sketch).toEqual(sketch.toSorted());
    expect(new Set(sketch).size).toBe(3);
    for (const hash of sketch) expect(hash).toMatch(/^[0-9a-f]{12}$/);
    expect(JSON.parse(String(row?.[1]))).toHaveLength(5);
    expect(row?.slice(2)).toEqual([3, 3]);
    const month = dialect.truncate('month', 'seen', { type: 'datetime', weekStart: 'monday' });
    expect((await query(`SELECT ${month} FROM child WHERE id = 1`)).rows).toEqual([['2024-02-01']]);
    const sampled = statistics.sample?.(warehouse.dialect.quote(kept('many')), 0.5) ?? 'many';
    expect((await query(`SELECT count(*) FROM ${sampled}`)).rows).toHaveLength(1);
  });

  test.skipIf(!has('marks'))('gives each table a mark that changes with its rows', async () => {
    const { marker } = await tableNamed('many');
    expect(marker).toEqual(expect.any(String));
    expect((await tableNamed('many')).marker).toBe(marker);
    expect((await tableNamed('seen_children')).marker).toBeUndefined();
  });

  test('opens an empty database', async () => {
    const empty = await makeDatabase(engine, 'CREATE TABLE x (a INTEGER); DROP TABLE x;');
    const open = await empty.open();
    try {
      expect((await open.introspect({}, never)).tables).toEqual([]);
      await expect(open.query('SELECT * FROM x', generous, never)).rejects.toMatchObject({
        code: 'missing_object',
        details: { rule: 'table' },
      });
    } finally {
      await open.close();
      await empty.remove();
    }
  });

  test('says what its login may write', async () => {
    const report = await warehouse.privileges();
    expect(report.readOnly).toBe(isReadOnly);
    expect(report.findings.length).toBeGreaterThan(0);
  });
}
