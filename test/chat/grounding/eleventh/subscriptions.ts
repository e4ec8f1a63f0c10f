import { near, story } from '../ninth/kit.ts';
import { type Telling, told } from '../second/kit.ts';
import { amounts } from '../seventh/kit.ts';
import { en, gave, nth, thousands, usd } from './kit.ts';

/** More answers of a data chat about a subscription business. */
export const subscriptions: readonly Telling[] = [
  told('11-tickets', 'How is support doing on first response time?', (dice) => {
    const rows = story(dice, ['urgent', 412, 38], ['high', 1_205, 124], ['normal', 5_870, 415]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT priority, COUNT(*) AS tickets, ROUND(AVG(first_response_minutes)) AS avg_first_response_min FROM tickets WHERE created_at >= now() - interval '7 days' GROUP BY 1",
          'priority tickets avg_first_response_min',
          ...rows,
        ),
      ],
      `In the last 7 days the team handled ${en.n(a + b + c)} tickets [q1].

      - **Urgent** (${en.n(a)} tickets): first response after ${en.n(x)} minutes on average
      - **High** (${en.n(b)}): ${en.n(y)} minutes, about 2 hours
      - **Normal** (${en.n(c)}): ${en.n(z)} minutes, or ${en.n(z / 60, 1)} hours

      Urgent tickets are answered within the usual 1-hour SLA on average, but averages hide outliers: I'd look at the p90 before celebrating. Support is staffed
      24/7, so I did not adjust for business hours.`,
    ];
  }),
  told('11-nrr', 'Compute net revenue retention for the last year', (dice) => {
    const [start, expansion, contraction, churn] = [
      near(dice, 3_840_000),
      near(dice, 702_000),
      near(dice, 121_000),
      near(dice, 288_000),
    ];
    const end = start + expansion - contraction - churn;
    return [
      [
        gave(
          "SELECT starting_arr, expansion, contraction, churn FROM arr_bridge WHERE period = 'FY25'",
          'starting_arr expansion contraction churn',
          [start, expansion, contraction, churn],
        ),
      ],
      `Net revenue retention for FY25 is **${en.p(end / start)}** [q1].

      | ARR bridge | Amount |
      |---|---:|
      | Starting ARR | ${usd(start)} |
      | + Expansion | ${usd(expansion)} |
      | − Contraction | −${usd(contraction)} |
      | − Churn | −${usd(churn)} |
      | **Ending ARR (same customers)** | **${usd(end)}** |

      Gross revenue retention, which leaves out expansion, is ${en.p((start - contraction - churn) / start)}. Anything above 100% NRR means existing customers grow
      faster than they leave; 110%+ is usually seen as strong.`,
    ];
  }),
  told('11-activation', 'How many signups activated in their first week?', (dice) => {
    const rows = story(
      dice,
      ['2025-09-01', 812, 301],
      ['2025-09-08', 790, 318],
      ['2025-09-15', 865, 371],
      ['2025-09-22', 901, 414],
    );
    const [a, b, c, d] = amounts(rows);
    const [w, x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT date_trunc('week', signed_up_at)::date AS week, COUNT(*) AS signups, COUNT(*) FILTER (WHERE activated_at <= signed_up_at + interval '7 days') AS activated FROM users WHERE signed_up_at >= '2025-09-01' AND signed_up_at < '2025-09-29' GROUP BY 1",
          'week signups activated',
          ...rows,
        ),
      ],
      `Across the four weeks of September, ${en.n(w + x + y + z)} of ${en.n(a + b + c + d)} signups (${en.p((w + x + y + z) / (a + b + c + d))}) activated within 7 days [q1].

      | Week of | Signups | Activated | Rate |
      |---|---|---|---|
      | Sep 1 | ${en.n(a)} | ${en.n(w)} | ${en.p(w / a)} |
      | Sep 8 | ${en.n(b)} | ${en.n(x)} | ${en.p(x / b)} |
      | Sep 15 | ${en.n(c)} | ${en.n(y)} | ${en.p(y / c)} |
      | Sep 22 | ${en.n(d)} | ${en.n(z)} | ${en.p(z / d)} |

      The rate went {d:up~down} every week, from ${en.p(w / a, 0)} to ${en.p(z / d, 0)}. Weeks start on Monday (ISO 8601).`,
    ];
  }),
  told('11-seats', 'Which accounts are close to their seat limit?', (dice) => {
    const rows = story(
      dice,
      ['Northwind', 96, 100],
      ['Contoso', 241, 250],
      ['Fabrikam', 47, 50],
    ).map(
      ([name, used = 0], index) =>
        [name, Math.min(used, [99, 249, 49][index] ?? 0), [100, 250, 50][index] ?? 0] as const,
    );
    const [a, b, c] = amounts(rows, 1);
    return [
      [
        gave(
          'SELECT name, seats_used, seats_total FROM accounts WHERE seats_used >= 0.9 * seats_total ORDER BY seats_used * 1.0 / seats_total DESC',
          'name seats_used seats_total',
          ...rows,
        ),
      ],
      `3 accounts use at least 90% of their seats [q1]:

      - **Northwind**: ${en.n(a)} of 100 seats (${en.p(a / 100, 0)})
      - **Contoso**: ${en.n(b)} of 250 seats (${en.p(b / 250, 0)})
      - **Fabrikam**: ${en.n(c)} of 50 seats (${en.p(c / 50, 0)})

      Together they have ${en.n(400 - a - b - c)} seats left. I used 90% as the cutoff – tell me if you want a different threshold, e.g. 80%.`,
    ];
  }),
  told('11-arpu', 'ARPU by country, please', (dice) => {
    const rows = story(dice, ['US', 5_210, 214_600], ['UK', 1_480, 51_900], ['DE', 1_130, 44_200]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT country, COUNT(*) AS paying_users, SUM(mrr) AS mrr FROM subscriptions WHERE status = 'active' GROUP BY country ORDER BY mrr DESC",
          'country paying_users mrr',
          ...rows,
        ),
      ],
      `ARPU (MRR ÷ paying users) is highest in the US [q1]:

      | Country | Paying users | MRR | ARPU |
      |---|---:|---:|---:|
      | US | ${en.n(a)} | $${en.s(x, thousands)} | **${usd(x / a, 2)}** |
      | DE | ${en.n(c)} | $${en.s(z, thousands)} | ${usd(z / c, 2)} |
      | UK | ${en.n(b)} | $${en.s(y, thousands)} | ${usd(y / b, 2)} |

      Blended ARPU over the three countries is ${usd((x + y + z) / (a + b + c), 2)}. The US accounts for ${en.p(x / (x + y + z), 0)} of MRR from ${en.p(a / (a + b + c), 0)} of users.`,
    ];
  }),
  told('11-two-statements', 'How does churned revenue compare with new revenue?', (dice) => {
    const [gained, lost] = [near(dice, 58_400), near(dice, 31_900)];
    return [
      [
        gave(
          "SELECT SUM(mrr) AS new_mrr FROM subscriptions WHERE started_at >= '2025-10-01' AND started_at < '2025-11-01'",
          'new_mrr',
          [gained],
        ),
        nth(
          2,
          gave(
            "SELECT SUM(mrr) AS churned_mrr FROM subscriptions WHERE ended_at >= '2025-10-01' AND ended_at < '2025-11-01'",
            'churned_mrr',
            [lost],
          ),
        ),
      ],
      `In October 2025 you added **${usd(gained)}** of new MRR [q1] and lost **${usd(lost)}** to churn [q2], so net new MRR is **+${usd(gained - lost)}**.

      For every dollar lost, you gained ${usd(gained / lost, 2)} – a quick ratio of ${en.n(gained / lost, 1)} (ignoring expansion and contraction). A value of 4 is often quoted as healthy
      for a growth-stage company.`,
    ];
  }),
];
