import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { en, gave, millions, nth, thousands, usd } from './kit.ts';

/** Answers of a data chat about a shop. */
export const shop: readonly Telling[] = [
  told('11-revenue-2025', 'What was our total revenue in 2025?', (dice) => {
    const [cents, orders] = [near(dice, 478_215_033), near(dice, 61_480)];
    return [
      [
        gave(
          "SELECT SUM(net_amount) AS revenue, COUNT(DISTINCT order_id) AS orders FROM fct_orders WHERE order_date >= DATE '2025-01-01' AND order_date < DATE '2026-01-01' AND status <> 'cancelled'",
          'revenue orders',
          [cents / 100, orders],
        ),
      ],
      `Total net revenue in 2025 was **${usd(cents / 100, 2)}** [q1], from ${en.n(orders)} orders.

      A few notes:

      - This covers orders placed from January 1 through December 31, 2025.
      - Cancelled orders are excluded.
      - That works out to an average order value of about ${usd(cents / 100 / orders, 2)}.

      Would you like me to break this down by month or compare it with 2024?`,
    ];
  }),
  told('11-category-share', 'Revenue by product category last quarter', (dice) => {
    const rows = story(
      dice,
      ['Electronics', 1_842_310],
      ['Home & Kitchen', 1_204_880],
      ['Apparel', 896_400],
      ['Beauty', 412_050],
      ['Toys', 187_330],
    );
    const own = amounts(rows);
    const all = total(own);
    return [
      [
        gave(
          "SELECT c.category, SUM(oi.revenue) AS revenue FROM order_items oi JOIN products c USING (product_id) WHERE oi.order_date BETWEEN '2025-07-01' AND '2025-09-30' GROUP BY 1 ORDER BY 2 DESC",
          'category revenue',
          ...rows,
        ),
      ],
      `## Revenue by category, Q3 2025

      Total: **${usd(all)}** [q1]

      | Category | Revenue | Share |
      |---|---:|---:|
      | Electronics | ${usd(own[0])} | ${en.p(own[0] / all)} |
      | Home & Kitchen | ${usd(own[1])} | ${en.p(own[1] / all)} |
      | Apparel | ${usd(own[2])} | ${en.p(own[2] / all)} |
      | Beauty | ${usd(own[3])} | ${en.p(own[3] / all)} |
      | Toys | ${usd(own[4])} | ${en.p(own[4] / all)} |

      **Key takeaways**

      - Electronics alone brings in about two fifths of revenue.
      - The top 2 categories account for roughly two thirds of the total (${en.p((own[0] + own[1]) / all)}).
      - Toys is the smallest, at less than 5% of revenue.`,
    ];
  }),
  told('11-top-10', 'Who are our top 10 customers by lifetime spend?', (dice) => {
    const rows = story(
      dice,
      ['Acme Corp', 412_900],
      ['Globex', 371_050],
      ['Initech', 298_440],
      ['Umbrella Retail', 243_310],
      ['Stark Supplies', 201_870],
      ['Wayne Logistics', 176_520],
      ['Hooli', 151_260],
      ['Vandelay Imports', 128_940],
      ['Soylent Foods', 104_410],
      ['Cyberdyne', 88_730],
    );
    const own = amounts(rows);
    const all = total(own);
    return [
      [
        gave(
          'SELECT name, SUM(amount) AS lifetime_spend FROM customers JOIN orders USING (customer_id) GROUP BY name ORDER BY lifetime_spend DESC LIMIT 10',
          'name lifetime_spend',
          ...rows,
        ),
      ],
      `Here are your top 10 customers by lifetime spend [q1]:

      ${rows.map(([name, spend], index) => `${index + 1}. **${name}** – ${usd(spend ?? 0)}`).join('\n')}

      Together they have spent ${usd(all)}. {m:Acme Corp~Hooli} is clearly in front, with ${en.p(own[0] / all, 0)} of the top-10 total and
      ${usd(own[0] - own[1])} more than #2. #1 spent more than 4x as much as #10.`,
    ];
  }),
  told('11-monthly', 'Show me monthly orders for 2025', (dice) => {
    const rows = story(
      dice,
      ['2025-01-01', 4_120],
      ['2025-02-01', 3_870],
      ['2025-03-01', 4_450],
      ['2025-04-01', 4_610],
      ['2025-05-01', 4_980],
      ['2025-06-01', 4_730],
      ['2025-07-01', 4_390],
      ['2025-08-01', 4_210],
      ['2025-09-01', 5_120],
      ['2025-10-01', 5_460],
      ['2025-11-01', 7_890],
      ['2025-12-01', 8_640],
    );
    const own = rows.map(([, orders]) => orders ?? 0);
    const [jan = 0, feb = 0] = own;
    const [oct = 0, nov = 0, dec = 0] = own.slice(9);
    const all = total(own);
    const months =
      'January|February|March|April|May|June|July|August|September|October|November|December';
    return [
      [
        gave(
          "SELECT date_trunc('month', ordered_at) AS month, COUNT(*) AS orders FROM orders WHERE ordered_at >= '2025-01-01' AND ordered_at < '2026-01-01' GROUP BY 1 ORDER BY 1",
          'month orders',
          ...rows,
        ),
      ],
      `You had **${en.n(all)} orders** in 2025, or about ${en.n(all / 12)} a month on average [q1].

      | Month | Orders |
      | :--- | ---: |
      ${months
        .split('|')
        .map((name, index) => `| ${name} | ${en.n(own[index] ?? 0)} |`)
        .join('\n')}

      - **Peak:** December, with ${en.n(dec)} orders – more than twice January's ${en.n(jan)}.
      - **Low:** {p:February~June} (${en.n(feb)}).
      - Q4 made up ${en.p((oct + nov + dec) / all)} of the year's orders.
      - November jumped ${en.p(growth(oct, nov), 0)} over October, most likely because of Black Friday.`,
    ];
  }),
  told('11-yoy', 'How did Q3 compare with the same quarter last year?', (dice) => {
    const rows = story(dice, ['2024', 3_214_000, 21_840], ['2025', 3_902_000, 24_910]);
    const [was, is] = amounts(rows);
    const [before, now] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT EXTRACT(YEAR FROM order_date) AS year, SUM(amount) AS revenue, COUNT(*) AS orders FROM orders WHERE EXTRACT(QUARTER FROM order_date) = 3 GROUP BY 1 ORDER BY 1',
          'year revenue orders',
          ...rows,
        ),
      ],
      `Q3 2025 revenue was **$${en.s(is, millions, 2)}**, up ${en.p(growth(was, is))} YoY from $${en.s(was, millions, 2)} in Q3 2024 [q1].

      | | Q3 2024 | Q3 2025 | Change |
      |---|---|---|---|
      | Revenue | ${usd(was)} | ${usd(is)} | ${en.sp(growth(was, is))} |
      | Orders | ${en.n(before)} | ${en.n(now)} | ${en.sp(growth(before, now))} |
      | AOV | ${usd(was / before, 2)} | ${usd(is / now, 2)} | ${en.sp(growth(was / before, is / now))} |

      Most of the growth comes from volume: {d:more~fewer} orders, with a slightly higher average order value.`,
    ];
  }),
  told('11-aov-channel', 'Average order value per channel?', (dice) => {
    const rows = story(dice, ['web', 84_210], ['mobile_app', 61_340], ['marketplace', 47_950]).map(
      ([name, cents = 0]) => [name, cents / 1000] as const,
    );
    const own = amounts(rows);
    return [
      [
        gave(
          'SELECT channel, AVG(total) AS avg_order_value FROM orders GROUP BY channel',
          'channel avg_order_value',
          ...rows,
        ),
      ],
      `Average order value by channel [q1]:

      - Web: **${usd(own[0], 2)}**
      - Mobile app: **${usd(own[1], 2)}**
      - Marketplace: **${usd(own[2], 2)}**

      Web orders are worth ${usd(own[0] - own[1], 2)} more than app orders and ${en.p(growth(own[2], own[0]), 0)} more than marketplace orders. Note that
      this is the mean over all orders ever placed; a handful of very large orders could pull it up, so the median may look different.`,
    ];
  }),
  told('11-refund-rate', 'What is the refund rate by category?', (dice) => {
    const rows = story(dice, ['Shoes', 1_284], ['Dresses', 1_131], ['Accessories', 342]).map(
      ([name, rate = 0]) => [name, rate / 10_000] as const,
    );
    const own = amounts(rows);
    return [
      [
        gave(
          "SELECT category, COUNT(*) FILTER (WHERE refunded_at IS NOT NULL)::float / COUNT(*) AS refund_rate FROM order_items WHERE delivered_at >= CURRENT_DATE - INTERVAL '90 days' GROUP BY 1 ORDER BY 2 DESC",
          'category refund_rate',
          ...rows,
        ),
      ],
      `Over the last 90 days, {m:Shoes~Accessories} has the highest refund rate [q1]:

      | Category | Refund rate |
      |---|---|
      | Shoes | **${en.p(own[0])}** |
      | Dresses | ${en.p(own[1])} |
      | Accessories | ${en.p(own[2])} |

      So roughly 1 in 8 pairs of shoes is sent back, against about 1 in 30 accessories. The difference between shoes and dresses is only
      ${en.n((own[0] - own[1]) * 100, 1)} percentage points.`,
    ];
  }),
  told('11-repeat', 'How many customers came back within 30 days?', (dice) => {
    const [all, back] = [near(dice, 18_420), near(dice, 4_150)];
    return [
      [
        gave(
          "WITH first AS (SELECT customer_id, MIN(ordered_at) AS first_at FROM orders GROUP BY 1) SELECT COUNT(*) AS new_customers, COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = first.customer_id AND o.ordered_at > first_at AND o.ordered_at <= first_at + INTERVAL '30 days')) AS returned_30d FROM first",
          'new_customers returned_30d',
          [all, back],
        ),
      ],
      `**${en.p(back / all)}** of new customers placed a second order within 30 days: ${en.n(back)} out of ${en.n(all)} [q1].

      The other ${en.n(all - back)} (${en.p(1 - back / all)}) did not come back in that window. I counted any second order, including ones that were
      later refunded. If you'd rather use a 60- or 90-day window, I can rerun it.`,
    ];
  }),
  told('11-page', 'List all products with low stock', (dice) => {
    const names = 'Desk Lamp|USB-C Cable 2m|Yoga Mat|Water Bottle 750ml|Notebook A5';
    const rows = names
      .split('|')
      .map((name, index) => [
        `SKU-${10_423 + index * 117}`,
        name,
        near(dice, 300) - 290 + index * 20,
      ]);
    return [
      [
        {
          ...gave(
            'SELECT sku, name, stock FROM inventory WHERE stock < reorder_point ORDER BY stock LIMIT 5',
            'sku name stock',
            ...rows,
          ),
          truncated: true,
        },
        nth(
          2,
          gave('SELECT COUNT(*) AS n FROM inventory WHERE stock < reorder_point', 'n', [
            near(dice, 1_240),
          ]),
        ),
      ],
      `There are many products below their reorder point. Here are the 5 with the least stock [q1]:

      | SKU | Product | In stock |
      |---|---|---|
      ${rows.map(([sku, name, stock]) => `| ${sku} | ${name} | ${en.n(Number(stock))} |`).join('\n')}

      The list is cut off at 5 rows; the full count is in [q2]. Let me know if you want the next page or an export.`,
    ];
  }),
  told('11-weekday', 'Which weekday sells best?', (dice) => {
    const rows = story(
      dice,
      ['Monday', 812_000],
      ['Tuesday', 774_000],
      ['Wednesday', 741_000],
      ['Thursday', 858_000],
      ['Friday', 931_000],
      ['Saturday', 1_242_000],
      ['Sunday', 1_118_000],
    );
    const own = amounts(rows);
    const all = total(own.slice(0, 7));
    const weekend = own[5] + own[6];
    return [
      [
        gave(
          "SELECT to_char(ordered_at, 'FMDay') AS weekday, SUM(total) AS revenue FROM orders WHERE ordered_at >= '2025-01-01' GROUP BY 1",
          'weekday revenue',
          ...rows,
        ),
      ],
      `**{m:Saturday~Wednesday}** is your strongest day, with $${en.s(own[5], thousands, 0)} in revenue, followed by Sunday ($${en.s(own[6], thousands, 0)}) [q1].

      The two weekend days generate ${en.p(weekend / all)} of revenue, although they are only 2 of 7 days (about 29%). An average weekday brings in
      $${en.s((all - weekend) / 5, thousands, 0)}, an average weekend day $${en.s(weekend / 2, thousands, 0)}.

      The weakest day is Wednesday at ${usd(own[2])}.`,
    ];
  }),
  told('11-region-category', 'Sales by region and category for H1 2025', (dice) => {
    const raw = story(dice, ['a', 640_100], ['b', 382_400], ['c', 511_700], ['d', 455_900]);
    const [a, b, c, d] = amounts(raw);
    const all = a + b + c + d;
    return [
      [
        gave(
          "SELECT region, category, SUM(amount) AS sales FROM sales WHERE sold_on >= '2025-01-01' AND sold_on < '2025-07-01' GROUP BY 1, 2",
          'region category sales',
          ['EMEA', 'Hardware', a],
          ['EMEA', 'Services', b],
          ['Americas', 'Hardware', c],
          ['Americas', 'Services', d],
        ),
      ],
      `H1 2025 sales came to **${usd(all)}** [q1].

      **EMEA – ${usd(a + b)} (${en.p((a + b) / all, 0)})**
      - Hardware: ${usd(a)} (${en.p(a / (a + b), 0)} of the region)
      - Services: ${usd(b)} (${en.p(b / (a + b), 0)})

      **Americas – ${usd(c + d)} (${en.p((c + d) / all, 0)})**
      - Hardware: ${usd(c)} (${en.p(c / (c + d), 0)})
      - Services: ${usd(d)} (${en.p(d / (c + d), 0)})

      Hardware leads in both regions: across the two it adds up to ${usd(a + c)} versus ${usd(b + d)} for services. The mix is more balanced in the Americas.`,
    ];
  }),
  told('11-shipping', 'How long does shipping take on average?', (dice) => {
    const rows = story(dice, ['DHL', 284, 12_410], ['UPS', 341, 9_870], ['FedEx', 412, 3_220]).map(
      ([name, days = 0, parcels = 0]) => [name, days / 100, parcels] as const,
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const all = x + y + z;
    return [
      [
        gave(
          'SELECT carrier, AVG(delivered_at::date - shipped_at::date) AS avg_days, COUNT(*) AS parcels FROM shipments WHERE delivered_at IS NOT NULL GROUP BY 1 ORDER BY 2',
          'carrier avg_days parcels',
          ...rows,
        ),
      ],
      `Across ${en.n(all)} delivered parcels, shipping takes **${en.n((a * x + b * y + c * z) / all, 1)} days** on average (weighted by parcels) [q1].

      - DHL is fastest: ${en.n(a, 2)} days (${en.n(x)} parcels)
      - UPS: ${en.n(b, 2)} days (${en.n(y)} parcels)
      - FedEx is slowest: ${en.n(c, 2)} days (${en.n(z)} parcels), about ${en.n(c - a, 1)} days longer than DHL

      Parcels that haven't arrived yet are not included. DHL handles nearly half of all volume.`,
    ];
  }),
];
