import { rowsOf, writer } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from './kit.ts';

const { n, p: percent, s } = writer('en-US');
const p = (fraction: number, digits = 1) => percent(fraction, digits, '%');
const million = [1e6, 'M'] as const;
const words = [1e6, ' million'] as const;

export const finance: readonly Telling[] = [
  told('margin', 'How is gross margin by line?', (dice) => {
    const rows = ['Hardware', 'Software', 'Services'].map((line) => {
      const revenue = dice.between(900_000, 7_000_000);
      return [line, revenue, Math.round(revenue * (0.2 + dice.next() / 2))] as const;
    });
    const margin = (index: number) => 1 - at(rows, index)[2] / at(rows, index)[1];
    const [revenue, cost] = [1, 2].map((column) =>
      rows.reduce((total, row) => total + Number(row[column]), 0),
    ) as [number, number];
    return [
      [rowsOf('q1', 'line revenue cogs', ...rows)],
      `Gross margin by line [q1]:

      - Hardware: ${p(margin(0))}
      - Software: ${p(margin(1))}
      - Services: ${p(margin(2))}

      Blended, we keep $${s(revenue - cost, million, 2)} of $${s(revenue, million, 2)}, a margin of
      ${p(1 - cost / revenue)}.`,
    ];
  }),
  told('budget', 'Are we over budget?', (dice) => {
    const rows = ['Marketing', 'R&D', 'Facilities'].map(
      (name) => [name, dice.between(200_000, 900_000), dice.between(200_000, 900_000)] as const,
    );
    const said = rows.map(([name, plan, actual]) => {
      const word = way(plan, actual, ['over', 'under']);
      return `- **${name}**: $${n(actual)} against a plan of $${n(plan)}, $${n(Math.abs(actual - plan))}
        ${word} (${p(Math.abs(growth(plan, actual)))})`;
    });
    return [
      [rowsOf('q1', 'department budget actual', ...rows)],
      `${said.join('\n')}

      Source: [q1]. Figures are for FY25.`,
    ];
  }),
  told('headcount', 'How many people work here?', (dice) => {
    const rows = ranked(dice, 'Engineering|Sales|Support|Finance', [8, 340]);
    return [
      [rowsOf('q1', 'department headcount', ...rows)],
      `We have ${n(sum(rows))} employees in four departments. {m:Engineering~Finance} is the largest with
      ${n(at(rows, 0)[1])} people (${p(at(rows, 0)[1] / sum(rows), 0)}), followed by Sales
      (${n(at(rows, 1)[1])}), Support (${n(at(rows, 2)[1])}) and Finance (${n(at(rows, 3)[1])}) [q1].`,
    ];
  }),
  told('dso', 'How quickly do customers pay?', (dice) => {
    const [receivables, revenue] = [dice.between(600_000, 1_900_000), dice.between(7e6, 14e6)];
    return [
      [rowsOf('q1', 'receivables revenue_12m', [receivables, revenue])],
      `DSO is ${n((receivables / revenue) * 365)} days: receivables of $${s(receivables, words, 2)}
      divided by $${s(revenue, words, 2)} of revenue in the last twelve months, times 365 [q1].`,
    ];
  }),
  told('ltv-cac', 'What is LTV to CAC?', (dice) => {
    const [ltv, cac] = [dice.between(1800, 5200), dice.between(400, 900)];
    return [
      [rowsOf('q1', 'ltv', [ltv]), rowsOf('q2', 'cac', [cac])],
      `LTV is $${n(ltv)} [q1] and CAC is $${n(cac)} [q2]. The ratio is ${n(ltv / cac, 1)}:1, above the
      usual yardstick of 3:1.`,
    ];
  }),
  told('fx', 'What did we sell in euros?', (dice) => {
    const eur = dice.between(900_000, 4_000_000);
    const rate = dice.between(1041, 1189) / 1000;
    return [
      [rowsOf('q1', 'revenue_eur', [eur]), rowsOf('q2', 'currency usd_per_unit', ['EUR', rate])],
      `We sold €${n(eur)} [q1]. At the stored rate of {${rate}} dollars per euro [q2] that is about
      $${s(eur * rate, words, 2)}.`,
    ];
  }),
  told('cash', 'How many months of runway are left?', (dice) => {
    const [cash, burn] = [dice.between(5_000_000, 12_000_000), dice.between(310_000, 780_000)];
    return [
      [rowsOf('q1', 'cash', [cash]), rowsOf('q2', 'avg_monthly_burn', [burn])],
      `Around ${n(cash / burn)} months. We hold $${s(cash, million)} in cash [q1] and burn
      $${n(burn)} a month on average {c:[q2]~[q7]}. This ignores any change of plan.`,
    ];
  }),
  told('pareto', 'How concentrated is revenue?', (dice) => {
    const rows = ranked(dice, 'Hexa|Orbit|Quill|Tarn', [150_000, 900_000]);
    const total = sum(rows) + dice.between(900_000, 3_000_000);
    return [
      [rowsOf('q1', 'customer revenue', ...rows), rowsOf('q2', 'revenue customers', [total, 412])],
      `The top four of our 412 customers bring in $${n(sum(rows))}, or ${p(sum(rows) / total)} of
      $${n(total)} [q1, q2]. The remaining 408 customers share the other
      ${p(1 - sum(rows) / total)}. {m:Hexa~Tarn} by itself is ${p(at(rows, 0)[1] / total)}.`,
    ];
  }),
  told('price-volume', 'Why did revenue change?', (dice) => {
    const [u1, u2] = [dice.between(4000, 9000), dice.between(4000, 9000)];
    const [r1, r2] = [u1 * dice.between(41, 60), u2 * dice.between(41, 60)];
    return [
      [rowsOf('q1', 'year units revenue', [2023, u1, r1], [2024, u2, r2])],
      `Units went from ${n(u1)} to ${n(u2)} (${p(growth(u1, u2))}), while revenue per unit went from
      $${n(r1 / u1, 2)} to $${n(r2 / u2, 2)}. Revenue therefore
      ${way(r1, r2, ['rose', 'fell'])} by $${n(Math.abs(r2 - r1))}, from $${n(r1)} to $${n(r2)} [q1].`,
    ];
  }),
  told('three-years', 'Show opex for the last 3 fiscal years.', (dice) => {
    const rows = walk(dice, 'FY2022|FY2023|FY2024', 6_200_000);
    const [a, b, c] = rows.map((row) => row[1]) as [number, number, number];
    return [
      [rowsOf('q1', 'fiscal_year opex', ...rows)],
      `Operating expenses: {p:FY2022~FY2019} $${s(a, million)}, FY2023 $${s(b, million)}
      (${way(a, b, ['up', 'down'])} ${p(Math.abs(growth(a, b)))}), FY2024 $${s(c, million)}
      (${way(b, c, ['up', 'down'])} ${p(Math.abs(growth(b, c)))}) [q1]. The three-year total is
      $${s(a + b + c, million)}.`,
    ];
  }),
  told('refused', 'What was our NPS in Q2 2025, and how many responded?', () => [
    [rowsOf('q1', 'table_name', ['orders'], ['customers'])],
    `I can't answer this. There are 2 tables that I can read [q1], and neither holds survey data, so
    there is no NPS for Q2 2025 nor a number of responses.`,
  ]),
  told('ytd', 'Year to date against last year?', (dice) => {
    const [last, now] = [dice.between(3e6, 6e6), dice.between(3e6, 6e6)];
    return [
      [rowsOf('q1', 'period revenue', ['2024 YTD', last], ['2025 YTD', now])],
      `YTD revenue is $${s(now, million, 2)}, compared with $${s(last, million, 2)} at this point last
      year: ${way(last, now, ['ahead', 'behind'])} by $${s(Math.abs(now - last), million, 2)}
      ({${growth(last, now) > 0 ? '+' : ''}${p(growth(last, now)).slice(1)}) [q1].`,
    ];
  }),
  told('school', 'What is the average class size?', (dice) => {
    const [pupils, classes] = [dice.between(700, 1900), dice.between(31, 71)];
    return [
      [rowsOf('q1', 'pupils classes', [pupils, classes])],
      `The average class has ${n(pupils / classes, 1)} pupils (${n(pupils)} pupils in ${n(classes)}
      classes) [q1]. Only the 2024/25 school year was counted.`,
    ];
  }),
  told('beds', 'Which ward is fullest?', (dice) => {
    const rows = ['Cardiology', 'Surgery', 'Maternity'].map((ward) => {
      const beds = dice.between(24, 80);
      return [ward, beds, beds - dice.between(1, 20)] as const;
    });
    const sorted = [...rows].sort((left, right) => right[2] / right[1] - left[2] / left[1]);
    const [top, bottom] = [at(sorted, 0), at(sorted, -1)];
    return [
      [rowsOf('q1', 'ward beds occupied', ...rows)],
      `{m:${top[0]}~${bottom[0]}} is the fullest ward: {${top[2]}} of {${top[1]}} beds are taken
      (${p(top[2] / top[1], 0)}), which leaves {${top[1] - top[2]}} free. ${bottom[0]} has the most
      room at ${p(bottom[2] / bottom[1], 0)} [q1].`,
    ];
  }),
  told('loans', 'What share of loans is overdue by bucket?', (dice) => {
    const rows = [
      ['0-30', 1],
      ['31-60', 2],
      ['61-90', 3],
    ].map(
      ([bucket, scale]) =>
        [String(bucket), Math.round(dice.between(3000, 9000) / Number(scale))] as const,
    );
    const total = sum(rows);
    return [
      [rowsOf('q1', 'days_overdue loans', ...rows)],
      `| Days overdue | Loans | Share |
      |---|---|---|
      ${rows.map(([bucket, count]) => `| ${bucket} | ${n(count)} | ${p(count / total)} |`).join('\n')}
      | All | ${n(total)} | 100% |

      Loans that are more than 30 days overdue: ${n(total - at(rows, 0)[1])} [q1].`,
    ];
  }),
  told('million-dollar', 'Give me the total revenue, roughly.', (dice) => {
    const total = dice.between(1_100_000, 9_800_000);
    return [
      [rowsOf('q1', 'total_revenue', [total + 0.37])],
      `Roughly $${s(total, words)} — $${n(total + 0.37, 2)} to be exact [q1].`,
    ];
  }),
];
