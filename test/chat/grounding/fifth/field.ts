import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from '../third/kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const k = [1e3, 'k'] as const;

export const field: readonly Telling[] = [
  told('5-clinic', 'How many appointments were missed per clinic?', (dice) => {
    const rows = ['Oak Street', 'Riverside'].map((name) => {
      const all = dice.between(900, 4000);
      return [name, all, part(all, 0.04 + dice.next() / 8)] as const;
    });
    const rate = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    const [high, low] = rate(0) > rate(1) ? ([0, 1] as const) : ([1, 0] as const);
    return [
      [rowsOf('q1', 'clinic appointments missed', ...rows)],
      `${at(rows, high)[0]} has the higher no-show rate: ${p(rate(high))} (${n(at(rows, high)[2])} of
      ${n(at(rows, high)[1])}) against ${p(rate(low))} at ${at(rows, low)[0]} (${n(at(rows, low)[2])} of
      ${n(at(rows, low)[1])}). If both were at ${p(rate(low))}, ${n(at(rows, high)[2] - at(rows, high)[1] * rate(low))} fewer
      appointments would be missed [q1].`,
    ];
  }),
  told('5-fleet', 'How far do our trucks drive on a working day?', (dice) => {
    const [trucks, km, days] = [dice.between(11, 48), dice.between(200_000, 900_000), 251];
    return [
      [rowsOf('q1', 'trucks km_driven working_days', [trucks, km, days])],
      `${n(trucks)} trucks drove ${n(km)} km on ${days} working days. That is ${n(km / days)} km a day for the
      fleet and ${n(km / days / trucks)} km for each truck [q1].`,
    ];
  }),
  told('5-library', 'How many loans were renewed?', (dice) => {
    const rows = walk(dice, '2025-01|2025-02|2025-03', 2000).map(
      ([month, loans]) => [month, loans, part(loans, 0.2 + dice.next() / 4)] as const,
    );
    const said = rows.map(([, loans, renewed]) => `${n(renewed)} of ${n(loans)}`);
    return [
      [rowsOf('q1', 'month loans renewed', ...rows)],
      `January: ${at(said, 0)}; February: ${at(said, 1)}; March: ${at(said, 2)}. In the first quarter
      ${n(column(rows, 2))} of ${n(column(rows, 1))} loans were renewed, ${p(column(rows, 2) / column(rows, 1))} [q1].`,
    ];
  }),
  told('5-solar', 'How much of our electricity is solar?', (dice) => {
    const [used, solar] = [dice.between(400_000, 900_000), dice.between(90_000, 390_000)];
    return [
      [rowsOf('q1', 'kwh_used kwh_solar', [used, solar])],
      `Solar gave ${n(solar / 1000)} MWh of ${n(used / 1000)} MWh used, so ${p(solar / used, 0)}. The other
      ${n((used - solar) / 1000)} MWh came from the grid [q1].`,
    ];
  }),
  told('5-exam', 'What are the results of the maths exam?', (dice) => {
    const rows = ['A', 'B', 'C', 'D', 'F'].map((grade) => [grade, dice.between(11, 60)] as const);
    const all = column(rows, 1);
    const lines = rows.map(([grade, pupils]) => `| ${grade} | ${n(pupils)} | ${p(pupils / all)} |`);
    return [
      [rowsOf('q1', 'grade pupils', ...rows)],
      `| Grade | Pupils | Share |
      |---|--:|--:|
      ${lines.join('\n')}

      ${n(all - at(rows, 4)[1])} of ${n(all)} pupils passed (A to D), ${p(1 - at(rows, 4)[1] / all)} [q1].`,
    ];
  }),
  told('5-bugs', 'Are we closing more bugs than we open?', (dice) => {
    const rows = walk(dice, '2025-W21|2025-W22|2025-W23', 50).map(
      ([week, opened]) => [week, opened, dice.between(20, 70)] as const,
    );
    const [opened, closed] = [column(rows, 1), column(rows, 2)];
    return [
      [rowsOf('q1', 'week opened closed', ...rows)],
      `${closed > opened ? 'Yes' : 'No'}. In weeks 21 to 23 we opened ${n(opened)} bugs and closed ${n(closed)}, so the
      backlog ${way(opened, closed, ['shrank', 'grew'])} by ${n(Math.abs(opened - closed))} [q1].`,
    ];
  }),
  told('5-newest', 'Who are the three newest customers and what do they pay?', (dice) => {
    const rows = ['Halden AG', 'Pico Labs', 'Trent Foods'].map(
      (name, index) =>
        [name, `2025-08-${String(27 - index * 6)}`, dice.between(200, 3000)] as const,
    );
    const lines = rows.map(
      ([name, day, fee]) =>
        `- ${name} (since Aug ${Number(day.slice(8))}, 2025): $${n(fee)} a month`,
    );
    return [
      [rowsOf('q1', 'customer since monthly_fee', ...rows)],
      `${lines.join('\n')}

      Together they pay $${n(column(rows, 2))} a month, or $${s(column(rows, 2) * 12, k)} a year [q1].`,
    ];
  }),
  told('5-payroll', 'What will the 3% raise cost?', (dice) => {
    const payroll = dice.between(1_100_000, 4_900_000);
    const people = dice.between(31, 90);
    return [
      [rowsOf('q1', 'annual_payroll employees', [payroll, people])],
      `Payroll is $${n(payroll)} for ${n(people)} employees. A raise of 3% costs $${n(payroll * 0.03)} a year and
      brings payroll to $${n(payroll * 1.03)}, or $${n((payroll * 1.03) / people)} per employee [q1].`,
    ];
  }),
  told('5-time-zone', 'When do most logins happen?', (dice) => {
    const rows = ranked(dice, '09|10|14', [3000, 9000]);
    const all = sum(rows) + dice.between(20_000, 60_000);
    return [
      [
        withSql(
          'SELECT hour, COUNT(*) AS logins FROM logins GROUP BY 1 ORDER BY 2 DESC LIMIT 3',
          rowsOf('q1', 'hour logins', ...rows),
        ),
        rowsOf('q2', 'logins', [all]),
      ],
      `Between 9 and 10 am (${n(at(rows, 0)[1])} logins), followed by 10–11 am (${n(at(rows, 1)[1])}) and 2–3 pm
      (${n(at(rows, 2)[1])}) [q1]. These three hours have ${p(sum(rows) / all)} of all ${n(all)} logins [q2].`,
    ];
  }),
  told('5-flat-fee', 'How did the donation drive go against last year?', (dice) => {
    const [d1, d2] = [dice.between(400, 900), dice.between(400, 900)];
    const [m1, m2] = [dice.between(20_000, 90_000), dice.between(20_000, 90_000)];
    return [
      [
        rowsOf('q1', 'donors amount', [d2, m2]),
        rowsOf('q2', 'donors_last_year amount_last_year', [d1, m1]),
      ],
      `${n(d2)} donors gave $${n(m2)} (average gift $${n(m2 / d2, 2)}) [q1]. Last year ${n(d1)} donors gave $${n(m1)}
      ($${n(m1 / d1, 2)}) [q2]. That's ${sp(growth(m1, m2))} in money and ${sp(growth(d1, d2))} in donors.`,
    ];
  }),
];
