import { rowsOf } from '../blind/answer.ts';
import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const K = [1e3, 'K'] as const;
const million = [1e6, ' million'] as const;

/** English reports: pivots, results without names, grouping sets, long prose, tables of changes. */
export const analyst: readonly Telling[] = [
  told('10-pivot-years', 'Compare revenue by region for the last three years.', (dice) => {
    const rows = story(
      dice,
      ['EMEA', 4_120_000, 4_480_000, 5_010_000],
      ['Americas', 7_730_000, 8_160_000, 7_940_000],
      ['APAC', 2_210_000, 2_660_000, 3_350_000],
    );
    const [a1, b1, c1] = amounts(rows, 1);
    const [a2, b2, c2] = amounts(rows, 2);
    const [a3, b3, c3] = amounts(rows, 3);
    const [t1, t2, t3] = [a1 + b1 + c1, a2 + b2 + c2, a3 + b3 + c3];
    return [
      [rowsOf('q1', 'region 2022 2023 2024', ...rows)],
      `Revenue by region, 2022–2024 [q1]:

      | Region | 2022 | 2023 | 2024 | 3-yr change |
      |---|---:|---:|---:|---:|
      | Americas | ${s(b1, M, 2)} | ${s(b2, M, 2)} | ${s(b3, M, 2)} | ${sp(growth(b1, b3))} |
      | EMEA | ${s(a1, M, 2)} | ${s(a2, M, 2)} | ${s(a3, M, 2)} | ${sp(growth(a1, a3))} |
      | APAC | ${s(c1, M, 2)} | ${s(c2, M, 2)} | ${s(c3, M, 2)} | ${sp(growth(c1, c3))} |
      | Total | ${s(t1, M, 2)} | ${s(t2, M, 2)} | ${s(t3, M, 2)} | ${sp(growth(t1, t3))} |

      APAC is the growth story: it added $${s(c3 - c1, M, 2)} over two years, a CAGR of
      ${p((c3 / c1) ** 0.5 - 1)}, and now makes up ${p(c3 / t3)} of the total, up from ${p(c1 / t1)} in 2022. The Americas peaked
      in 2023 at $${n(b2)} and then gave back $${n(b2 - b3)}.`,
    ];
  }),
  told('10-grouping-sets', 'Headcount and payroll per office, with a grand total?', (dice) => {
    const rows = story(
      dice,
      ['Lisbon', 48, 2_610_000],
      ['Tallinn', 31, 1_480_000],
      ['Boston', 26, 3_190_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const [heads, pay] = [a + b + c, x + y + z];
    return [
      [
        withSql(
          'SELECT office, count(*) AS headcount, sum(salary) AS payroll FROM employees GROUP BY GROUPING SETS ((office), ())',
          rowsOf('q1', 'office headcount payroll', ...rows, [null, heads, pay]),
        ),
      ],
      `We employ ${n(heads)} people with a combined annual payroll of $${s(pay, M, 2)} [q1].

      - Lisbon: ${n(a)} people, $${s(x, M, 2)} payroll (${p(x / pay, 0)} of total)
      - Tallinn: ${n(b)} people, $${s(y, M, 2)} (${p(y / pay, 0)})
      - Boston: ${n(c)} people, $${s(z, M, 2)} (${p(z / pay, 0)})

      Boston is the smallest office but the most expensive: the average salary there is $${s(z / c, K, 0)}, compared with
      $${s(x / a, K, 0)} in Lisbon and $${s(y / b, K, 0)} in Tallinn. The row without an office is the grand total.`,
    ];
  }),
  told('10-key-value', 'Give me the health metrics of the platform for October.', (dice) => {
    const values = story(
      dice,
      ['monthly_active_users', 184_200],
      ['daily_active_users', 41_900],
      ['new_accounts', 9_310],
      ['deleted_accounts', 1_270],
      ['support_tickets', 2_080],
    );
    const [mau, dau, fresh, gone, tickets] = amounts(values);
    return [
      [
        withSql(
          "SELECT metric, value FROM platform_metrics WHERE month = '2025-10-01'",
          rowsOf('q1', 'metric value', ...values),
        ),
      ],
      `Platform health, October 2025 [q1]:

      * **MAU:** ${n(mau)}
      * **DAU:** ${n(dau)}, which gives a stickiness (DAU/MAU) of ${p(dau / mau)}
      * **New accounts:** ${n(fresh)}
      * **Deleted accounts:** ${n(gone)}, i.e. net growth of ${n(fresh - gone)} accounts
      * **Support tickets:** ${n(tickets)}, or ${n((tickets / mau) * 1000, 1)} per 1,000 MAU

      For each deleted account we gained ${n(fresh / gone, 1)} new ones.`,
    ];
  }),
  told('10-budget', 'Are we over budget anywhere?', (dice) => {
    const rows = story(
      dice,
      ['R&D', 1_920_000, 2_000_000],
      ['Marketing', 842_000, 700_000],
      ['G&A', 511_000, 495_000],
      ['Facilities', 203_000, 260_000],
    );
    const [a, b, c, d] = amounts(rows);
    const [w, x, y, z] = amounts(rows, 2);
    const [spent, plan] = [a + b + c + d, w + x + y + z];
    return [
      [rowsOf('q1', 'department actual budget', ...rows)],
      `Yes, in two of four departments [q1].

      **Marketing** is the main problem. It has spent $${n(b)} against a budget of $${n(x)}, an overrun of $${n(b - x)} or
      ${p(b / x - 1)}. **G&A** is slightly over: $${n(c)} vs. $${n(y)} planned (${sp(c / y - 1)}).

      The other two have money left. R&D used ${p(a / w)} of its $${n(w)} and Facilities ${p(d / z)} of its $${n(z)}; together
      they are $${n(w + z - a - d)} under plan.

      All in all we spent $${s(spent, M, 2)} of $${s(plan, M, 2)}, which is ${p(spent / plan)} of the budget.`,
    ];
  }),
  told('10-prose-market', 'Write two paragraphs on how our categories performed.', (dice) => {
    const rows = story(
      dice,
      ['Outdoor', 3_410_000, 2_890_000],
      ['Kitchen', 2_760_000, 2_810_000],
      ['Toys', 1_130_000, 760_000],
      ['Books', 420_000, 510_000],
    );
    const [a, b, c, d] = amounts(rows);
    const [w, x, y, z] = amounts(rows, 2);
    const [now, before] = [a + b + c + d, w + x + y + z];
    return [
      [rowsOf('q1', 'category sales_2025 sales_2024', ...rows)],
      `Total sales climbed from $${s(before, million, 2)} in 2024 to $${s(now, million, 2)} in 2025, a gain of ${p(growth(before, now))}.
      Outdoor remained the largest category and contributed more than half of that increase: its sales went up by
      $${n(a - w)} (${p(growth(w, a))}) to $${n(a)}. Toys was the fastest-growing category in relative terms, jumping
      ${p(growth(y, c))} to $${n(c)}, although from a much smaller base.

      Kitchen, by contrast, was essentially flat at $${s(b, million, 2)} (${sp(growth(x, b))}), while Books
      lost ground, falling ${p(-growth(z, d))} to $${n(d)}. Its share of total sales dropped from
      ${p(z / before)} to ${p(d / now)}. If we leave Books out, the remaining three categories grew by
      ${p(growth(before - z, now - d))} [q1].`,
    ];
  }),
  told('10-waterfall', 'Walk me from starting ARR to ending ARR in Q3.', (dice) => {
    const [start, fresh, more, less, lost] = [
      near(dice, 12_400_000),
      near(dice, 1_310_000),
      near(dice, 840_000),
      near(dice, 265_000),
      near(dice, 590_000),
    ];
    const end = start + fresh + more - less - lost;
    return [
      [
        rowsOf('q1', 'starting_arr new_arr expansion_arr contraction_arr churned_arr', [
          start,
          fresh,
          more,
          less,
          lost,
        ]),
      ],
      `Here is the ARR bridge for Q3 [q1]:

      | | ARR |
      |---|---:|
      | Starting ARR | $${n(start)} |
      | + New | $${n(fresh)} |
      | + Expansion | $${n(more)} |
      | − Contraction | ($${n(less)}) |
      | − Churn | ($${n(lost)}) |
      | **Ending ARR** | **$${n(end)}** |

      Net new ARR was $${s(end - start, M, 2)}, growing the base by ${p(growth(start, end))}. Net revenue retention comes to
      ${p((start + more - less - lost) / start)} and gross revenue retention to ${p((start - less - lost) / start)}.`,
    ];
  }),
  told('10-nulls-segment', 'Which segment has the highest NPS?', (dice) => {
    const rows: readonly (readonly [string, number, number | null])[] = [
      ['Enterprise', near(dice, 214), 47],
      ['Mid-market', near(dice, 688), 31],
      ['SMB', near(dice, 1930), 18],
      ['Education', near(dice, 41), null],
    ];
    const [a, b, c, d] = amounts(rows.map(([name, count]) => [name, count]));
    return [
      [rowsOf('q1', 'segment customers nps', ...rows)],
      `**Enterprise**, with an NPS of **${n(47)}** across ${n(a)} customers [q1]. Mid-market follows at ${n(31)} and SMB at ${n(18)}.

      | Segment | Customers | NPS |
      |---|---|---|
      | Enterprise | ${n(a)} | ${n(47)} |
      | Mid-market | ${n(b)} | ${n(31)} |
      | SMB | ${n(c)} | ${n(18)} |
      | Education | ${n(d)} | n/a |

      For Education there is no score, even though it has ${n(d)} customers. The gap between the best and the worst scored
      segment is ${n(47 - 18)} points.`,
    ];
  }),
  told('10-monthly-table', 'Show me monthly orders for 2024 and describe the trend.', (dice) => {
    const shape = [4100, 3920, 4380, 4460, 4760, 4560, 4400, 4200, 4820, 5090, 6230, 6870] as const;
    const names = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
    const rows = shape.map(
      (value, index) =>
        [`2024-${String(index + 1).padStart(2, '0')}-01`, near(dice, value)] as const,
    );
    const values = rows.map((row) => row[1]);
    const at = (index: number) => values[index] ?? 0;
    const all = total(values);
    const lines = values.map((value, index) => `| ${names[index]} | ${n(value)} |`);
    const halves = [total(values.slice(0, 6)), total(values.slice(6))] as const;
    return [
      [rowsOf('q1', 'month orders', ...rows)],
      `There were ${n(all)} orders in 2024, ${n(all / 12)} per month on average [q1].

      | Month | Orders |
      |---|---:|
      ${lines.join('\n')}

      The year started slowly, bottoming out in February with ${n(at(1))} orders. From there it rose to a first local high in May
      (${n(at(4))}), eased until August (${n(at(7))}), and accelerated into the holiday season: November and December alone
      account for ${n(at(10) + at(11))} orders, ${p((at(10) + at(11)) / all)} of the year. December was ${p(growth(at(0), at(11)))}
      above January. The second half (${n(halves[1])}) beat the first (${n(halves[0])}) by ${n(halves[1] - halves[0])} orders.`,
    ];
  }),
  told('10-two-periods', 'How does this week compare to last week?', (dice) => {
    const rows = story(dice, ['this_week', 48_210, 1_940, 22], ['last_week', 44_830, 2_015, 31]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [u, v] = amounts(rows, 3);
    return [
      [rowsOf('q1', 'period pageviews signups incidents', ...rows)],
      `Compared with last week [q1]:

      - 📈 Page views: ${n(a)} vs ${n(b)} (${sp(growth(b, a))})
      - 📉 Sign-ups: ${n(x)} vs ${n(y)} (${sp(growth(y, x))})
      - ✅ Incidents: ${n(u)} vs ${n(v)} (${sn(u - v)})

      So traffic is up while conversion is down: ${p(x / a, 2)} of page views led to a sign-up this week, against ${p(y / b, 2)}
      last week.`,
    ];
  }),
  told('10-weighted', 'What is our blended conversion rate across channels?', (dice) => {
    const rows = story(
      dice,
      ['Organic', 91_300, 2_740],
      ['Paid', 38_600, 1_580],
      ['Email', 12_900, 1_020],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const [all, won] = [a + b + c, x + y + z];
    return [
      [rowsOf('q1', 'channel visits purchases', ...rows)],
      `The blended conversion rate is **${p(won / all, 2)}** (${n(won)} purchases out of ${n(all)} visits) [q1].

      By channel:
      1. Email: ${p(z / c, 2)}
      2. Paid: ${p(y / b, 2)}
      3. Organic: ${p(x / a, 2)}

      Note that the simple average of the three rates would be ${p((x / a + y / b + z / c) / 3, 2)}, which overstates the result,
      because Email has only ${p(c / all)} of the visits. Bringing Organic up to the rate of Paid would yield about
      ${n(a * (y / b) - x)} additional purchases.`,
    ];
  }),
  told('10-top-ten', 'Who are our top reps, and how concentrated are sales?', (dice) => {
    const rows = story(
      dice,
      ['Okafor', 612_000, 41],
      ['Lindqvist', 577_000, 33],
      ['Bianchi', 498_000, 52],
      ['Haddad', 361_000, 29],
      ['Novak', 344_000, 38],
      ['Tanaka', 290_000, 17],
      ['Reyes', 184_000, 24],
    );
    const [a, b, c, d, e, f, g] = amounts(rows);
    const [ka, kb, kc, , , kf] = amounts(rows, 2);
    const all = a + b + c + d + e + f + g;
    return [
      [rowsOf('q1', 'rep closed_amount deals', ...rows)],
      `Okafor leads with $${s(a, K, 0)} from ${n(ka)} deals, followed by Lindqvist ($${s(b, K, 0)}, ${n(kb)} deals) and Bianchi
      ($${s(c, K, 0)}, ${n(kc)} deals) [q1].

      **Concentration:** the top 3 of 7 reps closed $${s(a + b + c, M, 2)}, or ${p((a + b + c) / all, 0)} of the
      $${s(all, M, 2)} total. The bottom two, Tanaka and Reyes, closed $${s(f + g, K, 0)} between them (${p((f + g) / all, 0)}).

      **Deal size:** Tanaka closes few but large deals ($${n(f / kf)} on average), whereas Bianchi's are much smaller
      ($${n(c / kc)}). The median rep closed $${n(d)}.`,
    ];
  }),
  told('10-scenario', 'What happens to margin if shipping costs rise by 15%?', (dice) => {
    const [revenue, goods, shipping] = [
      near(dice, 820_000),
      near(dice, 431_000),
      near(dice, 96_000),
    ];
    const margin = revenue - goods - shipping;
    const next = margin - shipping * 0.15;
    return [
      [rowsOf('q1', 'revenue cost_of_goods shipping_cost', [revenue, goods, shipping])],
      `Today, the margin after shipping is $${n(margin)} on revenue of $${n(revenue)}, i.e. ${p(margin / revenue)} [q1].

      **If shipping costs rise by 15%:**
      - Shipping goes from $${n(shipping)} to $${n(shipping * 1.15)} (+$${n(shipping * 0.15)})
      - Margin falls to $${n(next)}, which is ${p(next / revenue)} of revenue
      - That is a drop of ${n(((margin - next) / revenue) * 100, 1)} percentage points

      To offset this entirely through prices, you'd have to raise them by about ${p((shipping * 0.15) / revenue)}, assuming
      volumes don't change.`,
    ];
  }),
];
