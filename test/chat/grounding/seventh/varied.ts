import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech, withSql } from '../third/kit.ts';
import { amounts, table, thrown, total } from './kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const K = [1e3, 'K'] as const;
const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');

/** English and two more languages: results with shares, gaps, many rows, times and NULL. */
export const varied: readonly Telling[] = [
  told('7-precomputed', 'How did sales grow by country?', (dice) => {
    const rows = ['Japan', 'Korea', 'Taiwan'].map((name) => {
      const [a, b] = [dice.between(200_000, 900_000), dice.between(200_000, 900_000)];
      return [name, a, b, Number(((b - a) / a).toFixed(4))] as const;
    });
    const lines = rows.map(([name, a, b, rate]) => `- ${name}: $${n(a)} → $${n(b)} (${sp(rate)})`);
    return [
      [rowsOf('q1', 'country sales_2023 sales_2024 growth', ...rows)],
      `Sales growth from 2023 to 2024 [q1]:

      ${lines.join('\n')}

      The three countries together went from $${n(total(rows.map((row) => row[1])))} to
      $${n(total(rows.map((row) => row[2])))}.`,
    ];
  }),
  told('7-many-rows', 'Which products sell best?', (dice) => {
    const names =
      'Aster|Basil|Clover|Dahlia|Fern|Ginger|Hazel|Iris|Jasmine|Kale|Lilac|Mint|Nettle|Olive|Poppy';
    const rows = ranked(dice, names, [400, 9000]);
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'product units_sold', ...rows)],
      `Aster is the bestseller (${n(a)} units), ahead of Basil (${n(b)}) and Clover (${n(c)}). These top three account for
      ${p((a + b + c) / sum(rows))} of the ${n(sum(rows))} units sold across all 15 products. Dahlia, in fourth place, sold
      ${n(d)}, ${n(c - d)} fewer than Clover [q1].`,
    ];
  }),
  told('7-null-rows', 'Orders by acquisition source?', (dice) => {
    const [a, b, c] = thrown(dice, [2000, 5000], [900, 1900], [300, 800]);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'source orders', ['organic', a], ['paid', b], [null, c])],
      `- **organic**: ${n(a)} (${p(a / all)})
      - **paid**: ${n(b)} (${p(b / all)})
      - *unknown*: ${n(c)} (${p(c / all)})

      ${n(c)} of the ${n(all)} orders have no source, so the shares of the other two are a lower bound [q1].`,
    ];
  }),
  told('7-negative', 'Which business units lost money?', (dice) => {
    const [a, b, c] = thrown(dice, [100_000, 400_000], [20_000, 90_000], [5000, 19_000]);
    return [
      [rowsOf('q1', 'unit operating_result', ['Solar', a], ['Wind', -b], ['Storage', -c])],
      `Two of the three units lost money: Wind (−$${n(b)}) and Storage (−$${n(c)}), a combined loss of $${n(b + c)}. Solar earned
      $${n(a)}, so the overall operating result is $${n(a - b - c)} [q1].`,
    ];
  }),
  told('7-cents', 'What did we pay in fees?', (dice) => {
    const [fees, volume] = thrown(dice, [900_000, 4_000_000], [50_000_000, 90_000_000]);
    return [
      [rowsOf('q1', 'fee_cents volume_cents', [fees, volume])],
      `You paid $${n(fees / 100, 2)} in fees on a volume of $${n(volume / 100, 2)}, an effective rate of ${p(fees / volume, 2)}
      [q1].`,
    ];
  }),
  told('7-duration', 'How long do builds take?', (dice) => {
    const [a, b] = thrown(dice, [300, 900], [1000, 3000]);
    const text = (seconds: number) => `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return [
      [rowsOf('q1', 'pipeline median_seconds', ['web', a], ['mobile', b])],
      `The median build takes ${text(a)} for web and ${text(b)} for mobile, so mobile takes ${n(b / a, 1)} times as long
      [q1].`,
    ];
  }),
  told('7-yoy-columns', 'How do we compare year over year in Q2?', (dice) => {
    const rows = table(dice, 'Apparel|Footwear', [200_000, 900_000], [200_000, 900_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'category q2_2025 q2_2024', ...rows)],
      `**Apparel**: $${s(a, K, 0)} in Q2 2025 vs. $${s(x, K, 0)} in Q2 2024 (${sp(growth(x, a))} YoY)
      **Footwear**: $${s(b, K, 0)} vs. $${s(y, K, 0)} (${sp(growth(y, b))} YoY)

      Combined, the two categories are ${way(x + y, a + b, ['up', 'down'])} ${p(Math.abs(growth(x + y, a + b)))} YoY [q1].`,
    ];
  }),
  told('7-ratio-colon', 'How many developers per designer?', (dice) => {
    const [dev, design] = thrown(dice, [80, 200], [10, 19]);
    return [
      [rowsOf('q1', 'role headcount', ['developer', dev], ['designer', design])],
      `There are ${n(dev)} developers and ${n(design)} designers, a ratio of about ${n(dev / design, 1)} to 1 [q1].`,
    ];
  }),
  told('7-percent-of-percent', 'How many website visitors become paying customers?', (dice) => {
    const visitors = dice.between(100_000, 300_000);
    const trials = part(visitors, 0.04 + dice.next() / 50);
    const paid = part(trials, 0.2 + dice.next() / 10);
    return [
      [rowsOf('q1', 'visitors trials paying', [visitors, trials, paid])],
      `1. **Visit → trial:** ${p(trials / visitors)} (${n(trials)} of ${n(visitors)})
      2. **Trial → paid:** ${p(paid / trials)} (${n(paid)} of ${n(trials)})

      End to end, ${p(paid / visitors, 2)} of visitors become paying customers – roughly one in ${n(visitors / paid)} [q1].`,
    ];
  }),
  told('7-best-month', 'Best and worst month of 2024 for donations?', (dice) => {
    const rows = walk(
      dice,
      '2024-01|2024-02|2024-03|2024-04|2024-05|2024-06|2024-07|2024-08|2024-09|2024-10|2024-11|2024-12',
      20_000,
    );
    const names =
      'January|February|March|April|May|June|July|August|September|October|November|December'.split(
        '|',
      );
    const values = rows.map(([, value]) => value);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const nameOf = (value: number) => names[values.indexOf(value)];
    return [
      [rowsOf('q1', 'month donations', ...rows)],
      `The best month was ${nameOf(high)} with $${n(high)}; the weakest was ${nameOf(low)} with $${n(low)}. Over the whole year you
      received $${n(total(values))}, i.e. $${n(total(values) / 12)} a month on average, and the best month was
      ${p(high / (total(values) / 12) - 1, 0)} above that [q1].`,
    ];
  }),
  told('7-weekdays', 'On which weekday do most incidents happen?', (dice) => {
    const rows = table(dice, 'Mon|Tue|Wed|Thu|Fri|Sat|Sun', [12, 90]);
    const [a, b, c, d, e, f, g] = amounts(rows);
    const all = a + b + c + d + e + f + g;
    return [
      [rowsOf('q1', 'weekday incidents', ...rows)],
      `| Day | Incidents |
      |---|---|
      | Mon | ${n(a)} |
      | Tue | ${n(b)} |
      | Wed | ${n(c)} |
      | Thu | ${n(d)} |
      | Fri | ${n(e)} |
      | Sat | ${n(f)} |
      | Sun | ${n(g)} |

      ${n(all)} incidents in total; ${p((f + g) / all)} of them (${n(f + g)}) fell on Saturday or Sunday [q1].`,
    ];
  }),
  told('7-mean-of-groups', 'What is the average salary by level?', (dice) => {
    const rows = table(dice, 'Junior|Mid|Senior', [20, 60], [41_000, 99_000]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'level employees avg_salary', ...rows)],
      `- Junior (${n(a)} people): $${n(x)}
      - Mid (${n(b)} people): $${n(y)}
      - Senior (${n(c)} people): $${n(z)}

      Weighted by headcount, the ${n(a + b + c)} employees earn $${n((a * x + b * y + c * z) / (a + b + c))} on average [q1].`,
    ];
  }),
  told('7-share-columns', 'What is the traffic split by device, and how did it change?', (dice) => {
    const [a, b] = thrown(dice, [41, 58], [59, 72]);
    return [
      [
        rowsOf(
          'q1',
          'device share_2023 share_2024',
          ['mobile', a / 100, b / 100],
          ['desktop', 1 - a / 100, 1 - b / 100],
        ),
      ],
      `Mobile's share rose from ${n(a)}% in 2023 to ${n(b)}% in 2024 (+${n(b - a)} percentage points), while desktop's fell from
      ${n(100 - a)}% to ${n(100 - b)}% [q1].`,
    ];
  }),
  told('7-dates-list', 'When were the five most recent releases?', (dice) => {
    const rows = ['2025-03-04', '2025-03-18', '2025-04-01', '2025-04-15', '2025-04-29'].map(
      (day) => {
        return [day, dice.between(12, 90)] as const;
      },
    );
    const [a, b, c, d, e] = amounts(rows);
    return [
      [rowsOf('q1', 'released_on fixes', ...rows)],
      `The five most recent releases were on March 4 (${n(a)} fixes), March 18 (${n(b)}), April 1 (${n(c)}), April 15 (${n(d)}) and
      April 29, 2025 (${n(e)}), i.e. one every two weeks. In total they contain ${n(a + b + c + d + e)} fixes [q1].`,
    ];
  }),
  told('7-two-years-two-queries', 'How many new patients did we see in 2024 vs 2023?', (dice) => {
    const [a, b] = thrown(dice, [2000, 6000], [2000, 6000]);
    const query = (id: string, year: number, value: number) =>
      withSql(
        `SELECT count(*) FROM patients WHERE extract(year FROM first_visit) = ${year}`,
        rowsOf(id, 'new_patients', [value]),
      );
    return [
      [query('q1', 2024, b), query('q2', 2023, a)],
      `You saw ${n(b)} new patients in 2024 [q1] versus ${n(a)} in 2023 [q2]. That is ${n(Math.abs(b - a))}
      ${way(a, b, ['more', 'fewer'])}, a ${way(a, b, ['rise', 'drop'])} of ${p(Math.abs(growth(a, b)))}, and comes to
      ${n(b / 52, 1)} new patients per week in 2024.`,
    ];
  }),
  told('7-quote-sql', 'How many trips were longer than 30 minutes?', (dice) => {
    const [all, long] = thrown(dice, [9000, 20_000], [900, 4000]);
    return [
      [
        withSql(
          'SELECT count(*) AS trips, count(*) FILTER (WHERE minutes > 30) AS long_trips FROM trips',
          rowsOf('q1', 'trips long_trips', [all, long]),
        ),
      ],
      `${n(long)} of ${n(all)} trips (${p(long / all)}) took more than 30 minutes [q1].

      \`\`\`sql
      SELECT count(*) FILTER (WHERE minutes > 30) FROM trips
      \`\`\``,
    ];
  }),
  told('7-target-percent', 'Do we meet our 85% on-time target in each region?', (dice) => {
    const rows = ['East', 'West'].map((name) => {
      const all = dice.between(2000, 6000);
      return [
        name,
        all,
        part(all, name === 'East' ? 0.87 + dice.next() / 20 : 0.75 + dice.next() / 20),
      ] as const;
    });
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'region deliveries on_time', ...rows)],
      `- **East**: ${p(x / a)} on time – above the 85% target by ${n((x / a - 0.85) * 100, 1)} points ✅
      - **West**: ${p(y / b)} on time – below it by ${n((0.85 - y / b) * 100, 1)} points ❌

      Over both regions, ${p((x + y) / (a + b))} of ${n(a + b)} deliveries were on time [q1].`,
    ];
  }),
  told('7-plain-ranks', 'Rank our suppliers by defect rate.', (dice) => {
    const rows = table(dice, 'Kappa|Lambda|Sigma', [2000, 9000], [20, 190]);
    const rate = (row: readonly [string, ...number[]]) => (row[2] ?? 0) / (row[1] ?? 1);
    const sorted = [...rows].sort((a, b) => rate(b) - rate(a));
    const lines = sorted.map(
      (row, index) =>
        `${index + 1}. ${row[0]} – ${p(rate(row), 2)} (${n(row[2] ?? 0)} of ${n(row[1] ?? 0)})`,
    );
    const [first, , third] = sorted.map(rate) as [number, number, number];
    return [
      [rowsOf('q1', 'supplier parts defects', ...rows)],
      `${lines.join('\n')}

      The worst supplier has ${n(first / third, 1)} times the defect rate of the best one [q1].`,
    ];
  }),
  told('7-stock-value', 'What is our inventory worth?', (dice) => {
    const rows = table(dice, 'Bolts|Nuts', [9000, 40_000], [2, 9]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'item on_hand unit_cost', ...rows)],
      `At cost, the inventory is worth $${n(a * x + b * y)}: ${n(a)} bolts at $${n(x)} ($${n(a * x)}) and ${n(b)} nuts at $${n(y)}
      ($${n(b * y)}) [q1].`,
    ];
  }),
  told('7-de-bericht', 'Wie viele Beschwerden gab es je Quartal 2024?', (dice) => {
    const rows = walk(dice, '2024-Q1|2024-Q2|2024-Q3|2024-Q4', 400);
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'quartal beschwerden', ...rows)],
      `Im Jahr 2024 gingen insgesamt ${de.n(a + b + c + d)} Beschwerden ein: ${de.n(a)} im ersten, ${de.n(b)} im zweiten, ${de.n(c)} im
      dritten und ${de.n(d)} im vierten Quartal. Vom ersten zum vierten Quartal ist das eine Veränderung von
      ${de.sp(growth(a, d))} [q1].`,
    ];
  }),
  told('7-de-schnitt', 'Wie viel gibt ein Kunde im Schnitt aus?', (dice) => {
    const rows = table(dice, 'Privat|Gewerbe', [900, 4000], [90_000, 900_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'kundengruppe kunden umsatz', ...rows)],
      `Ein Privatkunde gibt im Schnitt ${de.n(x / a, 2)} € aus (${de.n(x)} € bei ${de.n(a)} Kunden), ein Gewerbekunde
      ${de.n(y / b, 2)} € (${de.n(y)} € bei ${de.n(b)} Kunden). Über beide Gruppen sind es ${de.n((x + y) / (a + b), 2)} € [q1].`,
    ];
  }),
  told('7-fr-mois', 'Quel mois a été le meilleur au premier trimestre 2025 ?', (dice) => {
    const rows = walk(dice, '2025-01|2025-02|2025-03', 60_000);
    const values = rows.map(([, value]) => value);
    const names = ['janvier', 'février', 'mars'];
    const high = Math.max(...values);
    return [
      [rowsOf('q1', 'mois ventes', ...rows)],
      `Le meilleur mois a été ${names[values.indexOf(high)]} avec ${fr.n(high)} € de ventes, soit ${fr.p(high / total(values))} des
      ${fr.n(total(values))} € du trimestre. La moyenne mensuelle s’établit à ${fr.n(total(values) / 3)} € [q1].`,
    ];
  }),
  told('7-fr-ecart', 'Quelle est la différence entre budget et réel ?', (dice) => {
    const [budget, real] = thrown(dice, [200_000, 400_000], [200_000, 400_000]);
    return [
      [rowsOf('q1', 'budget reel', [budget, real])],
      `Les dépenses réelles (${fr.n(real)} €) sont ${way(budget, real, ['supérieures', 'inférieures'])} de
      ${fr.n(Math.abs(real - budget))} € au budget de ${fr.n(budget)} €, soit un écart de ${fr.p(Math.abs(growth(budget, real)))} [q1].`,
    ];
  }),
  told('7-signed-money', 'Net cash flow by month?', (dice) => {
    const rows = ['2025-01', '2025-02', '2025-03'].map((month) => {
      return [month, dice.between(90_000, 200_000), dice.between(90_000, 200_000)] as const;
    });
    const names = ['January', 'February', 'March'];
    const lines = rows.map(
      ([, a, b], index) => `- ${names[index]}: ${sn(a - b)} (in ${n(a)}, out ${n(b)})`,
    );
    const [a, b] = [1, 2].map((column) => total(rows.map((row) => Number(row[column])))) as [
      number,
      number,
    ];
    return [
      [rowsOf('q1', 'month cash_in cash_out', ...rows)],
      `Net cash flow in Q1 2025, in USD [q1]:

      ${lines.join('\n')}

      For the quarter: ${sn(a - b)}.`,
    ];
  }),
];
