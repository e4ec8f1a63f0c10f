import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech, withSql } from '../third/kit.ts';
import { amounts, table, thrown, total } from './kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const K = [1e3, 'K'] as const;

/** English, as a report: headings, notes, caveats, mixed units, thresholds. */
export const formal: readonly Telling[] = [
  told('7-latency', 'How did API latency develop after the release?', (dice) => {
    const rows = table(dice, 'before|after', [310, 900], [900, 3000], [200_000, 900_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [r, q] = amounts(rows, 3);
    return [
      [rowsOf('q1', 'period p50_ms p95_ms requests', ...rows)],
      `### Latency before and after

      - **p50:** ${n(a)} ms → ${n(b)} ms (${sp(growth(a, b))})
      - **p95:** ${n(x)} ms → ${n(y)} ms (${sp(growth(x, y))})

      The p95 is now ${n(y / 1000, 2)} s. Both figures rest on ${s(r + q, M, 2)} requests, ${n(r)} before and ${n(q)} after
      the release [q1].`,
    ];
  }),
  told('7-uptime', 'What was our uptime in April 2025?', (dice) => {
    const down = dice.between(12, 400);
    return [
      [
        withSql(
          "SELECT sum(minutes) FROM outages WHERE day BETWEEN '2025-04-01' AND '2025-04-30'",
          rowsOf('q1', 'downtime_minutes', [down]),
        ),
      ],
      `Downtime in April 2025 added up to ${n(down)} minutes. With 43,200 minutes in the month, that's an uptime of
      ${p(1 - down / 43_200, 3)} [q1].`,
    ];
  }),
  told('7-only-two', 'In how many months did we exceed 50,000 visits?', (dice) => {
    const rows = ['2025-01', '2025-02', '2025-03', '2025-04', '2025-05'].map((month, index) => {
      return [
        month,
        index === 1 || index === 4 ? dice.between(50_100, 70_000) : dice.between(30_000, 49_900),
      ] as const;
    });
    const [, b, , , e] = amounts(rows);
    return [
      [rowsOf('q1', 'month visits', ...rows)],
      `Only two of the five months exceeded 50,000 visits: February with ${n(b)} and May with ${n(e)} [q1].`,
    ];
  }),
  told('7-one-in', 'How common are returns of shoes?', (dice) => {
    const sold = dice.between(4000, 9000);
    const back = part(sold, 0.19 + dice.next() / 50);
    return [
      [rowsOf('q1', 'category sold returned', ['Shoes', sold, back])],
      `About one in five pairs comes back: customers returned ${n(back)} of the ${n(sold)} pairs sold
      (${p(back / sold)}) [q1].`,
    ];
  }),
  told('7-fiscal', 'Compare FY2023 and FY2024 operating costs.', (dice) => {
    const rows = table(dice, 'Personnel|Rent|Marketing', [200_000, 900_000], [200_000, 900_000]);
    const lines = rows.map(
      ([name, a = 1, b = 0]) =>
        `| ${name} | ${n(a)} | ${n(b)} | ${sn(b - a)} | ${sp(growth(a, b))} |`,
    );
    const [a, b] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'cost_type fy2023 fy2024', ...rows)],
      `| Cost type | FY2023 | FY2024 | Δ | Δ % |
      |---|---:|---:|---:|---:|
      ${lines.join('\n')}
      | **All** | **${n(a)}** | **${n(b)}** | **${sn(b - a)}** | **${sp(growth(a, b))}** |

      Operating costs ${way(a, b, ['increased', 'decreased'])} by $${s(Math.abs(b - a), K, 1)} [q1].`,
    ];
  }),
  told('7-rank-moves', 'How did city rankings change?', (dice) => {
    const rows = ranked(dice, 'Oslo|Turku|Riga|Gdansk|Kiel', [2000, 9000]);
    const [a, b, c, , e] = amounts(rows);
    return [
      [rowsOf('q1', 'city bookings', ...rows)],
      `Oslo is first with ${n(a)} bookings, Turku second (${n(b)}) and Riga third (${n(c)}). Kiel comes last of the five
      cities with ${n(e)}, only ${p(e / a)} of Oslo's figure. The gap between first and last place is
      ${n(a - e)} bookings [q1].`,
    ];
  }),
  told('7-price-range', 'What do the competitors charge, and for 250 seats?', (dice) => {
    const rows = ranked(dice, 'Nimbus|Stratus|Cirrus', [41, 190]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'vendor price_per_seat', ...rows)],
      `Prices per seat range between $${n(c)} (Cirrus) and $${n(a)} (Nimbus); Stratus sits in between at $${n(b)}. For 250
      seats that would be $${n(c * 250)} to $${n(a * 250)} a month [q1].`,
    ];
  }),
  told('7-remaining', 'Which countries bring most of the traffic?', (dice) => {
    const rows = ranked(dice, 'India|Brazil|Egypt', [100_000, 900_000]);
    const rest = dice.between(50_000, 300_000);
    const [a, b, c] = amounts(rows);
    const all = a + b + c + rest;
    return [
      [
        rowsOf('q1', 'country sessions', ...rows),
        rowsOf('q2', 'all_sessions countries', [all, 58]),
      ],
      `India, Brazil and Egypt together account for ${n(a + b + c)} of ${n(all)} sessions, or ${p((a + b + c) / all)}
      [q1, q2]. The other 55 countries share the remaining ${n(rest)} sessions (${p(rest / all)}).`,
    ];
  }),
  told('7-hours', 'How long are our support calls?', (dice) => {
    const [calls, minutes] = thrown(dice, [300, 900], [4000, 9000]);
    return [
      [rowsOf('q1', 'calls total_minutes', [calls, minutes])],
      `There were ${n(calls)} calls with a combined length of ${n(minutes)} minutes, i.e. about ${n(minutes / 60)} hours. A call
      lasts ${n(minutes / calls, 1)} minutes on average [q1].`,
    ];
  }),
  told('7-bps', 'How did the net interest margin move?', (dice) => {
    const [a, b] = thrown(dice, [210, 290], [310, 390]);
    return [
      [rowsOf('q1', 'year nim_pct', [2023, a / 100], [2024, b / 100])],
      `The net interest margin widened from ${n(a / 100, 2)}% to ${n(b / 100, 2)}%, which is ${n(b - a)} basis points [q1].`,
    ];
  }),
  told('7-per-100k', 'Incidents per 100,000 miles?', (dice) => {
    const rows = table(dice, 'Vans|Trucks', [20, 90], [900_000, 4_000_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'vehicle incidents miles', ...rows)],
      `Vans had ${n(a)} incidents over ${s(x, M, 2)} miles (${n((a / x) * 1e5, 2)} per 100,000 miles); trucks had ${n(b)} over
      ${s(y, M, 2)} miles (${n((b / y) * 1e5, 2)}). Fleet-wide the rate is ${n(((a + b) / (x + y)) * 1e5, 2)} [q1].`,
    ];
  }),
  told('7-unchanged', 'Did anything change in the number of vendors?', (dice) => {
    const a = dice.between(120, 900);
    return [
      [rowsOf('q1', 'quarter vendors', ['2025-Q1', a], ['2025-Q2', a])],
      `No, it stayed flat: ${n(a)} vendors in Q1 2025 and ${n(a)} in Q2 2025, a change of 0 [q1].`,
    ];
  }),
  told('7-note', 'Give me the gross margin by brand, highest first.', (dice) => {
    const rows = table(dice, 'Alder|Beech', [300_000, 900_000], [90_000, 290_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'brand net_sales cogs', ...rows)],
      `Gross margin = (net sales − COGS) / net sales:

      - Alder: (${n(a)} − ${n(x)}) / ${n(a)} = **${p((a - x) / a)}**
      - Beech: (${n(b)} − ${n(y)}) / ${n(b)} = **${p((b - y) / b)}**

      > Note: blended over both brands it is ${p((a + b - x - y) / (a + b))} [q1].`,
    ];
  }),
  told('7-projection', 'If May continues like this, where do we end up?', (dice) => {
    const sold = dice.between(4000, 9000);
    return [
      [
        withSql(
          "SELECT count(*) FROM orders WHERE day BETWEEN '2025-05-01' AND '2025-05-20'",
          rowsOf('q1', 'orders', [sold]),
        ),
      ],
      `In the first 20 days of May there were ${n(sold)} orders, or ${n(sold / 20, 1)} a day. At that pace, the full 31 days
      would end at about ${n((sold / 20) * 31)} orders [q1].`,
    ];
  }),
  told('7-weighted', 'What is our average discount?', (dice) => {
    const rows = table(dice, 'Bronze|Silver|Gold', [200_000, 900_000], [9000, 90_000]);
    const lines = rows.map(
      ([tier, list = 1, off = 0]) => `- ${tier}: $${n(off)} off $${n(list)} (${p(off / list)})`,
    );
    const [list, off] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'tier list_amount discount_amount', ...rows)],
      `**Average discount: ${p(off / list)}** of the list amount [q1]

      ${lines.join('\n')}

      The average rests on $${n(off)} of discounts on $${n(list)} of list value.`,
    ];
  }),
  told('7-contribution', 'What drove the growth between 2023 and 2024?', (dice) => {
    const rows = ['Retail', 'Wholesale', 'Online'].map((name) => {
      const before = dice.between(200_000, 500_000);
      return [name, before, before + dice.between(20_000, 200_000)] as const;
    });
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const [from, to] = [a + b + c, x + y + z];
    return [
      [rowsOf('q1', 'channel revenue_2023 revenue_2024', ...rows)],
      `Revenue grew by $${n(to - from)} (${p(growth(from, to))}), from $${n(from)} to $${n(to)}:

      1. Retail contributed $${n(x - a)} (${p((x - a) / (to - from))} of the growth)
      2. Wholesale contributed $${n(y - b)} (${p((y - b) / (to - from))})
      3. Online contributed $${n(z - c)} (${p((z - c) / (to - from))})

      [q1]`,
    ];
  }),
  told('7-two-sets', 'How do leads and deals compare by source?', (dice) => {
    const leads = table(dice, 'Webinar|Trade fair', [300, 900]);
    const deals = table(dice, 'Webinar|Trade fair', [20, 90]);
    const [a, b] = amounts(leads);
    const [x, y] = amounts(deals);
    return [
      [rowsOf('q1', 'source leads', ...leads), rowsOf('q2', 'source deals', ...deals)],
      `| Source | Leads [q1] | Deals [q2] | Conversion |
      |---|---|---|---|
      | Webinar | ${n(a)} | ${n(x)} | ${p(x / a)} |
      | Trade fair | ${n(b)} | ${n(y)} | ${p(y / b)} |

      Overall, ${n(x + y)} of ${n(a + b)} leads became deals (${p((x + y) / (a + b))}) [q1, q2].`,
    ];
  }),
  told('7-quartiles', 'Where do most of our orders fall?', (dice) => {
    const rows = table(dice, 'under 50|50-100|100-250|over 250', [300, 4000]);
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'order_value_eur orders', ...rows)],
      `${n(a)} orders (${p(a / all)}) are under €50, ${n(b)} (${p(b / all)}) between €50 and €100, ${n(c)} (${p(c / all)})
      between €100 and €250, and ${n(d)} (${p(d / all)}) over €250. So ${p((c + d) / all)} of orders are worth at least
      €100 [q1].`,
    ];
  }),
  told('7-since', 'How many accounts have been closed since 15 January?', (dice) => {
    const [closed, open] = thrown(dice, [200, 900], [9000, 20_000]);
    return [
      [
        withSql(
          "SELECT count(*) FROM accounts WHERE closed_at >= '2025-01-15'",
          rowsOf('q1', 'closed_accounts', [closed]),
        ),
        rowsOf('q2', 'open_accounts', [open]),
      ],
      `Since January 15, 2025, ${n(closed)} accounts have been closed [q1]. ${n(open)} accounts are still open [q2], so
      the closures correspond to ${p(closed / (closed + open))} of the ${n(closed + open)} accounts that existed.`,
    ];
  }),
  told('7-max-min', 'Highest and lowest daily temperature in the cold store?', (dice) => {
    const rows = walk(dice, '2025-06-02|2025-06-03|2025-06-04|2025-06-05', 900).map(
      ([day, value]) => [day, value / 100] as const,
    );
    const values = rows.map(([, value]) => value);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return [
      [rowsOf('q1', 'day max_temperature', ...rows)],
      `The readings lie between ${n(low, 2)} °C and ${n(high, 2)} °C, i.e. they vary by ${n(high - low, 2)} degrees. The mean
      over the four days is ${n(total(values) / 4, 2)} °C [q1].`,
    ];
  }),
];
