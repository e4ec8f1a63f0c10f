import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { part, speech } from '../third/kit.ts';
import { amounts, table, thrown, total } from './kit.ts';

const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const nl = speech('nl-NL', '');
const pt = speech('pt-BR', '');
const pl = speech('pl-PL', '');
const sv = speech('sv-SE', ' ');
const ja = speech('ja-JP', '');
const zh = speech('zh-CN', '');
const Mio = [1e6, ' Mio.'] as const;

/** The same kinds of answer in other languages. */
export const elsewhere: readonly Telling[] = [
  told('7-de-ueberblick', 'Wie verteilt sich der Umsatz auf die Regionen?', (dice) => {
    const rows = ranked(dice, 'Süd|West|Nord|Ost', [300_000, 3_000_000]);
    const [a, b, c, d] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'region umsatz', ...rows)],
      `**Der Gesamtumsatz beträgt ${de.n(all)} €** [q1]. Davon entfallen auf:

      - **Süd**: ${de.n(a)} € (${de.p(a / all)})
      - **West**: ${de.n(b)} € (${de.p(b / all)})
      - **Nord**: ${de.n(c)} € (${de.p(c / all)})
      - **Ost**: ${de.n(d)} € (${de.p(d / all)})

      Süd und West machen zusammen ${de.p((a + b) / all)} aus; der Abstand zwischen Süd und Ost beträgt
      ${de.n(a - d)} €.`,
    ];
  }),
  told('7-de-wachstum', 'Wie hat sich der Absatz 2024 gegenüber 2023 entwickelt?', (dice) => {
    const [a, b] = thrown(dice, [40_000, 90_000], [40_000, 90_000]);
    return [
      [rowsOf('q1', 'jahr absatz', [2023, a], [2024, b])],
      `Der Absatz ist von ${de.n(a)} Stück im Jahr 2023 auf ${de.n(b)} Stück im Jahr 2024
      ${way(a, b, ['gestiegen', 'gesunken'])}, also um ${de.n(Math.abs(b - a))} Stück bzw.
      ${de.p(Math.abs(growth(a, b)))}. Pro Monat waren das im Schnitt ${de.n(b / 12)} Stück [q1].`,
    ];
  }),
  told('7-de-anteil', 'Wie viele Rechnungen werden zu spät bezahlt?', (dice) => {
    const all = dice.between(2000, 8000);
    const late = part(all, 0.1 + dice.next() / 5);
    return [
      [rowsOf('q1', 'rechnungen zu_spaet', [all, late])],
      `Von insgesamt ${de.n(all)} Rechnungen wurden ${de.n(late)} zu spät bezahlt, das entspricht einem Anteil von
      ${de.p(late / all)}. ${de.n(all - late)} Rechnungen (${de.p(1 - late / all)}) gingen fristgerecht ein [q1].`,
    ];
  }),
  told('7-de-plan', 'Erreichen wir das Ziel von 12 Mio. Euro?', (dice) => {
    const done = dice.between(7_000_000, 11_000_000);
    return [
      [rowsOf('q1', 'umsatz', [done])],
      `Noch nicht: Bisher sind es ${de.s(done, Mio)} €, das sind ${de.p(done / 12e6)} des Ziels von 12 Mio. €.
      Es fehlen noch rund ${de.s(12e6 - done, Mio)} € [q1].`,
    ];
  }),
  told('7-de-tabelle', 'Kosten pro Auftrag je Werk?', (dice) => {
    const rows = table(dice, 'Werk Ulm|Werk Jena', [300, 900], [60_000, 190_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'werk auftraege kosten', ...rows)],
      `| Werk | Aufträge | Kosten | Kosten je Auftrag |
      |---|---:|---:|---:|
      | Werk Ulm | ${de.n(a)} | ${de.n(x)} € | ${de.n(x / a, 2)} € |
      | Werk Jena | ${de.n(b)} | ${de.n(y)} € | ${de.n(y / b, 2)} € |
      | Gesamt | ${de.n(a + b)} | ${de.n(x + y)} € | ${de.n((x + y) / (a + b), 2)} € |

      [q1]`,
    ];
  }),
  told('7-fr-synthese', 'Quel est le chiffre d’affaires par canal ?', (dice) => {
    const rows = ranked(dice, 'Boutique|Site web|Revendeurs', [200_000, 2_000_000]);
    const [a, b, c] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'canal chiffre_affaires', ...rows)],
      `Le chiffre d’affaires total s’élève à **${fr.n(all)} €**, réparti ainsi :

      - **Boutique** : ${fr.n(a)} € (${fr.p(a / all)})
      - **Site web** : ${fr.n(b)} € (${fr.p(b / all)})
      - **Revendeurs** : ${fr.n(c)} € (${fr.p(c / all)})

      La boutique devance le site web de ${fr.n(a - b)} € [q1].`,
    ];
  }),
  told('7-fr-evolution', 'Comment ont évolué les commandes entre mai et juin 2025 ?', (dice) => {
    const rows = walk(dice, '2025-05|2025-06', 4000);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'mois commandes', ...rows)],
      `En juin 2025, on compte ${fr.n(b)} commandes contre ${fr.n(a)} en mai, soit une
      ${way(a, b, ['hausse', 'baisse'])} de ${fr.n(Math.abs(b - a))} commandes (${fr.sp(growth(a, b))}) [q1].`,
    ];
  }),
  told('7-fr-moyenne', 'Quel est le panier moyen par magasin ?', (dice) => {
    const rows = table(dice, 'Nantes|Lille', [900, 4000], [40_000, 190_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'magasin tickets ventes', ...rows)],
      `Le panier moyen est de ${fr.n(x / a, 2)} € à Nantes (${fr.n(a)} tickets) et de ${fr.n(y / b, 2)} € à Lille
      (${fr.n(b)} tickets). Sur les deux magasins réunis, il atteint ${fr.n((x + y) / (a + b), 2)} € [q1].`,
    ];
  }),
  told('7-es-resumen', '¿Cuántos pedidos se cancelaron en 2024?', (dice) => {
    const all = dice.between(20_000, 60_000);
    const off = part(all, 0.03 + dice.next() / 12);
    return [
      [rowsOf('q1', 'anio pedidos cancelados', [2024, all, off])],
      `En 2024 se cancelaron ${es.n(off)} de ${es.n(all)} pedidos, es decir, el ${es.p(off / all)}. Los ${es.n(all - off)}
      pedidos restantes se completaron [q1].`,
    ];
  }),
  told('7-es-ventas', '¿Cómo van las ventas por tienda?', (dice) => {
    const rows = ranked(dice, 'Sevilla|Bilbao|Murcia', [90_000, 500_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'tienda ventas', ...rows)],
      `1. **Sevilla**: ${es.n(a)} € (${es.p(a / sum(rows))} del total)
      2. **Bilbao**: ${es.n(b)} € (${es.p(b / sum(rows))})
      3. **Murcia**: ${es.n(c)} € (${es.p(c / sum(rows))})

      En conjunto suman ${es.n(sum(rows))} €. Sevilla vende ${es.n(a / c, 1)} veces más que Murcia [q1].`,
    ];
  }),
  told('7-it-quote', 'Qual è la quota di ogni linea?', (dice) => {
    const rows = ranked(dice, 'Linea Oro|Linea Blu', [200_000, 900_000]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'linea ricavi', ...rows)],
      `La Linea Oro genera ${it.n(a)} € di ricavi, pari al ${it.p(a / (a + b))} del totale di ${it.n(a + b)} €; la
      Linea Blu contribuisce con ${it.n(b)} € (${it.p(b / (a + b))}). La differenza è di ${it.n(a - b)} € [q1].`,
    ];
  }),
  told('7-it-crescita', 'Come sono cambiati gli abbonati dal 2022 al 2024?', (dice) => {
    const rows = walk(dice, '2022|2023|2024', 30_000);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'anno abbonati', ...rows.map(([year, value]) => [Number(year), value]))],
      `Gli abbonati sono passati da ${it.n(a)} nel 2022 a ${it.n(c)} nel 2024 (${it.sp(growth(a, c))}). Nel 2023 erano
      ${it.n(b)}, cioè ${it.n(Math.abs(b - a))} in ${way(a, b, ['più', 'meno'])} rispetto all’anno prima [q1].`,
    ];
  }),
  told('7-nl-omzet', 'Hoeveel omzet komt uit België?', (dice) => {
    const rows = ranked(dice, 'Nederland|België|Duitsland', [300_000, 2_000_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'land omzet', ...rows)],
      `België is goed voor € ${nl.n(b)}, oftewel ${nl.p(b / sum(rows))} van de totale omzet van € ${nl.n(sum(rows))}.
      Nederland staat bovenaan met € ${nl.n(a)} en Duitsland volgt op de derde plaats met € ${nl.n(c)} [q1].`,
    ];
  }),
  told('7-nl-gemiddeld', 'Hoe lang duurt een levering gemiddeld?', (dice) => {
    const rows = table(dice, 'Utrecht|Gent', [26, 90], [300, 900]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'depot gem_uren leveringen', ...rows)],
      `Een levering vanuit Utrecht duurt gemiddeld ${nl.n(a)} uur, vanuit Gent ${nl.n(b)} uur. Dat is een verschil van
      ${nl.n(Math.abs(a - b))} uur, omgerekend ${nl.n(Math.abs(a - b) / 24, 1)} dagen [q1].`,
    ];
  }),
  told('7-pt-receita', 'Qual foi a receita por trimestre em 2024?', (dice) => {
    const rows = walk(dice, '2024-Q1|2024-Q2|2024-Q3', 700_000);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'trimestre receita', ...rows)],
      `No 1º trimestre de 2024 a receita foi de R$ ${pt.n(a)}, no 2º trimestre de R$ ${pt.n(b)}
      (${pt.sp(growth(a, b))}) e no 3º de R$ ${pt.n(c)} (${pt.sp(growth(b, c))}). O acumulado dos três trimestres é de
      R$ ${pt.n(a + b + c)} [q1].`,
    ];
  }),
  told('7-pl-klienci', 'Ilu klientów straciliśmy w marcu?', (dice) => {
    const [all] = thrown(dice, [3000, 9000]);
    const lost = part(all, 0.02 + dice.next() / 20);
    return [
      [rowsOf('q1', 'klienci utraceni', [all, lost])],
      `W marcu straciliśmy ${pl.n(lost)} z ${pl.n(all)} klientów, czyli ${pl.p(lost / all)}. Na koniec miesiąca
      pozostało ${pl.n(all - lost)} klientów [q1].`,
    ];
  }),
  told('7-sv-butiker', 'Hur stor del av försäljningen står Malmö för?', (dice) => {
    const rows = ranked(dice, 'Stockholm|Göteborg|Malmö', [300_000, 3_000_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'stad forsaljning', ...rows)],
      `Malmö står för ${sv.p(c / sum(rows))} av försäljningen (${sv.n(c)} kr av totalt ${sv.n(sum(rows))} kr). Det är
      ${sv.n(b - c)} kr mindre än Göteborg (${sv.n(b)} kr) och ${sv.n(a - c)} kr mindre än Stockholm [q1].`,
    ];
  }),
  told('7-ja-uriage', '第3四半期の売上はどうでしたか？', (dice) => {
    const rows = walk(dice, '2025-07|2025-08|2025-09', 3_000_000);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', '月 売上', ...rows)],
      `第3四半期の売上合計は${ja.n(a + b + c)}円でした。内訳は7月が${ja.n(a)}円、8月が${ja.n(b)}円、9月が${ja.n(c)}円です。7月から9月にかけて${ja.p(Math.abs(growth(a, c)))}${way(a, c, ['増加', '減少'])}しました [q1]。`,
    ];
  }),
  told('7-zh-dingdan', '各渠道的订单量是多少？', (dice) => {
    const rows = ranked(dice, '小程序|官网|门店', [2000, 30_000]);
    const [a, b, c] = amounts(rows);
    const all = total([a, b, c]);
    return [
      [rowsOf('q1', '渠道 订单量', ...rows)],
      `总订单量为${zh.n(all)}单，其中：

      - 小程序：${zh.n(a)}单，占比${zh.p(a / all)}
      - 官网：${zh.n(b)}单，占比${zh.p(b / all)}
      - 门店：${zh.n(c)}单，占比${zh.p(c / all)}

      小程序比官网多${zh.n(a - b)}单 [q1]。`,
    ];
  }),
];
