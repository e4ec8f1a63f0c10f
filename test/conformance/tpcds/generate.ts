import { type Cell, dayAfter, Dice, money, type Table } from '../seeded.ts';
import { type Line, lineOf } from './sale.ts';

const dice = new Dice(20_000_102);
const count = {
  item: 120,
  customer: 300,
  address: 200,
  profile: 200,
  household: 120,
  store: 6,
  warehouse: 4,
  promotion: 12,
};
/** Items beyond this one are not sold. */
const sold = 100;
const days = { first: '1998-01-01', last: 1825, key: 2_450_815 };

type Row = readonly Cell[];
const rows = (length: number, make: (key: number) => Row): readonly Row[] =>
  Array.from({ length }, (_, index) => make(index + 1));
const table = (columns: string, all: readonly Row[]): Table => ({ columns, rows: all });
const rarely = (cell: Cell): Cell => (dice.next() < 0.04 ? null : cell);
const idOf = (key: number): string => `AAAA${String(key).padStart(8, '0')}`;
const keyOf = (kind: keyof typeof count): number => dice.between(1, count[kind]);

const cities = [
  'Centerville',
  'Fairview',
  'Midway',
  'Oak Grove',
  'Pleasant Hill',
  'Riverside',
] as const;
const counties = [
  'Barrow County',
  'Daviess County',
  'Franklin Parish',
  'Richland County',
  'Williamson County',
  'Ziebach County',
] as const;
const states = ['CA', 'GA', 'KY', 'TN', 'TX'] as const;
const zips = ['24128', '35709', '57834', '66162', '81796', '85669', '86197', '88274'] as const;
const categories = [
  'Books',
  'Children',
  'Electronics',
  'Home',
  'Jewelry',
  'Men',
  'Music',
  'Shoes',
  'Sports',
  'Women',
] as const;
const colors = ['blush', 'chiffon', 'lace', 'papaya', 'pale', 'peach', 'saddle', 'slate'] as const;
const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const educations = [
  '2 yr Degree',
  '4 yr Degree',
  'Advanced Degree',
  'College',
  'Primary',
  'Secondary',
  'Unknown',
] as const;
const potentials = ['0-500', '501-1000', '1001-5000', '5001-10000', '>10000', 'Unknown'] as const;
const meals = [
  { from: 6, to: 9, name: 'breakfast' },
  { from: 11, to: 14, name: 'lunch' },
  { from: 17, to: 21, name: 'dinner' },
];
const flag = (): string => dice.one(['N', 'Y']);

function dateOf(offset: number): Row {
  const date = new Date(Date.parse(days.first) + offset * 86_400_000);
  const [year, month, dow] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDay()];
  const week =
    Math.floor(
      (Date.parse(dayAfter(days.first, offset)) - Date.parse('1899-12-31')) / 604_800_000,
    ) + 1;
  const quarter = Math.ceil(month / 3);
  return [
    days.key + offset,
    dayAfter(days.first, offset),
    (year - 1900) * 12 + month - 1,
    week,
    year,
    dow,
    month,
    date.getUTCDate(),
    quarter,
    dayNames[dow] ?? null,
    `${year}Q${quarter}`,
  ];
}

function minuteOf(minute: number): Row {
  const hour = Math.floor(minute / 60);
  const meal = meals.find(({ from, to }) => hour >= from && hour < to);
  return [minute * 60, minute * 60, hour, minute % 60, meal?.name ?? null];
}

function itemOf(key: number): Row {
  const category = dice.between(1, categories.length);
  const kind = dice.between(1, 3);
  const brand = category * 1_000_000 + kind * 1000 + dice.between(1, 2);
  const maker = dice.between(1, 15);
  const wholesale = dice.between(100, 9000);
  return [
    key,
    idOf(Math.ceil(key / 2)),
    `goods of kind ${kind} no ${key}`,
    money(wholesale + dice.between(0, 4000)),
    money(wholesale),
    brand,
    `brand ${brand}`,
    kind,
    `class ${kind}`,
    category,
    categories[category - 1] ?? '',
    maker,
    `maker ${maker}`,
    dice.one(['small', 'medium', 'large', 'petite', 'N/A']),
    dice.one(colors),
    dice.one(['Ounce', 'Pound', 'Each', 'Case']),
    dice.between(1, 10),
    `product ${key}`,
  ];
}

