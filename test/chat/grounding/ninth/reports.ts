import { rowsOf } from '../blind/answer.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';
import { near, story } from './kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const million = [1e6, ' million'] as const;
const K = [1e3, 'K'] as const;

/** English reports with headlines, tables, remarks and proposals. */
export const reports: readonly Telling[] = [
  told('9-quarter-report', 'How did revenue develop by quarter in 2024?', (dice) => {
    const rows = story(
      dice,
      ['2024-01-01', 4_210_000, 15_300],
      ['2024-04-01', 4_620_000, 16_900],
      ['2024-07-01', 4_120_000, 14_800],
      ['2024-10-01', 6_050_000, 21_700],
    );
    const [a, b, c, d] = amounts(rows);
    const [w, x, y, z] = amounts(rows, 2);
    const all = a + b + c + d;
    return [
      [
        withSql(
          "SELECT date_trunc('quarter', ordered_at) AS quarter, sum(net_amount) AS revenue, count(*) AS orders FROM orders WHERE ordered_at >= '2024-01-01' AND ordered_at < '2025-01-01' GROUP BY 1 ORDER BY 1",
          rowsOf('q1', 'quarter revenue orders', ...rows),
        ),
      ],
      `## Revenue by quarter, 2024

      **Total for the year: $${s(all, M, 1)}** across ${n(w + x + y + z)} orders [q1].

      | Quarter | Revenue | Orders | AOV | QoQ |
      |---|---:|---:|---:|---:|
      | Q1 2024 | $${n(a)} | ${n(w)} | $${n(a / w, 2)} | – |
      | Q2 2024 | $${n(b)} | ${n(x)} | $${n(b / x, 2)} | ${sp(growth(a, b))} |
      | Q3 2024 | $${n(c)} | ${n(y)} | $${n(c / y, 2)} | ${sp(growth(b, c))} |
      | Q4 2024 | $${n(d)} | ${n(z)} | $${n(d / z, 2)} | ${sp(growth(c, d))} |

      **What stands out**

      - **Q4 was by far the strongest quarter**, contributing ${p(d / all, 0)} of the year's revenue.
      - Revenue dipped in Q3 (${sp(growth(b, c))} vs. Q2) before rebounding by ${p(growth(c, d))} in Q4.
      - From Q1 to Q4, quarterly revenue grew by $${s(d - a, M, 2)}, or ${p(growth(a, d))}.

      *Note: figures are net of discounts and cover orders placed between January 1 and December 31, 2024.*

      Would you like me to break this down by region or product category?`,
    ];
  }),
  told('9-churn-report', 'Why did churn go up in March 2025?', (dice) => {
    const plans = story(dice, ['Starter', 8400, 420], ['Team', 5200, 130], ['Enterprise', 610, 5]);
    const [a, b, c] = amounts(plans);
    const [x, y, z] = amounts(plans, 2);
    const before = near(dice, 380);
    const reasons = story(
      dice,
      ['Too expensive', 190],
      ['Missing features', 120],
      ['No longer needed', 80],
    );
    const [r1, r2, r3] = amounts(reasons);
    return [
      [
        withSql(
          "SELECT plan, count(*) AS customers, sum(churned) AS churned FROM subs WHERE month = '2025-03-01' GROUP BY plan",
          rowsOf('q1', 'plan customers churned', ...plans),
        ),
        withSql(
          "SELECT sum(churned) AS churned FROM subs WHERE month = '2025-02-01'",
          rowsOf('q2', 'churned', [before]),
        ),
        withSql(
          "SELECT reason, count(*) AS n FROM cancellations WHERE month = '2025-03-01' GROUP BY reason ORDER BY n DESC LIMIT 3",
          rowsOf('q3', 'reason n', ...reasons),
        ),
      ],
      `**Short answer:** the increase comes almost entirely from the Starter plan.

      In March 2025, ${n(x + y + z)} customers churned [q1], compared with ${n(before)} in February [q2], an increase of
      ${n(x + y + z - before)} customers (${sp(growth(before, x + y + z))}).

      ### By plan [q1]
      - **Starter:** ${n(x)} of ${n(a)} customers (${p(x / a)})
      - **Team:** ${n(y)} of ${n(b)} (${p(y / b)})
      - **Enterprise:** ${n(z)} of ${n(c)} (${p(z / c)})

      Starter accounts for ${p(x / (x + y + z), 0)} of all churned customers, even though it is only
      ${p(a / (a + b + c), 0)} of the base.

      ### Stated reasons [q3]

      The most common reason was "Too expensive" with ${n(r1)} mentions, ahead of "Missing features" (${n(r2)}) and "No
      longer needed" (${n(r3)}). Together the top three were named ${n(r1 + r2 + r3)} times.

      **Caveat:** reasons are self-reported and not every customer gives one, so treat them as indicative.`,
    ];
  }),
  told('9-exec-summary', 'Give me an executive summary of H1 2025 vs H1 2024.', (dice) => {
    const rows = story(
      dice,
      ['2024-H1', 18_400_000, 61_000, 12_300],
      ['2025-H1', 21_900_000, 66_500, 14_100],
    );
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [u, v] = amounts(rows, 3);
    return [
      [rowsOf('q1', 'half_year revenue orders active_customers', ...rows)],
      `# H1 2025 vs. H1 2024

      | Metric | H1 2024 | H1 2025 | Δ | Δ % |
      |:--|--:|--:|--:|--:|
      | Revenue | $${s(a, M, 2)} | $${s(b, M, 2)} | ${s(b - a, M, 2).replace('{', '{+$')} | ${sp(growth(a, b))} |
      | Orders | ${n(x)} | ${n(y)} | ${sn(y - x)} | ${sp(growth(x, y))} |
      | Active customers | ${n(u)} | ${n(v)} | ${sn(v - u)} | ${sp(growth(u, v))} |
      | Revenue per order | $${n(a / x, 2)} | $${n(b / y, 2)} | ${n(b / y - a / x, 2).replace('{', '{+$')} | ${sp(growth(a / x, b / y))} |
      | Orders per customer | ${n(x / u, 2)} | ${n(y / v, 2)} | ${sn(y / v - x / u, 2)} | ${sp(growth(x / u, y / v))} |

      **Key takeaways**

      1. Revenue grew ${p(growth(a, b), 0)} year over year, reaching roughly $${s(b, million, 1)} [q1].
      2. Growth was driven both by volume and by basket size: orders rose ${p(growth(x, y), 0)}, revenue per order
      rose ${p(growth(a / x, b / y), 0)}.
      3. The customer base expanded by ${n(v - u)} to ${n(v)}.`,
    ];
  }),
  told('9-funnel-report', 'Where do users drop off in the signup funnel?', (dice) => {
    const rows = story(
      dice,
      ['landing', 120_000],
      ['signup_form', 43_000],
      ['email_verified', 29_500],
      ['profile_completed', 21_000],
      ['first_project', 9400],
    );
    const [a, b, c, d, e] = amounts(rows);
    return [
      [
        withSql(
          "SELECT step, count(distinct visitor_id) AS users FROM events WHERE event_date BETWEEN '2025-05-01' AND '2025-05-31' GROUP BY step ORDER BY min(step_no)",
          rowsOf('q1', 'step users', ...rows),
        ),
      ],
      `The largest drop-off is right at the top: **${p(1 - b / a)} of visitors never open the sign-up form**.

      | Step | Users | Step conversion | Overall |
      |------|------:|----------------:|--------:|
      | Landing | ${n(a)} | — | 100% |
      | Signup form | ${n(b)} | ${p(b / a)} | ${p(b / a)} |
      | Email verified | ${n(c)} | ${p(c / b)} | ${p(c / a)} |
      | Profile completed | ${n(d)} | ${p(d / c)} | ${p(d / a)} |
      | First project | ${n(e)} | ${p(e / d)} | ${p(e / a)} |

      After that, the weakest transition is from *profile completed* to *first project*, where we lose ${n(d - e)} users
      (${p(1 - e / d)}). Overall, only ${p(e / a)} of visitors, i.e. about 1 in ${n(Math.round(a / e))}, create a
      project [q1].

      **Suggested next steps**
      - Split the landing → form drop by traffic source and device.
      - Check whether the 5-step onboarding checklist discourages people before the first project.`,
    ];
  }),
  told('9-cohort-report', 'What does retention look like for the Q1 cohorts?', (dice) => {
    const rows = story(dice, ['2025-01', 2400], ['2025-02', 2150], ['2025-03', 2780]).map(
      ([month, size = 1]) =>
        [
          month,
          size,
          Math.round(size * (0.44 + dice.next() / 20)),
          Math.round(size * (0.27 + dice.next() / 20)),
        ] as const,
    );
    const lines = rows.map(
      ([, size, one, three], index) =>
        `| ${['Jan', 'Feb', 'Mar'][index]} 2025 | ${n(size)} | ${n(one)} (${p(one / size)}) | ${n(three)} (${p(three / size)}) |`,
    );
    const size = total(rows.map((row) => row[1]));
    const one = total(rows.map((row) => row[2]));
    const three = total(rows.map((row) => row[3]));
    return [
      [rowsOf('q1', 'cohort_month cohort_size retained_m1 retained_m3', ...rows)],
      `Here's the retention for the three cohorts that signed up in Q1 2025 [q1]:

      | Cohort | Size | Month 1 | Month 3 |
      |---|---|---|---|
      ${lines.join('\n')}
      | **All** | **${n(size)}** | **${n(one)} (${p(one / size)})** | **${n(three)} (${p(three / size)})** |

      Pooled across the cohorts, ${p(one / size, 0)} of users come back after one month and ${p(three / size, 0)} after three.
      Put differently, we lose ${n(size - three)} of ${n(size)} users within the first 90 days.`,
    ];
  }),
  told(
    '9-sql-shown',
    'How many orders over $500 did we have last year and what share is that?',
    (dice) => {
      const [all, big, money] = [near(dice, 71_200), near(dice, 8450), near(dice, 7_940_000)];
      return [
        [
          withSql(
            "SELECT count(*) AS orders, sum(CASE WHEN amount > 500 THEN 1 ELSE 0 END) AS orders_over_500, sum(CASE WHEN amount > 500 THEN amount END) AS revenue_over_500 FROM orders WHERE order_date >= DATE '2024-01-01' AND order_date < DATE '2025-01-01'",
            rowsOf('q1', 'orders orders_over_500 revenue_over_500', [all, big, money]),
          ),
        ],
        `In 2024 there were **${n(big)} orders above $500**, which is **${p(big / all)}** of all ${n(all)} orders [q1]. They
      brought in $${s(money, M, 2)}, i.e. $${n(money / big, 0)} per order on average.

      I used this filter:

      \`\`\`sql

      WHERE amount > 500

        AND order_date >= DATE '2024-01-01'

        AND order_date <  DATE '2025-01-01'

      \`\`\`

      Orders of exactly $500 are not included. If you'd rather use a threshold of ≥ $500, let me know.`,
      ];
    },
  ),
  told(
    '9-anomaly',
    'Anything unusual in daily signups for the first week of June 2025?',
    (dice) => {
      const rows = story(
        dice,
        ['2025-06-01', 410],
        ['2025-06-02', 655],
        ['2025-06-03', 690],
        ['2025-06-04', 212],
        ['2025-06-05', 671],
        ['2025-06-06', 640],
        ['2025-06-07', 395],
      );
      const [a, b, c, d, e, f, g] = amounts(rows);
      const rest = (a + b + c + e + f + g) / 6;
      return [
        [rowsOf('q1', 'day signups', ...rows)],
        `Yes, one day clearly stands out: **Wednesday, June 4**, with only ${n(d)} signups [q1].

      - The other six days averaged ${n(rest)} signups, so June 4 was ${p(1 - d / rest, 0)} below that.
      - On the day before (June 3) there were ${n(c)} signups and on the day after (June 5) ${n(e)}.
      - The weekend days, June 1 (${n(a)}) and June 7 (${n(g)}), were lower than the weekdays, too, but that is the usual
      pattern.

      For the whole week we counted ${n(a + b + c + d + e + f + g)} signups, an average of
      ${n((a + b + c + d + e + f + g) / 7, 1)} per day. A tracking outage on June 4 is a plausible explanation, but I can't
      confirm it from the data.`,
      ];
    },
  ),
  told('9-pareto', 'Is the 80/20 rule true for our customers?', (dice) => {
    const rows = story(
      dice,
      ['1 (top)', 6_100_000],
      ['2', 1_900_000],
      ['3', 900_000],
      ['4', 420_000],
      ['5 (bottom)', 130_000],
    );
    const [a, b, c, d, e] = amounts(rows);
    const all = a + b + c + d + e;
    return [
      [
        withSql(
          'SELECT quintile, sum(revenue) AS revenue FROM (SELECT customer_id, sum(amount) AS revenue, ntile(5) OVER (ORDER BY sum(amount) DESC) AS quintile FROM orders GROUP BY 1) t GROUP BY 1',
          rowsOf('q1', 'quintile revenue', ...rows),
        ),
      ],
      `Not quite. The top 20% of customers generate **${p(a / all)}** of revenue ($${s(a, M, 2)} of $${s(all, M, 2)}), so it's
      closer to a ${n((a / all) * 100)}/20 split [q1].

      | Quintile | Revenue | Share | Cumulative |
      |---|---:|---:|---:|
      | 1 (top 20%) | $${n(a)} | ${p(a / all)} | ${p(a / all)} |
      | 2 | $${n(b)} | ${p(b / all)} | ${p((a + b) / all)} |
      | 3 | $${n(c)} | ${p(c / all)} | ${p((a + b + c) / all)} |
      | 4 | $${n(d)} | ${p(d / all)} | ${p((a + b + c + d) / all)} |
      | 5 (bottom 20%) | $${n(e)} | ${p(e / all)} | 100.0% |

      Looking at the top two quintiles together (the top 40%), you reach ${p((a + b) / all)}. The bottom 40% only
      contribute ${p((d + e) / all)}.`,
    ];
  }),
  told('9-experiment', 'Should we ship variant B?', (dice) => {
    const [u1, u2] = [near(dice, 24_000), near(dice, 24_300)];
    const [c1, c2] = [near(dice, 1180), near(dice, 1390)];
    const [r1, r2] = [near(dice, 51_000), near(dice, 58_500)];
    return [
      [rowsOf('q1', 'variant users conversions revenue', ['A', u1, c1, r1], ['B', u2, c2, r2])],
      `**Recommendation: yes, B looks better on conversion**, though I'd check significance first.

      | | A (control) | B (treatment) | Relative change |
      |---|---|---|---|
      | Users | ${n(u1)} | ${n(u2)} | |
      | Conversions | ${n(c1)} | ${n(c2)} | ${sp(growth(c1, c2))} |
      | Conversion rate | ${p(c1 / u1, 2)} | ${p(c2 / u2, 2)} | ${sp(growth(c1 / u1, c2 / u2))} |
      | Revenue | $${n(r1)} | $${n(r2)} | ${sp(growth(r1, r2))} |
      | Revenue per user | $${n(r1 / u1, 2)} | $${n(r2 / u2, 2)} | ${sp(growth(r1 / u1, r2 / u2))} |

      The conversion rate went from ${p(c1 / u1, 2)} to ${p(c2 / u2, 2)}, a lift of
      ${n((c2 / u2 - c1 / u1) * 100, 2)} percentage points [q1]. On ${n(u1 + u2)} users in total, that's
      ${n(c2 - c1)} additional conversions in the treatment group.

      *Limitations:* the result doesn't include a confidence interval, and I did not look at long-term effects.`,
    ];
  }),
  told('9-headcount', 'What does our headcount look like by department?', (dice) => {
    const rows = story(
      dice,
      ['Engineering', 142, 12],
      ['Sales', 88, 9],
      ['Customer Success', 51, 3],
      ['Marketing', 37, 4],
      ['Finance & Legal', 22, 0],
    ).map(([name, heads = 1, open]) => [name, heads, open ?? 0] as const);
    const [a, b, c, d, e] = amounts(rows);
    const open = total(rows.map((row) => row[2]));
    const all = a + b + c + d + e;
    return [
      [rowsOf('q1', 'department headcount open_positions', ...rows)],
      `We currently have **${n(all)} employees** and **${n(open)} open positions** across five departments [q1].

      1. **Engineering** – ${n(a)} (${p(a / all, 0)})
      2. **Sales** – ${n(b)} (${p(b / all, 0)})
      3. **Customer Success** – ${n(c)} (${p(c / all, 0)})
      4. **Marketing** – ${n(d)} (${p(d / all, 0)})
      5. **Finance & Legal** – ${n(e)} (${p(e / all, 0)})

      If every open position were filled, headcount would rise to ${n(all + open)} (${sp(open / all)}). Engineering alone is
      larger than Customer Success, Marketing and Finance & Legal combined (${n(c + d + e)}).`,
    ];
  }),
  told('9-margin', 'Which product line has the best gross margin?', (dice) => {
    const rows = story(
      dice,
      ['Hardware', 3_900_000, 2_870_000],
      ['Software', 2_450_000, 410_000],
      ['Services', 1_320_000, 790_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const all = a + b + c;
    const cost = x + y + z;
    return [
      [rowsOf('q1', 'product_line revenue cogs', ...rows)],
      `**Software** has by far the best gross margin at **${p((b - y) / b)}** [q1].

      | Product line | Revenue | COGS | Gross profit | Margin |
      |---|---:|---:|---:|---:|
      | Software | $${s(b, M, 2)} | $${s(y, M, 2)} | $${s(b - y, M, 2)} | ${p((b - y) / b)} |
      | Services | $${s(c, M, 2)} | $${s(z, M, 2)} | $${s(c - z, M, 2)} | ${p((c - z) / c)} |
      | Hardware | $${s(a, M, 2)} | $${s(x, M, 2)} | $${s(a - x, M, 2)} | ${p((a - x) / a)} |
      | Total | $${s(all, M, 2)} | $${s(cost, M, 2)} | $${s(all - cost, M, 2)} | ${p((all - cost) / all)} |

      So although Hardware is the biggest line by revenue (${p(a / all, 0)} of the total), Software earns about
      ${n((b - y) / (a - x), 1)} times as much gross profit. The blended margin is ${p((all - cost) / all)}.`,
    ];
  }),
  told('9-runway', 'How long will our cash last?', (dice) => {
    const cash = near(dice, 4_300_000);
    const rows = story(dice, ['2025-04', 310_000], ['2025-05', 342_000], ['2025-06', 298_000]);
    const [a, b, c] = amounts(rows);
    const burn = (a + b + c) / 3;
    return [
      [
        withSql(
          "SELECT balance FROM cash WHERE as_of = '2025-06-30'",
          rowsOf('q1', 'balance', [cash]),
        ),
        rowsOf('q2', 'month net_burn', ...rows),
      ],
      `At the current pace, you have roughly **${n(cash / burn, 0)} months of runway**.

      - Cash on June 30, 2025: $${n(cash)} [q1]
      - Net burn over the last three months: April $${s(a, K)}, May $${s(b, K)}, June $${s(c, K)} [q2]
      - Average monthly burn: $${s(burn, K, 1)}
      - Runway: $${s(cash, M, 2)} ÷ $${s(burn, K, 0)} ≈ ${n(cash / burn, 1)} months

      If burn stayed at the May peak ($${n(b)}), the runway would shrink to ${n(cash / b, 1)} months.`,
    ];
  }),
];
