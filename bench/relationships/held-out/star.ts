import {
  code,
  computed,
  integer,
  money,
  oneOf,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const star: HandWrittenSchema = {
  dim_date: {
    rows: 400,
    key: ['date_sk'],
    columns: {
      date_sk: serial(20_200_101),
      full_date: computed('DATE', ({ row }) =>
        new Date(Date.UTC(2020, 0, 1 + row)).toISOString().slice(0, 10),
      ),
      month_no: integer(1, 12),
      year_no: integer(2020, 2021),
    },
  },
  dim_cust: {
    rows: 180,
    key: ['cust_sk'],
    columns: {
      cust_sk: serial(),
      cust_bk: code('C', 4000),
      full_nm: words(),
      geo_sk: ref('dim_geo', 'geo_sk'),
      seg_cd: oneOf('A', 'B'),
    },
  },
  dim_geo: {
    rows: 25,
    key: ['geo_sk'],
    columns: { geo_sk: serial(), city_nm: words(), cntry_cd: oneOf('DE', 'FR', 'US') },
  },
  dim_prod: {
    rows: 90,
    key: ['prod_sk'],
    columns: { prod_sk: serial(), sku: code('P-', 100), prod_nm: words(), list_amt: money(90) },
  },
  dim_store: {
    rows: 14,
    key: ['store_sk'],
    columns: {
      store_sk: serial(),
      store_nm: words(),
      geo_sk: ref('dim_geo', 'geo_sk'),
      sqm: integer(100, 900),
    },
  },
  dim_promo: {
    rows: 8,
    key: ['promo_sk'],
    columns: { promo_sk: serial(0), promo_nm: words(), pct_off: integer(0, 40) },
  },
  fct_sales: {
    rows: 900,
    key: ['sales_sk'],
    columns: {
      sales_sk: serial(),
      order_dt_sk: ref('dim_date', 'date_sk'),
      ship_dt_sk: ref('dim_date', 'date_sk', { nulls: 0.1 }),
      cust_sk: ref('dim_cust', 'cust_sk'),
      prod_sk: ref('dim_prod', 'prod_sk'),
      store_sk: ref('dim_store', 'store_sk'),
      promo_sk: ref('dim_promo', 'promo_sk'),
      qty: integer(1, 9),
      net_amt: money(300),
    },
  },
  fct_return: {
    rows: 130,
    key: ['return_sk'],
    columns: {
      return_sk: serial(),
      sales_sk: ref('fct_sales', 'sales_sk'),
      return_dt_sk: ref('dim_date', 'date_sk'),
      reason_cd: oneOf('X', 'Y', 'Z'),
      qty: integer(1, 3),
    },
  },
  fct_stock_daily: {
    rows: 700,
    key: ['date_sk', 'store_sk', 'prod_sk'],
    columns: {
      date_sk: computed('INTEGER', ({ row }) => 20_200_101 + Math.floor(row / 70)),
      store_sk: computed('INTEGER', ({ row }) => 1 + (Math.floor(row / 5) % 14)),
      prod_sk: computed('INTEGER', ({ row }) => 1 + ((row * 13 + Math.floor(row / 70)) % 90)),
      on_hand: integer(0, 200),
    },
    links: [
      [['date_sk'], 'dim_date', ['date_sk']],
      [['store_sk'], 'dim_store', ['store_sk']],
      [['prod_sk'], 'dim_prod', ['prod_sk']],
    ],
  },
};
