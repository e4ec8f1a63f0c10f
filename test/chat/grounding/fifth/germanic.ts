import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from '../third/kit.ts';

const de = speech('de-DE', ' ');
const nl = speech('nl-NL', '');
const sv = speech('sv-SE', ' ');
const mio = [1e6, ' Mio.'] as const;
const tsd = [1e3, ' Tsd.'] as const;
const mrd = [1e9, ' Mrd.'] as const;

export const germanic: readonly Telling[] = [
  told('5-de-zusammen', 'Wie verteilen sich die Buchungen auf die Häuser?', (dice) => {
    const rows = ranked(dice, 'Seeblick|Bergfried|Stadthof|Waldruh', [900, 9000]);
    const rest = sum(rows) - at(rows, 0)[1];
    return [
      [rowsOf('q1', 'haus buchungen', ...rows)],
      `Auf {m:Seeblick~Waldruh} entfallen ${de.n(at(rows, 0)[1])} Buchungen
      (${de.p(at(rows, 0)[1] / sum(rows))}). Die drei anderen Häuser kommen zusammen auf ${de.n(rest)}
      Buchungen. Insgesamt sind es ${de.n(sum(rows))}, im Schnitt ${de.n(sum(rows) / 4)} je Haus [q1].`,
    ];
  }),
  told('5-de-mehr-als', 'Wie viele Verträge haben wir in Nord und Süd?', (dice) => {
    const rows = ranked(dice, 'Süd|Nord', [10_000, 90_000]);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'gebiet vertraege', ...rows)],
      `Im Süden sind es ${de.n(a)} Verträge, im Norden ${de.n(b)}. Der Süden hat damit ${de.n(a - b)} Verträge
      mehr, das sind ${de.p(growth(b, a))} [q1].`,
    ];
  }),
  told('5-de-mrd', 'Wie hoch ist das Anlagevolumen?', (dice) => {
    const rows = ranked(dice, 'Aktien|Anleihen|Immobilien', [400_000_000, 4_000_000_000]);
    return [
      [rowsOf('q1', 'klasse volumen', ...rows)],
      `Das Anlagevolumen beträgt ${de.s(sum(rows), mrd, 2)} Euro. Davon stecken ${de.s(at(rows, 0)[1], mrd, 2)}
      Euro in Aktien (${de.p(at(rows, 0)[1] / sum(rows), 0)}), ${de.s(at(rows, 1)[1], mio, 0)} Euro in Anleihen und
      ${de.s(at(rows, 2)[1], mio, 0)} Euro in Immobilien [q1].`,
    ];
  }),
  told('5-de-tabelle', 'Krankentage je Abteilung?', (dice) => {
    const rows = ['Lager', 'Versand', 'Büro'].map(
      (name) => [name, dice.between(20, 90), dice.between(100, 900)] as const,
    );
    const lines = rows.map(
      ([name, people, days]) =>
        `| ${name} | ${de.n(people)} | ${de.n(days)} | ${de.n(days / people, 1)} |`,
    );
    return [
      [rowsOf('q1', 'abteilung personen krankentage', ...rows)],
      `| Abteilung | Personen | Krankentage | Tage je Person |
      |---|--:|--:|--:|
      ${lines.join('\n')}
      | Summe | ${de.n(column(rows, 1))} | ${de.n(column(rows, 2))} | ${de.n(column(rows, 2) / column(rows, 1), 1)} |

      [q1]`,
    ];
  }),
  told('5-de-datum', 'Wann war der letzte Stromausfall?', (dice) => {
    const minutes = dice.between(21, 58);
    const rows = dice.between(3, 9);
    return [
      [
        rowsOf('q1', 'beginn dauer_min', ['2025-03-14T06:20:00', minutes]),
        rowsOf('q2', 'ausfaelle', [rows]),
      ],
      `Der letzte Stromausfall war am {p:14. März 2025~24. März 2025} und dauerte ${de.n(minutes)} Minuten [q1].
      Bisher gab es ${de.n(rows)} Ausfälle [q2].`,
    ];
  }),
  told('5-de-drittel', 'Welcher Teil der Anrufe wird nicht angenommen?', (dice) => {
    const missed = dice.between(1000, 2000);
    const all = missed * 3 + dice.between(1, 30);
    return [
      [rowsOf('q1', 'anrufe verpasst', [all, missed])],
      `Rund ein Drittel: Von ${de.n(all)} Anrufen wurden ${de.n(missed)} nicht angenommen (${de.p(missed / all)}),
      ${de.n(all - missed)} dagegen schon [q1].`,
    ];
  }),
  told('5-de-quartale', 'Umsatz je Quartal 2024 mit Veränderung?', (dice) => {
    const rows = walk(dice, '2024-Q1|2024-Q2|2024-Q3|2024-Q4', 700_000);
    const lines = rows.map(([name, value], index) => {
      const before = rows[index - 1];
      const change = before === undefined ? '' : ` (${de.sp(growth(before[1], value))})`;
      return `- Q${name.slice(-1)}: ${de.s(value, tsd, 0)} €${change}`;
    });
    return [
      [rowsOf('q1', 'quartal umsatz', ...rows)],
      `${lines.join('\n')}

      Im Gesamtjahr 2024 waren es ${de.s(sum(rows), mio, 2)} €. Das vierte Quartal lag
      ${de.p(Math.abs(growth(at(rows, 0)[1], at(rows, 3)[1])))}
      ${way(at(rows, 0)[1], at(rows, 3)[1], ['über', 'unter'])} dem ersten [q1].`,
    ];
  }),
  told('5-de-pro-kopf', 'Wie viel Müll fällt pro Einwohner an?', (dice) => {
    const rows = ['Ahlen', 'Beckum'].map(
      (name) => [name, dice.between(20_000, 60_000), dice.between(6000, 20_000)] as const,
    );
    const kg = (index: number) => (at(rows, index)[2] * 1000) / at(rows, index)[1];
    return [
      [rowsOf('q1', 'stadt einwohner tonnen', ...rows)],
      `In Ahlen fielen ${de.n(at(rows, 0)[2])} t an, also ${de.n(kg(0))} kg pro Einwohner, in Beckum
      ${de.n(at(rows, 1)[2])} t bzw. ${de.n(kg(1))} kg pro Einwohner [q1].`,
    ];
  }),
  told('5-de-rang', 'Auf welchem Platz liegt Filiale 12?', (dice) => {
    const rows = ranked(dice, 'Filiale 07|Filiale 31|Filiale 12|Filiale 02', [80_000, 400_000]);
    return [
      [rowsOf('q1', 'filiale umsatz', ...rows)],
      `Filiale 12 liegt mit ${de.n(at(rows, 2)[1])} € auf Platz 3 von 4. Zum zweiten Platz (Filiale 31,
      ${de.n(at(rows, 1)[1])} €) fehlen ${de.n(at(rows, 1)[1] - at(rows, 2)[1])} € [q1].`,
    ];
  }),
  told('5-de-spanne', 'Zwischen welchen Werten lag die Auslastung?', (dice) => {
    const rows = ['KW 18', 'KW 19', 'KW 20', 'KW 21'].map(
      (week) => [week, dice.between(400, 980) / 10] as const,
    );
    const sorted = rows.map(([, value]) => value).sort((left, right) => left - right);
    return [
      [rowsOf('q1', 'woche auslastung_prozent', ...rows)],
      `Die Auslastung lag in den KW 18 bis 21 zwischen ${de.n(at(sorted, 0), 1)} und
      ${de.n(at(sorted, 3), 1)} %, im Mittel bei ${de.n(column(rows, 1) / 4, 1)} %. Die Spanne beträgt
      ${de.n(at(sorted, 3) - at(sorted, 0), 1)} Prozentpunkte [q1].`,
    ];
  }),
  told('5-de-ersparnis', 'Was spart der neue Tarif?', (dice) => {
    const [old, fresh] = [dice.between(4000, 6000), dice.between(3000, 3900)];
    return [
      [rowsOf('q1', 'tarif monatskosten', ['alt', old], ['neu', fresh])],
      `Statt ${de.n(old)} € zahlen wir ${de.n(fresh)} € im Monat. Das spart ${de.n(old - fresh)} € monatlich, also
      ${de.n((old - fresh) * 12)} € im Jahr (${de.p((old - fresh) / old)}) [q1].`,
    ];
  }),
  told('5-de-frage', 'Haben wir die 500 Anmeldungen bis 31. Mai 2025 erreicht?', (dice) => {
    const rows = ['2025-04', '2025-05'].map((month) => [month, dice.between(110, 240)] as const);
    const total = column(rows, 1);
    return [
      [rowsOf('q1', 'monat anmeldungen', ...rows)],
      `Nein, bis zum 31. Mai 2025 waren es ${de.n(total)} von 500 Anmeldungen (${de.p(total / 500)}):
      ${de.n(at(rows, 0)[1])} im April und ${de.n(at(rows, 1)[1])} im Mai. Es fehlten noch ${de.n(500 - total)}
      [q1].`,
    ];
  }),
  told('5-de-worte', 'Wie viele Standorte haben mehr als 100 Beschäftigte?', (dice) => {
    const rows = 'Jena|Ulm|Trier|Hof|Emden'
      .split('|')
      .map((name) => [name, dice.between(101, 400)] as const);
    return [
      [
        withSql(
          'SELECT standort, beschaeftigte FROM standorte WHERE beschaeftigte > 100',
          rowsOf('q1', 'standort beschaeftigte', ...rows),
        ),
      ],
      `Fünf Standorte haben mehr als 100 Beschäftigte: ${rows
        .map(([name, value]) => `${name} (${de.n(value)})`)
        .join(', ')}. Das sind zusammen ${de.n(column(rows, 1))} Personen [q1].`,
    ];
  }),
  told('5-de-verhaeltnis', 'Wie ist das Verhältnis von Stornos zu Bestellungen?', (dice) => {
    const [orders, cancelled] = [dice.between(20_000, 80_000), dice.between(600, 1900)];
    return [
      [rowsOf('q1', 'bestellungen stornos', [orders, cancelled])],
      `Auf ${de.n(orders)} Bestellungen kamen ${de.n(cancelled)} Stornos, das entspricht ${de.p(cancelled / orders, 2)}
      oder einem Storno auf ${de.n(orders / cancelled)} Bestellungen [q1].`,
    ];
  }),
  told('5-nl-vergelijk', 'Hoeveel bezoekers hadden de twee filialen in mei?', (dice) => {
    const rows = ranked(dice, 'Utrecht|Breda', [10_000, 60_000]);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'filiaal bezoekers', ...rows)],
      `Utrecht had ${nl.n(a)} bezoekers, Breda ${nl.n(b)}. Dat zijn er ${nl.n(a - b)} meer voor Utrecht
      (${nl.p(growth(b, a))}). Samen kwamen er ${nl.n(a + b)} mensen [q1].`,
    ];
  }),
  told('5-nl-gemiddelde', 'Wat is de gemiddelde orderwaarde per kanaal?', (dice) => {
    const rows = ['Webshop', 'Telefoon'].map((name) => {
      const orders = dice.between(300, 900);
      return [name, orders, orders * dice.between(30, 160) + dice.between(1, 99)] as const;
    });
    return [
      [rowsOf('q1', 'kanaal orders omzet', ...rows)],
      `Webshop: € ${nl.n(at(rows, 0)[2] / at(rows, 0)[1], 2)} per order (${nl.n(at(rows, 0)[1])} orders).
      Telefoon: € ${nl.n(at(rows, 1)[2] / at(rows, 1)[1], 2)} per order (${nl.n(at(rows, 1)[1])} orders). Over alle
      ${nl.n(column(rows, 1))} orders is het gemiddelde € ${nl.n(column(rows, 2) / column(rows, 1), 2)} [q1].`,
    ];
  }),
  told('5-nl-jaar', 'Hoe ontwikkelde het ledental zich?', (dice) => {
    const rows = walk(dice, '2022|2023|2024', 9000);
    const [a, b] = [at(rows, 0)[1], at(rows, 2)[1]];
    return [
      [rowsOf('q1', 'jaar leden', ...rows)],
      `Van ${nl.n(a)} leden in 2022 naar ${nl.n(at(rows, 1)[1])} in 2023 en ${nl.n(b)} in 2024. Dat is een
      ${way(a, b, ['stijging', 'daling'])} van ${nl.p(Math.abs(growth(a, b)))} in twee jaar [q1].`,
    ];
  }),
  told('5-sv-andel', 'Hur stor andel av kunderna betalar i tid?', (dice) => {
    const all = dice.between(4000, 9000);
    const late = part(all, 0.05 + dice.next() / 6);
    return [
      [rowsOf('q1', 'kunder sena', [all, late])],
      `Av ${sv.n(all)} kunder betalar ${sv.n(all - late)} i tid, det vill säga ${sv.p(1 - late / all)}. ${sv.n(late)}
      kunder (${sv.p(late / all)}) är sena [q1].`,
    ];
  }),
  told('5-sv-jamfor', 'Hur gick försäljningen i mars jämfört med februari?', (dice) => {
    const rows = walk(dice, '2025-02|2025-03', 400_000);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'manad forsaljning', ...rows)],
      `I mars 2025 sålde vi för ${sv.n(b)} kr, i februari för ${sv.n(a)} kr. Försäljningen
      ${way(a, b, ['ökade', 'minskade'])} med ${sv.n(Math.abs(b - a))} kr eller ${sv.p(Math.abs(growth(a, b)))} [q1].`,
    ];
  }),
];
