import { rowsOf, writer } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from './kit.ts';

const { n, p: percent } = writer('ja-JP');
const p = (fraction: number, digits = 1) => percent(fraction, digits, '%');
const man = (value: number) => `{${(value / 10_000).toFixed(1)}万}`;

export const asian: readonly Telling[] = [
  told('ja-uriage', '地域別の売上は？', (dice) => {
    const rows = ranked(dice, '東京|大阪|福岡', [900_000, 9_000_000]);
    return [
      [rowsOf('q1', '地域 売上', ...rows)],
      `売上が最も多いのは{m:東京~福岡}で${n(at(rows, 0)[1])}円、全体の${p(at(rows, 0)[1] / sum(rows))}です。
      次いで大阪が${n(at(rows, 1)[1])}円、福岡が${n(at(rows, 2)[1])}円でした。合計は${man(sum(rows))}円です [q1]。`,
    ];
  }),
  told('ja-zogen', '注文数は増えましたか？', (dice) => {
    const [a, b] = [dice.between(3100, 9800), dice.between(3100, 9800)];
    return [
      [rowsOf('q1', '年 注文数', [2023, a], [2024, b])],
      `注文数は2023年の${n(a)}件から2024年の${n(b)}件へ${p(Math.abs(growth(a, b)))}${way(a, b, ['増加', '減少'])}
      しました [q1]。差は${n(Math.abs(b - a))}件です。`,
    ];
  }),
  told('ja-tsuki', '2025年4月と5月の会員数は？', (dice) => {
    const rows = walk(dice, '2025-04|2025-05', 12_000);
    return [
      [rowsOf('q1', '月 会員数', ...rows)],
      `2025年{p:4月~9月}の会員数は${n(at(rows, 0)[1])}人、5月は${n(at(rows, 1)[1])}人です [q1]。
      退会理由のデータはありません。`,
    ];
  }),
  told('ja-tanka', '1件あたりの平均単価は？', (dice) => {
    const [orders, total] = [dice.between(1200, 4800), dice.between(5_000_000, 20_000_000)];
    return [
      [rowsOf('q1', '注文数 売上', [orders, total])],
      `平均単価は約${n(total / orders)}円です（売上${n(total)}円 ÷ ${n(orders)}件）[q1]。`,
    ];
  }),
  told('zh-xiaoshou', '各渠道的销售额是多少？', (dice) => {
    const rows = ranked(dice, '线上|门店|分销', [600_000, 8_000_000]);
    return [
      [rowsOf('q1', '渠道 销售额', ...rows)],
      `{m:线上~分销}渠道销售额最高，为${n(at(rows, 0)[1])}元，占总额的${p(at(rows, 0)[1] / sum(rows))}。三个渠道
      合计约${man(sum(rows))}元 [q1]。`,
    ];
  }),
  told('zh-zengzhang', '用户增长了多少？', (dice) => {
    const [a, b] = [dice.between(21_000, 70_000), dice.between(21_000, 70_000)];
    return [
      [rowsOf('q1', '年份 用户数', [2023, a], [2024, b])],
      `用户数从2023年的${n(a)}${way(a, b, ['增长', '下降'])}到2024年的${n(b)}，变化幅度为
      ${p(Math.abs(growth(a, b)))} [q1]。`,
    ];
  }),
];
