import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { en, gave, millions, nth, usd } from './kit.ts';

/** Answers with caveats, remarks on the method, nothing found, or an approximate word. */
export const remarks: readonly Telling[] = [
  told('11-empty', 'How many orders did we ship to Iceland in 2024?', () => [
    [
      gave(
        "SELECT order_id, shipped_at FROM shipments WHERE country = 'IS' AND shipped_at >= '2024-01-01' AND shipped_at < '2025-01-01'",
        'order_id shipped_at',
      ),
    ],
    `I found **no shipments** to Iceland in 2024 [q1]: the query returned 0 rows.

    I filtered on \`country = 'IS'\` (ISO 3166-1 alpha-2). If your data stores country names or 3-letter codes instead, the filter would miss them. Shall I list the 10 most
    common country values so we can check?`,
  ]),
  told('11-null', 'Orders by acquisition channel', (dice) => {
    const rows = story(dice, ['email', 3_410], ['social', 2_120], ['', 1_870]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          'SELECT utm_channel, COUNT(*) AS orders FROM orders GROUP BY utm_channel ORDER BY orders DESC',
          'utm_channel orders',
          ['email', a],
          ['social', b],
          [null, c],
        ),
      ],
      `| Channel | Orders | Share |
      |---|---|---|
      | email | ${en.n(a)} | ${en.p(a / all)} |
      | social | ${en.n(b)} | ${en.p(b / all)} |
      | *(no channel)* | ${en.n(c)} | ${en.p(c / all)} |
      | **Total** | **${en.n(all)}** | 100% |

      Source: [q1]. **Caveat:** ${en.n(c)} orders – one in four – have no channel recorded (NULL). Excluding them, email's share rises to ${en.p(a / (a + b))} and social's to ${en.p(b / (a + b))}.`,
    ];
  }),
  told('11-excluded', 'Average basket size last month?', (dice) => {
    const [mean, orders, tests] = [near(dice, 3_412) / 1000, near(dice, 12_904), 37];
    return [
      [
        gave(
          "SELECT AVG(items) AS avg_items, COUNT(*) AS orders FROM orders WHERE ordered_at >= '2025-09-01' AND ordered_at < '2025-10-01' AND NOT is_test",
          'avg_items orders',
          [mean, orders],
        ),
        nth(
          2,
          gave(
            "SELECT COUNT(*) AS test_orders FROM orders WHERE ordered_at >= '2025-09-01' AND ordered_at < '2025-10-01' AND is_test",
            'test_orders',
            [tests],
          ),
        ),
      ],
      `The average basket in September 2025 had **${en.n(mean, 1)} items** [q1], over ${en.n(orders)} orders.

      I excluded 37 test orders [q2]. Including them would hardly change the result: they're only ${en.p(tests / (orders + tests), 2)} of all ${en.n(orders + tests)} orders in that month.`,
    ];
  }),
  told('11-roughly', 'Did mobile overtake desktop?', (dice) => {
    const rows = story(dice, ['desktop', 512_400], ['mobile', 1_033_000], ['tablet', 41_800]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT device, COUNT(*) AS sessions FROM sessions WHERE started_at >= DATE '2025-10-01' - INTERVAL '12 months' AND started_at < DATE '2025-10-01' GROUP BY device",
          'device sessions',
          ...rows,
        ),
      ],
      `Yes, by far. Over the last 12 full months, mobile had roughly double the sessions of desktop: **${en.s(b, millions, 2)}** vs. **${en.s(a, [1e3, 'k'], 0)}** [q1].

      - Mobile: about two thirds of all sessions (${en.p(b / all)})
      - Desktop: just under one third (${en.p(a / all)})
      - Tablet: a negligible ${en.p(c / all)}

      In absolute terms that's ${en.n(b - a)} more sessions on mobile. I used the last 12 full months (October 2024 – September 2025) to even out seasonality.`,
    ];
  }),
  told('11-just-under', 'Total GMV in 2025 so far', (dice) => {
    const gmv = dice.between(17_720_000, 17_960_000);
    const days = 273;
    return [
      [
        gave(
          "SELECT SUM(gmv) AS gmv FROM daily_gmv WHERE day >= '2025-01-01' AND day <= '2025-09-30'",
          'gmv',
          [gmv],
        ),
      ],
      `GMV for 2025 through September 30 is just under **$18M** (${usd(gmv)}, to be exact) [q1].

      That's an average of about ${usd(gmv / days)} per day over ${days} days. At this pace the full year would end up close to $${en.s((gmv / days) * 365, millions, 1)} – but Q4 is usually
      stronger because of Black Friday and Christmas, so I'd take that as a floor.`,
    ];
  }),
  told('11-ambiguous', 'How many active users do we have?', (dice) => {
    const [login, paid] = [near(dice, 12_840), near(dice, 7_315)];
    return [
      [
        gave(
          "SELECT COUNT(DISTINCT user_id) AS users FROM logins WHERE logged_in_at >= CURRENT_DATE - INTERVAL '30 days'",
          'users',
          [login],
        ),
        nth(
          2,
          gave("SELECT COUNT(*) AS users FROM subscriptions WHERE status = 'active'", 'users', [
            paid,
          ]),
        ),
      ],
      `It depends on what "active" means. There are two common definitions in your model:

      1. **Logged in within the last 30 days:** ${en.n(login)} users [q1]
      2. **Has an active subscription:** ${en.n(paid)} users [q2]

      The first number is ${en.p(login / paid - 1, 0)} higher, because it also counts free users. For the board deck you used definition 2 so far; let me know which one you'd like going forward.`,
    ];
  }),
  told('11-unanswerable', 'What is our NPS by store?', () => [
    [
      gave(
        "SELECT table_name FROM information_schema.tables WHERE table_name LIKE '%nps%'",
        'table_name',
      ),
    ],
    `I can't answer that from the data I have access to. I searched for tables and columns related to NPS or survey scores and found none [q1].

    If you collect NPS in another tool (Delighted, Qualtrics, …), connecting it would let me answer this in about 2 minutes. In the meantime I could offer:

    - return rate per store as a proxy, or
    - repeat purchase rate within 90 days.`,
  ]),
  told('11-versions', 'Which app versions are still in use?', (dice) => {
    const rows = story(dice, ['4.12.1', 31_200], ['4.11.0', 8_450], ['3.9.7', 1_230]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          'SELECT app_version, COUNT(DISTINCT device_id) AS devices FROM app_opens WHERE opened_at >= CURRENT_DATE - 7 GROUP BY 1 ORDER BY 2 DESC',
          'app_version devices',
          ...rows,
        ),
      ],
      `In the last 7 days, ${en.n(all)} devices opened the app [q1]:

      - **v4.12.1**: ${en.n(a)} devices (${en.p(a / all)})
      - **v4.11.0**: ${en.n(b)} devices (${en.p(b / all)})
      - **v3.9.7**: ${en.n(c)} devices (${en.p(c / all)})

      ${en.p((a + b) / all, 0)} are on version 4.x. If you drop support for 3.x, you'd cut off ${en.n(c)} devices. Note that iOS 15 and Android 9 users can't upgrade past 3.9.7.`,
    ];
  }),
  told('11-p-values', 'Describe the distribution of order values', (dice) => {
    const [p25, p50, p75, p95, mean] = [
      near(dice, 2_410) / 100,
      near(dice, 4_180) / 100,
      near(dice, 7_960) / 100,
      near(dice, 21_250) / 100,
      near(dice, 6_870) / 100,
    ] as const;
    return [
      [
        gave(
          'SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY total) AS p25, percentile_cont(0.5) WITHIN GROUP (ORDER BY total) AS median, percentile_cont(0.75) WITHIN GROUP (ORDER BY total) AS p75, percentile_cont(0.95) WITHIN GROUP (ORDER BY total) AS p95, AVG(total) AS mean FROM orders',
          'p25 median p75 p95 mean',
          [p25, p50, p75, p95, mean],
        ),
      ],
      `Order values are right-skewed [q1]: the median is **${usd(p50, 2)}**, while the mean is ${usd(mean, 2)} – ${en.p(mean / p50 - 1, 0)} higher.

      | Statistic | Value |
      |---|---|
      | 25th percentile | ${usd(p25, 2)} |
      | Median (p50) | ${usd(p50, 2)} |
      | 75th percentile | ${usd(p75, 2)} |
      | 95th percentile | ${usd(p95, 2)} |

      Half of all orders fall between ${usd(p25, 0)} and ${usd(p75, 0)}. One in twenty orders is above ${usd(p95, 0)}.`,
    ];
  }),
  told('11-follow-up', 'And the month before?', (dice) => {
    const [before, now] = [near(dice, 214_300), near(dice, 251_900)];
    return [
      [
        gave(
          "SELECT SUM(amount) AS revenue FROM payments WHERE paid_at >= '2025-08-01' AND paid_at < '2025-09-01'",
          'revenue',
          [before],
        ),
        nth(
          2,
          gave(
            "SELECT SUM(amount) AS revenue FROM payments WHERE paid_at >= '2025-09-01' AND paid_at < '2025-10-01'",
            'revenue',
            [now],
          ),
        ),
      ],
      `August 2025: **${usd(before)}** [q1]. For comparison, September was ${usd(now)} [q2], so revenue {d:rose~fell} by ${usd(now - before)}, or ${en.p(growth(before, now))}, month over month.

      Want me to split it by the 5 regions or the 3 payment methods?`,
    ];
  }),
  told('11-data-quality', 'Can I trust the customer table?', (dice) => {
    const [rows, emails, phones, twins] = [
      near(dice, 84_310),
      near(dice, 1_204),
      near(dice, 19_870),
      near(dice, 342),
    ];
    return [
      [
        gave(
          'SELECT COUNT(*) AS total_rows, SUM(email IS NULL) AS missing_email, SUM(phone IS NULL) AS missing_phone, COUNT(*) - COUNT(DISTINCT lower(email)) AS duplicate_emails FROM dim_customer',
          'total_rows missing_email missing_phone duplicate_emails',
          [rows, emails, phones, twins],
        ),
      ],
      `Mostly, yes. \`dim_customer\` has ${en.n(rows)} rows [q1]. What I found:

      1. **Missing emails:** ${en.n(emails)} (${en.p(emails / rows)})
      2. **Missing phone numbers:** ${en.n(phones)} (${en.p(phones / rows)}) – nearly a quarter
      3. **Duplicate emails:** ${en.n(twins)} (${en.p(twins / rows)})

      Points 1 and 3 are minor. For point 2, I'd avoid using phone as a join key. I checked 4 of the 27 columns; the rest I can profile on request.`,
    ];
  }),
  told('11-concentration', 'How concentrated is our revenue?', (dice) => {
    const [top, ten, all, customers] = [
      near(dice, 1_120_000),
      near(dice, 4_630_000),
      near(dice, 9_870_000),
      near(dice, 3_214),
    ];
    return [
      [
        gave(
          'SELECT MAX(revenue) AS largest, SUM(CASE WHEN rank <= 10 THEN revenue END) AS top_10, SUM(revenue) AS total, COUNT(*) AS customers FROM customer_revenue_ranked',
          'largest top_10 total customers',
          [top, ten, all, customers],
        ),
      ],
      `Fairly concentrated: the top 10 customers generate **${en.p(ten / all)}** of revenue ($${en.s(ten, millions, 2)} of $${en.s(all, millions, 2)}) [q1].

      - The largest customer alone: $${en.s(top, millions, 2)} (${en.p(top / all)})
      - The remaining ${en.n(customers - 10)} customers: $${en.s(all - ten, millions, 2)}, i.e. ${usd((all - ten) / (customers - 10))} each on average

      A common red flag is any single customer above 10% of revenue – that's the case here.`,
    ];
  }),
  told('11-week', 'How did last week go?', (dice) => {
    const rows = story(
      dice,
      ['2025-10-06', 14_210],
      ['2025-10-07', 13_870],
      ['2025-10-08', 13_120],
      ['2025-10-09', 15_040],
      ['2025-10-10', 17_980],
      ['2025-10-11', 22_310],
      ['2025-10-12', 20_450],
    );
    const own = amounts(rows);
    const all = total(own.slice(0, 7));
    return [
      [
        gave(
          "SELECT day, revenue FROM daily_revenue WHERE day BETWEEN '2025-10-06' AND '2025-10-12' ORDER BY day",
          'day revenue',
          ...rows,
        ),
      ],
      `Last week (Mon, Oct 6 – Sun, Oct 12, 2025; ISO week 41) brought in **${usd(all)}** [q1], or ${usd(all / 7)} a day.

      - Best day: {p:Saturday, Oct 11~Tuesday, Oct 7} with ${usd(own[5])}
      - Slowest day: Wednesday, Oct 8 with ${usd(own[2])}
      - Fri–Sun made up ${en.p((own[4] + own[5] + own[6]) / all, 0)} of the week

      Saturday's revenue was ${en.n(own[5] / own[2], 1)}x that of Wednesday.`,
    ];
  }),
  told('11-forecast', 'Will we hit 10,000 subscribers by year end?', (dice) => {
    const rows = story(
      dice,
      ['2025-06', 7_410],
      ['2025-07', 7_820],
      ['2025-08', 8_260],
      ['2025-09', 8_690],
    ).map(([month, count = 0]) => [month, count] as const);
    const [a, , , d] = amounts(rows);
    const pace = (d - a) / 3;
    return [
      [
        gave(
          "SELECT month, subscribers FROM subscribers_monthly WHERE month >= '2025-06' ORDER BY month",
          'month subscribers',
          ...rows,
        ),
      ],
      `At the current pace, it will be close. You had ${en.n(d)} subscribers at the end of September 2025 [q1], up from ${en.n(a)} in June – an average gain of ${en.n(pace)} per month.

      Extrapolating three more months: ${en.n(d)} + 3 × ${en.n(pace)} ≈ **${en.n(d + 3 * pace)}** by the end of December. You're still ${en.n(10_000 - d)} short of 10,000.

      Assumption: linear growth. With only 4 data points, this is a rough estimate.`,
    ];
  }),
  told('11-rank', 'Where does Portugal rank in sales?', (dice) => {
    const rows = story(
      dice,
      ['Germany', 912_300],
      ['France', 784_100],
      ['Spain', 601_900],
      ['Portugal', 288_400],
      ['Belgium', 251_700],
      ['Austria', 198_200],
    );
    const own = amounts(rows);
    const all = total(own);
    return [
      [
        gave(
          'SELECT country, SUM(sales) AS sales FROM sales GROUP BY country ORDER BY sales DESC',
          'country sales',
          ...rows,
        ),
      ],
      `Portugal ranks **4th of 6** countries with ${usd(own[3])} in sales, ${en.p(own[3] / all)} of the total [q1].

      It is ahead of Belgium (${usd(own[4])}) and {m:Austria~Spain}, but well behind #3, Spain (${usd(own[2])}): Portugal sells less than half as much. The average per country is ${usd(all / 6)}.`,
    ];
  }),
];
