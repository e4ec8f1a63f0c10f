import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cardSchema, databaseMetadataSchema } from '../../src/sources/metabase/api-schemas.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { openMetabaseWorld, readCards } from './metabase-world.ts';

const schema = `
CREATE TABLE customers (id INTEGER, name VARCHAR, region VARCHAR);
INSERT INTO customers VALUES (1, 'Ada', 'north'), (2, 'Ben', 'south'), (3, 'Cleo', NULL);
CREATE TABLE orders (id INTEGER, customer_id INTEGER, status VARCHAR, amount DECIMAL(9, 2), placed DATE);
INSERT INTO orders VALUES (1, 1, 'paid', 10, '2024-01-05'), (2, 1, 'open', 20.5, '2024-01-31'),
  (3, 2, 'paid', 30, '2024-02-01'), (4, NULL, 'void', NULL, '2024-02-15'), (5, 9, NULL, 7, '2024-03-01'),
  (6, 2, 'paid', 1, '2024-03-02');
`;

const column = (id: number, name: string, more: object = {}) => ({
  id,
  name,
  display_name: name,
  description: null,
  semantic_type: null,
  coercion_strategy: null,
  fk_target_field_id: null,
  ...more,
});
const readTables = (metadata: unknown) =>
  databaseMetadataSchema.parse(metadata).tables.filter((table) => table !== undefined);
const tables = readTables({
  tables: [
    {
      id: 1,
      name: 'orders',
      schema: 'main',
      display_name: 'Orders',
      description: null,
      fields: [
        column(11, 'id', { semantic_type: 'type/PK' }),
        column(12, 'customer_id', { semantic_type: 'type/FK', fk_target_field_id: 21 }),
        column(13, 'status'),
        column(14, 'amount'),
        column(15, 'placed'),
      ],
    },
    {
      id: 2,
      name: 'customers',
      schema: 'main',
      display_name: 'Customers',
      description: null,
      fields: [
        column(21, 'id', { semantic_type: 'type/PK' }),
        column(22, 'name'),
        column(23, 'region'),
      ],
    },
  ],
});

/** A clause as the current generation has it: the options, then the arguments. */
type Clause = readonly [op: string, options: object, ...args: readonly unknown[]];

interface Stage {
  readonly table?: number;
  readonly card?: number;
  readonly aggregation?: readonly Clause[];
  readonly breakout?: readonly Clause[];
  readonly filters?: readonly Clause[];
  readonly joins?: readonly {
    readonly alias: string;
    readonly table: number;
    readonly on: Clause;
    readonly fields?: string;
    readonly strategy?: string;
  }[];
  readonly more?: object;
  readonly order?: readonly Clause[];
}

const field = (id: number | string, options: object = {}): Clause => ['field', options, id];

/** The same clause as the older generation writes it: only fields have options, at the end. */
function legacyClause(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const [op, options, ...args] = value as [string, object, ...unknown[]];
  const rest = args.map(legacyClause);
  if (op === 'field') return [op, ...rest, Object.keys(options).length > 0 ? options : null];
  return [op, ...rest];
}

