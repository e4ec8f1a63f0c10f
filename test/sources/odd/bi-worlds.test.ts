import { describe, expect, test } from 'vitest';
import type { FarEnd } from '../../contract/api-sources.ts';
import { readFarEnd, type ReadResult, textsOf } from './read-far-end.ts';

/** Answers one request with this JSON. */
const answer = (match: RegExp, json: unknown) => (far: FarEnd) =>
  far.faults.push({ match, times: 1, body: JSON.stringify(json) });

interface Oddity {
  readonly change: (far: FarEnd) => void;
  /** What has to be read all the same. */
  readonly keys: readonly string[];
  readonly told?: RegExp;
  readonly isComplete: boolean;
  readonly check?: (read: ReadResult) => void;
}

const card = (id: number, more: object) => ({
  id,
  name: `Card ${id}`,
  description: null,
  type: 'question',
  database_id: 3,
  dataset_query: { database: 3, type: 'query', query: { 'source-table': 10 } },
  ...more,
});
const cardAnswer = (id: number, more: object) =>
  answer(new RegExp(`/api/card/${id}$`), card(id, more));
const query = (more: object) => ({
  dataset_query: { database: 3, type: 'query', query: { 'source-table': 10, ...more } },
});
const stages = (...more: object[]) => ({
  dataset_query: { 'lib/type': 'mbql/query', database: 3, stages: more },
});
const native = (sql: string, tags: object = {}) => ({
  type: 'model',
  dataset_query: { type: 'native', native: { query: sql, 'template-tags': tags } },
  result_metadata: [{ name: 'id', base_type: 'type/Integer' }],
});
const queriesOf = ({ claims }: ReadResult) =>
  textsOf(claims, 'description').filter((body) => body.includes('Query: '));
const sqlOf = ({ claims }: ReadResult, dataset: string) =>
  claims
    .filter(({ kind, subject }) => kind === 'dataset' && subject === `dataset:shop.${dataset}`)
    .map(({ body }) => (body as { readonly sql: string }).sql);
const noQuery = (id: number) => (read: ReadResult) => {
  const subject = read.claims.find(
    ({ kind, body }) => kind === 'title' && typeof body === 'string' && body.endsWith(` ${id})`),
  )?.subject;
  const texts = read.claims.filter((claim) => claim.subject === subject);
  expect(texts.length).toBeGreaterThan(0);
  expect(JSON.stringify(texts)).not.toContain('Query: ');
};

