import { rowsOf } from '../blind/answer.ts';
import { growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { amounts, table, thrown } from '../seventh/kit.ts';
import { part, speech } from '../third/kit.ts';

const { n, p, s, sp } = speech('en-US', '');
const M = [1e6, 'M'] as const;
const de = speech('de-DE', ' ');
const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const it = speech('it-IT', '');
const nl = speech('nl-NL', '');
const pt = speech('pt-PT', '');
const ja = speech('ja-JP', '');
const ko = speech('ko-KR', '');

export const abroad: readonly Telling[] = [
  told('8-de-buecherei', 'Wie viele Ausleihen gab es je Zweigstelle?', (dice) => {
    const rows = ranked(dice, 'Mitte|Linden|Ricklingen', [9000, 60_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'zweigstelle ausleihen', ...rows)],
      `Insgesamt wurden ${de.n(sum(rows))} Medien ausgeliehen. Die meisten davon in der Zweigstelle Mitte
      (${de.n(a)}, das sind ${de.p(a / sum(rows))}), gefolgt von Linden mit ${de.n(b)} und Ricklingen mit
      ${de.n(c)}. Mitte liegt damit ${de.n(a - b)} Ausleihen vor Linden [q1].`,
    ];
  }),
  told('8-de-strom', 'Wie hat sich unser Stromverbrauch verändert?', (dice) => {
    const rows = walk(dice, '2023|2024', 90_000).map(([year, kwh]) => [Number(year), kwh] as const);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'jahr kwh', ...rows)],
      `2024 haben wir ${de.n(b)} kWh verbraucht, nach ${de.n(a)} kWh im Vorjahr. Das ist
      ${way(a, b, ['ein Anstieg', 'ein Rückgang'])} um ${de.n(Math.abs(b - a))} kWh oder
      ${de.p(Math.abs(growth(a, b)))}. Umgerechnet auf den Monat sind es ${de.n(b / 12)} kWh [q1].`,
    ];
  }),
  told('8-de-krank', 'Wie hoch ist der Krankenstand?', (dice) => {
    const [days, sick] = thrown(dice, [9000, 20_000], [300, 900]);
    return [
      [rowsOf('q1', 'solltage kranktage', [days, sick])],
      `Der Krankenstand liegt bei ${de.p(sick / days, 2)}: ${de.n(sick)} Kranktage bei ${de.n(days)} Solltagen. Anders
      gesagt wurde an ${de.n(days - sick)} Tagen gearbeitet [q1].`,
    ];
  }),
  told('8-fr-hopital', 'Combien de consultations par service ?', (dice) => {
    const rows = ranked(dice, 'Pédiatrie|Urgences|Radiologie', [900, 9000]);
    const [a, b, c] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'service consultations', ...rows)],
      `| Service | Consultations | Part |
      |---|---:|---:|
      | Pédiatrie | ${fr.n(a)} | ${fr.p(a / all)} |
      | Urgences | ${fr.n(b)} | ${fr.p(b / all)} |
      | Radiologie | ${fr.n(c)} | ${fr.p(c / all)} |
      | **Total** | **${fr.n(all)}** | **100 %** |

      La pédiatrie compte ${fr.n(a - c)} consultations de plus que la radiologie [q1].`,
    ];
  }),
  told('8-fr-taux', 'Quel est le taux de réussite ?', (dice) => {
    const all = dice.between(400, 1900);
    const won = part(all, 0.6 + dice.next() / 4);
    return [
      [rowsOf('q1', 'candidats admis', [all, won])],
      `Sur ${fr.n(all)} candidats, ${fr.n(won)} ont été admis, ce qui donne un taux de réussite de ${fr.p(won / all)}. Les
      ${fr.n(all - won)} autres (${fr.p(1 - won / all)}) ont échoué [q1].`,
    ];
  }),
  told('8-es-hotel', '¿Cómo fue la ocupación en julio y agosto de 2025?', (dice) => {
    const rows = walk(dice, '2025-07|2025-08', 6000);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'mes noches_vendidas', ...rows)],
      `En julio de 2025 se vendieron ${es.n(a)} noches y en agosto ${es.n(b)}, lo que supone
      ${way(a, b, ['un aumento', 'un descenso'])} del ${es.p(Math.abs(growth(a, b)))} (${es.n(Math.abs(b - a))} noches). En
      los dos meses sumamos ${es.n(a + b)} noches [q1].`,
    ];
  }),
  told('8-es-coste', '¿Cuál es el coste por alumno?', (dice) => {
    const rows = table(dice, 'Primaria|Secundaria', [200, 900], [400_000, 2_000_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'etapa alumnos coste', ...rows)],
      `El coste por alumno es de ${es.n(x / a)} € en Primaria (${es.n(a)} alumnos) y de ${es.n(y / b)} € en Secundaria
      (${es.n(b)} alumnos). La media de ambas etapas es de ${es.n((x + y) / (a + b))} € por alumno [q1].`,
    ];
  }),
  told('8-it-vini', 'Quali vini vendiamo di più?', (dice) => {
    const rows = ranked(dice, 'Barolo|Soave|Chianti', [900, 9000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'vino bottiglie', ...rows)],
      `Il più venduto è il Barolo con ${it.n(a)} bottiglie (${it.p(a / sum(rows))} delle ${it.n(sum(rows))} totali), davanti
      al Soave (${it.n(b)}) e al Chianti (${it.n(c)}). Del Barolo si vendono ${it.n(a - b)} bottiglie in più rispetto al
      Soave [q1].`,
    ];
  }),
  told('8-nl-zorg', 'Hoeveel afspraken werden afgezegd?', (dice) => {
    const all = dice.between(3000, 9000);
    const off = part(all, 0.06 + dice.next() / 12);
    return [
      [rowsOf('q1', 'afspraken afgezegd', [all, off])],
      `Van de ${nl.n(all)} afspraken zijn er ${nl.n(off)} afgezegd, dat is ${nl.p(off / all)}. De overige
      ${nl.n(all - off)} gingen gewoon door [q1].`,
    ];
  }),
  told('8-pt-vinhas', 'Quanto produziu cada vinha?', (dice) => {
    const rows = ranked(dice, 'Douro|Dão', [9000, 60_000]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'vinha litros', ...rows)],
      `O Douro produziu ${pt.n(a)} litros e o Dão ${pt.n(b)} litros, num total de ${pt.n(a + b)} litros. O Douro representa
      ${pt.p(a / (a + b))} da produção e produziu mais ${pt.n(a - b)} litros do que o Dão [q1].`,
    ];
  }),
  told('8-ja-kaiin', '会員数の推移を教えてください。', (dice) => {
    const rows = walk(dice, '2023|2024', 30_000).map(
      ([year, many]) => [Number(year), many] as const,
    );
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', '年 会員数', ...rows)],
      `会員数は2023年の${ja.n(a)}人から2024年には${ja.n(b)}人に${way(a, b, ['増加', '減少'])}しました。差は${ja.n(Math.abs(b - a))}人、率にして${ja.p(Math.abs(growth(a, b)))}です [q1]。`,
    ];
  }),
  told('8-ko-maechul', '지점별 매출은 얼마인가요?', (dice) => {
    const rows = ranked(dice, '강남점|홍대점|부산점', [3_000_000, 90_000_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', '지점 매출', ...rows)],
      `- 강남점: ${ko.n(a)}원 (${ko.p(a / sum(rows))})
      - 홍대점: ${ko.n(b)}원 (${ko.p(b / sum(rows))})
      - 부산점: ${ko.n(c)}원 (${ko.p(c / sum(rows))})

      총 매출은 ${ko.n(sum(rows))}원이며, 강남점이 부산점보다 ${ko.n(a - c)}원 많습니다 [q1].`,
    ];
  }),
  told('8-portfolio', 'How is the fund allocated?', (dice) => {
    const rows = ranked(dice, 'Equities|Bonds|Real estate|Cash', [2_000_000, 40_000_000]);
    const [a, b, c, d] = amounts(rows);
    const all = sum(rows);
    return [
      [rowsOf('q1', 'asset_class market_value', ...rows)],
      `Of the fund's **$${s(all, M, 1)}**, ${p(a / all, 0)} is in equities ($${s(a, M, 1)}) and ${p(b / all, 0)} in bonds
      ($${s(b, M, 1)}). Real estate ($${s(c, M, 1)}) and cash ($${s(d, M, 1)}) make up the remaining
      ${p((c + d) / all, 0)} [q1].`,
    ];
  }),
  told('8-app-store', 'How do ratings split?', (dice) => {
    const rows = table(dice, '5 stars|4 stars|3 stars|2 stars|1 star', [300, 4000]);
    const all = amounts(rows).slice(0, 5);
    const [a, b, c, d, e] = amounts(rows);
    const whole = all.reduce((one, two) => one + two, 0);
    return [
      [rowsOf('q1', 'rating reviews', ...rows)],
      `Out of ${n(whole)} reviews, ${n(a + b)} (${p((a + b) / whole)}) gave 4 or 5 stars and ${n(d + e)}
      (${p((d + e) / whole)}) gave 1 or 2 stars. ${n(c)} reviews had 3 stars. The average rating is
      ${n((a * 5 + b * 4 + c * 3 + d * 2 + e) / whole, 2)} stars [q1].`,
    ];
  }),
  told('8-auction', 'How did the June 12 auction go?', (dice) => {
    const [lots, sold, money] = thrown(dice, [200, 400], [90, 190], [400_000, 900_000]);
    return [
      [rowsOf('q1', 'auction_date lots sold hammer_total', ['2025-06-12', lots, sold, money])],
      `On June 12, 2025, ${n(sold)} of ${n(lots)} lots found a buyer (a sell-through rate of ${p(sold / lots)}). The hammer
      total was $${n(money)}, or $${n(money / sold)} per lot sold. ${n(lots - sold)} lots were bought in [q1].`,
    ];
  }),
  told('8-oncall', 'How many alerts did each team get in weeks 30 and 31?', (dice) => {
    const rows = table(dice, 'Core|Edge|Data', [20, 190], [20, 190]);
    const lines = rows.map(
      ([team, a = 1, b = 0]) =>
        `| ${team} | ${n(a)} | ${n(b)} | ${n(a + b)} | ${sp(growth(a, b), 0)} |`,
    );
    const [all] = [rows.reduce((whole, [, a = 0, b = 0]) => whole + a + b, 0)];
    return [
      [rowsOf('q1', 'team alerts_w30 alerts_w31', ...rows)],
      `| Team | W30 | W31 | Both | Change |
      |---|---|---|---|---|
      ${lines.join('\n')}

      That makes ${n(all)} alerts in two weeks, ${n(all / 14, 1)} a day [q1].`,
    ];
  }),
];
