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

export const trade: HandWrittenSchema = {
  zone: {
    rows: 6,
    key: ['z_zonekey'],
    columns: { z_zonekey: serial(0), z_name: words(), z_comment: words() },
  },
  country: {
    rows: 30,
    key: ['c_countrykey'],
    columns: { c_countrykey: serial(0), c_name: words(), c_zonekey: ref('zone', 'z_zonekey') },
  },
  maker: {
    rows: 50,
    key: ['m_makerkey'],
    columns: {
      m_makerkey: serial(),
      m_name: words(),
      m_countrykey: ref('country', 'c_countrykey'),
      m_acctbal: money(900),
    },
  },
  part: {
    rows: 200,
    key: ['p_partkey'],
    columns: {
      p_partkey: serial(),
      p_name: words(),
      p_size: integer(1, 50),
      p_retailprice: money(99),
    },
  },
  partmaker: {
    rows: 400,
    key: ['pm_partkey', 'pm_makerkey'],
    columns: {
      pm_partkey: computed('INTEGER', ({ row }) => 1 + (row % 200)),
      pm_makerkey: computed(
        'INTEGER',
        ({ row }) => 1 + ((row * 7 + Math.floor(row / 200) * 13) % 50),
      ),
      pm_availqty: integer(1, 999),
      pm_supplycost: money(70),
    },
    links: [
      [['pm_partkey'], 'part', ['p_partkey']],
      [['pm_makerkey'], 'maker', ['m_makerkey']],
    ],
  },
  buyer: {
    rows: 120,
    key: ['b_buykey'],
    columns: {
      b_buykey: serial(),
      b_name: words(),
      b_countrykey: ref('country', 'c_countrykey'),
      b_mktsegment: oneOf('AUTO', 'HOUSE'),
    },
  },
  orders: {
    rows: 500,
    key: ['o_orderkey'],
    columns: {
      o_orderkey: computed('INTEGER', ({ row }) => 1 + row * 4),
      o_buykey: ref('buyer', 'b_buykey'),
      o_orderstatus: oneOf('F', 'O'),
      o_totalprice: money(9000),
      o_orderdate: day(),
      o_shippriority: integer(0, 0),
    },
  },
  lineitem: {
    rows: 1500,
    key: ['l_orderkey', 'l_linenumber'],
    columns: {
      l_orderkey: computed('INTEGER', ({ row }) => 1 + Math.floor(row / 3) * 4),
      l_linenumber: computed('INTEGER', ({ row }) => 1 + (row % 3)),
      l_partkey: computed('INTEGER', ({ row }) => 1 + ((row * 17) % 200)),
      l_makerkey: computed('INTEGER', ({ row }) => 1 + ((((row * 17) % 200) * 7) % 50)),
      l_quantity: integer(1, 50),
      l_extendedprice: money(500),
      l_returnflag: oneOf('A', 'N', 'R'),
    },
    links: [
      [['l_orderkey'], 'orders', ['o_orderkey']],
      [['l_partkey'], 'part', ['p_partkey']],
      [['l_makerkey'], 'maker', ['m_makerkey']],
      [['l_partkey', 'l_makerkey'], 'partmaker', ['pm_partkey', 'pm_makerkey']],
    ],
  },
};
