import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech } from '../third/kit.ts';
import { gave, nth } from './kit.ts';

const de = speech('de-DE', ' ');
const nl = speech('nl-NL', '');
const sv = speech('sv-SE', ' ');
const mio = [1e6, ' Mio.'] as const;

/** Answers in German, Dutch and Swedish. */
export const german: readonly Telling[] = [
  told('11-de-umsatz', 'Wie hoch war unser Umsatz 2025?', (dice) => {
    const [sales, orders] = [near(dice, 1_842_310_77) / 100, near(dice, 22_940)];
    return [
      [
        gave(
          "SELECT SUM(betrag) AS umsatz, COUNT(*) AS bestellungen FROM bestellungen WHERE bestelldatum >= '2025-01-01' AND bestelldatum < '2026-01-01' AND status <> 'storniert'",
          'umsatz bestellungen',
          [sales, orders],
        ),
      ],
      `Der Umsatz im Jahr 2025 betrug **${de.n(sales, 2)} €** [q1], also rund ${de.s(sales, mio, 2)} €.

      - Anzahl Bestellungen: ${de.n(orders)}
      - Durchschnittlicher Bestellwert: ${de.n(sales / orders, 2)} €
      - Zeitraum: 01.01.2025 bis 31.12.2025

      Stornierte Bestellungen sind nicht enthalten. Soll ich den Umsatz nach Monaten oder nach den Top-5-Kategorien aufschlüsseln?`,
    ];
  }),
  told('11-de-filialen', 'Welche Filialen liegen vorn?', (dice) => {
    const rows = story(
      dice,
      ['Hamburg', 912_400],
      ['München', 874_100],
      ['Köln', 641_800],
      ['Leipzig', 388_300],
    );
    const own = amounts(rows);
    const all = total(own);
    return [
      [
        gave(
          "SELECT filiale, SUM(umsatz) AS umsatz FROM verkaeufe WHERE datum BETWEEN '2025-07-01' AND '2025-09-30' GROUP BY filiale ORDER BY umsatz DESC",
          'filiale umsatz',
          ...rows,
        ),
      ],
      `Im 3. Quartal 2025 liegt **${own[0] > own[1] ? '{m:Hamburg~Leipzig}' : '{m:München~Leipzig}'}** vorn [q1]:

      | Filiale | Umsatz | Anteil |
      |---|---:|---:|
      | Hamburg | ${de.n(own[0])} € | ${de.p(own[0] / all)} |
      | München | ${de.n(own[1])} € | ${de.p(own[1] / all)} |
      | Köln | ${de.n(own[2])} € | ${de.p(own[2] / all)} |
      | Leipzig | ${de.n(own[3])} € | ${de.p(own[3] / all)} |
      | **Gesamt** | **${de.n(all)} €** | **100 %** |

      Hamburg und München machen zusammen knapp zwei Drittel des Umsatzes aus (${de.p((own[0] + own[1]) / all)}). Leipzig kommt auf weniger als die Hälfte von Hamburg.`,
    ];
  }),
  told('11-de-vorjahr', 'Vergleiche das erste Halbjahr mit dem Vorjahr', (dice) => {
    const rows = story(dice, ['2024', 4_120_000, 1_930], ['2025', 4_685_000, 2_114]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT jahr, SUM(umsatz) AS umsatz, COUNT(DISTINCT kunde_id) AS kunden FROM umsaetze WHERE monat <= 6 GROUP BY jahr ORDER BY jahr',
          'jahr umsatz kunden',
          ...rows,
        ),
      ],
      `Im ersten Halbjahr 2025 lag der Umsatz bei **${de.s(b, mio, 2)} €** und damit ${de.p(growth(a, b))} über dem Vorjahreszeitraum (${de.s(a, mio, 2)} €) [q1].

      | Kennzahl | H1 2024 | H1 2025 | Veränderung |
      |---|---|---|---|
      | Umsatz | ${de.n(a)} € | ${de.n(b)} € | ${de.sp(growth(a, b))} |
      | Kunden | ${de.n(x)} | ${de.n(y)} | ${de.sp(growth(x, y))} |
      | Umsatz je Kunde | ${de.n(a / x)} € | ${de.n(b / y)} € | ${de.sp(growth(a / x, b / y))} |

      Das Plus von ${de.n(b - a)} € stammt überwiegend aus einer {d:höheren~niedrigeren} Kundenzahl (${de.n(y - x)} Kunden mehr).`,
    ];
  }),
  told('11-de-kuendigungen', 'Wie hoch ist die Kündigungsquote?', (dice) => {
    const [all, gone] = [near(dice, 8_412), near(dice, 197)];
    return [
      [
        gave(
          "SELECT COUNT(*) AS aktiv_am_monatsanfang, SUM(CASE WHEN gekuendigt_am BETWEEN '2025-09-01' AND '2025-09-30' THEN 1 ELSE 0 END) AS kuendigungen FROM vertraege",
          'aktiv_am_monatsanfang kuendigungen',
          [all, gone],
        ),
      ],
      `Die Kündigungsquote lag im September 2025 bei **${de.p(gone / all, 2)}**: ${de.n(gone)} von ${de.n(all)} Verträgen wurden gekündigt [q1].

      Hinweis: Gezählt habe ich alle Kündigungen mit Datum zwischen dem 1. und dem 30. September, auch wenn der Vertrag wegen der Frist von 3 Monaten noch läuft. Hochgerechnet auf 12 Monate
      entspricht das etwa ${de.p(1 - (1 - gone / all) ** 12, 0)}.`,
    ];
  }),
  told('11-de-lieferzeit', 'Lieferzeiten pro Spediteur', (dice) => {
    const rows = story(dice, ['DHL', 21, 4_310], ['DPD', 28, 2_870], ['Hermes', 39, 1_120]).map(
      ([name, days = 0, parcels = 0]) => [name, days / 10, parcels] as const,
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT spediteur, AVG(lieferdauer_tage) AS lieferdauer_tage, COUNT(*) AS sendungen FROM sendungen WHERE zugestellt_am IS NOT NULL GROUP BY 1 ORDER BY 2',
          'spediteur lieferdauer_tage sendungen',
          ...rows,
        ),
      ],
      `Am schnellsten ist DHL mit durchschnittlich **${de.n(a, 1)} Tagen** [q1].

      - DHL: ${de.n(a, 1)} Tage bei ${de.n(x)} Sendungen
      - DPD: ${de.n(b, 1)} Tage bei ${de.n(y)} Sendungen
      - Hermes: ${de.n(c, 1)} Tage bei ${de.n(z)} Sendungen

      Hermes braucht damit ${de.n(c - a, 1)} Tage länger als DHL, also fast doppelt so lange. Über die Hälfte der ${de.n(x + y + z)} Sendungen läuft über DHL. Für eine Aussage zum 95-%-Perzentil müsste ich die Einzelsendungen abfragen.`,
    ];
  }),
  told('11-de-offene', 'Welche Rechnungen sind seit mehr als 60 Tagen offen?', (dice) => {
    const rows = [
      ['RE-2025-0417', '2025-06-03', near(dice, 12_480)],
      ['RE-2025-0433', '2025-06-11', near(dice, 8_915)],
      ['RE-2025-0502', '2025-07-02', near(dice, 3_270)],
    ] as const;
    const [a, b, c] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT rechnungsnr, faellig_am, offener_betrag FROM rechnungen WHERE bezahlt_am IS NULL AND faellig_am < CURRENT_DATE - 60 ORDER BY faellig_am',
          'rechnungsnr faellig_am offener_betrag',
          ...rows,
        ),
      ],
      `Es gibt 3 Rechnungen, die seit mehr als 60 Tagen offen sind, mit einem Gesamtbetrag von **${de.n(a + b + c)} €** [q1]:

      1. RE-2025-0417 – ${de.n(a)} €, fällig am 03.06.2025
      2. RE-2025-0433 – ${de.n(b)} €, fällig am 11.06.2025
      3. RE-2025-0502 – ${de.n(c)} €, fällig am 02.07.2025

      Die größte davon macht ${de.p(a / (a + b + c), 0)} des offenen Betrags aus.`,
    ];
  }),
  told('11-nl-omzet', 'Wat is de omzet per productgroep?', (dice) => {
    const rows = story(dice, ['Fietsen', 1_240_500], ['Onderdelen', 418_200], ['Kleding', 196_700]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT productgroep, SUM(omzet) AS omzet FROM verkopen WHERE datum >= '2025-01-01' AND datum < '2025-10-01' GROUP BY productgroep",
          'productgroep omzet',
          ...rows,
        ),
      ],
      `De totale omzet over de eerste 9 maanden van 2025 is **€ ${nl.n(all)}** [q1].

      | Productgroep | Omzet | Aandeel |
      |---|---|---|
      | Fietsen | € ${nl.n(a)} | ${nl.p(a / all)} |
      | Onderdelen | € ${nl.n(b)} | ${nl.p(b / all)} |
      | Kleding | € ${nl.n(c)} | ${nl.p(c / all)} |

      Fietsen zijn goed voor ongeveer twee derde van de omzet en leveren bijna drie keer zoveel op als onderdelen. Wil je dit ook per maand of per winkel zien?`,
    ];
  }),
  told('11-nl-retour', 'Hoeveel retouren hadden we vorige maand?', (dice) => {
    const rows = story(dice, ['2025-08', 9_120, 684], ['2025-09', 9_870, 839]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT maand, bestellingen, retouren FROM retouren_per_maand WHERE maand >= '2025-08' ORDER BY maand",
          'maand bestellingen retouren',
          ...rows,
        ),
      ],
      `In september 2025 waren er **${nl.n(y)} retouren** op ${nl.n(b)} bestellingen, een retourpercentage van ${nl.p(y / b)} [q1]. In augustus was dat ${nl.p(x / a)} (${nl.n(x)} op ${nl.n(a)}).

      Het aantal retouren is dus met ${nl.n(y - x)} {d:gestegen~gedaald} (${nl.sp(growth(x, y))}). Let op: bestellingen van eind september kunnen nog binnen 30 dagen geretourneerd worden.`,
    ];
  }),
  told('11-sv-kunder', 'Hur många nya kunder fick vi per kvartal?', (dice) => {
    const rows = story(dice, ['2025-Q1', 1_210], ['2025-Q2', 1_385], ['2025-Q3', 1_142]);
    const [a, b, c] = amounts(rows);
    return [
      [
        gave(
          'SELECT kvartal, COUNT(*) AS nya_kunder FROM kunder GROUP BY kvartal',
          'kvartal nya_kunder',
          ...rows,
        ),
        nth(2, gave('SELECT COUNT(*) AS kunder FROM kunder', 'kunder', [near(dice, 18_300)])),
      ],
      `Under årets tre första kvartal fick vi **${sv.n(a + b + c)} nya kunder** [q1]:

      - Q1 2025: ${sv.n(a)}
      - Q2 2025: ${sv.n(b)} (${sv.sp(growth(a, b))})
      - Q3 2025: ${sv.n(c)} (${sv.sp(growth(b, c))})

      I genomsnitt blir det ${sv.n((a + b + c) / 3)} per kvartal. Det bästa kvartalet var {p:Q2~Q1}.`,
    ];
  }),
];