const metabase: Readonly<Record<string, Oddity>> = {
  'an archived card that is listed all the same': {
    change: cardAnswer(1, { archived: true }),
    keys: ['cards/1.jsonl', 'cards/2.jsonl'],
    told: /archived question/,
    isComplete: true,
  },
  'a card of a database that is gone': {
    change: cardAnswer(1, { database_id: null, type: 'model' }),
    keys: ['cards/1.jsonl'],
    told: /its database is no warehouse/,
    isComplete: true,
  },
  'a card of a table that is gone': {
    change: cardAnswer(1, query({ 'source-table': 999, aggregation: [['count']] })),
    keys: ['cards/1.jsonl'],
    told: /it reads no known table/,
    isComplete: true,
  },
  'a card without a query': {
    change: cardAnswer(1, { dataset_query: null }),
    keys: ['cards/2.jsonl'],
    told: /cards\/1\.jsonl: .*dataset_query/,
    isComplete: true,
  },
  'a query of a form of next year': {
    change: cardAnswer(1, { dataset_query: { 'lib/type': 'mbql/graph', nodes: [] } }),
    keys: ['cards/1.jsonl'],
    told: /question in an unknown form/,
    isComplete: true,
  },
  'one aggregation where a list belongs': {
    change: cardAnswer(1, query({ aggregation: ['count'] })),
    keys: ['cards/1.jsonl'],
    isComplete: true,
    check: (read) => expect(queriesOf(read).join()).toContain('"metrics":["orders.count"]'),
  },
  'an aggregation with a name': {
    change: cardAnswer(
      1,
      query({
        aggregation: [['aggregation-options', ['sum', ['field', 102, null]], { name: 'x' }]],
      }),
    ),
    keys: ['cards/1.jsonl'],
    isComplete: true,
    check: (read) => expect(queriesOf(read).join()).toContain('"metrics":["sum(orders.amount)"]'),
  },
  'a filter that is no list': {
    change: cardAnswer(1, query({ aggregation: [['count']], filter: { op: '=', args: [] } })),
    keys: ['cards/1.jsonl'],
    told: /a clause in no known form/,
    isComplete: true,
    check: noQuery(1),
  },
  'a filter of the other generation': {
    change: cardAnswer(
      1,
      stages({
        'source-table': 10,
        aggregation: [['count', {}]],
        filter: ['=', {}, ['field', {}, 103], 'paid'],
      }),
    ),
    keys: ['cards/1.jsonl'],
    told: /a clause in no known form/,
    isComplete: true,
    check: noQuery(1),
  },
  'a limit that is a text, and joins that are no list': {
    change: cardAnswer(
      1,
      query({ aggregation: [['count']], limit: '10', joins: { alias: 'x', 'source-table': 20 } }),
    ),
    keys: ['cards/1.jsonl'],
    told: /a clause in no known form/,
    isComplete: true,
    check: noQuery(1),
  },
  'a stage over SQL': {
    change: cardAnswer(1, {
      type: 'model',
      ...stages(
        { 'lib/type': 'mbql.stage/native', native: 'select id from orders' },
        { 'lib/type': 'mbql.stage/mbql', filters: [['>', {}, ['field', {}, 'id'], 7]] },
      ),
    }),
    keys: ['cards/1.jsonl'],
    told: /unknown form/,
    isComplete: true,
    check: (read) => expect(sqlOf(read, 'card_1')).toEqual([]),
  },
  'a join of a question with a stage of its own': {
    change: cardAnswer(1, {
      type: 'model',
      ...stages({
        'source-table': 10,
        joins: [
          {
            alias: 'C',
            stages: [{ 'source-table': 20 }, { filters: [['=', {}, ['field', {}, 202], 'x']] }],
            conditions: [['=', {}, ['field', {}, 104], ['field', { 'join-alias': 'C' }, 201]]],
          },
        ],
      }),
    }),
    keys: ['cards/1.jsonl'],
    told: /a join of something else than a known table/,
    isComplete: true,
    check: (read) => expect(sqlOf(read, 'card_1')).toEqual([]),
  },
  'a snippet with its tag, and a filter that nobody fills in': {
    change: () => undefined,
    keys: ['cards/9.jsonl', 'snippets/5.jsonl'],
    isComplete: true,
    check: (read) =>
      expect(sqlOf(read, 'standing_orders')).toEqual([
        "SELECT id, amount FROM orders WHERE status NOT IN ('returned', 'cancelled')  AND 1 = 1",
      ]),
  },
  'a snippet that reads itself': {
    change: (far) => {
      cardAnswer(
        1,
        native('select id from {{snippet: a}}', { 'snippet: a': { 'snippet-id': 5 } }),
      )(far);
      answer(/native-query-snippet/, [
        {
          id: 5,
          name: 'a',
          content: '{{snippet: a}}',
          template_tags: { 'snippet: a': { 'snippet-id': 5 } },
        },
      ])(far);
    },
    keys: ['cards/1.jsonl'],
    told: /a snippet that reads itself/,
    isComplete: true,
  },
  'a snippet that nobody has any more': {
    change: cardAnswer(1, native('select id from orders where {{snippet: gone}}')),
    keys: ['cards/1.jsonl'],
    told: /the snippet: gone, which is not here/,
    isComplete: true,
  },
  'a parameter with a value of its own': {
    change: cardAnswer(
      1,
      native('select id from orders where 1 = 1 [[and status = {{s}}]]', {
        s: { default: 'paid' },
      }),
    ),
    keys: ['cards/1.jsonl'],
    told: /the parameter \{\{s\}\}/,
    isComplete: true,
  },
  'brackets that are no optional part': {
    change: cardAnswer(1, native('select id from orders where [[1, 2], [3]] is not null')),
    keys: ['cards/1.jsonl'],
    told: /SQL with \[\[, which is no tag/,
    isComplete: true,
  },
  'a segment of another table': {
    change: cardAnswer(1, {
      ...query({ 'source-table': 20, aggregation: [['count']], filter: ['segment', 4] }),
    }),
    keys: ['cards/1.jsonl', 'segments/4.jsonl'],
    told: /the segment 4, which is not one of the table/,
    isComplete: true,
  },
  'a server without segments and snippets': {
    change: (far) => {
      for (const match of [/segment/, /snippet/, /session/])
        far.faults.push({ match, times: 1, status: 404, body: 'Not found.' });
    },
    keys: ['cards/9.jsonl', 'cards/10.jsonl'],
    told: /the snippet: standing, which is not here/,
    isComplete: true,
    check: noQuery(10),
  },
  'weeks of a server that begin on Sundays': {
    change: answer(/session/, { 'start-of-week': 'sunday' }),
    keys: ['cards/10.jsonl'],
    told: /the period "week"/,
    isComplete: true,
    check: noQuery(10),
  },
  'a dashboard without tiles, as a null': {
    change: answer(/api\/dashboard\/70/, { id: 70, name: '  ✓ Ünïcödé 看板  ', dashcards: null }),
    keys: ['dashboards/70.jsonl'],
    isComplete: true,
    check: ({ claims }) =>
      expect(textsOf(claims, 'title').join('\n')).toContain('✓ Ünïcödé 看板 (Metabase'),
  },
  'a dashboard with a question that is not read': {
    change: answer(/api\/dashboard\/70/, {
      id: 70,
      name: 'D',
      tabs: null,
      dashcards: [{ id: 1, card_id: 777, dashboard_tab_id: 5, series: null }],
    }),
    keys: ['dashboards/70.jsonl'],
    told: /dashboard 70, D: question 777/,
    isComplete: true,
  },
  'an entry of a collection in no known form': {
    change: answer(/collection\/3\/items/, {
      data: [{ id: 'abc' }, { id: 1, name: 'Paid', model: 'card' }, null],
      total: 3,
    }),
    keys: ['cards/1.jsonl'],
    told: /collection 3 has 2 objects in a form that ktx does not know/,
    isComplete: false,
  },
  'a card that two collections list': {
    change: answer(/collection\/4\/items/, { data: [{ id: 1, model: 'card' }], total: 1 }),
    keys: ['cards/1.jsonl'],
    isComplete: true,
    check: ({ keys }) => expect(keys.filter((key) => key === 'cards/1.jsonl')).toHaveLength(1),
  },
  'a collection whose name is a path': {
    change: answer(/api\/collection$/, [
      { id: 'root', name: 'Our analytics' },
      { id: 3, name: '../../x\u0000', location: null },
      { id: 4, name: null, location: '/3/' },
    ]),
    keys: ['cards/1.jsonl'],
    told: /the list of collections has 1 object/,
    isComplete: false,
  },
  'columns, reviews and fields that are null': {
    change: (far) => {
      cardAnswer(1, { result_metadata: null, moderation_reviews: null })(far);
      answer(/metadata$/, {
        tables: [{ id: 10, name: 'orders', schema: null, fields: null }, null],
      })(far);
    },
    keys: ['cards/1.jsonl', 'tables/10.jsonl'],
    told: /the metadata of database 3 has 1 object/,
    isComplete: false,
  },
};

const explore = (more: object) => ({
  name: 'orders',
  view_name: 'orders',
  sql_table_name: 'main.orders',
  fields: { dimensions: null, measures: null },
  joins: null,
  ...more,
});
const lookQuery = (more: object) => ({
  model: 'shop',
  view: 'orders',
  fields: ['orders.count'],
  ...more,
});
const measures = [{ name: 'orders.count', type: 'count', sql: null }];
const status = { name: 'orders.status', type: 'string', sql: '${TABLE}.status' };

const looker: Readonly<Record<string, Oddity>> = {
  'an explore without fields': {
    change: answer(/explores\/orders/, explore({})),
    keys: ['models/shop.model.lkml', 'looks/1.jsonl'],
    told: /ktx has no orders\.|leads to no table/,
    isComplete: true,
  },
  'fields whose SQL is hidden': {
    change: () => undefined,
    keys: ['models/shop.model.lkml'],
    told: /dimension breakout: its SQL cannot[^]*dimension secret: this login does not see/,
    isComplete: true,
  },
  'a filter that an explore always has': {
    change: (far) => {
      const filters = { always_filter: [{ name: 'orders.status', value: 'paid' }] };
      answer(
        /explores\/orders/,
        explore({ ...filters, fields: { dimensions: [status], measures } }),
      )(far);
      answer(/looks\/1$/, { id: 1, title: 'A', query: lookQuery({}) })(far);
      answer(/looks\/2$/, {
        id: 2,
        title: 'B',
        query: lookQuery({ filters: { 'orders.status': 'open' } }),
      })(far);
    },
    keys: ['looks/1.jsonl', 'looks/2.jsonl'],
    told: /always_filter, so ktx counts rows that Looker filters out/,
    isComplete: true,
    check: (read) => {
      const queries = queriesOf(read).join('\n');
      expect(queries).toContain('"where":[{"field":"orders.status","op":"=","value":"paid"}]');
      expect(queries).toContain('"where":[{"field":"orders.status","op":"=","value":"open"}]');
      expect(textsOf(read.claims, 'rule').join()).toContain(
        'counts only rows with orders.status: "paid"',
      );
    },
  },
  'a filter of an explore that ktx cannot say': {
    change: (far) => {
      const filters = { conditionally_filter: [{ name: 'orders.status', value: '-paid' }] };
      answer(
        /explores\/orders/,
        explore({ ...filters, fields: { dimensions: [status], measures } }),
      )(far);
      answer(/looks\/1$/, { id: 1, title: 'A', query: lookQuery({}) })(far);
    },
    keys: ['looks/1.jsonl'],
    told: /cannot tell what .*-paid/,
    isComplete: true,
    check: noQuery(1),
  },
  'an inner join that takes rows away': {
    change: (far) => {
      const joins = [
        {
          name: 'customers',
          type: 'inner',
          relationship: 'many_to_one',
          sql_on: '${orders.buyer_id} = ${customers.id}',
          sql_table_name: 'main.customers',
        },
      ];
      const dimensions = [
        { name: 'orders.buyer_id', type: 'number', sql: '${TABLE}.buyer_id' },
        { name: 'customers.id', type: 'number', sql: '${TABLE}.id', primary_key: true },
        { name: 'customers.region', type: 'string', sql: '${TABLE}.cust_rgn' },
      ];
      answer(/explores\/orders/, explore({ joins, fields: { dimensions, measures } }))(far);
      const fields = ['customers.region', 'orders.count'];
      answer(/looks\/1$/, { id: 1, title: 'A', query: lookQuery({ fields }) })(far);
    },
    keys: ['looks/1.jsonl'],
    told: /its inner join of customers takes rows away/,
    isComplete: true,
    check: noQuery(1),
  },
  'an explore of two that cannot be read': {
    change: (far) => {
      const explores = [{ name: 'orders' }, { name: 'broken' }];
      answer(/lookml_models\?/, [{ name: 'shop', explores }])(far);
    },
    keys: ['models/shop.model.lkml', 'looks/1.jsonl'],
    told: /the model shop without some explores/,
    isComplete: false,
  },
  'a look without a query, a title and a folder': {
    change: (far) => {
      answer(/looks\/1$/, { id: 1, title: null, description: null, query: null })(far);
    },
    keys: ['looks/1.jsonl', 'looks/2.jsonl'],
    isComplete: true,
  },
  'a dashboard whose elements are null, and one with an unknown element': {
    change: answer(/dashboards\/9/, { id: 9, title: 'Board', dashboard_elements: null }),
    keys: ['dashboards/9.jsonl'],
    isComplete: true,
  },
  'a model with a name in another script and without explores': {
    change: answer(/lookml_models\?/, [
      { name: 'продажи/..', explores: null },
      { name: 'shop', explores: [{ name: 'orders' }] },
      { explores: [] },
    ]),
    keys: ['models/shop.model.lkml', 'looks/1.jsonl'],
    told: /the list of models has 1 object/,
    isComplete: false,
  },
  'a query of a model that is gone': {
    change: answer(/looks\/1$/, { id: 1, title: 'A', query: lookQuery({ model: 'gone' }) }),
    keys: ['looks/1.jsonl'],
    told: /there is no explore orders/,
    isComplete: true,
    check: noQuery(1),
  },
};

describe.each(Object.entries({ metabase, looker }))('%s', (name, oddities) => {
  test.each(Object.entries(oddities))('%s', async (_, { change, keys, told, ...want }) => {
    const read = await readFarEnd(name, change);
    expect(read.error).toBeUndefined();
    expect(read.keys).toEqual(expect.arrayContaining([...keys]));
    expect(new Set(read.keys).size).toBe(read.keys.length);
    if (told !== undefined) expect(read.told).toMatch(told);
    expect(read.isComplete, read.told).toBe(want.isComplete);
    want.check?.(read);
  });
});