function customerOf(key: number): Row {
  return [
    key,
    idOf(key),
    rarely(keyOf('profile')),
    rarely(keyOf('household')),
    keyOf('address'),
    dice.one(['Dr.', 'Mr.', 'Ms.']),
    `First${key % 17}`,
    `Last${key}`,
    flag(),
    dice.between(1, 12),
    dice.between(1930, 1990),
    dice.one(['CHILE', 'NEPAL', 'TOGO']),
    `${key}@example.com`,
  ];
}

/** Of a sale, what its channels have in common. */
interface Order {
  readonly number: number;
  readonly day: number;
  readonly buyer: number;
  readonly lines: readonly Line[];
}

/**
 * Some of the orders are of the day and the buyer of an order of the channel before, some with
 * equal lines.
 */
function ordersOf(
  length: number,
  most: readonly [number, ...number[]],
  before: readonly Order[],
): readonly Order[] {
  return Array.from({ length }, (_, index) => {
    const other =
      before.length > 0 && dice.next() < 0.3
        ? before[dice.between(0, before.length - 1)]
        : undefined;
    const again = other !== undefined && dice.next() < 0.5 ? other.lines.slice(0, 2) : [];
    const taken = again.map(({ item }) => item);
    const items = new Set(
      Array.from({ length: dice.between(1, dice.one(most)) }, () => dice.between(1, sold)),
    ).difference(new Set(taken));
    const { day = dice.between(0, days.last - 130), buyer = keyOf('customer') } = other ?? {};
    return {
      number: index + 1,
      day,
      buyer,
      lines: [...again, ...[...items].map((item) => lineOf(dice, item))],
    };
  });
}

const dayKey = (offset: number): number => days.key + offset;
const secondOf = (): number => dice.between(420, 1320) * 60;

function storeTables(orders: readonly Order[]): Readonly<Record<string, Table>> {
  const returns: Row[] = [];
  const sales = orders.flatMap(({ number, day, buyer, lines }): readonly Row[] => {
    const who = [
      rarely(buyer),
      rarely(keyOf('profile')),
      rarely(keyOf('household')),
      rarely(keyOf('address')),
    ];
    const [time, store] = [secondOf(), rarely(keyOf('store'))];
    return lines.map((line): Row => {
      if (line.returned > 0) {
        const back = [
          dayKey(day + dice.between(1, 130)),
          line.item,
          who[0] ?? null,
          keyOf('profile'),
          store,
          dice.between(1, 6),
          number,
        ];
        returns.push([...back, line.returned, money(line.refund), money(line.loss)]);
      }
      const {
        wholesale,
        list,
        price,
        extDiscount,
        extSales,
        extWholesale,
        extList,
        tax,
        coupon,
        paid,
        profit,
      } = line.money;
      return [
        rarely(dayKey(day)),
        time,
        line.item,
        ...who,
        store,
        rarely(keyOf('promotion')),
        number,
        line.quantity,
        wholesale,
        list,
        price,
        extDiscount,
        extSales,
        extWholesale,
        extList,
        tax,
        coupon,
        paid,
        profit,
      ];
    });
  });
  return {
    store_sales: table(
      `ss_sold_date_sk INTEGER, ss_sold_time_sk INTEGER, ss_item_sk INTEGER, ss_customer_sk INTEGER, ss_cdemo_sk INTEGER, ss_hdemo_sk INTEGER,
       ss_addr_sk INTEGER, ss_store_sk INTEGER, ss_promo_sk INTEGER, ss_ticket_number INTEGER, ss_quantity INTEGER, ss_wholesale_cost DECIMAL(9,2),
       ss_list_price DECIMAL(9,2), ss_sales_price DECIMAL(9,2), ss_ext_discount_amt DECIMAL(9,2), ss_ext_sales_price DECIMAL(9,2),
       ss_ext_wholesale_cost DECIMAL(9,2), ss_ext_list_price DECIMAL(9,2), ss_ext_tax DECIMAL(9,2), ss_coupon_amt DECIMAL(9,2),
       ss_net_paid DECIMAL(9,2), ss_net_profit DECIMAL(9,2)`,
      sales,
    ),
    store_returns: table(
      `sr_returned_date_sk INTEGER, sr_item_sk INTEGER, sr_customer_sk INTEGER, sr_cdemo_sk INTEGER, sr_store_sk INTEGER, sr_reason_sk INTEGER,
       sr_ticket_number INTEGER, sr_return_quantity INTEGER, sr_return_amt DECIMAL(9,2), sr_net_loss DECIMAL(9,2)`,
      returns,
    ),
  };
}

