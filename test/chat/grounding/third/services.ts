import { rowsOf } from '../blind/answer.ts';
import { at, ranked, sum, type Telling, told, way } from '../second/kit.ts';
import { column, part, speech, withSql } from './kit.ts';

const { n, p, s, sp } = speech('en-GB', '');

export const services: readonly Telling[] = [
  told('3-churn', 'What was customer churn in June?', (dice) => {
    const start = dice.between(1500, 4000);
    const lost = part(start, 0.015 + dice.next() / 40);
    return [
      [
        withSql(
          "SELECT COUNT(*) AS at_start, COUNT(*) FILTER (WHERE cancelled_at >= '2025-06-01' AND cancelled_at < '2025-07-01') AS churned FROM subs",
          rowsOf('q1', 'at_start churned', [start, lost]),
        ),
      ],
      `June churn was ${p(lost / start, 2)}: ${n(lost)} of the ${n(start)} customers we had on 1 June
      cancelled during the month [q1]. If that held for 12 months we would lose roughly
      ${p(1 - (1 - lost / start) ** 12, 0)} of customers in a year.`,
    ];
  }),
  told('3-bridge', 'Walk me through MRR from May to June.', (dice) => {
    const start = dice.between(400_000, 900_000);
    const fresh = dice.between(20_000, 60_000);
    const more = dice.between(5000, 30_000);
    const less = dice.between(2000, 9000);
    const lost = dice.between(8000, 30_000);
    return [
      [
        rowsOf('q1', 'opening_mrr new expansion contraction churned', [
          start,
          fresh,
          more,
          -less,
          -lost,
        ]),
      ],
      `- Opening MRR (31 May): £${n(start)}
      - New: +£${n(fresh)}
      - Expansion: +£${n(more)}
      - Contraction: −£${n(less)}
      - Churn: −£${n(lost)}
      - **Closing MRR (30 June): £${n(start + fresh + more - less - lost)}**

      Net new MRR is £${n(fresh + more - less - lost)}, ${sp((fresh + more - less - lost) / start)} on the
      month. Net revenue retention: ${p((start + more - less - lost) / start)} [q1].`,
    ];
  }),
  told('3-funnel', 'Where do we lose people in the signup funnel?', (dice) => {
    const visits = dice.between(40_000, 90_000);
    const signups = part(visits, 0.1 + dice.next() / 10);
    const verified = part(signups, 0.6 + dice.next() / 5);
    const paid = part(verified, 0.08 + dice.next() / 9);
    return [
      [
        rowsOf(
          'q1',
          'step users',
          ['visit', visits],
          ['signup', signups],
          ['verified', verified],
          ['paid', paid],
        ),
      ],
      `| Step | Users | From previous step | From visit |
      |:--|--:|--:|--:|
      | Visit | ${n(visits)} | – | 100% |
      | Signup | ${n(signups)} | ${p(signups / visits)} | ${p(signups / visits)} |
      | Verified | ${n(verified)} | ${p(verified / signups)} | ${p(verified / visits)} |
      | Paid | ${n(paid)} | ${p(paid / verified)} | ${p(paid / visits, 2)} |

      In absolute numbers most are lost before signing up (${n(visits - signups)}). About 1 in
      ${n(visits / paid)} visitors ends up paying [q1].`,
    ];
  }),
  told('3-retention', 'What does retention look like for the March cohort?', (dice) => {
    const size = dice.between(2000, 9000);
    const [d1, d7, d30] = [0.4, 0.2, 0.1].map((share) => part(size, share + dice.next() / 12)) as [
      number,
      number,
      number,
    ];
    return [
      [
        rowsOf(
          'q1',
          'cohort day active_users',
          ['2025-03', 0, size],
          ['2025-03', 1, d1],
          ['2025-03', 7, d7],
          ['2025-03', 30, d30],
        ),
      ],
      `The March 2025 cohort has ${n(size)} users. ${p(d1 / size)} came back on day 1, ${p(d7 / size)} on
      day 7 and ${p(d30 / size)} (${n(d30)} people) on day 30 [q1]. Between D7 and D30 we lose
      ${n(d7 - d30)} users.`,
    ];
  }),
  told('3-uptime', 'What was our uptime in June 2025?', (dice) => {
    const rows = ['INC-2207', 'INC-2211', 'INC-2219'].map(
      (id) => [id, dice.between(13, 130)] as const,
    );
    const down = column(rows, 1);
    const said = rows.map(([id, minutes]) => `${id} (${n(minutes)} min)`).join(', ');
    return [
      [rowsOf('q1', 'incident minutes_down', ...rows)],
      `Uptime was **${p(1 - down / 43_200, 2)}** in June 2025. There were 3 incidents with ${n(down)}
      minutes of downtime in total (${n(Math.floor(down / 60))} h ${n(down % 60)} min): ${said} [q1].
      June has 43,200 minutes.`,
    ];
  }),
  told('3-latency', 'How fast is checkout?', (dice) => {
    const [p50, p95, p99] = [
      dice.between(180, 420),
      dice.between(800, 1900),
      dice.between(2100, 5200),
    ];
    return [
      [rowsOf('q1', 'p50_ms p95_ms p99_ms requests', [p50, p95, p99, dice.between(1e6, 9e6)])],
      `The median checkout request takes ${n(p50)} ms. p95 is ${n(p95 / 1000, 2)} s and p99 is
      ${n(p99 / 1000, 1)} s, about ${n(p99 / p50)} times the median [q1].`,
    ];
  }),
  told('3-storage', 'How much storage do we use?', (dice) => {
    const rows = ranked(dice, 'events|sessions|orders', [8e9, 9e11]);
    const giga = [1e9, ' GB'] as const;
    return [
      [rowsOf('q1', 'table_name bytes', ...rows)],
      `About ${s(sum(rows), [1e12, ' TB'], 2)} in three tables: \`events\` ${s(at(rows, 0)[1], giga, 0)}
      (${p(at(rows, 0)[1] / sum(rows), 0)}), \`sessions\` ${s(at(rows, 1)[1], giga, 0)} and \`orders\`
      ${s(at(rows, 2)[1], giga, 0)} [q1].`,
    ];
  }),
  told('3-api-errors', 'Which endpoint fails most?', (dice) => {
    const rows = ['/v2/quotes', '/v1/orders', '/health'].map((path, index) => {
      const calls = dice.between(90_000, 900_000);
      return [path, calls, part(calls, (0.008 + dice.next() / 500) / (index + 1))] as const;
    });
    const rate = (index: number) => (at(rows, index)[2] / at(rows, index)[1]) * 1000;
    return [
      [
        withSql(
          "SELECT path, COUNT(*) AS calls, COUNT(*) FILTER (WHERE status >= 500) AS errors FROM log WHERE ts >= now() - INTERVAL '7 days' GROUP BY 1",
          rowsOf('q1', 'path calls errors', ...rows),
        ),
      ],
      `\`/v2/quotes\` has the highest rate of 5xx responses in the last 7 days: ${n(at(rows, 0)[2])} errors in
      ${n(at(rows, 0)[1])} calls, or ${n(rate(0), 1)} per 1,000. \`/v1/orders\` is at ${n(rate(1), 1)} per
      1,000 and \`/health\` at ${n(rate(2), 1)} [q1].`,
    ];
  }),
  told('3-attrition', 'How many people left in FY2025?', (dice) => {
    const [average, left] = [dice.between(310, 890), dice.between(28, 90)];
    const tenure = dice.between(14, 70);
    return [
      [
        rowsOf('q1', 'leavers avg_headcount', [left, average]),
        rowsOf('q2', 'avg_tenure_months', [tenure]),
      ],
      `${n(left)} people left in FY2025. With an average headcount of ${n(average)} that's an attrition
      rate of ${p(left / average)} [q1]. Leavers had been with us for ${n(tenure / 12, 1)} years
      (${n(tenure)} months) on average [q2].`,
    ];
  }),
  told('3-pay-gap', 'Is there a gender pay gap in Engineering?', (dice) => {
    const [men, women] = [dice.between(62_000, 78_000), dice.between(55_000, 61_500)];
    const [m, w] = [dice.between(60, 140), dice.between(20, 59)];
    return [
      [
        withSql(
          "SELECT gender, COUNT(*) AS people, ROUND(AVG(salary)) AS avg_salary FROM staff WHERE department = 'Engineering' GROUP BY gender",
          rowsOf('q1', 'gender people avg_salary', ['m', m, men], ['f', w, women]),
        ),
      ],
      `In Engineering the ${n(w)} women earn £${n(women)} on average and the ${n(m)} men £${n(men)}. The gap
      is £${n(men - women)} or ${p((men - women) / men)} of men's pay [q1]. This is unadjusted: level and
      tenure are not taken into account.`,
    ];
  }),
  told('3-beds', 'How full are the wards?', (dice) => {
    const rows = ['Cardiology', 'Maternity', 'Surgery'].map((ward) => {
      const beds = dice.between(24, 80);
      return [ward, beds, part(beds, 0.6 + dice.next() / 3)] as const;
    });
    const lines = rows.map(
      ([ward, beds, used]) => `* ${ward}: ${n(used)}/${n(beds)} (${p(used / beds, 0)})`,
    );
    return [
      [rowsOf('q1', 'ward beds occupied', ...rows)],
      `${lines.join('\n')}
      * Total: ${n(column(rows, 2))}/${n(column(rows, 1))}
      (${p(column(rows, 2) / column(rows, 1), 0)})

      ${n(column(rows, 1) - column(rows, 2))} beds are free. [q1]`,
    ];
  }),
  told('3-waiting', 'How long do patients wait in A&E?', (dice) => {
    const [now, before] = [dice.between(121, 230), dice.between(121, 230)];
    return [
      [rowsOf('q1', 'month avg_wait_minutes', ['2025-04', before], ['2025-05', now])],
      `In May 2025 the average wait was ${n(Math.floor(now / 60))} hours ${n(now % 60)} minutes, which is
      ${n(Math.abs(now - before))} minutes ${way(before, now, ['longer', 'shorter'])} than in April
      (${n(before)} minutes) [q1].`,
    ];
  }),
  told('3-energy', 'How much electricity did each site use in 2024?', (dice) => {
    const rows = ranked(dice, 'Leeds|York|Hull', [210_000, 3_400_000]);
    const mega = [1000, ' MWh'] as const;
    return [
      [rowsOf('q1', 'site kwh_2024', ...rows)],
      `Leeds used ${s(at(rows, 0)[1], mega)}, York ${s(at(rows, 1)[1], mega)} and Hull
      ${s(at(rows, 2)[1], mega)} in 2024. All three sites used ${s(sum(rows), [1e6, ' GWh'], 2)}; Leeds alone is
      ${p(at(rows, 0)[1] / sum(rows), 0)} of it [q1].`,
    ];
  }),
  told('3-carriers', 'Which carrier is more punctual?', (dice) => {
    const rows = ['Northway', 'Swiftline'].map((name, index) => {
      const all = dice.between(2000, 9000);
      const days = dice.between(18, 49) / 10;
      return [name, all, part(all, 0.92 - index * 0.05 + dice.next() / 30), days] as const;
    });
    const rate = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'carrier parcels on_time avg_days', ...rows)],
      `{m:Northway~Swiftline}: ${p(rate(0))} of its ${n(at(rows, 0)[1])} parcels arrived on time, against
      ${p(rate(1))} for Swiftline, a gap of ${n((rate(0) - rate(1)) * 100, 1)} percentage points. On average
      a parcel takes ${n(at(rows, 0)[3], 1)} days with Northway and ${n(at(rows, 1)[3], 1)} with
      Swiftline [q1].`,
    ];
  }),
  told('3-support', 'How is support doing this week?', (dice) => {
    const [opened, closed] = [dice.between(310, 690), dice.between(310, 690)];
    const backlog = dice.between(90, 300);
    const first = dice.between(61, 170);
    const csat = dice.between(38, 48) / 10;
    return [
      [
        rowsOf('q1', 'week opened closed backlog_start median_first_reply_min csat', [
          '2025-W23',
          opened,
          closed,
          backlog,
          first,
          csat,
        ]),
      ],
      `**Week 23 of 2025** [q1]

      - Opened: ${n(opened)}, closed: ${n(closed)}
      - Backlog: ${n(backlog)} → ${n(backlog + opened - closed)}
      - Median time to first reply: ${n(first / 60, 1)} hours
      - CSAT: ${n(csat, 1)} out of 5`,
    ];
  }),
  told('3-ab-test', 'Did the new checkout win the A/B test?', (dice) => {
    const [na, nb] = [dice.between(9000, 14_000), dice.between(9000, 14_000)];
    const [ca, cb] = [part(na, 0.03 + dice.next() / 90), part(nb, 0.045 + dice.next() / 90)];
    const [a, b] = [ca / na, cb / nb];
    return [
      [
        rowsOf('q1', 'variant users conversions', ['A', na, ca], ['B', nb, cb]),
        rowsOf('q2', 'p_value ci_low ci_high', [0.0031, 0.0042, 0.0211]),
      ],
      `Yes. Variant B converted ${p(b, 2)} (${n(cb)}/${n(nb)}) against ${p(a, 2)} (${n(ca)}/${n(na)}) for
      A [q1]: an absolute lift of ${n((b - a) * 100, 2)} pp, a relative lift of ${p(b / a - 1)}. The
      difference is significant (p = {0.003}; 95% CI 0.42 to {2.11 pp}) [q2].`,
    ];
  }),
  told('3-survey', 'How satisfied are employees?', (dice) => {
    const rows = [5, 4, 3, 2, 1].map((score) => [score, dice.between(12, 160)] as const);
    const all = column(rows, 1);
    const mean = rows.reduce((total, [score, people]) => total + score * people, 0) / all;
    return [
      [rowsOf('q1', 'score answers', ...rows)],
      `${n(all)} people answered. ${p((at(rows, 0)[1] + at(rows, 1)[1]) / all, 0)} gave a 4 or 5,
      ${p((at(rows, 3)[1] + at(rows, 4)[1]) / all, 0)} a 1 or 2. The average score is ${n(mean, 2)} on the
      scale from 1 to 5 [q1].`,
    ];
  }),
  told('3-email', 'How did the spring newsletter perform?', (dice) => {
    const sent = dice.between(20_000, 60_000);
    const bounced = dice.between(100, 900);
    const opened = part(sent, 0.2 + dice.next() / 6);
    const clicked = part(opened, 0.08 + dice.next() / 9);
    return [
      [
        rowsOf('q1', 'campaign sent bounced opened clicked', [
          'Spring',
          sent,
          bounced,
          opened,
          clicked,
        ]),
      ],
      `Sent: ${n(sent)} · delivered: ${n(sent - bounced)} · opened: ${n(opened)}
      (${p(opened / (sent - bounced))} of delivered) · clicked: ${n(clicked)}
      (${p(clicked / (sent - bounced), 2)}; click-to-open rate ${p(clicked / opened)}) [q1]`,
    ];
  }),
  told('3-ads', 'Compare Google and Meta ads for May.', (dice) => {
    const rows = ['Google', 'Meta'].map((name) => {
      const spend = dice.between(9000, 40_000);
      const clicks = dice.between(6000, 20_000);
      const sales = dice.between(100, 600);
      const revenue = part(spend, 1.5 + dice.next() * 3);
      return [name, spend, dice.between(4e5, 2e6), clicks, sales, revenue] as const;
    });
    const [g, m] = [at(rows, 0), at(rows, 1)];
    return [
      [rowsOf('q1', 'channel spend impressions clicks orders revenue', ...rows)],
      `| | Google | Meta |
      |---|---:|---:|
      | Spend | £${n(g[1])} | £${n(m[1])} |
      | CTR | ${p(g[3] / g[2], 2)} | ${p(m[3] / m[2], 2)} |
      | CPC | £${n(g[1] / g[3], 2)} | £${n(m[1] / m[3], 2)} |
      | CPM | £${n((g[1] / g[2]) * 1000, 2)} | £${n((m[1] / m[2]) * 1000, 2)} |
      | Cost per order | £${n(g[1] / g[4], 2)} | £${n(m[1] / m[4], 2)} |
      | ROAS | ${n(g[5] / g[1], 2)} | ${n(m[5] / m[1], 2)} |

      Together they cost £${n(g[1] + m[1])} and returned £${n(g[5] + m[5])}, a blended ROAS of
      ${n((g[5] + m[5]) / (g[1] + m[1]), 1)}x [q1].`,
    ];
  }),
  told('3-pupils', 'How many pupils passed the maths exam?', (dice) => {
    const all = dice.between(110, 240);
    const passed = part(all, 0.7 + dice.next() / 5);
    const mean = dice.between(540, 710) / 10;
    return [
      [rowsOf('q1', 'pupils passed avg_mark', [all, passed, mean])],
      `${n(passed)} out of ${n(all)} pupils passed, a pass rate of just over
      {${Math.floor((passed / all) * 100)}%}; ${n(all - passed)} failed. The mean mark was ${n(mean, 1)} out
      of 100 [q1].`,
    ];
  }),
  told('3-per-capita', 'Which district has the most burglaries per resident?', (dice) => {
    const rows = ['Eastfield', 'Northgate', 'Westbrook'].map((name, index) => {
      const people = dice.between(30_000, 140_000);
      return [name, people, part(people, (0.006 + dice.next() / 900) / (index + 1))] as const;
    });
    const per = (index: number) => (at(rows, index)[2] / at(rows, index)[1]) * 100_000;
    return [
      [rowsOf('q1', 'district residents burglaries', ...rows)],
      `{m:Eastfield~Westbrook}, with ${n(per(0))} burglaries per 100,000 residents, followed by Northgate
      (${n(per(1))}) and Westbrook (${n(per(2))}). In absolute numbers: ${n(at(rows, 0)[2])},
      ${n(at(rows, 1)[2])} and ${n(at(rows, 2)[2])} [q1].`,
    ];
  }),
  told('3-hotel', 'What were occupancy, ADR and RevPAR in July?', (dice) => {
    const available = 31 * dice.between(60, 180);
    const sold = part(available, 0.6 + dice.next() / 3);
    const revenue = sold * dice.between(90, 190);
    return [
      [
        rowsOf('q1', 'month rooms_available rooms_sold room_revenue', [
          '2025-07',
          available,
          sold,
          revenue,
        ]),
      ],
      `For July 2025 [q1]: occupancy ${p(sold / available)}, ADR €${n(revenue / sold, 2)}, RevPAR
      €${n(revenue / available, 2)}. That is €${n(revenue)} of room revenue from ${n(sold)} of
      ${n(available)} room nights.`,
    ];
  }),
];
