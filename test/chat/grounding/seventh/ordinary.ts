import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech, withSql } from '../third/kit.ts';
import { amounts, table, thrown, total } from './kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const K = [1e3, 'K'] as const;
const de = speech('de-DE', ' ');
const es = speech('es-ES', ' ');

/** Plain questions and plain answers. */
export const ordinary: readonly Telling[] = [
  told('7-o-total', 'What was total revenue last year?', (dice) => {
    const revenue = dice.between(4_000_000, 9_000_000);
    return [
      [
        withSql(
          'SELECT sum(amount) AS revenue FROM orders WHERE year = 2024',
          rowsOf('q1', 'revenue', [revenue]),
        ),
      ],
      `Total revenue in 2024 was **$${n(revenue)}** (about $${s(revenue, M, 1)}) [q1].`,
    ];
  }),
  told('7-o-top', 'Top 5 customers by revenue in 2024?', (dice) => {
    const rows = ranked(
      dice,
      'Northwind|Contoso|Fabrikam|Adventure Works|Tailspin',
      [40_000, 400_000],
    );
    const lines = rows.map(([name, value], index) => `${index + 1}. **${name}** — $${n(value)}`);
    const [a, b] = amounts(rows);
    return [
      [
        withSql(
          'SELECT customer, sum(amount) AS revenue FROM orders WHERE year = 2024 GROUP BY 1 ORDER BY 2 DESC LIMIT 5',
          rowsOf('q1', 'customer revenue', ...rows),
        ),
      ],
      `Here are your top 5 customers by revenue in 2024:

      ${lines.join('\n')}

      Together they generated $${n(sum(rows))}. Northwind is ahead of Contoso by $${n(a - b)} (${p((a - b) / b)}) [q1].`,
    ];
  }),
  told('7-o-monthly', 'Show monthly orders for the first half of 2025.', (dice) => {
    const rows = walk(
      dice,
      '2025-01-01|2025-02-01|2025-03-01|2025-04-01|2025-05-01|2025-06-01',
      3000,
    );
    const names = ['January', 'February', 'March', 'April', 'May', 'June'];
    const lines = rows.map(([, value], index) => {
      const before = rows[index - 1]?.[1];
      return `| ${names[index]} | ${n(value)} | ${before === undefined ? '–' : sp(growth(before, value))} |`;
    });
    const values = rows.map(([, value]) => value);
    const [high, low] = [Math.max(...values), Math.min(...values)];
    return [
      [rowsOf('q1', 'month orders', ...rows)],
      `| Month | Orders | MoM |
      |---|---:|---:|
      ${lines.join('\n')}

      **Total:** ${n(total(values))} orders, **average:** ${n(total(values) / 6)} per month. Orders peaked in
      ${names[values.indexOf(high)]} (${n(high)}) and were lowest in ${names[values.indexOf(low)]} (${n(low)}) [q1].`,
    ];
  }),
  told(
    '7-o-count',
    'How many customers do we have, and how many were active in the last 90 days?',
    (dice) => {
      const [all, active] = thrown(dice, [9000, 20_000], [3000, 8000]);
      return [
        [rowsOf('q1', 'customers active_customers', [all, active])],
        `You have ${n(all)} customers, of which ${n(active)} (${p(active / all)}) were active in the last 90 days [q1].`,
      ];
    },
  ),
  told('7-o-compare', 'How did Q3 compare with Q2?', (dice) => {
    const rows = walk(dice, '2025-Q2|2025-Q3', 600_000);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'quarter revenue', ...rows)],
      `Q3 revenue was $${s(b, K, 0)}, compared to $${s(a, K, 0)} in Q2. That's ${way(a, b, ['an increase', 'a decrease'])} of
      $${s(Math.abs(b - a), K, 0)}, or ${p(Math.abs(growth(a, b)))} quarter over quarter [q1].`,
    ];
  }),
  told('7-o-segments', 'Break down ARR by segment.', (dice) => {
    const rows = ranked(dice, 'Enterprise|Mid-Market|SMB', [900_000, 9_000_000]);
    const [a, b, c] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'segment arr', ...rows)],
      `ARR totals **$${s(all, M, 1)}**:

      | Segment | ARR | % of total |
      |---|---:|---:|
      | Enterprise | $${s(a, M, 1)} | ${p(a / all, 0)} |
      | Mid-Market | $${s(b, M, 1)} | ${p(b / all, 0)} |
      | SMB | $${s(c, M, 1)} | ${p(c / all, 0)} |

      Enterprise and Mid-Market together represent ${p((a + b) / all, 0)} of ARR [q1].`,
    ];
  }),
  told('7-o-aov', 'What is our average order value and how has it changed?', (dice) => {
    const rows = table(dice, '2023|2024', [9000, 20_000], [900_000, 2_000_000]).map(
      ([year, orders = 1, revenue = 0]) => [Number(year), orders, revenue] as const,
    );
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'year orders revenue', ...rows)],
      `In 2024 the average order value was **$${n(y / b, 2)}** ($${n(y)} across ${n(b)} orders). In 2023 it was $${n(x / a, 2)}
      ($${n(x)} across ${n(a)} orders), so AOV ${way(x / a, y / b, ['went up', 'went down'])} by
      $${n(Math.abs(y / b - x / a), 2)}, or ${p(Math.abs(growth(x / a, y / b)))} [q1].`,
    ];
  }),
  told('7-o-churn-rate', 'What is our monthly churn?', (dice) => {
    const rows = ['2025-04', '2025-05', '2025-06'].map((month) => {
      const start = dice.between(4000, 6000);
      return [month, start, part(start, 0.01 + dice.next() / 40)] as const;
    });
    const names = ['April', 'May', 'June'];
    const lines = rows.map(
      ([, start, lost], index) =>
        `- ${names[index]}: ${p(lost / start, 2)} (${n(lost)} of ${n(start)} customers)`,
    );
    const rates = rows.map(([, start, lost]) => lost / start);
    return [
      [rowsOf('q1', 'month customers_at_start churned', ...rows)],
      `Monthly customer churn in Q2 2025:

      ${lines.join('\n')}

      The average monthly churn over the three months is ${p(total(rates) / 3, 2)} [q1].`,
    ];
  }),
  told('7-o-refund-reasons', 'Why do customers ask for refunds?', (dice) => {
    const rows = ranked(dice, 'Damaged|Late delivery|Wrong size|Changed mind', [90, 900]);
    const [a, b, c, d] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'reason refunds', ...rows)],
      `The most common reason is a damaged product: ${n(a)} of ${n(all)} refunds, or ${p(a / all)}. Late delivery follows with
      ${n(b)} (${p(b / all)}), then wrong size with ${n(c)} (${p(c / all)}) and changed mind with ${n(d)} (${p(d / all)}) [q1].`,
    ];
  }),
  told('7-o-growth-list', 'Which regions grew fastest in 2024?', (dice) => {
    const rows = table(dice, 'LATAM|APAC|EMEA|NA', [200_000, 500_000], [510_000, 900_000]);
    const sorted = [...rows].sort((x, y) => (y[2] ?? 0) / (y[1] ?? 1) - (x[2] ?? 0) / (x[1] ?? 1));
    const lines = sorted.map(
      ([name, a = 1, b = 0], index) =>
        `${index + 1}. ${name}: ${sp(growth(a, b))} ($${s(a, K, 0)} → $${s(b, K, 0)})`,
    );
    const [from, to] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'region revenue_2023 revenue_2024', ...rows)],
      `Fastest-growing regions in 2024 vs. 2023:

      ${lines.join('\n')}

      Overall revenue grew ${p(growth(from, to))}, from $${s(from, M, 2)} to $${s(to, M, 2)} [q1].`,
    ];
  }),
  told('7-o-time', 'How long does it take to resolve a ticket?', (dice) => {
    const rows = table(dice, 'High|Normal|Low', [3, 9], [10, 40], [41, 90]).map(
      ([priority, a = 0]) => [priority, a] as const,
    );
    const [a, b, c] = thrown(dice, [3, 9], [12, 40], [50, 96]);
    return [
      [
        rowsOf(
          'q1',
          'priority avg_resolution_hours',
          [rows[0]?.[0] ?? '', a],
          ['Normal', b],
          ['Low', c],
        ),
      ],
      `On average, high-priority tickets are resolved in ${n(a)} hours, normal ones in ${n(b)} hours and low-priority ones in
      ${n(c)} hours (${n(c / 24, 1)} days) [q1].`,
    ];
  }),
  told('7-o-funnel', 'Show the signup funnel.', (dice) => {
    const a = dice.between(40_000, 90_000);
    const b = part(a, 0.4 + dice.next() / 5);
    const c = part(b, 0.5 + dice.next() / 5);
    const d = part(c, 0.6 + dice.next() / 5);
    return [
      [
        rowsOf(
          'q1',
          'step users',
          ['Landing page', a],
          ['Form started', b],
          ['Form submitted', c],
          ['Email confirmed', d],
        ),
      ],
      `| Step | Users | Step conversion | Overall |
      |---|---:|---:|---:|
      | Landing page | ${n(a)} | – | 100% |
      | Form started | ${n(b)} | ${p(b / a)} | ${p(b / a)} |
      | Form submitted | ${n(c)} | ${p(c / b)} | ${p(c / a)} |
      | Email confirmed | ${n(d)} | ${p(d / c)} | ${p(d / a)} |

      The biggest drop is right at the start: ${n(a - b)} visitors (${p(1 - b / a)}) never start the form [q1].`,
    ];
  }),
  told('7-o-stock-out', 'Which products are low on stock?', (dice) => {
    const rows = ranked(dice, 'Desk lamp|Notebook A5|USB-C cable', [4, 48]);
    const [a, b, c] = amounts(rows);
    return [
      [
        withSql(
          'SELECT product, on_hand FROM stock WHERE on_hand < 50 ORDER BY on_hand',
          rowsOf('q1', 'product on_hand', ...rows.toReversed()),
        ),
      ],
      `Three products have fewer than 50 units left:

      - **USB-C cable**: ${n(c)} units
      - **Notebook A5**: ${n(b)} units
      - **Desk lamp**: ${n(a)} units

      [q1]`,
    ];
  }),
  told('7-o-paid-share', 'How much of our traffic is paid?', (dice) => {
    const rows = ranked(dice, 'Organic|Paid|Direct|Referral', [20_000, 200_000]);
    const [a, b, c, d] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'channel sessions', ...rows)],
      `Paid traffic accounts for **${p(b / all)}** of all sessions (${n(b)} of ${n(all)}). For comparison, organic brings
      ${p(a / all)} (${n(a)}), direct ${p(c / all)} (${n(c)}) and referral ${p(d / all)} (${n(d)}) [q1].`,
    ];
  }),
  told('7-o-employee', 'How did headcount change in 2024?', (dice) => {
    const [start, hired, left] = thrown(dice, [300, 900], [50, 150], [20, 49]);
    return [
      [
        rowsOf('q1', 'headcount_start hires leavers headcount_end', [
          start,
          hired,
          left,
          start + hired - left,
        ]),
      ],
      `We started 2024 with ${n(start)} employees, hired ${n(hired)} and lost ${n(left)}, ending the year at
      ${n(start + hired - left)}. That's a net increase of ${n(hired - left)} (${p((hired - left) / start)}), with an attrition rate of
      ${p(left / start)} [q1].`,
    ];
  }),
  told('7-o-two-metrics', 'Revenue and orders by store?', (dice) => {
    const rows = table(dice, 'Downtown|Airport|Mall', [40_000, 190_000], [900, 4000]);
    const lines = rows.map(
      ([name, revenue = 0, orders = 1]) =>
        `| ${name} | $${n(revenue)} | ${n(orders)} | $${n(revenue / orders, 2)} |`,
    );
    const [revenue, orders] = [1, 2].map((column) =>
      total(rows.map((row) => Number(row[column]))),
    ) as [number, number];
    return [
      [rowsOf('q1', 'store revenue orders', ...rows)],
      `| Store | Revenue | Orders | Revenue/order |
      |---|---:|---:|---:|
      ${lines.join('\n')}
      | Total | $${n(revenue)} | ${n(orders)} | $${n(revenue / orders, 2)} |

      [q1]`,
    ];
  }),
  told('7-o-percentile', 'What is the distribution of delivery times?', (dice) => {
    const [a, b, c] = thrown(dice, [2, 4], [5, 9], [12, 21]);
    const late = dice.between(200, 900);
    return [
      [rowsOf('q1', 'median_days p90_days p99_days deliveries_over_14_days', [a, b, c, late])],
      `Half of all deliveries arrive within ${n(a)} days, 90% within ${n(b)} days and 99% within ${n(c)} days. ${n(late)} deliveries took
      longer than 14 days [q1].`,
    ];
  }),
  told('7-o-year-list', 'Revenue per year since 2021?', (dice) => {
    const rows = walk(dice, '2021|2022|2023|2024', 3_000_000).map(
      ([year, value]) => [Number(year), value] as const,
    );
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'year revenue', ...rows)],
      `- 2021: $${s(a, M, 2)}
      - 2022: $${s(b, M, 2)} (${sp(growth(a, b))})
      - 2023: $${s(c, M, 2)} (${sp(growth(b, c))})
      - 2024: $${s(d, M, 2)} (${sp(growth(c, d))})

      Since 2021, revenue has ${way(a, d, ['grown', 'fallen'])} by ${p(Math.abs(growth(a, d)))} in total [q1].`,
    ];
  }),
  told('7-o-unique', 'How many unique visitors and page views in May 2025?', (dice) => {
    const [visitors, views] = thrown(dice, [20_000, 60_000], [100_000, 300_000]);
    return [
      [
        withSql(
          "SELECT count(distinct visitor) v, count(*) n FROM views WHERE day >= '2025-05-01' AND day < '2025-06-01'",
          rowsOf('q1', 'unique_visitors page_views', [visitors, views]),
        ),
      ],
      `In May 2025 there were ${n(visitors)} unique visitors and ${n(views)} page views, i.e. ${n(views / visitors, 1)} page views per
      visitor and about ${n(views / 31)} page views per day [q1].`,
    ];
  }),
  told('7-o-de-einfach', 'Welche drei Filialen haben den höchsten Umsatz?', (dice) => {
    const rows = ranked(dice, 'Köln|Bonn|Aachen', [90_000, 400_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'filiale umsatz', ...rows)],
      `Die drei umsatzstärksten Filialen sind:

      1. Köln mit ${de.n(a)} €
      2. Bonn mit ${de.n(b)} €
      3. Aachen mit ${de.n(c)} €

      Zusammen kommen sie auf ${de.n(a + b + c)} €; Köln erzielt davon ${de.p(a / (a + b + c))} [q1].`,
    ];
  }),
  told('7-o-es-simple', '¿Cuántos usuarios nuevos tuvimos este trimestre?', (dice) => {
    const rows = walk(dice, '2025-04|2025-05|2025-06', 900);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'mes usuarios_nuevos', ...rows)],
      `En el segundo trimestre de 2025 se registraron ${es.n(a + b + c)} usuarios nuevos: ${es.n(a)} en abril, ${es.n(b)} en mayo y
      ${es.n(c)} en junio. De mayo a junio el cambio fue del ${es.sp(growth(b, c))} [q1].`,
    ];
  }),
];
