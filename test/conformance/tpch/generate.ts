import { type Cell, dayAfter, Dice, money, type Table } from '../seeded.ts';

const dice = new Dice(19_920_101);
const count = { supplier: 150, part: 800, customer: 600, orders: 6000 };

const nations: readonly (readonly [string, number])[] = [
  ['ALGERIA', 0],
  ['ARGENTINA', 1],
  ['BRAZIL', 1],
  ['CANADA', 1],
  ['EGYPT', 4],
  ['ETHIOPIA', 0],
  ['FRANCE', 3],
  ['GERMANY', 3],
  ['INDIA', 2],
  ['INDONESIA', 2],
  ['IRAN', 4],
  ['IRAQ', 4],
  ['JAPAN', 2],
  ['JORDAN', 4],
  ['KENYA', 0],
  ['MOROCCO', 0],
  ['MOZAMBIQUE', 0],
  ['PERU', 1],
  ['CHINA', 2],
  ['ROMANIA', 3],
  ['SAUDI ARABIA', 4],
  ['VIETNAM', 2],
  ['RUSSIA', 3],
  ['UNITED KINGDOM', 3],
  ['UNITED STATES', 1],
];
const colors = [
  'almond',
  'azure',
  'blush',
  'chiffon',
  'forest',
  'green',
  'ivory',
  'lace',
  'navy',
  'plum',
] as const;
const segments = ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'] as const;
const priorities = ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'] as const;
const modes = ['AIR', 'AIR REG', 'FOB', 'MAIL', 'RAIL', 'SHIP', 'TRUCK'] as const;
const instructions = ['COLLECT COD', 'DELIVER IN PERSON', 'NONE', 'TAKE BACK RETURN'] as const;
const sizes = ['JUMBO', 'LG', 'MED', 'SM', 'WRAP'] as const;
const boxes = ['BAG', 'BOX', 'CASE', 'PACK', 'PKG'] as const;
const types = [
  ['ECONOMY', 'PROMO', 'STANDARD'],
  ['ANODIZED', 'BRUSHED', 'POLISHED'],
  ['BRASS', 'COPPER', 'STEEL'],
] as const;

const upTo = (last: number): readonly number[] =>
  Array.from({ length: last }, (_, index) => index + 1);
const phoneOf = (nation: number): string =>
  `${10 + nation}-${dice.between(100, 999)}-${dice.between(100, 999)}-${dice.between(1000, 9999)}`;
const commentOf = (rare: string, share: number): string =>
  dice.next() < share ? rare : 'quick deposits sleep';
const numbered = (word: string, key: number): string => `${word}#${String(key).padStart(9, '0')}`;
const priceOf = (part: number): number => 90_000 + ((part * 10) % 20_001) + 100 * (part % 1000);
/** The four suppliers of a part. */
const supplierOf = (part: number, place: number): number =>
  ((part + place * 17) % count.supplier) + 1;

function partyOf(key: number, word: string): readonly Cell[] {
  const nation = dice.between(0, 24);
  return [
    key,
    numbered(word, key),
    `${key} Main Street`,
    nation,
    phoneOf(nation),
    money(dice.between(-99_999, 999_999)),
  ];
}

function partOf(key: number): readonly Cell[] {
  const maker = dice.between(1, 5);
  const type = types.map((words) => dice.one(words)).join(' ');
  const box = `${dice.one(sizes)} ${dice.one(boxes)}`;
  const name = `${dice.one(colors)} ${dice.one(colors)} ${dice.one(colors)}`;
  return [
    key,
    name,
    `Manufacturer#${maker}`,
    `Brand#${maker}${dice.between(1, 5)}`,
    type,
    dice.between(1, 20),
    box,
    money(priceOf(key)),
    'final',
  ];
}

const today = '1995-06-17';

function lineOf({ key, date }: { key: number; date: string }, number: number): readonly Cell[] {
  const product = dice.between(1, count.part);
  const quantity = dice.between(1, 50);
  const shipped = dayAfter(date, dice.between(1, 121));
  const received = dayAfter(shipped, dice.between(1, 30));
  return [
    key,
    product,
    supplierOf(product, dice.between(0, 3)),
    number,
    quantity,
    money(quantity * priceOf(product)),
    money(dice.between(0, 10)),
    money(dice.between(0, 8)),
    received > today ? 'N' : dice.one(['A', 'R']),
    shipped > today ? 'O' : 'F',
    shipped,
    dayAfter(date, dice.between(30, 90)),
    received,
    dice.one(instructions),
    dice.one(modes),
    'ironic',
  ];
}

