import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from './kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const K = [1e3, 'k'] as const;
const M = [1e6, 'M'] as const;
const million = [1e6, ' million'] as const;
const B = [1e9, ' billion'] as const;

export const money: readonly Telling[] = [
  told('3-margin', 'What was EBITDA margin in FY24 and FY25?', (dice) => {
    const [r1, r2] = [dice.between(20e6, 40e6), dice.between(20e6, 40e6)];
    const [e1, e2] = [part(r1, 0.1 + dice.next() / 6), part(r2, 0.1 + dice.next() / 6)];
    return [
      [rowsOf('q1', 'fiscal_year revenue ebitda', ['FY24', r1, e1], ['FY25', r2, e2])],
      `EBITDA margin was ${p(e1 / r1)} in FY24 ($${s(e1, M)} on $${s(r1, M)}) and ${p(e2 / r2)} in FY25
      ($${s(e2, M)} on $${s(r2, M)}), ${way(e1 / r1, e2 / r2, ['up', 'down'])}
      ${n(Math.abs(e2 / r2 - e1 / r1) * 10_000)} basis points [q1].`,
    ];
  }),
  told('3-cagr', 'What is the revenue CAGR from 2020 to 2024?', (dice) => {
    const rows = [2020, 2021, 2022, 2023, 2024].map(
      (year, index) => [year, dice.between(8e6, 11e6) + index * dice.between(1e6, 3e6)] as const,
    );
    const [from, to] = [at(rows, 0)[1], at(rows, 4)[1]];
    return [
      [rowsOf('q1', 'year revenue', ...rows)],
      `Revenue grew from $${s(from, million)} in 2020 to $${s(to, million)} in 2024, a compound annual growth
      rate of ${p((to / from) ** (1 / 4) - 1)} over four years. Total growth is ${p(growth(from, to))} [q1].`,
    ];
  }),
  told('3-aging', 'How much is overdue?', (dice) => {
    const rows = ['1-30 days', '31-60 days', '61-90 days', 'over 90 days'].map(
      (bucket) => [bucket, dice.between(9, 60), dice.between(20_000, 300_000)] as const,
    );
    const lines = rows.map(
      ([bucket, count, value]) =>
        `| ${bucket} | ${n(count)} | $${n(value)} | ${p(value / column(rows, 2), 0)} |`,
    );
    return [
      [rowsOf('q1', 'bucket invoices amount', ...rows)],
      `$${n(column(rows, 2))} on ${n(column(rows, 1))} invoices is overdue [q1].

      | Overdue | Invoices | Amount | Share |
      |---|---|---|---|
      ${lines.join('\n')}

      $${s(at(rows, 2)[2] + at(rows, 3)[2], K, 0)} has been open for more than 60 days.`,
    ];
  }),
  told('3-vat', 'What is the net amount of invoice 2025-0417?', (dice) => {
    const net = dice.between(100_000, 900_000) / 100;
    const vat = Math.round(net * 19) / 100;
    return [
      [rowsOf('q1', 'invoice net_amount vat_rate vat_amount', ['2025-0417', net, 0.19, vat])],
      `Invoice 2025-0417 is €${n(net, 2)} net plus 19% VAT (€${n(vat, 2)}), so €${n(net + vat, 2)}
      gross [q1].`,
    ];
  }),
  told('3-run-rate', 'What is our annual run rate?', (dice) => {
    const [month, quarter] = [dice.between(900_000, 2_000_000), dice.between(3_000_000, 5_500_000)];
    return [
      [rowsOf('q1', 'june_revenue q2_revenue', [month, quarter])],
      `Based on June ($${n(month)}) the run rate is $${s(month * 12, M)} a year; based on the whole second
      quarter ($${n(quarter)}) it's $${s(quarter * 4, M)} [q1].`,
    ];
  }),
  told('3-break-even', 'How many units must we sell to break even?', (dice) => {
    const fixed = dice.between(200_000, 600_000);
    const price = dice.between(50, 120);
    const cost = dice.between(15, 40);
    return [
      [rowsOf('q1', 'fixed_costs unit_price unit_cost', [fixed, price, cost])],
      `About ${n(fixed / (price - cost))} units: fixed costs of $${n(fixed)} divided by a contribution of
      $${n(price - cost)} per unit ($${n(price)} price − $${n(cost)} variable cost) [q1].`,
    ];
  }),
  told('3-per-head', 'What is revenue per employee?', (dice) => {
    const [revenue, heads] = [dice.between(30e6, 90e6), dice.between(210, 480)];
    return [
      [rowsOf('q1', 'revenue', [revenue]), rowsOf('q2', 'headcount', [heads])],
      `~$${s(revenue / heads, K, 0)} ($${s(revenue, M)} [q1] / ${n(heads)} employees [q2]).`,
    ];
  }),
  told('3-loss', 'Did we make a profit in Q3?', (dice) => {
    const revenue = dice.between(900_000, 1_400_000);
    const costs = revenue + dice.between(40_000, 300_000);
    return [
      [rowsOf('q1', 'quarter revenue costs', ['2024-Q3', revenue, costs])],
      `No. Q3 2024 closed with a loss of $${n(costs - revenue)}: revenue of $${n(revenue)} against costs of
      $${n(costs)} [q1]. The net margin is {−${(((costs - revenue) / revenue) * 100).toFixed(1)}%}.`,
    ];
  }),
  told('3-parentheses', 'Show the P&L for 2024.', (dice) => {
    const revenue = dice.between(4e6, 9e6);
    const cogs = part(revenue, 0.5 + dice.next() / 10);
    const opex = part(revenue, 0.2 + dice.next() / 10);
    const tax = dice.between(90_000, 200_000);
    return [
      [
        rowsOf(
          'q1',
          'line amount',
          ['Revenue', revenue],
          ['COGS', -cogs],
          ['Opex', -opex],
          ['Tax', -tax],
        ),
      ],
      `| $ | 2024 |
      |---|---:|
      | Revenue | ${n(revenue)} |
      | COGS | ${n(cogs).replace(/[0-9,]+/, '($&)')} |
      | **Gross profit** | **${n(revenue - cogs)}** |
      | Opex | ${n(opex).replace(/[0-9,]+/, '($&)')} |
      | Tax | ${n(tax).replace(/[0-9,]+/, '($&)')} |
      | **Net income** | **${n(revenue - cogs - opex - tax)}** |

      Net margin: ${p((revenue - cogs - opex - tax) / revenue)} [q1]`,
    ];
  }),
  told('3-payback', 'How quickly does acquisition cost pay back?', (dice) => {
    const [cac, arpa] = [dice.between(400, 1200), dice.between(60, 140)];
    const margin = dice.between(70, 85) / 100;
    return [
      [rowsOf('q1', 'cac arpa_month gross_margin', [cac, arpa, margin])],
      `In about ${n(cac / (arpa * margin), 1)} months. CAC is $${n(cac)}, and each account brings
      $${n(arpa)} a month at a gross margin of ${p(margin, 0)}, i.e. $${n(arpa * margin, 2)} of margin a
      month [q1].`,
    ];
  }),
  told('3-concentration', 'How concentrated is our customer base?', (dice) => {
    const rows = ranked(dice, 'Acme|Borealis|Cyan|Delta|Ember|Fjord', [100_000, 900_000]);
    const top = sum(rows.slice(0, 3));
    return [
      [rowsOf('q1', 'customer arr', ...rows)],
      `The top three customers (Acme, Borealis and Cyan) make up ${p(top / sum(rows), 0)} of ARR:
      $${n(top)} of $${n(sum(rows))}. {m:Acme~Fjord} alone is ${p(at(rows, 0)[1] / sum(rows), 0)}. The other
      three have $${n(sum(rows) - top)} between them [q1].`,
    ];
  }),
  told('3-turnover', 'What is inventory turnover?', (dice) => {
    const cogs = dice.between(4_000_000, 9_000_000);
    const [open, close] = [dice.between(500_000, 900_000), dice.between(500_000, 900_000)];
    const average = (open + close) / 2;
    return [
      [rowsOf('q1', 'cogs_2024 inventory_open inventory_close', [cogs, open, close])],
      `Inventory turned over ${n(cogs / average, 1)} times in 2024: COGS of $${s(cogs, M, 2)} over average
      inventory of $${s(average, K, 0)}. That corresponds to ${n(365 / (cogs / average))} days of
      inventory [q1].`,
    ];
  }),
  told('3-portfolio', 'What are the weights of the fund?', (dice) => {
    const rows = ranked(dice, 'Equities|Bonds|Real estate|Cash', [20e6, 900e6]);
    const lines = rows.map(([name, value]) => `- ${name}: ${p(value / sum(rows), 2)}`);
    return [
      [
        withSql(
          "SELECT asset_class, SUM(market_value) AS value FROM positions WHERE as_of = DATE '2025-06-30' AND fund_id = 17 GROUP BY 1",
          rowsOf('q1', 'asset_class value', ...rows),
        ),
      ],
      `As of 30 June 2025, fund 17 holds $${s(sum(rows), B, 2)} in four asset classes [q1]:
      ${lines.join('\n')}

      Equities and bonds together are ${p((at(rows, 0)[1] + at(rows, 1)[1]) / sum(rows), 2)}.`,
    ];
  }),
  told('3-cumulative', 'How much have we spent so far this year, cumulatively?', (dice) => {
    const rows = walk(dice, 'Jan|Feb|Mar|Apr', 90_000);
    let total = 0;
    const lines = rows.map(([month, value]) => {
      total += value;
      return `| ${month} | ${n(value)} | ${n(total)} |`;
    });
    return [
      [rowsOf('q1', 'month spend', ...rows)],
      `| Month | Spend | Cumulative |
      |---|---|---|
      ${lines.join('\n')}

      So far $${n(sum(rows))}, which leaves the average at $${n(sum(rows) / 4)} per month. [q1]`,
    ];
  }),
  told('3-interest', 'How much interest did the loans earn in 2024?', (dice) => {
    const rows = ['Mortgage', 'Auto', 'Personal'].map((type, index) => {
      const balance = dice.between(2e6, 60e6);
      return [type, balance, part(balance, 0.03 + index * 0.02 + dice.next() / 100)] as const;
    });
    const lines = rows.map(
      ([type, balance, interest]) => `${type.toLowerCase()} ${p(interest / balance, 2)}`,
    );
    return [
      [rowsOf('q1', 'loan_type avg_balance interest', ...rows)],
      `Loans earned $${s(column(rows, 2), million, 2)} in interest in 2024, an average yield of
      ${p(column(rows, 2) / column(rows, 1), 2)} on balances of $${s(column(rows, 1), million)}. By type:
      ${lines.join(', ')} [q1].`,
    ];
  }),
  told('3-loss-ratio', 'Which line of insurance is unprofitable?', (dice) => {
    const rows = ['Motor', 'Home', 'Travel'].map((line, index) => {
      const premium = dice.between(2e6, 9e6);
      return [line, premium, part(premium, 1.08 - index * 0.3 + dice.next() / 20)] as const;
    });
    return [
      [rowsOf('q1', 'line premiums claims', ...rows)],
      `Only {m:Motor~Travel}: claims of $${n(at(rows, 0)[2])} exceed premiums of $${n(at(rows, 0)[1])}, a loss
      ratio of ${p(at(rows, 0)[2] / at(rows, 0)[1])}. Home is at ${p(at(rows, 1)[2] / at(rows, 1)[1])} and Travel
      at ${p(at(rows, 2)[2] / at(rows, 2)[1])}; anything above 100% loses money before costs [q1].`,
    ];
  }),
  told('3-weighted', 'What is the average price we pay per tonne of steel?', (dice) => {
    const rows = ['Arden', 'Kessel', 'Porto'].map(
      (name) => [name, dice.between(200, 900), dice.between(610, 890)] as const,
    );
    const spend = rows.reduce((total, [, tonnes, price]) => total + tonnes * price, 0);
    return [
      [rowsOf('q1', 'supplier tonnes price_per_tonne', ...rows)],
      `Weighted by volume, $${n(spend / column(rows, 1), 2)} per tonne ($${n(spend)} for
      ${n(column(rows, 1))} tonnes). The simple average over the three suppliers would be
      $${n(column(rows, 2) / 3, 2)} [q1].`,
    ];
  }),
  told('3-forecast', 'How far off was the forecast?', (dice) => {
    const rows = ['Q1', 'Q2'].map(
      (name) => [name, dice.between(2e6, 4e6), dice.between(2e6, 4e6)] as const,
    );
    const said = rows.map(([name, plan, actual]) => {
      const word = way(plan, actual, ['above', 'below']);
      return `${name}: actual $${s(actual, M, 2)}, forecast $${s(plan, M, 2)}, ${p(Math.abs(growth(plan, actual)))} ${word}`;
    });
    return [
      [
        withSql(
          'SELECT quarter, forecast, actual FROM plan_vs_actual WHERE year = 2025 AND quarter IN (1, 2)',
          rowsOf('q1', 'quarter forecast actual', ...rows),
        ),
      ],
      `• ${said.join('\n• ')}

      For the half year: $${s(column(rows, 2), M, 2)} actual vs $${s(column(rows, 1), M, 2)} forecast, a
      variance of ${sp(growth(column(rows, 1), column(rows, 2)))}. [q1]`,
    ];
  }),
  told('3-fx-drop', 'How has EUR/USD moved?', (dice) => {
    const [from, to] = [dice.between(10_400, 11_900) / 1e4, dice.between(10_400, 11_900) / 1e4];
    return [
      [rowsOf('q1', 'day eur_usd', ['2025-01-02', from], ['2025-06-30', to])],
      `EUR/USD ${way(from, to, ['rose', 'fell'])} from ${n(from, 4)} on January 2nd to ${n(to, 4)} on June 30th,
      2025, a move of ${p(Math.abs(growth(from, to)), 2)} [q1]. €1,000 now buys $${n(to * 1000, 2)}.`,
    ];
  }),
  told(
    '3-subscriptions',
    'How many subscribers are on each plan, and what do they pay?',
    (dice) => {
      const rows = [
        ['Free', dice.between(9000, 30_000), 0],
        ['Pro', dice.between(900, 4000), 29],
        ['Team', dice.between(100, 600), 99],
      ] as const;
      const mrr = rows.reduce((total, [, people, price]) => total + people * price, 0);
      const paying = at(rows, 1)[1] + at(rows, 2)[1];
      return [
        [rowsOf('q1', 'plan subscribers price', ...rows)],
        `- Free: ${n(at(rows, 0)[1])}
      - Pro ($29/month): ${n(at(rows, 1)[1])}
      - Team ($99/month): ${n(at(rows, 2)[1])}

      ${n(paying)} of ${n(column(rows, 1))} subscribers pay (${p(paying / column(rows, 1))}). At list prices that's
      $${n(mrr)} of MRR, $${n(mrr / paying, 2)} per paying subscriber [q1].`,
      ];
    },
  ),
  told('3-refunds', 'What was refunded in the week of 12 May?', (dice) => {
    const [count, value] = [dice.between(12, 80), dice.between(100_000, 900_000) / 100];
    return [
      [
        withSql(
          "SELECT COUNT(*) AS refunds, SUM(amount) AS refunded FROM refunds WHERE refunded_at >= '2025-05-12' AND refunded_at < '2025-05-19'",
          rowsOf('q1', 'refunds refunded', [count, value]),
        ),
      ],
      `Between May 12 and May 18, 2025, we refunded $${n(value, 2)} in ${n(count)} transactions
      ($${n(value / count, 2)} on average) [q1].`,
    ];
  }),
  told('3-unit-cost', 'Why is shipping more expensive than last year?', (dice) => {
    const rows = [2023, 2024].map((year) => {
      const parcels = dice.between(40_000, 90_000);
      return [year, parcels, part(parcels, 4 + dice.next() * 4)] as const;
    });
    const [a, b] = [at(rows, 0), at(rows, 1)];
    const [ua, ub] = [a[2] / a[1], b[2] / b[1]];
    return [
      [rowsOf('q1', 'year parcels shipping_cost', ...rows)],
      `Shipping cost $${n(b[2])} in 2024 and $${n(a[2])} in 2023 (${sp(growth(a[2], b[2]))}). The number of
      parcels changed by ${sp(growth(a[1], b[1]))} (${n(a[1])} to ${n(b[1])}), the cost per parcel by
      ${sp(growth(ua, ub))} ($${n(ua, 2)} to $${n(ub, 2)}) [q1].`,
    ];
  }),
];
