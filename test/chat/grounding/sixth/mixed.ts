import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech } from '../third/kit.ts';

const { n, p, s, sp, sn } = speech('en-US', '');
const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const nl = speech('nl-NL', '');
const ja = speech('ja-JP', '');
const zh = speech('zh-CN', '');
const k = [1e3, 'k'] as const;

export const mixed: readonly Telling[] = [
  told('6-warehouse', 'How full are the warehouses?', (dice) => {
    const rows = ['Dock A', 'Dock B', 'Dock C'].map((name) => {
      const places = dice.between(900, 4000);
      return [name, places, part(places, 0.5 + dice.next() / 3)] as const;
    });
    const free = column(rows, 1) - column(rows, 2);
    return [
      [rowsOf('q1', 'dock pallet_places occupied', ...rows)],
      `${n(column(rows, 2))} of ${n(column(rows, 1))} pallet places are taken, which leaves ${n(free)} free. Dock A is
      at ${p(at(rows, 0)[2] / at(rows, 0)[1])}, Dock B at ${p(at(rows, 1)[2] / at(rows, 1)[1])} and Dock C at
      ${p(at(rows, 2)[2] / at(rows, 2)[1])} [q1].`,
    ];
  }),
  told('6-plans', 'Which plan do most customers have?', (dice) => {
    const rows = ranked(dice, 'Starter|Growth|Scale', [200, 9000]);
    return [
      [rowsOf('q1', 'plan customers', ...rows)],
      `Starter: ${n(at(rows, 0)[1])} customers, that is ${p(at(rows, 0)[1] / sum(rows), 0)} of all ${n(sum(rows))}.
      Growth has ${n(at(rows, 1)[1])}, so for each customer on Growth there are
      ${n(at(rows, 0)[1] / at(rows, 1)[1], 1)} on Starter. Growth and Scale combined come to
      ${n(at(rows, 1)[1] + at(rows, 2)[1])} [q1].`,
    ];
  }),
  told('6-three-months', 'How did returns develop from April to June 2025?', (dice) => {
    const rows = walk(dice, '2025-04|2025-05|2025-06', 800);
    const [a, b, c] = [at(rows, 0)[1], at(rows, 1)[1], at(rows, 2)[1]];
    return [
      [rowsOf('q1', 'month returns', ...rows)],
      `Returns went from ${n(a)} in April via ${n(b)} in May (${sp(growth(a, b))}) to ${n(c)} in June
      (${sp(growth(b, c))}). Over the quarter we had ${n(a + b + c)} returns, ${n((a + b + c) / 3)} a month [q1].`,
    ];
  }),
  told('6-visit-cost', 'What does a site visit cost us?', (dice) => {
    const rows = ['Lyon', 'Turin'].map(
      (name) => [name, dice.between(40, 190), dice.between(9000, 60_000)] as const,
    );
    const per = (index: number) => at(rows, index)[2] / at(rows, index)[1];
    const [high, low] = per(0) > per(1) ? ([0, 1] as const) : ([1, 0] as const);
    return [
      [rowsOf('q1', 'city site_visits travel_cost', ...rows)],
      `A visit in ${at(rows, high)[0]} costs €${n(per(high))}, €${n(per(high) - per(low))} more than in
      ${at(rows, low)[0]} (€${n(per(low))}). For all ${n(column(rows, 1))} visits we paid
      €${n(column(rows, 2))} [q1].`,
    ];
  }),
  told('6-late-share', 'How many trains were late on the two lines?', (dice) => {
    const rows = ['S1', 'S8'].map((line) => {
      const trains = dice.between(2000, 6000);
      return [line, trains, part(trains, 0.05 + dice.next() / 6)] as const;
    });
    return [
      [rowsOf('q1', 'line trains late', ...rows)],
      `| Line | Trains | Late | On time |
      |---|---|---|---|
      | S1 | ${n(at(rows, 0)[1])} | ${n(at(rows, 0)[2])} | ${p(1 - at(rows, 0)[2] / at(rows, 0)[1])} |
      | S8 | ${n(at(rows, 1)[1])} | ${n(at(rows, 1)[2])} | ${p(1 - at(rows, 1)[2] / at(rows, 1)[1])} |

      On both lines together ${p(1 - column(rows, 2) / column(rows, 1))} were on time [q1].`,
    ];
  }),
  told('6-goal', 'Have we reached the goal of 8,000 signups?', (dice) => {
    const signups = dice.between(5100, 7900);
    return [
      [rowsOf('q1', 'signups', [signups])],
      `Not yet: ${n(signups)} of 8,000 (${p(signups / 8000, 0)}). We are ${n(8000 - signups)} short [q1].`,
    ];
  }),
  told('6-two-years', 'What did we spend on cloud in 2023 and 2024?', (dice) => {
    const [a, b] = [dice.between(200_000, 900_000), dice.between(200_000, 900_000)];
    return [
      [rowsOf('q1', 'cloud_2023 cloud_2024', [a, b])],
      `$${s(a, k, 0)} in 2023 and $${s(b, k, 0)} in 2024: ${way(a, b, ['an increase', 'a decrease'])} of
      $${s(Math.abs(b - a), k, 0)} (${p(Math.abs(growth(a, b)))}). Per month we spent
      $${n(b / 12)} in 2024 [q1].`,
    ];
  }),
  told('6-tickets-agent', 'How many tickets does an agent solve?', (dice) => {
    const rows = ['Mia', 'Noor', 'Tom', 'Uma'].map(
      (name) => [name, dice.between(40, 160)] as const,
    );
    const best = at(
      [...rows].sort((left, right) => right[1] - left[1]),
      0,
    );
    return [
      [rowsOf('q1', 'agent solved', ...rows)],
      `The four agents solved ${n(column(rows, 1))} tickets, ${n(column(rows, 1) / 4, 1)} each on average.
      ${best[0]} solved the most, ${n(best[1])} (${p(best[1] / column(rows, 1), 0)}) [q1].`,
    ];
  }),
  told('6-delta-list', 'Which prices changed?', (dice) => {
    const rows = ['Bolt M6', 'Nut M6', 'Screw 4x40'].map(
      (name) => [name, dice.between(110, 500) / 100, dice.between(110, 500) / 100] as const,
    );
    const lines = rows.map(
      ([name, old, now]) => `- ${name}: $${n(old, 2)} → $${n(now, 2)} (${sn(now - old, 2)})`,
    );
    return [
      [rowsOf('q1', 'part old_price new_price', ...rows)],
      `${lines.join('\n')}

      [q1]`,
    ];
  }),
  told('6-de-bestand', 'Wie viele Räder stehen in den Werkstätten?', (dice) => {
    const rows = ranked(dice, 'Altstadt|Hafen|Bahnhof', [30, 300]);
    return [
      [rowsOf('q1', 'werkstatt raeder', ...rows)],
      `In den drei Werkstätten stehen ${de.n(sum(rows))} Räder, davon ${de.n(at(rows, 0)[1])} in der Altstadt
      (${de.p(at(rows, 0)[1] / sum(rows), 0)}), ${de.n(at(rows, 1)[1])} am Hafen und ${de.n(at(rows, 2)[1])} am
      Bahnhof [q1].`,
    ];
  }),
  told('6-de-quote', 'Wie viele Angebote wurden angenommen?', (dice) => {
    const all = dice.between(300, 900);
    const won = part(all, 0.2 + dice.next() / 4);
    return [
      [rowsOf('q1', 'angebote angenommen', [all, won])],
      `Von ${de.n(all)} Angeboten wurden ${de.n(won)} angenommen, das ist eine Quote von ${de.p(won / all)}.
      ${de.n(all - won)} Angebote (${de.p(1 - won / all)}) führten zu keinem Auftrag [q1].`,
    ];
  }),
  told('6-de-monat', 'Wie war der Juli im Vergleich zum Juni 2025?', (dice) => {
    const rows = walk(dice, '2025-06|2025-07', 50_000);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'monat umsatz', ...rows)],
      `Im Juli 2025 lag der Umsatz bei ${de.n(b)} €, das sind ${de.n(Math.abs(b - a))} €
      ${way(a, b, ['mehr', 'weniger'])} als im Juni (${de.n(a)} €), also ${de.sp(growth(a, b))} [q1].`,
    ];
  }),
  told('6-fr-billets', 'Combien de billets par tarif ?', (dice) => {
    const rows = ranked(dice, 'Plein|Réduit|Gratuit', [300, 9000]);
    return [
      [rowsOf('q1', 'tarif billets', ...rows)],
      `${fr.n(at(rows, 0)[1])} billets ont été vendus au tarif plein, ${fr.n(at(rows, 1)[1])} au tarif réduit et
      ${fr.n(at(rows, 2)[1])} étaient gratuits, soit ${fr.n(sum(rows))} billets. Le tarif plein représente
      ${fr.p(at(rows, 0)[1] / sum(rows))} [q1].`,
    ];
  }),
  told('6-fr-cout', 'Quel est le coût par élève ?', (dice) => {
    const [pupils, cost] = [dice.between(200, 900), dice.between(1_000_000, 4_000_000)];
    return [
      [rowsOf('q1', 'eleves cout_total', [pupils, cost])],
      `Le coût total de ${fr.n(cost)} € réparti sur ${fr.n(pupils)} élèves donne ${fr.n(cost / pupils)} € par élève
      [q1].`,
    ];
  }),
  told('6-es-barrios', '¿Qué barrio tiene más bicicletas?', (dice) => {
    const rows = ranked(dice, 'Centro|Norte|Playa', [200, 2000]);
    return [
      [rowsOf('q1', 'barrio bicicletas', ...rows)],
      `{m:Centro~Playa}, con ${es.n(at(rows, 0)[1])} bicicletas, ${es.n(at(rows, 0)[1] - at(rows, 1)[1])} más que
      Norte (${es.n(at(rows, 1)[1])}). Playa tiene ${es.n(at(rows, 2)[1])}; en total son ${es.n(sum(rows))} [q1].`,
    ];
  }),
  told('6-it-treni', 'Quanti viaggiatori nel 2024?', (dice) => {
    const [a, b] = [dice.between(20_000, 90_000), dice.between(20_000, 90_000)];
    return [
      [rowsOf('q1', 'anno viaggiatori', [2023, a], [2024, b])],
      `Nel 2024 i viaggiatori sono stati ${it.n(b)} contro ${it.n(a)} nel 2023: ${it.n(Math.abs(b - a))} in
      ${way(a, b, ['più', 'meno'])} (${it.sp(growth(a, b))}) [q1].`,
    ];
  }),
  told('6-nl-fietsen', 'Hoeveel procent kiest de fiets?', (dice) => {
    const rows = ranked(dice, 'auto|fiets|trein', [300, 4000]);
    return [
      [rowsOf('q1', 'vervoer ritten', ...rows)],
      `Van de ${nl.n(sum(rows))} ritten ging ${nl.p(at(rows, 1)[1] / sum(rows))} met de fiets (${nl.n(at(rows, 1)[1])})
      en ${nl.p(at(rows, 0)[1] / sum(rows))} met de auto (${nl.n(at(rows, 0)[1])}) [q1].`,
    ];
  }),
  told('6-ja-tenpo', '店舗別の来客数は？', (dice) => {
    const rows = ranked(dice, '渋谷店|新宿店|横浜店', [900, 9000]);
    return [
      [rowsOf('q1', '店舗 来客数', ...rows)],
      `来客数は渋谷店が${ja.n(at(rows, 0)[1])}人で最も多く、新宿店${ja.n(at(rows, 1)[1])}人、横浜店${ja.n(at(rows, 2)[1])}人と続きます。渋谷店は横浜店の${ja.n(at(rows, 0)[1] / at(rows, 2)[1], 1)}倍です [q1]。`,
    ];
  }),
  told('6-zh-bumen', '各部门的人数占比？', (dice) => {
    const rows = ranked(dice, '研发部|销售部|行政部', [30, 400]);
    return [
      [rowsOf('q1', '部门 人数', ...rows)],
      `公司共有${zh.n(sum(rows))}人：研发部${zh.n(at(rows, 0)[1])}人（${zh.p(at(rows, 0)[1] / sum(rows))}）、销售部${zh.n(at(rows, 1)[1])}人（${zh.p(at(rows, 1)[1] / sum(rows))}）、行政部${zh.n(at(rows, 2)[1])}人（${zh.p(at(rows, 2)[1] / sum(rows))}） [q1]。`,
    ];
  }),
  told('6-sessions', 'How long are sessions on each device?', (dice) => {
    const rows = ['phone', 'tablet', 'laptop'].map(
      (name) => [name, dice.between(1000, 9000), dice.between(70, 900)] as const,
    );
    const total = rows.reduce((all, [, sessions, seconds]) => all + sessions * seconds, 0);
    return [
      [rowsOf('q1', 'device sessions avg_seconds', ...rows)],
      `Phone sessions last ${n(at(rows, 0)[2] / 60, 1)} minutes on average, tablet sessions
      ${n(at(rows, 1)[2] / 60, 1)} and laptop sessions ${n(at(rows, 2)[2] / 60, 1)} minutes. Weighted by the
      ${n(column(rows, 1))} sessions that's ${n(total / column(rows, 1))} seconds [q1].`,
    ];
  }),
];
