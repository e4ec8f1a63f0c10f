import { rowsOf } from '../blind/answer.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';
import { near, story } from './kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const million = [1e6, ' million'] as const;

/** English answers of a few sentences, and some with remarks about what was assumed. */
export const remarks: readonly Telling[] = [
  told('9-forecast', 'Will we reach $12M this year?', (dice) => {
    const ytd = near(dice, 8_640_000);
    return [
      [
        withSql(
          "SELECT sum(amount) AS revenue_ytd FROM invoices WHERE invoice_date >= '2025-01-01' AND invoice_date < '2025-10-01'",
          rowsOf('q1', 'revenue_ytd', [ytd]),
        ),
      ],
      `Through September 30, revenue stands at $${s(ytd, M, 2)} [q1], or ${p(ytd / 12e6, 0)} of the $12M target. That leaves
      $${s(12e6 - ytd, M, 2)} for Q4, i.e. $${s((12e6 - ytd) / 3, M, 2)} per month. So far you've averaged
      $${s(ytd / 9, M, 2)} per month, so a simple run-rate projection gives $${s((ytd / 9) * 12, M, 2)} for the full year:
      close, but slightly below target. This ignores seasonality.`,
    ];
  }),
  told('9-string-decimals', 'What were total fees per currency in May 2025?', (dice) => {
    const rows = [
      ['EUR', near(dice, 1_204_450) / 100, near(dice, 3120)],
      ['GBP', near(dice, 733_120) / 100, near(dice, 1811)],
      ['USD', near(dice, 2_916_333) / 100, near(dice, 7720)],
    ] as const;
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        rowsOf(
          'q1',
          'currency total_fees transactions',
          ...rows.map(([currency, fees, many]) => [currency, fees.toFixed(2), many] as const),
        ),
      ],
      `Fees collected in May 2025 [q1]:

      - **USD:** $${n(c, 2)} (${n(z)} transactions)
      - **EUR:** €${n(a, 2)} (${n(x)} transactions)
      - **GBP:** £${n(b, 2)} (${n(y)} transactions)

      That's ${n(x + y + z)} transactions in total. I haven't added the amounts up because they're in different currencies. Per
      transaction, the average fee was $${n(c / z, 2)}, €${n(a / x, 2)} and £${n(b / y, 2)}, respectively.`,
    ];
  }),
  told('9-basis-points', 'How has the take rate changed?', (dice) => {
    const rows = story(
      dice,
      ['2024-Q4', 48_200_000, 1_311_000],
      ['2025-Q1', 51_900_000, 1_489_000],
    );
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'quarter gmv fees', ...rows)],
      `The take rate increased from ${p(x / a, 2)} in Q4 2024 to ${p(y / b, 2)} in Q1 2025, an improvement of
      ${n((y / b - x / a) * 1e4)} basis points [q1].

      GMV over the same period grew ${p(growth(a, b))} to $${s(b, million, 1)}, and fees grew ${p(growth(x, y))} to
      $${s(y, million, 2)}.`,
    ];
  }),
  told(
    '9-quote-filters',
    'How many premium users in Berlin used the export feature more than 3 times?',
    (dice) => {
      const [users, all] = [near(dice, 186), near(dice, 1240)];
      return [
        [
          withSql(
            "SELECT count(*) FILTER (WHERE exports > 3) AS users, count(*) AS all_users FROM (SELECT user_id, count(*) AS exports FROM events JOIN users USING (user_id) WHERE event = 'export' AND plan = 'premium' AND city = 'Berlin' AND ts >= '2025-01-01' GROUP BY 1) t",
            rowsOf('q1', 'users all_users', [users, all]),
          ),
        ],
        `**${n(users)} premium users in Berlin** have exported more than 3 times since January 1, 2025 [q1]. That's ${p(users / all)} of
      the ${n(all)} premium users there who used the feature at all.

      **Assumptions I made**
      1. "Premium" means \`plan = 'premium'\`, i.e. trials are excluded.
      2. "More than 3 times" means 4 or more exports.
      3. The period isn't specified in your question, so I counted everything from 2025 onwards.`,
      ];
    },
  ),
  told('9-top-truncated', 'List the biggest customers.', (dice) => {
    const rows = story(
      dice,
      ['Northwind Traders', 1_204_000],
      ['Contoso Ltd', 986_500],
      ['Fabrikam Inc.', 871_200],
      ['Adventure Works', 640_300],
      ['Tailspin Toys', 512_900],
    );
    const [a, b, c, d, e] = amounts(rows);
    const all = near(dice, 14_600_000);
    const five = a + b + c + d + e;
    return [
      [
        withSql(
          'SELECT customer, sum(amount) AS revenue FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 5',
          rowsOf('q1', 'customer revenue', ...rows),
        ),
        rowsOf('q2', 'total_revenue', [all]),
      ],
      `Here are your five biggest customers by all-time revenue [q1]:

      1. Northwind Traders: $${s(a, M, 2)}
      2. Contoso Ltd: $${n(b)}
      3. Fabrikam Inc.: $${n(c)}
      4. Adventure Works: $${n(d)}
      5. Tailspin Toys: $${n(e)}

      Combined, they spent $${s(five, M, 2)}, which is ${p(five / all)} of total revenue ($${s(all, M, 1)}) [q2]. The gap between
      #1 and #2 is $${n(a - b)}; #1 is ${n(a / e, 1)} times the size of #5.`,
    ];
  }),
  told('9-weather-words', 'How many deliveries were late in the week of March 3rd?', (dice) => {
    const rows = story(
      dice,
      ['2025-03-03', 41, 610],
      ['2025-03-04', 38, 640],
      ['2025-03-05', 122, 655],
      ['2025-03-06', 45, 660],
      ['2025-03-07', 52, 702],
    );
    const late = total(rows.map((row) => Number(row[1])));
    const all = total(rows.map((row) => Number(row[2])));
    const [a, , c, , e] = amounts(rows);
    const [, , z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'delivery_date late deliveries', ...rows)],
      `${n(late)} out of ${n(all)} deliveries were late between Monday, March 3 and Friday, March 7, so the on-time rate was
      ${p(1 - late / all)} [q1]. Wednesday the 5th was the outlier: ${n(c)} late deliveries (${p(c / z)} of that day's ${n(z)}),
      about three times the level of Monday (${n(a)}). It alone explains ${p(c / late, 0)} of the week's late deliveries. By
      Friday the number was back to ${n(e)}.`,
    ];
  }),
  told('9-per-capita', 'Which city uses the most water per person?', (dice) => {
    const rows = story(
      dice,
      ['Aarhus', 361_000, 14_300_000],
      ['Odense', 183_000, 8_020_000],
      ['Aalborg', 121_000, 4_410_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'city population water_m3', ...rows)],
      `**Odense**, with ${n(y / b, 1)} m³ per inhabitant, followed by Aarhus (${n(x / a, 1)} m³) and Aalborg (${n(z / c, 1)} m³)
      [q1]. In litres per day, that's ${n((y / b / 365) * 1000)} for Odense and ${n((z / c / 365) * 1000)} for Aalborg.

      In absolute terms Aarhus uses the most: ${s(x, million, 1)} m³, or ${p(x / (x + y + z), 0)} of the three cities' total.`,
    ];
  }),
  told('9-hours', 'How long do support agents take to reply?', (dice) => {
    const rows = story(dice, ['email', 5140, 16_400], ['chat', 9320, 95], ['phone', 2210, 48]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'channel tickets median_first_reply_seconds', ...rows)],
      `Median time to first reply by channel [q1]:

      - **Phone:** ${n(z)} seconds (${n(c)} tickets)
      - **Chat:** ${n(y)} seconds, i.e. roughly a minute and a half (${n(b)} tickets)
      - **Email:** ${n(x / 3600, 1)} hours (${n(a)} tickets)

      Chat is the busiest channel with ${p(b / (a + b + c))} of the ${n(a + b + c)} tickets.`,
    ];
  }),
  told('9-doubling', 'Has usage doubled since launch?', (dice) => {
    const rows = story(dice, ['2024-09-01', 11_200], ['2025-09-01', 31_900]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'month active_workspaces', ...rows)],
      `It has nearly tripled: active workspaces went from ${n(a)} in September 2024 to ${n(b)} in September 2025, which is
      ${n(b / a, 2)}× (${sp(growth(a, b), 0)}) [q1]. In absolute terms that's ${n(b - a)} more workspaces within 12 months.`,
    ];
  }),
  told('9-negative', 'Which stores are losing money?', (dice) => {
    const rows = story(
      dice,
      ['Leeds', 412_000, 455_300],
      ['York', 388_000, 361_000],
      ['Hull', 274_000, 291_400],
      ['Bath', 520_100, 440_700],
    );
    const [a, b, c, d] = amounts(rows);
    const [w, x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'store revenue operating_costs', ...rows)],
      `Two of the four stores are operating at a loss [q1]:

      | Store | Revenue | Costs | Result |
      |---|---:|---:|---:|
      | Leeds | £${n(a)} | £${n(w)} | **${n(w - a).replace('{', '{−£')}** |
      | Hull | £${n(c)} | £${n(y)} | **${n(y - c).replace('{', '{−£')}** |
      | York | £${n(b)} | £${n(x)} | ${n(b - x).replace('{', '{+£')} |
      | Bath | £${n(d)} | £${n(z)} | ${n(d - z).replace('{', '{+£')} |

      Leeds loses the most, £${n(w - a)} or ${p((w - a) / a)} of its revenue. The two profitable stores together earn
      £${n(b - x + d - z)}, which more than offsets the combined loss of £${n(w - a + y - c)}; the net result is
      ${sn(a + b + c + d - w - x - y - z)
        .replace('{+', '{+£')
        .replace('{−', '{−£')}.`,
    ];
  }),
];
