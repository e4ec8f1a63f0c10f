import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from '../third/kit.ts';

const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const pt = speech('pt-BR', '');
const nl = speech('nl-NL', '');
const pl = speech('pl-PL', '');
const ja = speech('ja-JP', '');

export const languages: readonly Telling[] = [
  told('4-de-strom', 'Wie viel Strom haben die Werke 2024 verbraucht?', (dice) => {
    const rows = ranked(dice, 'Werk Süd|Werk Nord', [900_000, 8_000_000]);
    const mwh = [1000, ' MWh'] as const;
    return [
      [rowsOf('q1', 'werk verbrauch_kwh', ...rows)],
      `Das Werk Süd hat ${de.s(at(rows, 0)[1], mwh, 0)} verbraucht, das Werk Nord
      ${de.s(at(rows, 1)[1], mwh, 0)}. Zusammen sind das ${de.s(sum(rows), [1e6, ' GWh'], 2)}; auf das Werk Süd
      entfallen ${de.p(at(rows, 0)[1] / sum(rows), 0)} [q1].`,
    ];
  }),
  told('4-de-marge', 'Wie hoch ist der Deckungsbeitrag je Produkt?', (dice) => {
    const rows = ['Stuhl', 'Tisch'].map((name) => {
      const price = dice.between(60, 400);
      return [name, dice.between(100, 900), price, part(price, 0.4 + dice.next() / 4)] as const;
    });
    const [a, b] = [at(rows, 0), at(rows, 1)];
    return [
      [rowsOf('q1', 'produkt menge preis stueckkosten', ...rows)],
      `Beim Stuhl bleiben ${de.n(a[2] - a[3])} € je Stück (${de.p((a[2] - a[3]) / a[2])} vom Preis), beim Tisch
      ${de.n(b[2] - b[3])} € (${de.p((b[2] - b[3]) / b[2])}). Bei ${de.n(a[1])} verkauften Stühlen ergibt das
      ${de.n((a[2] - a[3]) * a[1])} € Deckungsbeitrag [q1].`,
    ];
  }),
  told('4-de-ziel', 'Erreichen wir das Jahresziel von 2 Mio. €?', (dice) => {
    const sold = dice.between(1_100_000, 1_700_000);
    return [
      [
        withSql(
          "SELECT SUM(umsatz) AS umsatz FROM auftraege WHERE datum >= '2025-01-01' AND datum < '2025-10-01'",
          rowsOf('q1', 'umsatz', [sold]),
        ),
      ],
      `Bis Ende September wurden ${de.n(sold)} € erreicht, das sind ${de.p(sold / 2e6)} des Ziels von 2 Mio. €.
      Es fehlen noch ${de.n(2e6 - sold)} €, also rund ${de.n((2e6 - sold) / 3)} € pro Monat [q1].`,
    ];
  }),
  told('4-de-vergleich', 'Welche Filiale ist produktiver?', (dice) => {
    const rows = ['Bonn', 'Kiel'].map(
      (name) => [name, dice.between(600_000, 2_000_000), dice.between(8, 25)] as const,
    );
    const per = (index: number) => at(rows, index)[1] / at(rows, index)[2];
    return [
      [rowsOf('q1', 'filiale umsatz mitarbeitende', ...rows)],
      `Umsatz je Kopf: Bonn ${de.n(per(0))} €, Kiel ${de.n(per(1))} €. Bonn hat ${de.n(at(rows, 0)[2])}
      Mitarbeitende, Kiel ${de.n(at(rows, 1)[2])}. Der Unterschied beträgt
      ${de.n(Math.abs(per(0) - per(1)))} € je Kopf [q1].`,
    ];
  }),
  told('4-fr-abonnes', "Combien d'abonnés avons-nous gagnés ce trimestre ?", (dice) => {
    const start = dice.between(8000, 20_000);
    const [plus, moins] = [dice.between(900, 2000), dice.between(200, 800)];
    return [
      [rowsOf('q1', 'debut nouveaux resilies', [start, plus, moins])],
      `Nous avons gagné ${fr.n(plus)} abonnés et en avons perdu ${fr.n(moins)}, soit un solde de
      +${fr.n(plus - moins)}. Nous passons donc de ${fr.n(start)} à ${fr.n(start + plus - moins)} abonnés
      (${fr.sp((plus - moins) / start)}) [q1].`,
    ];
  }),
  told('4-fr-prix', 'Quel est le prix moyen au kilo ?', (dice) => {
    const rows = ['Comté', 'Brie'].map((name) => {
      const kilos = dice.between(300, 900);
      return [name, kilos, kilos * dice.between(11, 27)] as const;
    });
    return [
      [rowsOf('q1', 'fromage kilos montant', ...rows)],
      `Le Comté se vend en moyenne ${fr.n(at(rows, 0)[2] / at(rows, 0)[1], 2)} € le kilo et le Brie
      ${fr.n(at(rows, 1)[2] / at(rows, 1)[1], 2)} €. Sur les deux fromages : ${fr.n(column(rows, 2))} € pour
      ${fr.n(column(rows, 1))} kg, soit ${fr.n(column(rows, 2) / column(rows, 1), 2)} €/kg [q1].`,
    ];
  }),
  told('4-fr-annee', 'Le chiffre de 2024 dépasse-t-il celui de 2023 ?', (dice) => {
    const [a, b] = [dice.between(3e6, 9e6), dice.between(3e6, 9e6)];
    return [
      [rowsOf('q1', 'annee chiffre', [2023, a], [2024, b])],
      `${b > a ? 'Oui' : 'Non'} : ${fr.s(b, [1e6, ' millions'], 2)} d'euros en 2024 contre
      ${fr.s(a, [1e6, ' millions'], 2)} l'année précédente, soit ${fr.sp(growth(a, b))} [q1].`,
    ];
  }),
  told('4-es-ocupacion', '¿Cuál fue la ocupación del hotel en agosto?', (dice) => {
    const rooms = dice.between(60, 190);
    const sold = part(rooms * 31, 0.6 + dice.next() / 3);
    return [
      [rowsOf('q1', 'noches_disponibles noches_vendidas', [rooms * 31, sold])],
      `En agosto se vendieron ${es.n(sold)} de ${es.n(rooms * 31)} noches disponibles, una ocupación del
      ${es.p(sold / (rooms * 31))}. Quedaron libres ${es.n(rooms * 31 - sold)} noches [q1].`,
    ];
  }),
  told('4-es-tabla', 'Ingresos por canal y su peso.', (dice) => {
    const rows = ranked(dice, 'Web|Tienda|Teléfono', [100_000, 900_000]);
    const lines = rows.map(
      ([name, value]) => `| ${name} | ${es.n(value)} € | ${es.p(value / sum(rows))} |`,
    );
    return [
      [rowsOf('q1', 'canal ingresos', ...rows)],
      `| Canal | Ingresos | Peso |
      |---|---|---|
      ${lines.join('\n')}
      | Total | ${es.n(sum(rows))} € | 100 % |

      El canal web ingresa ${es.n(at(rows, 0)[1] / at(rows, 2)[1], 1)} veces más que el teléfono [q1].`,
    ];
  }),
  told('4-it-consegne', 'Quante consegne sono arrivate in ritardo?', (dice) => {
    const all = dice.between(3000, 9000);
    const late = part(all, 0.04 + dice.next() / 12);
    return [
      [rowsOf('q1', 'consegne in_ritardo', [all, late])],
      `Su ${it.n(all)} consegne ${it.n(late)} sono arrivate in ritardo (${it.p(late / all)}), cioè circa una ogni
      ${it.n(all / late)}; le altre ${it.n(all - late)} erano puntuali [q1].`,
    ];
  }),
  told('4-it-mese', 'Come sono andate le vendite a maggio rispetto ad aprile?', (dice) => {
    const rows = walk(dice, '2025-04|2025-05', 300_000);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', 'mese vendite', ...rows)],
      `A maggio 2025 le vendite sono state pari a ${it.n(b)} €, ${it.n(Math.abs(b - a))} € in
      ${way(a, b, ['più', 'meno'])} rispetto ad aprile (${it.n(a)} €), ossia ${it.sp(growth(a, b))} [q1].`,
    ];
  }),
  told('4-pt-margem', 'Qual é a margem por linha?', (dice) => {
    const rows = ['Calçados', 'Roupas'].map((name) => {
      const income = dice.between(400_000, 2_000_000);
      return [name, income, part(income, 0.5 + dice.next() / 4)] as const;
    });
    const lines = rows.map(
      ([name, income, cost]) => `- ${name}: ${pt.p(1 - cost / income)} (R$ ${pt.n(income - cost)})`,
    );
    return [
      [rowsOf('q1', 'linha receita custo', ...rows)],
      `${lines.join('\n')}
      - Total: ${pt.p(1 - column(rows, 2) / column(rows, 1))} (R$ ${pt.n(column(rows, 1) - column(rows, 2))} sobre
      R$ ${pt.n(column(rows, 1))}) [q1]`,
    ];
  }),
  told('4-nl-wachttijd', 'Hoe lang is de wachttijd?', (dice) => {
    const [a, b] = [dice.between(15, 60), dice.between(15, 60)];
    return [
      [rowsOf('q1', 'maand dagen', ['2025-03', a], ['2025-04', b])],
      `In april was de wachttijd gemiddeld ${nl.n(b)} dagen (${nl.n(b / 7, 1)} weken); in maart was dat nog
      ${nl.n(a)} dagen [q1].`,
    ];
  }),
  told('4-pl-koszt', 'Jaki był koszt na jednego klienta?', (dice) => {
    const [cost, people] = [dice.between(20_000, 90_000), dice.between(210, 900)];
    return [
      [rowsOf('q1', 'koszt nowi_klienci', [cost, people])],
      `Wydano ${pl.n(cost)} zł i pozyskano ${pl.n(people)} klientów, czyli średnio ${pl.n(cost / people, 2)} zł
      na klienta [q1].`,
    ];
  }),
  told('4-ja-riyo', '店舗ごとの客単価は？', (dice) => {
    const rows = ['渋谷', '横浜'].map((name) => {
      const people = dice.between(900, 4000);
      return [name, people, people * dice.between(800, 3000)] as const;
    });
    return [
      [rowsOf('q1', '店舗 客数 売上', ...rows)],
      `客単価は渋谷が${ja.n(at(rows, 0)[2] / at(rows, 0)[1])}円、横浜が${ja.n(at(rows, 1)[2] / at(rows, 1)[1])}円です。
      2店舗合計の売上は${ja.n(column(rows, 2))}円、客数は${ja.n(column(rows, 1))}人でした [q1]。`,
    ];
  }),
  told('4-zh-mubiao', '全年目标500万元完成了多少？', (dice) => {
    const sold = dice.between(2_600_000, 4_600_000);
    return [
      [rowsOf('q1', '销售额', [sold])],
      `目前销售额为${ja.n(sold)}元，完成全年目标500万元的${ja.p(sold / 5e6)}，还差
      {${((5e6 - sold) / 10_000).toFixed(1)}万}元 [q1]。`,
    ];
  }),
  told('4-zh-duibi', '两个仓库的库存对比？', (dice) => {
    const rows = ranked(dice, '华东仓|华南仓', [3000, 20_000]);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', '仓库 库存', ...rows)],
      `华东仓有${ja.n(a)}件，华南仓有${ja.n(b)}件，华东仓多${ja.n(a - b)}件，占总库存的
      ${ja.p(a / (a + b))} [q1]。`,
    ];
  }),
  told('4-es-dias', '¿Cuántos días tardamos en cobrar?', (dice) => {
    const [owed, sold] = [dice.between(200_000, 900_000), dice.between(3e6, 6e6)];
    return [
      [rowsOf('q1', 'por_cobrar ventas_12m', [owed, sold])],
      `Tardamos unos ${es.n((owed / sold) * 365)} días: ${es.n(owed)} € por cobrar entre ${es.n(sold)} € de ventas
      de los últimos 12 meses, por 365 [q1].`,
    ];
  }),
];
