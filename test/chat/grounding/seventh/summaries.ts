import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech, withSql } from '../third/kit.ts';
import { amounts, table, thrown, total } from './kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const k = [1e3, 'K'] as const;

/** English, as assistants summarize: a headline in bold, bullets, a remark at the end. */
export const summaries: readonly Telling[] = [
  told('7-headline', 'How is revenue split across product lines?', (dice) => {
    const rows = ranked(dice, 'Cloud|Hardware|Services|Training', [200_000, 3_000_000]);
    const [a, b, c, d] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'product_line revenue', ...rows)],
      `**Cloud leads with $${s(a, M, 2)}, or ${p(a / all)} of the $${s(all, M, 2)} total** [q1].

      - **Hardware**: $${s(b, M, 2)} (${p(b / all)})
      - **Services**: $${s(c, M, 2)} (${p(c / all)})
      - **Training**: $${s(d, M, 2)} (${p(d / all)})

      The two largest lines account for ${p((a + b) / all)} of revenue, and Cloud alone is
      ${n(a / d, 1)}x the size of Training.`,
    ];
  }),
  told('7-quarters', 'How did bookings develop over 2024?', (dice) => {
    const rows = walk(dice, '2024-Q1|2024-Q2|2024-Q3|2024-Q4', 800_000);
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'quarter bookings', ...rows)],
      `Bookings for 2024 came to **$${n(a + b + c + d)}** [q1]. By quarter:

      | Quarter | Bookings | QoQ |
      |---|---:|---:|
      | Q1 2024 | $${n(a)} | – |
      | Q2 2024 | $${n(b)} | ${sp(growth(a, b))} |
      | Q3 2024 | $${n(c)} | ${sp(growth(b, c))} |
      | Q4 2024 | $${n(d)} | ${sp(growth(c, d))} |

      The second half brought in $${n(c + d)}, ${way(a + b, c + d, ['up', 'down'])}
      ${p(Math.abs(growth(a + b, c + d)))} from $${n(a + b)} in the first half.`,
    ];
  }),
  told('7-up-from', 'How many active users did we have in October?', (dice) => {
    const a = dice.between(20_000, 40_000);
    const b = a + dice.between(1500, 6000);
    return [
      [rowsOf('q1', 'month active_users', ['2025-09', a], ['2025-10', b])],
      `There were **${n(b)}** active users in October 2025, up from ${n(a)} in September. That's an increase
      of ${n(b - a)} users, or about ${p(growth(a, b))} [q1].`,
    ];
  }),
  told('7-threshold', 'Which stores sold more than 5,000 units?', (dice) => {
    const rows = ranked(dice, 'Oak Street|Pier 9|Mill Lane|Station', [5900, 15_000]);
    const [a, b, c, d] = amounts(rows);
    return [
      [
        withSql(
          'SELECT store, sum(units) AS units FROM sales GROUP BY 1 HAVING sum(units) > 5000',
          rowsOf('q1', 'store units', ...rows),
        ),
      ],
      `Four stores sold more than 5,000 units [q1]:

      1. Oak Street – ${n(a)}
      2. Pier 9 – ${n(b)}
      3. Mill Lane – ${n(c)}
      4. Station – ${n(d)}

      Together they sold ${n(a + b + c + d)} units. Even the smallest of them, Station, is ${n(d - 5000)} units
      above your threshold.`,
    ];
  }),
  told('7-doubled', 'Did support volume grow since last year?', (dice) => {
    const a = dice.between(1200, 4000);
    const b = a * 2 + dice.between(100, 900);
    return [
      [rowsOf('q1', 'year tickets', [2023, a], [2024, b])],
      `Yes, ticket volume more than doubled: from ${n(a)} in 2023 to ${n(b)} in 2024
      (${sp(growth(a, b), 0)}) [q1]. That works out to roughly ${n(b / 12)} tickets a month, compared with
      ${n(a / 12)} a month the year before.`,
    ];
  }),
  told('7-nearly-third', 'What share of signups comes from referrals?', (dice) => {
    const all = dice.between(3000, 9000);
    const referred = part(all, 0.31 + dice.next() / 60);
    return [
      [rowsOf('q1', 'signups referral_signups', [all, referred])],
      `Nearly a third of signups come from referrals: ${n(referred)} out of ${n(all)}, i.e.
      ${p(referred / all)}. The other ${n(all - referred)} signed up on their own [q1].`,
    ];
  }),
  told('7-average-order', 'Compare average order value by channel.', (dice) => {
    const rows = table(dice, 'Web|App|Phone', [900, 4000], [60_000, 300_000]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const all = (x + y + z) / (a + b + c);
    return [
      [rowsOf('q1', 'channel orders revenue', ...rows)],
      `Average order value by channel [q1]:

      | Channel | Orders | Revenue | AOV |
      |:--|--:|--:|--:|
      | Web | ${n(a)} | $${n(x)} | $${n(x / a, 2)} |
      | App | ${n(b)} | $${n(y)} | $${n(y / b, 2)} |
      | Phone | ${n(c)} | $${n(z)} | $${n(z / c, 2)} |
      | **Total** | **${n(a + b + c)}** | **$${n(x + y + z)}** | **$${n(all, 2)}** |`,
    ];
  }),
  told('7-range', 'What do our monthly cloud bills look like?', (dice) => {
    const rows = walk(dice, '2025-01|2025-02|2025-03|2025-04|2025-05|2025-06', 42_000);
    const all = amounts(rows).slice(0, 6);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return [
      [rowsOf('q1', 'month bill', ...rows)],
      `Monthly bills ranged from $${n(low)} to $${n(high)} in the first six months of 2025, a spread of
      $${n(high - low)}. The average bill was $${n(total(all) / 6)}, and the six months add up to
      $${n(total(all))} [q1].`,
    ];
  }),
  told('7-top-five', 'Who are our five largest customers?', (dice) => {
    const rows = ranked(dice, 'Abel|Birch|Cobalt|Drift|Elm', [90_000, 700_000]);
    const [a, b, c, d, e] = amounts(rows);
    const whole = sum(rows) * 3 + dice.between(1000, 90_000);
    return [
      [rowsOf('q1', 'customer revenue', ...rows), rowsOf('q2', 'total_revenue', [whole])],
      `The five largest customers generate **$${n(sum(rows))}**, which is ${p(sum(rows) / whole)} of total revenue
      ($${n(whole)}) [q1, q2]:

      1. **Abel** – $${n(a)} (${p(a / whole)})
      2. **Birch** – $${n(b)} (${p(b / whole)})
      3. **Cobalt** – $${n(c)} (${p(c / whole)})
      4. **Drift** – $${n(d)} (${p(d / whole)})
      5. **Elm** – $${n(e)} (${p(e / whole)})`,
    ];
  }),
  told('7-days-span', 'How long did the outage tickets stay open?', (dice) => {
    const rows = table(dice, 'INC-4410|INC-4417|INC-4502', [3, 90]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'ticket hours_open', ...rows)],
      `INC-4410 stayed open for ${n(a)} hours, INC-4417 for ${n(b)} hours and INC-4502 for ${n(c)} hours [q1].
      On average that's ${n((a + b + c) / 3, 1)} hours per ticket (about ${n((a + b + c) / 72, 1)} days).`,
    ];
  }),
  told('7-cumulative', 'Show cumulative signups this spring.', (dice) => {
    const rows = walk(dice, '2025-03|2025-04|2025-05', 2200);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'month signups', ...rows)],
      `| Month | New signups | Cumulative |
      |---|---|---|
      | March 2025 | ${n(a)} | ${n(a)} |
      | April 2025 | ${n(b)} | ${n(a + b)} |
      | May 2025 | ${n(c)} | ${n(a + b + c)} |

      By the end of May you had gained ${n(a + b + c)} signups since 1 March [q1].`,
    ];
  }),
  told('7-pp-change', 'Has the refund rate improved since 2023?', (dice) => {
    const [o1, o2] = thrown(dice, [20_000, 50_000], [20_000, 50_000]);
    const [r1, r2] = [part(o1, 0.05 + dice.next() / 50), part(o2, 0.02 + dice.next() / 50)];
    return [
      [rowsOf('q1', 'year orders refunds', [2023, o1, r1], [2024, o2, r2])],
      `Yes. The refund rate fell from ${p(r1 / o1, 2)} in 2023 to ${p(r2 / o2, 2)} in 2024, an improvement of
      ${n((r1 / o1 - r2 / o2) * 100, 2)} percentage points [q1]. In absolute terms, refunds went from ${n(r1)}
      (of ${n(o1)} orders) to ${n(r2)} (of ${n(o2)} orders).`,
    ];
  }),
  told('7-version', 'Which release has the fewest crashes?', (dice) => {
    const rows = table(dice, 'v3.9.1|v3.10.0|v3.10.2', [120, 900], [20_000, 80_000]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'release crashes sessions', ...rows)],
      `Crashes per 1,000 sessions by release [q1]:

      - \`v3.9.1\`: ${n((a / x) * 1000, 1)} (${n(a)} crashes)
      - \`v3.10.0\`: ${n((b / y) * 1000, 1)} (${n(b)} crashes)
      - \`v3.10.2\`: ${n((c / z) * 1000, 1)} (${n(c)} crashes)

      Across all three releases there were ${n(a + b + c)} crashes in ${n(x + y + z)} sessions.`,
    ];
  }),
  told('7-filters', 'What was EMEA enterprise revenue in Q3 2025 for deals above $50k?', (dice) => {
    const [count, amount] = thrown(dice, [12, 60], [900_000, 4_000_000]);
    const query = rowsOf('q1', 'deals revenue', [count, amount]);
    return [
      [
        withSql(
          `SELECT count(*) deals, sum(amount) revenue FROM deals WHERE region = 'EMEA' AND
          segment = 'enterprise' AND amount > 50000 AND closed >= '2025-07-01' AND closed < '2025-10-01'`,
          query,
        ),
      ],
      `EMEA enterprise revenue in Q3 2025 was **$${n(amount)}** from ${n(count)} deals above $50K, for an average
      deal size of $${n(amount / count)} [q1].

      *Filters: region = EMEA, segment = enterprise, amount > $50,000, closed between July 1 and
      September 30, 2025.*`,
    ];
  }),
  told('7-gap', 'How far is team Red behind team Blue?', (dice) => {
    const rows = ranked(dice, 'Blue|Red', [4000, 9000]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'team points', ...rows)],
      `Team Red trails team Blue by ${n(a - b)} points (${n(b)} vs. ${n(a)}). Red has scored
      ${p(b / a)} of Blue's total [q1].`,
    ];
  }),
  told('7-churn', 'What happened to MRR in May?', (dice) => {
    const [open, fresh, grown, lost] = thrown(
      dice,
      [200_000, 400_000],
      [12_000, 30_000],
      [4000, 11_000],
      [5000, 14_000],
    );
    const close = open + fresh + grown - lost;
    return [
      [
        rowsOf('q1', 'month opening_mrr new_mrr expansion_mrr churned_mrr closing_mrr', [
          '2025-05',
          open,
          fresh,
          grown,
          lost,
          close,
        ]),
      ],
      `MRR rose from $${n(open)} to $${n(close)} in May 2025 (${sp(growth(open, close))}):

      - **New:** +$${n(fresh)}
      - **Expansion:** +$${n(grown)}
      - **Churn:** -$${n(lost)}

      Net new MRR was $${n(close - open)}, and the churn rate ${p(lost / open, 2)} of opening MRR [q1].`,
    ];
  }),
  told('7-two-queries', 'What is our conversion from visit to order?', (dice) => {
    const [visits, carts] = thrown(dice, [300_000, 900_000], [20_000, 60_000]);
    const orders = part(carts, 0.3 + dice.next() / 4);
    return [
      [rowsOf('q1', 'visits carts', [visits, carts]), rowsOf('q2', 'orders', [orders])],
      `Of ${n(visits)} visits [q1], ${n(orders)} ended in an order [q2]: an overall conversion of
      ${p(orders / visits, 2)}. Step by step, ${p(carts / visits)} of visits reach the cart (${n(carts)}) and
      ${p(orders / carts)} of carts become orders. So ${n(carts - orders)} carts were abandoned [q1, q2].`,
    ];
  }),
  told('7-peak', 'When do we get the most calls?', (dice) => {
    const rows = table(dice, 'Monday|Tuesday|Wednesday|Thursday|Friday', [300, 800]);
    const top = [...rows].sort((a, b) => (b[1] ?? 0) - (a[1] ?? 0));
    const [a, b] = amounts(top);
    const all = total(rows.map(([, calls]) => calls ?? 0));
    return [
      [rowsOf('q1', 'weekday calls', ...rows)],
      `${top[0]?.[0]} is the busiest day with ${n(a)} calls, followed by ${top[1]?.[0]} with ${n(b)}. The quietest
      is ${top[4]?.[0]}. Over the five days there were ${n(all)} calls, an average of ${n(all / 5, 1)} per day, so
      ${top[0]?.[0]} is ${p(a / (all / 5) - 1)} above average [q1].`,
    ];
  }),
  told('7-plan', 'Are we on track for the 2.4 million target?', (dice) => {
    const [done] = thrown(dice, [1_300_000, 2_100_000]);
    return [
      [rowsOf('q1', 'bookings_ytd', [done])],
      `So far bookings stand at $${s(done, M, 2)}, which is ${p(done / 2.4e6)} of the $2.4M target. You still
      need $${s(2.4e6 - done, M, 2)} to get there [q1].`,
    ];
  }),
  told('7-nulls', 'How complete is the phone number field?', (dice) => {
    const all = dice.between(30_000, 90_000);
    const missing = part(all, 0.04 + dice.next() / 8);
    return [
      [rowsOf('q1', 'contacts without_phone', [all, missing])],
      `${n(all - missing)} of ${n(all)} contacts (${p((all - missing) / all)}) have a phone number.
      ${n(missing)} contacts, or roughly 1 in ${n(all / missing)}, don't [q1].`,
    ];
  }),
  told('7-mixed-units', 'How much storage do the three buckets use?', (dice) => {
    const rows = table(dice, 'raw|staging|archive', [120, 990]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'bucket size_gb', ...rows)],
      `- raw: ${n(a)} GB
      - staging: ${n(b)} GB
      - archive: ${n(c)} GB

      In total ${n(a + b + c)} GB, i.e. about ${n((a + b + c) / 1000, 2)} TB. The archive takes up
      ${p(c / (a + b + c))} of it [q1].`,
    ];
  }),
  told('7-margin', 'What margin do we make per category?', (dice) => {
    const rows = table(dice, 'Lamps|Chairs', [90_000, 200_000], [40_000, 80_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'category revenue cost', ...rows)],
      `Lamps earn a gross profit of $${n(a - x)} on $${n(a)} revenue (a margin of ${p((a - x) / a)}), while Chairs
      earn $${n(b - y)} on $${n(b)} (${p((b - y) / b)}). Combined gross profit: $${n(a - x + b - y)} [q1].`,
    ];
  }),
  told('7-decline', 'Why did gross sales drop in August?', (dice) => {
    const a = dice.between(400_000, 800_000);
    const b = part(a, 0.7 + dice.next() / 5);
    return [
      [rowsOf('q1', 'month gross_sales', ['2025-07', a], ['2025-08', b])],
      `Gross sales dropped **${p(-growth(a, b))}** in August 2025, from $${s(a, k, 1)} to $${s(b, k, 1)}: a loss
      of $${s(a - b, k, 1)} against July. The query doesn't tell why; it has no breakdown [q1].`,
    ];
  }),
  told('7-signed-list', 'Change in headcount per office?', (dice) => {
    const rows = table(dice, 'Lisbon|Krakow|Austin', [40, 190], [40, 190]);
    const lines = rows.map(
      ([name, a = 0, b = 0]) => `- **${name}**: ${n(a)} → ${n(b)} (${sn(b - a)})`,
    );
    const [from, to] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'office headcount_2023 headcount_2024', ...rows)],
      `${lines.join('\n')}

      Overall, headcount went from ${n(from)} to ${n(to)} (${sp(growth(from, to))}) [q1].`,
    ];
  }),
];
