import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from '../third/kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const k = [1e3, 'k'] as const;
const bn = [1e9, ' bn'] as const;

export const company: readonly Telling[] = [
  told('5-others-together', 'Who brings in the revenue by account manager?', (dice) => {
    const rows = ranked(dice, 'Kim|Osei|Brandt|Silva', [90_000, 900_000]);
    const rest = sum(rows) - at(rows, 0)[1];
    return [
      [rowsOf('q1', 'manager revenue', ...rows)],
      `{m:Kim~Silva} brought in $${n(at(rows, 0)[1])}; the other three together $${n(rest)}, which is
      ${p(rest / sum(rows), 0)} of the total [q1].`,
    ];
  }),
  told('5-twice', 'Do we get more tickets by chat than by email?', (dice) => {
    const email = dice.between(400, 900);
    const chat = email * 2 + dice.between(1, 20);
    return [
      [rowsOf('q1', 'channel tickets', ['chat', chat], ['email', email])],
      `Yes. ${n(chat)} tickets came by chat and ${n(email)} by email, so chat gets about twice as many
      (${n(chat / email, 2)} times) [q1].`,
    ];
  }),
  told('5-half', 'What part of the invoices is paid late?', (dice) => {
    const late = dice.between(1100, 2400);
    const all = late * 2 - dice.between(3, 30);
    return [
      [rowsOf('q1', 'invoices paid_late', [all, late])],
      `Roughly half: ${n(late)} of ${n(all)} invoices (${p(late / all)}) were paid late, ${n(all - late)} on time
      [q1].`,
    ];
  }),
  told('5-rank', 'How does the Leeds office compare on expenses?', (dice) => {
    const rows = ranked(dice, 'Bristol|Leeds|Cardiff|Hull|York', [20_000, 90_000]);
    return [
      [rowsOf('q1', 'office expenses', ...rows)],
      `Leeds ranks second of five offices with £${n(at(rows, 1)[1])}, behind Bristol
      (£${n(at(rows, 0)[1])}) and ahead of Cardiff (£${n(at(rows, 2)[1])}). The average is
      £${n(sum(rows) / 5)}, so Leeds is £${n(Math.abs(at(rows, 1)[1] - sum(rows) / 5))} away from it
      [q1].`,
    ];
  }),
  told('5-version', 'Which app version crashes most?', (dice) => {
    const rows = ['4.12.0', '4.12.1', '4.13.0'].map((version) => {
      const sessions = dice.between(20_000, 90_000);
      return [version, sessions, part(sessions, 0.002 + dice.next() / 60)] as const;
    });
    const rate = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    return [
      [rowsOf('q1', 'app_version sessions crashes', ...rows)],
      `Crash rate by version [q1]:

      - 4.12.0: ${p(rate(0), 2)} (${n(at(rows, 0)[2])} crashes)
      - 4.12.1: ${p(rate(1), 2)} (${n(at(rows, 1)[2])} crashes)
      - 4.13.0: ${p(rate(2), 2)} (${n(at(rows, 2)[2])} crashes)

      Over all three versions it is ${p(column(rows, 2) / column(rows, 1), 2)}.`,
    ];
  }),
  told('5-ids', 'Which of the open orders is the largest?', (dice) => {
    const rows = ranked(dice, 'SO-20917|SO-20944|SO-21003', [4000, 60_000]);
    return [
      [rowsOf('q1', 'order_no open_amount', ...rows)],
      `Order SO-20917 is the largest with $${n(at(rows, 0)[1])} open. SO-20944 follows with
      $${n(at(rows, 1)[1])}, and SO-21003 with $${n(at(rows, 2)[1])}; the three add up to $${n(sum(rows))} [q1].`,
    ];
  }),
  told('5-year-in-name', 'How did the Kickoff 2023 and Kickoff 2024 events compare?', (dice) => {
    const [a, b] = [dice.between(200, 900), dice.between(200, 900)];
    const [c, d] = [dice.between(30_000, 90_000), dice.between(30_000, 90_000)];
    return [
      [rowsOf('q1', 'event guests cost', ['Kickoff 2023', a, c], ['Kickoff 2024', b, d])],
      `Kickoff 2024 had ${n(b)} guests and cost $${n(d)}, i.e. $${n(d / b, 2)} per guest. For Kickoff 2023 it
      was ${n(a)} guests, $${n(c)} and $${n(c / a, 2)}. Attendance ${way(a, b, ['rose', 'fell'])} by
      ${p(Math.abs(growth(a, b)))} [q1].`,
    ];
  }),
  told('5-pp', 'Did the win rate change?', (dice) => {
    const [w1, l1, w2, l2] = [100, 200, 100, 200].map((low) => dice.between(low, low * 2)) as [
      number,
      number,
      number,
      number,
    ];
    const [a, b] = [w1 / (w1 + l1), w2 / (w2 + l2)];
    return [
      [rowsOf('q1', 'half won lost', ['H1', w1, l1], ['H2', w2, l2])],
      `In H1 we won ${n(w1)} of ${n(w1 + l1)} deals (${p(a)}), in H2 ${n(w2)} of ${n(w2 + l2)} (${p(b)}). The win
      rate is ${way(a, b, ['up', 'down'])} ${n(Math.abs(b - a) * 100, 1)} percentage points [q1].`,
    ];
  }),
  told('5-question-number', 'How many of our 1,250 seats at Acme are used?', (dice) => {
    const used = dice.between(600, 1200);
    return [
      [rowsOf('q1', 'account active_seats', ['Acme', used])],
      `${n(used)} of the 1,250 seats are in use, that's ${p(used / 1250)}. ${n(1250 - used)} are idle [q1].`,
    ];
  }),
  told('5-quote', 'Is it true that "we lose 30% of trials in the first 3 days"?', (dice) => {
    const trials = dice.between(3000, 9000);
    const lost = part(trials, 0.12 + dice.next() / 10);
    return [
      [rowsOf('q1', 'trials lost_in_3_days', [trials, lost])],
      `Not quite. You asked whether 30% of trials are lost in the first 3 days; it is ${p(lost / trials)}
      (${n(lost)} of ${n(trials)}). At 30% it would be ${n(part(trials, 0.3))} [q1].`,
    ];
  }),
  told('5-range-units', 'What do we pay contractors per hour?', (dice) => {
    const rows = ranked(dice, 'Design|Backend|QA|Support', [31, 160]);
    return [
      [rowsOf('q1', 'role avg_hourly_rate', ...rows)],
      `Hourly rates go from $${n(at(rows, 3)[1])} (Support) to $${n(at(rows, 0)[1])} (Design). On average over the
      four roles that is $${n(sum(rows) / 4, 2)}/h, or about $${n((sum(rows) / 4) * 8)} for a day of 8 hours
      [q1].`,
    ];
  }),
  told('5-table-total', 'Travel cost by team this quarter?', (dice) => {
    const rows = ranked(dice, 'Sales|Field Service|Board|Product', [8000, 120_000]);
    const lines = rows.map(
      ([name, value]) => `| ${name} | ${n(value)} | ${p(value / sum(rows), 0)} |`,
    );
    return [
      [rowsOf('q1', 'team travel_cost', ...rows)],
      `| Team | Travel cost (USD) | % of total |
      |---|---:|---:|
      ${lines.join('\n')}
      | **Total** | **${n(sum(rows))}** | **100%** |

      Sales and Field Service account for ${p((at(rows, 0)[1] + at(rows, 1)[1]) / sum(rows), 0)} of it [q1].`,
    ];
  }),
  told('5-people-dates', 'When did we first sell to Northwind?', (dice) => {
    const orders = dice.between(21, 99);
    const total = dice.between(100_000, 900_000);
    return [
      [
        rowsOf('q1', 'customer first_order last_order orders total', [
          'Northwind',
          '2019-02-11',
          '2025-08-29',
          orders,
          total,
        ]),
      ],
      `The first order of Northwind is from {p:11 February 2019~18 February 2019}, the latest from Aug 29,
      2025. In these six and a half years they placed ${n(orders)} orders worth $${n(total)}, on average
      $${n(total / orders)} an order [q1].`,
    ];
  }),
  told('5-month-change', 'How did cloud spend develop from May to June 2025?', (dice) => {
    const rows = ['compute', 'storage', 'network'].map((name) => {
      const may = dice.between(20_000, 90_000);
      return [name, may, part(may, 0.8 + dice.next() / 2)] as const;
    });
    const lines = rows.map(
      ([name, may, june]) =>
        `| ${name} | $${n(may)} | $${n(june)} | ${sn(june - may)} | ${sp(growth(may, june))} |`,
    );
    const [a, b] = [column(rows, 1), column(rows, 2)];
    return [
      [rowsOf('q1', 'service may june', ...rows)],
      `| Service | May | June | Δ $ | Δ % |
      |---|--:|--:|--:|--:|
      ${lines.join('\n')}

      In sum we went from $${s(a, k)} to $${s(b, k)}, ${way(a, b, ['an increase', 'a decrease'])} of
      ${p(Math.abs(growth(a, b)))} [q1].`,
    ];
  }),
  told('5-count-rows', 'Which machines had more than 10 stops last month?', (dice) => {
    const rows = ['M-04', 'M-11', 'M-17', 'M-23', 'M-30', 'M-31'].map(
      (name) => [name, dice.between(11, 88)] as const,
    );
    const most = at(
      [...rows].sort((left, right) => right[1] - left[1]),
      0,
    );
    return [
      [
        withSql(
          'SELECT machine, COUNT(*) AS stops FROM stops GROUP BY 1 HAVING COUNT(*) > 10',
          rowsOf('q1', 'machine stops', ...rows),
        ),
      ],
      `Six machines had more than 10 stops, {m:${most[0]}~${at(rows, 0)[0] === most[0] ? 'M-11' : 'M-04'}} the
      most (${n(most[1])}). Together they stopped ${n(column(rows, 1))} times, which is an average of
      ${n(column(rows, 1) / 6, 1)} [q1].`,
    ];
  }),
  told('5-above-average', 'Which regions are above the average deal size?', (dice) => {
    const rows = ranked(dice, 'DACH|Nordics|Benelux|Iberia', [12_000, 60_000]);
    const mean = sum(rows) / 4;
    const above = rows.filter(([, value]) => value > mean);
    const said = above.map(([name, value]) => `${name} ($${n(value)})`).join(', ');
    return [
      [rowsOf('q1', 'region avg_deal_size', ...rows)],
      `The mean of the four regions is $${n(mean)}. Above it: ${said}; ${4 - above.length} of 4 are below. The
      gap between DACH and Iberia is $${s(at(rows, 0)[1] - at(rows, 3)[1], k)} [q1].`,
    ];
  }),
  told('5-billions', 'How large is the loan book?', (dice) => {
    const rows = ranked(dice, 'Mortgages|Corporate|Consumer', [900_000_000, 9_000_000_000]);
    return [
      [rowsOf('q1', 'segment outstanding', ...rows)],
      `Outstanding loans total $${s(sum(rows), bn, 2)}: mortgages $${s(at(rows, 0)[1], bn)}, corporate
      $${s(at(rows, 1)[1], bn)} and consumer $${s(at(rows, 2)[1], bn)}. Mortgages make up
      ${p(at(rows, 0)[1] / sum(rows), 0)} and are ${n(at(rows, 0)[1] / at(rows, 2)[1], 1)}x consumer [q1].`,
    ];
  }),
  told('5-two-queries', 'What do we earn per active user?', (dice) => {
    const [revenue, users] = [dice.between(400_000, 4_000_000), dice.between(9000, 60_000)];
    return [
      [rowsOf('q1', 'revenue', [revenue]), rowsOf('q2', 'active_users', [users])],
      `Revenue of $${s(revenue, M, 2)} [q1] over ${n(users)} active users [q2] gives $${n(revenue / users, 2)} per
      active user.`,
    ];
  }),
  told('5-no-change', 'Has the number of suppliers changed?', (dice) => {
    const count = dice.between(120, 890);
    return [
      [rowsOf('q1', 'year suppliers', [2023, count], [2024, count])],
      `No: it was ${n(count)} in 2023 and it was ${n(count)} in 2024, so the change is 0 (0.0%) [q1].`,
    ];
  }),
  told('5-quarters', 'Which quarter of 2024 was the weakest for hiring?', (dice) => {
    const rows = ['2024-Q1', '2024-Q2', '2024-Q3', '2024-Q4'].map(
      (name) => [name, dice.between(20, 98)] as const,
    );
    const sorted = [...rows].sort((left, right) => left[1] - right[1]);
    return [
      [rowsOf('q1', 'quarter hires', ...rows)],
      `{p:${at(sorted, 0)[0].slice(5)} 2024~${at(sorted, 2)[0].slice(5)} 2024} was the weakest with
      ${n(at(sorted, 0)[1])} hires, the strongest was ${at(sorted, 3)[0].slice(5)} with ${n(at(sorted, 3)[1])}. The
      first half brought ${n(at(rows, 0)[1] + at(rows, 1)[1])}, the second half
      ${n(at(rows, 2)[1] + at(rows, 3)[1])}, ${n(column(rows, 1))} in the year [q1].`,
    ];
  }),
  told('5-salary-band', 'How are salaries distributed?', (dice) => {
    const [low, mid, high] = [32_000, 51_000, 80_000].map(
      (base) => base + dice.between(1, 9999),
    ) as [number, number, number];
    return [
      [rowsOf('q1', 'p25 median p75', [low, mid, high])],
      `The median salary is $${s(mid, k)}. The middle 50% earn between $${s(low, k)} and $${s(high, k)}, an
      interquartile range of $${n(high - low)} [q1].`,
    ];
  }),
  told('5-days-open', 'How old are the open support cases?', (dice) => {
    const rows = ['0-7', '8-30', '31+'].map((name) => [name, dice.between(30, 400)] as const);
    return [
      [rowsOf('q1', 'age_in_days cases', ...rows)],
      `${n(column(rows, 1))} cases are open: ${n(at(rows, 0)[1])} for up to 7 days, ${n(at(rows, 1)[1])} for 8 to 30
      days and ${n(at(rows, 2)[1])} for longer than 30 days (${p(at(rows, 2)[1] / column(rows, 1), 0)}) [q1].`,
    ];
  }),
  told('5-growth-each-year', 'How has membership grown since 2021?', (dice) => {
    const rows = walk(dice, '2021|2022|2023|2024', 30_000);
    const change = (index: number) => growth(at(rows, index - 1)[1], at(rows, index)[1]);
    return [
      [rowsOf('q1', 'year members', ...rows)],
      `Members: ${n(at(rows, 0)[1])} (2021), ${n(at(rows, 1)[1])} (2022, ${sp(change(1))}), ${n(at(rows, 2)[1])}
      (2023, ${sp(change(2))}) and ${n(at(rows, 3)[1])} (2024, ${sp(change(3))}). Since 2021 that is a total of
      ${sp(growth(at(rows, 0)[1], at(rows, 3)[1]))} or ${sn(at(rows, 3)[1] - at(rows, 0)[1])} members [q1].`,
    ];
  }),
  told('5-utilisation', 'How busy were the meeting rooms in week 23?', (dice) => {
    const rows = ['Ada', 'Turing', 'Hopper'].map((room) => [room, dice.between(8, 39)] as const);
    return [
      [
        withSql(
          "SELECT room, SUM(hours) AS booked_hours FROM bookings WHERE week = '2025-W23' GROUP BY 1",
          rowsOf('q1', 'room booked_hours', ...rows),
        ),
      ],
      `With 40 bookable hours a week, Ada was used ${p(at(rows, 0)[1] / 40, 0)} of the time (${n(at(rows, 0)[1])} h),
      Turing ${p(at(rows, 1)[1] / 40, 0)} (${n(at(rows, 1)[1])} h), and Hopper ${p(at(rows, 2)[1] / 40, 0)}
      (${n(at(rows, 2)[1])} h) in week 23 [q1].`,
    ];
  }),
];
