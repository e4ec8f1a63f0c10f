import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from './kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const K = [1e3, 'K'] as const;
const M = [1e6, 'M'] as const;

export const commerce: readonly Telling[] = [
  told('3-one-count', 'How many active customers do we have?', (dice) => {
    const active = dice.between(10_000, 60_000);
    return [[rowsOf('q1', 'active_customers', [active])], `${n(active)} active customers. [q1]`];
  }),
  told('3-price-volume', 'Why did revenue change in April 2025?', (dice) => {
    const [o1, o2] = [dice.between(2600, 3900), dice.between(2600, 3900)];
    const [r1, r2] = [o1 * dice.between(340, 410), o2 * dice.between(340, 410)];
    return [
      [rowsOf('q1', 'month orders revenue', ['2025-03', o1, r1], ['2025-04', o2, r2])],
      `Revenue went from $${s(r1, M, 2)} in March to $${s(r2, M, 2)} in April (${sp(growth(r1, r2))}).

      - Orders: ${n(o1)} → ${n(o2)} (${sp(growth(o1, o2))})
      - Average order value: $${n(r1 / o1, 2)} → $${n(r2 / o2, 2)} (${sp(growth(r1 / o1, r2 / o2))})

      Source: [q1]. Cancelled orders are not included.`,
    ];
  }),
  told('3-top5', 'Top 5 products by revenue in 2024?', (dice) => {
    const rows = ranked(dice, 'Trail Boot|Rain Shell|Day Pack|Camp Stove|Wool Socks', [9e4, 7e5]);
    const all = sum(rows) + dice.between(400_000, 2_000_000);
    const lines = rows.map(
      ([name, value], index) => `| ${index + 1} | ${name} | $${n(value)} | ${p(value / all)} |`,
    );
    return [
      [
        withSql(
          "SELECT product, SUM(amount) AS revenue FROM orders WHERE ordered_at >= '2024-01-01' AND ordered_at < '2025-01-01' GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
          rowsOf('q1', 'product revenue', ...rows),
        ),
        rowsOf('q2', 'total_revenue', [all]),
      ],
      `| # | Product | Revenue | Share of total |
      |---|---|---|---|
      ${lines.join('\n')}

      The five together bring in $${s(sum(rows), M, 2)}, or ${p(sum(rows) / all)} of the
      $${s(all, M, 2)} sold in 2024 [q1][q2].`,
    ];
  }),
  told('3-returns', 'Which category is returned most often?', (dice) => {
    const rows = ['Shoes', 'Jackets', 'Bags', 'Socks'].map((name, index) => {
      const sold = dice.between(1900, 9800);
      return [name, sold, part(sold, 0.14 - index * 0.03 + dice.next() / 60)] as const;
    });
    const [sold, back] = [column(rows, 1), column(rows, 2)];
    const rate = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'category sold returned', ...rows)],
      `{m:Shoes~Socks}, with a return rate of **${p(rate(0))}**. That is
      ${n(rate(0) / (back / sold), 1)} times the overall rate of ${p(back / sold)}
      (${n(back)} of ${n(sold)} items). The lowest rate is that of socks: ${p(rate(3))} [q1].`,
    ];
  }),
  told(
    '3-late-large',
    'How many large orders (over $500) shipped more than 3 days late?',
    (dice) => {
      const all = dice.between(1200, 4800);
      const late = part(all, 0.05 + dice.next() / 9);
      return [
        [
          withSql(
            "SELECT COUNT(*) AS large, COUNT(*) FILTER (WHERE shipped_at > promised_at + INTERVAL '3 days') AS late FROM orders WHERE amount > 500",
            rowsOf('q1', 'large late', [all, late]),
          ),
        ],
        `${n(late)} of the ${n(all)} orders above $500 shipped more than 3 days late, i.e. about
      ${p(late / all)} of them [q1]. Orders that have not shipped yet are not counted as late.`,
      ];
    },
  ),
  told('3-last-30', 'How did the last 30 days go?', (dice) => {
    const [now, before] = [dice.between(90_000, 190_000), dice.between(90_000, 190_000)];
    return [
      [
        withSql(
          "SELECT period, SUM(amount) AS revenue FROM orders WHERE ordered_on BETWEEN DATE '2025-05-02' AND DATE '2025-06-30' GROUP BY 1",
          rowsOf('q1', 'period revenue', ['last_30_days', now], ['previous_30_days', before]),
        ),
      ],
      `In the last 30 days (June 1–30, 2025) we sold $${n(now)}, on average $${n(now / 30)} a day. In the
      30 days before (May 2–31) it was $${n(before)}, so we are ${way(before, now, ['up', 'down'])}
      ${p(Math.abs(growth(before, now)))} [q1].`,
    ];
  }),
  told('3-black-friday', 'How big was Black Friday weekend 2024?', (dice) => {
    const normal = dice.between(80_000, 120_000);
    const big = part(normal, 2.2 + dice.next() * 2);
    return [
      [
        withSql(
          "SELECT SUM(amount) AS bf_revenue FROM orders WHERE day BETWEEN '2024-11-29' AND '2024-12-02'",
          rowsOf('q1', 'bf_revenue', [big]),
        ),
        rowsOf('q2', 'avg_weekend_revenue', [normal]),
      ],
      `The four days from Friday, November 29 to Monday, December 2 brought in **$${n(big)}** [q1].
      A normal weekend makes $${s(normal, K)} [q2], so Black Friday was worth
      ${n(big / normal, 1)} of them, or $${n(big - normal)} more than usual.`,
    ];
  }),
  told('3-repeat', 'How many Q1 2024 customers came back within 90 days?', (dice) => {
    const first = dice.between(900, 3100);
    const back = part(first, 0.25 + dice.next() / 5);
    return [
      [
        withSql(
          "SELECT COUNT(*) AS cohort, SUM(CASE WHEN days_to_second <= 90 THEN 1 ELSE 0 END) AS returned FROM firsts WHERE first_quarter = '2024-Q1'",
          rowsOf('q1', 'cohort returned', [first, back]),
        ),
      ],
      `Of the ${n(first)} customers who bought for the first time in Q1 2024, ${n(back)}
      (${p(back / first)}) placed a second order within 90 days; ${n(first - back)} did not. [q1]`,
    ];
  }),
  told('3-cover', 'How long will SKU A-1042 last?', (dice) => {
    const stock = dice.between(60, 300);
    const sold = dice.between(90, 280);
    return [
      [
        rowsOf('q1', 'sku on_hand', ['A-1042', stock]),
        withSql(
          "SELECT sku, SUM(qty) AS units_28d FROM order_lines WHERE sku = 'A-1042' AND day >= CURRENT_DATE - 28 GROUP BY 1",
          rowsOf('q2', 'sku units_28d', ['A-1042', sold]),
        ),
      ],
      `SKU A-1042 has ${n(stock)} units on hand [q1]. It sold ${n(sold)} units in the past 28 days [q2],
      roughly ${n(sold / 28, 1)} a day, so the stock covers about ${n(stock / (sold / 28))} days.`,
    ];
  }),
  told('3-discounts', 'How much do we give away in discounts?', (dice) => {
    const gross = dice.between(1_200_000, 4_000_000);
    const net = part(gross, 0.82 + dice.next() / 10);
    return [
      [rowsOf('q1', 'gross_sales net_sales', [gross, net])],
      `Discounts took $${n(gross - net)} off gross sales of $${n(gross)}, leaving net sales of
      $${n(net)} [q1]. That is an effective discount rate of ${p(1 - net / gross)}.`,
    ];
  }),
  told('3-nps', "What's our NPS?", (dice) => {
    const [good, mid, bad] = [dice.between(210, 490), dice.between(90, 290), dice.between(40, 180)];
    const all = good + mid + bad;
    return [
      [rowsOf('q1', 'promoters passives detractors', [good, mid, bad])],
      `NPS is ${n(((good - bad) / all) * 100)}: ${p(good / all, 0)} promoters minus ${p(bad / all, 0)}
      detractors, from ${n(all)} responses [q1].`,
    ];
  }),
  told('3-rank', 'Where does Berlin rank by sales?', (dice) => {
    const rows = ranked(dice, 'Hamburg|Munich|Berlin|Cologne|Leipzig', [120_000, 900_000]);
    return [
      [rowsOf('q1', 'city sales', ...rows)],
      `Berlin ranks 3rd of 5 cities with €${n(at(rows, 2)[1])}, behind {m:Hamburg~Leipzig}
      (€${n(at(rows, 0)[1])}) and Munich (€${n(at(rows, 1)[1])}). It would need another
      €${n(at(rows, 1)[1] - at(rows, 2)[1])} to overtake second place [q1].`,
    ];
  }),
  told('3-median', "What's a typical order worth?", (dice) => {
    const median = dice.between(5200, 9900) / 100;
    const mean = Math.round(median * (130 + dice.between(1, 50))) / 100;
    const p95 = dice.between(41_000, 79_000) / 100;
    return [
      [rowsOf('q1', 'median_amount mean_amount p95_amount', [median, mean, p95])],
      `Half of all orders are below $${n(median, 2)} (the median). The mean is higher, $${n(mean, 2)},
      because a few orders are very large: the top 5% are above $${n(p95, 2)} [q1].`,
    ];
  }),
  told('3-peak-hour', 'When do people order?', (dice) => {
    const rows = ranked(dice, '20|21|12|9', [800, 5200]);
    const all = sum(rows) + dice.between(9000, 30_000);
    return [
      [
        rowsOf('q1', 'hour_of_day orders', ...rows.map(([hour, value]) => [Number(hour), value])),
        rowsOf('q2', 'orders', [all]),
      ],
      `Mostly in the evening: the busiest hour is 8 pm to 9 pm (20:00–21:00) with ${n(at(rows, 0)[1])}
      orders [q1], ${p(at(rows, 0)[1] / all)} of all ${n(all)} [q2]. At 9 am it is only
      ${n(at(rows, 3)[1])}.`,
    ];
  }),
  told('3-weekday', 'Is Monday better than Sunday?', (dice) => {
    const [monday, sunday] = [dice.between(300, 800), dice.between(300, 800)];
    return [
      [
        withSql(
          "SELECT weekday, AVG(orders) AS avg_orders FROM daily WHERE day >= '2025-01-01' GROUP BY 1",
          rowsOf('q1', 'weekday avg_orders', ['Monday', monday], ['Sunday', sunday]),
        ),
      ],
      `${monday > sunday ? 'Yes' : 'No'}. Since January 1, 2025, Mondays average ${n(monday)} orders and
      Sundays ${n(sunday)}, a difference of ${n(Math.abs(monday - sunday))} orders or
      ${p(Math.abs(growth(sunday, monday)), 0)} [q1].`,
    ];
  }),
  told('3-target', 'Are we on track for the $5M target this year?', (dice) => {
    const sold = dice.between(3_200_000, 4_400_000);
    return [
      [
        withSql(
          "SELECT SUM(amount) AS ytd FROM orders WHERE ordered_at >= '2025-01-01' AND ordered_at < '2025-11-01'",
          rowsOf('q1', 'ytd', [sold]),
        ),
      ],
      `As of October 31 we stand at $${s(sold, M, 2)}, ${p(sold / 5e6)} of the $5M target [q1]. We are
      $${n(5e6 - sold)} short, so November and December would each have to bring in about
      $${s((5e6 - sold) / 2, K, 0)}. The monthly average so far is $${s(sold / 10, K, 0)}.`,
    ];
  }),
  told('3-ytd', 'How are we doing year to date versus last year?', (dice) => {
    const [last, now] = [dice.between(6_000_000, 9_000_000), dice.between(6_000_000, 9_000_000)];
    return [
      [
        withSql(
          'SELECT year, SUM(amount) AS revenue FROM orders WHERE month <= 8 AND year IN (2024, 2025) GROUP BY year',
          rowsOf('q1', 'year revenue', [2024, last], [2025, now]),
        ),
      ],
      `**YTD (Jan–Aug 2025): $${n(now)}** vs. $${n(last)} in the same eight months of 2024
      (${sp(growth(last, now))} YoY, ${way(last, now, ['a gain', 'a loss'])} of
      $${n(Math.abs(now - last))}) [q1].`,
    ];
  }),
  told('3-months', 'Show monthly revenue for the first half of 2025 with the change.', (dice) => {
    const rows = walk(dice, '2025-01|2025-02|2025-03|2025-04|2025-05|2025-06', 300_000);
    const names = ['January', 'February', 'March', 'April', 'May', 'June'];
    const lines = rows.map(([, value], index) => {
      const change = index === 0 ? '–' : sp(growth(at(rows, index - 1)[1], value));
      return `| ${names[index]} | $${n(value)} | ${change} |`;
    });
    return [
      [rowsOf('q1', 'month revenue', ...rows)],
      `| Month | Revenue | MoM |
      | --- | ---: | ---: |
      ${lines.join('\n')}
      | **H1 total** | **$${n(sum(rows))}** | |

      June is ${way(at(rows, 0)[1], at(rows, 5)[1], ['above', 'below'])} January by
      ${p(Math.abs(growth(at(rows, 0)[1], at(rows, 5)[1])))}. Monthly average: $${n(sum(rows) / 6)}. [q1]`,
    ];
  }),
  told('3-no-2019', 'What was revenue in 2019?', () => [
    [
      withSql(
        'SELECT MIN(ordered_at) AS first_order, MAX(ordered_at) AS last_order FROM orders',
        rowsOf('q1', 'first_order last_order', ['2021-01-02 08:14:00', '2025-06-30 23:51:12']),
      ),
      rowsOf('q2', 'revenue_2019', [null]),
    ],
    `I can't tell: the table \`orders\` has no rows for 2019 [q2]. The first order is from
    {p:January 2, 2021~March 2, 2021} and the last from June 30, 2025 [q1].`,
  ]),
  told('3-excluded', 'How many orders in May 2025?', (dice) => {
    const [all, tests] = [dice.between(9000, 30_000), dice.between(21, 99)];
    return [
      [
        withSql(
          "SELECT COUNT(*) AS orders, SUM(CASE WHEN is_test = 1 THEN 1 ELSE 0 END) AS test_orders FROM orders WHERE ordered_at >= '2025-05-01' AND ordered_at < '2025-06-01'",
          rowsOf('q1', 'orders test_orders', [all, tests]),
        ),
      ],
      `There were ${n(all - tests)} real orders in May 2025: ${n(all)} rows in the table less ${n(tests)}
      test orders (${p(tests / all, 2)}) [q1].`,
    ];
  }),
  told('3-currencies', 'Revenue by currency?', (dice) => {
    const rows = [
      ['USD', dice.between(1_000_000, 9_000_000)],
      ['EUR', dice.between(1_000_000, 9_000_000)],
      ['GBP', dice.between(100_000, 900_000)],
      ['JPY', dice.between(10_000_000, 90_000_000)],
    ] as const;
    return [
      [rowsOf('q1', 'currency amount', ...rows)],
      `- US$${n(at(rows, 0)[1])}
      - €${s(at(rows, 1)[1], M, 2)}
      - £${s(at(rows, 2)[1], K)}
      - ¥${s(at(rows, 3)[1], M)}

      I did not add these up, as the four currencies cannot be summed without rates [q1].`,
    ];
  }),
  told('3-whales', 'Do we depend on a few big customers?', (dice) => {
    const all = dice.between(210, 480);
    const big = dice.between(9, 21);
    const revenue = dice.between(2_000_000, 6_000_000);
    const of = part(revenue, 0.3 + dice.next() / 4);
    return [
      [
        withSql(
          'SELECT COUNT(*) FILTER (WHERE spend > 10000) AS big, COUNT(*) AS customers, SUM(spend) FILTER (WHERE spend > 10000) AS big_spend, SUM(spend) AS spend FROM c',
          rowsOf('q1', 'big customers big_spend spend', [big, all, of, revenue]),
        ),
      ],
      `Yes, somewhat. ${n(big)} of ${n(all)} customers (${p(big / all)}) spend more than $10,000 a year,
      and they account for ${p(of / revenue, 0)} of revenue: $${s(of, M)} of $${s(revenue, M)} [q1].
      The average big customer spends $${n(of / big)}, the average other one
      $${n((revenue - of) / (all - big))}.`,
    ];
  }),
  told('3-gift-cards', 'How many gift cards are unredeemed, and since when?', (dice) => {
    const [open, value] = [dice.between(300, 900), dice.between(12_000, 40_000)];
    return [
      [rowsOf('q1', 'unredeemed balance oldest', [open, value, '2022-12-24'])],
      `${n(open)} gift cards worth $${n(value)} in total (about $${n(value / open)} each) are still
      unredeemed. The oldest was sold on {p:24 December 2022~12 December 2022} [q1].`,
    ];
  }),
  told('3-stores', 'Which stores lost sales compared with last year?', (dice) => {
    const rows = ['Dover', 'Hartford', 'Salem', 'Trenton', 'Utica'].map((name, index) => {
      const before = dice.between(200_000, 900_000);
      const now = part(before, index % 2 === 0 ? 0.75 + dice.next() / 5 : 1.05 + dice.next() / 5);
      return [name, before, now] as const;
    });
    const line = (index: number) => {
      const [name, before, now] = at(rows, index);
      return `- **${name}**: ${sp(growth(before, now))} ($${n(before)} → $${n(now)}, ${sn(now - before)})`;
    };
    return [
      [rowsOf('q1', 'store sales_2023 sales_2024', ...rows)],
      `Three of the 5 stores sold less in 2024 than in 2023 [q1]:

      ${[0, 2, 4].map(line).join('\n')}

      Hartford and Trenton grew. Across all stores sales went from $${s(column(rows, 1), M, 2)} to
      $${s(column(rows, 2), M, 2)} (${sp(growth(column(rows, 1), column(rows, 2)))}).`,
    ];
  }),
];
