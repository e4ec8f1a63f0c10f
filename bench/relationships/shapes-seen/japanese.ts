import {
  computed,
  day,
  integer,
  money,
  oneOf,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const japanese: HandWrittenSchema = {
  顧客: {
    rows: 240,
    key: ['顧客ID'],
    columns: {
      顧客ID: serial(),
      氏名: words(),
      都道府県コード: ref('都道府県', '都道府県コード'),
      登録日: day(),
      会員ランク: oneOf('金', '銀', '銅'),
    },
  },
  都道府県: {
    rows: 47,
    key: ['都道府県コード'],
    columns: {
      都道府県コード: computed('TEXT', ({ row }) => String(row + 1).padStart(2, '0')),
      都道府県名: words(),
    },
  },
  商品: {
    rows: 160,
    key: ['商品ID'],
    columns: {
      商品ID: serial(),
      商品名: words(),
      カテゴリID: ref('カテゴリ', 'カテゴリID'),
      仕入先ID: ref('仕入先', '仕入先ID', { nulls: 0.05 }),
      単価: money(900),
      在庫数: integer(0, 99),
    },
  },
  カテゴリ: {
    rows: 18,
    key: ['カテゴリID'],
    columns: {
      カテゴリID: serial(),
      カテゴリ名: words(),
      親カテゴリID: ref('カテゴリ', 'カテゴリID', { nulls: 0.3 }),
    },
  },
  仕入先: {
    rows: 30,
    key: ['仕入先ID'],
    columns: {
      仕入先ID: serial(),
      会社名: words(),
      都道府県コード: ref('都道府県', '都道府県コード'),
    },
  },
  店舗: {
    rows: 12,
    key: ['店舗ID'],
    columns: {
      店舗ID: serial(),
      店舗名: words(),
      都道府県コード: ref('都道府県', '都道府県コード'),
    },
  },
  社員: {
    rows: 70,
    key: ['社員番号'],
    columns: {
      社員番号: serial(1001),
      氏名: words(),
      店舗ID: ref('店舗', '店舗ID'),
      上司社員番号: ref('社員', '社員番号', { nulls: 0.1 }),
    },
  },
  注文: {
    rows: 700,
    key: ['注文ID'],
    columns: {
      注文ID: serial(),
      顧客ID: ref('顧客', '顧客ID'),
      担当社員番号: ref('社員', '社員番号'),
      店舗ID: ref('店舗', '店舗ID'),
      注文日: day(),
      合計金額: money(9000),
    },
  },
  注文明細: {
    rows: 1500,
    key: ['注文ID', '行番号'],
    columns: {
      注文ID: computed('INTEGER', ({ row }) => 1 + Math.floor(row / 3)),
      行番号: computed('INTEGER', ({ row }) => 1 + (row % 3)),
      商品ID: ref('商品', '商品ID'),
      数量: integer(1, 12),
    },
    links: [[['注文ID'], '注文', ['注文ID']]],
  },
  返品: {
    rows: 60,
    key: ['返品ID'],
    columns: {
      返品ID: serial(),
      注文ID: ref('注文', '注文ID'),
      商品ID: ref('商品', '商品ID'),
      理由: oneOf('破損', '色違い'),
    },
  },
};
