import { beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { modelForRole } from '../../src/semantic/resolve/row-rules.ts';
import { choicesOf, type queryError as refuse } from '../../src/semantic/query/errors.ts';
import type { LoadedModel } from '../../src/semantic/load/load.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { compile, load, shop } from './shop.ts';

type Query = Parameters<typeof compile>[1];

/** A query that is refused, and how to put it right. */
interface Case {
  /** What is wrong with it, for the name of the test. */
  readonly what: string;
  readonly code: Code;
  readonly query: Query;
  /** Who asks. */
  readonly role?: string;
  /** Files beside those of the shop, or in place of them. */
  readonly files?: Readonly<Record<string, string>>;
  /**
   * The text of the query that each of the choices can replace; as a dimension of its own where it
   * is left out.
   */
  readonly wrong?: string;
  readonly choices?: readonly string[];
  /**
   * What the hint says where there is nothing to paste into the query, and the query or the files
   * as they are after that.
   */
  readonly hint?: RegExp;
  readonly repaired?:
    | Query
    | { readonly files: Readonly<Record<string, string>>; readonly query?: Query };
  /** It shows when the file is read. */
  readonly isOfFile?: true;
}

type Code = Parameters<typeof refuse>[0] | 'function' | 'subquery' | 'window' | 'sql_syntax';

/** All of them; the compiler says which one is missing. */
const codes: Readonly<Record<Code, true>> = {
  ambiguous_name: true,
  ambiguous_path: true,
  circular: true,
  conversion: true,
  duplicate_name: true,
  empty_query: true,
  fan_risk: true,
  fiscal_year: true,
  invalid_condition: true,
  invalid_option: true,
  literal_type: true,
  missing_parameter: true,
  mixed_condition: true,
  mixed_owners: true,
  nested: true,
  no_access: true,
  no_default_time: true,
  no_group: true,
  no_key: true,
  no_owner: true,
  no_path: true,
  no_period: true,
  no_time_spine: true,
  not_additive: true,
  not_a_time: true,
  not_supported: true,
  semi_additive: true,
  sql_fragment: true,
  text_aggregate: true,
  unknown_name: true,
  unused_option: true,
  unused_scope: true,
  unused_segment: true,
  wrong_parameter: true,
  function: true,
  subquery: true,
  window: true,
  sql_syntax: true,
};

const orders = shop['orders'] ?? '';
const parametrised = (more: string) => ({
  orders: orders.replace(
    'metrics:\n',
    `parameters: [{name: state, type: string, values: [paid, open]${more}}]\nmetrics:\n  - {name: chosen, agg: count, where: status = param.state}\n`,
  ),
});
const edited = (from: string, to: string) => ({ orders: orders.replace(from, to) });
const revenue = { metrics: ['orders.revenue'] };
const both = { metrics: ['orders.revenue', 'tickets.ticket_count'] };
const refunds =
  'dataset: refunds\nsource: refunds\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: amount, type: decimal}]\nmetrics: [{name: revenue, agg: sum, of: amount}]\n';

const cases: readonly Case[] = [
  {
    what: 'a share of what is not grouped',
    code: 'no_group',
    query: { ...revenue, dimensions: ['orders.status'], share_of: 'orders.created_at' },
    wrong: 'orders.created_at',
    choices: ['orders.status'],
  },
  {
    what: 'a top by what is not asked',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.status'], top: '2 of orders.revenu' },
    wrong: 'orders.revenu"',
    choices: ['orders.revenue'],
  },
  {
    what: 'a word that nothing is computed by',
    code: 'invalid_option',
    query: { ...revenue, dimensions: ['orders.status'], over_rows: ['place of orders.revenue'] },
    wrong: 'place of orders.revenue',
    choices: ['rank', 'previous', 'next', 'running', 'average', 'to_average'].map(
      (compute) => `${compute} of orders.revenue`,
    ),
    repaired: {
      ...revenue,
      dimensions: ['orders.status'],
      over_rows: ['rank of orders.revenue', 'average of orders.revenue'],
    },
  },
  {
    what: 'a running sum of a distinct count',
    code: 'not_additive',
    query: {
      metrics: ['orders.customers_seen'],
      dimensions: ['metric_time.month'],
      over_rows: ['running of orders.customers_seen'],
    },
    hint: /one value can be in several groups.*cumulative: \{of: customers_seen\}/s,
    repaired: {
      query: { metrics: ['orders.seen_so_far'], dimensions: ['metric_time.month'] },
      files: {
        orders: `${shop['orders']}`.replace(
          'metrics:\n',
          'metrics:\n  - {name: seen_so_far, cumulative: {of: customers_seen}}\n',
        ),
      },
    },
  },
  {
    what: 'a top of nothing that is known',
    code: 'invalid_option',
    query: { ...revenue, dimensions: ['orders.status'], top: 'best orders.revenue' },
    wrong: 'best orders.revenue',
    choices: ['3', '3 of orders.revenue'],
  },
  {
    what: 'rows without an order',
    code: 'no_period',
    query: {
      ...revenue,
      dimensions: ['orders.status'],
      over_rows: ['previous of orders.revenue'],
    },
    hint: /metric_time\.month, or order_by/,
    repaired: {
      ...revenue,
      dimensions: ['orders.status'],
      order_by: [{ field: 'orders.revenue', dir: 'desc' }],
      over_rows: ['previous of orders.revenue'],
    },
  },
  {
    what: 'a comparison of no period',
    code: 'no_period',
    query: { ...revenue, dimensions: ['orders.status'], compare_to: '1 year' },
    choices: ['metric_time.month'],
  },
  {
    what: 'others without a top',
    code: 'unused_option',
    query: { ...revenue, dimensions: ['orders.status'], others: true },
    hint: /top: 3/,
    repaired: { ...revenue, dimensions: ['orders.status'], top: '3', others: true },
  },
  {
    what: 'the sum of a text',
    code: 'text_aggregate',
    query: { metrics: ['sum(orders.status)'] },
    wrong: 'sum(orders.status)',
    choices: ['count(distinct orders.status)'],
    hint: /declare a number type in/,
  },
  {
    what: 'a text beside a number',
    code: 'literal_type',
    query: { ...revenue, where: ["orders.amount = 'abc'"] },
    hint: /without quotes: orders\.amount = 5/,
    repaired: { ...revenue, where: ['orders.amount = 5'] },
  },
  {
    what: 'a bare metric of two datasets',
    code: 'ambiguous_name',
    files: { refunds },
    query: { metrics: ['revenue'] },
    wrong: 'revenue',
    choices: ['orders.revenue', 'refunds.revenue'],
  },
  {
    what: 'two roles',
    code: 'ambiguous_path',
    query: { ...revenue, dimensions: ['customers.segment'] },
    wrong: 'customers.segment',
    choices: ['orders.buyer.segment', 'orders.recipient.segment'],
  },
  {
    what: 'two roles behind which there is more',
    code: 'ambiguous_path',
    query: { ...revenue, where: ["regions.name = 'Nord'"] },
    wrong: 'regions.name',
    choices: ['orders.buyer.regions.name', 'orders.recipient.regions.name'],
  },
  {
    what: 'dimensions alone that do not say whose rows',
    code: 'ambiguous_path',
    query: { dimensions: ['buyer.segment'] },
    files: {
      claims:
        'dataset: claims\nsource: claims\nprimary_key: [id]\nfields: [{name: id}]\nrelationships: [{to: customers, on: {customer_id: id}, role: buyer}]',
    },
    wrong: 'buyer.segment',
    choices: ['orders.buyer.segment', 'claims.buyer.segment'],
  },
  {
    what: 'two relationships without a role',
    code: 'ambiguous_path',
    query: { ...revenue, dimensions: ['customers.segment'] },
    files: edited('role: recipient', 'role: buyer'),
    hint: /Give each relationship from orders to customers a role/,
    repaired: { files: shop, query: { ...revenue, dimensions: ['orders.buyer.segment'] } },
  },
  {
    what: 'a role that two relationships have',
    code: 'ambiguous_path',
    query: { ...revenue, dimensions: ['orders.buyer.segment'] },
    files: edited('role: recipient', 'role: buyer'),
    hint: /Give each relationship from orders to customers a role/,
    repaired: { files: shop, query: { ...revenue, dimensions: ['orders.buyer.segment'] } },
  },

  {
    what: 'a dataset that does not say when its fiscal years begin',
    code: 'fiscal_year',
    query: { ...revenue, dimensions: ['metric_time.fiscal_year'] },
    hint: /Write fiscal_year_start: 4 into .*orders\.yaml/,
    repaired: {
      files: edited('default_time: created_at', 'default_time: created_at\nfiscal_year_start: 4'),
    },
  },
  {
    what: 'a field',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.statuss'] },
    wrong: 'orders.statuss',
    choices: ['orders.status'],
  },
  {
    what: 'a field behind roles',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.buyer.regions.nam'] },
    wrong: 'orders.buyer.regions.nam',
    choices: ['orders.buyer.regions.name'],
  },
  {
    what: 'a field that is like none',
    code: 'unknown_name',
    query: { metrics: ['visits.visit_count'], dimensions: ['visits.shape'] },
    wrong: 'visits.shape',
    choices: ['visits.code'],
  },
  {
    what: 'a field of a filter',
    code: 'unknown_name',
    query: { ...revenue, where: ["orders.statsu = 'paid'"] },
    wrong: 'orders.statsu',
    choices: ['orders.status'],
  },
  {
    what: 'a field of a structured filter',
    code: 'unknown_name',
    query: { ...revenue, where: [{ field: 'orders.statsu', op: '=', value: 'paid' }] },
    wrong: 'orders.statsu',
    choices: ['orders.status'],
  },
  {
    what: 'a time field',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.created.month'] },
    wrong: 'orders.created.month',
    choices: ['orders.created_at.month'],
  },
  {
    what: 'a grain',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.created_at.mnth'] },
    wrong: 'orders.created_at.mnth',
    choices: ['orders.created_at.month'],
  },
  {
    what: 'a role',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.byer.segment'] },
    wrong: 'orders.byer.segment',
    choices: ['orders.buyer.segment'],
  },
  {
    what: 'a dataset',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['order.status'] },
    wrong: 'order.status',
    choices: ['orders.status'],
  },
  {
    what: 'a name without a dataset',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['segment'] },
    wrong: 'segment',
    choices: ['orders.buyer.segment', 'orders.recipient.segment'],
  },
  {
    what: 'a bare name in a filter',
    code: 'unknown_name',
    query: { ...revenue, where: ["status = 'paid'"] },
    wrong: 'status',
    choices: ['orders.status'],
  },
  {
    what: 'a metric',
    code: 'unknown_name',
    query: { metrics: ['orders.revenu'] },
    wrong: 'orders.revenu',
    choices: ['orders.revenue'],
  },
  {
    what: 'a bare metric',
    code: 'unknown_name',
    query: { metrics: ['ticket_cont'] },
    wrong: 'ticket_cont',
    choices: ['ticket_count'],
  },
  {
    what: 'a bare metric of two datasets',
    code: 'unknown_name',
    files: { refunds },
    query: { metrics: ['revenu'] },
    wrong: 'revenu',
    choices: ['orders.revenue', 'refunds.revenue'],
  },
  {
    what: 'a metric in a formula',
    code: 'unknown_name',
    query: { metrics: [{ name: 'each', expr: 'orders.revenue / orders.order_cnt' }] },
    wrong: 'orders.order_cnt',
    choices: ['orders.order_count'],
  },
  {
    what: 'a field in place of a metric',
    code: 'unknown_name',
    query: { metrics: ['orders.amount'] },
    wrong: 'orders.amount',
    choices: ['sum(orders.amount)', 'avg(orders.amount)', 'count(distinct orders.amount)'],
  },
  {
    what: 'a bare name in an aggregate',
    code: 'unknown_name',
    files: { refunds },
    query: { metrics: ['sum(amount)'] },
    wrong: 'amount',
    choices: ['orders.amount', 'refunds.amount'],
  },
  {
    what: 'a dataset in an aggregate',
    code: 'unknown_name',
    query: { metrics: ['sum(oders.amount)'] },
    wrong: 'oders.amount',
    choices: ['orders.amount'],
  },
  {
    what: 'a column of the result',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.status'], order_by: [{ field: 'orders.statu' }] },
    wrong: 'orders.statu"',
    choices: ['orders.status'],
  },
  {
    what: 'a segment',
    code: 'unknown_name',
    query: { ...revenue, segments: ['orders.payed'] },
    wrong: 'orders.payed',
    choices: ['orders.paid'],
  },
  {
    what: 'the dataset of a segment',
    code: 'unknown_name',
    query: { ...revenue, segments: ['order.paid'] },
    wrong: 'order.paid',
    choices: ['orders.paid'],
  },
  {
    what: 'a hidden field, which is no choice',
    code: 'unknown_name',
    query: { ...revenue, dimensions: ['orders.secret'] },
    wrong: 'orders.secret',
    choices: [
      'orders.id',
      'orders.customer_id',
      'orders.status',
      'orders.amount',
      'orders.created_at',
      'orders.double_amount',
    ],
  },

  {
    what: 'a sibling',
    code: 'no_path',
    query: { ...revenue, dimensions: ['tickets.opened_at'] },
    hint: /Ask for fields of orders or customers/,
    repaired: revenue,
  },
  {
    what: 'a sibling with a name that can be reached',
    code: 'no_path',
    query: { metrics: ['tickets.ticket_count'], dimensions: ['orders.id'] },
    wrong: 'orders.id',
    choices: ['tickets.id', 'tickets.customers.id', 'tickets.customers.regions.id'],
  },
  {
    what: 'a condition that one of two facts cannot reach',
    code: 'no_path',
    query: { ...both, where: ["tickets.priority = 'high'"] },
    wrong: `"tickets.priority = 'high'"`,
    choices: [`{"on":"tickets","where":"tickets.priority = 'high'"}`],
  },
  {
    what: 'many rows inside an aggregate',
    code: 'no_path',
    query: { metrics: ['sum(case when tickets.priority = orders.status then orders.amount end)'] },
    hint: /one row of orders has many rows of tickets|tickets cannot be reached from orders/,
    repaired: revenue,
  },
  {
    what: 'a dataset on its own',
    code: 'no_path',
    query: { ...revenue, dimensions: ['visits.code'] },
    hint: /orders leads to: customers/,
    repaired: revenue,
  },

  {
    what: 'a join to what is no key',
    code: 'fan_risk',
    files: { regions: (shop['regions'] ?? '').replace('primary_key: [id]\n', '') },
    query: { metrics: ['customers.customer_count'], dimensions: ['regions.name'] },
    hint: /unique_keys: \[\[id\]\]/,
    repaired: {
      files: {
        regions: (shop['regions'] ?? '').replace('primary_key: [id]\n', 'unique_keys: [[id]]\n'),
      },
    },
  },
  {
    what: 'a join of a text to a number',
    code: 'fan_risk',
    files: edited('{name: customer_id, type: integer}', '{name: customer_id, type: string}'),
    query: { ...revenue, dimensions: ['orders.buyer.segment'] },
    hint: /Correct the type that is wrong/,
    repaired: { files: shop },
  },
  {
    what: 'a grain of what is no time',
    code: 'not_a_time',
    query: { ...revenue, dimensions: ['orders.status.month'] },
    wrong: 'orders.status.month',
    choices: ['orders.status', 'orders.created_at.month'],
  },
  {
    what: 'no time of its own',
    code: 'no_default_time',
    files: edited('default_time: created_at\n', ''),
    query: { ...revenue, dimensions: ['metric_time.month'] },
    wrong: 'metric_time',
    choices: ['orders.created_at'],
  },
  {
    what: 'a running total without a period',
    code: 'no_period',
    query: { metrics: ['orders.running'] },
    choices: ['metric_time.month'],
  },
  {
    what: 'a time spine that is not there',
    code: 'no_time_spine',
    files: edited(
      '- {name: running,',
      '- {name: all_days, agg: count, join_to_timespine: true}\n  - {name: running,',
    ),
    query: { metrics: ['orders.all_days'], dimensions: ['metric_time.day'] },
    hint: /time_spine: \{column: day, grain: day\}/,
    repaired: {
      files: {
        ...edited(
          '- {name: running,',
          '- {name: all_days, agg: count, join_to_timespine: true}\n  - {name: running,',
        ),
        days: 'dataset: days\nsource: days\nprimary_key: [day]\ntime_spine: {column: day, grain: day}\nfields: [{name: day, type: date}]\n',
      },
    },
  },
  {
    what: 'an offset by the bare time',
    code: 'no_period',
    query: { metrics: ['orders.last_year'], dimensions: ['metric_time'] },
    wrong: 'metric_time',
    choices: ['metric_time.day', 'orders.created_at.day'],
  },
  {
    what: 'a total to date by a period that crosses',
    code: 'no_period',
    query: { metrics: ['orders.month_to_date'], dimensions: ['metric_time.week'] },
    wrong: 'metric_time.week',
    choices: ['metric_time.day', 'metric_time.month'],
  },
  {
    what: 'days of one and moments of another',
    code: 'no_period',
    files: edited('name: created_at, type: datetime', 'name: created_at, type: date'),
    query: { ...both, dimensions: ['metric_time'] },
    wrong: 'metric_time',
    choices: ['metric_time.day', 'metric_time.month'],
  },
  {
    what: 'periods to fill where there are none',
    code: 'no_period',
    query: { ...revenue, fill_time: true },
    choices: ['metric_time.month'],
  },
  {
    what: 'a total by what is no group',
    code: 'no_group',
    files: edited(
      '- {name: running,',
      '- {name: by_status, total: {of: revenue, by: [orders.status]}}\n  - {name: running,',
    ),
    query: { metrics: ['orders.by_status'] },
    choices: ['orders.status'],
  },
  {
    what: 'many groups for rows without a key',
    code: 'no_key',
    files: { visits: shop['visits'] ?? '', hits: shop['hits'] ?? '' },
    query: { metrics: ['visits.visit_count'], dimensions: ['hits.page'] },
    hint: /Declare primary_key in /,
    repaired: {
      files: {
        visits: (shop['visits'] ?? '').replace('unique_keys: [[code]]', 'primary_key: [code]'),
      },
    },
  },
  {
    what: 'a condition scoped to what is not asked',
    code: 'unused_scope',
    query: { ...revenue, where: [{ on: 'customers', where: "orders.status = 'paid'" }] },
    wrong: 'customers',
    choices: ['orders'],
  },
  {
    what: 'a segment of what is not asked',
    code: 'unused_segment',
    files: {
      customers: `${shop['customers']}segments: [{name: ent, where: segment = 'ent'}]
`,
    },
    query: { metrics: ['tickets.ticket_count'], segments: ['customers.ent'] },
    choices: ["customers.segment = 'ent'"],
    repaired: { metrics: ['tickets.ticket_count'], where: ["customers.segment = 'ent'"] },
  },
  {
    what: 'empty members of nothing',
    code: 'unused_option',
    query: { dimensions: ['orders.status'], include_empty: true },
    hint: /Add a metric, or leave include_empty out/,
    repaired: { dimensions: ['orders.status'] },
  },
  {
    what: 'a column twice',
    code: 'duplicate_name',
    query: { metrics: ['orders.revenue', 'orders.revenue'] },
    hint: /once/,
    repaired: revenue,
  },
  {
    what: 'nothing',
    code: 'empty_query',
    query: {},
    hint: /at least one metric or dimension/,
    repaired: revenue,
  },
  {
    what: 'arithmetic over nothing',
    code: 'no_owner',
    query: { metrics: ['1 + 1'] },
    hint: /sum\(orders\.amount\)/,
    repaired: { metrics: ['sum(orders.amount)'] },
  },
  {
    what: 'a count of no rows in particular',
    code: 'no_owner',
    query: { metrics: ['count(*)'] },
    hint: /count\(orders\.id\)/,
    repaired: { metrics: ['count(orders.id)'] },
  },
  {
    what: 'an aggregate of two datasets',
    code: 'mixed_owners',
    query: { metrics: ['sum(tickets.id * customers.id)'] },
    hint: /in the file of the dataset whose rows count once: tickets or customers/,
    repaired: {
      files: {
        tickets: (shop['tickets'] ?? '').replace(
          'metrics: [',
          'metrics: [{name: weighed, agg: sum, of: id * customers.id}, ',
        ),
      },
      query: { metrics: ['tickets.weighed'] },
    },
  },
  {
    what: 'rows or aggregates',
    code: 'mixed_condition',
    query: { ...revenue, where: ["orders.status = 'paid' or orders.revenue > 1"] },
    hint: /separate conditions/,
    repaired: { ...revenue, where: ["orders.status = 'paid'"], having: ['orders.revenue > 1'] },
  },
  {
    what: 'no value for an operator',
    code: 'invalid_condition',
    query: { ...revenue, where: [{ field: 'orders.status', op: 'in' }] },
    hint: /\{field: orders\.status, op: in, value: \[paid\]\}/,
    repaired: { ...revenue, where: [{ field: 'orders.status', op: 'in', value: ['paid'] }] },
  },
  {
    what: 'names of the query that mean each other',
    code: 'circular',
    query: {
      metrics: [
        { name: 'a', expr: 'b + 1' },
        { name: 'b', expr: 'a + 1' },
      ],
    },
    hint: /cannot use itself/,
    repaired: {
      metrics: [
        { name: 'a', expr: 'b + 1' },
        { name: 'b', expr: 'orders.revenue + 1' },
      ],
    },
  },
  {
    what: 'an aggregate of rows of several datasets',
    code: 'nested',
    query: { metrics: ['avg(orders.revenue + tickets.ticket_count) per customers.id'] },
    hint: /avg\(sum\(orders\.amount\)\) per orders\.customer_id/,
    repaired: { metrics: ['avg(sum(orders.amount)) per orders.customer_id'] },
  },
  {
    what: 'a balance of nobody in particular',
    code: 'semi_additive',
    isOfFile: true,
    files: edited(', per: [customer_id]}}\n  - {name: lowest', '}}\n  - {name: lowest'),
    query: { metrics: ['orders.closing'] },
    hint: /semi_additive: \{over: day, take: last, per: \[account_id\]\}/,
    repaired: { files: shop },
  },
  {
    what: 'somebody for whom there is no row rule',
    code: 'no_access',
    files: edited('metrics:\n', 'access: [{role: clerk, where: amount < 100}]\nmetrics:\n'),
    role: 'guest',
    query: revenue,
    hint: /--role clerk; or add a rule to access: in /,
    repaired: {
      files: edited('metrics:\n', 'access: [{role: guest, where: amount < 100}]\nmetrics:\n'),
    },
  },
  {
    what: 'a conversion on a field that is none',
    code: 'conversion',
    files: edited('on: {customer_id: customer_id}, window', 'on: {customer_id: customer}, window'),
    query: { metrics: ['orders.bought_again'] },
    hint: /on: \{field_of_base: field_of_to\}/,
    repaired: { files: shop },
  },
  {
    what: 'a value that a parameter cannot have',
    code: 'wrong_parameter',
    files: parametrised(', default: open'),
    query: { metrics: ['orders.chosen'], parameters: { state: 'lost' } },
    wrong: 'lost',
    choices: ['paid', 'open'],
  },
  {
    what: 'a parameter without a value',
    code: 'missing_parameter',
    files: parametrised(''),
    query: { metrics: ['orders.chosen'] },
    choices: ['paid', 'open'],
    hint: /--parameter state=value/,
    repaired: { metrics: ['orders.chosen'], parameters: { state: 'paid' } },
  },
  {
    what: 'a parameter that is none',
    code: 'unknown_name',
    files: parametrised(', default: open'),
    query: { metrics: ['orders.chosen'], parameters: { stat: 'paid' } },
    wrong: 'stat',
    choices: ['state'],
  },
  {
    what: 'what the planner cannot do',
    code: 'not_supported',
    query: { metrics: ['sum(orders.buyer.regions.id)'] },
    hint: /Ask for less/,
    repaired: revenue,
  },

  {
    what: 'an unclosed text',
    code: 'sql_fragment',
    query: { ...revenue, where: ["orders.status = 'paid"] },
    hint: /./,
    repaired: revenue,
  },
  {
    what: 'a function of the engine',
    code: 'function',
    query: { ...revenue, where: ["read_text(orders.status) = ''"] },
    hint: /./,
    repaired: revenue,
  },
  {
    what: 'an aggregate as other tools call it',
    code: 'function',
    query: { ...revenue, metrics: ['Count_Distinct(orders.status)'] },
    hint: /write count\(DISTINCT x\)/,
    repaired: { ...revenue, metrics: ['count(DISTINCT orders.status)'] },
  },
  {
    what: 'a subquery',
    code: 'subquery',
    query: { ...revenue, where: ['orders.id in (select 1)'] },
    hint: /./,
    repaired: revenue,
  },
  {
    what: 'a window',
    code: 'window',
    query: { metrics: ['sum(orders.amount) over ()'] },
    hint: /./,
    repaired: revenue,
  },
  {
    what: 'no SQL',
    code: 'sql_syntax',
    query: { ...revenue, where: ['case when orders.id'] },
    hint: /./,
    repaired: revenue,
  },
];

