import { rowsOf } from '../blind/answer.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts, total } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';
import { near, story } from './kit.ts';

const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const nl = speech('nl-NL', '');
const ptBr = speech('pt-BR', '');
const pl = speech('pl-PL', '');
const sv = speech('sv-SE', ' ');
const mio = [1e6, ' Mio.'] as const;

/** Answers in the languages of Europe. */
export const europe: readonly Telling[] = [
  told('9-de-quartal', 'Wie hat sich der Umsatz 2024 pro Quartal entwickelt?', (dice) => {
    const rows = story(
      dice,
      ['2024-Q1', 3_120_000],
      ['2024-Q2', 3_480_000],
      ['2024-Q3', 3_290_000],
      ['2024-Q4', 4_610_000],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'quartal umsatz', ...rows)],
      `## Umsatz nach Quartal (2024)

      | Quartal | Umsatz | Veränderung zum Vorquartal |
      |---|---:|---:|
      | Q1 | ${de.n(a)} € | – |
      | Q2 | ${de.n(b)} € | ${de.sp(growth(a, b))} |
      | Q3 | ${de.n(c)} € | ${de.sp(growth(b, c))} |
      | Q4 | ${de.n(d)} € | ${de.sp(growth(c, d))} |
      | **Gesamt** | **${de.n(all)} €** | |

      **Fazit:** Der Jahresumsatz lag bei rund ${de.s(all, mio, 1)} € [q1]. Das vierte Quartal war mit Abstand am stärksten und
      steuerte ${de.p(d / all, 0)} zum Jahresergebnis bei. Nach einem leichten Rückgang im dritten Quartal (${de.sp(growth(b, c))})
      zog das Geschäft zum Jahresende deutlich an.`,
    ];
  }),
  told('9-de-retouren', 'Wie hoch ist die Retourenquote je Kategorie?', (dice) => {
    const rows = story(
      dice,
      ['Schuhe', 8210, 2460],
      ['Jacken', 5130, 1180],
      ['Accessoires', 9940, 610],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'kategorie verkauft retourniert', ...rows)],
      `Am häufigsten werden **Schuhe** zurückgeschickt: ${de.n(x)} von ${de.n(a)} verkauften Paaren, das entspricht einer Quote von
      ${de.p(x / a)} [q1].

      - Jacken: ${de.p(y / b)} (${de.n(y)} von ${de.n(b)})
      - Accessoires: ${de.p(z / c)} (${de.n(z)} von ${de.n(c)})

      Über alle drei Kategorien hinweg kommen ${de.p((x + y + z) / (a + b + c))} der Artikel zurück, also fast jeder
      fünfte. Auf Schuhe entfallen ${de.p(x / (x + y + z), 0)} aller Retouren.

      **Hinweis:** Retouren, die nach dem Stichtag eingehen, sind hier noch nicht enthalten.`,
    ];
  }),
  told(
    '9-de-vergleich',
    'Wie viele neue Kunden hatten wir im Mai 2025 im Vergleich zum Mai 2024?',
    (dice) => {
      const rows = story(dice, ['2024-05-01', 1840], ['2025-05-01', 2215]);
      const [a, b] = amounts(rows);
      return [
        [rowsOf('q1', 'monat neukunden', ...rows)],
        `Im Mai 2025 kamen ${de.n(b)} neue Kunden hinzu, im Mai 2024 waren es ${de.n(a)}. Das sind ${de.n(b - a)} mehr und damit ein
      Plus von ${de.p(growth(a, b))} gegenüber dem Vorjahresmonat. Umgerechnet auf die 31 Tage des Monats waren es 2025 im Schnitt
      ${de.n(b / 31, 1)} neue Kunden pro Tag (Vorjahr: ${de.n(a / 31, 1)}) [q1].`,
      ];
    },
  ),
  told('9-de-lager', 'Welche Lagerorte sind am stärksten ausgelastet?', (dice) => {
    const rows = story(
      dice,
      ['Hamburg', 12_000, 11_050],
      ['Leipzig', 18_500, 13_900],
      ['Ulm', 9000, 4710],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'standort kapazitaet belegt', ...rows)],
      `1. **Hamburg**: ${de.p(x / a, 0)} ausgelastet (${de.n(x)} von ${de.n(a)} Palettenplätzen)
      2. **Leipzig**: ${de.p(y / b, 0)} (${de.n(y)} von ${de.n(b)})
      3. **Ulm**: ${de.p(z / c, 0)} (${de.n(z)} von ${de.n(c)})

      Insgesamt sind noch ${de.n(a + b + c - x - y - z)} Plätze frei, davon ${de.n(b - y)} in Leipzig und ${de.n(c - z)} in Ulm. Hamburg
      hat dagegen nur noch ${de.n(a - x)} freie Plätze [q1]. Ich würde dort kurzfristig umlagern.`,
    ];
  }),
  told('9-fr-bilan', 'Quel est le bilan des ventes du premier trimestre 2025 ?', (dice) => {
    const rows = story(
      dice,
      ['2025-01', 812_400, 9120],
      ['2025-02', 768_300, 8740],
      ['2025-03', 905_100, 9980],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'mois chiffre_affaires commandes', ...rows)],
      `### Ventes du 1er trimestre 2025

      Le chiffre d'affaires cumulé s'élève à **${fr.n(all)} €** pour ${fr.n(x + y + z)} commandes, soit un panier moyen de
      ${fr.n(all / (x + y + z), 2)} € [q1].

      - **Janvier** : ${fr.n(a)} € (${fr.n(x)} commandes)
      - **Février** : ${fr.n(b)} € (${fr.n(y)} commandes), en baisse de ${fr.p(-growth(a, b))} par rapport à janvier
      - **Mars** : ${fr.n(c)} € (${fr.n(z)} commandes), en hausse de ${fr.p(growth(b, c))} par rapport à février

      Mars est donc le meilleur mois du trimestre et représente ${fr.p(c / all)} du total. L'écart entre mars et février est de
      ${fr.n(c - b)} €.`,
    ];
  }),
  told('9-fr-panier', 'Combien dépensent nos clients fidèles par rapport aux autres ?', (dice) => {
    const rows = story(dice, ['fidèle', 3120, 642_000], ['occasionnel', 11_840, 913_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'segment clients depenses', ...rows)],
      `En moyenne, un client fidèle dépense **${fr.n(x / a, 2)} €**, contre **${fr.n(y / b, 2)} €** pour un client occasionnel, soit
      ${fr.n(x / a / (y / b), 1)} fois plus [q1].

      Les ${fr.n(a)} clients fidèles ne représentent que ${fr.p(a / (a + b))} de la clientèle, mais ${fr.p(x / (x + y))} des dépenses
      totales (${fr.s(x + y, [1e6, ' M€'], 2)}).`,
    ];
  }),
  told('9-fr-absent', "Quel est le taux d'absentéisme par site ?", (dice) => {
    const rows = story(dice, ['Lyon', 4120, 231], ['Nantes', 3350, 152], ['Lille', 2870, 201]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'site jours_theoriques jours_absence', ...rows)],
      `| Site | Jours théoriques | Jours d'absence | Taux |
      |---|---|---|---|
      | Lille | ${fr.n(c)} | ${fr.n(z)} | ${fr.p(z / c)} |
      | Lyon | ${fr.n(a)} | ${fr.n(x)} | ${fr.p(x / a)} |
      | Nantes | ${fr.n(b)} | ${fr.n(y)} | ${fr.p(y / b)} |

      Le taux global est de ${fr.p((x + y + z) / (a + b + c))}. Lille dépasse Nantes de ${fr.n((z / c - y / b) * 100, 1)} points. Si Lille
      était au niveau de Nantes, on économiserait environ ${fr.n(z - (c * y) / b)} jours d'absence [q1].`,
    ];
  }),
  told('9-es-resumen', '¿Qué tiendas vendieron más en el primer semestre de 2025?', (dice) => {
    const rows = story(
      dice,
      ['Madrid Centro', 1_240_000],
      ['Valencia', 873_000],
      ['Bilbao', 655_000],
      ['Sevilla', 612_000],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [
        withSql(
          "SELECT tienda, sum(importe) AS ventas FROM ventas WHERE fecha >= '2025-01-01' AND fecha < '2025-07-01' GROUP BY 1 ORDER BY 2 DESC",
          rowsOf('q1', 'tienda ventas', ...rows),
        ),
      ],
      `**Madrid Centro** encabeza la lista con ${es.n(a)} € entre enero y junio de 2025, el ${es.p(a / all)} del total de
      ${es.n(all)} € [q1].

      1. Madrid Centro: ${es.n(a)} €
      2. Valencia: ${es.n(b)} € (${es.p(b / all)})
      3. Bilbao: ${es.n(c)} € (${es.p(c / all)})
      4. Sevilla: ${es.n(d)} € (${es.p(d / all)})

      Las dos primeras tiendas suman ${es.n(a + b)} €, casi dos tercios de las ventas. Entre Bilbao y Sevilla la diferencia es de solo
      ${es.n(c - d)} €.`,
    ];
  }),
  told('9-es-mx', '¿Cuánto creció el ticket promedio en 2024?', (dice) => {
    const mx = speech('es-MX', '');
    const rows = story(dice, [2023, 61_200, 25_900_000], [2024, 66_900, 31_400_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'anio pedidos ventas', ...rows)],
      `El ticket promedio pasó de **$${mx.n(x / a, 2)}** en 2023 a **$${mx.n(y / b, 2)}** en 2024, un aumento de
      ${mx.p(growth(x / a, y / b))} ($${mx.n(y / b - x / a, 2)} más por pedido) [q1].

      - **Ventas:** $${mx.s(x, [1e6, ' millones'], 1)} → $${mx.s(y, [1e6, ' millones'], 1)} (${mx.sp(growth(x, y))})
      - **Pedidos:** ${mx.n(a)} → ${mx.n(b)} (${mx.sp(growth(a, b))})

      ¿Quieres que lo desglose por mes o por sucursal?`,
    ];
  }),
  told('9-es-morosos', '¿Cuántas facturas están vencidas?', (dice) => {
    const [all, late, money] = [near(dice, 3210), near(dice, 402), near(dice, 518_300)];
    return [
      [rowsOf('q1', 'facturas vencidas importe_vencido', [all, late, money])],
      `A día de hoy hay ${es.n(late)} facturas vencidas de un total de ${es.n(all)}, es decir, aproximadamente una de cada ocho
      (${es.p(late / all)}). El importe pendiente asciende a ${es.n(money)} €, con una media de ${es.n(money / late, 2)} € por factura.
      Las ${es.n(all - late)} restantes están al corriente de pago [q1].`,
    ];
  }),
  told('9-it-report', 'Come sono andate le vendite nel 2024 rispetto al 2023?', (dice) => {
    const rows = story(dice, [2023, 2_310_000, 18_400], [2024, 2_145_000, 18_950]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'anno vendite ordini', ...rows)],
      `Nel 2024 le vendite sono **diminuite del ${it.p(-growth(a, b))}**, passando da ${it.s(a, [1e6, ' milioni'], 2)} a
      ${it.s(b, [1e6, ' milioni'], 2)} di euro, ovvero ${it.n(a - b)} € in meno [q1].

      Il numero di ordini è invece aumentato da ${it.n(x)} a ${it.n(y)} (${it.sp(growth(x, y))}). Il calo dipende quindi dal valore medio
      dell'ordine, sceso da ${it.n(a / x, 2)} € a ${it.n(b / y, 2)} €.

      **Prossimi passi:** potrei analizzare gli sconti o il mix di prodotti.`,
    ];
  }),
  told('9-it-iscritti', 'Quanti iscritti ha ogni corso?', (dice) => {
    const rows = story(dice, ['Pilates', 148, 160], ['Nuoto', 231, 240], ['Yoga', 97, 150]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'corso iscritti posti', ...rows)],
      `- **Nuoto**: ${it.n(b)} iscritti su ${it.n(y)} posti (${it.p(b / y, 0)})
      - **Pilates**: ${it.n(a)} su ${it.n(x)} (${it.p(a / x, 0)})
      - **Yoga**: ${it.n(c)} su ${it.n(z)} (${it.p(c / z, 0)})

      In totale abbiamo ${it.n(a + b + c)} iscritti e ${it.n(x + y + z - a - b - c)} posti ancora liberi, la maggior parte dei quali
      (${it.n(z - c)}) nello yoga [q1].`,
    ];
  }),
  told('9-nl-overzicht', 'Hoe verhouden de verkopen in Nederland en België zich?', (dice) => {
    const rows = story(dice, ['Nederland', 1_820_000, 7410], ['België', 963_000, 3120]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'land omzet bestellingen', ...rows)],
      `Nederland is goed voor **€ ${nl.n(a)}** omzet en België voor **€ ${nl.n(b)}**. Dat is een verhouding van ongeveer
      ${nl.n(a / b, 1)} op 1: ${nl.p(a / (a + b), 0)} van de omzet komt uit Nederland en ${nl.p(b / (a + b), 0)} uit België [q1].

      De gemiddelde bestelling is in België echter hoger: € ${nl.n(b / y, 2)} tegenover € ${nl.n(a / x, 2)}, een verschil van
      € ${nl.n(b / y - a / x, 2)}. In totaal waren er ${nl.n(x + y)} bestellingen.`,
    ];
  }),
  told('9-nl-verzuim', 'Hoeveel klachten kregen we per maand?', (dice) => {
    const rows = story(dice, ['2025-01', 131], ['2025-02', 118], ['2025-03', 164], ['2025-04', 92]);
    const [a, b, c, d] = amounts(rows);
    return [
      [rowsOf('q1', 'maand klachten', ...rows)],
      `Van januari tot en met april 2025 kwamen er ${nl.n(a + b + c + d)} klachten binnen, gemiddeld ${nl.n((a + b + c + d) / 4, 1)} per
      maand. De piek lag in maart met ${nl.n(c)} klachten; in april daalde dat met ${nl.p(1 - d / c, 0)} naar ${nl.n(d)}. Januari
      (${nl.n(a)}) en februari (${nl.n(b)}) zaten daartussenin [q1].`,
    ];
  }),
  told('9-ptbr-vendas', 'Quais foram as vendas por região no ano passado?', (dice) => {
    const rows = story(
      dice,
      ['Sudeste', 8_410_000],
      ['Sul', 3_920_000],
      ['Nordeste', 2_870_000],
      ['Norte', 640_000],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [
        withSql(
          "SELECT regiao, sum(valor) AS vendas FROM vendas WHERE data >= '2024-01-01' AND data < '2025-01-01' GROUP BY 1 ORDER BY 2 DESC",
          rowsOf('q1', 'regiao vendas', ...rows),
        ),
      ],
      `Em 2024, as vendas totalizaram **R$ ${ptBr.s(all, [1e6, ' milhões'], 2)}** [q1]:

      | Região | Vendas | Participação |
      |---|---:|---:|
      | Sudeste | R$ ${ptBr.n(a)} | ${ptBr.p(a / all)} |
      | Sul | R$ ${ptBr.n(b)} | ${ptBr.p(b / all)} |
      | Nordeste | R$ ${ptBr.n(c)} | ${ptBr.p(c / all)} |
      | Norte | R$ ${ptBr.n(d)} | ${ptBr.p(d / all)} |

      O Sudeste concentra mais da metade das vendas, com R$ ${ptBr.n(a - b)} a mais do que o Sul. Já o Norte responde por apenas
      ${ptBr.p(d / all)}. Sul e Nordeste juntos somam R$ ${ptBr.s(b + c, [1e6, ' milhões'], 2)}.`,
    ];
  }),
  told('9-ptbr-churn', 'Qual foi a taxa de cancelamento em março?', (dice) => {
    const [start, gone, fresh] = [near(dice, 15_320), near(dice, 412), near(dice, 690)];
    return [
      [
        rowsOf('q1', 'mes clientes_inicio cancelamentos novos_clientes', [
          '2025-03',
          start,
          gone,
          fresh,
        ]),
      ],
      `Em março de 2025, ${ptBr.n(gone)} dos ${ptBr.n(start)} clientes cancelaram, o que equivale a uma taxa de cancelamento de
      **${ptBr.p(gone / start, 2)}** [q1]. No mesmo mês, entraram ${ptBr.n(fresh)} novos clientes; o saldo foi positivo em
      ${ptBr.n(fresh - gone)} clientes, e a base terminou o mês com ${ptBr.n(start - gone + fresh)}.`,
    ];
  }),
  told('9-pl-sprzedaz', 'Jak zmieniła się sprzedaż w 2024 roku?', (dice) => {
    const rows = story(dice, [2023, 4_120_000, 20_400], [2024, 4_870_000, 22_100]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'rok sprzedaz zamowienia', ...rows)],
      `W 2024 roku sprzedaż wyniosła **${pl.n(b)} zł**, czyli o ${pl.p(growth(a, b))} więcej niż w 2023 roku (${pl.n(a)} zł) [q1].

      - Wzrost kwotowy: ${pl.n(b - a)} zł
      - Liczba zamówień: ${pl.n(x)} → ${pl.n(y)} (${pl.sp(growth(x, y))})
      - Średnia wartość zamówienia: ${pl.n(a / x, 2)} zł → ${pl.n(b / y, 2)} zł`,
    ];
  }),
  told('9-pl-zwroty', 'Ile zwrotów mieliśmy w maju 2025?', (dice) => {
    const [orders, back] = [near(dice, 6120), near(dice, 498)];
    return [
      [rowsOf('q1', 'miesiac zamowienia zwroty', ['2025-05', orders, back])],
      `W maju 2025 r. odnotowano ${pl.n(back)} zwrotów na ${pl.n(orders)} zamówień, co daje wskaźnik zwrotów na poziomie
      ${pl.p(back / orders)}. Pozostałe ${pl.n(orders - back)} zamówień (${pl.p(1 - back / orders)}) nie zostało zwróconych [q1].`,
    ];
  }),
  told('9-sv-kvartal', 'Hur gick det för butikerna i andra kvartalet 2025?', (dice) => {
    const rows = story(
      dice,
      ['Göteborg', 5_420_000, 5_010_000],
      ['Malmö', 3_180_000, 3_390_000],
      ['Uppsala', 2_760_000, 2_600_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'butik forsaljning_2025_q2 forsaljning_2024_q2', ...rows)],
      `Försäljningen under andra kvartalet 2025 uppgick till **${sv.s(a + b + c, [1e6, ' miljoner'], 2)} kr**, jämfört med
      ${sv.s(x + y + z, [1e6, ' miljoner'], 2)} kr året innan (${sv.sp(growth(x + y + z, a + b + c))}) [q1].

      - **Göteborg** ökade med ${sv.p(growth(x, a))} till ${sv.n(a)} kr
      - **Malmö** minskade med ${sv.p(-growth(y, b))} till ${sv.n(b)} kr
      - **Uppsala** ökade med ${sv.p(growth(z, c))} till ${sv.n(c)} kr`,
    ];
  }),
  told('9-da-kunder', 'Hvor mange aktive kunder har vi?', (dice) => {
    const da = speech('da-DK', ' ');
    const rows = story(dice, ['Privat', 18_230], ['Erhverv', 4110]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'type aktive_kunder', ...rows)],
      `Vi har i alt **${da.n(a + b)} aktive kunder**: ${da.n(a)} privatkunder (${da.p(a / (a + b))}) og ${da.n(b)} erhvervskunder
      (${da.p(b / (a + b))}). Der er altså ${da.n(a / b, 1)} gange så mange privatkunder som erhvervskunder [q1].`,
    ];
  }),
  told('9-tr-satis', 'Şehirlere göre satışlar nasıl?', (dice) => {
    const tr = speech('tr-TR', '');
    const rows = story(dice, ['İstanbul', 2_410_000], ['Ankara', 1_130_000], ['İzmir', 872_000]);
    const [a, b, c] = amounts(rows);
    const all = total([a, b, c]);
    return [
      [rowsOf('q1', 'sehir satis', ...rows)],
      `Toplam satış **${tr.n(all)} TL** oldu [q1]:

      - İstanbul: ${tr.n(a)} TL (${tr
        .p(a / all)
        .replace('%', '')
        .replace('{', '{%')})
      - Ankara: ${tr.n(b)} TL (${tr
        .p(b / all)
        .replace('%', '')
        .replace('{', '{%')})
      - İzmir: ${tr.n(c)} TL (${tr
        .p(c / all)
        .replace('%', '')
        .replace('{', '{%')})

      İstanbul, Ankara'dan ${tr.n(a - b)} TL daha fazla satış yaptı ve toplamın yarısından fazlasını oluşturuyor.`,
    ];
  }),
  told('9-cs-trzby', 'Jaké byly tržby v prvním čtvrtletí 2025?', (dice) => {
    const cs = speech('cs-CZ', ' ');
    const rows = story(
      dice,
      ['2025-01', 1_820_000],
      ['2025-02', 1_640_000],
      ['2025-03', 2_050_000],
    );
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'mesic trzby', ...rows)],
      `Tržby za první čtvrtletí 2025 činily ${cs.n(a + b + c)} Kč, v průměru ${cs.n((a + b + c) / 3)} Kč měsíčně. Nejsilnější byl
      březen (${cs.n(c)} Kč), nejslabší únor (${cs.n(b)} Kč); rozdíl mezi nimi je ${cs.n(c - b)} Kč. Oproti lednu (${cs.n(a)} Kč)
      vzrostly březnové tržby o ${cs.p(growth(a, c))} [q1].`,
    ];
  }),
];
