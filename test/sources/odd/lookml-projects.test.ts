import { beforeAll, describe, expect, test } from 'vitest';
import { lookml } from '../../../src/sources/lookml/source.ts';
import { loadAnalyzer } from '../../../src/sql/analyzer.ts';
import { summary } from '../dbt-fixture.ts';
import { shopCatalog, textsOf } from './read-far-end.ts';

beforeAll(loadAnalyzer);

const orders = (more: string, source = 'main.orders') => `view: orders {
  sql_table_name: ${source} ;;
  dimension: id { primary_key: yes type: number sql: \${TABLE}.id ;; }
  dimension: status { type: string sql: \${TABLE}.status ;; }
${more}
}
`;
const count = 'measure: count { type: count }';

function read(files: Readonly<Record<string, string>>) {
  const items = Object.entries(files).map(([key, body]) => ({ key, path: key, body }));
  const config = { driver: 'lookml' as const, path: '.' };
  const catalogs = new Map([['shop', shopCatalog]]);
  const { claims, problems, leftOut } = summary(
    lookml.extract(items, { connection: 'repo', config, catalogs }),
  );
  const metrics = claims
    .filter(({ kind }) => kind === 'metric')
    .map(({ subject, body }) => `${subject.split('.').at(-1)}: ${JSON.stringify(body)}`);
  return { claims, metrics: [...new Set(metrics)], told: [...problems, ...leftOut].join('\n') };
}

interface Oddity {
  readonly files: Readonly<Record<string, string>>;
  /** Names of metrics that are read all the same. */
  readonly metrics: readonly string[];
  readonly told?: RegExp;
}

const oddities: Readonly<Record<string, Oddity>> = {
  'a refinement of a view that another file extends': {
    files: {
      'a.view.lkml': orders(count),
      'b.view.lkml':
        'view: child { extends: [orders] measure: paid { type: count filters: [status: "paid"] } }',
      'c.view.lkml': 'view: +orders { measure: open { type: count filters: [status: "open"] } }',
    },
    metrics: ['count', 'open', 'paid'],
  },
  'views that extend each other in a circle': {
    files: {
      'a.view.lkml': 'view: a { extends: [b] }\nview: b { extends: [a] }',
      'o.view.lkml': orders(count),
    },
    metrics: ['count'],
    told: /view a: left out: it extends itself: a → b → a/,
  },
  'explores that extend each other in a circle': {
    files: {
      'm.model.lkml': `${orders(count)}explore: a { extends: [b] }\nexplore: b { extends: [a] }`,
    },
    metrics: ['count'],
    told: /explore a: left out: it extends itself/,
  },
  'a table that depends on the user': {
    files: {
      'o.view.lkml': orders(
        count,
        "{% if _user_attributes['e'] == 'dev' %} dev.orders {% else %} main.orders {% endif %}",
      ),
    },
    metrics: [],
    told: /its table cannot be read, it depends on _user_attributes/,
  },
  'a table on which all branches agree': {
    files: {
      'o.view.lkml': orders(count, '{% if x %} main.orders {% else %} main.orders {% endif %}'),
    },
    metrics: ['count'],
  },
  'a constant that nobody defines': {
    files: { 'o.view.lkml': orders(count, '@{schema}.orders') },
    metrics: [],
    told: /it uses @\{schema\}/,
  },
  'names in another script': {
    files: {
      'o.view.lkml':
        'view: заказы {\n  sql_table_name: main.orders ;;\n  dimension: статус { sql: ${TABLE}.status ;; }\n  measure: число { type: count filters: [статус: "paid"] }\n  measure: сумма { type: sum sql: ${TABLE}.amount ;; }\n}',
    },
    metrics: ['_78fe10', '_9c0bc9'],
  },
  'an include that matches nothing': {
    files: { 'm.model.lkml': `include: "/nowhere/*.view"\ninclude: "m.model"\n${orders(count)}` },
    metrics: ['count'],
    told: /^include that matches no file: \/nowhere\/\*\.view$/,
  },
  'names of objects': {
    files: {
      '__proto__.model.lkml':
        'explore: __proto__ {}\nview: __proto__ { sql_table_name: main.orders ;; dimension: constructor { sql: ${TABLE}.status ;; } measure: toString { type: count } }',
    },
    metrics: ['toString'],
  },
  'two views of one name': {
    files: { 'a.view.lkml': orders(count), 'b.view.lkml': orders('measure: b { type: count }') },
    metrics: ['count'],
    told: /another view of that name/,
  },
  'a byte order mark and line ends of Windows': {
    files: { 'o.view.lkml': `\ufeff${orders(count).replaceAll('\n', '\r\n')}` },
    metrics: ['count'],
  },
  'empty files': {
    files: { 'a.view.lkml': '', 'b.view.lkml': '# nothing\n', 'o.view.lkml': orders(count) },
    metrics: ['count'],
  },
  'types and keys of next year': {
    files: {
      'o.view.lkml': orders(
        `${count}\ndimension: d { type: hologram }\nmeasure: m { type: quantum_sum }\nfuture: z { a: b }\nflag: yes`,
      ),
    },
    metrics: ['count'],
    told: /type hologram[^]*type quantum_sum[^]*future[^]*flag/,
  },
  'a refinement and an extension of nothing': {
    files: {
      'o.view.lkml': `view: +ghost { dimension: a {} }\nview: x { extends: [ghost] sql_table_name: main.orders ;; ${count} }`,
    },
    metrics: ['count'],
    told: /view \+ghost: left out[^]*the view ghost that it extends, which is not here/,
  },
  'a derived table with a parameter': {
    files: {
      'd.view.lkml':
        'view: d { derived_table: { sql: select id, {% parameter p %} as x from main.orders ;; } parameter: p { type: unquoted } dimension: id {} measure: n { type: count } }',
      'o.view.lkml': orders(count),
    },
    metrics: ['count'],
    told: /it depends on the parameter p, which has no default/,
  },
  'dashboards with nulls and without names': {
    files: {
      'd.dashboard.lookml':
        '- dashboard: d\n  elements:\n- title: none\n- dashboard: e\n  elements: 7\n',
      'o.view.lkml': orders(count),
    },
    metrics: ['count'],
    told: /it is no dashboard with a name/,
  },
};

