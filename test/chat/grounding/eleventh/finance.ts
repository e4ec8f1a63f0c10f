import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { en, gave, millions, nth, thousands, usd } from './kit.ts';

/** Answers of a data chat about money. */
export const finance: readonly Telling[] = [
  told('11-pnl', 'Give me a P&L summary for FY25', (dice) => {
    const [revenue, cogs, opex, interest] = [
      near(dice, 24_810_000),
      near(dice, 9_420_000),
      near(dice, 11_960_000),
      near(dice, 310_000),
    ];
    const gross = revenue - cogs;
    const operating = gross - opex;
    return [
      [
        gave(
          'SELECT revenue, cogs, opex, interest FROM finance.pnl_yearly WHERE fiscal_year = 2025',
          'revenue cogs opex interest',
          [revenue, cogs, opex, interest],
        ),
      ],
      `### FY25 P&L [q1]

      | Line | Amount | % of revenue |
      |---|---:|---:|
      | Revenue | $${en.s(revenue, millions)} | 100% |
      | COGS | ($${en.s(cogs, millions)}) | ${en.p(cogs / revenue)} |
      | **Gross profit** | **$${en.s(gross, millions)}** | ${en.p(gross / revenue)} |
      | Operating expenses | ($${en.s(opex, millions)}) | ${en.p(opex / revenue)} |
      | **Operating income** | **$${en.s(operating, millions)}** | ${en.p(operating / revenue)} |
      | Interest | ($${en.s(interest, thousands, 0)}) | ${en.p(interest / revenue)} |
      | **Pre-tax income** | **$${en.s(operating - interest, millions)}** | ${en.p((operating - interest) / revenue)} |

      Taxes aren't in this table, so net income can't be derived from it.`,
    ];
  }),
  told('11-budget', 'Are we over budget?', (dice) => {
    const rows = story(
      dice,
      ['Marketing', 612_000, 540_000],
      ['Engineering', 1_874_000, 1_950_000],
      ['Sales', 981_000, 930_000],
      ['G&A', 402_000, 420_000],
    );
    const a = amounts(rows);
    const b = amounts(rows, 2);
    const [spent, planned] = [total(a), total(b)];
    const line = (index: 0 | 1 | 2 | 3) =>
      `${usd(a[index])} | ${usd(b[index])} | ${en.sn(a[index] - b[index])} | ${en.sp(growth(b[index], a[index]))}`;
    return [
      [
        gave(
          "SELECT department, actual, budget FROM budget_vs_actual WHERE quarter = '2025-Q3'",
          'department actual budget',
          ...rows,
        ),
      ],
      `In Q3 2025 you spent **${usd(spent)}** against a budget of ${usd(planned)}, a variance of ${en.sn(spent - planned)} (${en.sp(growth(planned, spent))}) [q1].

      | Department | Actual | Budget | Variance ($) | Variance (%) |
      |---|---|---|---|---|
      | Marketing | ${line(0)} |
      | Engineering | ${line(1)} |
      | Sales | ${line(2)} |
      | G&A | ${line(3)} |

      Two departments are over budget: {m:Marketing~Engineering} by ${en.p(growth(b[0], a[0]), 0)} and Sales by ${en.p(growth(b[2], a[2]), 0)}. The other 2 came in under plan.`,
    ];
  }),
  told('11-aging', 'Accounts receivable aging', (dice) => {
    const rows = story(
      dice,
      ['0-30', 1_420_500],
      ['31-60', 512_300],
      ['61-90', 188_700],
      ['90+', 241_900],
    );
    const own = amounts(rows);
    const all = total(own);
    return [
      [
        gave(
          'SELECT bucket, SUM(open_amount) AS open_amount FROM ar_aging GROUP BY bucket ORDER BY MIN(sort)',
          'bucket open_amount',
          ...rows,
        ),
      ],
      `Open receivables total **${usd(all)}** [q1].

      | Days outstanding | Amount | Share |
      |---|---:|---:|
      | 0–30 | ${usd(own[0])} | ${en.p(own[0] / all)} |
      | 31–60 | ${usd(own[1])} | ${en.p(own[1] / all)} |
      | 61–90 | ${usd(own[2])} | ${en.p(own[2] / all)} |
      | 90+ | ${usd(own[3])} | ${en.p(own[3] / all)} |

      ⚠️ About ${en.p(own[3] / all, 0)} is more than 90 days old. Everything past 30 days comes to ${usd(all - own[0])}, i.e. roughly 40% of the book.`,
    ];
  }),
  told('11-cash', 'How long is our runway?', (dice) => {
    const rows = story(
      dice,
      ['2025-05-31', 9_240_000],
      ['2025-06-30', 8_790_000],
      ['2025-07-31', 8_370_000],
      ['2025-08-31', 7_560_000],
    );
    const [a, , , d] = amounts(rows);
    const burn = (a - d) / 3;
    return [
      [
        gave(
          "SELECT month_end, cash_balance FROM treasury.balances WHERE month_end >= '2025-05-31' ORDER BY 1",
          'month_end cash_balance',
          ...rows,
        ),
      ],
      `At the average burn of the last 3 months, your runway is about **${en.n(d / burn, 0)} months** [q1].

      - Cash at the end of August 2025: $${en.s(d, millions, 2)}
      - Cash at the end of May 2025: $${en.s(a, millions, 2)}
      - Burned in between: $${en.s(a - d, millions, 2)}, or $${en.s(burn, thousands, 0)} per month

      This is a straight-line projection: it ignores planned hiring, one-offs and any new funding.`,
    ];
  }),
  told('11-margin', 'Which products lose money?', (dice) => {
    const rows = story(
      dice,
      ['Gift Box XL', 84_200, 97_900],
      ['Starter Kit', 61_300, 66_100],
      ['Sample Pack', 12_400, 21_800],
    ).map(([name, sales = 0, cost = 0]) => [name, sales, cost, sales - cost] as const);
    const own = amounts(rows, 3);
    const sales = amounts(rows);
    return [
      [
        gave(
          'SELECT product, revenue, cost, revenue - cost AS margin FROM product_margins WHERE revenue < cost ORDER BY margin',
          'product revenue cost margin',
          ...rows,
        ),
      ],
      `Three products sold below cost [q1]:

      | Product | Revenue | Margin | Margin % |
      |---|---:|---:|---:|
      | Gift Box XL | ${usd(sales[0])} | -${usd(-own[0])} | ${en.p(own[0] / sales[0])} |
      | Sample Pack | ${usd(sales[2])} | -${usd(-own[2])} | ${en.p(own[2] / sales[2])} |
      | Starter Kit | ${usd(sales[1])} | -${usd(-own[1])} | ${en.p(own[1] / sales[1])} |

      Combined they lost **${usd(-total(own.slice(0, 3)))}**. In relative terms, the {m:Sample Pack~Starter Kit} is the worst by far: it costs about ${en.n((sales[2] - own[2]) / sales[2], 2)} dollars to earn one.`,
    ];
  }),
  told('11-currency', 'Total invoices by currency', (dice) => {
    const rows = story(dice, ['EUR', 2_140_300], ['USD', 1_875_900], ['JPY', 48_210_000]);
    const own = amounts(rows);
    return [
      [
        gave(
          'SELECT currency, SUM(total) AS invoiced FROM invoices GROUP BY currency',
          'currency invoiced',
          ...rows,
        ),
      ],
      `Invoiced amounts, in their own currency [q1]:

      - **EUR:** €${en.n(own[0])}
      - **USD:** $${en.n(own[1])}
      - **JPY:** ¥${en.n(own[2])} (≈ ¥${en.s(own[2], millions)})

      I did not add these up, since that would mix three currencies. If you have a table of exchange rates, I can convert everything to EUR; the model has a column \`fx_rate\`, but it's empty.`,
    ];
  }),
  told('11-dso', 'What is our DSO?', (dice) => {
    const [receivables, sales] = [near(dice, 2_363_000), near(dice, 5_120_000)];
    return [
      [
        gave('SELECT SUM(open_amount) AS receivables FROM ar_open', 'receivables', [receivables]),
        nth(
          2,
          gave(
            "SELECT SUM(net_amount) AS credit_sales FROM invoices WHERE invoice_date >= '2025-07-01' AND invoice_date < '2025-10-01'",
            'credit_sales',
            [sales],
          ),
        ),
      ],
      `DSO for Q3 2025 is **${en.n((receivables / sales) * 92, 1)} days**.

      Calculation: receivables ÷ credit sales × days in the period = ${usd(receivables)} [q1] ÷ ${usd(sales)} [q2] × 92.

      July, August and September have 31 + 31 + 30 = 92 days. With terms of net 30, customers pay about ${en.n((receivables / sales) * 92 - 30, 0)} days late on average.`,
    ];
  }),
  told('11-headcount', 'Headcount and payroll cost per department', (dice) => {
    const rows = story(
      dice,
      ['Engineering', 84, 1_120_000],
      ['Sales', 41, 487_000],
      ['Support', 33, 241_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT department, COUNT(*) AS headcount, SUM(monthly_cost) AS payroll FROM employees WHERE status = 'active' GROUP BY department",
          'department headcount payroll',
          ...rows,
        ),
      ],
      `You have **${en.n(a + b + c)} active employees** with a monthly payroll of **$${en.s(x + y + z, millions, 2)}** [q1].

      | Department | Headcount | Monthly payroll | Per head |
      |---|---|---|---|
      | Engineering | ${en.n(a)} | ${usd(x)} | ${usd(x / a)} |
      | Sales | ${en.n(b)} | ${usd(y)} | ${usd(y / b)} |
      | Support | ${en.n(c)} | ${usd(z)} | ${usd(z / c)} |

      Annualized, payroll is about $${en.s((x + y + z) * 12, millions, 1)}. Engineering makes up ${en.p(a / (a + b + c), 0)} of heads but ${en.p(x / (x + y + z), 0)} of cost.`,
    ];
  }),
  told('11-fraud', 'Any suspicious transactions yesterday?', (dice) => {
    const rows = [
      ['TX-90417723', '2025-10-20 02:14:09', near(dice, 9_870), 'RU'],
      ['TX-90418002', '2025-10-20 02:19:44', near(dice, 9_910), 'RU'],
      ['TX-90420115', '2025-10-20 17:51:30', near(dice, 14_200), 'NG'],
    ] as const;
    return [
      [
        gave(
          "SELECT tx_id, created_at, amount, country FROM transactions WHERE created_at::date = '2025-10-20' AND risk_score > 0.9 ORDER BY created_at",
          'tx_id created_at amount country',
          ...rows,
        ),
      ],
      `Yesterday (October 20, 2025) 3 transactions had a risk score above 0.9 [q1]:

      1. **TX-90417723** – $${en.n(rows[0][2])} at 02:14 (RU)
      2. **TX-90418002** – $${en.n(rows[1][2])} at 02:19 (RU)
      3. **TX-90420115** – $${en.n(rows[2][2])} at 17:51 (NG)

      In total: ${usd(rows[0][2] + rows[1][2] + rows[2][2])}. The first two stand out: same country, only about 5 minutes apart.`,
    ];
  }),
  told('11-running', 'Cumulative revenue vs. annual target', (dice) => {
    const rows = story(
      dice,
      ['2025-Q1', 2_410_000],
      ['2025-Q2', 2_780_000],
      ['2025-Q3', 3_050_000],
    );
    const [a, b, c] = amounts(rows);
    const sum = a + b + c;
    return [
      [
        gave(
          "SELECT quarter, SUM(revenue) AS revenue FROM revenue_by_quarter WHERE quarter LIKE '2025-%' GROUP BY 1 ORDER BY 1",
          'quarter revenue',
          ...rows,
        ),
        nth(2, gave('SELECT target FROM targets WHERE year = 2025', 'target', [12_000_000])),
      ],
      `Year to date you've booked **$${en.s(sum, millions, 2)}** [q1], which is ${en.p(sum / 12e6)} of the $12M target for 2025 [q2].

      | Quarter | Revenue | Cumulative | % of target |
      |---|---|---|---|
      | Q1 | $${en.s(a, millions, 2)} | $${en.s(a, millions, 2)} | ${en.p(a / 12e6)} |
      | Q2 | $${en.s(b, millions, 2)} | $${en.s(a + b, millions, 2)} | ${en.p((a + b) / 12e6)} |
      | Q3 | $${en.s(c, millions, 2)} | $${en.s(sum, millions, 2)} | ${en.p(sum / 12e6)} |

      To hit the target, Q4 needs to bring in ${usd(12e6 - sum)} – ${en.p((12e6 - sum) / c - 1, 0)} more than Q3.`,
    ];
  }),
];
