import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech, withSql } from '../third/kit.ts';
import { amounts, table, thrown, total } from './kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const gb = speech('en-GB', '');
const M = [1e6, ' million'] as const;

/** English, in sentences: what an analyst writes who explains the numbers. */
export const analyses: readonly Telling[] = [
  told('7-weekday-share', 'Do we sell more on weekends?', (dice) => {
    const rows = table(dice, 'weekday|weekend', [5000, 9000], [900_000, 1_500_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'day_type orders revenue', ...rows)],
      `Not in total: weekends account for ${n(b)} of ${n(a + b)} orders (${p(b / (a + b))}) and
      $${n(y)} of $${n(x + y)} in revenue (${p(y / (x + y))}). Per day it looks different, though: five weekdays
      average ${n(a / 5)} orders each, two weekend days ${n(b / 2)} [q1].`,
    ];
  }),
  told('7-best-and-worst', 'Which campaigns performed best and worst?', (dice) => {
    const rows = table(dice, 'Spring Sale|Back to School|Black Friday', [8000, 30_000], [300, 900]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const cost = (a + b + c) / (x + y + z);
    return [
      [rowsOf('q1', 'campaign spend conversions', ...rows)],
      `Cost per conversion was $${n(a / x, 2)} for Spring Sale, $${n(b / y, 2)} for Back to School and
      $${n(c / z, 2)} for Black Friday. Across the three campaigns you spent $${n(a + b + c)} for
      ${n(x + y + z)} conversions, or $${n(cost, 2)} each [q1].`,
    ];
  }),
  told('7-long-period', 'How has the subscriber base changed since 2020?', (dice) => {
    const rows = [2020, 2021, 2022, 2023, 2024].map((year, index) => {
      return [year, dice.between(9000, 11_000) + index * 3000] as const;
    });
    const [a, , , d, e] = amounts(rows);
    return [
      [rowsOf('q1', 'year subscribers', ...rows)],
      `Over the past four years the subscriber base grew from ${n(a)} (2020) to ${n(e)} (2024), which is a gain of
      ${n(e - a)} subscribers or ${p(growth(a, e))} overall. That is a compound annual growth rate of
      ${p((e / a) ** (1 / 4) - 1)}. In the last year alone ${n(e - d)} were added [q1].`,
    ];
  }),
  told('7-concentration', 'How concentrated is spend by vendor?', (dice) => {
    const rows = ranked(dice, 'Acme|Borel|Cask|Dune|Egret|Fjord', [30_000, 600_000]);
    const [a, b, c, d, e, f] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'vendor spend', ...rows)],
      `Vendor spend is fairly concentrated. The top three vendors (Acme, Borel and Cask) receive
      $${n(a + b + c)} of $${n(all)}, i.e. ${p((a + b + c) / all)}, whereas the bottom three share the remaining
      $${n(d + e + f)} (${p((d + e + f) / all)}). Acme alone stands for ${p(a / all)} [q1].`,
    ];
  }),
  told('7-sla', 'How often do we meet the 4-hour SLA? The goal is 95%.', (dice) => {
    const all = dice.between(1500, 6000);
    const met = part(all, 0.8 + dice.next() / 8);
    return [
      [rowsOf('q1', 'tickets answered_within_4h', [all, met])],
      `The 4-hour SLA was met for ${n(met)} of ${n(all)} tickets, a compliance rate of ${p(met / all)}. Put
      differently, ${n(all - met)} tickets (${p(1 - met / all)}) missed it. To reach 95%, about
      ${n(Math.ceil(all * 0.95) - met)} more tickets would have to be answered in time [q1].`,
    ];
  }),
  told('7-retention', 'What does the January 2025 cohort look like?', (dice) => {
    const start = dice.between(2000, 5000);
    const m1 = part(start, 0.55 + dice.next() / 10);
    const m3 = part(m1, 0.6 + dice.next() / 10);
    return [
      [rowsOf('q1', 'cohort users active_month_1 active_month_3', ['2025-01', start, m1, m3])],
      `The January 2025 cohort started with ${n(start)} users. After one month ${n(m1)} were still active
      (${p(m1 / start)}); after three months it was ${n(m3)}, or ${p(m3 / start)} of the cohort. So
      ${n(m1 - m3)} users, ${p((m1 - m3) / m1)} of those active in month 1, left between month 1 and month 3 [q1].`,
    ];
  }),
  told('7-inventory', 'How many days of stock do we have for SKU 7731-B?', (dice) => {
    const [stock, daily] = thrown(dice, [4000, 9000], [61, 140]);
    return [
      [rowsOf('q1', 'sku on_hand avg_daily_sales', ['7731-B', stock, daily])],
      `SKU 7731-B has ${n(stock)} units on hand and sells ${n(daily)} a day on average, so the stock lasts for
      about ${n(stock / daily)} days, or just over ${n(Math.floor(stock / daily / 7))} weeks [q1].`,
    ];
  }),
  told('7-before-after', 'Did the new checkout help?', (dice) => {
    const [v1, v2] = thrown(dice, [20_000, 60_000], [20_000, 60_000]);
    const [c1, c2] = [part(v1, 0.02 + dice.next() / 90), part(v2, 0.04 + dice.next() / 90)];
    return [
      [rowsOf('q1', 'variant visitors purchases', ['control', v1, c1], ['new_checkout', v2, c2])],
      `It did. With the new checkout ${p(c2 / v2, 2)} of visitors purchased (${n(c2)} of ${n(v2)}), against
      ${p(c1 / v1, 2)} in the control group (${n(c1)} of ${n(v1)}). That's a relative uplift of
      ${p(c2 / v2 / (c1 / v1) - 1)} and an absolute one of ${n((c2 / v2 - c1 / v1) * 100, 2)} points [q1].`,
    ];
  }),
  told('7-median', 'What do customers typically pay?', (dice) => {
    const [low, middle, high] = thrown(dice, [20, 39], [60, 99], [300, 900]);
    return [
      [rowsOf('q1', 'p25_invoice median_invoice p90_invoice', [low, middle, high])],
      `The median invoice is $${n(middle)}. A quarter of invoices are $${n(low)} or less, while the top 10% are
      above $${n(high)}, more than ${n(Math.floor(high / middle))} times the median [q1].`,
    ];
  }),
  told('7-backlog', 'Is the backlog shrinking?', (dice) => {
    const rows = [24, 25, 26, 27].map((week) => {
      return [`2025-W${week}`, dice.between(100, 190), dice.between(100, 190)] as const;
    });
    const opened = total(amounts(rows).slice(0, 4));
    const closed = total(amounts(rows, 2).slice(0, 4));
    const gap = Math.abs(opened - closed);
    return [
      [rowsOf('q1', 'week opened closed', ...rows)],
      `Over the four weeks (W24 to W27) ${n(opened)} issues were opened and ${n(closed)} closed, so the backlog
      ${opened > closed ? 'grew' : 'shrank'} by ${n(gap)}. The busiest intake was ${n(Math.max(...rows.map((row) => row[1])))} in a single
      week [q1].`,
    ];
  }),
  told('7-rank', 'Where does Brazil stand among our markets?', (dice) => {
    const rows = ranked(dice, 'Germany|France|Brazil|Spain|Chile', [200_000, 900_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'country revenue', ...rows)],
      `Brazil is our third-largest market with $${n(c)}, ${n(b - c)} behind France ($${n(b)}) and well behind Germany
      ($${n(a)}). Its share of revenue across all five markets is ${p(c / sum(rows))}. Germany earns
      ${n(a / c, 2)} times as much as Brazil [q1].`,
    ];
  }),
  told('7-age-bands', 'How old are our members?', (dice) => {
    const rows = table(dice, '18-29|30-44|45-59|60+', [800, 4000]);
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'age_band members', ...rows)],
      `| Age | Members | Share |
      |---|---|---|
      | 18–29 | ${n(a)} | ${p(a / all)} |
      | 30–44 | ${n(b)} | ${p(b / all)} |
      | 45–59 | ${n(c)} | ${p(c / all)} |
      | 60+ | ${n(d)} | ${p(d / all)} |

      ${p((a + b) / all)} of the ${n(all)} members are younger than 45, and ${p(d / all)} are 60 or older [q1].`,
    ];
  }),
  told('7-payment-terms', 'How much is overdue?', (dice) => {
    const rows = table(dice, '0-30 days|31-60 days|61-90 days|over 90 days', [20_000, 90_000]);
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'bucket overdue_amount', ...rows)],
      `A total of £${gb.n(all)} is overdue [q1]:

      - 0–30 days: £${gb.n(a)} (${gb.p(a / all)})
      - 31–60 days: £${gb.n(b)} (${gb.p(b / all)})
      - 61–90 days: £${gb.n(c)} (${gb.p(c / all)})
      - over 90 days: £${gb.n(d)} (${gb.p(d / all)})

      £${gb.n(c + d)}, i.e. ${gb.p((c + d) / all)}, has been outstanding for more than 60 days.`,
    ];
  }),
  told('7-per-head', 'Revenue per employee by site?', (dice) => {
    const rows = table(dice, 'Leipzig|Graz', [40, 190], [4_000_000, 20_000_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [high, low] = x / a > y / b ? ['Leipzig', 'Graz'] : ['Graz', 'Leipzig'];
    return [
      [rowsOf('q1', 'site employees revenue', ...rows)],
      `Leipzig makes €${n(x / a)} per employee (€${s(x, M)} with ${n(a)} people), Graz €${n(y / b)} (€${s(y, M)} with
      ${n(b)} people). ${high} is therefore €${n(Math.abs(x / a - y / b))} per head ahead of ${low} [q1].`,
    ];
  }),
  told('7-two-thirds', 'How many users turned on 2FA?', (dice) => {
    const all = dice.between(3000, 9000);
    const on = part(all, 0.66 + dice.next() / 80);
    return [
      [rowsOf('q1', 'users with_2fa', [all, on])],
      `About two thirds: ${n(on)} of ${n(all)} users have 2FA turned on (${p(on / all, 0)}), which leaves
      ${n(all - on)} accounts without it [q1].`,
    ];
  }),
  told('7-year-to-date', 'How are we doing year to date compared with last year?', (dice) => {
    const [a, b] = thrown(dice, [5_000_000, 9_000_000], [5_000_000, 9_000_000]);
    return [
      [
        withSql(
          "SELECT sum(amount) FROM sales WHERE sold_on BETWEEN '2025-01-01' AND '2025-10-31'",
          rowsOf('q1', 'revenue', [b]),
        ),
        withSql(
          "SELECT sum(amount) FROM sales WHERE sold_on BETWEEN '2024-01-01' AND '2024-10-31'",
          rowsOf('q2', 'revenue', [a]),
        ),
      ],
      `Year to date (January through October 2025) revenue is $${s(b, M, 2)} [q1], versus $${s(a, M, 2)} in the same
      ten months of 2024 [q2]. You are ${way(a, b, ['ahead', 'behind'])} by $${s(Math.abs(b - a), M, 2)}, or
      ${p(Math.abs(growth(a, b)))}.`,
    ];
  }),
  told('7-difference-rows', 'How do the two warehouses differ in picking time?', (dice) => {
    const rows = table(dice, 'North|South', [150, 400], [2000, 9000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [slow, fast] = a > b ? ['North', 'South'] : ['South', 'North'];
    return [
      [rowsOf('q1', 'warehouse avg_pick_seconds picks', ...rows)],
      `${slow} needs ${n(Math.abs(a - b))} seconds longer per pick than ${fast} (North: ${n(a)} s over ${n(x)} picks;
      South: ${n(b)} s over ${n(y)} picks). Weighted by picks the average is
      ${n((a * x + b * y) / (x + y))} seconds, i.e. ${n((a * x + b * y) / (x + y) / 60, 1)} minutes [q1].`,
    ];
  }),
  told('7-survey', 'What was our NPS in the spring survey?', (dice) => {
    const [pro, passive, detractors] = thrown(dice, [400, 800], [200, 400], [90, 300]);
    const all = pro + passive + detractors;
    return [
      [rowsOf('q1', 'promoters passives detractors', [pro, passive, detractors])],
      `${n(all)} people answered: ${n(pro)} promoters (${p(pro / all)}), ${n(passive)} passives (${p(passive / all)})
      and ${n(detractors)} detractors (${p(detractors / all)}). The NPS is therefore
      ${n(((pro - detractors) / all) * 100)} [q1].`,
    ];
  }),
  told('7-utilization', 'How full were the conference rooms?', (dice) => {
    const hours = dice.between(700, 990);
    const booked = part(hours, 0.4 + dice.next() / 4);
    const used = part(booked, 0.7 + dice.next() / 5);
    return [
      [rowsOf('q1', 'available_hours booked_hours used_hours', [hours, booked, used])],
      `Rooms were available for ${n(hours)} hours, booked for ${n(booked)} (${p(booked / hours)}) and actually used for
      ${n(used)} (${p(used / hours)}). In other words, ${p(1 - used / booked)} of the booked time, ${n(booked - used)}
      hours, went unused [q1].`,
    ];
  }),
  told('7-long-table', 'List revenue by region with change against last year.', (dice) => {
    const rows = table(dice, 'North|East|South|West', [300_000, 900_000], [300_000, 900_000]);
    const lines = rows.map(
      ([name, a = 0, b = 0]) => `| ${name} | $${n(b)} | $${n(a)} | ${sp(growth(a, b))} |`,
    );
    const [a, b] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'region revenue_2023 revenue_2024', ...rows)],
      `| Region | 2024 | 2023 | Change |
      |---|---:|---:|---:|
      ${lines.join('\n')}
      | **Total** | **$${n(b)}** | **$${n(a)}** | **${sp(growth(a, b))}** |

      [q1]`,
    ];
  }),
  told('7-none', 'Were there any refunds above $10,000 in March?', () => [
    [
      withSql(
        "SELECT * FROM refunds WHERE amount > 10000 AND day >= '2025-03-01' AND day < '2025-04-01'",
        rowsOf('q1', 'refund amount'),
      ),
    ],
    `No. I found 0 refunds above $10,000 between March 1 and March 31, 2025 [q1].`,
  ]),
  told('7-approximate', 'Roughly how many parcels do we ship a week?', (dice) => {
    const parcels = dice.between(500_000, 900_000);
    return [
      [
        withSql(
          "SELECT count(*) FROM parcels WHERE shipped >= '2024-01-01' AND shipped < '2025-01-01'",
          rowsOf('q1', 'parcels', [parcels]),
        ),
      ],
      `Roughly ${n(parcels / 52 / 1000, 1)}K parcels a week: ${n(parcels)} were shipped during the 52 weeks of 2024,
      which is about ${n(parcels / 12)} a month or ${n(parcels / 366)} a day [q1].`,
    ];
  }),
  told('7-hypothetical', 'What would a 5% price increase bring?', (dice) => {
    const revenue = dice.between(700_000, 3_000_000);
    return [
      [rowsOf('q1', 'revenue', [revenue])],
      `Current revenue is $${n(revenue)} [q1]. If volumes stay the same, a 5% price increase would add about
      $${n(revenue * 0.05)}, bringing it to $${n(revenue * 1.05)}.`,
    ];
  }),
  told('7-half-life', 'Which half of the year was stronger?', (dice) => {
    const rows = walk(
      dice,
      '2024-01|2024-02|2024-03|2024-04|2024-05|2024-06|2024-07|2024-08',
      9000,
    );
    const all = amounts(rows).slice(0, 8);
    const [first, second] = [total(all.slice(0, 4)), total(all.slice(4))];
    return [
      [rowsOf('q1', 'month orders', ...rows)],
      `The data covers January to August 2024. The first four months saw ${n(first)} orders and the last four
      ${n(second)}, a difference of ${n(Math.abs(first - second))} (${p(Math.abs(growth(first, second)))}). On average there
      were ${n(total(all) / 8)} orders a month [q1].`,
    ];
  }),
];
