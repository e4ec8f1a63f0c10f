import { rowsOf, writer } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from './kit.ts';

const de = writer('de-DE');
const nl = writer('nl-NL');
const pl = writer('pl-PL');
const sv = writer('sv-SE');
const mio = [1e6, ' Mio.'] as const;

export const northern: readonly Telling[] = [
  told('de-umsatz', 'Wie hoch war der Umsatz je Land?', (dice) => {
    const rows = ranked(dice, 'Deutschland|Österreich|Schweiz', [400_000, 5_000_000]);
    return [
      [rowsOf('q1', 'land umsatz', ...rows)],
      `Der Umsatz betrug insgesamt ${de.n(sum(rows))} €. Davon entfielen ${de.s(at(rows, 0)[1], mio)} €
      (${de.p(at(rows, 0)[1] / sum(rows))}) auf {m:Deutschland~Schweiz},
      ${de.s(at(rows, 1)[1], mio, 2)} € auf Österreich und ${de.n(at(rows, 2)[1])} € auf die Schweiz [q1].`,
    ];
  }),
  told('de-wachstum', 'Sind die Bestellungen gewachsen?', (dice) => {
    const [a, b] = [dice.between(21_000, 66_000), dice.between(21_000, 66_000)];
    return [
      [rowsOf('q1', 'jahr bestellungen', [2023, a], [2024, b])],
      `Die Bestellungen sind von ${de.n(a)} im Jahr 2023 auf ${de.n(b)} im Jahr 2024
      ${way(a, b, ['gestiegen', 'gesunken'])}, das entspricht ${de.p(Math.abs(growth(a, b)))} [q1].`,
    ];
  }),
  told('de-quartal', 'Wie lief das 1. Halbjahr 2025?', (dice) => {
    const rows = walk(dice, '2025-Q1|2025-Q2', 2_400_000);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'quartal erloes', ...rows)],
      `Im 1. Quartal lag der Erlös bei ${de.n(a)} €, im 2. Quartal bei ${de.n(b)} €. Zusammen sind das
      rund ${de.s(a + b, mio)} € im ersten Halbjahr. Der Unterschied zwischen beiden Quartalen
      beträgt ${de.n(Math.abs(b - a))} € [q1].`,
    ];
  }),
  told('de-ausschuss', 'Wie hoch ist der Ausschuss?', (dice) => {
    const [all, bad] = [dice.between(30_000, 90_000), dice.between(310, 1900)];
    return [
      [rowsOf('q1', 'teile ausschuss', [all, bad])],
      `Von ${de.n(all)} gefertigten Teilen waren ${de.n(bad)} Ausschuss (${de.p(bad / all, 2)});
      ${de.n(all - bad)} Teile waren in Ordnung. Auf 1.000 Teile kommen also etwa
      ${de.n((bad / all) * 1000)} fehlerhafte [q1].`,
    ];
  }),
  told('de-fehlt', 'Wie viele Mitarbeiter haben im Mai 2025 gekündigt?', (dice) => {
    const all = dice.between(210, 990);
    return [
      [rowsOf('q1', 'mitarbeiter', [all])],
      `Das lässt sich nicht beantworten: Kündigungen werden nirgends gespeichert. Bekannt ist nur die Zahl
      der aktiven Mitarbeiter, derzeit ${de.n(all)} [q1].`,
    ];
  }),
  told('de-doppelt', 'Wie hat sich der Webshop entwickelt?', (dice) => {
    const a = dice.between(300_000, 480_000);
    const b = Math.round(a * (2.01 + dice.next() / 20));
    return [
      [rowsOf('q1', 'jahr webshop_umsatz', [2022, a], [2024, b])],
      `Der Umsatz im Webshop hat sich in 2 Jahren verdoppelt: von ${de.n(a)} € (2022) auf ${de.n(b)} €
      (2024). Das sind ${de.p(growth(a, b), 0)} mehr bzw. im Schnitt ${de.p(Math.sqrt(b / a) - 1)} pro
      Jahr [q1].`,
    ];
  }),
  told('de-tabelle', 'Top 3 Kunden nach Umsatz', (dice) => {
    const rows = ranked(dice, 'Bauer KG|Möller AG|Ziegler OHG', [60_000, 880_000]);
    const rest = dice.between(300_000, 900_000);
    const total = sum(rows) + rest;
    return [
      [rowsOf('q1', 'kunde umsatz', ...rows), rowsOf('q2', 'gesamtumsatz', [total])],
      `| Rang | Kunde | Umsatz | Anteil |
      |---|---|---|---|
      ${rows
        .map(
          ([kunde, umsatz], index) =>
            `| ${index + 1} | ${kunde} | ${de.n(umsatz)} € | ${de.p(umsatz / total)} |`,
        )
        .join('\n')}

      Die drei Kunden machen ${de.p(sum(rows) / total)} des Gesamtumsatzes von ${de.n(total)} € aus
      [q1] {c:[q2]~[q4]}.`,
    ];
  }),
  told('de-dauer', 'Wie lange dauert eine Reparatur?', (dice) => {
    const [mean, max] = [dice.between(31, 89) / 10 + 0.0417, dice.between(21, 48)];
    return [
      [rowsOf('q1', 'mittlere_tage max_tage reparaturen', [mean, max, 734])],
      `Eine Reparatur dauert im Mittel ${de.n(mean, 1)} Tage, höchstens aber {${max}} Tage. Grundlage sind
      {734} Reparaturen [q1].`,
    ];
  }),
  told('nl-omzet', 'Hoe ontwikkelde de omzet zich per maand?', (dice) => {
    const rows = walk(dice, '2025-03|2025-04', 310_000);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'maand omzet', ...rows)],
      `De omzet in {p:maart~augustus} was € ${nl.n(a)} en in april € ${nl.n(b)}. Dat is een verschil van
      € ${nl.n(Math.abs(b - a))}, oftewel ${nl.p(Math.abs(growth(a, b)))} [q1].`,
    ];
  }),
  told('nl-klanten', 'Hoeveel klanten zijn actief?', (dice) => {
    const [all, active] = [dice.between(4000, 9000), dice.between(900, 3600)];
    return [
      [rowsOf('q1', 'klanten actief', [all, active])],
      `Van de ${nl.n(all)} klanten zijn er ${nl.n(active)} actief (${nl.p(active / all)}). De overige
      ${nl.n(all - active)} hebben de laatste 12 maanden niets besteld [q1].`,
    ];
  }),
  told('pl-sprzedaz', 'Jaka była sprzedaż w regionach?', (dice) => {
    const rows = ranked(dice, 'Mazowsze|Śląsk|Pomorze', [100_000, 2_000_000]);
    return [
      [rowsOf('q1', 'region sprzedaz', ...rows)],
      `Najwięcej sprzedało {m:Mazowsze~Pomorze}: ${pl.n(at(rows, 0)[1])} zł, czyli
      ${pl.p(at(rows, 0)[1] / sum(rows), 1, '%')} całości. Na drugim miejscu jest Śląsk
      (${pl.n(at(rows, 1)[1])} zł), na trzecim Pomorze (${pl.n(at(rows, 2)[1])} zł). Razem:
      ${pl.s(sum(rows), [1e6, ' mln'], 2)} zł [q1].`,
    ];
  }),
  told('pl-wzrost', 'Czy liczba zamówień wzrosła?', (dice) => {
    const [a, b] = [dice.between(11_000, 29_000), dice.between(11_000, 29_000)];
    return [
      [rowsOf('q1', 'rok zamowienia', [2023, a], [2024, b])],
      `Liczba zamówień ${way(a, b, ['wzrosła', 'spadła'])} z ${pl.n(a)} w 2023 r. do ${pl.n(b)} w 2024 r.,
      czyli o ${pl.p(Math.abs(growth(a, b)), 1, '%')} [q1].`,
    ];
  }),
  told('sv-order', 'Hur många order kom in i maj?', (dice) => {
    const [orders, value] = [dice.between(1200, 8800), dice.between(900_000, 4_400_000)];
    return [
      [rowsOf('q1', 'order varde', [orders, value])],
      `I {p:maj~september} kom ${sv.n(orders)} order in till ett värde av ${sv.n(value)} kr, alltså
      i snitt ${sv.n(value / orders)} kr per order [q1].`,
    ];
  }),
];