const amounts = (
  prefix: string,
): string => `${prefix}_quantity INTEGER, ${prefix}_wholesale_cost DECIMAL(9,2), ${prefix}_list_price DECIMAL(9,2),
  ${prefix}_sales_price DECIMAL(9,2), ${prefix}_ext_discount_amt DECIMAL(9,2), ${prefix}_ext_sales_price DECIMAL(9,2), ${prefix}_ext_wholesale_cost DECIMAL(9,2),
  ${prefix}_ext_list_price DECIMAL(9,2), ${prefix}_ext_tax DECIMAL(9,2), ${prefix}_coupon_amt DECIMAL(9,2), ${prefix}_net_paid DECIMAL(9,2),
  ${prefix}_net_profit DECIMAL(9,2), ${prefix}_ext_ship_cost DECIMAL(9,2)`;

/**
 * Catalog and web: the sales of both have the same columns but for `place`, where they were made.
 */
function shippedTables(prefix: 'cs' | 'ws', orders: readonly Order[]) {
  const returns: Row[] = [];
  const sales = orders.flatMap(({ number, day, buyer, lines }): readonly Row[] => {
    const who = [
      rarely(buyer),
      rarely(keyOf('profile')),
      rarely(keyOf('household')),
      rarely(keyOf('address')),
    ];
    const recipient = dice.next() < 0.7 ? buyer : keyOf('customer');
    const to = [rarely(recipient), rarely(keyOf('household')), rarely(keyOf('address'))];
    const [time, place, page] = [
      secondOf(),
      rarely(dice.between(1, 4)),
      rarely(dice.between(1, 8)),
    ];
    return lines.map((line): Row => {
      const {
        wholesale,
        list,
        price,
        extDiscount,
        extSales,
        extWholesale,
        extList,
        tax,
        coupon,
        paid,
        profit,
        ship,
      } = line.money;
      if (line.returned > 0) {
        const back = [
          dayKey(day + dice.between(1, 130)),
          line.item,
          number,
          keyOf('profile'),
          keyOf('profile'),
          keyOf('address'),
        ];
        const by = dice.next() < 0.8 ? buyer : keyOf('customer');
        const sums = [
          line.returned,
          money(line.refund),
          money(line.refund + line.loss),
          money(line.loss),
          money(line.fee),
          money(line.cash),
        ];
        returns.push([...back, by, keyOf('address'), place, page, dice.between(1, 6), ...sums]);
      }
      return [
        rarely(dayKey(day)),
        time,
        rarely(dayKey(day + dice.between(1, 130))),
        line.item,
        ...who,
        ...to,
        place,
        page,
        rarely(dice.between(1, 5)),
        rarely(keyOf('warehouse')),
        rarely(keyOf('promotion')),
        number,
        line.quantity,
        wholesale,
        list,
        price,
        extDiscount,
        extSales,
        extWholesale,
        extList,
        tax,
        coupon,
        paid,
        profit,
        ship,
      ];
    });
  });
  const places =
    prefix === 'cs'
      ? ['cs_call_center_sk', 'cs_catalog_page_sk']
      : ['ws_web_site_sk', 'ws_web_page_sk'];
  const keys = [
    'sold_date_sk',
    'sold_time_sk',
    'ship_date_sk',
    'item_sk',
    'bill_customer_sk',
    'bill_cdemo_sk',
    'bill_hdemo_sk',
    'bill_addr_sk',
    'ship_customer_sk',
    'ship_hdemo_sk',
    'ship_addr_sk',
  ].map((key) => `${prefix}_${key}`);
  const more = ['ship_mode_sk', 'warehouse_sk', 'promo_sk', 'order_number'].map(
    (key) => `${prefix}_${key}`,
  );
  const integers = (names: readonly string[]): string =>
    names.map((name) => `${name} INTEGER`).join(', ');
  const back = prefix === 'cs' ? 'cr' : 'wr';
  const backKeys = [
    'returned_date_sk',
    'item_sk',
    'order_number',
    'refunded_cdemo_sk',
    'returning_cdemo_sk',
    'refunded_addr_sk',
    'returning_customer_sk',
    'returning_addr_sk',
    prefix === 'cs' ? 'call_center_sk' : 'web_site_sk',
    prefix === 'cs' ? 'catalog_page_sk' : 'web_page_sk',
    'reason_sk',
    'return_quantity',
  ].map((key) => `${back}_${key}`);
  const sums = [
    prefix === 'cs' ? 'return_amount' : 'return_amt',
    'return_amt_inc_tax',
    'net_loss',
    'fee',
    'refunded_cash',
  ];
  return {
    sales: table(`${integers([...keys, ...places, ...more])}, ${amounts(prefix)}`, sales),
    returns: table(
      `${integers(backKeys)}, ${sums.map((name) => `${back}_${name} DECIMAL(9,2)`).join(', ')}`,
      returns,
    ),
  };
}