test.each(Object.entries(oddities))('%s', (_, { files, metrics, told }) => {
  const found = read(files);
  const names = found.metrics.map((line) => line.split(':')[0]);
  expect(new Set(names)).toEqual(new Set(metrics));
  if (told === undefined) expect(found.told).toBe('');
  else expect(found.told).toMatch(told);
});

describe('filters of an explore', () => {
  const model = `${orders(count)}
explore: orders {
  sql_always_where: \${orders.status} <> 'test' ;;
}
explore: paid {
  from: orders
  always_filter: { filters: [status: "paid"] }
}
explore: recent {
  view_name: orders
  conditionally_filter: { filters: { field: status value: "open" } unless: [id] }
}
`;
  const element = (explore: string, more: object = {}) =>
    `  - ${JSON.stringify({ name: explore, model: 'm', explore, fields: [`${explore}.count`], ...more })}\n`;
  const queriesOf = (elements: string) => {
    const dashboard = `- dashboard: d\n  elements:\n${elements}`;
    const { claims, told } = read({ 'm.model.lkml': model, 'd.dashboard.lookml': dashboard });
    const queries = textsOf(claims, 'description').filter((body) => body.includes('Query: '));
    return { queries: queries.join('\n'), told };
  };

  test('are rules with their line, and no metric has them', () => {
    const { claims, metrics } = read({ 'm.model.lkml': model });
    const rules = claims.filter(({ kind }) => kind === 'rule');
    expect(textsOf(rules, 'rule').map((body) => body.split('. ')[0])).toEqual([
      "Every query in Looker over the explore orders counts only rows with ${orders.status} <> 'test'",
      'A query in Looker, unless it sets other values, over the explore paid counts only rows with status: "paid"',
      'A query in Looker, unless it sets other values, over the explore recent counts only rows with status: "open"',
    ]);
    expect(rules.map(({ evidence: [evidence] }) => evidence?.location)).toEqual([
      'line 9',
      'line 13',
      'line 17',
    ]);
    expect(metrics).toEqual(['count: {"agg":"count"}']);
  });

  test('count in the queries of dashboards, or the query is left out', () => {
    expect(queriesOf(element('paid')).queries).toContain(
      '"where":[{"field":"orders.status","op":"=","value":"paid"}]',
    );
    const set = queriesOf(element('paid', { filters: { 'paid.status': 'void' } }));
    expect(set.queries).toContain('"where":[{"field":"orders.status","op":"=","value":"void"}]');
    const any = queriesOf(element('paid', { filters: { 'paid.status': '' } }));
    expect(any.queries).not.toContain('where');
    const unless = queriesOf(
      element('recent', { fields: ['orders.count'], filters: { 'orders.id': '7' } }),
    );
    expect(unless.queries).toContain('"where":[{"field":"orders.id","op":"=","value":7}]');
    const open = queriesOf(element('recent', { fields: ['orders.count'] }));
    expect(open.queries).toContain('"where":[{"field":"orders.status","op":"=","value":"open"}]');
    const always = queriesOf(element('orders'));
    expect(always.queries).toBe('');
    expect(always.told).toMatch(/Looker filters the explore orders by sql_always_where/);
  });
});
