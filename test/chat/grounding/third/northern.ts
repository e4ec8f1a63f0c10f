import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from './kit.ts';

const de = speech('de-DE', ' ');
const nl = speech('nl-NL', '');
const pl = speech('pl-PL', '');
const sv = speech('sv-SE', ' ');
const mio = [1e6, ' Mio.'] as const;
const tsd = [1e3, ' Tsd.'] as const;

export const northern: readonly Telling[] = [
  told('3-de-kurz', 'Wie viele offene Rechnungen gibt es?', (dice) => {
    const [open, value] = [dice.between(110, 890), dice.between(100_000, 900_000)];
    return [
      [rowsOf('q1', 'offen summe', [open, value])],
      `Es gibt ${de.n(open)} offene Rechnungen über zusammen ${de.n(value)} €. [q1]`,
    ];
  }),
  told(
    '3-de-vorjahr',
    'Wie hat sich der Umsatz im 2. Quartal 2025 zum Vorjahr entwickelt?',
    (dice) => {
      const [a, b] = [dice.between(2_000_000, 5_000_000), dice.between(2_000_000, 5_000_000)];
      return [
        [rowsOf('q1', 'quartal umsatz', ['2024-Q2', a], ['2025-Q2', b])],
        `Im 2. Quartal 2025 lag der Umsatz bei ${de.s(b, mio, 2)} €, im Vorjahresquartal bei
      ${de.s(a, mio, 2)} €. Das ist ein ${way(a, b, ['Plus', 'Minus'])} von
      ${de.p(Math.abs(growth(a, b)))} bzw. rund ${de.s(Math.abs(b - a), tsd, 0)} € [q1].`,
      ];
    },
  ),
  told('3-de-tabelle', 'Umsatz und Anteil je Vertriebskanal 2024?', (dice) => {
    const rows = ranked(dice, 'Onlineshop|Filialen|Großhandel', [300_000, 4_000_000]);
    const lines = rows.map(
      ([name, value]) => `| ${name} | ${de.n(value)} € | ${de.p(value / sum(rows))} |`,
    );
    return [
      [rowsOf('q1', 'kanal umsatz_2024', ...rows)],
      `| Kanal | Umsatz 2024 | Anteil |
      |---|---:|---:|
      ${lines.join('\n')}
      | **Summe** | **${de.n(sum(rows))} €** | **100 %** |

      Der stärkste Kanal ist {m:Onlineshop~Großhandel}; er liegt ${de.n(at(rows, 0)[1] - at(rows, 1)[1])} €
      vor den Filialen [q1].`,
    ];
  }),
  told('3-de-lager', 'Welche Artikel sind unter dem Mindestbestand von 50 Stück?', (dice) => {
    const rows = ['4711-A', '4712-B'].map((name) => [name, dice.between(3, 49)] as const);
    return [
      [
        withSql(
          'SELECT artikel, bestand FROM lager WHERE bestand < 50',
          rowsOf('q1', 'artikel bestand', ...rows),
        ),
      ],
      `Zwei Artikel liegen unter 50 Stück: 4711-A mit ${de.n(at(rows, 0)[1])} und 4712-B mit
      ${de.n(at(rows, 1)[1])} Stück. Es fehlen ${de.n(50 - at(rows, 0)[1])} bzw.
      ${de.n(50 - at(rows, 1)[1])} Stück bis zum Mindestbestand [q1].`,
    ];
  }),
  told('3-de-dauer', 'Wie lange dauert die Bearbeitung eines Antrags?', (dice) => {
    const [mean, median] = [dice.between(60, 190) / 10, dice.between(40, 59) / 10];
    const slow = dice.between(30, 90);
    return [
      [rowsOf('q1', 'mittel_tage median_tage max_tage', [mean, median, slow])],
      `Im Schnitt ${de.n(mean, 1)} Tage, im Median ${de.n(median, 1)} Tage. Der langsamste Antrag brauchte
      ${de.n(slow)} Tage, also gut ${de.n(Math.floor(slow / 7))} Wochen [q1].`,
    ];
  }),
  told('3-de-quote', 'Wie viele Züge waren im März 2025 pünktlich?', (dice) => {
    const all = dice.between(12_000, 40_000);
    const good = part(all, 0.6 + dice.next() / 5);
    return [
      [
        withSql(
          "SELECT COUNT(*) AS fahrten, COUNT(*) FILTER (WHERE verspaetung_min < 6) AS puenktlich FROM fahrten WHERE tag BETWEEN '2025-03-01' AND '2025-03-31'",
          rowsOf('q1', 'fahrten puenktlich', [all, good]),
        ),
      ],
      `Vom 1. bis 31. März 2025 waren ${de.n(good)} von ${de.n(all)} Fahrten pünktlich (${de.p(good / all)}),
      d. h. mit weniger als 6 Minuten Verspätung. ${de.n(all - good)} Fahrten kamen zu spät [q1].`,
    ];
  }),
  told('3-de-pp', 'Wie hat sich die Retourenquote verändert?', (dice) => {
    const [s1, s2] = [dice.between(9000, 20_000), dice.between(9000, 20_000)];
    const [r1, r2] = [part(s1, 0.08 + dice.next() / 12), part(s2, 0.08 + dice.next() / 12)];
    return [
      [rowsOf('q1', 'jahr verkauft retouren', [2023, s1, r1], [2024, s2, r2])],
      `Die Retourenquote ${way(r1 / s1, r2 / s2, ['stieg', 'sank'])} von ${de.p(r1 / s1)} (2023) auf
      ${de.p(r2 / s2)} (2024), um ${de.n(Math.abs(r2 / s2 - r1 / s1) * 100, 1)} Prozentpunkte [q1].`,
    ];
  }),
  told('3-de-wetter', 'Wie warm war es im Juli?', (dice) => {
    const [high, low] = [dice.between(290, 370) / 10, dice.between(60, 120) / 10];
    const mean = dice.between(170, 220) / 10;
    return [
      [rowsOf('q1', 'monat max_c min_c mittel_c', ['2024-07', high, low, mean])],
      `Im Juli 2024 lag die Temperatur im Mittel bei ${de.n(mean, 1)} °C, zwischen ${de.n(low, 1)} °C und
      ${de.n(high, 1)} °C. Die Spanne beträgt ${de.n(high - low, 1)} Grad [q1].`,
    ];
  }),
  told('3-de-chf', 'Was kosten die Lizenzen pro Nutzer?', (dice) => {
    const [cost, users] = [dice.between(40_000, 90_000), dice.between(110, 390)];
    return [
      [rowsOf('q1', 'lizenzkosten_chf nutzer', [cost, users])],
      `CHF ${speech('de-CH', '').n(cost)} für ${de.n(users)} Nutzer, also ca.
      CHF ${speech('de-CH', '').n(cost / users, 2)} pro Nutzer und Jahr, monatlich
      CHF ${speech('de-CH', '').n(cost / users / 12, 2)} [q1].`,
    ];
  }),
  told('3-nl-omzet', 'Wat was de omzet per regio in 2024?', (dice) => {
    const rows = ranked(dice, 'Randstad|Brabant|Limburg', [200_000, 3_000_000]);
    return [
      [rowsOf('q1', 'regio omzet', ...rows)],
      `De omzet in 2024 was € ${nl.n(sum(rows))}, waarvan € ${nl.n(at(rows, 0)[1])}
      (${nl.p(at(rows, 0)[1] / sum(rows))}) in de {m:Randstad~Limburg}. Brabant volgt met
      € ${nl.s(at(rows, 1)[1], [1e6, ' miljoen'], 2)}, Limburg is de kleinste regio met
      € ${nl.n(at(rows, 2)[1])} [q1].`,
    ];
  }),
  told('3-nl-ziek', 'Hoe hoog is het ziekteverzuim?', (dice) => {
    const days = dice.between(20_000, 60_000);
    const sick = part(days, 0.03 + dice.next() / 30);
    return [
      [rowsOf('q1', 'werkdagen ziektedagen', [days, sick])],
      `Het ziekteverzuim is ${nl.p(sick / days)}: ${nl.n(sick)} ziektedagen op ${nl.n(days)}
      werkdagen [q1].`,
    ];
  }),
  told('3-nl-groei', 'Hoeveel leden kwamen er bij?', (dice) => {
    const a = dice.between(2000, 5000);
    const b = a + dice.between(200, 900);
    return [
      [rowsOf('q1', 'peildatum leden', ['2024-12-31', a], ['2025-06-30', b])],
      `Tussen 31 december 2024 en 30 juni 2025 kwamen er ${nl.n(b - a)} leden bij: van ${nl.n(a)} naar
      ${nl.n(b)}, een groei van ${nl.p(growth(a, b))}. Dat zijn er gemiddeld zo'n ${nl.n((b - a) / 6)} per
      maand [q1].`,
    ];
  }),
  told('3-pl-sprzedaz', 'Jaka była sprzedaż w maju 2025?', (dice) => {
    const [a, b] = [dice.between(200_000, 900_000), dice.between(200_000, 900_000)];
    return [
      [rowsOf('q1', 'miesiac sprzedaz', ['2025-04', a], ['2025-05', b])],
      `Sprzedaż w maju 2025 r. wyniosła ${pl.n(b)} zł, czyli o ${pl.n(Math.abs(b - a))} zł
      ${way(a, b, ['więcej', 'mniej'])} niż w kwietniu (${pl.n(a)} zł). Zmiana:
      ${pl.sp(growth(a, b))} [q1].`,
    ];
  }),
  told('3-pl-udzial', 'Jaki udział mają zwroty?', (dice) => {
    const all = dice.between(3000, 20_000);
    const back = part(all, 0.04 + dice.next() / 20);
    return [
      [rowsOf('q1', 'zamowienia zwroty', [all, back])],
      `Na ${pl.n(all)} zamówień przypada ${pl.n(back)} zwrotów, co daje ${pl.p(back / all, 2)}, czyli mniej
      więcej jeden zwrot na ${pl.n(all / back)} zamówień [q1].`,
    ];
  }),
  told('3-sv-kunder', 'Hur många kunder har vi per stad?', (dice) => {
    const rows = ranked(dice, 'Stockholm|Göteborg|Malmö', [900, 9000]);
    return [
      [rowsOf('q1', 'stad kunder', ...rows)],
      `Vi har totalt ${sv.n(sum(rows))} kunder: ${sv.n(at(rows, 0)[1])} i Stockholm
      (${sv.p(at(rows, 0)[1] / sum(rows), 0)}), ${sv.n(at(rows, 1)[1])} i Göteborg och ${sv.n(at(rows, 2)[1])} i
      Malmö [q1].`,
    ];
  }),
  told('3-de-monate', 'Welche Monate 2024 waren am stärksten?', (dice) => {
    const rows = walk(dice, '2024-09|2024-10|2024-11|2024-12', 400_000);
    const names = ['September', 'Oktober', 'November', 'Dezember'];
    const order = [...rows].sort((left, right) => right[1] - left[1]);
    const name = (index: number) => names[rows.indexOf(at(order, index))] ?? '';
    return [
      [rowsOf('q1', 'monat erloes', ...rows)],
      `1. {p:${name(0)}~${name(3)}} 2024 mit ${de.n(at(order, 0)[1])} €
      2. ${name(1)} 2024 mit ${de.n(at(order, 1)[1])} €

      Zusammen kommen die beiden Monate auf ${de.p(sum(order.slice(0, 2)) / sum(rows), 0)} des Erlöses von
      September bis Dezember (${de.n(sum(rows))} €) [q1].`,
    ];
  }),
  told('3-de-schueler', 'Wie viele Kinder kommen auf eine Lehrkraft?', (dice) => {
    const rows = ['Nord', 'Süd'].map(
      (name) => [name, dice.between(300, 900), dice.between(18, 49)] as const,
    );
    return [
      [rowsOf('q1', 'schule kinder lehrkraefte', ...rows)],
      `An der Schule Nord sind es ${de.n(at(rows, 0)[1] / at(rows, 0)[2], 1)} Kinder je Lehrkraft
      (${de.n(at(rows, 0)[1])} zu ${de.n(at(rows, 0)[2])}), an der Schule Süd
      ${de.n(at(rows, 1)[1] / at(rows, 1)[2], 1)}. Beide Schulen zusammen:
      ${de.n(column(rows, 1) / column(rows, 2), 1)} [q1].`,
    ];
  }),
];
