import { rowsOf } from '../blind/answer.ts';
import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const k = [1e3, 'k'] as const;

/** English answers of a few sentences, over results of one cell, of texts, dates and fractions. */
export const short: readonly Telling[] = [
  told('10-one-cell', 'How many active subscriptions do we have?', (dice) => {
    const count = near(dice, 23_417);
    return [
      [
        withSql(
          "SELECT count(*) AS active FROM subscriptions WHERE status = 'active'",
          rowsOf('q1', 'active', [count]),
        ),
      ],
      `There are currently ${n(count)} active subscriptions [q1]. I counted every row with status 'active'; paused and
      past-due subscriptions aren't included.`,
    ];
  }),
  told('10-fractions', 'What are the open and click rates of the last campaigns?', (dice) => {
    const rows = ['Summer sale', 'Back to school', 'Win-back'].map((name, index) => {
      const open = near(dice, [4120, 3685, 2240][index] ?? 0) / 1e4;
      return [name, near(dice, [52_000, 48_800, 19_300][index] ?? 0), open, open / 5] as const;
    });
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const [u, v, w] = amounts(rows, 3);
    return [
      [rowsOf('q1', 'campaign sent open_rate click_rate', ...rows)],
      `**Summer sale** did best: ${p(x)} of ${n(a)} recipients opened it and ${p(u)} clicked. **Back to school** reached ${p(y)}
      opens and ${p(v)} clicks (${n(b)} sent). **Win-back** lags with ${p(z)} and ${p(w)}, although it only went to ${n(c)}
      people [q1].

      In absolute terms, that's about ${s(a * x, k, 1)} opens for Summer sale vs. ${s(c * z, k, 1)} for Win-back.`,
    ];
  }),
  told(
    '10-first-last',
    'Since when has Acme been a customer and when did they last order?',
    (dice) => {
      const [orders, spent] = [near(dice, 87), near(dice, 214_300)];
      return [
        [
          withSql(
            "SELECT min(ordered_at) AS first_order, max(ordered_at) AS last_order, count(*) AS orders, sum(amount) AS amount FROM orders WHERE customer = 'Acme'",
            rowsOf('q1', 'first_order last_order orders amount', [
              '2019-02-14T09:12:00.000Z',
              '2025-08-03T16:40:00.000Z',
              orders,
              spent,
            ]),
          ),
        ],
        `Acme placed its first order on February 14, 2019 and its most recent one on August 3, 2025 [q1]. In between, it ordered
      ${n(orders)} times for a total of $${n(spent)}, so an average order is worth $${n(spent / orders)}.`,
      ];
    },
  ),
  told('10-ratio-words', 'How many support agents do we need per 1,000 customers?', (dice) => {
    const [agents, customers, tickets] = [near(dice, 38), near(dice, 21_900), near(dice, 6_480)];
    return [
      [rowsOf('q1', 'agents customers tickets_per_month', [agents, customers, tickets])],
      `Right now there are ${n(agents)} agents for ${n(customers)} customers, i.e. ${n((agents / customers) * 1000, 2)} agents per 1,000
      customers, or one agent for every ${n(customers / agents)} customers [q1]. They handle ${n(tickets)} tickets a month
      (${n(tickets / agents)} each).

      If you grow to 30,000 customers at the same ratio, you would need ${n((30_000 * agents) / customers)} agents.`,
    ];
  }),
  told('10-list-text', 'Which products are discontinued?', () => {
    return [
      [
        withSql(
          "SELECT sku, name, discontinued_on FROM products WHERE status = 'discontinued' ORDER BY 3",
          rowsOf(
            'q1',
            'sku name discontinued_on',
            ['A-100', 'Desk lamp 40W', '2023-05-31'],
            ['A-215', 'Monitor arm 27"', '2024-01-15'],
            ['B-007', 'USB hub 7-port', '2024-11-30'],
          ),
        ),
      ],
      `Three products have been discontinued [q1]:

      1. **A-100** Desk lamp 40W (May 31, 2023)
      2. **A-215** Monitor arm 27" (January 15, 2024)
      3. **B-007** USB hub 7-port (November 30, 2024)

      Two of them were discontinued in {2024}.`,
    ];
  }),
  told('10-yes-no', 'Did more than half of users enable two-factor authentication?', (dice) => {
    const [users, secured] = [near(dice, 9_820), near(dice, 4_310)];
    return [
      [rowsOf('q1', 'users users_with_2fa', [users, secured])],
      `No, but it's getting close. ${n(secured)} of ${n(users)} users have enabled 2FA, which is ${p(secured / users)} [q1]. To
      pass the 50% mark, at least ${n(Math.ceil(users / 2 - secured))} more users would have to turn it on.`,
    ];
  }),
  told('10-days', 'How long does it take us to ship?', (dice) => {
    const rows = story(dice, ['Standard', 8_410], ['Express', 2_260]).map(
      ([name, orders], index) => [name, orders ?? 0, index === 0 ? 3.42 : 1.18] as const,
    );
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'shipping_method orders avg_days', ...rows)],
      `Standard orders take ${n(3.42, 1)} days on average, express orders ${n(1.18, 1)} days, so express is about ${n(3.42 / 1.18, 1)}
      times as fast [q1]. ${p(b / (a + b), 0)} of all orders (${n(b)} of ${n(a + b)}) are shipped express. Weighted by volume, the
      overall average is ${n((a * 3.42 + b * 1.18) / (a + b), 2)} days.`,
    ];
  }),
  told('10-cumulative', 'When did we cross 10,000 users?', (dice) => {
    const rows = story(
      dice,
      ['2024-03', 1_980],
      ['2024-04', 2_410],
      ['2024-05', 2_730],
      ['2024-06', 3_620],
      ['2024-07', 3_150],
    );
    const [a, b, c, d, e] = amounts(rows);
    return [
      [rowsOf('q1', 'month new_users', ...rows)],
      `In June 2024. By the end of May, we had ${n(a + b + c)} users; the ${n(d)} new users of June brought the running total to
      ${n(a + b + c + d)} [q1]. As of July 2024 it stands at ${n(a + b + c + d + e)}.`,
    ];
  }),
  told('10-outlier', 'Why is average order value so high this month?', (dice) => {
    const [orders, revenue, largest] = [near(dice, 1_204), near(dice, 139_600), near(dice, 41_250)];
    return [
      [
        rowsOf('q1', 'orders revenue', [orders, revenue]),
        rowsOf('q2', 'order_id customer amount', [88_213, 'Globex', largest]),
      ],
      `It's driven by a single order. AOV this month is $${n(revenue / orders, 2)} ($${n(revenue)} from ${n(orders)} orders) [q1], but
      order #88213 from Globex alone was worth $${n(largest)} [q2], ${p(largest / revenue)} of the month's revenue. Without it, AOV
      would be $${n((revenue - largest) / (orders - 1), 2)}.`,
    ];
  }),
  told('10-no-data', 'What was our revenue in Norway in 2019?', (dice) => {
    const rows = story(dice, [2021, 312_000], [2022, 405_000]);
    const [a, b] = amounts(rows);
    return [
      [
        withSql(
          "SELECT sum(amount) AS revenue FROM orders WHERE country = 'NO' AND extract(year FROM ordered_at) = 2019",
          rowsOf('q1', 'revenue', [null]),
        ),
        withSql(
          "SELECT extract(year FROM ordered_at) AS year, sum(amount) AS revenue FROM orders WHERE country = 'NO' AND extract(year FROM ordered_at) < 2023 GROUP BY 1",
          rowsOf('q2', 'year revenue', ...rows),
        ),
      ],
      `I can't find any orders from Norway in 2019; the result is empty [q1]. The earliest year with Norwegian orders is 2021, with
      revenue of $${n(a)}, followed by $${n(b)} in 2022 (${sp(growth(a, b))}) [q2].`,
    ];
  }),
  told('10-versus', 'Is the mobile app or the website better at converting?', (dice) => {
    const rows = story(dice, ['app', 30_400, 1_890], ['web', 112_700, 3_610]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'platform sessions orders', ...rows)],
      `The app converts better (${p(x / a)} vs ${p(y / b)} on the web), roughly ${n(x / a / (y / b), 1)}x [q1]. But the website still
      brings in most orders: ${n(y)} of ${n(x + y)}, since it has ${n(b / a, 1)} times the sessions (${s(b, k, 1)} vs ${s(a, k, 1)}).`,
    ];
  }),
  told('10-gap-to-target', 'How far are we from the $5M target?', (dice) => {
    const rows = story(dice, ['Q1', 1_120_000], ['Q2', 1_240_000], ['Q3', 1_310_000]);
    const [a, b, c] = amounts(rows);
    const sum = total([a, b, c]);
    return [
      [rowsOf('q1', 'quarter bookings', ...rows)],
      `You've booked $${s(sum, M, 2)} through Q3 ($${s(a, M, 2)} + $${s(b, M, 2)} + $${s(c, M, 2)}), so $${s(5e6 - sum, M, 2)} is
      missing to reach $5M [q1]. You are at ${p(sum / 5e6, 0)} of the target with 75% of the year gone. Q4 would have to come in
      ${p((5e6 - sum) / c - 1)} above Q3.`,
    ];
  }),
  told('10-truncated', 'List all invoices over 10,000 euros.', (dice) => {
    const rows = story(
      dice,
      ['INV-20417', 48_900],
      ['INV-20388', 37_150],
      ['INV-20502', 22_480],
      ['INV-20119', 15_030],
    );
    const [a, b, c, d] = amounts(rows);
    const count = near(dice, 164);
    return [
      [
        withSql(
          'SELECT invoice_no, amount FROM invoices WHERE amount > 10000 ORDER BY amount DESC LIMIT 4',
          rowsOf('q1', 'invoice_no amount', ...rows),
        ),
        withSql(
          'SELECT count(*) AS n FROM invoices WHERE amount > 10000',
          rowsOf('q2', 'n', [count]),
        ),
      ],
      `There are ${n(count)} invoices above €10,000 [q2]. The four largest are [q1]:

      - INV-20417: €${n(a)}
      - INV-20388: €${n(b)}
      - INV-20502: €${n(c)}
      - INV-20119: €${n(d)}

      These four add up to €${n(a + b + c + d)}. I left out the other ${n(count - 4)}; ask if you need the complete list.`,
    ];
  }),
];
