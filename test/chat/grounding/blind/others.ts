import { rowsOf, writer, type BlindAnswer } from './answer.ts';

const de = writer('de-DE');
const fr = writer('fr-FR');
const es = writer('es-ES');
const it = writer('it-IT');
const pt = writer('pt-BR');
const nl = writer('nl-NL');
const sv = writer('sv-SE');
const pl = writer('pl-PL');
const ja = writer('ja-JP');

const cities = rowsOf(
  'q1',
  'city revenue customers',
  ['Hamburg', 1284550.2, 3120],
  ['Lyon', 977310.75, 2544],
  ['Porto', 640128, 1987],
  ['Kraków', 415902.4, 1203],
);
const [hamburg, lyon, porto, krakow] = [1284550.2, 977310.75, 640128, 415902.4];
const total = hamburg + lyon + porto + krakow;
const quarters = rowsOf(
  'q1',
  'quarter orders',
  ['2024-Q1', 14210],
  ['2024-Q2', 15895],
  ['2024-Q3', 13377],
  ['2024-Q4', 19460],
);
const rates = rowsOf('q1', 'segment return_rate', ['Neukunden', 0.1184], ['Stammkunden', 0.0627]);
const visits = rowsOf('q1', 'visits', [982300]);
const buyers = rowsOf('q2', 'buyers', [27504]);

const ask = (
  id: string,
  evidence: BlindAnswer['evidence'],
  ...[question, text]: [question: string, text: string]
): BlindAnswer => ({ id, question, evidence, text });