const generations = {
  'the older generation of MBQL': (stage: Stage): object => {
    const { table, card, aggregation, breakout, filters = [], joins, more, order } = stage;
    const conditions = filters.map(legacyClause);
    const [only] = conditions;
    return {
      database: 1,
      type: 'query',
      query: {
        'source-table': card === undefined ? table : `card__${card}`,
        ...(aggregation && { aggregation: aggregation.map(legacyClause) }),
        ...(breakout && { breakout: breakout.map(legacyClause) }),
        ...(only !== undefined && {
          filter: conditions.length === 1 ? only : ['and', ...conditions],
        }),
        ...(order && { 'order-by': order.map(legacyClause) }),
        ...(joins && {
          joins: joins.map(({ alias, table: target, on, fields = 'none', strategy }) => ({
            alias,
            'source-table': target,
            condition: legacyClause(on),
            fields,
            ...(strategy && { strategy }),
          })),
        }),
        ...more,
      },
    };
  },
  'the current generation of MBQL': (stage: Stage): object => {
    const { table, card, aggregation, breakout, filters, joins, more, order } = stage;
    return {
      'lib/type': 'mbql/query',
      database: 1,
      stages: [
        {
          'lib/type': 'mbql.stage/mbql',
          ...(card === undefined ? { 'source-table': table } : { 'source-card': card }),
          ...(aggregation && { aggregation }),
          ...(breakout && { breakout }),
          ...(filters && { filters }),
          ...(order && { 'order-by': order }),
          ...(joins && {
            joins: joins.map(({ alias, table: target, on, fields = 'none', strategy }) => ({
              'lib/type': 'mbql/join',
              alias,
              stages: [{ 'lib/type': 'mbql.stage/mbql', 'source-table': target }],
              conditions: [on],
              fields,
              ...(strategy && { strategy }),
            })),
          }),
          ...more,
        },
      ],
    };
  },
} as const;

const sum: Clause = ['sum', {}, field(14)];
const count: Clause = ['count', {}];
const month = field(15, { 'temporal-unit': 'month' });
const customer: NonNullable<Stage['joins']>[number] = {
  alias: 'Customers',
  table: 2,
  on: ['=', {}, field(12), field(21, { 'join-alias': 'Customers' })],
  fields: 'all',
};

/** Questions, each with the SQL that a person writes for it. */
const asked: Readonly<Record<string, readonly [Stage, string]>> = {
  'orders by status': [
    { table: 1, aggregation: [count], breakout: [field(13)] },
    'SELECT status, count(*) FROM orders GROUP BY 1',
  ],
  'paid and open by month': [
    {
      table: 1,
      aggregation: [sum, ['avg', {}, field(14)]],
      breakout: [month],
      filters: [['=', {}, field(13), 'paid', 'open']],
    },
    "SELECT date_trunc('month', placed), sum(amount), avg(amount) FROM orders WHERE status IN ('paid', 'open') GROUP BY 1",
  ],
  'buyers that are not void': [
    {
      table: 1,
      aggregation: [
        ['distinct', {}, field(12)],
        ['count', {}, field(14)],
      ],
      filters: [
        ['!=', {}, field(13), 'void'],
        ['>', {}, field(14), 5],
      ],
    },
    "SELECT count(DISTINCT customer_id), count(amount) FROM orders WHERE status IS DISTINCT FROM 'void' AND amount > 5",
  ],
  'range of a quarter': [
    {
      table: 1,
      aggregation: [
        ['min', {}, field(14)],
        ['max', {}, field(14)],
      ],
      breakout: [field(15, { 'temporal-unit': 'quarter' }), field(13)],
      filters: [
        [
          'or',
          {},
          ['is-null', {}, field(13)],
          ['between', {}, field(15), '2024-01-31', '2024-02-28'],
        ],
      ],
    },
    "SELECT date_trunc('quarter', placed), status, min(amount), max(amount) FROM orders WHERE status IS NULL OR placed BETWEEN '2024-01-31' AND '2024-02-28' GROUP BY 1, 2",
  ],
  'most frequent status': [
    {
      table: 1,
      aggregation: [count],
      breakout: [field(13)],
      order: [['desc', {}, ['aggregation', {}, 0]]],
      more: { limit: 1 },
    },
    'SELECT status, count(*) AS n FROM orders GROUP BY 1 ORDER BY n DESC LIMIT 1',
  ],
  'orders by week': [
    { table: 1, aggregation: [count, sum], breakout: [field(15, { 'temporal-unit': 'week' })] },
    "SELECT date_trunc('week', placed), count(*), sum(amount) FROM orders GROUP BY 1",
  ],
  'large ones': [
    {
      table: 1,
      aggregation: [sum],
      breakout: [field(13)],
      filters: [
        ['segment', {}, 4],
        ['not-null', {}, field(12)],
      ],
    },
    "SELECT status, sum(amount) FROM orders WHERE amount > 5 AND (status <> 'void' OR status IS NULL) AND customer_id IS NOT NULL GROUP BY 1",
  ],
  regions: [{ table: 2, breakout: [field(23)] }, 'SELECT DISTINCT region FROM customers'],
};