function peopleTables(): Readonly<Record<string, Table>> {
  return {
    customer: table(
      `c_customer_sk INTEGER, c_customer_id VARCHAR, c_current_cdemo_sk INTEGER, c_current_hdemo_sk INTEGER, c_current_addr_sk INTEGER, c_salutation VARCHAR,
       c_first_name VARCHAR, c_last_name VARCHAR, c_preferred_cust_flag VARCHAR, c_birth_month INTEGER, c_birth_year INTEGER, c_birth_country VARCHAR,
       c_email_address VARCHAR`,
      rows(count.customer, customerOf),
    ),
    customer_address: table(
      'ca_address_sk INTEGER, ca_city VARCHAR, ca_county VARCHAR, ca_state VARCHAR, ca_zip VARCHAR, ca_country VARCHAR, ca_gmt_offset INTEGER, ca_location_type VARCHAR',
      rows(count.address, (key) => [
        key,
        dice.one(cities),
        dice.one(counties),
        dice.one(states),
        dice.one(zips),
        'United States',
        dice.one([-5, -6]),
        dice.one(['apartment', 'condo', 'single family']),
      ]),
    ),
    customer_demographics: table(
      `cd_demo_sk INTEGER, cd_gender VARCHAR, cd_marital_status VARCHAR, cd_education_status VARCHAR, cd_purchase_estimate INTEGER, cd_credit_rating VARCHAR,
       cd_dep_count INTEGER, cd_dep_employed_count INTEGER, cd_dep_college_count INTEGER`,
      rows(count.profile, (key) => [
        key,
        dice.one(['F', 'M']),
        dice.one(['D', 'M', 'S', 'U', 'W']),
        dice.one(educations),
        dice.between(1, 20) * 500,
        dice.one(['Good', 'High Risk', 'Low Risk']),
        dice.between(0, 6),
        dice.between(0, 6),
        dice.between(0, 6),
      ]),
    ),
    household_demographics: table(
      'hd_demo_sk INTEGER, hd_income_band_sk INTEGER, hd_buy_potential VARCHAR, hd_dep_count INTEGER, hd_vehicle_count INTEGER',
      rows(count.household, (key) => [
        key,
        dice.between(1, 20),
        dice.one(potentials),
        dice.between(0, 9),
        dice.between(-1, 4),
      ]),
    ),
    income_band: table(
      'ib_income_band_sk INTEGER, ib_lower_bound INTEGER, ib_upper_bound INTEGER',
      rows(20, (key) => [key, (key - 1) * 10_000 + 1, key * 10_000]),
    ),
  };
}

