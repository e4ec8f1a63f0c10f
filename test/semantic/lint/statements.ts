/** The semantic layer that the statements are about. */
export const lintModel = {
  orders: `
dataset: orders
source: main.orders
primary_key: [id]
unique_keys: [[order_number]]
default_time: placed_at
fields: [{name: id}, {name: order_number}, {name: buyer_id}, {name: recipient_id}, {name: status}, {name: channel}, {name: currency}, {name: placed_at, type: datetime}, {name: net, expr: amount}]
metrics:
  - {name: revenue, agg: sum, of: amount, where: status = 'paid'}
  - {name: web_revenue, agg: sum, of: net, where: "channel = 'web' and status = 'paid'"}
  - {name: orders, agg: count}
  - {name: shipping, agg: sum, of: freight}
relationships:
  - {to: customers, on: {buyer_id: id}, role: buyer}
  - {to: customers, on: {recipient_id: id}, role: recipient}
  - {to: rates, on: {currency: currency, day: day}}
`,
  customers: `
dataset: customers
source: main.customers
primary_key: [id]
fields: [{name: id}, {name: region_id}, {name: segment}, {name: is_test, type: boolean}]
metrics:
  - {name: credit, agg: sum, of: limit_eur, where: is_test = false}
relationships: [{to: regions, on: {region_id: id}}]
`,
  regions:
    'dataset: regions\nsource: main.regions\nprimary_key: [id]\nfields: [{name: id}, {name: name}]\n',
  items: `
dataset: items
source: main.order_items
primary_key: [order_id, line]
fields: [{name: order_id}, {name: line}, {name: product_id}, {name: kind}]
metrics: [{name: pieces, agg: sum, of: quantity}, {name: sales, agg: sum, of: price, where: "kind in ('sale', 'gift')"}]
relationships: [{to: orders, on: {order_id: id}}, {to: products, on: {product_id: id}}]
`,
  products:
    'dataset: products\nsource: main.products\nprimary_key: [id]\nfields: [{name: id}, {name: category}]\nmetrics: [{name: weight, agg: sum, of: grams}]\n',
  payments:
    'dataset: payments\nsource: main.payments\nprimary_key: [id]\nfields: [{name: id}, {name: order_id}]\nmetrics: [{name: received, agg: sum, of: paid_eur}]\nrelationships: [{to: orders, on: {order_id: id}}]\n',
  rates:
    'dataset: rates\nsource: main.rates\nprimary_key: [currency, day]\nfields: [{name: currency}, {name: day, type: date}, {name: to_eur}]\n',
  old_orders:
    'dataset: old_orders\nsource: archive.orders\nprimary_key: [id]\nfields: [{name: id}, {name: amount}]\n',
} as const;

type Rule = 'fan_out' | 'missing_filter' | 'unknown_join';
/** A statement and the rules that it breaks. */
export type LabelledStatement = readonly [sql: string, ...breaks: Rule[]];

const fan = 'fan_out';
const filter = 'missing_filter';
const join = 'unknown_join';
const paid = "status = 'paid'";

