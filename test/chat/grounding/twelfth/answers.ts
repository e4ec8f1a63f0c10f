import { en, gave, millions, nth, thousands, usd } from '../eleventh/kit.ts';
import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech } from '../third/kit.ts';

const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const pt = speech('pt-BR', '');
const ja = speech('ja-JP', '');

/** Answers in the style of models, about other things than those of the eleventh set. */
export const answers: readonly Telling[] = [
  told('12-hires', 'How many people did we hire this year?', (dice) => {
    const rows = story(dice, ['Engineering', 41], ['Sales', 28], ['Support', 19]);
    const [a, b, c] = amounts(rows);
    return [
      [
        gave(
          "SELECT department, COUNT(*) AS hires FROM employees WHERE hired_at >= '2025-01-01' GROUP BY 1",
          'department hires',
          ...rows,
        ),
      ],
      `We've hired **${en.n(a + b + c)} people** so far in 2025 [q1]. Engineering leads with ${en.n(a)} (${en.p(a / (a + b + c), 0)}), then Sales with ${en.n(b)} and Support with ${en.n(c)}.

      I counted start dates, not signed offers. Contractors (type = 'C2C') aren't included. Let me know if you'd like the list of the 20 most recent hires.`,
    ];
  }),
  told('12-tenure', 'Average tenure by level', (dice) => {
    const rows = story(dice, ['L3', 14, 120], ['L4', 31, 84], ['L5', 52, 37]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT level, ROUND(AVG(tenure_months)) AS avg_tenure_months, COUNT(*) AS employees FROM employees GROUP BY level',
          'level avg_tenure_months employees',
          ...rows,
        ),
      ],
      `| Level | Employees | Avg. tenure |
      |---|---|---|
      | L3 | ${en.n(x)} | ${en.n(a)} months |
      | L4 | ${en.n(y)} | ${en.n(b)} months |
      | L5 | ${en.n(z)} | ${en.n(c)} months (${en.n(c / 12, 1)} years) |

      Weighted over all ${en.n(x + y + z)} employees, that's ${en.n((a * x + b * y + c * z) / (x + y + z), 1)} months [q1]. About half of the company (${en.p(x / (x + y + z), 0)}) is at L3.`,
    ];
  }),
  told('12-ctr', 'Compare CTR of our two subject lines', (dice) => {
    const rows = story(dice, ['Subject A', 24_100, 5_420, 612], ['Subject B', 23_950, 6_310, 903]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    const [v, w] = amounts(rows, 3);
    return [
      [
        gave(
          'SELECT subject, delivered, opened, clicked FROM email_tests WHERE campaign_id = 4711',
          'subject delivered opened clicked',
          ...rows,
        ),
      ],
      `Subject B is the winner [q1]:

      - Open rate: **${en.p(y / b)}** vs. ${en.p(x / a)} (+${en.n((y / b - x / a) * 100, 1)} pp)
      - Click rate: **${en.p(w / b, 2)}** vs. ${en.p(v / a, 2)}
      - Click-to-open: ${en.p(w / y)} vs. ${en.p(v / x)}

      In total, B got ${en.n(w - v)} more clicks (${en.sp(growth(v, w), 0)}) from practically the same number of emails (campaign 4711, sent at 9:00 a.m.).`,
    ];
  }),
  told('12-warehouse', 'How full are our warehouses?', (dice) => {
    const rows = story(
      dice,
      ['Rotterdam', 18_200, 24_000],
      ['Gdansk', 9_450, 15_000],
      ['Lyon', 7_310, 8_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [gave('SELECT site, used, capacity FROM warehouse_capacity', 'site used capacity', ...rows)],
      `Overall utilization is **${en.p((a + b + c) / (x + y + z))}** (${en.n(a + b + c)} of ${en.n(x + y + z)} pallet positions) [q1].

      1. {m:Lyon~Gdansk}: ${en.p(c / z)}, only ${en.n(z - c)} positions left
      2. Rotterdam: ${en.p(a / x)}, ${en.n(x - a)} left
      3. Gdansk: ${en.p(b / y)}, ${en.n(y - b)} left

      Lyon is above the 85% level that's often recommended as a maximum. Moving 600 pallets from Lyon to Gdansk would bring it down to ${en.p((c - 600) / z, 0)}.`,
    ];
  }),
  told('12-ltv', 'What is LTV/CAC by channel?', (dice) => {
    const rows = story(dice, ['SEO', 412, 61], ['Ads', 388, 142], ['Partners', 655, 118]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [gave('SELECT channel, ltv, cac FROM unit_economics', 'channel ltv cac', ...rows)],
      `LTV/CAC per channel [q1]:

      - **SEO**: ${usd(a)} / ${usd(x)} = ${en.n(a / x, 1)}x
      - **Partners**: ${usd(c)} / ${usd(z)} = ${en.n(c / z, 1)}x
      - **Ads**: ${usd(b)} / ${usd(y)} = ${en.n(b / y, 1)}x

      A ratio of 3:1 is the usual rule of thumb, so Ads falls {d:short~above}. Partners have the highest LTV, ${en.p(growth(a, c), 0)} above SEO.`,
    ];
  }),
  told('12-quarters', 'Revenue per quarter for the last two years', (dice) => {
    const rows = story(
      dice,
      ['2024-Q1', 2_110_000],
      ['2024-Q2', 2_240_000],
      ['2024-Q3', 2_190_000],
      ['2024-Q4', 2_870_000],
      ['2025-Q1', 2_390_000],
      ['2025-Q2', 2_610_000],
      ['2025-Q3', 2_720_000],
      ['2025-Q4', 3_480_000],
    );
    const [a, b, c, d, e, f, g, h] = amounts(rows);
    const [old, now] = [a + b + c + d, e + f + g + h];
    return [
      [
        gave(
          "SELECT quarter, SUM(revenue) AS revenue FROM revenue_by_quarter WHERE quarter BETWEEN '2024-Q1' AND '2025-Q4' GROUP BY 1 ORDER BY 1",
          'quarter revenue',
          ...rows,
        ),
      ],
      `**2025: $${en.s(now, millions, 2)}** vs. 2024: $${en.s(old, millions, 2)} (${en.sp(growth(old, now))}) [q1]

      | | 2024 | 2025 | YoY |
      |---|---|---|---|
      | Q1 | $${en.s(a, millions, 2)} | $${en.s(e, millions, 2)} | ${en.sp(growth(a, e))} |
      | Q2 | $${en.s(b, millions, 2)} | $${en.s(f, millions, 2)} | ${en.sp(growth(b, f))} |
      | Q3 | $${en.s(c, millions, 2)} | $${en.s(g, millions, 2)} | ${en.sp(growth(c, g))} |
      | Q4 | $${en.s(d, millions, 2)} | $${en.s(h, millions, 2)} | ${en.sp(growth(d, h))} |

      Every quarter beat the same quarter of the year before. Q4 is always the strongest: it made up ${en.p(d / old, 0)} of 2024 and ${en.p(h / now, 0)} of 2025.`,
    ];
  }),
  told('12-nothing', 'Any orders over $10,000 last week?', () => [
    [
      gave(
        "SELECT order_id, total FROM orders WHERE total > 10000 AND ordered_at >= '2025-10-06' AND ordered_at < '2025-10-13'",
        'order_id total',
      ),
    ],
    `No – there were no orders above $10,000 between October 6 and October 12, 2025 [q1]. If you lower the threshold to, say, $5,000, I can check again.`,
  ]),
  told('12-late', 'Which suppliers deliver late?', (dice) => {
    const rows = story(dice, ['Norpak', 214, 61], ['Velta', 388, 42], ['Quint', 129, 8]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT supplier, COUNT(*) AS deliveries, SUM(is_late) AS late FROM deliveries WHERE due_on >= CURRENT_DATE - 180 GROUP BY supplier ORDER BY late DESC',
          'supplier deliveries late',
          ...rows,
        ),
      ],
      `In the last 180 days, ${en.n(x + y + z)} of ${en.n(a + b + c)} deliveries were late (${en.p((x + y + z) / (a + b + c))}) [q1].

      **Norpak** is the main problem: ${en.n(x)} of its ${en.n(a)} deliveries (${en.p(x / a)}) came late. It makes up ${en.p(a / (a + b + c), 0)} of deliveries but ${en.p(x / (x + y + z), 0)} of the delays. Velta: ${en.p(y / b)}, Quint: ${en.p(z / c)}.`,
    ];
  }),
  told('12-gross', 'Gross margin by product line', (dice) => {
    const rows = story(dice, ['Hardware', 3_120_000, 2_210_000], ['Software', 1_870_000, 310_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT line, revenue, cogs FROM margins WHERE fiscal_year = 2025',
          'line revenue cogs',
          ...rows,
        ),
      ],
      `- **Hardware:** ${usd(a - x)} gross profit on ${usd(a)} revenue → ${en.p((a - x) / a)} margin
      - **Software:** ${usd(b - y)} on ${usd(b)} → ${en.p((b - y) / b)} margin

      Blended: ${en.p((a + b - x - y) / (a + b))} [q1]. Although software is only ${en.p(b / (a + b), 0)} of revenue, it contributes ${en.p((b - y) / (a + b - x - y), 0)} of gross profit.`,
    ];
  }),
  told('12-age', 'How old are our open tickets?', (dice) => {
    const rows = story(
      dice,
      ['< 1 day', 212],
      ['1-3 days', 148],
      ['4-7 days', 61],
      ['> 7 days', 39],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [
        gave(
          'SELECT age_bucket, COUNT(*) AS tickets FROM open_tickets GROUP BY 1',
          'age_bucket tickets',
          ...rows,
        ),
      ],
      `There are ${en.n(all)} open tickets [q1]. Most are fresh: ${en.p(a / all, 0)} are less than a day old and ${en.p((a + b) / all, 0)} no older than 3 days. ${en.n(c + d)} tickets (${en.p((c + d) / all)}) have been open for 4 days or more, ${en.n(d)} of them for more than a week.`,
    ];
  }),
  told('12-two', 'How much of our revenue is recurring?', (dice) => {
    const [all, recurring] = [near(dice, 1_284_000), near(dice, 941_000)];
    return [
      [
        gave(
          "SELECT SUM(amount) AS revenue FROM invoices WHERE invoice_month = '2025-09'",
          'revenue',
          [all],
        ),
        nth(
          2,
          gave(
            "SELECT SUM(amount) AS revenue FROM invoices WHERE invoice_month = '2025-09' AND kind = 'subscription'",
            'revenue',
            [recurring],
          ),
        ),
      ],
      `About **${en.p(recurring / all, 0)}** of September's revenue is recurring: $${en.s(recurring, thousands, 0)} [q2] out of $${en.s(all, millions, 2)} [q1]. The remaining $${en.s(all - recurring, thousands, 0)} is one-off (setup fees, services). Annualized, the recurring part is roughly $${en.s(recurring * 12, millions, 1)}.`,
    ];
  }),
  told('12-de-lager', 'Welche Artikel sind bald ausverkauft?', (dice) => {
    const rows = story(dice, ['Akku 18V', 96, 12], ['Bohrer-Set', 310, 22], ['Sägeblatt', 145, 29]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT artikel, bestand, absatz_pro_tag FROM lager WHERE bestand / absatz_pro_tag < 30',
          'artikel bestand absatz_pro_tag',
          ...rows,
        ),
      ],
      `Am knappsten ist **Sägeblatt**: Bei ${de.n(z)} Stück pro Tag reicht der Bestand von ${de.n(c)} Stück noch rund ${de.n(c / z)} Tage [q1].

      - Akku 18V: ${de.n(a)} Stück, ca. ${de.n(a / x)} Tage
      - Bohrer-Set: ${de.n(b)} Stück, ca. ${de.n(b / y)} Tage

      Insgesamt liegen von diesen 3 Artikeln noch ${de.n(a + b + c)} Stück auf Lager. Soll ich auch Artikel mit einer Reichweite unter 45 Tagen auflisten?`,
    ];
  }),
  told('12-de-kanal', 'Wie hat sich der Onlineanteil entwickelt?', (dice) => {
    const rows = story(
      dice,
      ['2023', 1_120_000, 4_310_000],
      ['2024', 1_580_000, 4_620_000],
      ['2025', 2_240_000, 4_990_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT jahr, online_umsatz, gesamtumsatz FROM umsatz_kanal ORDER BY jahr',
          'jahr online_umsatz gesamtumsatz',
          ...rows,
        ),
      ],
      `Der Onlineanteil ist von ${de.p(a / x)} (2023) über ${de.p(b / y)} (2024) auf **${de.p(c / z)}** (2025) {d:gestiegen~gesunken} [q1].

      Der Online-Umsatz hat sich in zwei Jahren genau verdoppelt bzw. um ${de.p(growth(a, c), 0)} erhöht: von ${de.s(a, [1e6, ' Mio.'], 2)} € auf ${de.s(c, [1e6, ' Mio.'], 2)} €. Der Rest des Geschäfts ging im selben Zeitraum von ${de.s(x - a, [1e6, ' Mio.'], 2)} € auf ${de.s(z - c, [1e6, ' Mio.'], 2)} € zurück.`,
    ];
  }),
  told('12-fr-magasins', 'Quels magasins sont en baisse ?', (dice) => {
    const rows = story(
      dice,
      ['Lille', 512_000, 548_000],
      ['Nantes', 431_000, 389_000],
      ['Nice', 298_000, 241_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT magasin, ca_2024, ca_2025 FROM ca_magasins',
          'magasin ca_2024 ca_2025',
          ...rows,
        ),
      ],
      `Deux magasins sur trois sont en baisse en 2025 [q1] :

      - **Nice** : ${fr.sp(growth(c, z))} (de ${fr.n(c)} € à ${fr.n(z)} €)
      - **Nantes** : ${fr.sp(growth(b, y))} (de ${fr.n(b)} € à ${fr.n(y)} €)

      Lille progresse de ${fr.p(growth(a, x))}. Au total, le CA passe de ${fr.n(a + b + c)} € à ${fr.n(x + y + z)} €, soit ${fr.sp(growth(a + b + c, x + y + z))}.`,
    ];
  }),
  told('12-es-horas', '¿A qué hora vendemos más?', (dice) => {
    const rows = [
      ['11', near(dice, 412)],
      ['13', near(dice, 688)],
      ['19', near(dice, 931)],
      ['22', near(dice, 254)],
    ] as const;
    const [a, b, c, d] = amounts(rows);
    const all = total([a, b, c, d]);
    return [
      [
        gave(
          'SELECT hora, COUNT(*) AS pedidos FROM pedidos GROUP BY hora ORDER BY hora',
          'hora pedidos',
          ...rows,
        ),
      ],
      `La hora punta son las **19:00**, con ${es.n(c)} pedidos (${es.p(c / all)} del total) [q1]. Le sigue la franja de las 13:00 con ${es.n(b)}. A las 22:00 hay el menor número: ${es.n(d)}, apenas una cuarta parte de los de las 19:00.`,
    ];
  }),
  told('12-pt-nps', 'Qual é a nota média por loja?', (dice) => {
    const rows = story(dice, ['Centro', 45, 312], ['Norte', 38, 187]).map(
      ([name, note = 0, count = 0]) => [name, note / 10, count] as const,
    );
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT loja, AVG(nota) AS nota_media, COUNT(*) AS avaliacoes FROM avaliacoes GROUP BY loja',
          'loja nota_media avaliacoes',
          ...rows,
        ),
      ],
      `A loja Centro tem nota média **${pt.n(a, 1)}** (${pt.n(x)} avaliações) e a Norte ${pt.n(b, 1)} (${pt.n(y)} avaliações), numa escala de 1 a 5 [q1]. Juntas são ${pt.n(x + y)} avaliações; a média ponderada fica em ${pt.n((a * x + b * y) / (x + y), 2)}.`,
    ];
  }),
  told('12-ja-kokyaku', '顧客単価はどう変化しましたか?', (dice) => {
    const rows = story(dice, ['2024', 8_240_000, 1_120], ['2025', 9_870_000, 1_210]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT 年, SUM(売上) AS 売上, COUNT(DISTINCT 顧客ID) AS 顧客数 FROM 注文 GROUP BY 年',
          '年 売上 顧客数',
          ...rows,
        ),
      ],
      `顧客単価は2024年の${ja.n(a / x)}円から2025年の**${ja.n(b / y)}円**へ、${ja.p(growth(a / x, b / y))}上昇しました [q1]。顧客数も${ja.n(x)}人から${ja.n(y)}人へ${ja.n(y - x)}人増えています。`,
    ];
  }),
];
