import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from '../third/kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const K = [1e3, 'K'] as const;

export const industries: readonly Telling[] = [
  told('4-rent', 'What is the median rent per square metre by district?', (dice) => {
    const rows = ranked(dice, 'Altona|Eimsbüttel|Wandsbek', [11, 29]);
    return [
      [
        rowsOf(
          'q1',
          'district listings median_rent_per_sqm',
          ...rows.map(([name, rent]) => [name, dice.between(80, 400), rent + 0.35]),
        ),
      ],
      `The median rent is highest in Altona (€${n(at(rows, 0)[1] + 0.35, 2)}/m²), followed by Eimsbüttel
      (€${n(at(rows, 1)[1] + 0.35, 2)}) and Wandsbek (€${n(at(rows, 2)[1] + 0.35, 2)}). Altona is
      €${n(at(rows, 0)[1] - at(rows, 2)[1], 2)} more expensive than Wandsbek [q1].`,
    ];
  }),
  told('4-players', 'How many players came back after the 3.2 patch?', (dice) => {
    const [before, after] = [dice.between(40_000, 90_000), dice.between(40_000, 90_000)];
    const minutes = dice.between(21, 58);
    return [
      [
        rowsOf('q1', 'patch daily_players', ['3.1', before], ['3.2', after]),
        rowsOf('q2', 'avg_session_minutes', [minutes]),
      ],
      `Daily players went from ${n(before)} (3.1) to ${n(after)} (3.2), a ${sp(growth(before, after))}
      change [q1]. A session lasts ${n(minutes)} minutes on average [q2].`,
    ];
  }),
  told('4-index', 'Show the price index with 2020 = 100.', (dice) => {
    const rows = [2020, 2021, 2022, 2023].map((year) => [year, dice.between(180, 320)] as const);
    const base = at(rows, 0)[1];
    const lines = rows.map(
      ([year, price]) => `| ${year} | $${n(price)} | ${n((price / base) * 100, 1)} |`,
    );
    return [
      [rowsOf('q1', 'year avg_price', ...rows)],
      `| Year | Average price | Index (2020 = 100) |
      |---|---|---|
      ${lines.join('\n')}

      [q1]`,
    ];
  }),
  told('4-range', 'How volatile are weekly sales?', (dice) => {
    const rows = walk(dice, '2025-W10|2025-W11|2025-W12|2025-W13|2025-W14', 40_000);
    const values = rows.map(([, value]) => value).sort((left, right) => left - right);
    const [low, high] = [at(values, 0), at(values, 4)];
    return [
      [rowsOf('q1', 'week sales', ...rows)],
      `Over the five weeks (W10 to W14) sales ranged from $${n(low)} to $${n(high)}, with a mean of
      $${n(sum(rows) / 5)} and a median of $${n(at(values, 2))}. The best week was
      ${p(growth(low, high), 0)} better than the worst [q1].`,
    ];
  }),
  told('4-pareto', 'Which defects cause most of the scrap?', (dice) => {
    const rows = ranked(dice, 'Scratch|Dent|Misprint|Leak|Other', [40, 900]);
    let total = 0;
    const lines = rows.map(([name, value]) => {
      total += value;
      return `| ${name} | ${n(value)} | ${p(value / sum(rows))} | ${p(total / sum(rows))} |`;
    });
    return [
      [rowsOf('q1', 'defect pieces', ...rows)],
      `| Defect | Pieces | Share | Cumulative |
      |---|--:|--:|--:|
      ${lines.join('\n')}

      Scratches and dents together cause ${p((at(rows, 0)[1] + at(rows, 1)[1]) / sum(rows), 0)} of
      ${n(sum(rows))} scrapped pieces [q1].`,
    ];
  }),
  told('4-arpu', 'What is ARPU per segment?', (dice) => {
    const rows = ['Prepaid', 'Contract', 'Business'].map(
      (name) => [name, dice.between(20_000, 90_000), dice.between(400_000, 2_900_000)] as const,
    );
    const lines = rows.map(([name, lines_, revenue]) => `- ${name}: €${n(revenue / lines_, 2)}`);
    return [
      [rowsOf('q1', 'segment active_lines monthly_revenue', ...rows)],
      `Monthly ARPU [q1]:
      ${lines.join('\n')}
      - All segments: €${n(column(rows, 2) / column(rows, 1), 2)} (€${s(column(rows, 2), M, 2)} from
      ${s(column(rows, 1), K)} lines)`,
    ];
  }),
  told('4-turnout', 'What was the turnout in the 2024 council election?', (dice) => {
    const voters = dice.between(40_000, 190_000);
    const votes = part(voters, 0.4 + dice.next() / 4);
    const invalid = dice.between(210, 900);
    return [
      [rowsOf('q1', 'registered ballots_cast invalid', [voters, votes, invalid])],
      `Turnout was ${p(votes / voters)} (${n(votes)} ballots from ${n(voters)} registered voters).
      ${n(invalid)} ballots, or ${p(invalid / votes, 2)}, were invalid, which leaves ${n(votes - invalid)}
      valid votes [q1].`,
    ];
  }),
  told('4-tips', 'How much do guests tip?', (dice) => {
    const rows = ['Lunch', 'Dinner'].map((name) => {
      const bills = dice.between(300, 900);
      const sales = bills * dice.between(24, 70);
      return [name, bills, sales, part(sales, 0.09 + dice.next() / 12)] as const;
    });
    const [l, d] = [at(rows, 0), at(rows, 1)];
    return [
      [rowsOf('q1', 'service bills sales tips', ...rows)],
      `At lunch guests tip ${p(l[3] / l[2])} of the bill ($${n(l[3] / l[1], 2)} per bill), at dinner
      ${p(d[3] / d[2])} ($${n(d[3] / d[1], 2)}). In total that's $${n(column(rows, 3))} of tips on
      $${n(column(rows, 2))} of sales [q1].`,
    ];
  }),
  told('4-rides', 'How long do riders wait, and how many cancel?', (dice) => {
    const requests = dice.between(10_000, 40_000);
    const cancelled = part(requests, 0.06 + dice.next() / 12);
    const seconds = dice.between(190, 520);
    return [
      [rowsOf('q1', 'requests cancelled avg_wait_s', [requests, cancelled, seconds])],
      `Riders wait ${n(Math.floor(seconds / 60))} min ${n(seconds % 60)} s on average. ${n(cancelled)} of
      ${n(requests)} requests were cancelled, roughly 1 in ${n(requests / cancelled)}
      (${p(cancelled / requests)}); ${n(requests - cancelled)} ended in a ride [q1].`,
    ];
  }),
  told('4-donors', 'How did the autumn appeal compare with last year?', (dice) => {
    const rows = [2023, 2024].map((year) => {
      const gifts = dice.between(900, 4000);
      return [year, gifts, gifts * dice.between(31, 88)] as const;
    });
    const [a, b] = [at(rows, 0), at(rows, 1)];
    return [
      [rowsOf('q1', 'year gifts raised', ...rows)],
      `The 2024 appeal raised **$${n(b[2])}** from ${n(b[1])} gifts, ${way(a[2], b[2], ['up', 'down'])}
      ${p(Math.abs(growth(a[2], b[2])))} on 2023 ($${n(a[2])} from ${n(a[1])}). The average gift was
      $${n(b[2] / b[1], 2)} (2023: $${n(a[2] / a[1], 2)}) [q1].`,
    ];
  }),
  told('4-sla', 'How many P1 tickets met the 4-hour SLA?', (dice) => {
    const all = dice.between(60, 240);
    const met = part(all, 0.7 + dice.next() / 5);
    return [
      [
        withSql(
          "SELECT COUNT(*) AS p1, SUM(CASE WHEN hours_to_fix <= 4 THEN 1 ELSE 0 END) AS met FROM t WHERE priority = 1 AND opened_at >= '2025-04-01' AND opened_at < '2025-07-01'",
          rowsOf('q1', 'p1 met', [all, met]),
        ),
      ],
      `In Q2 2025, ${n(met)} of ${n(all)} P1 tickets (${p(met / all)}) were fixed within 4 hours, and
      ${n(all - met)} were not. [q1]`,
    ];
  }),
  told('4-model', 'How good is the fraud model?', (dice) => {
    const [tp, fp] = [dice.between(310, 900), dice.between(40, 190)];
    const fn = dice.between(50, 300);
    return [
      [rowsOf('q1', 'true_positives false_positives false_negatives', [tp, fp, fn])],
      `Precision is ${p(tp / (tp + fp))} (${n(tp)} of ${n(tp + fp)} alerts were fraud) and recall
      ${p(tp / (tp + fn))} (${n(tp)} of ${n(tp + fn)} frauds were caught) [q1].`,
    ];
  }),
  told('4-yoy-table', 'Revenue by quarter, 2024 against 2023?', (dice) => {
    const rows = ['Q1', 'Q2', 'Q3', 'Q4'].map(
      (name) => [name, dice.between(1e6, 4e6), dice.between(1e6, 4e6)] as const,
    );
    const lines = rows.map(
      ([name, a, b]) =>
        `| ${name} | ${s(a, M, 2)} | ${s(b, M, 2)} | ${sn((b - a) / 1e6, 2)}M | ${sp(growth(a, b))} |`,
    );
    const [a, b] = [column(rows, 1), column(rows, 2)];
    return [
      [rowsOf('q1', 'quarter revenue_2023 revenue_2024', ...rows)],
      `| Quarter | 2023 ($) | 2024 ($) | Change | % |
      |---|---|---|---|---|
      ${lines.join('\n')}
      | Year | ${s(a, M, 2)} | ${s(b, M, 2)} | ${sn((b - a) / 1e6, 2)}M | ${sp(growth(a, b))} |

      Source: [q1]`,
    ];
  }),
  told('4-mix', 'What share of trips is by electric bike?', (dice) => {
    const rows = [2023, 2024].map((year) => {
      const all = dice.between(30_000, 90_000);
      return [year, all, part(all, 0.2 + dice.next() / 3)] as const;
    });
    const share = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'year trips e_bike_trips', ...rows)],
      `E-bikes made ${p(share(1))} of trips in 2024, compared with ${p(share(0))} in 2023:
      ${way(share(0), share(1), ['an increase', 'a decrease'])} of
      ${n(Math.abs(share(1) - share(0)) * 100, 1)} percentage points [q1].`,
    ];
  }),
  told('4-thirds', 'How is the workload split between the two sites?', (dice) => {
    const small = dice.between(2000, 4000);
    const big = small * 2 + dice.between(0, 20);
    return [
      [rowsOf('q1', 'site tickets', ['Cork', big], ['Graz', small])],
      `Two thirds of the tickets are handled in Cork (${n(big)} of ${n(big + small)}), one third in Graz
      (${n(small)}), i.e. Cork handles twice as many [q1].`,
    ];
  }),
  told('4-emissions', 'How much CO2 did we emit per scope?', (dice) => {
    const rows = ranked(dice, 'Scope 3|Scope 1|Scope 2', [400_000, 9_000_000]);
    const t = [1000, ' t'] as const;
    return [
      [rowsOf('q1', 'scope kg_co2e', ...rows)],
      `Scope 3 dominates with ${s(at(rows, 0)[1], t, 0)} CO2e (${p(at(rows, 0)[1] / sum(rows), 0)} of
      ${s(sum(rows), t, 0)}). Scope 1 accounts for ${s(at(rows, 1)[1], t, 0)} and Scope 2 for
      ${s(at(rows, 2)[1], t, 0)} [q1].`,
    ];
  }),
  told('4-tenure', 'How long do tenants stay?', (dice) => {
    const months = dice.between(15, 60);
    return [
      [
        rowsOf('q1', 'leases_ended avg_months median_months', [
          dice.between(80, 300),
          months,
          months - 4,
        ]),
      ],
      `On average ${n(months)} months (${n(months / 12, 1)} years); the median is ${n(months - 4)} months [q1].`,
    ];
  }),
  told('4-stock-days', 'Which medicine will run out first?', (dice) => {
    const rows = ['Ibuprofen', 'Insulin', 'Salbutamol'].map((name, index) => {
      const used = dice.between(12, 60);
      return [name, used * (9 + index * 8) + dice.between(0, 8), used] as const;
    });
    const cover = (index: number) => at(rows, index)[1] / at(rows, index)[2];
    return [
      [rowsOf('q1', 'medicine on_hand used_per_day', ...rows)],
      `{m:Ibuprofen~Insulin}: ${n(at(rows, 0)[1])} packs at ${n(at(rows, 0)[2])} per day last
      ${n(cover(0), 1)} days. Insulin lasts ${n(cover(1), 1)} days and Salbutamol ${n(cover(2), 1)} [q1].`,
    ];
  }),
  told('4-cap', 'How full are the parking garages at 9 am?', (dice) => {
    const rows = ['Station', 'Market', 'Harbour'].map((name) => {
      const places = dice.between(200, 900);
      return [name, places, part(places, 0.5 + dice.next() / 2.2)] as const;
    });
    const lines = rows.map(
      ([name, places, taken]) => `${name} ${p(taken / places, 0)} (${n(places - taken)} free)`,
    );
    return [
      [
        withSql(
          'SELECT garage, places, taken FROM occupancy WHERE hour = 9',
          rowsOf('q1', 'garage places taken', ...rows),
        ),
      ],
      `At 9 am: ${lines.join(', ')}. Across the three garages ${n(column(rows, 2))} of ${n(column(rows, 1))}
      places are taken (${p(column(rows, 2) / column(rows, 1), 0)}) [q1].`,
    ];
  }),
  told('4-price-change', 'What did the price increase of 8% do?', (dice) => {
    const [u1, u2] = [dice.between(4000, 9000), dice.between(4000, 9000)];
    const [r1, r2] = [u1 * 25, u2 * 27];
    return [
      [rowsOf('q1', 'period units revenue', ['before', u1, r1], ['after', u2, r2])],
      `After the 8% increase (from $${n(r1 / u1, 2)} to $${n(r2 / u2, 2)} per unit) we sold ${n(u2)} units
      instead of ${n(u1)} (${sp(growth(u1, u2))}); revenue ${way(r1, r2, ['rose', 'fell'])} by
      $${n(Math.abs(r2 - r1))} to $${n(r2)} [q1].`,
    ];
  }),
  told('4-cost-split', 'What are the biggest cost blocks?', (dice) => {
    const rows = ranked(dice, 'Staff|Rent|Energy|IT|Travel', [20_000, 900_000]);
    const rest = sum(rows.slice(2));
    return [
      [rowsOf('q1', 'block cost', ...rows)],
      `Staff ($${s(at(rows, 0)[1], K, 0)}) and rent ($${s(at(rows, 1)[1], K, 0)}) make up
      ${p((at(rows, 0)[1] + at(rows, 1)[1]) / sum(rows), 0)} of the $${s(sum(rows), M, 2)} total. Everything else
      comes to $${s(rest, K, 0)} (${p(rest / sum(rows), 0)}) [q1].`,
    ];
  }),
  told('4-seats', 'What was the load factor per route?', (dice) => {
    const rows = ['OSL-BGO', 'OSL-TRD'].map((route) => {
      const seats = dice.between(9000, 30_000);
      return [route, dice.between(60, 190), seats, part(seats, 0.6 + dice.next() / 3)] as const;
    });
    const line = (index: number) => {
      const [route, flights, seats, sold] = at(rows, index);
      return `${route}: ${p(sold / seats)} (${n(sold)} passengers, ${n(seats)} seats, ${n(sold / flights)} per flight)`;
    };
    return [
      [rowsOf('q1', 'route flights seats passengers', ...rows)],
      `1. ${line(0)}
      2. ${line(1)}

      Both routes together: ${p(column(rows, 3) / column(rows, 2))} [q1]`,
    ];
  }),
];