/** What ktx leaves out, with a part of the reason. */
const unasked: Readonly<Record<string, readonly [Stage, string]>> = {
  'days of the week': [
    { table: 1, aggregation: [count], breakout: [field(15, { 'temporal-unit': 'day-of-week' })] },
    'the period "day-of-week"',
  ],
  'a segment of another table': [
    { table: 2, aggregation: [count], filters: [['segment', {}, 4]] },
    'the segment 4',
  ],
  lately: [
    { table: 1, aggregation: [count], filters: [['time-interval', {}, field(15), -7, 'day']] },
    'time-interval',
  ],
  'by region': [
    {
      table: 1,
      aggregation: [sum],
      breakout: [field(23, { 'join-alias': 'Customers' })],
      joins: [customer],
    },
    'it adds up over joined tables',
  ],
  computed: [
    { table: 1, aggregation: [sum], more: { expressions: { net: ['*', field(14), 2] } } },
    'it has expressions',
  ],
  'all orders': [{ table: 1 }, 'it lists rows and computes nothing'],
  'share of paid': [
    { table: 1, aggregation: [['share', {}, ['=', {}, field(13), 'paid']]] },
    'the aggregation share',
  ],
  'first by amount': [
    {
      table: 1,
      aggregation: [sum],
      breakout: [field(13)],
      order: [['desc', {}, ['aggregation', {}, 0]]],
      more: { limit: 1 },
    },
    'a limit of rows in that order',
  ],
};

let world: Awaited<ReturnType<typeof openMetabaseWorld>>;
beforeAll(async () => {
  await loadAnalyzer();
  world = await openMetabaseWorld(schema, ['main']);
});
afterAll(() => world.close());

const card = (id: number, name: string, more: object) =>
  cardSchema.parse({ id, name, description: null, type: 'question', database_id: 1, ...more });
const native = (query: string) => ({ database: 1, type: 'native', native: { query } });