/** Statements with a fault. */
const wrong: readonly LabelledStatement[] = [
  // The rows of an order are repeated by its items or payments.
  [
    `select sum(o.amount) from orders o join order_items i on i.order_id = o.id where o.${paid}`,
    fan,
  ],
  [`select sum(amount) from orders o left join payments p on p.order_id = o.id where ${paid}`, fan],
  [
    `select o.channel, sum(o.amount) from main.orders o inner join main.order_items i on o.id = i.order_id where o.${paid} group by o.channel`,
    fan,
  ],
  [`select sum(o.freight) from orders o, order_items i where i.order_id = o.id`, fan],
  [`select avg(o.freight) from orders o join payments p on o.id = p.order_id`, fan],
  [`select count(o.id) from orders o join order_items i on i.order_id = o.id`, fan],
  [`select sum(p.paid_eur) from payments p join order_items i on i.order_id = p.order_id`, fan],
  [
    `select sum(p.paid_eur) from payments p join orders o on p.order_id = o.id join order_items i on i.order_id = o.id`,
    fan,
  ],
  [
    `select sum(i.quantity), sum(p.paid_eur) from order_items i join payments p on p.order_id = i.order_id`,
    fan,
  ],
  [`select sum(o.freight * 1.19) from orders o join order_items i on i.order_id = o.id`, fan],
  [
    `select sum(case when o.channel = 'web' then o.freight else 0 end) from orders o join order_items i on i.order_id = o.id`,
    fan,
  ],
  [
    `select sum(case when i.kind = 'gift' then o.freight end) from orders o join order_items i on i.order_id = o.id`,
    fan,
  ],
  [
    `select round(sum(o.freight) / 100, 2) from orders o join order_items i on i.order_id = o.id`,
    fan,
  ],
  [
    `select sum(coalesce(o.freight, 0)) from orders o left join order_items i on i.order_id = o.id`,
    fan,
  ],
  [
    `select c.segment, sum(c.limit_eur) from customers c join orders o on o.buyer_id = c.id where c.is_test = false group by 1`,
    fan,
  ],
  [`select sum(pr.grams) from products pr join order_items i on i.product_id = pr.id`, fan],
  [
    `with x as (select o.id, o.freight, i.kind from orders o join order_items i on i.order_id = o.id) select sum(freight) from x`,
    fan,
  ],
  [
    `with x as (select o.freight as cost from orders o left join payments p on p.order_id = o.id) select sum(cost) from x`,
    fan,
  ],
  [
    `select sum(t.freight) from (select o.freight, i.line from orders o join order_items i on i.order_id = o.id) t`,
    fan,
  ],
  [
    `with o as (select id, freight from orders) select sum(o.freight) from o join order_items i on i.order_id = o.id`,
    fan,
  ],
  [
    `with o as (select * from orders), i as (select order_id, product_id from order_items) select sum(p.paid_eur) from payments p join order_items x on x.order_id = p.order_id`,
    fan,
  ],
  [
    `select sum(t.total) from (select order_id, sum(paid_eur) as total from payments group by order_id) t join order_items i on i.order_id = t.order_id`,
    fan,
  ],
  [
    `with t as (select order_id, sum(paid_eur) total from payments group by 1) select sum(total) from t join payments p on p.order_id = t.order_id`,
    fan,
  ],
  [
    `select sum(o.freight) from orders o join (select order_id, product_id, sum(quantity) q from order_items group by 1, 2) i on i.order_id = o.id`,
    fan,
  ],
  [`select sum(freight) from orders join order_items on order_items.order_id = orders.id`, fan],
  [`select sum(p.paid_eur) from payments p join order_items i using (order_id)`, fan],
  [`select sum(paid_eur) from payments join order_items using (order_id)`, fan],
  [
    `with i as (select order_id, line from order_items) select sum(p.paid_eur) from payments p join i using (order_id)`,
    fan,
  ],
  [`select sum(o.freight) from orders o join rates r on r.currency = o.currency`, fan],
  [`select sum(o.freight * r.to_eur) from orders o join rates r on r.currency = o.currency`, fan],
  [
    `select sum(o.freight) from regions g join customers c on c.region_id = g.id join orders o on o.buyer_id = c.id join order_items i on i.order_id = o.id`,
    fan,
  ],
  [
    `select g.name, sum(c.limit_eur) from regions g join customers c on c.region_id = g.id join orders o on o.buyer_id = c.id where not c.is_test group by g.name`,
    fan,
  ],
  [
    `select sum(o.freight) over (partition by o.channel) from orders o join order_items i on i.order_id = o.id`,
    fan,
  ],
  [`select count(o.order_number) from orders o join payments p on p.order_id = o.id`, fan],
  [`select median(o.freight) from orders o join order_items i on i.order_id = o.id`, fan],
  [
    `select o.channel from orders o join order_items i on i.order_id = o.id group by 1 having sum(o.freight) > 5`,
    fan,
  ],
  [
    `select * from customers where id in (select o.buyer_id from orders o join order_items i on i.order_id = o.id group by 1 having sum(o.freight) > 5)`,
    fan,
  ],
  [
    `select sum(o.freight) from orders o join order_items i on i.order_id = o.id and i.kind = 'gift'`,
    fan,
  ],
  [
    `select sum(freight) from (select distinct o.id, o.freight, i.line from orders o join order_items i on i.order_id = o.id) t join payments p on p.order_id = t.id`,
    fan,
  ],
  // Filters that the metric has.
  [`select sum(amount) from orders`, filter],
  [`select sum(amount) from orders where status = 'open'`, filter],
  [`select sum(o.amount) from orders as o where o.channel = 'web'`, filter],
  [`select channel, sum(amount) as s from orders group by channel order by s desc`, filter],
  [`select sum(amount * 1.19) from orders`, filter],
  [`select sum(amount) / 1000 from main.orders`, filter],
  [`select sum(amount) from orders where status in ('paid', 'open')`, filter],
  [`select sum(amount) from orders where status <> 'cancelled'`, filter],
  [
    `with o as (select amount, channel from orders) select channel, sum(amount) from o group by 1`,
    filter,
  ],
  [`select sum(x.a) from (select amount as a from orders where channel = 'web') x`, filter],
  [
    `select c.segment, sum(o.amount) from orders o left join customers c on o.buyer_id = c.id group by 1`,
    filter,
  ],
  [`select sum(limit_eur) from customers`, filter],
  [`select sum(price) from order_items`, filter],
  [`select sum(price) from order_items where kind = 'return'`, filter],
  [`select sum(case when channel = 'web' then amount end) from orders`, filter],
  [`select date_trunc('month', placed_at), sum(amount) from orders group by 1`, filter],
  [`select sum(amount) from orders where status = 'paid' or channel = 'web'`, filter],
  [`select sum(o.amount) from orders o join order_items i on i.order_id = o.id`, fan, filter],
  [`select (select sum(amount) from orders) as total`, filter],
  [`select sum(amount) filter (where channel = 'web') from orders`, filter],
  // Joins that are none of the model's.
  [
    `select c.segment, sum(o.freight) from orders o left join customers c on o.id = c.id group by 1`,
    join,
  ],
  [`select sum(o.freight) from orders o join customers c on c.id = o.currency`, join],
  [
    `select g.name, count(c.id) from customers c left join regions g on c.id = g.id group by 1`,
    join,
  ],
  [`select sum(i.quantity) from order_items i join orders o on o.id = i.product_id`, join],
  [
    `select pr.category, sum(i.quantity) from order_items i join products pr on pr.id = i.order_id group by 1`,
    join,
  ],
];

