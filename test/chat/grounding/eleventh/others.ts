import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts } from '../seventh/kit.ts';
import { speech } from '../third/kit.ts';
import { gave } from './kit.ts';

const ja = speech('ja-JP', '');
const ko = speech('ko-KR', '');
const zh = speech('zh-CN', '');
const pl = speech('pl-PL', '');
const ru = speech('ru-RU', ' ');

/** Answers in Japanese, Korean, Chinese, Polish and Russian. */
export const others: readonly Telling[] = [
  told('11-ja-uriage', '2025年第3四半期の売上を教えてください', (dice) => {
    const rows = story(
      dice,
      ['2025-07', 41_230_000],
      ['2025-08', 38_910_000],
      ['2025-09', 45_780_000],
    );
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT to_char(ordered_at, 'YYYY-MM') AS month, SUM(amount) AS sales FROM orders WHERE ordered_at >= '2025-07-01' AND ordered_at < '2025-10-01' GROUP BY 1 ORDER BY 1",
          'month sales',
          ...rows,
        ),
      ],
      `2025年第3四半期(7〜9月)の売上は合計 **${ja.n(all)}円**(約${ja.s(all, [1e8, '億円'], 2)})でした [q1]。

      | 月 | 売上 | 前月比 |
      |---|---:|---:|
      | 7月 | ${ja.n(a)}円 | – |
      | 8月 | ${ja.n(b)}円 | ${ja.sp(growth(a, b))} |
      | 9月 | ${ja.n(c)}円 | ${ja.sp(growth(b, c))} |

      月平均は約${ja.s(all / 3, [1e4, '万円'], 0)}です。9月は3か月の中で最も高く、全体の${ja.p(c / all)}を占めています。前年同期との比較もご希望でしょうか?`,
    ];
  }),
  told('11-ja-tenpo', '売上トップ3の店舗は?', (dice) => {
    const rows = story(dice, ['渋谷店', 18_240_000], ['梅田店', 15_630_000], ['札幌店', 9_870_000]);
    const [a, b, c] = amounts(rows);
    return [
      [
        gave(
          'SELECT 店舗, SUM(売上) AS 売上 FROM 売上明細 GROUP BY 店舗 ORDER BY 売上 DESC LIMIT 3',
          '店舗 売上',
          ...rows,
        ),
      ],
      `売上トップ3の店舗は次のとおりです [q1]。

      1. **渋谷店**:${ja.n(a)}円
      2. **梅田店**:${ja.n(b)}円
      3. **札幌店**:${ja.n(c)}円

      1位の渋谷店は2位の梅田店を${ja.n(a - b)}円(${ja.p(growth(b, a))})上回っています。3店舗の合計は${ja.s(a + b + c, [1e4, '万円'], 0)}です。`,
    ];
  }),
  told('11-ja-kaiyaku', '先月の解約率は?', (dice) => {
    const [all, gone] = [near(dice, 5_240), near(dice, 118)];
    return [
      [
        gave(
          "SELECT COUNT(*) AS 月初会員数, SUM(CASE WHEN 解約日 >= '2025-09-01' AND 解約日 < '2025-10-01' THEN 1 ELSE 0 END) AS 解約数 FROM 会員",
          '月初会員数 解約数',
          [all, gone],
        ),
      ],
      `2025年9月の解約率は **${ja.p(gone / all, 2)}** です(月初会員${ja.n(all)}人のうち${ja.n(gone)}人が解約)[q1]。

      無料トライアル中の会員は除いています。月末時点で継続している会員は${ja.n(all - gone)}人です。`,
    ];
  }),
  told('11-ko-maechul', '카테고리별 매출 알려줘', (dice) => {
    const rows = story(dice, ['패션', 812_400_000], ['뷰티', 541_900_000], ['식품', 301_200_000]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT category, SUM(amount) AS sales FROM orders WHERE order_date BETWEEN '2025-09-01' AND '2025-09-30' GROUP BY category ORDER BY sales DESC",
          'category sales',
          ...rows,
        ),
      ],
      `2025년 9월 카테고리별 매출입니다 [q1].

      | 카테고리 | 매출 | 비중 |
      |---|---:|---:|
      | 패션 | ${ko.n(a)}원 | ${ko.p(a / all)} |
      | 뷰티 | ${ko.n(b)}원 | ${ko.p(b / all)} |
      | 식품 | ${ko.n(c)}원 | ${ko.p(c / all)} |

      총 매출은 약 ${ko.s(all, [1e8, '억'], 1)} 원이며, 상위 2개 카테고리가 ${ko.p((a + b) / all, 0)}를 차지합니다. 패션은 식품의 약 ${ko.n(a / c, 1)}배입니다.`,
    ];
  }),
  told('11-zh-dingdan', '最近三个月的订单量和客单价是多少?', (dice) => {
    const rows = story(
      dice,
      ['2025-07', 12_410, 3_412_000],
      ['2025-08', 13_280, 3_705_000],
      ['2025-09', 14_930, 4_210_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT month, COUNT(*) AS orders, SUM(amount) AS gmv FROM orders WHERE month >= '2025-07' GROUP BY month ORDER BY month",
          'month orders gmv',
          ...rows,
        ),
      ],
      `最近三个月共有 **${zh.n(a + b + c)}** 笔订单,总金额 ${zh.s(x + y + z, [1e4, ' 万元'], 1)} [q1]:

      | 月份 | 订单量 | 客单价(元) | 环比 |
      |---|---:|---:|---:|
      | 7 月 | ${zh.n(a)} | ${zh.n(x / a, 2)} | – |
      | 8 月 | ${zh.n(b)} | ${zh.n(y / b, 2)} | ${zh.sp(growth(a, b))} |
      | 9 月 | ${zh.n(c)} | ${zh.n(z / c, 2)} | ${zh.sp(growth(b, c))} |

      9 月订单量比 7 月增长了 ${zh.p(growth(a, c))},整体客单价为 ${zh.n((x + y + z) / (a + b + c), 2)} 元。环比指订单量较上月的变化。`,
    ];
  }),
  told('11-pl-sklepy', 'Jaka jest sprzedaż w poszczególnych sklepach?', (dice) => {
    const rows = story(dice, ['Warszawa', 1_241_300], ['Kraków', 842_700], ['Gdańsk', 518_900]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT sklep, SUM(kwota) AS sprzedaz FROM sprzedaz WHERE data >= '2025-01-01' AND data < '2025-07-01' GROUP BY sklep",
          'sklep sprzedaz',
          ...rows,
        ),
      ],
      `W pierwszym półroczu 2025 łączna sprzedaż wyniosła **${pl.n(all)} zł** [q1]:

      - Warszawa: ${pl.n(a)} zł (${pl.p(a / all)})
      - Kraków: ${pl.n(b)} zł (${pl.p(b / all)})
      - Gdańsk: ${pl.n(c)} zł (${pl.p(c / all)})

      Warszawa sprzedała o ${pl.p(growth(b, a), 0)} więcej niż Kraków, a Gdańsk odpowiada za mniej więcej jedną piątą obrotu.`,
    ];
  }),
  told('11-ru-vyruchka', 'Какова выручка по месяцам?', (dice) => {
    const rows = story(dice, ['2025-08', 3_412_000], ['2025-09', 3_870_000]);
    const [a, b] = amounts(rows);
    return [
      [
        gave(
          "SELECT month, SUM(amount) AS revenue FROM orders WHERE month IN ('2025-08', '2025-09') GROUP BY month",
          'month revenue',
          ...rows,
        ),
      ],
      `Выручка в сентябре 2025 года составила **${ru.n(b)} ₽** против ${ru.n(a)} ₽ в августе [q1], то есть {d:выросла~упала} на ${ru.p(growth(a, b))} (${ru.n(b - a)} ₽).

      За два месяца вместе — ${ru.s(a + b, [1e6, ' млн'], 2)} ₽. В расчёт вошли только оплаченные заказы.`,
    ];
  }),
];
