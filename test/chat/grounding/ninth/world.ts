import { rowsOf } from '../blind/answer.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';
import { near, story } from './kit.ts';

const ja = speech('ja-JP', '');
const zh = speech('zh-CN', '');
const ko = speech('ko-KR', '');
const ru = speech('ru-RU', ' ');
const hi = speech('en-IN', '');
const { n, p, s, sp } = speech('en-US', '');

/** Answers in the languages of Asia, Russian, and English as it is written elsewhere. */
export const world: readonly Telling[] = [
  told('9-ja-hokoku', '2025年上半期の売上を店舗別に教えてください。', (dice) => {
    const rows = story(
      dice,
      ['渋谷店', 48_200_000],
      ['梅田店', 39_700_000],
      ['博多店', 21_400_000],
    );
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        withSql(
          "SELECT 店舗, sum(金額) AS 売上 FROM 売上 WHERE 日付 >= '2025-01-01' AND 日付 < '2025-07-01' GROUP BY 1",
          rowsOf('q1', '店舗 売上', ...rows),
        ),
      ],
      `## 2025年上半期の店舗別売上

      合計は**${ja.n(all)}円**(約${ja.s(all, [1e8, '億'], 2)}円)でした [q1]。

      | 店舗 | 売上 | 構成比 |
      |---|---:|---:|
      | 渋谷店 | ${ja.n(a)}円 | ${ja.p(a / all)} |
      | 梅田店 | ${ja.n(b)}円 | ${ja.p(b / all)} |
      | 博多店 | ${ja.n(c)}円 | ${ja.p(c / all)} |

      渋谷店が最も多く、梅田店を${ja.n(a - b)}円上回っています。博多店の売上は渋谷店の半分以下(${ja.p(c / a)})です。`,
    ];
  }),
  told('9-ja-hikaku', '先月と比べて問い合わせは増えましたか?', (dice) => {
    const rows = story(dice, ['2025-05', 1320], ['2025-06', 1544]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', '月 件数', ...rows)],
      `はい。問い合わせ件数は5月の${ja.n(a)}件から6月は${ja.n(b)}件へと${ja.n(b - a)}件(${ja.p(growth(a, b))})増加しました [q1]。1日あたりに換算すると、
      5月は約${ja.n(a / 31, 1)}件、6月は約${ja.n(b / 30, 1)}件です。`,
    ];
  }),
  told('9-zh-zongjie', '2024年各季度的销售额是多少?', (dice) => {
    const rows = story(
      dice,
      ['2024-Q1', 12_300_000],
      ['2024-Q2', 14_100_000],
      ['2024-Q3', 13_200_000],
      ['2024-Q4', 18_900_000],
    );
    const [a, b, c, d] = amounts(rows);
    const all = a + b + c + d;
    return [
      [rowsOf('q1', '季度 销售额', ...rows)],
      `2024年全年销售额为 **${zh.s(all, [1e4, '万元'], 0)}**,各季度情况如下 [q1]:

      - 第一季度:${zh.s(a, [1e4, '万元'], 0)}
      - 第二季度:${zh.s(b, [1e4, '万元'], 0)},环比增长${zh.p(growth(a, b))}
      - 第三季度:${zh.s(c, [1e4, '万元'], 0)},环比下降${zh.p(-growth(b, c))}
      - 第四季度:${zh.s(d, [1e4, '万元'], 0)},环比增长${zh.p(growth(c, d))}

      第四季度表现最好,占全年的${zh.p(d / all)}。`,
    ];
  }),
  told('9-zh-kehu', '有多少客户超过90天没有下单?', (dice) => {
    const [all, idle] = [near(dice, 8420), near(dice, 2130)];
    return [
      [
        withSql(
          'SELECT count(*) AS 客户数, sum(CASE WHEN 最近下单 < current_date - 90 THEN 1 END) AS 沉睡客户 FROM 客户',
          rowsOf('q1', '客户数 沉睡客户', [all, idle]),
        ),
      ],
      `在全部${zh.n(all)}名客户中,有**${zh.n(idle)}名**(${zh.p(idle / all)})已超过90天没有下单,约占四分之一。其余${zh.n(all - idle)}名客户在最近90天内
      至少下过一次单 [q1]。建议先针对这部分客户做一次召回活动。`,
    ];
  }),
  told('9-ko-bunseok', '2025년 6월 채널별 매출을 알려줘.', (dice) => {
    const rows = story(
      dice,
      ['온라인', 182_000_000],
      ['오프라인', 131_000_000],
      ['제휴', 27_400_000],
    );
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        withSql(
          "SELECT channel AS 채널, sum(amount) AS 매출 FROM sales WHERE sold_at >= '2025-06-01' AND sold_at < '2025-07-01' GROUP BY 1",
          rowsOf('q1', '채널 매출', ...rows),
        ),
      ],
      `2025년 6월 총매출은 **${ko.n(all)}원**(약 ${ko.s(all, [1e8, '억'], 1)} 원)입니다 [q1].

      | 채널 | 매출 | 비중 |
      |---|---:|---:|
      | 온라인 | ${ko.n(a)}원 | ${ko.p(a / all)} |
      | 오프라인 | ${ko.n(b)}원 | ${ko.p(b / all)} |
      | 제휴 | ${ko.n(c)}원 | ${ko.p(c / all)} |

      온라인이 오프라인보다 ${ko.n(a - b)}원 많고, 전체의 절반 이상을 차지합니다.`,
    ];
  }),
  told('9-ru-otchet', 'Как изменилась выручка по месяцам во втором квартале 2025 года?', (dice) => {
    const rows = story(
      dice,
      ['2025-04-01', 5_120_000],
      ['2025-05-01', 4_870_000],
      ['2025-06-01', 5_930_000],
    );
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'month revenue', ...rows)],
      `Во втором квартале 2025 года выручка составила **${ru.s(all, [1e6, ' млн'], 2)} ₽** [q1]:

      - **Апрель** — ${ru.n(a)} ₽
      - **Май** — ${ru.n(b)} ₽ (${ru.sp(growth(a, b))} к апрелю)
      - **Июнь** — ${ru.n(c)} ₽ (${ru.sp(growth(b, c))} к маю)

      Июнь стал лучшим месяцем квартала: на него пришлось ${ru.p(c / all)} выручки. По сравнению с маем она выросла на
      ${ru.n(c - b)} ₽.`,
    ];
  }),
  told('9-ru-dolya', 'Какая доля заказов доставлена вовремя?', (dice) => {
    const [all, good] = [near(dice, 12_840), near(dice, 11_610)];
    return [
      [rowsOf('q1', 'orders delivered_on_time', [all, good])],
      `Вовремя доставлено ${ru.n(good)} из ${ru.n(all)} заказов, то есть ${ru.p(good / all)}. С опозданием — ${ru.n(all - good)} заказов
      (${ru.p(1 - good / all)}), примерно каждый десятый [q1].`,
    ];
  }),
  told('9-en-in', 'What were the collections by state in FY 2024-25?', (dice) => {
    const rows = story(
      dice,
      ['Maharashtra', 412_000_000],
      ['Karnataka', 288_000_000],
      ['Gujarat', 197_000_000],
    );
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    const crore = [1e7, ' crore'] as const;
    return [
      [
        withSql(
          "SELECT state, sum(amount) AS collections FROM receipts WHERE receipt_date >= '2024-04-01' AND receipt_date < '2025-04-01' GROUP BY 1 ORDER BY 2 DESC",
          rowsOf('q1', 'state collections', ...rows),
        ),
      ],
      `Collections in FY 2024-25 (April 2024 to March 2025) totalled ₹${hi.s(all, crore, 1)} [q1]:

      - Maharashtra: ₹${hi.s(a, crore, 1)} (${hi.p(a / all, 0)})
      - Karnataka: ₹${hi.s(b, crore, 1)} (${hi.p(b / all, 0)})
      - Gujarat: ₹${hi.s(c, crore, 1)} (${hi.p(c / all, 0)})`,
    ];
  }),
  told('9-swiss', 'Wie hoch waren die Prämien je Kanton?', (dice) => {
    const ch = speech('de-CH', '%').n;
    const rows = story(dice, ['Zürich', 14_210_000], ['Bern', 9_870_000], ['Uri', 412_000]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', 'kanton praemien', ...rows)],
      `Die Prämien betrugen in Zürich CHF ${ch(a)}, in Bern CHF ${ch(b)} und in Uri CHF ${ch(c)}, zusammen also
      CHF ${ch(a + b + c)}. Zürich liegt CHF ${ch(a - b)} vor Bern [q1].`,
    ];
  }),
  told('9-uk-fiscal', 'How did donations do in FY25 compared with FY24?', (dice) => {
    const rows = story(dice, ['FY24', 1_210_000, 9400], ['FY25', 1_388_000, 9910]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'fiscal_year donations donors', ...rows)],
      `Donations came to £${s(b, [1e6, 'm'], 2)} in FY25, against £${s(a, [1e6, 'm'], 2)} in FY24: a rise of £${s(b - a, [1e3, 'k'], 0)}
      (${sp(growth(a, b))}). We had ${n(y)} donors, ${n(y - x)} more than the year before, and the average gift went up from
      £${n(a / x, 2)} to £${n(b / y, 2)} (${sp(growth(a / x, b / y))}) [q1].`,
    ];
  }),
  told('9-words', 'How many of the pilot schools joined?', (dice) => {
    const [pupils, joined] = [near(dice, 4310), near(dice, 2980)];
    return [
      [
        rowsOf('q1', 'schools schools_joined', [14, 9]),
        rowsOf('q2', 'pupils pupils_joined', [pupils, joined]),
      ],
      `Nine of the fourteen pilot schools joined, five did not [q1]. The nine schools have ${n(joined)} of the ${n(pupils)} pupils
      (${p(joined / pupils)}), or ${n(joined / 9)} pupils per school on average [q2].`,
    ];
  }),
  told('9-dates-in-words', 'When did we have our first and our last sale of the X1?', (dice) => {
    const units = near(dice, 5210);
    return [
      [rowsOf('q1', 'first_sale last_sale units', ['2021-03-09', '2024-11-28', units])],
      `The X1 was first sold on **March 9, 2021** and last sold on **November 28, 2024** [q1]. In those three years and eight
      months, ${n(units)} units were sold, which is about ${n(units / 44.66, 0)} per month.`,
    ];
  }),
  told('9-time-of-day', 'At what time of day do we get the most orders?', (dice) => {
    const rows = story(dice, [18, 412], [19, 655], [20, 701], [21, 533]);
    const [a, b, c, d] = amounts(rows);
    return [
      [
        withSql(
          'SELECT extract(hour FROM ordered_at) AS hour, count(*) AS orders FROM orders GROUP BY 1 HAVING count(*) > 400 ORDER BY 1',
          rowsOf('q1', 'hour orders', ...rows),
        ),
      ],
      `The peak is between **8 pm and 9 pm** with ${n(c)} orders, followed by 7 pm–8 pm (${n(b)}) and 9 pm–10 pm (${n(d)}).
      From 6 pm to 7 pm there are ${n(a)} orders. These four evening hours account for ${n(a + b + c + d)} orders in total [q1].`,
    ];
  }),
  told('9-storage', 'How much storage does each bucket use?', (dice) => {
    const gib = 1024 ** 3;
    const rows = [
      ['logs', near(dice, 812) * gib, near(dice, 1_930_000)],
      ['media', near(dice, 2650) * gib, near(dice, 418_000)],
    ] as const;
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'bucket size_bytes objects', ...rows)],
      `- **media**: ${n(b / gib / 1024, 2)} TiB in ${n(y)} objects
      - **logs**: ${n(a / gib)} GiB in ${n(x)} objects

      Although *logs* has ${n(x / y, 1)} times as many objects, it only takes up ${p(a / (a + b), 0)} of the space [q1].`,
    ];
  }),
];
