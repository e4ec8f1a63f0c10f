import { rowsOf } from '../blind/answer.ts';
import { at, growth, ranked, sum, type Telling, told, way } from '../second/kit.ts';
import { column, part, speech, withSql } from '../third/kit.ts';

const ja = speech('ja-JP', '');
const zh = speech('zh-CN', '');
const ko = speech('ko-KR', '');

export const asian: readonly Telling[] = [
  told('5-ja-goukei', '部門別の経費を教えてください。', (dice) => {
    const rows = ranked(dice, '営業部|開発部|総務部', [900_000, 9_000_000]);
    return [
      [rowsOf('q1', '部門 経費', ...rows)],
      `営業部は${ja.n(at(rows, 0)[1])}円、開発部は${ja.n(at(rows, 1)[1])}円、総務部は${ja.n(at(rows, 2)[1])}円でした。3部門の合計は${ja.n(sum(rows))}円で、営業部が${ja.p(at(rows, 0)[1] / sum(rows))}を占めます [q1]。`,
    ];
  }),
  told('5-ja-man', '会員数は何万人ですか？', (dice) => {
    const members = dice.between(210_000, 890_000);
    const active = part(members, 0.4 + dice.next() / 4);
    return [
      [rowsOf('q1', '会員数 有効会員数', [members, active])],
      `会員数は約${ja.s(members, [1e4, '万人'], 1)}です。そのうち${ja.n(active)}人（${ja.p(active / members)}）が有効会員です [q1]。`,
    ];
  }),
  told('5-ja-hikaku', '2024年6月の来店者数は5月より増えましたか？', (dice) => {
    const [a, b] = [dice.between(3000, 9000), dice.between(3000, 9000)];
    return [
      [rowsOf('q1', '月 来店者数', ['2024-05', a], ['2024-06', b])],
      `2024年5月は${ja.n(a)}人、6月は${ja.n(b)}人で、${ja.n(Math.abs(b - a))}人（${ja.p(Math.abs(growth(a, b)))}）の${way(a, b, ['増加', '減少'])}です [q1]。`,
    ];
  }),
  told('5-zh-qita', '各仓库发货量是多少？', (dice) => {
    const rows = ranked(dice, '广州仓|武汉仓|成都仓', [9000, 90_000]);
    return [
      [rowsOf('q1', '仓库 发货量', ...rows)],
      `广州仓发货${zh.n(at(rows, 0)[1])}件，占${zh.p(at(rows, 0)[1] / sum(rows))}；另外两个仓库合计${zh.n(sum(rows) - at(rows, 0)[1])}件。总发货量为${zh.s(sum(rows), [1e4, '万件'], 2)} [q1]。`,
    ];
  }),
  told('5-zh-tongbi', '2025年上半年营收同比如何？', (dice) => {
    const [a, b] = [dice.between(3_000_000, 9_000_000), dice.between(3_000_000, 9_000_000)];
    return [
      [rowsOf('q1', '期间 营收', ['2024H1', a], ['2025H1', b])],
      `2025年上半年营收${zh.s(b, [1e4, '万元'], 1)}，去年同期为${zh.s(a, [1e4, '万元'], 1)}，同比${way(a, b, ['增长', '下降'])}${zh.p(Math.abs(growth(a, b)))} [q1]。`,
    ];
  }),
  told('5-ko-bijung', '채널별 주문 비중은?', (dice) => {
    const rows = ranked(dice, '앱|웹|매장', [3000, 90_000]);
    return [
      [rowsOf('q1', '채널 주문수', ...rows)],
      `앱 ${ko.n(at(rows, 0)[1])}건(${ko.p(at(rows, 0)[1] / sum(rows))}), 웹 ${ko.n(at(rows, 1)[1])}건(${ko.p(at(rows, 1)[1] / sum(rows))}), 매장 ${ko.n(at(rows, 2)[1])}건(${ko.p(at(rows, 2)[1] / sum(rows))})입니다. 총 ${ko.n(sum(rows))}건입니다 [q1].`,
    ];
  }),
  told('5-zh-biao', '列出各产品的单价和销售额。', (dice) => {
    const rows = ['茶杯', '水壶'].map(
      (name) => [name, dice.between(200, 900), dice.between(19, 99)] as const,
    );
    const lines = rows.map(
      ([name, count, price]) =>
        `| ${name} | ${zh.n(count)} | ${zh.n(price)} | ${zh.n(count * price)} |`,
    );
    return [
      [withSql('SELECT 产品, 数量, 单价 FROM 明细', rowsOf('q1', '产品 数量 单价', ...rows))],
      `| 产品 | 数量 | 单价（元） | 销售额（元） |
      |---|--:|--:|--:|
      ${lines.join('\n')}

      销售额合计${zh.n(at(rows, 0)[1] * at(rows, 0)[2] + at(rows, 1)[1] * at(rows, 1)[2])}元，共售出${zh.n(column(rows, 1))}件 [q1]。`,
    ];
  }),
];