function placeTables(): Readonly<Record<string, Table>> {
  const named = (prefix: string, columns: string, make: (key: number) => Row): Table =>
    table(columns.replaceAll('@', prefix), rows(8, make));
  return {
    store: table(
      `s_store_sk INTEGER, s_store_id VARCHAR, s_store_name VARCHAR, s_number_employees INTEGER, s_market_id INTEGER, s_company_id INTEGER, s_company_name VARCHAR,
       s_city VARCHAR, s_county VARCHAR, s_state VARCHAR, s_zip VARCHAR, s_gmt_offset INTEGER`,
      rows(count.store, (key) => [
        key,
        idOf(key),
        `store ${key}`,
        195 + key * 17,
        key,
        1,
        'company',
        cities[key % 6] ?? null,
        counties[key % 6] ?? null,
        states[key % 3 === 0 ? 3 : key % 5] ?? null,
        zips[key] ?? null,
        key % 2 === 0 ? -5 : -6,
      ]),
    ),
    warehouse: table(
      'w_warehouse_sk INTEGER, w_warehouse_name VARCHAR, w_warehouse_sq_ft INTEGER, w_city VARCHAR, w_county VARCHAR, w_state VARCHAR, w_country VARCHAR',
      rows(count.warehouse, (key) => [
        key,
        `warehouse of a long name ${key}`,
        50_000 + key * 1000,
        cities[key] ?? null,
        counties[key] ?? null,
        states[key] ?? null,
        'United States',
      ]),
    ),
    ship_mode: named('sm', '@_ship_mode_sk INTEGER, @_type VARCHAR, @_carrier VARCHAR', (key) => [
      key,
      ['EXPRESS', 'LIBRARY', 'NEXT DAY', 'OVERNIGHT', 'REGULAR', 'TWO DAY', 'X', 'Y'][key - 1] ??
        null,
      ['DHL', 'BARIAN', 'UPS', 'ZOUROS'][key % 4] ?? null,
    ]),
    reason: named('r', '@_reason_sk INTEGER, @_reason_desc VARCHAR', (key) => [
      key,
      `reason ${key}`,
    ]),
    call_center: named(
      'cc',
      '@_call_center_sk INTEGER, @_call_center_id VARCHAR, @_name VARCHAR, @_manager VARCHAR, @_county VARCHAR',
      (key) => [key, idOf(key), `center ${key}`, `manager ${key}`, counties[key % 6] ?? null],
    ),
    catalog_page: named('cp', '@_catalog_page_sk INTEGER, @_catalog_page_id VARCHAR', (key) => [
      key,
      idOf(key),
    ]),
    web_site: named(
      'web',
      '@_site_sk INTEGER, @_site_id VARCHAR, @_name VARCHAR, @_company_name VARCHAR',
      (key) => [key, idOf(key), `site ${key}`, key % 2 === 0 ? 'pri' : 'able'],
    ),
    web_page: named('wp', '@_web_page_sk INTEGER, @_char_count INTEGER', (key) => [
      key,
      4600 + key * 200,
    ]),
    promotion: table(
      'p_promo_sk INTEGER, p_channel_dmail VARCHAR, p_channel_email VARCHAR, p_channel_event VARCHAR, p_channel_tv VARCHAR',
      rows(count.promotion, (key) => [key, flag(), flag(), flag(), flag()]),
    ),
  };
}

/** The columns of the standard that its queries read. */
export function tpcdsTables(): Readonly<Record<string, Table>> {
  const store = ordersOf(1600, [3, 6, 20, 22], []);
  const catalog = ordersOf(1500, [2, 5, 9], store);
  const web = ordersOf(1300, [2, 5, 9], catalog);
  const [cs, ws] = [shippedTables('cs', catalog), shippedTables('ws', web)];
  const weeks = Array.from({ length: 260 }, (_, week) => week * 7);
  const stock = weeks.flatMap((day) =>
    rows(count.item, (item) => [
      dayKey(day),
      item,
      dice.between(1, count.warehouse),
      rarely(item % 4 === 0 ? dice.between(0, 90) : Math.floor(1000 * dice.next() ** 3)),
    ]),
  );
  return {
    date_dim: table(
      `d_date_sk INTEGER, d_date DATE, d_month_seq INTEGER, d_week_seq INTEGER, d_year INTEGER, d_dow INTEGER, d_moy INTEGER, d_dom INTEGER, d_qoy INTEGER,
       d_day_name VARCHAR, d_quarter_name VARCHAR`,
      Array.from({ length: days.last + 1 }, (_, offset) => dateOf(offset)),
    ),
    time_dim: table(
      't_time_sk INTEGER, t_time INTEGER, t_hour INTEGER, t_minute INTEGER, t_meal_time VARCHAR',
      Array.from({ length: 1440 }, (_, minute) => minuteOf(minute)),
    ),
    item: table(
      `i_item_sk INTEGER, i_item_id VARCHAR, i_item_desc VARCHAR, i_current_price DECIMAL(9,2), i_wholesale_cost DECIMAL(9,2), i_brand_id INTEGER, i_brand VARCHAR,
       i_class_id INTEGER, i_class VARCHAR, i_category_id INTEGER, i_category VARCHAR, i_manufact_id INTEGER, i_manufact VARCHAR, i_size VARCHAR, i_color VARCHAR,
       i_units VARCHAR, i_manager_id INTEGER, i_product_name VARCHAR`,
      rows(count.item, itemOf),
    ),
    ...peopleTables(),
    ...placeTables(),
    ...storeTables(store),
    catalog_sales: cs.sales,
    catalog_returns: cs.returns,
    web_sales: ws.sales,
    web_returns: ws.returns,
    inventory: table(
      'inv_date_sk INTEGER, inv_item_sk INTEGER, inv_warehouse_sk INTEGER, inv_quantity_on_hand INTEGER',
      stock,
    ),
  };
}
