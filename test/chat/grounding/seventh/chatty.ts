import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech, withSql } from '../third/kit.ts';
import { amounts, table, thrown, total } from './kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const k = [1e3, 'k'] as const;
const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const nl = speech('nl-NL', '');

/** Short answers, as in a chat, in several languages. */
export const chatty: readonly Telling[] = [
  told('7-short-yes', 'Are we above 10k followers yet?', (dice) => {
    const many = dice.between(10_100, 14_000);
    return [
      [rowsOf('q1', 'followers', [many])],
      `Yes! You're at ${n(many)}, so ${n(many - 10_000)} above the 10k mark [q1].`,
    ];
  }),
  told('7-short-pair', 'iOS or Android?', (dice) => {
    const rows = ranked(dice, 'Android|iOS', [3000, 9000]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'platform installs', ...rows)],
      `Android, by a margin of ${n(a - b)}: ${n(a)} installs vs ${n(b)} on iOS (a ${n((a / (a + b)) * 100)}/${n((b / (a + b)) * 100)}
      split) [q1].`,
    ];
  }),
  told('7-short-list', 'Top 3 error codes today?', (dice) => {
    const rows = ranked(dice, 'E1042|E2001|E0007', [200, 4000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'error_code occurrences', ...rows)],
      `E1042 (${n(a)}×), E2001 (${n(b)}×) and E0007 (${n(c)}×). Those three add up to ${n(a + b + c)} errors; E1042 alone is
      ${p(a / (a + b + c), 0)} of them [q1].`,
    ];
  }),
  told('7-short-last', 'How was yesterday?', (dice) => {
    const [a, b] = thrown(dice, [20_000, 60_000], [20_000, 60_000]);
    return [
      [rowsOf('q1', 'day revenue', ['2025-09-08', a], ['2025-09-09', b])],
      `Yesterday (Sep 9) you made $${s(b, k)}, ${way(a, b, ['up', 'down'])} ${p(Math.abs(growth(a, b)), 0)} from $${s(a, k)} the
      day before. That's $${n(Math.abs(b - a))} ${way(a, b, ['more', 'less'])} [q1].`,
    ];
  }),
  told('7-short-half', 'How many of the invited people came?', (dice) => {
    const all = dice.between(200, 600);
    const came = part(all, 0.52 + dice.next() / 30);
    return [
      [rowsOf('q1', 'invited attended', [all, came])],
      `A bit more than half: ${n(came)} of ${n(all)} (${p(came / all, 0)}). ${n(all - came)} stayed home [q1].`,
    ];
  }),
  told('7-short-three', 'Which three months were best?', (dice) => {
    const rows = walk(dice, '2024-01|2024-02|2024-03|2024-04|2024-05|2024-06', 30_000);
    const top = [...rows].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const names = new Map(
      ['January', 'February', 'March', 'April', 'May', 'June'].map((name, index) => [
        `2024-0${index + 1}`,
        name,
      ]),
    );
    const said = top.map(([month, value]) => `${names.get(month)} ($${n(value)})`);
    return [
      [rowsOf('q1', 'month sales', ...rows)],
      `The three strongest months were ${said.join(', ')}. They make up ${p(sum(top) / sum(rows))} of the $${n(sum(rows))} sold in
      the half year [q1].`,
    ];
  }),
  told('7-triple', 'Did Black Friday pay off?', (dice) => {
    const a = dice.between(9000, 20_000);
    const b = part(a, 3.1 + dice.next() / 3);
    return [
      [rowsOf('q1', 'day sales', ['2024-11-28', a], ['2024-11-29', b])],
      `Definitely: sales more than tripled, from $${n(a)} on Thursday to $${n(b)} on Black Friday (November 29), a factor of
      ${n(b / a, 2)} [q1].`,
    ];
  }),
  told('7-zero', 'Any failed payments last week?', (dice) => {
    const all = dice.between(3000, 9000);
    return [
      [rowsOf('q1', 'payments failed', [all, 0])],
      `None at all: 0 of ${n(all)} payments failed, so the failure rate is 0% [q1].`,
    ];
  }),
  told('7-cohort-line', 'How many trial users convert?', (dice) => {
    const trials = dice.between(900, 4000);
    const paid = part(trials, 0.1 + dice.next() / 9);
    const yearly = part(paid, 0.3 + dice.next() / 4);
    return [
      [rowsOf('q1', 'trials paid paid_yearly', [trials, paid, yearly])],
      `${p(paid / trials)} – that's ${n(paid)} out of ${n(trials)} trials. Of these, ${n(yearly)} (${p(yearly / paid)}) chose the
      yearly plan and ${n(paid - yearly)} the monthly one [q1].`,
    ];
  }),
  told('7-code', 'How many rows does table order_items_v2 have?', (dice) => {
    const rows = dice.between(2_000_000, 9_000_000);
    return [
      [rowsOf('q1', 'row_count', [rows])],
      `\`order_items_v2\` has ${n(rows)} rows (≈ ${n(rows / 1e6, 1)} million) [q1].`,
    ];
  }),
  told('7-week', 'Compare week 22 and week 23.', (dice) => {
    const rows = [
      ['2025-W22', dice.between(400, 900), dice.between(20_000, 60_000)],
      ['2025-W23', dice.between(400, 900), dice.between(20_000, 60_000)],
    ] as const;
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'week orders revenue', ...rows)],
      `Week 23 had ${n(b)} orders worth $${n(y)}; week 22 had ${n(a)} worth $${n(x)}. So orders changed by ${sp(growth(a, b))} and
      revenue by ${sp(growth(x, y))}. Average order value: $${n(x / a, 2)} → $${n(y / b, 2)} [q1].`,
    ];
  }),
  told('7-de-kurz', 'Wie viele Bestellungen hatten wir im Mai?', (dice) => {
    const [a, b] = thrown(dice, [2000, 6000], [2000, 6000]);
    return [
      [rowsOf('q1', 'monat bestellungen', ['2025-04', a], ['2025-05', b])],
      `Im Mai 2025 waren es ${de.n(b)} Bestellungen, ${de.n(Math.abs(b - a))} ${way(a, b, ['mehr', 'weniger'])} als im April
      (${de.n(a)}). Pro Tag sind das im Mai rund ${de.n(b / 31)} Bestellungen [q1].`,
    ];
  }),
  told('7-de-drittel', 'Wie groß ist der Anteil der Neukunden?', (dice) => {
    const all = dice.between(3000, 9000);
    const fresh = part(all, 0.32 + dice.next() / 80);
    return [
      [rowsOf('q1', 'kunden neukunden', [all, fresh])],
      `Knapp ein Drittel der Kunden ist neu: ${de.n(fresh)} von ${de.n(all)} (${de.p(fresh / all)}). Die übrigen
      ${de.n(all - fresh)} sind Bestandskunden [q1].`,
    ];
  }),
  told('7-de-spanne', 'In welcher Spanne liegen die Stundensätze?', (dice) => {
    const rows = ranked(dice, 'Beratung|Entwicklung|Support', [45, 190]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'rolle stundensatz', ...rows)],
      `Die Stundensätze liegen zwischen ${de.n(c)} € (Support) und ${de.n(a)} € (Beratung). Die Entwicklung kostet ${de.n(b)} €.
      Im Mittel sind das ${de.n((a + b + c) / 3, 2)} € [q1].`,
    ];
  }),
  told('7-fr-court', 'Combien de clients actifs ?', (dice) => {
    const [all, active] = [dice.between(5000, 9000), dice.between(1500, 4500)];
    return [
      [rowsOf('q1', 'clients clients_actifs', [all, active])],
      `${fr.n(active)} clients sur ${fr.n(all)} sont actifs, soit ${fr.p(active / all)}. Il reste donc ${fr.n(all - active)}
      clients inactifs [q1].`,
    ];
  }),
  told('7-fr-objectif', 'Où en sommes-nous par rapport à l’objectif de 500 000 € ?', (dice) => {
    const done = dice.between(210_000, 460_000);
    return [
      [rowsOf('q1', 'ventes', [done])],
      `Nous en sommes à ${fr.n(done)} €, c’est-à-dire ${fr.p(done / 500_000)} de l’objectif. Il manque encore
      ${fr.n(500_000 - done)} € [q1].`,
    ];
  }),
  told('7-es-corto', '¿Cuánto falta para llegar a 2.000 altas?', (dice) => {
    const done = dice.between(900, 1800);
    return [
      [rowsOf('q1', 'altas', [done])],
      `Llevamos ${es.n(done)} altas, así que faltan ${es.n(2000 - done)} para llegar a las 2.000 (vamos al
      ${es.p(done / 2000)}) [q1].`,
    ];
  }),
  told('7-it-mese', 'Come è andato marzo rispetto a febbraio?', (dice) => {
    const rows = walk(dice, '2025-02|2025-03', 50_000);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'mese vendite', ...rows)],
      `A marzo le vendite sono state di ${it.n(b)} €, ${way(a, b, ['in aumento', 'in calo'])} del ${it.p(Math.abs(growth(a, b)))}
      rispetto ai ${it.n(a)} € di febbraio. In media ${it.n(b / 31)} € al giorno [q1].`,
    ];
  }),
  told('7-nl-doel', 'Halen we het doel van 1.500 inschrijvingen?', (dice) => {
    const done = dice.between(700, 1400);
    return [
      [rowsOf('q1', 'inschrijvingen', [done])],
      `Nog niet: er zijn ${nl.n(done)} inschrijvingen, dat is ${nl.p(done / 1500)} van het doel. We komen er nog
      ${nl.n(1500 - done)} tekort [q1].`,
    ];
  }),
  told('7-budget', 'How much of the 80k training budget is left?', (dice) => {
    const rows = table(dice, 'Courses|Travel|Books', [9000, 30_000], [3, 40]);
    const [a, b, c] = amounts(rows);
    const all = total([a, b, c]);
    return [
      [
        withSql(
          'SELECT item, sum(amount) AS spent, count(*) AS bookings FROM training WHERE year = 2025 GROUP BY 1',
          rowsOf('q1', 'item spent bookings', ...rows),
        ),
      ],
      `So far $${n(all)} of the $80k has been spent (${p(all / 80_000)}): $${n(a)} on courses, $${n(b)} on travel and $${n(c)} on
      books. ${all > 80_000 ? `You're $${n(all - 80_000)} over.` : `$${n(80_000 - all)} is left.`} [q1]`,
    ];
  }),
];