beforeAll(loadAnalyzer);

const read = (files: Case['files'] = {}) => load({ ...shop, ...files });

/** What the query is refused with, or the file of what it asks. */
function refused({ model, diagnostics }: LoadedModel, { query, role, isOfFile }: Case): UserError {
  const [first] = diagnostics.filter(({ severity }) => severity === 'error');
  if (isOfFile === true && first !== undefined)
    return new UserError(first.rule, first.message, { hint: first.hint });
  expect(first).toBeUndefined();
  return refusal(() => compile(modelForRole(model, role), query));
}

function refusal(run: () => unknown): UserError {
  try {
    run();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('it was answered');
}

/** The query with a choice where the wrong text stood. */
function pasted({ query, wrong }: Case, choice: string): Query {
  if (wrong === undefined) return { ...query, dimensions: [...(query.dimensions ?? []), choice] };
  // A text that is no object stands inside the quotes of another; one that ends with them is told
  // apart by them.
  const quoted = wrong.endsWith('"') && !wrong.startsWith('"') ? `${choice}"` : choice;
  return JSON.parse(JSON.stringify(query).replaceAll(wrong, quoted)) as Query;
}

describe('a refusal lists what can be written', () => {
  test.each(cases.map((one) => [`${one.code}: ${one.what}`, one] as const))(
    '%s',
    async (_, one) => {
      const loaded = await read(one.files);
      const { model } = loaded;
      const error = refused(loaded, one);
      expect({ code: error.code, choices: choicesOf(error) }).toEqual({
        code: one.code,
        choices: one.choices ?? [],
      });
      for (const choice of one.choices ?? []) {
        expect(error.hint).toContain(choice);
        if (one.repaired === undefined)
          expect(compile(model, pasted(one, choice)).sql).toContain('SELECT');
      }
      if (one.hint !== undefined) expect(`${error.message} ${error.hint}`).toMatch(one.hint);
      const { repaired } = one;
      if (repaired === undefined) expect(one.choices).not.toEqual([]);
      else if ('files' in repaired) {
        const { model: whole } = await read({ ...one.files, ...repaired.files });
        expect(compile(modelForRole(whole, one.role), repaired.query ?? one.query).sql).toContain(
          'SELECT',
        );
      } else expect(compile(model, repaired).sql).toContain('SELECT');
    },
  );
});

test('every code has a case', () => {
  const tested = new Set<string>(cases.map(({ code }) => code));
  expect(Object.keys(codes).filter((code) => !tested.has(code))).toEqual([]);
});
