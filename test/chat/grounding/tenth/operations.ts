import { rowsOf } from '../blind/answer.ts';
import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const gb = speech('en-GB', '');
const M = [1e6, 'M'] as const;

/** English answers about systems, health, schools, logistics, and what should be done. */
export const operations: readonly Telling[] = [
  told('10-errors', 'Which HTTP errors do we return most often?', (dice) => {
    const rows = story(dice, ['404', 18_240], ['500', 2_610], ['429', 1_975], ['503', 488]);
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'status_code responses', ...rows)],
      `404 (not found) dominates with ${n(a)} responses, ${p(a / all)} of all errors. It is followed by 500 (${n(b)}), 429 (${n(c)})
      and 503 (${n(d)}) [q1].

      Grouping them by class: 4xx errors total ${n(a + c)}, 5xx errors ${n(b + d)}. The 500s deserve attention first; there are
      more than five times as many of them as 503s.`,
    ];
  }),
  told('10-versions', 'Is v2.4 of the app more stable than v2.3?', (dice) => {
    const rows = story(dice, ['2.3.1', 48_000, 1_120], ['2.4.0', 61_500, 905]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'app_version sessions crashes', ...rows)],
      `Yes. Version 2.4.0 crashed in ${p(y / b, 2)} of sessions (${n(y)} of ${n(b)}), version 2.3.1 in ${p(x / a, 2)} (${n(x)} of
      ${n(a)}). That's a reduction of ${p(1 - y / b / (x / a), 0)} in the crash rate [q1]. In terms of crash-free sessions, we went from
      ${p(1 - x / a, 2)} to ${p(1 - y / b, 2)}.`,
    ];
  }),
  told('10-percentiles', 'Summarize the latency of our checkout service.', (dice) => {
    const [p50, p90, p99, max, calls] = [
      near(dice, 118),
      near(dice, 342),
      near(dice, 1_210),
      near(dice, 8_930),
      near(dice, 2_480_000),
    ];
    return [
      [rowsOf('q1', 'p50_ms p90_ms p99_ms max_ms calls', [p50, p90, p99, max, calls])],
      `Latency over ${s(calls, M, 2)} calls [q1]:

      - **p50:** ${n(p50)} ms
      - **p90:** ${n(p90)} ms
      - **p99:** ${n(p99)} ms (${n(p99 / 1000, 2)} s)
      - **max:** ${n(max / 1000, 1)} seconds

      So half of the calls finish within ${n(p50)} ms, but 1% take longer than ${n(p99 / 1000, 1)} s. p99 is ${n(p99 / p50, 1)} times the
      median, which suggests a long tail.`,
    ];
  }),
  told('10-capacity', 'How full are our warehouses?', (dice) => {
    const rows = story(dice, ['Rotterdam', 18_400, 20_000], ['Gdansk', 9_150, 15_000]).map(
      ([name, used], index) => [name, used ?? 0, index === 0 ? 20_000 : 15_000] as const,
    );
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'warehouse pallets_used pallet_capacity', ...rows)],
      `Rotterdam is almost full: ${n(a)} of 20,000 pallet positions are taken (${p(a / 20_000)}), leaving room for ${n(20_000 - a)}
      pallets. Gdansk is only at ${p(b / 15_000)} (${n(b)} of 15,000) and has ${n(15_000 - b)} free positions [q1].

      Across both sites, utilization is ${p((a + b) / 35_000)} of 35,000 positions. I'd suggest moving some stock to Gdansk.`,
    ];
  }),
  told('10-schools', 'How did pass rates change between 2023 and 2024?', (dice) => {
    const rows = story(
      dice,
      ['Mathematics', 2023, 812, 590],
      ['Mathematics', 2024, 846, 655],
      ['Physics', 2023, 390, 301],
      ['Physics', 2024, 402, 287],
    ).map(
      ([name, , sat, passed], index) => [name, 2023 + (index % 2), sat ?? 0, passed ?? 0] as const,
    );
    const [a, b, c, d] = amounts(rows, 2);
    const [w, x, y, z] = amounts(rows, 3);
    return [
      [rowsOf('q1', 'subject year candidates passed', ...rows)],
      `**Mathematics** improved, **Physics** got worse [q1].

      | Subject | 2023 | 2024 | Change (pp) |
      |---|---|---|---|
      | Mathematics | ${p(w / a)} | ${p(x / b)} | ${sn((x / b - w / a) * 100, 1)} |
      | Physics | ${p(y / c)} | ${p(z / d)} | ${sn((z / d - y / c) * 100, 1)} |

      In Mathematics, ${n(x)} of ${n(b)} candidates passed in 2024, after ${n(w)} of ${n(a)} the year before. In Physics the number of
      candidates went up by ${n(d - c)} while ${n(y - z)} fewer passed.`,
    ];
  }),
  told('10-hospital', 'What was average length of stay by ward last month?', (dice) => {
    const rows = [
      ['Cardiology', near(dice, 312), near(dice, 1_640)],
      ['Orthopaedics', near(dice, 207), near(dice, 1_315)],
      ['Maternity', near(dice, 188), near(dice, 470)],
    ] as const;
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'ward admissions bed_days', ...rows)],
      `The average length of stay was ${gb.n((x + y + z) / (a + b + c), 1)} days overall (${gb.n(x + y + z)} bed days over
      ${gb.n(a + b + c)} admissions) [q1]. By ward: Orthopaedics ${gb.n(y / b, 1)} days, Cardiology ${gb.n(x / a, 1)} days and
      Maternity ${gb.n(z / c, 1)} days.

      Cardiology admits the most patients (${gb.n(a)}), but Orthopaedics patients stay ${gb.n(y / b - x / a, 1)} days longer. If
      Orthopaedics matched Cardiology's average, around ${gb.n(y - (b * x) / a)} bed days would be freed up.`,
    ];
  }),
  told('10-sla', 'Did we meet our SLA of 99.9% in each month of Q2?', (dice) => {
    const rows = story(dice, ['2025-04', 21], ['2025-05', 64], ['2025-06', 9]);
    const [a, b, c] = amounts(rows);
    const [april, may] = [30 * 1440, 31 * 1440];
    return [
      [rowsOf('q1', 'month downtime_minutes', ...rows)],
      `No, May missed it. Availability by month [q1]:

      - April: ${p(1 - a / april, 3)} (${n(a)} minutes of downtime)
      - May: ${p(1 - b / may, 3)} (${n(b)} minutes) ❌
      - June: ${p(1 - c / april, 3)} (${n(c)} minutes)

      With 99.9%, a month of 31 days allows for about 44.6 minutes of downtime; May exceeded this by ${n(b - 44.64)} minutes. In total,
      we were down for ${n(a + b + c)} minutes in the quarter, more than two thirds of it in May.`,
    ];
  }),
  told('10-energy', 'Break down energy use per site and the cost of it.', (dice) => {
    const rows = story(dice, ['Plant A', 1_284_000, 192_600], ['Plant B', 903_000, 148_100]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'site kwh cost_eur', ...rows)],
      `Plant A consumed ${n(a / 1000)} MWh at a cost of €${n(x)}, Plant B ${n(b / 1000)} MWh at €${n(y)} [q1].

      - Price per kWh: €${n(x / a, 3)} (Plant A), €${n(y / b, 3)} (Plant B)
      - Both together: ${s(a + b, [1e6, ' GWh'], 2)}, €${n(x + y)}

      At the price of Plant A, Plant B would have saved €${n(y - (b * x) / a)}.`,
    ];
  }),
  told('10-survey', 'What did people answer in the survey?', (dice) => {
    const rows = story(
      dice,
      ['Very satisfied', 412],
      ['Satisfied', 655],
      ['Neutral', 240],
      ['Dissatisfied', 101],
      ['Very dissatisfied', 38],
    );
    const [a, b, c, d, e] = amounts(rows);
    const all = a + b + c + d + e;
    return [
      [rowsOf('q1', 'answer responses', ...rows)],
      `Out of ${n(all)} responses, ${n(a + b)} (${p((a + b) / all, 0)}) were positive, ${n(c)} (${p(c / all, 0)}) neutral and
      ${n(d + e)} (${p((d + e) / all, 0)}) negative [q1].

      The single most common answer was "Satisfied" (${n(b)}), while only ${n(e)} people were "Very dissatisfied". There are
      about ${n((a + b) / (d + e), 1)} satisfied people for each dissatisfied one. On a scale from 1 (very dissatisfied) to 5 (very
      satisfied), this averages out at ${n((5 * a + 4 * b + 3 * c + 2 * d + e) / all, 2)}.`,
    ];
  }),
  told('10-recommend', 'Which campaigns should we stop?', (dice) => {
    const rows = story(
      dice,
      ['Brand search', 12_400, 71_900],
      ['Display retargeting', 18_900, 16_100],
      ['Influencer spring', 25_000, 21_300],
      ['Newsletter ads', 6_300, 19_700],
    );
    const [a, b, c, d] = amounts(rows);
    const [w, x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'campaign spend attributed_revenue', ...rows)],
      `### Recommendation
      Stop (or rework) **Display retargeting** and **Influencer spring**: both return less than they cost.

      | Campaign | Spend | Revenue | ROAS |
      |---|---:|---:|---:|
      | Brand search | $${n(a)} | $${n(w)} | ${n(w / a, 2)}x |
      | Newsletter ads | $${n(d)} | $${n(z)} | ${n(z / d, 2)}x |
      | Display retargeting | $${n(b)} | $${n(x)} | ${n(x / b, 2)}x |
      | Influencer spring | $${n(c)} | $${n(y)} | ${n(y / c, 2)}x |

      ### Why
      - The two losing campaigns cost $${n(b + c)} and brought back $${n(x + y)}, a loss of $${n(b + c - x - y)}.
      - They take up ${p((b + c) / (a + b + c + d), 0)} of spend but bring only ${p((x + y) / (w + x + y + z), 0)} of revenue [q1].
      - Overall ROAS would improve from ${n((w + x + y + z) / (a + b + c + d), 2)}x to ${n((w + z) / (a + d), 2)}x.

      Attribution is last-click, so assisted conversions aren't counted. Let me know if you want a 30-day view-through window.`,
    ];
  }),
  told('10-hours', 'How many hours did each team log on project Atlas?', (dice) => {
    const rows = [
      ['Design', near(dice, 18_450) / 100],
      ['Backend', near(dice, 51_225) / 100],
      ['QA', near(dice, 9_675) / 100],
    ] as const;
    const [a, b, c] = amounts(rows);
    return [
      [
        withSql(
          "SELECT team, sum(hours) AS hours FROM time_entries WHERE project = 'Atlas' GROUP BY team",
          rowsOf('q1', 'team hours', ...rows),
        ),
      ],
      `Project Atlas has ${n(a + b + c, 2)} logged hours: Backend ${n(b, 2)} h, Design ${n(a, 2)} h and QA ${n(c, 2)} h [q1]. At 8 hours a
      day that is about ${n((a + b + c) / 8)} person-days, ${n(b / 8)} of them in Backend (${p(b / (a + b + c), 0)}).`,
    ];
  }),
  told(
    '10-returns-time',
    'Has the return rate improved since the new size guide in May?',
    (dice) => {
      const rows = story(
        dice,
        ['2025-03-01', 5_120, 1_014],
        ['2025-04-01', 5_340, 1_073],
        ['2025-05-01', 5_610, 965],
        ['2025-06-01', 5_480, 871],
      );
      const [a, b, c, d] = amounts(rows);
      const [w, x, y, z] = amounts(rows, 2);
      const [before, after] = [(w + x) / (a + b), (y + z) / (c + d)];
      return [
        [rowsOf('q1', 'month orders returns', ...rows)],
        `It looks like it. In March and April, before the guide was introduced, ${p(before)} of orders were returned
      (${n(w + x)} of ${n(a + b)}). In May and June the rate fell to ${p(after)} (${n(y + z)} of ${n(c + d)}), an improvement of
      ${n((before - after) * 100, 1)} percentage points [q1].

      Month by month: March ${p(w / a)}, April ${p(x / b)}, May ${p(y / c)}, June ${p(z / d)}. Two months isn't much, so keep
      watching; if June's rate had applied in April, we'd have had ${n(x - (b * z) / d)} fewer returns.`,
      ];
    },
  ),
  told('10-hist', 'What is the distribution of basket sizes?', (dice) => {
    const rows = story(dice, ['1', 6_210], ['2', 3_480], ['3', 1_590], ['4', 640], ['5+', 380]);
    const [a, b, c, d, e] = amounts(rows);
    const all = total([a, b, c, d, e]);
    return [
      [rowsOf('q1', 'items_per_order orders', ...rows)],
      `Half of the orders (${n(a)}, ${p(a / all)}) contain a single item. ${n(b)} have 2 items, ${n(c)} have 3, ${n(d)} have 4, and
      ${n(e)} have 5 or more [q1]. Put differently, ${p((c + d + e) / all)} of the ${n(all)} orders have at least 3 items.

      Going from 1 to 2 items the count drops by ${p(1 - b / a, 0)}, from 2 to 3 by ${p(1 - c / b, 0)}.`,
    ];
  }),
  told('10-per-unit', 'What does each delivery cost us by carrier?', (dice) => {
    const rows = story(
      dice,
      ['DHL', 8_120, 47_900],
      ['UPS', 5_460, 35_200],
      ['GLS', 3_310, 15_400],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        rowsOf('q1', 'carrier deliveries', ...rows.map(([name, count]) => [name, count ?? 0])),
        rowsOf('q2', 'carrier cost', ...rows.map(([name, , cost]) => [name, cost ?? 0])),
      ],
      `Cost per delivery, from deliveries [q1] and cost [q2]:

      1. GLS: €${n(z / c, 2)} (€${n(z)} / ${n(c)})
      2. DHL: €${n(x / a, 2)} (€${n(x)} / ${n(a)})
      3. UPS: €${n(y / b, 2)} (€${n(y)} / ${n(b)})

      UPS is €${n(y / b - z / c, 2)} (${p(y / b / (z / c) - 1, 0)}) more expensive than GLS. On average, a delivery costs
      €${n((x + y + z) / (a + b + c), 2)}.`,
    ];
  }),
  told('10-growth-chain', 'How has our user base evolved since 2020?', (dice) => {
    const rows = story(
      dice,
      ['2020', 1_240],
      ['2021', 3_310],
      ['2022', 7_950],
      ['2023', 12_640],
      ['2024', 15_180],
    );
    const [a, b, c, d, e] = amounts(rows);
    return [
      [rowsOf('q1', 'year users', ...rows)],
      `The user base has grown roughly twelvefold, from ${n(a)} at the end of 2020 to ${n(e)} at the end of 2024 [q1]. Growth was
      fastest in the early years (${sp(growth(a, b), 0)} in 2021, ${sp(growth(b, c), 0)} in 2022) and has since cooled off to
      ${sp(growth(c, d), 0)} in 2023 and ${sp(growth(d, e), 0)} in 2024. In absolute numbers, 2023 was the best year, with
      ${n(d - c)} users added; in 2024 it was ${n(e - d)}.

      The compound annual growth rate over these four years is ${p((e / a) ** 0.25 - 1, 0)}.`,
    ];
  }),
];
