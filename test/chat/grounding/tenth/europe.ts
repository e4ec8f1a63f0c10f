import { rowsOf } from '../blind/answer.ts';
import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';

const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const nl = speech('nl-NL', '');
const pt = speech('pt-BR', '');
const pl = speech('pl-PL', '');
const sv = speech('sv-SE', ' ');

/** Answers in the larger languages of western Europe, Polish and Swedish. */
export const europe: readonly Telling[] = [
  told('10-de-lager', 'Welche Lager haben den höchsten Bestandswert?', (dice) => {
    const rows = story(
      dice,
      ['Hamburg', 14_210, 2_380_000],
      ['Leipzig', 9_640, 1_120_000],
      ['Ulm', 5_030, 1_310_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const all = x + y + z;
    return [
      [rowsOf('q1', 'lager artikel bestandswert', ...rows)],
      `Den höchsten Bestandswert hat **Hamburg** mit ${de.n(x)} € (${de.p(x / all)} des Gesamtwerts von ${de.n(all)} €) [q1]. Es folgen
      Ulm mit ${de.n(z)} € und Leipzig mit ${de.n(y)} €.

      Auffällig ist Ulm: Dort liegen nur ${de.n(c)} Artikel, der durchschnittliche Wert je Artikel ist mit ${de.n(z / c, 2)} € aber
      mehr als doppelt so hoch wie in Leipzig (${de.n(y / b, 2)} €) und auch höher als in Hamburg (${de.n(x / a, 2)} €).`,
    ];
  }),
  told('10-de-ziel', 'Erreichen wir das Jahresziel von 6 Mio. Euro?', (dice) => {
    const [done, months] = [near(dice, 4_410_000), 9];
    return [
      [
        withSql(
          "SELECT sum(umsatz) AS umsatz, count(DISTINCT monat) AS monate FROM umsaetze WHERE monat BETWEEN '2025-01-01' AND '2025-09-01'",
          rowsOf('q1', 'umsatz monate', [done, months]),
        ),
      ],
      `Voraussichtlich knapp nicht. Bis Ende September wurden ${de.s(done, [1e6, ' Mio.'], 2)} € umgesetzt, also
      ${de.p(done / 6e6)} des Ziels [q1]. Pro Monat sind das im Schnitt ${de.n(done / 9)} €. Hochgerechnet auf zwölf Monate ergibt
      sich ein Jahresumsatz von ${de.s((done / 9) * 12, [1e6, ' Mio.'], 2)} €.

      Um die 6 Mio. € noch zu erreichen, bräuchten wir in den verbleibenden drei Monaten jeweils ${de.n((6e6 - done) / 3)} €.`,
    ];
  }),
  told('10-de-alter', 'Wie alt sind unsere Kunden?', (dice) => {
    const rows = story(dice, ['18–29', 2_140], ['30–44', 5_870], ['45–59', 4_390], ['60+', 1_610]);
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'altersgruppe kunden', ...rows)],
      `Die größte Gruppe sind die 30- bis 44-Jährigen mit ${de.n(b)} Kunden (${de.p(b / all, 0)}) [q1]:

      | Altersgruppe | Kunden | Anteil |
      |---|---:|---:|
      | 18–29 | ${de.n(a)} | ${de.p(a / all)} |
      | 30–44 | ${de.n(b)} | ${de.p(b / all)} |
      | 45–59 | ${de.n(c)} | ${de.p(c / all)} |
      | 60+ | ${de.n(d)} | ${de.p(d / all)} |

      Insgesamt sind es ${de.n(all)} Kunden; ${de.p((b + c) / all, 0)} davon sind zwischen 30 und 59 Jahre alt.`,
    ];
  }),
  told('10-fr-magasins', 'Quels magasins ont progressé entre 2023 et 2024 ?', (dice) => {
    const rows = story(
      dice,
      ['Nantes', 1_420_000, 1_610_000],
      ['Lille', 1_890_000, 1_775_000],
      ['Dijon', 640_000, 702_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'magasin ca_2023 ca_2024', ...rows)],
      `Deux magasins sur trois ont progressé [q1] :

      - **Nantes** : ${fr.n(x)} € en 2024 contre ${fr.n(a)} € en 2023, soit ${fr.sp(growth(a, x))} ;
      - **Dijon** : ${fr.n(z)} € contre ${fr.n(c)} €, soit ${fr.sp(growth(c, z))} ;
      - **Lille** recule de ${fr.p(-growth(b, y))}, à ${fr.n(y)} €, mais reste le premier magasin.

      Au total, le chiffre d'affaires passe de ${fr.s(a + b + c, [1e6, ' M€'], 2)} à ${fr.s(x + y + z, [1e6, ' M€'], 2)}
      (${fr.sp(growth(a + b + c, x + y + z))}).`,
    ];
  }),
  told('10-fr-delais', 'Quel est le délai moyen de paiement ?', (dice) => {
    const [bills, late, days] = [near(dice, 3_870), near(dice, 1_045), near(dice, 412) / 10];
    return [
      [rowsOf('q1', 'factures factures_en_retard delai_moyen_jours', [bills, late, days])],
      `Le délai moyen de paiement est de **${fr.n(days, 1)} jours** [q1]. Sur ${fr.n(bills)} factures, ${fr.n(late)} ont été réglées en
      retard, soit ${fr.p(late / bills)} (un peu plus d'une sur quatre). Les ${fr.n(bills - late)} autres ont été payées à temps.

      Remarque : les factures encore ouvertes ne sont pas prises en compte.`,
    ];
  }),
  told('10-es-tiendas', '¿Cuál fue el ticket medio por ciudad en marzo?', (dice) => {
    const rows = story(
      dice,
      ['Madrid', 8_910, 421_000],
      ['Valencia', 5_240, 203_000],
      ['Bilbao', 2_180, 118_500],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'ciudad tickets ventas', ...rows)],
      `En marzo el ticket medio más alto fue el de **Bilbao**: ${es.n(z / c, 2)} €, con ${es.n(c)} tickets y unas ventas de ${es.n(z)} € [q1].

      1. Bilbao: ${es.n(z / c, 2)} €
      2. Madrid: ${es.n(x / a, 2)} € (${es.n(x)} € / ${es.n(a)} tickets)
      3. Valencia: ${es.n(y / b, 2)} € (${es.n(y)} € / ${es.n(b)} tickets)

      El promedio de las tres ciudades es de ${es.n((x + y + z) / (a + b + c), 2)} €. Madrid concentra el ${es.p(x / (x + y + z), 0)} de las
      ventas.`,
    ];
  }),
  told('10-es-bajas', '¿Cómo ha evolucionado la tasa de bajas?', (dice) => {
    const rows = story(dice, ['2025-T1', 18_200, 910], ['2025-T2', 18_900, 794]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'trimestre clientes bajas', ...rows)],
      `La tasa de bajas ha mejorado: pasó del ${es.p(x / a, 2)} en el primer trimestre de 2025 (${es.n(x)} bajas sobre ${es.n(a)} clientes)
      al ${es.p(y / b, 2)} en el segundo (${es.n(y)} sobre ${es.n(b)}). Son ${es.n((x / a - y / b) * 100, 2)} puntos porcentuales menos y
      ${es.n(x - y)} bajas menos en términos absolutos [q1].`,
    ];
  }),
  told('10-it-fornitori', 'Quanto spendiamo per fornitore e quanto pesa il primo?', (dice) => {
    const rows = story(
      dice,
      ['Rossi SpA', 512_000],
      ['Fratelli Conti', 304_000],
      ['Nordlegno', 189_000],
      ['Altri', 271_000],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'fornitore spesa', ...rows)],
      `La spesa complessiva è di **€ ${it.n(all)}** [q1], così ripartita:

      | Fornitore | Spesa | Quota |
      |---|---:|---:|
      | Rossi SpA | € ${it.n(a)} | ${it.p(a / all)} |
      | Fratelli Conti | € ${it.n(b)} | ${it.p(b / all)} |
      | Nordlegno | € ${it.n(c)} | ${it.p(c / all)} |
      | Altri | € ${it.n(d)} | ${it.p(d / all)} |

      Il primo fornitore, Rossi SpA, pesa quindi per circa il ${it.p(a / all, 0)}, cioè € ${it.n(a - b)} in più del secondo. I primi due
      insieme superano il 60% (${it.p((a + b) / all)}).`,
    ];
  }),
  told('10-nl-klachten', 'Hoeveel klachten kregen we per kanaal?', (dice) => {
    const rows = story(dice, ['e-mail', 1_240], ['telefoon', 865], ['chat', 2_030]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'kanaal klachten', ...rows)],
      `We kregen in totaal ${nl.n(all)} klachten [q1]. Bijna de helft kwam binnen via chat (${nl.n(c)}, ${nl.p(c / all)}), gevolgd door
      e-mail met ${nl.n(a)} (${nl.p(a / all)}) en telefoon met ${nl.n(b)} (${nl.p(b / all)}). Via chat kwamen er dus ${nl.n(c - a)} klachten
      meer binnen dan via e-mail, en ruim twee keer zoveel als via de telefoon.`,
    ];
  }),
  told('10-pt-vendas', 'Como foram as vendas por estado no primeiro semestre?', (dice) => {
    const rows = story(
      dice,
      ['SP', 8_410_000, 41_200],
      ['RJ', 4_920_000, 26_300],
      ['MG', 3_150_000, 19_800],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'estado vendas pedidos', ...rows)],
      `No primeiro semestre, as vendas somaram **R$ ${pt.s(all, [1e6, ' milhões'], 2)}** em ${pt.n(x + y + z)} pedidos [q1].

      - **SP**: R$ ${pt.s(a, [1e6, ' milhões'], 2)} (${pt.p(a / all)}), ticket médio de R$ ${pt.n(a / x, 2)}
      - **RJ**: R$ ${pt.s(b, [1e6, ' milhões'], 2)} (${pt.p(b / all)}), ticket médio de R$ ${pt.n(b / y, 2)}
      - **MG**: R$ ${pt.s(c, [1e6, ' milhões'], 2)} (${pt.p(c / all)}), ticket médio de R$ ${pt.n(c / z, 2)}

      São Paulo vende R$ ${pt.n(a - b)} a mais que o Rio de Janeiro.`,
    ];
  }),
  told('10-pl-zwroty', 'Jaki odsetek zamówień jest zwracany?', (dice) => {
    const rows = story(dice, ['odzież', 6_820, 1_560], ['elektronika', 3_940, 260]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'kategoria zamowienia zwroty', ...rows)],
      `Łącznie zwracanych jest ${pl.p((x + y) / (a + b))} zamówień (${pl.n(x + y)} z ${pl.n(a + b)}) [q1].

      - **Odzież:** ${pl.p(x / a)} – ${pl.n(x)} zwrotów na ${pl.n(a)} zamówień
      - **Elektronika:** ${pl.p(y / b)} – ${pl.n(y)} zwrotów na ${pl.n(b)} zamówień

      Odsetek zwrotów w odzieży jest ponad trzykrotnie wyższy niż w elektronice i odpowiada ona za ${pl.p(x / (x + y), 0)} wszystkich
      zwrotów.`,
    ];
  }),
  told('10-sv-besok', 'Hur många besökare hade museet per kvartal 2024?', (dice) => {
    const rows = story(
      dice,
      ['2024 kv1', 21_300],
      ['2024 kv2', 34_100],
      ['2024 kv3', 58_700],
      ['2024 kv4', 26_900],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', 'kvartal besokare', ...rows)],
      `Museet hade ${sv.n(all)} besökare under 2024 [q1]. Tredje kvartalet var överlägset störst med ${sv.n(c)} besökare, vilket motsvarar
      ${sv.p(c / all, 0)} av året. Därefter följer andra kvartalet (${sv.n(b)}), fjärde (${sv.n(d)}) och första (${sv.n(a)}).

      I genomsnitt kom ${sv.n(all / 4)} besökare per kvartal, eller omkring ${sv.n(all / 12)} i månaden.`,
    ];
  }),
  told('10-de-schweiz-text', 'Wie lange dauern unsere Projekte?', (dice) => {
    const rows = [
      ['Alpina', '2024-02-05', '2024-06-28', near(dice, 143_000)],
      ['Seeblick', '2024-03-11', '2025-01-31', near(dice, 388_000)],
    ] as const;
    const [a, b] = amounts(rows, 3);
    return [
      [rowsOf('q1', 'projekt beginn ende kosten', ...rows)],
      `Das Projekt Alpina lief vom 5. Februar bis zum 28. Juni 2024, das sind {144} Tage, und kostete ${de.n(a)} €. Seeblick begann am
      11. März 2024 und endete am 31. Januar 2025, dauerte also {326} Tage bei Kosten von ${de.n(b)} € [q1]. Pro Tag gerechnet war Seeblick
      mit rund ${de.n(b / 326)} € teurer als Alpina (${de.n(a / 144)} €).`,
    ];
  }),
];