describe.each(Object.entries(generations))('%s', (_, write) => {
  test('gives the rows of SQL by hand, or is left out with the reason', async () => {
    const numbered = [...Object.entries(asked), ...Object.entries(unasked)];
    const cards = numbered.map(([name, [stage]], index) =>
      card(100 + index, name, { dataset_query: write(stage) }),
    );
    const segments = [
      {
        id: 4,
        name: 'Large ones',
        table_id: 1,
        definition: write({
          table: 1,
          filters: [
            ['>', {}, field(14), 5],
            ['!=', {}, field(13), 'void'],
          ],
        }) as Record<string, unknown>,
      },
    ];
    const read = await readCards(
      { database: 1, tables, cards, segments, startOfWeek: 'monday' },
      world.catalog,
    );
    expect(read.faults).toEqual([]);
    for (const [index, [name, [, sql]]] of Object.entries(asked).entries())
      expect(await world.rows(read.sqlOf(100 + index)), name).toEqual(await world.rows(sql));
    for (const [index, [name, [, reason]]] of Object.entries(unasked).entries()) {
      const id = 100 + Object.keys(asked).length + index;
      expect(read.queries.has(id), name).toBe(false);
      const said = read.leftOut.filter((line) => line.includes(`question ${id}, ${name}: `));
      expect(said, name).toEqual([expect.stringContaining(reason)]);
    }
    expect(read.datasets.size).toBe(0);
  });

  test('makes datasets of models and of what other cards read, with the rows of SQL by hand', async () => {
    const columns = [
      { name: 'status', base_type: 'type/Text', display_name: 'Order state' },
      { name: 'Total', base_type: 'type/Decimal', display_name: 'Total' },
    ];
    const cards = [
      card(1, 'Orders with customers', {
        type: 'model',
        dataset_query: write({
          table: 1,
          joins: [customer],
          filters: [['not-null', {}, field(12)]],
        }),
      }),
      card(2, 'Status totals', {
        dataset_query: native('SELECT status, sum(amount) AS "Total" FROM orders GROUP BY 1;'),
        result_metadata: columns,
      }),
      card(3, 'Revenue of regions', {
        dataset_query: write({
          card: 1,
          aggregation: [sum, count],
          breakout: [field('region')],
          filters: [['=', {}, field(13), 'paid']],
        }),
      }),
      card(4, 'Large totals', {
        dataset_query: write({
          card: 2,
          aggregation: [['max', {}, field('Total')]],
          filters: [['>', {}, field('Total'), 20]],
        }),
      }),
      card(5, 'Inner', {
        type: 'model',
        dataset_query: write({ table: 1, joins: [{ ...customer, strategy: 'inner-join' }] }),
      }),
      card(6, 'North', {
        type: 'model',
        dataset_query: write({ card: 1, filters: [['=', {}, field('region'), 'north']] }),
      }),
      card(7, 'Doubled', {
        type: 'model',
        dataset_query: native('SELECT "Total" * 2 AS twice FROM {{#2-status-totals}} AS t'),
        result_metadata: [{ name: 'twice', base_type: 'type/Decimal', display_name: 'Twice' }],
      }),
      card(8, 'Since', {
        type: 'model',
        dataset_query: native('SELECT id FROM orders WHERE placed > {{from}}'),
        result_metadata: columns,
      }),
      card(9, 'Itself', { type: 'model', dataset_query: write({ card: 9 }) }),
      card(10, 'Elsewhere', {
        type: 'model',
        dataset_query: native('SELECT * FROM nowhere'),
        result_metadata: columns,
      }),
      card(11, 'Alone', { dataset_query: native('SELECT count(*) FROM orders') }),
    ];
    const read = await readCards({ database: 1, tables, cards }, world.catalog);
    expect(read.faults).toEqual([]);
    const joined = (kind: string) =>
      `SELECT o.*, c.* FROM orders o ${kind} JOIN customers c ON c.id = o.customer_id`;
    const rowsByHand: Readonly<Record<number, string>> = {
      1: `${joined('LEFT')} WHERE o.customer_id IS NOT NULL`,
      2: 'SELECT status, sum(amount) FROM orders GROUP BY 1',
      5: joined('INNER'),
      6: `${joined('LEFT')} WHERE c.region = 'north'`,
      7: 'SELECT 2 * sum(amount) FROM orders GROUP BY status',
    };
    expect([...read.datasets.keys()]).toEqual([1, 2, 5, 6, 7]);
    for (const [id, sql] of Object.entries(rowsByHand))
      expect(await world.rows(read.datasets.get(Number(id))?.sql ?? ''), id).toEqual(
        await world.rows(sql),
      );
    expect(await world.rows(read.sqlOf(3))).toEqual(
      await world.rows(
        "SELECT region, sum(amount), count(*) FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE o.customer_id IS NOT NULL AND status = 'paid' GROUP BY 1",
      ),
    );
    expect(await world.rows(read.sqlOf(4))).toEqual(
      await world.rows(
        'SELECT max(t) FROM (SELECT sum(amount) AS t FROM orders GROUP BY status) WHERE t > 20',
      ),
    );
    const joinedModel = read.compiled.artifacts.find(
      (own) => own.dataset === 'orders_with_customers',
    );
    expect(joinedModel?.fields?.map(({ name }) => name)).toContain('id_2');
    expect(read.leftOut.filter((line) => line.startsWith('question that'))).toEqual([
      expect.stringContaining('model 8, Since: ktx cannot say the parameter {{from}}'),
      expect.stringContaining('model 9, Itself: ktx cannot say a question that reads itself'),
      expect.stringContaining('model 10, Elsewhere: the warehouse has no table nowhere'),
      expect.stringContaining('question 11, Alone: its SQL is no model'),
    ]);
  });
});

