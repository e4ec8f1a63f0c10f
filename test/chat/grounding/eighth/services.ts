import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { amounts, table, thrown, total } from '../seventh/kit.ts';
import { part, speech, withSql } from '../third/kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const m = [1e6, 'm'] as const;
const K = [1e3, 'k'] as const;

export const services: readonly Telling[] = [
  told('8-hospital-beds', 'How busy was each ward last week?', (dice) => {
    const rows = ['Cardiology', 'Surgery', 'Maternity'].map((ward) => {
      const beds = dice.between(20, 90);
      return [ward, beds, part(beds, 0.5 + dice.next() / 3)] as const;
    });
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'ward beds avg_occupied', ...rows)],
      `Occupancy by ward:

      * **Cardiology** — ${n(x)} of ${n(a)} beds (${p(x / a, 0)})
      * **Surgery** — ${n(y)} of ${n(b)} beds (${p(y / b, 0)})
      * **Maternity** — ${n(z)} of ${n(c)} beds (${p(z / c, 0)})

      Hospital-wide, ${n(x + y + z)} of ${n(a + b + c)} beds were taken on an average day, i.e. an occupancy of
      ${p((x + y + z) / (a + b + c))} [q1].`,
    ];
  }),
  told('8-school-grades', 'How did the 2025 exam results compare to 2024?', (dice) => {
    const [a, b] = thrown(dice, [300, 700], [300, 700]);
    const [x, y] = [part(a, 0.7 + dice.next() / 10), part(b, 0.82 + dice.next() / 10)];
    return [
      [rowsOf('q1', 'year candidates passed', [2024, a, x], [2025, b, y])],
      `In 2025, ${n(y)} of ${n(b)} candidates passed, a pass rate of ${p(y / b)}. That compares with ${p(x / a)} in 2024,
      when ${n(x)} of ${n(a)} passed. The pass rate thus improved by ${n((y / b - x / a) * 100, 1)} percentage
      points [q1].`,
    ];
  }),
  told('8-energy-mix', 'What is the energy mix of our plants?', (dice) => {
    const rows = ranked(dice, 'wind|solar|gas|hydro', [9000, 90_000]);
    const [a, b, c, d] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'source mwh', ...rows)],
      `We produced ${n(all)} MWh overall. Here's the mix:

      | Source | Output (MWh) | Share |
      | --- | ---: | ---: |
      | Wind | ${n(a)} | ${p(a / all)} |
      | Solar | ${n(b)} | ${p(b / all)} |
      | Gas | ${n(c)} | ${p(c / all)} |
      | Hydro | ${n(d)} | ${p(d / all)} |

      Renewables (wind, solar and hydro) contribute ${n(a + b + d)} MWh, which is ${p((a + b + d) / all)} of the
      output [q1].`,
    ];
  }),
  told('8-airline', 'How punctual were we in July?', (dice) => {
    const flights = dice.between(4000, 9000);
    const late = part(flights, 0.12 + dice.next() / 9);
    const off = part(flights, 0.01 + dice.next() / 90);
    return [
      [rowsOf('q1', 'flights delayed cancelled', [flights, late, off])],
      `Of ${n(flights)} scheduled flights in July, ${n(late)} were delayed (${p(late / flights)}) and ${n(off)} were
      cancelled (${p(off / flights, 2)}). The remaining ${n(flights - late - off)} flights departed on time, so
      punctuality was ${p((flights - late - off) / flights)} [q1].`,
    ];
  }),
  told('8-hotel', 'What was RevPAR in the three hotels?', (dice) => {
    const rows = table(dice, 'Harbor|Garden|Plaza', [3000, 9000], [200_000, 900_000]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'hotel room_nights room_revenue', ...rows)],
      `Revenue per available room night: Harbor $${n(x / a, 2)}, Garden $${n(y / b, 2)}, Plaza $${n(z / c, 2)}. For the
      group as a whole it was $${n((x + y + z) / (a + b + c), 2)} ($${n(x + y + z)} over ${n(a + b + c)} room
      nights) [q1].`,
    ];
  }),
  told('8-telecom', 'How many contracts did we win and lose in Q2?', (dice) => {
    const [start, won, lost] = thrown(dice, [90_000, 200_000], [4000, 9000], [2000, 3900]);
    return [
      [
        rowsOf('q1', 'quarter contracts_start contracts_won contracts_lost', [
          '2025-Q2',
          start,
          won,
          lost,
        ]),
      ],
      `In Q2 2025 we won ${n(won)} contracts and lost ${n(lost)}, for a net gain of ${n(won - lost)}. Starting from
      ${n(start)}, that leaves us with ${n(start + won - lost)} contracts at the end of the quarter
      (${sp((won - lost) / start, 2)}). For every contract lost we won ${n(won / lost, 1)} [q1].`,
    ];
  }),
  told('8-bank', 'What is the default rate by loan grade?', (dice) => {
    const rows = table(dice, 'A|B|C', [2000, 6000], [20, 300]);
    const lines = rows.map(
      ([grade, loans = 1, bad = 0]) =>
        `| ${grade} | ${n(loans)} | ${n(bad)} | ${p(bad / loans, 2)} |`,
    );
    const [loans, bad] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'grade loans defaults', ...rows)],
      `| Grade | Loans | Defaults | Default rate |
      |---|---|---|---|
      ${lines.join('\n')}

      The overall default rate is ${p(bad / loans, 2)} (${n(bad)} of ${n(loans)} loans) [q1].`,
    ];
  }),
  told('8-charity', 'How much did donors give this year versus last?', (dice) => {
    const [d1, d2] = thrown(dice, [900, 3000], [900, 3000]);
    const [g1, g2] = thrown(dice, [90_000, 400_000], [90_000, 400_000]);
    return [
      [rowsOf('q1', 'year donors gifts', [2024, d1, g1], [2025, d2, g2])],
      `Donors gave $${n(g2)} in 2025, ${way(g1, g2, ['up', 'down'])} ${p(Math.abs(growth(g1, g2)), 0)} from $${n(g1)} in
      2024. The number of donors went from ${n(d1)} to ${n(d2)}, so the average gift changed from $${n(g1 / d1, 2)} to
      $${n(g2 / d2, 2)} [q1].`,
    ];
  }),
  told('8-streaming', 'Which three series were watched most in August?', (dice) => {
    const rows = ranked(dice, 'Low Tide|Cabin 12|The Weir', [90_000, 900_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'series hours_watched', ...rows)],
      `The top three series in August by hours watched [q1]:

      1. *Low Tide*: ${s(a, K, 1)} hours
      2. *Cabin 12*: ${s(b, K, 1)} hours (${p(1 - b / a, 0)} less than the first)
      3. *The Weir*: ${s(c, K, 1)} hours

      Viewers spent ${s(a + b + c, m, 2)} hours on the three in total.`,
    ];
  }),
  told(
    '8-shipping',
    'How late are shipments on the Rotterdam lane, against our 90% target?',
    (dice) => {
      const [all, onTime] = thrown(dice, [400, 900], [200, 390]);
      return [
        [rowsOf('q1', 'lane shipments on_time', ['Rotterdam', all, onTime])],
        `Only ${n(onTime)} of ${n(all)} shipments on the Rotterdam lane arrived on time (${p(onTime / all)});
      ${n(all - onTime)} did not. At the target of 90%, ${n(Math.round(all * 0.9) - onTime)} more would have had to be
      punctual [q1].`,
      ];
    },
  ),
  told('8-factory', 'What is the scrap rate on lines L1 to L3?', (dice) => {
    const rows = table(dice, 'L1|L2|L3', [20_000, 60_000], [200, 900]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'line parts scrapped', ...rows)],
      `Scrap rates: L1 ${p(x / a, 2)}, L2 ${p(y / b, 2)} and L3 ${p(z / c, 2)}. All three lines together scrapped
      ${n(x + y + z)} of ${n(a + b + c)} parts, or about ${n(((x + y + z) / (a + b + c)) * 1e6)} ppm [q1].`,
    ];
  }),
  told('8-insurance', 'Average claim size by type?', (dice) => {
    const rows = table(dice, 'motor|home', [200, 900], [300_000, 2_000_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [more, less] = x / a > y / b ? ['motor', 'home'] : ['home', 'motor'];
    return [
      [rowsOf('q1', 'claim_type claims paid_amount', ...rows)],
      `Motor claims average €${n(x / a)} (${n(a)} claims, €${n(x)} paid), home claims €${n(y / b)} (${n(b)} claims,
      €${n(y)}). An average ${more} claim thus costs €${n(Math.abs(x / a - y / b))} more than a ${less} claim [q1].`,
    ];
  }),
  told('8-gym', 'How often do members visit?', (dice) => {
    const [members, visits] = thrown(dice, [700, 2000], [9000, 20_000]);
    return [
      [
        withSql(
          "SELECT count(distinct member) members, count(*) visits FROM visits WHERE day >= '2025-06-01' AND day < '2025-07-01'",
          rowsOf('q1', 'members visits', [members, visits]),
        ),
      ],
      `In June 2025, ${n(members)} members made ${n(visits)} visits: ${n(visits / members, 1)} visits per member, or about
      ${n(visits / 30)} visits a day [q1].`,
    ];
  }),
  told('8-transit', 'Ridership by line since 2022?', (dice) => {
    const rows = table(dice, 'Red Line|Green Line', [400_000, 900_000], [400_000, 900_000]);
    const lines = rows.map(
      ([line, a = 1, b = 0]) => `- ${line}: ${n(a)} → ${n(b)} (${sn(b - a)}, ${sp(growth(a, b))})`,
    );
    const [a, b] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'line riders_2022 riders_2024', ...rows)],
      `${lines.join('\n')}

      Both lines combined carried ${s(b, m, 2)} riders in 2024, ${way(a, b, ['an increase', 'a decrease'])} of
      ${p(Math.abs(growth(a, b)))} over 2022 [q1].`,
    ];
  }),
  told('8-restaurant', 'How much of our sales is delivery?', (dice) => {
    const rows = ranked(dice, 'dine-in|takeaway|delivery', [20_000, 90_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'channel sales', ...rows)],
      `Delivery makes up ${p(c / sum(rows), 0)} of sales ($${n(c)}). Most of the $${n(sum(rows))} still comes from
      dine-in with $${n(a)}; takeaway adds another $${n(b)}. For each dollar of delivery you take
      $${n(a / c, 2)} at the tables [q1].`,
    ];
  }),
  told('8-museum', 'When do visitors come?', (dice) => {
    const rows = walk(dice, '2025-01|2025-02|2025-03|2025-04|2025-05|2025-06', 12_000);
    const all = amounts(rows).slice(0, 6);
    const [first, second] = [total(all.slice(0, 3)), total(all.slice(3))];
    return [
      [rowsOf('q1', 'month visitors', ...rows)],
      `Q1 had ${n(first)} visitors and Q2 ${n(second)}, which is a change of ${sp(growth(first, second))}. Together that's
      ${n(first + second)} visitors in the first half of 2025, or ${n((first + second) / 6)} per month [q1].`,
    ];
  }),
  told('8-lab', 'How reliable are the two analyzers?', (dice) => {
    const rows = table(dice, 'AX-200|AX-350', [4000, 9000], [20, 90]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'analyzer runs failed_runs', ...rows)],
      `The AX-200 failed in ${n(x)} of ${n(a)} runs (${p(x / a, 2)}), the AX-350 in ${n(y)} of ${n(b)} (${p(y / b, 2)}).
      In other words, ${p(1 - x / a, 2)} and ${p(1 - y / b, 2)} of runs succeeded. In total, ${n(x + y)} runs failed
      [q1].`,
    ];
  }),
  told('8-game', 'What do paying players spend?', (dice) => {
    const [players, payers, money] = thrown(
      dice,
      [200_000, 900_000],
      [4000, 9000],
      [60_000, 200_000],
    );
    return [
      [rowsOf('q1', 'players payers gross_bookings', [players, payers, money])],
      `${n(payers)} of ${n(players)} players (${p(payers / players, 2)}) paid something. They spent $${n(money)}, which is
      $${n(money / payers, 2)} per paying player (ARPPU) and $${n(money / players, 3)} per player overall (ARPU) [q1].`,
    ];
  }),
  told('8-hr', 'How long does hiring take by department?', (dice) => {
    const rows = ranked(dice, 'Legal|Engineering|Sales|Support', [19, 95]);
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'department avg_days_to_hire', ...rows)],
      `Hiring takes longest in Legal (${n(a)} days) and is fastest in Support (${n(d)} days), a difference of ${n(a - d)}
      days or about ${n((a - d) / 7, 1)} weeks. Engineering needs ${n(b)} days, Sales ${n(c)} [q1].`,
    ];
  }),
  told('8-farm', 'What yield per hectare did we get?', (dice) => {
    const rows = table(dice, 'wheat|barley', [90, 400], [700, 3000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'crop hectares tonnes', ...rows)],
      `Wheat yielded ${n(x / a, 2)} tonnes per hectare (${n(x)} t from ${n(a)} ha) and barley ${n(y / b, 2)}
      (${n(y)} t from ${n(b)} ha). On all ${n(a + b)} hectares the average is ${n((x + y) / (a + b), 2)} t/ha [q1].`,
    ];
  }),
];