/** Statements without a fault. */
const right: readonly LabelledStatement[] = [
  [`select sum(amount) from orders where ${paid}`],
  [`select sum(amount) from orders where status in ('paid')`],
  [`select sum(amount) from orders where 'paid' = status`],
  [`select status, sum(amount) from orders group by status`],
  [`select status, channel, sum(amount) from orders group by 1, 2`],
  [`select sum(case when ${paid} then amount end) from orders`],
  [`select sum(case when status = 'paid' then amount else 0 end) as s from orders`],
  [`select sum(amount) filter (where ${paid}) from orders`],
  [`select sum(o.amount) from orders o where (o.${paid}) and o.channel = 'web'`],
  [`with p as (select * from orders where ${paid}) select count(*) from p`],
  [`with p as (select amount from orders where ${paid}) select sum(amount) from p`],
  [`select sum(a) from (select amount as a, status as s from orders) t where s = 'paid'`],
  [
    `with o as (select status, amount from orders) select status, sum(amount) from o group by status`,
  ],
  [
    `select c.segment, sum(o.amount) from orders o join customers c on o.buyer_id = c.id where o.${paid} group by 1`,
  ],
  [
    `select c.segment, sum(o.amount) from orders o left join customers c on c.id = o.recipient_id where o.${paid} group by c.segment`,
  ],
  [
    `select g.name, sum(o.freight) from orders o join customers c on o.buyer_id = c.id join regions g on c.region_id = g.id group by 1`,
  ],
  [`select sum(i.quantity) from order_items i join orders o on i.order_id = o.id`],
  [
    `select pr.category, sum(i.quantity) from order_items i join products pr on i.product_id = pr.id group by 1`,
  ],
  [
    `select o.channel, sum(i.quantity * pr.grams) from order_items i join products pr on i.product_id = pr.id join orders o on o.id = i.order_id group by 1`,
  ],
  [`select count(distinct o.id) from orders o join order_items i on i.order_id = o.id`],
  [`select max(o.freight), min(o.freight) from orders o join order_items i on i.order_id = o.id`],
  [`select count(*) from orders o join order_items i on i.order_id = o.id`],
  [`select count(i.line) from orders o join order_items i on i.order_id = o.id`],
  [
    `select sum(o.freight) from orders o join (select order_id, sum(quantity) q from order_items group by order_id) i on i.order_id = o.id`,
  ],
  [
    `select sum(o.freight) from orders o left join (select distinct order_id from order_items) i on i.order_id = o.id`,
  ],
  [
    `with i as (select order_id, count(*) n from order_items group by 1) select sum(o.freight), sum(i.n) from orders o left join i on i.order_id = o.id`,
  ],
  [
    `select sum(o.freight) from orders o where exists (select 1 from order_items i where i.order_id = o.id)`,
  ],
  [`select sum(o.freight) from orders o where o.id in (select order_id from order_items)`],
  [
    `select sum(freight) from (select distinct o.id, o.freight from orders o join order_items i on i.order_id = o.id) t`,
  ],
  [
    `select sum(o.freight) from orders o join rates r on r.currency = o.currency and r.day = o.placed_at`,
  ],
  [
    `select sum(o.freight * r.to_eur) from orders o join rates r on r.currency = o.currency and r.day = date '2024-01-01'`,
  ],
  [
    `select sum(o.freight) from orders o left join order_items i on i.order_id = o.id and i.line = 1`,
  ],
  [`select sum(o.freight) from orders o join payments p on p.order_id = o.id and p.id = 7`],
  [`select sum(p.paid_eur) from payments p join orders o on p.order_id = o.id`],
  [
    `select sum(p.paid_eur) from payments p left join orders o on o.id = p.order_id left join customers c on c.id = o.buyer_id`,
  ],
  [
    `select b.segment, r.segment, sum(o.freight) from orders o left join customers b on b.id = o.buyer_id left join customers r on r.id = o.recipient_id group by 1, 2`,
  ],
  [`select sum(freight) from orders`],
  [`select count(id) from orders where channel = 'web'`],
  [`select avg(amount) from orders`],
  [`select max(amount) from orders`],
  [`select sum(amount) from archive.orders`],
  [`select sum(limit_eur) from customers where is_test = false`],
  [`select sum(limit_eur) from customers where not is_test`],
  [`select is_test, sum(limit_eur) from customers group by 1`],
  [`select sum(price) from order_items where kind in ('gift', 'sale')`],
  [`select sum(price) from order_items where kind = 'sale'`],
  [`select sum(x) from other_table x join another y on x.id = y.x_id`],
  [`select sum(o.freight) from orders o join other z on z.order_id = o.id`],
  [`select sum(t.f) from (select channel, sum(freight) f from orders group by 1) t`],
  [
    `select avg(t.n) from (select order_id, count(*) n from order_items group by 1) t join orders o on o.id = t.order_id`,
  ],
  [`select sum(o.freight) from orders o join (select count(*) n from payments) x on x.n > 0`],
  [`select sum(o.freight) from orders o semi join order_items i on i.order_id = o.id`],
  [`select sum(amount) from orders where lower(status) = 'paid' and status = 'paid'`],
  [
    `with recent as (select * from orders where ${paid} and placed_at > '2024-01-01') select channel, count(*) from recent group by 1`,
  ],
  [`select sum(o.amount) from orders o join orders p on p.id = o.id where o.${paid}`],
  [`select sum(o.freight) from orders o join orders p on p.order_number = o.order_number`],
  [`select sum(a.freight) from orders a union all select sum(b.paid_eur) from payments b`],
  [`select channel, sum(freight) over (partition by channel) from orders`],
  [`select sum(case when status = 'paid' then amount when status = 'open' then 0 end) from orders`],
  [`select sum(amount) from (select * from orders where ${paid}) x`],
];

export const statements: readonly LabelledStatement[] = [...wrong, ...right];
