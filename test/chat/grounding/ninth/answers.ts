import { rowsOf } from '../blind/answer.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';
import { near, story } from './kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const million = [1e6, ' million'] as const;
const k = [1e3, 'k'] as const;

/** English answers of a few sentences or bullets, with rough words, ranges, ranks and remarks. */
export const shorter: readonly Telling[] = [
  told('9-rough-thirds', 'How much of our traffic is mobile?', (dice) => {
    const rows = story(dice, ['mobile', 668_000], ['desktop', 301_000], ['tablet', 31_400]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        withSql(
          "SELECT device, count(*) AS sessions FROM sessions WHERE started_at >= now() - interval '30 days' GROUP BY device ORDER BY 2 DESC",
          rowsOf('q1', 'device sessions', ...rows),
        ),
      ],
      `About two thirds. Over the last 30 days, mobile accounted for ${n(a)} of ${n(all)} sessions (${p(a / all)}), desktop for
      just under a third (${p(b / all)}), and tablets for the remaining ${p(c / all)} [q1]. In other words, there are a bit more
      than two mobile sessions for every desktop session.`,
    ];
  }),
  told('9-ratio', 'What is our LTV:CAC ratio?', (dice) => {
    const [spend, customers, ltv] = [near(dice, 412_000), near(dice, 1630), near(dice, 905)];
    const cac = spend / customers;
    return [
      [
        rowsOf('q1', 'marketing_spend new_customers', [spend, customers]),
        rowsOf('q2', 'avg_lifetime_value', [ltv]),
      ],
      `Your **LTV:CAC ratio is about ${n(ltv / cac, 1)}:1**.

      - **CAC:** $${n(spend)} marketing spend / ${n(customers)} new customers = $${n(cac, 2)} [q1]
      - **LTV:** $${n(ltv)} per customer [q2]

      A ratio above 3:1 is commonly regarded as healthy, so you're in good shape.`,
    ];
  }),
  told('9-rank', 'Where does Portugal rank among our markets?', (dice) => {
    const rows = story(
      dice,
      ['Spain', 910_000],
      ['France', 820_000],
      ['Italy', 640_000],
      ['Portugal', 410_000],
      ['Belgium', 380_000],
      ['Ireland', 120_000],
    );
    const [a, , c, d, e] = amounts(rows);
    const all = total(rows.map((row) => Number(row[1])));
    return [
      [rowsOf('q1', 'country revenue', ...rows)],
      `Portugal ranks **4th out of 6 markets** with €${n(d)} in revenue [q1]. It's €${n(c - d)} behind third-placed Italy
      (€${n(c)}) and €${n(d - e)} ahead of Belgium in fifth place (€${n(e)}). Compared with the leader, Spain, it generates
      less than half as much (${p(d / a, 0)}). Its share of total revenue is ${p(d / all)}.`,
    ];
  }),
  told('9-range', 'How much do weekly sales fluctuate?', (dice) => {
    const rows = story(
      dice,
      ['2025-07-07', 51_000],
      ['2025-07-14', 48_200],
      ['2025-07-21', 62_500],
      ['2025-07-28', 55_900],
      ['2025-08-04', 44_300],
    );
    const [a, b, c, d, e] = amounts(rows);
    const mean = (a + b + c + d + e) / 5;
    return [
      [rowsOf('q1', 'week_start sales', ...rows)],
      `Weekly sales ranged between **$${n(e)}** (week of August 4) and **$${n(c)}** (week of July 21), a spread of
      $${n(c - e)} [q1]. The mean over the five weeks is $${n(mean)}; the best week was ${p(c / mean - 1, 0)} above it, the worst
      ${p(1 - e / mean, 0)} below.

      Most weeks fall in the $${s(e, k, 0)}–$${s(c, k, 0)} range. Since the peak, sales have dropped two weeks in a
      row: first by ${p(1 - d / c)} and then by ${p(1 - e / d)}.`,
    ];
  }),
  told('9-none', 'Which customers bought nothing in 2025?', (dice) => {
    const all = near(dice, 3120);
    return [
      [
        withSql(
          "SELECT c.name FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.ordered_at >= '2025-01-01' WHERE o.id IS NULL",
          rowsOf('q1', 'name'),
        ),
        rowsOf('q2', 'customers', [all]),
      ],
      `There are none: the query returned 0 rows [q1], so each of the ${n(all)} customers [q2] placed at least one order in 2025.

      That's a bit surprising, and might mean that inactive customers are removed from the \`customers\` table. It may be worth
      checking with whoever maintains it.`,
    ];
  }),
  told('9-null-caveat', 'What is the average order rating?', (dice) => {
    const [orders, rated] = [near(dice, 12_400), near(dice, 5310)];
    const mean = 4.27;
    return [
      [rowsOf('q1', 'orders rated_orders avg_rating', [orders, rated, mean])],
      `The average rating is **${n(mean, 1)} out of 5** [q1].

      Keep in mind that only ${n(rated)} of ${n(orders)} orders (${p(rated / orders, 0)}) were rated at all; the other
      ${n(orders - rated)} have no rating and are ignored in the average.`,
    ];
  }),
  told('9-compare-years', 'Did we hit our goal of 10% growth?', (dice) => {
    const rows = story(dice, [2023, 6_480_000], [2024, 7_390_000]);
    const [a, b] = amounts(rows);
    const goal = a * 1.1;
    return [
      [rowsOf('q1', 'year revenue', ...rows)],
      `Yes. Revenue went from $${s(a, million, 2)} in 2023 to $${s(b, million, 2)} in 2024, i.e. ${sp(growth(a, b))}, which is
      ${n(growth(a, b) * 100 - 10, 1)} percentage points above the 10% goal [q1].

      - Goal for 2024: $${s(goal, million, 2)} (2023 + 10%)
      - Actual: $${s(b, million, 2)}
      - Surplus: $${n(b - goal)}`,
    ];
  }),
  told('9-two-dimensions', 'Break down sales by region and channel.', (dice) => {
    const rows = [
      ['North', 'online', near(dice, 420_000)],
      ['North', 'store', near(dice, 260_000)],
      ['South', 'online', near(dice, 310_000)],
      ['South', 'store', near(dice, 430_000)],
    ] as const;
    const [a, b, c, d] = amounts(rows, 2);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'region channel sales', ...rows)],
      `| Region | Online | Store | Total | Online share |
      |---|---:|---:|---:|---:|
      | North | $${n(a)} | $${n(b)} | $${n(a + b)} | ${p(a / (a + b))} |
      | South | $${n(c)} | $${n(d)} | $${n(c + d)} | ${p(c / (c + d))} |
      | **Total** | **$${n(a + c)}** | **$${n(b + d)}** | **$${n(all)}** | **${p((a + c) / all)}** |

      - Online leads in the North, where it makes up ${p(a / (a + b), 0)} of sales, whereas in the South stores are ahead with
      ${p(d / (c + d), 0)}.
      - The South sells slightly more overall: $${n(c + d)} vs. $${n(a + b)}, a difference of $${n(c + d - a - b)}.
      - North online is the largest single segment at $${n(a)} (${p(a / all)} of the total) [q1].`,
    ];
  }),
  told('9-sequence', 'How did MRR move from January to June?', (dice) => {
    const rows = story(
      dice,
      ['2025-01-01T00:00:00.000Z', 181_000],
      ['2025-02-01T00:00:00.000Z', 188_000],
      ['2025-03-01T00:00:00.000Z', 197_500],
      ['2025-04-01T00:00:00.000Z', 193_000],
      ['2025-05-01T00:00:00.000Z', 204_000],
      ['2025-06-01T00:00:00.000Z', 219_000],
    );
    const [a, , c, d, e, f] = amounts(rows);
    return [
      [rowsOf('q1', 'month mrr', ...rows)],
      `MRR rose from **$${s(a, k, 1)}** in January to **$${s(f, k, 1)}** in June 2025, an increase of $${s(f - a, k, 1)} or
      ${p(growth(a, f))} over five months [q1]. That corresponds to an average monthly growth rate of
      ${p((f / a) ** (1 / 5) - 1)} (compounded).

      Only April broke the trend, slipping from $${s(c, k, 1)} to $${s(d, k, 1)} (${sp(growth(c, d))}). June was the strongest
      month in absolute terms, adding $${s(f - e, k, 1)}. Annualized, June's MRR implies an ARR of
      $${s(f * 12, M, 2)}.`,
    ];
  }),
  told('9-inventory-alert', 'Which SKUs will run out within two weeks?', (dice) => {
    const rows = [
      ['KT-1180', near(dice, 240), 31.4],
      ['KT-0442', near(dice, 95), 9.2],
      ['MX-77', near(dice, 610), 52.5],
    ] as const;
    const [a, b, c] = amounts(rows);
    return [
      [
        withSql(
          'SELECT sku, on_hand, avg_daily_units FROM stock WHERE on_hand / avg_daily_units < 14 ORDER BY on_hand / avg_daily_units',
          rowsOf('q1', 'sku on_hand avg_daily_units', ...rows),
        ),
      ],
      `Three SKUs have less than 14 days of cover left [q1]:

      | SKU | On hand | Units/day | Days left |
      |---|---|---|---|
      | KT-1180 | ${n(a)} | ${n(31.4, 1)} | ${n(a / 31.4, 1)} |
      | KT-0442 | ${n(b)} | ${n(9.2, 1)} | ${n(b / 9.2, 1)} |
      | MX-77 | ${n(c)} | ${n(52.5, 1)} | ${n(c / 52.5, 1)} |

      **KT-1180 is the most urgent**: at ${n(31.4, 1)} units per day, the ${n(a)} units in stock are gone in just over a week. To
      cover 30 days, you'd need to order about ${n(31.4 * 30 - a, 0)} more units of it.`,
    ];
  }),
  told(
    '9-multi-query',
    'Compare refunds to sales for the spring campaign (March 15 to April 15).',
    (dice) => {
      const [sales, orders] = [near(dice, 286_400), near(dice, 4120)];
      const [refunds, refunded] = [near(dice, 19_700), near(dice, 301)];
      return [
        [
          withSql(
            "SELECT sum(amount) AS sales, count(*) AS orders FROM orders WHERE campaign = 'spring' AND ordered_at BETWEEN '2025-03-15' AND '2025-04-15'",
            rowsOf('q1', 'sales orders', [sales, orders]),
          ),
          withSql(
            "SELECT sum(amount) AS refund_amount, count(*) AS refunds FROM refunds WHERE campaign = 'spring' AND ordered_at BETWEEN '2025-03-15' AND '2025-04-15'",
            rowsOf('q2', 'refund_amount refunds', [refunds, refunded]),
          ),
        ],
        `Between March 15 and April 15, 2025, the spring campaign brought in **$${n(sales)}** from ${n(orders)} orders [q1].
      ${n(refunded)} of these were refunded, for a total of **$${n(refunds)}** [q2].

      * Refund rate by order count: ${p(refunded / orders)}
      * Refund rate by value: ${p(refunds / sales)}
      * Net sales after refunds: $${n(sales - refunds)}
      * Average refund: $${n(refunds / refunded, 2)} (vs. an order of $${n(sales / orders, 2)})`,
      ];
    },
  ),
  told('9-perf', 'How fast is the API?', (dice) => {
    const rows = [
      ['/search', near(dice, 1_830_000), near(dice, 84), near(dice, 610), 0.0021],
      ['/checkout', near(dice, 212_000), near(dice, 143), near(dice, 1240), 0.0068],
    ] as const;
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [u, v] = amounts(rows, 3);
    return [
      [rowsOf('q1', 'endpoint requests p50_ms p99_ms error_rate', ...rows)],
      `**/search** handled ${s(a, M, 2)} requests with a median latency of ${n(x)} ms and a p99 of ${n(u)} ms; its error rate
      was ${p(0.0021, 2)}. **/checkout** is slower: ${n(y)} ms at the median and ${n(v / 1000, 2)} s at p99, with ${p(0.0068, 2)} of
      its ${s(b, k, 0)} requests failing [q1].

      So the checkout's tail latency is about ${n(v / u, 1)}x that of search, and its error rate more than three times as high.`,
    ];
  }),
  told('9-age', 'How old are our open tickets?', (dice) => {
    const rows = story(
      dice,
      ['0-7 days', 212],
      ['8-30 days', 131],
      ['31-90 days', 58],
      ['> 90 days', 19],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'age_bucket tickets', ...rows)],
      `There are ${n(all)} open tickets [q1]:

      - 0–7 days: ${n(a)} (${p(a / all, 0)})
      - 8–30 days: ${n(b)} (${p(b / all, 0)})
      - 31–90 days: ${n(c)} (${p(c / all, 0)})
      - Over 90 days: ${n(d)} (${p(d / all, 0)})

      Roughly half are less than a week old, while ${n(c + d)} (${p((c + d) / all)}) have been open for more than a month.`,
    ];
  }),
];