function orderOf(key: number): {
  readonly row: readonly Cell[];
  readonly lines: readonly (readonly Cell[])[];
} {
  // A third of the customers never order.
  const customer = dice.between(1, count.customer / 3) * 3 - dice.between(1, 2);
  const date = dayAfter('1992-01-01', dice.between(0, 2405));
  const lines = upTo(dice.between(1, 7)).map((number) => lineOf({ key, date }, number));
  const states = new Set(lines.map((one) => one[9]));
  const total = lines.reduce((sum, one) => sum + Math.round(Number(one[5]) * 100), 0);
  const state = states.size > 1 ? 'P' : (lines[0]?.[9] ?? 'O');
  const clerk = numbered('Clerk', dice.between(1, 20));
  return {
    row: [
      key,
      customer,
      state,
      money(total),
      date,
      dice.one(priorities),
      clerk,
      0,
      commentOf('special packages wake requests', 0.05),
    ],
    lines,
  };
}

export function tpchTables(): Readonly<Record<string, Table>> {
  const orders = upTo(count.orders).map(orderOf);
  return {
    region: {
      columns: 'r_regionkey INTEGER, r_name VARCHAR, r_comment VARCHAR',
      rows: ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'].map((name, key) => [
        key,
        name,
        'even',
      ]),
    },
    nation: {
      columns: 'n_nationkey INTEGER, n_name VARCHAR, n_regionkey INTEGER, n_comment VARCHAR',
      rows: nations.map(([name, region], key) => [key, name, region, 'bold']),
    },
    supplier: {
      columns:
        's_suppkey INTEGER, s_name VARCHAR, s_address VARCHAR, s_nationkey INTEGER, s_phone VARCHAR, s_acctbal DECIMAL(12,2), s_comment VARCHAR',
      rows: upTo(count.supplier).map((key) => [
        ...partyOf(key, 'Supplier'),
        commentOf('slow Customer with Complaints', 0.1),
      ]),
    },
    customer: {
      columns:
        'c_custkey INTEGER, c_name VARCHAR, c_address VARCHAR, c_nationkey INTEGER, c_phone VARCHAR, c_acctbal DECIMAL(12,2), c_mktsegment VARCHAR, c_comment VARCHAR',
      rows: upTo(count.customer).map((key) => [
        ...partyOf(key, 'Customer'),
        dice.one(segments),
        'regular',
      ]),
    },
    part: {
      columns:
        'p_partkey INTEGER, p_name VARCHAR, p_mfgr VARCHAR, p_brand VARCHAR, p_type VARCHAR, p_size INTEGER, p_container VARCHAR, p_retailprice DECIMAL(12,2), p_comment VARCHAR',
      rows: upTo(count.part).map(partOf),
    },
    partsupp: {
      columns:
        'ps_partkey INTEGER, ps_suppkey INTEGER, ps_availqty INTEGER, ps_supplycost DECIMAL(12,2), ps_comment VARCHAR',
      rows: upTo(count.part).flatMap((key) =>
        [0, 1, 2, 3].map((place) => [
          key,
          supplierOf(key, place),
          dice.between(1, 25),
          money(dice.between(100, 100_000)),
          'furious',
        ]),
      ),
    },
    orders: {
      columns:
        'o_orderkey INTEGER, o_custkey INTEGER, o_orderstatus VARCHAR, o_totalprice DECIMAL(12,2), o_orderdate DATE, o_orderpriority VARCHAR, o_clerk VARCHAR, o_shippriority INTEGER, o_comment VARCHAR',
      rows: orders.map(({ row }) => row),
    },
    lineitem: {
      columns: `l_orderkey INTEGER, l_partkey INTEGER, l_suppkey INTEGER, l_linenumber INTEGER, l_quantity DECIMAL(12,2), l_extendedprice DECIMAL(12,2),
        l_discount DECIMAL(12,2), l_tax DECIMAL(12,2), l_returnflag VARCHAR, l_linestatus VARCHAR, l_shipdate DATE, l_commitdate DATE,
        l_receiptdate DATE, l_shipinstruct VARCHAR, l_shipmode VARCHAR, l_comment VARCHAR`,
      rows: orders.flatMap(({ lines }) => lines),
    },
  };
}
