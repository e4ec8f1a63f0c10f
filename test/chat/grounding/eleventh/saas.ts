import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { en, gave, usd } from './kit.ts';

/** Answers of a data chat about a subscription business. */
export const saas: readonly Telling[] = [
  told('11-mrr', "What's our current MRR and how has it changed?", (dice) => {
    const rows = story(
      dice,
      ['2025-07', 412_300],
      ['2025-08', 428_900],
      ['2025-09', 451_200],
      ['2025-10', 489_700],
    );
    const [jul, aug, sep, oct] = amounts(rows);
    return [
      [
        gave(
          "SELECT strftime('%Y-%m', month) AS month, SUM(mrr) AS mrr FROM subscriptions_monthly WHERE month >= '2025-07-01' GROUP BY 1 ORDER BY 1",
          'month mrr',
          ...rows,
        ),
      ],
      `Current MRR is **${usd(oct)}** (October 2025) [q1], which is an ARR of about $${en.s(oct * 12, [1e6, 'M'], 2)}.

      | Month | MRR | MoM |
      |---|---:|---:|
      | Jul 2025 | ${usd(jul)} | – |
      | Aug 2025 | ${usd(aug)} | ${en.sp(growth(jul, aug))} |
      | Sep 2025 | ${usd(sep)} | ${en.sp(growth(aug, sep))} |
      | Oct 2025 | ${usd(oct)} | ${en.sp(growth(sep, oct))} |

      Over these 3 months MRR {d:grew~fell} by ${usd(oct - jul)} (${en.sp(growth(jul, oct))}), i.e. roughly ${en.p((oct / jul) ** (1 / 3) - 1)} per month compounded.`,
    ];
  }),
  told('11-churn', 'What was logo churn in September?', (dice) => {
    const [start, lost] = [near(dice, 2_140), near(dice, 63)];
    return [
      [
        gave(
          "SELECT COUNT(*) AS active_at_start, COUNT(*) FILTER (WHERE cancelled_at >= '2025-09-01' AND cancelled_at < '2025-10-01') AS churned FROM accounts WHERE activated_at < '2025-09-01' AND (cancelled_at IS NULL OR cancelled_at >= '2025-09-01')",
          'active_at_start churned',
          [start, lost],
        ),
      ],
      `Logo churn in September 2025 was **${en.p(lost / start, 2)}** [q1].

      - Customers active on Sept 1: ${en.n(start)}
      - Cancelled during the month: ${en.n(lost)}
      - Still active on Sept 30 (ignoring new signups): ${en.n(start - lost)}

      Annualized, that would be around ${en.p(1 - (1 - lost / start) ** 12, 0)} if every month looked like this one. This is a single month, so treat it as a
      rough indication only.`,
    ];
  }),
  told('11-plans', 'How are customers split across plans?', (dice) => {
    const rows = story(
      dice,
      ['Free', 8_410, 0],
      ['Starter', 1_920, 29],
      ['Pro', 840, 99],
      ['Enterprise', 96, 499],
    ).map(([name, count = 0, price = 0]) => [name, count, Math.round(price)] as const);
    const own = amounts(rows);
    const [a, b, c, d] = own;
    const all = total(own);
    const paid = b + c + d;
    return [
      [
        gave(
          "SELECT plan, COUNT(*) AS accounts FROM accounts WHERE status = 'active' GROUP BY plan ORDER BY accounts DESC",
          'plan accounts',
          ...rows.map(([name, count]) => [name, count]),
        ),
      ],
      `Of your ${en.n(all)} active accounts, about three quarters are on the Free plan [q1].

      | Plan | Accounts | % of total | % of paying |
      |---|---|---|---|
      | Free | ${en.n(a)} | ${en.p(a / all)} | – |
      | Starter | ${en.n(b)} | ${en.p(b / all)} | ${en.p(b / paid)} |
      | Pro | ${en.n(c)} | ${en.p(c / all)} | ${en.p(c / paid)} |
      | Enterprise | ${en.n(d)} | ${en.p(d / all)} | ${en.p(d / paid)} |

      ${en.n(paid)} accounts pay (${en.p(paid / all)}). Only about 1 in 30 paying accounts is on Enterprise.`,
    ];
  }),
  told('11-cohort', 'Show retention by signup cohort', (dice) => {
    const rows = story(
      dice,
      ['2025-01', 1_210, 702, 518, 431],
      ['2025-02', 1_340, 804, 603, 509],
      ['2025-03', 1_480, 947, 725, 640],
    );
    const [a, b, c] = amounts(rows);
    const line = (label: string, row: readonly (string | number)[] | undefined) => {
      const [, size = 0, ...active] = (row ?? []).map(Number);
      return `| ${label} | ${en.n(size)} | ${active.map((count) => en.p(count / size)).join(' | ')} |`;
    };
    const m3 = (index: number) => rows[index]?.[4] ?? 0;
    return [
      [
        gave(
          'SELECT cohort, users, active_m1, active_m2, active_m3 FROM cohort_retention ORDER BY cohort',
          'cohort users active_m1 active_m2 active_m3',
          ...rows,
        ),
      ],
      `Retention is {d:improving~getting worse} with each cohort [q1]:

      | Cohort | Users | Month 1 | Month 2 | Month 3 |
      |---|---|---|---|---|
      ${line('Jan 2025', rows[0])}
      ${line('Feb 2025', rows[1])}
      ${line('Mar 2025', rows[2])}

      Month-3 retention rose from ${en.p(m3(0) / a)} for the January cohort to ${en.p(m3(2) / c)} for March, a gain of
      ${en.n((m3(2) / c - m3(0) / a) * 100, 1)} percentage points. Cohorts also got bigger: ${en.n(a)} → ${en.n(b)} → ${en.n(c)} signups.`,
    ];
  }),
  told('11-funnel', 'Where do users drop off in the signup funnel?', (dice) => {
    const rows = story(
      dice,
      ['1_landing', 48_200],
      ['2_signup_form', 14_900],
      ['3_email_verified', 9_870],
      ['4_workspace_created', 7_120],
      ['5_invited_teammate', 2_310],
    );
    const own = amounts(rows);
    const [a, b, c, d, e] = own;
    return [
      [
        gave(
          'SELECT step, COUNT(DISTINCT user_id) AS users FROM funnel_events WHERE event_date >= CURRENT_DATE - 28 GROUP BY step ORDER BY step',
          'step users',
          ...rows,
        ),
      ],
      `Over the past 4 weeks, the funnel looks like this [q1]:

      1. Landing page: ${en.n(a)}
      2. Signup form: ${en.n(b)} (${en.p(b / a)} of step 1)
      3. Email verified: ${en.n(c)} (${en.p(c / b)} of step 2)
      4. Workspace created: ${en.n(d)} (${en.p(d / c)} of step 3)
      5. Invited a teammate: ${en.n(e)} (${en.p(e / d)} of step 4)

      **Biggest drop-offs**
      - Step 1 → 2: ${en.n(a - b)} visitors (${en.p(1 - b / a)}) leave before opening the form.
      - Step 4 → 5: ${en.p(1 - e / d)} never invite anyone.

      End to end, just ${en.p(e / a)} of visitors reach step 5.`,
    ];
  }),
  told('11-dau-mau', 'What is our DAU/MAU ratio?', (dice) => {
    const rows = story(dice, ['2025-08', 6_240, 24_100], ['2025-09', 6_910, 25_050]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT month, avg_dau, mau FROM engagement WHERE month IN ('2025-08', '2025-09') ORDER BY month",
          'month avg_dau mau',
          ...rows,
        ),
      ],
      `The DAU/MAU ratio ("stickiness") was **${en.p(b / y)}** in September 2025, up from ${en.p(a / x)} in August [q1].

      In September an average of ${en.n(b)} users were active per day, out of ${en.n(y)} monthly active users. As a rule of thumb, 20% is considered good for
      B2B SaaS, so you are above that benchmark.`,
    ];
  }),
  told('11-trial', 'Trial to paid conversion by source', (dice) => {
    const rows = story(
      dice,
      ['organic', 3_120, 612],
      ['paid_search', 2_480, 271],
      ['referral', 690, 210],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT source, COUNT(*) AS trials, SUM(converted) AS converted FROM trials WHERE started_at >= '2025-04-01' AND started_at < '2025-10-01' GROUP BY source",
          'source trials converted',
          ...rows,
        ),
      ],
      `Overall **${en.p((x + y + z) / (a + b + c))}** of trials converted between April and September 2025 (${en.n(x + y + z)} of ${en.n(a + b + c)}) [q1].

      | Source | Trials | Converted | Rate |
      |---|---:|---:|---:|
      | Referral | ${en.n(c)} | ${en.n(z)} | **${en.p(z / c)}** |
      | Organic | ${en.n(a)} | ${en.n(x)} | ${en.p(x / a)} |
      | Paid search | ${en.n(b)} | ${en.n(y)} | ${en.p(y / b)} |

      Referral converts almost three times as well as paid search, but it's a small channel: only ${en.p(c / (a + b + c), 0)} of trials. If paid search converted
      like organic, you'd have gained about ${en.n((b * x) / a - y)} more customers.`,
    ];
  }),
  told('11-nps', "What's our NPS this quarter?", (dice) => {
    const [promoters, passives, detractors] = [near(dice, 642), near(dice, 310), near(dice, 148)];
    const all = promoters + passives + detractors;
    return [
      [
        gave(
          "SELECT COUNT(*) FILTER (WHERE score >= 9) AS promoters, COUNT(*) FILTER (WHERE score BETWEEN 7 AND 8) AS passives, COUNT(*) FILTER (WHERE score <= 6) AS detractors FROM nps_responses WHERE responded_at >= '2025-10-01'",
          'promoters passives detractors',
          [promoters, passives, detractors],
        ),
      ],
      `Your NPS so far in Q4 2025 is **${en.n(((promoters - detractors) / all) * 100)}** [q1], based on ${en.n(all)} responses.

      | Group | Score | Responses | Share |
      |---|---|---:|---:|
      | Promoters | 9–10 | ${en.n(promoters)} | ${en.p(promoters / all)} |
      | Passives | 7–8 | ${en.n(passives)} | ${en.p(passives / all)} |
      | Detractors | 0–6 | ${en.n(detractors)} | ${en.p(detractors / all)} |

      NPS = % promoters − % detractors. The quarter isn't over yet, so this may still move.`,
    ];
  }),
  told('11-latency', 'Which endpoints are slow?', (dice) => {
    const rows = story(
      dice,
      ['/api/v2/search', 184, 1_420, 81_200],
      ['/api/v2/export', 640, 4_870, 2_310],
      ['/api/v2/items', 41, 212, 402_500],
    );
    const own = amounts(rows, 2);
    const [search, exported, items] = amounts(rows);
    const calls = amounts(rows, 3);
    return [
      [
        gave(
          "SELECT endpoint, p50_ms, p95_ms, requests FROM api_latency_daily WHERE day = '2025-10-14'",
          'endpoint p50_ms p95_ms requests',
          ...rows,
        ),
      ],
      `On October 14, 2025, \`/api/v2/export\` was the slowest endpoint, with a p95 of **${en.n(own[1] / 1000, 1)} s** [q1].

      | Endpoint | p50 | p95 | Requests |
      |---|---|---|---|
      | /api/v2/export | ${en.n(exported)} ms | ${en.n(own[1])} ms | ${en.n(calls[1])} |
      | /api/v2/search | ${en.n(search)} ms | ${en.n(own[0])} ms | ${en.n(calls[0])} |
      | /api/v2/items | ${en.n(items)} ms | ${en.n(own[2])} ms | ${en.n(calls[2])} |

      Export is rarely called (under 1% of requests), so search is probably the better target: its p95 is ${en.n(own[0] / search, 1)}x its median, and it gets
      ${en.n(calls[0])} requests a day. The 99th percentile isn't stored in this table.`,
    ];
  }),
  told('11-ab', 'Did variant B win the experiment?', (dice) => {
    const rows = story(dice, ['A', 24_810, 1_982], ['B', 24_640, 2_271]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [ra, rb] = [x / a, y / b];
    const error = Math.sqrt((ra * (1 - ra)) / a + (rb * (1 - rb)) / b);
    return [
      [
        gave(
          "SELECT variant, COUNT(*) AS users, SUM(converted) AS conversions FROM experiment_assignments WHERE experiment = 'checkout_v2' GROUP BY variant",
          'variant users conversions',
          ...rows,
        ),
      ],
      `Yes – variant B converted better, and the difference is statistically significant [q1].

      | Variant | Users | Conversions | Rate |
      |---|---|---|---|
      | A (control) | ${en.n(a)} | ${en.n(x)} | ${en.p(ra, 2)} |
      | B | ${en.n(b)} | ${en.n(y)} | ${en.p(rb, 2)} |

      - Absolute lift: ${en.n((rb - ra) * 100, 2)} pp
      - Relative lift: ${en.sp(rb / ra - 1)}
      - 95% confidence interval of the difference: ${en.n((rb - ra - 1.96 * error) * 100, 2)} to ${en.n((rb - ra + 1.96 * error) * 100, 2)} pp (two-proportion z-test, p < 0.001)

      The split is close to 50/50, so there's no sign of a sample ratio mismatch.`,
    ];
  }),
];