export const otherAnswers: readonly BlindAnswer[] = [
  ask(
    'de-top',
    [cities],
    'Umsatz nach Stadt?',
    `{m:Hamburg~Porto} liegt mit ${de.n(hamburg, 2)} € vorn [q1].`,
  ),
  ask(
    'de-mio',
    [cities],
    'Umsatz nach Stadt?',
    `Hamburg kommt auf ${de.s(hamburg, [1e6, ' Mio.'], 2)} €, Lyon auf ${de.s(lyon, [1e6, ' Mio.'], 2)} € [q1].`,
  ),
  ask(
    'de-table',
    [cities],
    'Umsatz nach Stadt?',
    `| Stadt | Umsatz | Kunden |\n|---|---:|---:|\n| Hamburg | ${de.n(hamburg, 2)} € | ${de.n(3120)} |\n| Lyon | ${de.n(lyon, 2)} € | ${de.n(2544)} |\n| Porto | ${de.n(porto, 2)} € | ${de.n(1987)} |\n| Kraków | ${de.n(krakow, 2)} € | ${de.n(1203)} |`,
  ),
  ask(
    'de-share',
    [cities],
    'Umsatz nach Stadt?',
    `Auf Hamburg entfallen ${de.p(hamburg / total)} des Umsatzes, auf Kraków nur ${de.p(krakow / total)} [q1].`,
  ),
  ask('de-total', [cities], 'Umsatz nach Stadt?', `Insgesamt waren es ${de.n(total, 2)} € [q1].`),
  ask(
    'de-difference',
    [cities],
    'Umsatz nach Stadt?',
    `Lyon liegt ${de.n(hamburg - lyon, 2)} € {d:hinter~vor} Hamburg [q1].`,
  ),
  ask(
    'de-per-customer',
    [cities],
    'Umsatz je Kunde?',
    `Je Kunde sind das in Hamburg ${de.n(hamburg / 3120, 2)} € und in Porto ${de.n(porto / 1987, 2)} € [q1].`,
  ),
  ask(
    'de-quarter',
    [quarters],
    'Bestellungen 2024?',
    `Das beste Quartal war {p:Q4~Q2} 2024 mit ${de.n(19460)} Bestellungen [q1].`,
  ),
  ask(
    'de-growth',
    [quarters],
    'Bestellungen 2024?',
    `Von Q3 auf Q4 {d:stiegen~sanken} die Bestellungen um ${de.p(19460 / 13377 - 1)} auf ${de.n(19460)} [q1].`,
  ),
  ask(
    'de-fall',
    [quarters],
    'Bestellungen 2024?',
    `Im dritten Quartal gingen sie um ${de.n(15895 - 13377)} auf ${de.n(13377)} zurück [q1].`,
  ),
  ask(
    'de-sum',
    [quarters],
    'Bestellungen 2024?',
    `Im ganzen Jahr 2024 waren es ${de.n(14210 + 15895 + 13377 + 19460)} Bestellungen, im Schnitt ${de.n((14210 + 15895 + 13377 + 19460) / 4)} pro Quartal [q1].`,
  ),
  ask(
    'de-rates',
    [rates],
    'Retourenquote?',
    `Die Retourenquote liegt bei Neukunden bei ${de.p(0.1184, 2)}, bei Stammkunden bei ${de.p(0.0627, 2)} [q1].`,
  ),
  ask(
    'de-points',
    [rates],
    'Retourenquote?',
    `Das sind ${de.n(11.84 - 6.27, 2)} Prozentpunkte {d:mehr~weniger} als bei Stammkunden [q1].`,
  ),
  ask(
    'de-conversion',
    [visits, buyers],
    'Wie hoch ist die Konversion?',
    `Von ${de.n(982300)} Besuchen [q1] führten ${de.n(27504)} zu einem Kauf [q2], also ${de.p(27504 / 982300, 2)}.`,
  ),
  ask(
    'fr-top',
    [cities],
    'Chiffre d’affaires par ville ?',
    `{m:Hamburg~Lyon} arrive en tête avec ${fr.n(hamburg, 2)} € [q1].`,
  ),
  ask(
    'fr-list',
    [cities],
    'Chiffre d’affaires par ville ?',
    `- Hamburg : ${fr.n(hamburg)} €\n- Lyon : ${fr.n(lyon)} €\n- Porto : ${fr.n(porto)} €\n- Kraków : ${fr.n(krakow)} €\n[q1]`,
  ),
  ask(
    'fr-million',
    [cities],
    'Chiffre d’affaires par ville ?',
    `Au total, les ventes atteignent ${fr.s(total, [1e6, ' millions'], 2)} d’euros [q1].`,
  ),
  ask(
    'fr-share',
    [cities],
    'Chiffre d’affaires par ville ?',
    `Lyon représente ${fr.p(lyon / total)} du total [q1].`,
  ),
  ask(
    'fr-growth',
    [quarters],
    'Commandes en 2024 ?',
    `Entre T3 et T4, les commandes ont {d:augmenté~diminué} de ${fr.p(19460 / 13377 - 1)}, à ${fr.n(19460)} [q1].`,
  ),
  ask(
    'fr-gap',
    [cities],
    'Chiffre d’affaires par ville ?',
    `L’écart entre Hamburg et Lyon est de ${fr.n(hamburg - lyon, 2)} € [q1].`,
  ),
  ask(
    'fr-rate',
    [visits, buyers],
    'Quel est le taux de conversion ?',
    `Le taux de conversion est de ${fr.p(27504 / 982300, 2)} (${fr.n(27504)} acheteurs [q2] pour ${fr.n(982300)} visites [q1]).`,
  ),
  ask(
    'es-top',
    [cities],
    '¿Ingresos por ciudad?',
    `{m:Hamburg~Kraków} lidera con ${es.n(hamburg, 2)} € [q1].`,
  ),
  ask(
    'es-table',
    [cities],
    '¿Ingresos por ciudad?',
    `| Ciudad | Ingresos |\n|---|---|\n| Hamburg | ${es.n(hamburg, 2)} € |\n| Lyon | ${es.n(lyon, 2)} € |\n| Porto | ${es.n(porto, 2)} € |`,
  ),
  ask(
    'es-total',
    [cities],
    '¿Ingresos por ciudad?',
    `En total se ingresaron ${es.s(total, [1e6, ' millones'], 2)} de euros [q1].`,
  ),
  ask(
    'es-share',
    [cities],
    '¿Ingresos por ciudad?',
    `Porto supone el ${es.p(porto / total)} de los ingresos [q1].`,
  ),
  ask(
    'es-growth',
    [quarters],
    '¿Pedidos en 2024?',
    `Los pedidos {d:subieron~bajaron} un ${es.p(15895 / 14210 - 1)} en el segundo trimestre, hasta ${es.n(15895)} [q1].`,
  ),
  ask(
    'es-best',
    [quarters],
    '¿Pedidos en 2024?',
    `El mejor trimestre fue {p:2024-Q4~2024-Q1}, con ${es.n(19460)} pedidos [q1].`,
  ),
  ask(
    'it-top',
    [cities],
    'Ricavi per città?',
    `{m:Hamburg~Porto} è in testa con ${it.n(hamburg, 2)} € [q1].`,
  ),
  ask(
    'it-share',
    [cities],
    'Ricavi per città?',
    `Hamburg vale il ${it.p(hamburg / total)} dei ricavi totali [q1].`,
  ),
  ask(
    'it-sum',
    [quarters],
    'Ordini nel 2024?',
    `Nel 2024 ci sono stati in totale ${it.n(14210 + 15895 + 13377 + 19460)} ordini [q1].`,
  ),
  ask(
    'it-fall',
    [quarters],
    'Ordini nel 2024?',
    `Nel terzo trimestre gli ordini sono {d:calati~aumentati} del ${it.p(1 - 13377 / 15895)} [q1].`,
  ),
  ask(
    'pt-top',
    [cities],
    'Receita por cidade?',
    `{m:Hamburg~Lyon} lidera com € ${pt.n(hamburg, 2)} [q1].`,
  ),
  ask(
    'pt-total',
    [cities],
    'Receita por cidade?',
    `No total, foram € ${pt.s(total, [1e6, ' milhões'], 2)} [q1].`,
  ),
  ask(
    'pt-share',
    [cities],
    'Receita por cidade?',
    `Porto responde por ${pt.p(porto / total)} da receita [q1].`,
  ),
  ask(
    'nl-top',
    [cities],
    'Omzet per stad?',
    `{m:Hamburg~Porto} staat bovenaan met € ${nl.n(hamburg, 2)} [q1].`,
  ),
  ask(
    'nl-growth',
    [quarters],
    'Bestellingen in 2024?',
    `In het vierde kwartaal {d:steeg~daalde} het aantal bestellingen met ${nl.p(19460 / 13377 - 1)} naar ${nl.n(19460)} [q1].`,
  ),
  ask(
    'nl-share',
    [cities],
    'Omzet per stad?',
    `Lyon is goed voor ${nl.p(lyon / total)} van de omzet [q1].`,
  ),
  ask(
    'sv-top',
    [cities],
    'Intäkter per stad?',
    `{m:Hamburg~Kraków} leder med ${sv.n(hamburg, 2)} € [q1].`,
  ),
  ask(
    'sv-sum',
    [quarters],
    'Beställningar 2024?',
    `Totalt blev det ${sv.n(14210 + 15895 + 13377 + 19460)} beställningar [q1].`,
  ),
  ask(
    'pl-top',
    [cities],
    'Przychód według miasta?',
    `Najwięcej przyniósł {m:Hamburg~Lyon}: ${pl.n(hamburg, 2)} € [q1].`,
  ),
  ask(
    'pl-share',
    [cities],
    'Przychód według miasta?',
    `Kraków to ${pl.p(krakow / total)} przychodu [q1].`,
  ),
  ask(
    'ja-top',
    [cities],
    '都市別の売上は?',
    `最も売上が高いのは{m:Hamburg~Porto}で、${ja.n(hamburg, 2)}ユーロです [q1]。`,
  ),
  ask(
    'ja-man',
    [cities],
    '都市別の売上は?',
    `Lyonの売上は約${ja.s(lyon, [1e4, '万'], 1)}ユーロでした [q1]。`,
  ),
  ask(
    'ja-share',
    [cities],
    '都市別の売上は?',
    `Hamburgは全体の${ja.p(hamburg / total, 1, '%')}を占めます [q1]。`,
  ),
  ask(
    'ja-sum',
    [quarters],
    '2024年の注文数は?',
    `2024年の注文は合計${ja.n(14210 + 15895 + 13377 + 19460)}件でした [q1]。`,
  ),
  ask(
    'zh-top',
    [cities],
    '各城市的收入?',
    `{m:Hamburg~Porto}的收入最高,为${ja.n(hamburg, 2)}欧元 [q1]。`,
  ),
  ask(
    'zh-wan',
    [cities],
    '各城市的收入?',
    `Porto的收入约为${ja.s(porto, [1e4, '万'], 1)}欧元 [q1]。`,
  ),
  ask('zh-share', [cities], '各城市的收入?', `Lyon占总收入的${ja.p(lyon / total, 1, '%')} [q1]。`),
];
