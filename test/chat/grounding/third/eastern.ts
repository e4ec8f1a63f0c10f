import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, walk, way } from '../second/kit.ts';
import { column, part, speech, withSql } from './kit.ts';

const { n, p, sp } = speech('ja-JP', '');
const tr = speech('tr-TR', '');
const ru = speech('ru-RU', ' ');
const man = (value: number, digits = 0) => `{${(value / 10_000).toFixed(digits)}万}`;
const oku = (value: number, digits = 2) => `{${(value / 1e8).toFixed(digits)}億}`;
const yi = (value: number, digits = 2) => `{${(value / 1e8).toFixed(digits)}亿}`;

export const eastern: readonly Telling[] = [
  told('3-ja-ichigyo', '有効な会員は何人ですか？', (dice) => {
    const all = dice.between(10_000, 90_000);
    return [[rowsOf('q1', '会員数', [all])], `有効な会員は${n(all)}人です [q1]。`];
  }),
  told('3-ja-zennen', '2025年第1四半期の売上は前年同期と比べてどうですか？', (dice) => {
    const [a, b] = [dice.between(1e8, 9e8), dice.between(1e8, 9e8)];
    return [
      [rowsOf('q1', '四半期 売上', ['2024-Q1', a], ['2025-Q1', b])],
      `2025年第1四半期の売上は${oku(b)}円で、前年同期（${oku(a)}円）比${sp(growth(a, b))}でした。
      差額は${n(Math.abs(b - a))}円です [q1]。`,
    ];
  }),
  told('3-ja-hyo', '商品カテゴリ別の売上と構成比を表にしてください。', (dice) => {
    const rows = ranked(dice, '食品|飲料|雑貨', [400_000, 9_000_000]);
    const lines = rows.map(
      ([name, value]) => `| ${name} | ${n(value)}円 | ${p(value / sum(rows))} |`,
    );
    return [
      [rowsOf('q1', 'カテゴリ 売上', ...rows)],
      `| カテゴリ | 売上 | 構成比 |
      |---|---|---|
      ${lines.join('\n')}

      合計は約${man(sum(rows))}円です。1位の食品と2位の飲料で${p((at(rows, 0)[1] + at(rows, 1)[1]) / sum(rows))}を
      占めます [q1]。`,
    ];
  }),
  told('3-ja-okure', '3日以上遅れた配送は何件？', (dice) => {
    const all = dice.between(2000, 9000);
    const late = part(all, 0.02 + dice.next() / 20);
    return [
      [
        withSql(
          'SELECT COUNT(*) AS 配送, COUNT(*) FILTER (WHERE 遅延日数 >= 3) AS 遅延 FROM 配送',
          rowsOf('q1', '配送 遅延', [all, late]),
        ),
      ],
      `全${n(all)}件のうち${n(late)}件（${p(late / all, 2)}）が3日以上遅れました [q1]。`,
    ];
  }),
  told('3-zh-paiming', '销售额前三的城市是哪些？', (dice) => {
    const rows = ranked(dice, '上海|北京|深圳', [3e7, 9e8]);
    return [
      [rowsOf('q1', '城市 销售额', ...rows)],
      `前3名分别是：
      1. 上海：${yi(at(rows, 0)[1])}元
      2. 北京：${yi(at(rows, 1)[1])}元
      3. 深圳：${yi(at(rows, 2)[1])}元

      三城合计${yi(sum(rows))}元，其中{m:上海~深圳}占${p(at(rows, 0)[1] / sum(rows))} [q1]。`,
    ];
  }),
  told('3-zh-huanbi', '5月订单量环比如何？', (dice) => {
    const [a, b] = [dice.between(9000, 40_000), dice.between(9000, 40_000)];
    return [
      [rowsOf('q1', '月份 订单量', ['2025-04', a], ['2025-05', b])],
      `2025年5月订单量为${n(b)}单，较4月的${n(a)}单${way(a, b, ['增加', '减少'])}了${n(Math.abs(b - a))}单，
      环比${way(a, b, ['上升', '下降'])}${p(Math.abs(growth(a, b)))} [q1]。`,
    ];
  }),
  told('3-zh-renjun', '人均消费是多少？', (dice) => {
    const [total, people] = [dice.between(2e6, 9e6), dice.between(9000, 30_000)];
    return [
      [rowsOf('q1', '消费总额 人数', [total, people])],
      `人均消费约${n(total / people, 2)}元（总额${man(total, 1)}元，共${n(people)}人）[q1]。`,
    ];
  }),
  told('3-ko-maechul', '지점별 매출은?', (dice) => {
    const rows = ranked(dice, '서울|부산|대구', [40_000_000, 900_000_000]);
    return [
      [rowsOf('q1', '지점 매출', ...rows)],
      `총매출은 ${n(sum(rows))}원이며, {m:서울~대구} 지점이 ${n(at(rows, 0)[1])}원으로 전체의
      ${p(at(rows, 0)[1] / sum(rows))}를 차지합니다. 부산은 ${n(at(rows, 1)[1])}원, 대구는
      ${n(at(rows, 2)[1])}원입니다 [q1].`,
    ];
  }),
  told('3-ru-zakazy', 'Сколько заказов было в мае 2025 года?', (dice) => {
    const [a, b] = [dice.between(3000, 9000), dice.between(3000, 9000)];
    return [
      [rowsOf('q1', 'месяц заказы', ['2025-04', a], ['2025-05', b])],
      `В мае 2025 года было ${ru.n(b)} заказов, в апреле — ${ru.n(a)}. Это на
      ${ru.p(Math.abs(growth(a, b)))} ${way(a, b, ['больше', 'меньше'])}, разница составляет
      ${ru.n(Math.abs(b - a))} заказов [q1].`,
    ];
  }),
  told('3-tr-satis', 'Mağazalara göre satışlar nedir?', (dice) => {
    const rows = ranked(dice, 'Ankara|İzmir|Bursa', [90_000, 900_000]);
    return [
      [rowsOf('q1', 'magaza satis', ...rows)],
      `Toplam satış ${tr.n(sum(rows))} TL. Ankara ${tr.n(at(rows, 0)[1])} TL ile ilk sırada
      (%{${((at(rows, 0)[1] / sum(rows)) * 100).toFixed(1).replace('.', ',')}}), İzmir ${tr.n(at(rows, 1)[1])} TL,
      Bursa ${tr.n(at(rows, 2)[1])} TL [q1].`,
    ];
  }),
  told('3-ja-jikan', '平均対応時間は？', (dice) => {
    const rows = walk(dice, '2025-05|2025-06', 140);
    const [a, b] = [at(rows, 0)[1], at(rows, 1)[1]];
    return [
      [rowsOf('q1', '月 平均対応分', ...rows)],
      `6月の平均対応時間は${n(Math.floor(b / 60))}時間${n(b % 60)}分でした。5月（${n(a)}分）より
      ${n(Math.abs(b - a))}分${way(a, b, ['長く', '短く'])}なっています [q1]。`,
    ];
  }),
  told('3-zh-tuihuo', '各品类退货率？', (dice) => {
    const rows = ['服装', '家电'].map((name) => {
      const sold = dice.between(2000, 9000);
      return [name, sold, part(sold, 0.03 + dice.next() / 9)] as const;
    });
    return [
      [rowsOf('q1', '品类 销量 退货', ...rows)],
      `服装退货率为${p(at(rows, 0)[2] / at(rows, 0)[1])}（${n(at(rows, 0)[2])}/${n(at(rows, 0)[1])}），家电为
      ${p(at(rows, 1)[2] / at(rows, 1)[1])}（${n(at(rows, 1)[2])}/${n(at(rows, 1)[1])}）；整体为
      ${p(column(rows, 2) / column(rows, 1))} [q1]。`,
    ];
  }),
];
