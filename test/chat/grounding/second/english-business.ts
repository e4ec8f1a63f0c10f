import { rowsOf, writer } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from './kit.ts';

const { n, p: percent, s } = writer('en-US');
const p = (fraction: number, digits = 1) => percent(fraction, digits, '%');
const million = [1e6, 'M'] as const;
const millions = [1e6, ' million'] as const;
const thousand = [1e3, 'k'] as const;

export const business: readonly Telling[] = [
  told('region-headline', 'Which region sold most last year?', (dice) => {
    const rows = ranked(dice, 'EMEA|North America|APAC|LATAM', [400_000, 9_000_000]);
    const [first, second] = [at(rows, 0), at(rows, 1)];
    return [
      [rowsOf('q1', 'region revenue', ...rows)],
      `**{m:EMEA~LATAM} sold most: $${s(first[1], million)}**, which is ${p(first[1] / sum(rows))}
      of the total of $${n(sum(rows))} [q1].

      The runner-up, North America, came to $${n(second[1])}, so the gap between the two is
      $${n(first[1] - second[1])}. The four regions are sorted by revenue.`,
    ];
  }),
  told('month-table', 'Revenue by month for the first quarter of 2025?', (dice) => {
    const rows = walk(dice, '2025-01-01|2025-02-01|2025-03-01', 620_000);
    const [jan, feb, mar] = [at(rows, 0)[1], at(rows, 1)[1], at(rows, 2)[1]];
    return [
      [rowsOf('q1', 'month revenue', ...rows)],
      `Here is revenue for Q1 2025 [q1]:

      | Month | Revenue | Change |
      |---|---:|---:|
      | {p:January~June} 2025 | ${n(jan)} | – |
      | February 2025 | ${n(feb)} | {${growth(jan, feb) > 0 ? '+' : ''}${p(growth(jan, feb)).slice(1)} |
      | March 2025 | ${n(mar)} | {${growth(feb, mar) > 0 ? '+' : ''}${p(growth(feb, mar)).slice(1)} |
      | **Total** | **${n(sum(rows))}** | |

      On average that is ${n(sum(rows) / 3)} a month.`,
    ];
  }),
  told('churn-missing', 'What is our churn by plan, and why do people leave?', (dice) => {
    const counts = ranked(dice, 'Starter|Team|Enterprise', [1200, 9800]);
    const rows = counts.map(([plan, total]) => [
      plan,
      total,
      dice.between(20, Math.round(total / 6)),
    ]) as readonly (readonly [string, number, number])[];
    const [starter, team] = [at(rows, 0), at(rows, 1)];
    return [
      [rowsOf('q1', 'plan customers churned', ...rows)],
      `I can answer the first half. In the Starter plan ${n(starter[2])} of ${n(starter[1])}
      customers left, a churn rate of ${p(starter[2] / starter[1])}; in Team it was
      ${n(team[2])} of ${n(team[1])} (${p(team[2] / team[1])}) [q1]. That leaves
      ${n(starter[1] - starter[2])} active Starter customers.

      I can't tell you *why*: none of the tables records a reason for leaving.`,
    ];
  }),
  told('yoy-two-queries', 'How did orders in 2024 compare with 2023?', (dice) => {
    const [before, now] = [dice.between(41_000, 88_000), dice.between(41_000, 88_000)];
    return [
      [rowsOf('q1', 'orders', [before]), rowsOf('q2', 'orders', [now])],
      `Orders ${way(before, now, ['rose', 'fell'])} from ${n(before)} in 2023 [q1] to ${n(now)} in
      2024 {c:[q2]~[q9]}, a change of ${p(Math.abs(growth(before, now)))} year over year
      (${n(Math.abs(now - before))} orders).`,
    ];
  }),
  told('top-five-list', 'Top 5 products by units sold?', (dice) => {
    const rows = ranked(
      dice,
      'Aero Mug|Trail Pack|Nimbus Lamp|Cedar Desk|Pico Drone',
      [900, 48_000],
    );
    const others = dice.between(20_000, 90_000);
    const total = sum(rows) + others;
    return [
      [rowsOf('q1', 'product units', ...rows), rowsOf('q2', 'total_units', [total])],
      `The top 5 products by units sold:

      1. {m:Aero Mug~Pico Drone}: ${n(at(rows, 0)[1])}
      2. Trail Pack: ${n(at(rows, 1)[1])}
      3. Nimbus Lamp: ${n(at(rows, 2)[1])}
      4. Cedar Desk: ${n(at(rows, 3)[1])}
      5. Pico Drone: ${n(at(rows, 4)[1])}

      Together these 5 make up ${p(sum(rows) / total, 0)} of all ${n(total)} units [q1, q2]; the
      other products add ${n(others)}.`,
    ];
  }),
  told('arr-bridge', 'Walk me from opening to closing ARR.', (dice) => {
    const open = dice.between(8_000_000, 21_000_000);
    const [added, grown, lost] = [
      dice.between(700_000, 3e6),
      dice.between(2e5, 9e5),
      dice.between(1e5, 8e5),
    ];
    const close = open + added + grown - lost;
    return [
      [rowsOf('q1', 'opening_arr new_arr expansion_arr churned_arr', [open, added, grown, lost])],
      `ARR bridge for FY2025 [q1]:

      - Opening ARR: $${s(open, million, 2)}
      - New business: {+$${s(added, million, 2).slice(1)}
      - Expansion: {+$${s(grown, million, 2).slice(1)}
      - Churn: {−$${s(lost, million, 2).slice(1)}
      - **Closing ARR: $${s(close, million, 2)}**

      So ARR grew by ${p(growth(open, close))}. Net revenue retention is
      ${p((open + grown - lost) / open)}, gross retention ${p((open - lost) / open)}.`,
    ];
  }),
  told('funnel', 'What does our signup funnel look like?', (dice) => {
    const visits = dice.between(120_000, 480_000);
    const signups = Math.round(visits * (0.04 + dice.next() / 10));
    const paid = Math.round(signups * (0.1 + dice.next() / 4));
    return [
      [rowsOf('q1', 'step users', ['visit', visits], ['signup', signups], ['paid', paid])],
      `Of ${n(visits)} visitors, ${n(signups)} signed up (${p(signups / visits)}) and ${n(paid)} of
      those became paying customers, i.e. ${p(paid / signups)} of signups or ${p(paid / visits, 2)}
      of visitors [q1]. In other words, ${p(1 - paid / signups)} of the people who sign up never
      pay. The biggest drop is between step 1 and step 2.`,
    ];
  }),
  told('aov', 'What is our average order value?', (dice) => {
    const [orders, revenue] = [dice.between(12_000, 64_000), dice.between(1_400_000, 6_900_000)];
    return [
      [rowsOf('q1', 'orders revenue', [orders, revenue])],
      `Average order value is about **$${n(revenue / orders, 2)}** ($${n(revenue)} in revenue over
      ${n(orders)} orders) [q1].`,
    ];
  }),
  told('cagr', 'How fast have we grown since 2020?', (dice) => {
    const rows = [2020, 2021, 2022, 2023, 2024].map((year, index) => [
      year,
      Math.round(2_100_000 * 1.22 ** index * (0.9 + dice.next() / 4)),
    ]) as readonly (readonly [number, number])[];
    const [first, last] = [at(rows, 0)[1], at(rows, -1)[1]];
    return [
      [rowsOf('q1', 'year revenue', ...rows)],
      `Revenue went from $${s(first, millions, 2)} in 2020 to $${s(last, millions, 2)} in 2024 [q1].
      That is a CAGR of ${p((last / first) ** 0.25 - 1)} over 4 years, or
      ${p(growth(first, last), 0)} in total: ${n(last / first, 1)}x the 2020 level.`,
    ];
  }),
  told('late-deliveries', 'How many deliveries were late in May?', (dice) => {
    const [all, late] = [dice.between(3000, 9000), dice.between(180, 990)];
    return [
      [rowsOf('q1', 'deliveries late', [all, late])],
      `${n(late)} of the ${n(all)} deliveries in {p:May~July} were late, roughly ${p(late / all, 0)};
      ${n(all - late)} (${p(1 - late / all)}) arrived on time [q1]. I counted a delivery as late when
      it arrived after the promised date.`,
    ];
  }),
  told('share-shift', 'Did mobile gain share of traffic?', (dice) => {
    const [m1, d1, m2, d2] = [1, 2, 3, 4].map(() => dice.between(60_000, 240_000)) as [
      number,
      number,
      number,
      number,
    ];
    const [was, is] = [m1 / (m1 + d1), m2 / (m2 + d2)];
    return [
      [
        rowsOf(
          'q1',
          'year device sessions',
          [2023, 'mobile', m1],
          [2023, 'desktop', d1],
          [2024, 'mobile', m2],
          [2024, 'desktop', d2],
        ),
      ],
      `Mobile's share ${way(was, is, ['went up', 'went down'])} from ${p(was)} in 2023 to ${p(is)} in
      2024, ${n(Math.abs(is - was) * 100, 1)} percentage points [q1].
      Mobile sessions went from ${n(m1)} to ${n(m2)}, desktop sessions from ${n(d1)} to ${n(d2)}.`,
    ];
  }),
  told('sales-reps', 'Who are the best and worst reps?', (dice) => {
    const rows = ranked(
      dice,
      'Dana Cole|Imran Aziz|Lucy Park|Tom Reyes|Vera Novak',
      [80_000, 940_000],
    );
    const [best, worst] = [at(rows, 0)[1], at(rows, -1)[1]];
    return [
      [rowsOf('q1', 'rep bookings', ...rows)],
      `{m:Dana Cole~Lucy Park} leads with $${n(best)} in bookings. Vera Novak is last of the five reps
      with $${n(worst)}, which is ${p(worst / best, 0)} of the leader's figure [q1]. The average rep
      booked $${n(sum(rows) / 5)} and the median is $${n(at(rows, 2)[1])}.`,
    ];
  }),
  told('stock-cover', 'How many weeks of stock do we have?', (dice) => {
    const rows = ['A-100', 'B-205', 'C-310'].map((sku) => [
      sku,
      dice.between(400, 9000),
      dice.between(40, 320),
    ]) as readonly (readonly [string, number, number])[];
    const weeks = (row: readonly [string, number, number]) => n(row[1] / row[2], 1);
    return [
      [rowsOf('q1', 'sku on_hand weekly_sales', ...rows)],
      `Weeks of cover at the current rate of sale [q1]:

      | SKU | On hand | Sold per week | Weeks of cover |
      |---|---|---|---|
      ${rows.map((row) => `| ${row[0]} | ${n(row[1])} | ${n(row[2])} | ${weeks(row)} |`).join('\n')}

      I assumed that the last 4 weeks are typical.`,
    ];
  }),
  told('refunds', 'Are refunds a problem?', (dice) => {
    const [refunds, revenue] = [dice.between(41_000, 210_000), dice.between(2_000_000, 5_000_000)];
    return [
      [rowsOf('q1', 'refunds', [refunds]), rowsOf('q2', 'gross_revenue', [revenue])],
      `Not really. Refunds come to $${s(refunds, thousand, 0)} [q1] against gross revenue of
      $${s(revenue, million)} {c:[q2]~[q5]}, that is ${p(refunds / revenue)}. Net of refunds, revenue
      is $${n(revenue - refunds)}.`,
    ];
  }),
  told('quarter-qoq', 'How is the year going quarter by quarter?', (dice) => {
    const rows = walk(dice, '2024-Q1|2024-Q2|2024-Q3|2024-Q4', 1_900_000);
    const change = (index: number) => growth(at(rows, index - 1)[1], at(rows, index)[1]);
    return [
      [rowsOf('q1', 'quarter revenue', ...rows)],
      `## 2024 by quarter

      - **Q1**: $${s(at(rows, 0)[1], millions, 2)}
      ${[1, 2, 3]
        .map((index) => {
          const amount = s(at(rows, index)[1], millions, 2);
          const word = way(0, change(index), ['up', 'down']);
          return `- **Q${index + 1}**: $${amount} (${word} ${p(Math.abs(change(index)))} QoQ)`;
        })
        .join('\n')}

      The full year comes to $${s(sum(rows), millions)}; the second half made up
      ${p((at(rows, 2)[1] + at(rows, 3)[1]) / sum(rows))} of it [q1].`,
    ];
  }),
  told('age-of-tickets', 'How long do tickets stay open?', (dice) => {
    const [median, p90, open] = [
      dice.between(5, 19),
      dice.between(48, 130),
      dice.between(110, 960),
    ];
    return [
      [rowsOf('q1', 'median_hours p90_hours open_tickets', [median, p90, open])],
      `Half of all tickets are closed within ${n(median)} hours; the slowest 10% take more than
      ${n(p90)} hours (about ${n(p90 / 24, 1)} days). There are ${n(open)} open tickets right now [q1].`,
    ];
  }),
];