const [folder] = ['../../../shared/', '../../../../shared/']
  .map((path) => new URL(`${path}data/sources/metabase/`, import.meta.url))
  .filter((url) => existsSync(url));

describe.runIf(folder !== undefined)('cards that companies have', () => {
  const json = (path: string): unknown => JSON.parse(readFileSync(new URL(path, folder), 'utf8'));
  const jaffle = `
    CREATE TABLE orders (order_id INTEGER, customer_id INTEGER, order_date DATE, status VARCHAR, amount BIGINT,
      credit_card_amount BIGINT, coupon_amount BIGINT, bank_transfer_amount BIGINT, gift_card_amount BIGINT);
    CREATE TABLE customers (customer_id INTEGER, first_name VARCHAR, last_name VARCHAR, first_order DATE,
      most_recent_order DATE, number_of_orders BIGINT, customer_lifetime_value BIGINT);
    CREATE TABLE transactions (payment_id INTEGER, payment_method VARCHAR, order_id INTEGER, amount INTEGER);
    CREATE TABLE stg_orders (order_id INTEGER, status VARCHAR, order_date DATE, customer_id INTEGER, sku_id INTEGER);
    CREATE TABLE stg_payments (payment_id INTEGER, payment_method VARCHAR, order_id INTEGER, amount INTEGER);
    CREATE TABLE film (film_id INTEGER, rating VARCHAR, release_year INTEGER);
    CREATE TABLE customer (customer_id INTEGER, first_name VARCHAR, last_name VARCHAR);
    CREATE TABLE payment (customer_id INTEGER, amount INTEGER, payment_date DATE, rental_id INTEGER);
    INSERT INTO film VALUES (1, 'PG', 2006), (2, 'R', 2006), (3, 'PG', 2006), (4, 'PG', 2005);`;

  test('are a query, a dataset, or left out with the reason', async () => {
    const own = await openMetabaseWorld(jaffle, ['main']);
    try {
      const recorded = readTables(json('dbt-metabase/mbql4/api/database/2/metadata.json'));
      const film = {
        id: 21,
        name: 'film',
        schema: null,
        display_name: 'Film',
        description: null,
        fields: [column(131, 'rating'), column(136, 'release_year')],
      };
      const inMain = recorded.map((table) => ({ ...table, schema: null }));
      const single = (path: string) => cardSchema.parse(json(path));
      const groups = {
        'mbql4 of dbt-metabase': [27, 29, 30, 33].map((id) =>
          single(`dbt-metabase/mbql4/api/card/${id}.json`),
        ),
        'mbql5 of dbt-metabase': [27, 29, 30, 33].map((id) =>
          single(`dbt-metabase/mbql5/api/card/${id}.json`),
        ),
        datahub: [
          ...cardSchema.array().parse(json('datahub/card.json')),
          { ...single('datahub/card_5_nested.json'), id: 5 },
        ],
      };
      for (const [name, cards] of Object.entries(groups)) {
        const all = readTables({ tables: [...inMain, film] });
        const mapped = cards.map((one) => ({ ...one, database_id: 2 }));
        const read = await readCards({ database: 2, tables: all, cards: mapped }, own.catalog);
        const left = read.leftOut.filter((line) => line.startsWith('question that'));
        process.stdout.write(
          `${name}: ${cards.length} cards, ${read.queries.size} queries, ${read.datasets.size} datasets, ${left.length} left out\n${left.map((line) => `  ${line.slice(line.indexOf(': ') + 2)}\n`).join('')}`,
        );
        expect(read.faults).toEqual([]);
        expect(read.queries.size + read.datasets.size + left.length).toBe(cards.length);
        if (name === 'datahub')
          expect(await own.rows(read.sqlOf(2))).toEqual(
            await own.rows(
              'SELECT rating, count(*) FROM film WHERE release_year = 2006 GROUP BY 1',
            ),
          );
      }
    } finally {
      await own.close();
    }
  });
});
