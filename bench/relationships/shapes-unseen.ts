import type { Generated } from './generate.ts';
import {
  build,
  code,
  constant,
  day,
  dayNumber,
  each,
  email,
  given,
  hex,
  listed,
  made,
  meant,
  moment,
  money,
  oneOf,
  ref,
  serial,
  sparse,
  uuid,
  whole,
  words,
  type Schema,
} from './written.ts';

/** Shapes of warehouses and applications, written by hand before any rule was touched, and scored only: nothing was developed on them. */

const client = () => oneOf('100', '200');
const sap: Schema = {
  T000: { rows: 2, key: ['MANDT'], columns: { MANDT: listed('100', '200'), MTEXT: words() } },
  T001: {
    rows: 12,
    key: ['MANDT', 'BUKRS'],
    columns: {
      MANDT: made('TEXT', ({ row }) => (row < 6 ? '100' : '200')),
      BUKRS: made('TEXT', ({ row }) => String(1000 + (row % 6) * 100)),
      BUTXT: words(),
      WAERS: oneOf('EUR', 'USD'),
    },
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  KNA1: {
    rows: 400,
    key: ['MANDT', 'KUNNR'],
    columns: {
      MANDT: made('TEXT', ({ row }) => (row < 250 ? '100' : '200')),
      KUNNR: made('TEXT', ({ row }) => String(100_000 + (row % 250)).padStart(10, '0')),
      NAME1: words(),
      LAND1: oneOf('DE', 'AT', 'CH'),
      ERDAT: day(),
    },
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  LFA1: {
    rows: 150,
    key: ['MANDT', 'LIFNR'],
    columns: {
      MANDT: made('TEXT', ({ row }) => (row < 90 ? '100' : '200')),
      LIFNR: made('TEXT', ({ row }) => String(300_000 + (row % 90)).padStart(10, '0')),
      NAME1: words(),
      LAND1: oneOf('DE', 'AT', 'CH'),
    },
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  MARA: {
    rows: 320,
    key: ['MANDT', 'MATNR'],
    columns: {
      MANDT: made('TEXT', ({ row }) => (row < 200 ? '100' : '200')),
      MATNR: made('TEXT', ({ row }) => `M${String(row % 200).padStart(6, '0')}`),
      MTART: oneOf('FERT', 'ROH'),
      MEINS: oneOf('ST', 'KG'),
    },
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  MAKT: {
    rows: 500,
    key: ['MANDT', 'MATNR', 'SPRAS'],
    columns: { MANDT: given('TEXT'), MATNR: given('TEXT'), SPRAS: oneOf('D', 'E'), MAKTX: words() },
    tuples: [[['MANDT', 'MATNR'], 'MARA', ['MANDT', 'MATNR']]],
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  VBAK: {
    rows: 900,
    key: ['MANDT', 'VBELN'],
    columns: {
      MANDT: client(),
      VBELN: made('TEXT', ({ row }) => String(5_000_000 + row).padStart(10, '0')),
      ERDAT: day(),
      AUART: oneOf('TA', 'RE'),
      KUNNR: given('TEXT'),
      BUKRS_VF: given('TEXT'),
      NETWR: money(9000),
    },
    tuples: [
      [['MANDT', 'KUNNR'], 'KNA1', ['MANDT', 'KUNNR']],
      [['MANDT', 'BUKRS_VF'], 'T001', ['MANDT', 'BUKRS']],
    ],
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  VBAP: {
    rows: 2000,
    key: ['MANDT', 'VBELN', 'POSNR'],
    columns: {
      MANDT: given('TEXT'),
      VBELN: given('TEXT'),
      POSNR: whole(1, 8),
      MATNR: given('TEXT'),
      KWMENG: whole(1, 90),
      NETWR: money(900),
    },
    tuples: [
      [['MANDT', 'VBELN'], 'VBAK', ['MANDT', 'VBELN']],
      [['MANDT', 'MATNR'], 'MARA', ['MANDT', 'MATNR']],
    ],
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  EKKO: {
    rows: 500,
    key: ['MANDT', 'EBELN'],
    columns: {
      MANDT: client(),
      EBELN: made('TEXT', ({ row }) => String(4_500_000_000 + row)),
      BUKRS: given('TEXT'),
      LIFNR: given('TEXT'),
      BEDAT: day(),
    },
    tuples: [
      [['MANDT', 'BUKRS'], 'T001', ['MANDT', 'BUKRS']],
      [['MANDT', 'LIFNR'], 'LFA1', ['MANDT', 'LIFNR']],
    ],
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  EKPO: {
    rows: 1100,
    key: ['MANDT', 'EBELN', 'EBELP'],
    columns: {
      MANDT: given('TEXT'),
      EBELN: given('TEXT'),
      EBELP: whole(1, 6),
      MATNR: given('TEXT'),
      MENGE: whole(1, 900),
    },
    tuples: [
      [['MANDT', 'EBELN'], 'EKKO', ['MANDT', 'EBELN']],
      [['MANDT', 'MATNR'], 'MARA', ['MANDT', 'MATNR']],
    ],
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
};

const game: Schema = {
  maps: {
    rows: 14,
    key: ['map_id'],
    columns: { map_id: serial(), map_name: words(), max_players: whole(2, 64) },
  },
  modes: { rows: 6, key: ['mode_id'], columns: { mode_id: serial(), label: words() } },
  weapons: {
    rows: 48,
    key: ['weapon_id'],
    columns: {
      weapon_id: serial(),
      label: words(),
      damage: whole(5, 100),
      class: oneOf('rifle', 'melee'),
    },
  },
  platforms: {
    rows: 5,
    key: ['platform_id'],
    columns: { platform_id: serial(), label: oneOf('pc', 'ps', 'xb') },
  },
  regions: { rows: 9, key: ['region_id'], columns: { region_id: serial(), label: words() } },
  clans: {
    rows: 60,
    key: ['clan_id'],
    columns: { clan_id: serial(), tag: hex(4), leader_id: ref('players', 'player_id') },
  },
  players: {
    rows: 1500,
    key: ['player_id'],
    columns: {
      player_id: sparse(76_561_190_000_000, 97),
      handle: hex(8),
      region_id: ref('regions', 'region_id'),
      platform_id: ref('platforms', 'platform_id'),
      clan_id: ref('clans', 'clan_id', { nulls: 0.6 }),
      level: whole(1, 90),
      xp: whole(0, 99_999),
    },
  },
  matches: {
    rows: 800,
    key: ['match_id'],
    columns: {
      match_id: serial(90_001),
      map_id: ref('maps', 'map_id'),
      mode_id: ref('modes', 'mode_id'),
      region_id: ref('regions', 'region_id'),
      started_at: moment(),
      duration_s: whole(100, 1900),
      mvp_player_id: ref('players', 'player_id', { nulls: 0.1 }),
    },
  },
  kills: {
    rows: 9000,
    key: ['event_id'],
    columns: {
      event_id: serial(),
      match_id: ref('matches', 'match_id'),
      killer_id: ref('players', 'player_id', { nulls: 0.03 }),
      victim_id: ref('players', 'player_id'),
      weapon_id: ref('weapons', 'weapon_id'),
      t_ms: whole(0, 900_000),
      headshot: whole(0, 1),
      x: whole(0, 400),
      y: whole(0, 400),
      distance: whole(0, 90),
    },
  },
  participations: {
    rows: 6000,
    key: ['match_id', 'player_id'],
    columns: {
      match_id: ref('matches', 'match_id'),
      player_id: ref('players', 'player_id'),
      team: whole(1, 2),
      score: whole(0, 40),
      deaths: whole(0, 20),
    },
  },
  purchases: {
    rows: 700,
    key: ['purchase_id'],
    columns: {
      purchase_id: uuid(),
      player_id: ref('players', 'player_id', { orphans: 0.05 }),
      item: ref('shop_items', 'item_code'),
      paid_cents: whole(99, 9999),
      bought_at: moment(),
    },
  },
  shop_items: {
    rows: 70,
    key: ['item_code'],
    columns: {
      item_code: code('skin_', 10),
      rarity: oneOf('rare', 'epic'),
      weapon_id: ref('weapons', 'weapon_id', { nulls: 0.4 }),
    },
  },
};

const russian: Schema = {
  Города: {
    rows: 40,
    key: ['КодГорода'],
    columns: { КодГорода: serial(), Название: words(), Население: whole(1000, 900_000) },
  },
  Клиенты: {
    rows: 260,
    key: ['КодКлиента'],
    columns: {
      КодКлиента: serial(),
      Фамилия: words(),
      КодГорода: ref('Города', 'КодГорода'),
      ДатаРегистрации: day(),
    },
  },
  Сотрудники: {
    rows: 50,
    key: ['КодСотрудника'],
    columns: {
      КодСотрудника: serial(),
      Фамилия: words(),
      КодОтдела: ref('Отделы', 'КодОтдела'),
      КодРуководителя: ref('Сотрудники', 'КодСотрудника', { nulls: 0.1 }),
      Оклад: money(9000),
    },
  },
  Отделы: { rows: 9, key: ['КодОтдела'], columns: { КодОтдела: serial(), Название: words() } },
  Поставщики: {
    rows: 30,
    key: ['КодПоставщика'],
    columns: { КодПоставщика: serial(), Название: words(), КодГорода: ref('Города', 'КодГорода') },
  },
  Товары: {
    rows: 180,
    key: ['КодТовара'],
    columns: {
      КодТовара: serial(),
      Наименование: words(),
      КодКатегории: ref('Категории', 'КодКатегории'),
      КодПоставщика: ref('Поставщики', 'КодПоставщика'),
      Цена: money(500),
      Остаток: whole(0, 90),
    },
  },
  Категории: {
    rows: 15,
    key: ['КодКатегории'],
    columns: { КодКатегории: serial(), Название: words() },
  },
  Заказы: {
    rows: 700,
    key: ['КодЗаказа'],
    columns: {
      КодЗаказа: serial(),
      КодКлиента: ref('Клиенты', 'КодКлиента'),
      КодСотрудника: ref('Сотрудники', 'КодСотрудника'),
      ДатаЗаказа: day(),
      Сумма: money(9000),
    },
  },
  СоставЗаказа: {
    rows: 1600,
    key: ['КодЗаказа', 'КодТовара'],
    columns: {
      КодЗаказа: ref('Заказы', 'КодЗаказа'),
      КодТовара: ref('Товары', 'КодТовара'),
      Количество: whole(1, 12),
    },
  },
  Оплаты: {
    rows: 500,
    key: ['КодОплаты'],
    columns: {
      КодОплаты: serial(),
      КодЗаказа: ref('Заказы', 'КодЗаказа'),
      Дата: day(),
      Сумма: money(9000),
    },
  },
};

const chinese: Schema = {
  部门: { rows: 10, key: ['部门编号'], columns: { 部门编号: serial(), 部门名称: words() } },
  员工: {
    rows: 90,
    key: ['员工编号'],
    columns: {
      员工编号: serial(),
      姓名: words(),
      部门编号: ref('部门', '部门编号'),
      上级编号: ref('员工', '员工编号', { nulls: 0.1 }),
      工资: money(9000),
    },
  },
  客户: {
    rows: 220,
    key: ['客户编号'],
    columns: { 客户编号: code('KH', 1000), 客户名称: words(), 城市编号: ref('城市', '城市编号') },
  },
  城市: {
    rows: 35,
    key: ['城市编号'],
    columns: { 城市编号: serial(), 城市名称: words(), 人口: whole(100, 9000) },
  },
  产品: {
    rows: 150,
    key: ['产品编号'],
    columns: {
      产品编号: serial(),
      产品名称: words(),
      类别编号: ref('产品类别', '类别编号'),
      单价: money(90),
      库存量: whole(0, 90),
    },
  },
  产品类别: { rows: 16, key: ['类别编号'], columns: { 类别编号: serial(), 类别名称: words() } },
  订单: {
    rows: 600,
    key: ['订单编号'],
    columns: {
      订单编号: serial(20_001),
      客户编号: ref('客户', '客户编号'),
      员工编号: ref('员工', '员工编号'),
      下单日期: day(),
    },
  },
  订单明细: {
    rows: 1400,
    key: ['明细编号'],
    columns: {
      明细编号: serial(),
      订单编号: ref('订单', '订单编号'),
      产品编号: ref('产品', '产品编号'),
      数量: whole(1, 9),
      金额: money(900),
    },
  },
};

const natural: Schema = {
  countries: {
    rows: 60,
    key: ['iso2'],
    columns: {
      iso2: made('TEXT', ({ row }) =>
        String.fromCodePoint(65 + Math.floor(row / 8), 65 + ((row * 5) % 26)),
      ),
      name: words(),
      ccy: ref('currencies', 'ccy'),
    },
  },
  currencies: {
    rows: 30,
    key: ['ccy'],
    columns: {
      ccy: made('TEXT', ({ row }) =>
        String.fromCodePoint(65 + (row % 26), 67 + Math.floor(row / 26), 68 + ((row * 7) % 20)),
      ),
      minor_units: whole(0, 3),
    },
  },
  accounts: {
    rows: 240,
    key: ['email'],
    columns: {
      email: email(),
      display_name: words(),
      country: ref('countries', 'iso2'),
      joined_on: day(),
    },
  },
  items: {
    rows: 140,
    key: ['sku'],
    columns: {
      sku: code('AB-', 1001),
      title: words(),
      made_in: ref('countries', 'iso2', { nulls: 0.1 }),
      grams: whole(10, 900),
    },
  },
  carts: {
    rows: 500,
    key: ['cart_ref'],
    columns: {
      cart_ref: hex(10, 'c'),
      owner_email: ref('accounts', 'email', { nulls: 0.1 }),
      ship_to: ref('countries', 'iso2'),
      ccy: ref('currencies', 'ccy', { share: 0.3 }),
      placed_on: day(),
    },
  },
  cart_items: {
    rows: 1200,
    key: ['cart_ref', 'sku'],
    columns: {
      cart_ref: ref('carts', 'cart_ref'),
      sku: ref('items', 'sku'),
      qty: whole(1, 6),
      unit_price: money(90),
    },
  },
  fx: {
    rows: 900,
    key: ['base', 'quote', 'on_day'],
    columns: {
      base: ref('currencies', 'ccy', { share: 0.2 }),
      quote: ref('currencies', 'ccy'),
      on_day: day(),
      rate: money(4),
    },
  },
  airports: {
    rows: 80,
    key: ['iata'],
    columns: {
      iata: made('TEXT', ({ row }) =>
        String.fromCodePoint(65 + (row % 26), 65 + Math.floor(row / 4), 66 + (row % 19)),
      ),
      city: words(),
      country: ref('countries', 'iso2'),
    },
  },
  flights: {
    rows: 700,
    key: ['flight_key'],
    columns: {
      flight_key: serial(),
      origin: ref('airports', 'iata'),
      dest: ref('airports', 'iata'),
      tail: ref('aircraft', 'tail_number', { nulls: 0.05 }),
      dep_delay: whole(-10, 90),
      distance: whole(90, 4000),
    },
  },
  aircraft: {
    rows: 50,
    key: ['tail_number'],
    columns: { tail_number: code('N', 1021), model: oneOf('A320', 'B737'), seats: whole(80, 300) },
  },
};

const ones: Schema = {
  plant: { rows: 8, key: ['id'], columns: { id: serial(), caption: words() } },
  shift: {
    rows: 3,
    key: ['id'],
    columns: { id: serial(), caption: oneOf('early', 'late', 'night') },
  },
  line: {
    rows: 20,
    key: ['id'],
    columns: { id: serial(), plant_id: ref('plant', 'id'), caption: words() },
  },
  machine: {
    rows: 90,
    key: ['id'],
    columns: {
      id: serial(),
      line_id: ref('line', 'id'),
      vendor_id: ref('vendor', 'id'),
      replaced_machine_id: ref('machine', 'id', { nulls: 0.8 }),
      year: whole(1990, 2022),
    },
  },
  vendor: { rows: 35, key: ['id'], columns: { id: serial(), caption: words() } },
  operator: {
    rows: 110,
    key: ['id'],
    columns: {
      id: serial(),
      plant_id: ref('plant', 'id'),
      shift_id: ref('shift', 'id'),
      pay_grade: whole(1, 12),
    },
  },
  material: {
    rows: 130,
    key: ['id'],
    columns: {
      id: serial(),
      unit_id: ref('unit', 'id'),
      vendor_id: ref('vendor', 'id'),
      shelf_days: whole(10, 400),
    },
  },
  unit: { rows: 9, key: ['id'], columns: { id: serial(), symbol: oneOf('kg', 'm', 'pc') } },
  work_order: {
    rows: 500,
    key: ['id'],
    columns: {
      id: serial(),
      machine_id: ref('machine', 'id'),
      operator_id: ref('operator', 'id'),
      output_material_id: ref('material', 'id'),
      planned_qty: whole(1, 500),
      priority: whole(1, 5),
    },
  },
  work_order_input: {
    rows: 1300,
    key: ['id'],
    columns: {
      id: serial(),
      work_order_id: ref('work_order', 'id'),
      material_id: ref('material', 'id'),
      unit_id: ref('unit', 'id'),
      qty: whole(1, 90),
    },
  },
  downtime: {
    rows: 260,
    key: ['id'],
    columns: {
      id: serial(),
      machine_id: ref('machine', 'id', { share: 0.5 }),
      reason_id: ref('downtime_reason', 'id'),
      reported_by: ref('operator', 'id'),
      minutes: whole(1, 300),
    },
  },
  downtime_reason: { rows: 14, key: ['id'], columns: { id: serial(), caption: words() } },
  quality_check: {
    rows: 700,
    key: ['id'],
    columns: {
      id: serial(),
      work_order_id: ref('work_order', 'id'),
      inspector_id: ref('operator', 'id', { share: 0.1 }),
      defects: whole(0, 9),
      sample_size: whole(1, 50),
    },
  },
};

const date = (nulls = 0) => ref('date_dim', 'd_date_sk', { nulls });
const decisions: Schema = {
  date_dim: {
    rows: 1800,
    key: ['d_date_sk'],
    columns: {
      d_date_sk: serial(2_415_022),
      d_date_id: hex(16),
      d_date: day(),
      d_month_seq: whole(0, 60),
      d_year: whole(1998, 2003),
      d_dow: whole(0, 6),
    },
  },
  time_dim: {
    rows: 1440,
    key: ['t_time_sk'],
    columns: {
      t_time_sk: serial(0),
      t_time_id: hex(16),
      t_hour: whole(0, 23),
      t_minute: whole(0, 59),
    },
  },
  item: {
    rows: 360,
    key: ['i_item_sk'],
    columns: {
      i_item_sk: serial(),
      i_item_id: hex(16),
      i_current_price: money(90),
      i_brand_id: whole(1_001_001, 1_001_090),
      i_class_id: whole(1, 16),
      i_category_id: whole(1, 10),
      i_manufact_id: whole(1, 900),
    },
  },
  customer: {
    rows: 500,
    key: ['c_customer_sk'],
    columns: {
      c_customer_sk: serial(),
      c_customer_id: hex(16),
      c_current_cdemo_sk: ref('customer_demographics', 'cd_demo_sk', { nulls: 0.04 }),
      c_current_hdemo_sk: ref('household_demographics', 'hd_demo_sk', { nulls: 0.04 }),
      c_current_addr_sk: ref('customer_address', 'ca_address_sk'),
      c_first_shipto_date_sk: date(0.04),
      c_first_sales_date_sk: date(0.04),
      c_birth_day: whole(1, 31),
      c_birth_year: whole(1930, 1992),
    },
  },
  customer_address: {
    rows: 250,
    key: ['ca_address_sk'],
    columns: {
      ca_address_sk: serial(),
      ca_address_id: hex(16),
      ca_city: words(),
      ca_zip: code('', 30_000, 3),
      ca_gmt_offset: whole(-8, -5),
    },
  },
  customer_demographics: {
    rows: 900,
    key: ['cd_demo_sk'],
    columns: {
      cd_demo_sk: serial(),
      cd_gender: oneOf('M', 'F'),
      cd_purchase_estimate: whole(500, 10_000),
      cd_dep_count: whole(0, 6),
    },
  },
  household_demographics: {
    rows: 720,
    key: ['hd_demo_sk'],
    columns: {
      hd_demo_sk: serial(),
      hd_income_band_sk: ref('income_band', 'ib_income_band_sk'),
      hd_buy_potential: oneOf('0-500', '>10000'),
      hd_dep_count: whole(0, 9),
      hd_vehicle_count: whole(-1, 4),
    },
  },
  income_band: {
    rows: 20,
    key: ['ib_income_band_sk'],
    columns: {
      ib_income_band_sk: serial(),
      ib_lower_bound: serial(1, 10_000),
      ib_upper_bound: serial(10_000, 10_000),
    },
  },
  store: {
    rows: 12,
    key: ['s_store_sk'],
    columns: {
      s_store_sk: serial(),
      s_store_id: hex(16),
      s_closed_date_sk: date(0.6),
      s_number_employees: whole(200, 300),
      s_market_id: whole(1, 10),
    },
  },
  promotion: {
    rows: 30,
    key: ['p_promo_sk'],
    columns: {
      p_promo_sk: serial(),
      p_promo_id: hex(16),
      p_start_date_sk: date(),
      p_end_date_sk: date(),
      p_item_sk: ref('item', 'i_item_sk'),
      p_cost: money(1000),
    },
  },
  warehouse: {
    rows: 5,
    key: ['w_warehouse_sk'],
    columns: {
      w_warehouse_sk: serial(),
      w_warehouse_id: hex(16),
      w_warehouse_sq_ft: whole(50_000, 990_000),
    },
  },
  reason: {
    rows: 35,
    key: ['r_reason_sk'],
    columns: { r_reason_sk: serial(), r_reason_id: hex(16), r_reason_desc: words() },
  },
  inventory: {
    rows: 3000,
    key: ['inv_date_sk', 'inv_item_sk', 'inv_warehouse_sk'],
    columns: {
      inv_date_sk: ref('date_dim', 'd_date_sk', { share: 0.02 }),
      inv_item_sk: ref('item', 'i_item_sk'),
      inv_warehouse_sk: ref('warehouse', 'w_warehouse_sk'),
      inv_quantity_on_hand: whole(0, 1000),
    },
  },
  store_sales: {
    rows: 5000,
    key: ['ss_item_sk', 'ss_ticket_number'],
    columns: {
      ss_sold_date_sk: date(0.04),
      ss_sold_time_sk: ref('time_dim', 't_time_sk', { nulls: 0.04 }),
      ss_item_sk: ref('item', 'i_item_sk'),
      ss_customer_sk: ref('customer', 'c_customer_sk', { nulls: 0.04 }),
      ss_cdemo_sk: ref('customer_demographics', 'cd_demo_sk', { nulls: 0.04 }),
      ss_hdemo_sk: ref('household_demographics', 'hd_demo_sk', { nulls: 0.04 }),
      ss_addr_sk: ref('customer_address', 'ca_address_sk', { nulls: 0.04 }),
      ss_store_sk: ref('store', 's_store_sk', { nulls: 0.04 }),
      ss_promo_sk: ref('promotion', 'p_promo_sk', { nulls: 0.04 }),
      ss_ticket_number: made('INTEGER', ({ row }) => 1 + Math.floor(row / 9)),
      ss_quantity: whole(1, 100),
      ss_net_paid: money(900),
    },
  },
  store_returns: {
    rows: 500,
    key: ['sr_item_sk', 'sr_ticket_number'],
    columns: {
      sr_returned_date_sk: date(0.04),
      sr_item_sk: given(),
      sr_customer_sk: ref('customer', 'c_customer_sk', { nulls: 0.04 }),
      sr_store_sk: ref('store', 's_store_sk', { nulls: 0.04 }),
      sr_reason_sk: ref('reason', 'r_reason_sk', { nulls: 0.04 }),
      sr_ticket_number: given(),
      sr_return_quantity: whole(1, 50),
    },
    tuples: [
      [['sr_item_sk', 'sr_ticket_number'], 'store_sales', ['ss_item_sk', 'ss_ticket_number']],
    ],
    links: [[['sr_item_sk'], 'item', ['i_item_sk']]],
  },
};

const exchange: Schema = {
  PostTypes: { rows: 8, key: ['Id'], columns: { Id: serial(), Name: words() } },
  Users: {
    rows: 300,
    key: ['Id'],
    columns: {
      Id: serial(-1, 3),
      Reputation: whole(1, 9000),
      DisplayName: words(),
      Views: whole(0, 400),
      UpVotes: whole(0, 500),
      AccountId: sparse(1000, 40),
    },
  },
  Posts: {
    rows: 900,
    key: ['Id'],
    columns: {
      Id: serial(1, 2),
      PostTypeId: ref('PostTypes', 'Id', { share: 0.3 }),
      AcceptedAnswerId: ref('Posts', 'Id', { nulls: 0.8 }),
      ParentId: ref('Posts', 'Id', { nulls: 0.4 }),
      Score: whole(-5, 90),
      ViewCount: whole(0, 9000),
      OwnerUserId: ref('Users', 'Id', { nulls: 0.02 }),
      LastEditorUserId: ref('Users', 'Id', { nulls: 0.5 }),
      AnswerCount: whole(0, 9),
      CommentCount: whole(0, 9),
    },
  },
  Comments: {
    rows: 1200,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostId: ref('Posts', 'Id'),
      Score: whole(0, 20),
      Text: words(),
      UserId: ref('Users', 'Id', { nulls: 0.03 }),
    },
  },
  Votes: {
    rows: 2500,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostId: ref('Posts', 'Id', { orphans: 0.05 }),
      VoteTypeId: ref('VoteTypes', 'Id'),
      UserId: ref('Users', 'Id', { nulls: 0.8 }),
      BountyAmount: whole(50, 500),
    },
  },
  VoteTypes: { rows: 15, key: ['Id'], columns: { Id: serial(), Name: words() } },
  Badges: {
    rows: 800,
    key: ['Id'],
    columns: {
      Id: serial(),
      UserId: ref('Users', 'Id'),
      Name: oneOf('Teacher', 'Student'),
      Class: whole(1, 3),
    },
  },
  PostHistory: {
    rows: 1500,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostHistoryTypeId: whole(1, 25),
      PostId: ref('Posts', 'Id'),
      RevisionGUID: uuid(),
      UserId: ref('Users', 'Id', { nulls: 0.05 }),
    },
  },
  PostLinks: {
    rows: 200,
    key: ['Id'],
    columns: {
      Id: serial(),
      PostId: ref('Posts', 'Id'),
      RelatedPostId: ref('Posts', 'Id'),
      LinkTypeId: oneOf('1', '3'),
    },
  },
  Tags: {
    rows: 120,
    key: ['Id'],
    columns: {
      Id: serial(),
      TagName: hex(6),
      Count: whole(1, 900),
      ExcerptPostId: ref('Posts', 'Id', { nulls: 0.3 }),
      WikiPostId: ref('Posts', 'Id', { nulls: 0.3 }),
    },
  },
};

const subscriptions: Schema = {
  tenants: {
    rows: 20,
    key: ['tenant_ref'],
    columns: { tenant_ref: hex(14, 'ten_'), name: words(), region: oneOf('eu', 'us') },
  },
  users: {
    rows: 200,
    key: ['user_ref'],
    columns: {
      user_ref: hex(14, 'usr_'),
      tenant_ref: ref('tenants', 'tenant_ref'),
      full_name: words(),
      referred_by: ref('users', 'user_ref', { nulls: 0.7 }),
    },
  },
  user_settings: {
    rows: 150,
    key: ['user_ref'],
    columns: {
      user_ref: each('users', 'user_ref'),
      theme: oneOf('dark', 'light'),
      locale: oneOf('en', 'de'),
    },
  },
  plans: {
    rows: 5,
    key: ['plan_code'],
    columns: { plan_code: listed('free', 'basic', 'team', 'pro', 'max'), monthly: money(90) },
  },
  subscriptions: {
    rows: 120,
    key: ['subscription_ref'],
    columns: {
      subscription_ref: hex(14, 'sub_'),
      tenant_ref: ref('tenants', 'tenant_ref'),
      plan: ref('plans', 'plan_code'),
      started_on: day(),
      seats: whole(1, 90),
    },
  },
  invoices: {
    rows: 500,
    key: ['invoice_no'],
    columns: {
      invoice_no: serial(100_001),
      subscription_ref: ref('subscriptions', 'subscription_ref', { orphans: 0.05 }),
      issued_on: day(),
      total: money(900),
    },
  },
  invoice_lines: {
    rows: 1200,
    key: ['invoice_no', 'line_no'],
    columns: {
      invoice_no: made('INTEGER', ({ row }) => 100_001 + Math.floor(row / 3)),
      line_no: made('INTEGER', ({ row }) => 1 + (row % 3)),
      feature: ref('features', 'feature_code'),
      units: whole(1, 900),
    },
    links: [[['invoice_no'], 'invoices', ['invoice_no']]],
  },
  features: {
    rows: 25,
    key: ['feature_code'],
    columns: { feature_code: code('F', 100), title: words() },
  },
  plan_features: {
    rows: 60,
    key: ['plan_code', 'feature_code'],
    columns: {
      plan_code: ref('plans', 'plan_code'),
      feature_code: ref('features', 'feature_code'),
    },
  },
  team_members: {
    rows: 260,
    key: ['team_ref', 'user_ref'],
    columns: {
      team_ref: ref('teams', 'team_ref'),
      user_ref: ref('users', 'user_ref'),
      role: oneOf('admin', 'member'),
    },
  },
  teams: {
    rows: 40,
    key: ['team_ref'],
    columns: {
      team_ref: hex(14, 'tm_'),
      tenant_ref: ref('tenants', 'tenant_ref'),
      lead: ref('users', 'user_ref', { nulls: 0.1 }),
    },
  },
  refunds: {
    rows: 0,
    key: ['refund_no'],
    columns: { refund_no: serial(), invoice_no: ref('invoices', 'invoice_no'), amount: money(90) },
  },
  audit: {
    rows: 900,
    key: ['entry'],
    columns: {
      entry: serial(),
      actor: ref('users', 'user_ref', { nulls: 0.2 }),
      subject_type: oneOf('users', 'teams'),
      subject_id: meant('subject_type', {
        users: ['users', 'user_ref'],
        teams: ['teams', 'team_ref'],
      }),
      at: moment(),
    },
  },
};

const bank: Schema = {
  district: {
    rows: 77,
    key: ['district_id'],
    columns: {
      district_id: serial(),
      A2: words(),
      A3: oneOf('Prague', 'south'),
      A4: whole(40_000, 900_000),
      A5: whole(0, 151),
      A6: whole(0, 70),
      A9: whole(1, 11),
      A14: whole(81, 167),
    },
  },
  account: {
    rows: 450,
    key: ['account_id'],
    columns: {
      account_id: serial(),
      district_id: ref('district', 'district_id'),
      frequency: oneOf('POPLATEK MESICNE', 'POPLATEK TYDNE'),
      date: day(),
    },
  },
  client: {
    rows: 540,
    key: ['client_id'],
    columns: {
      client_id: serial(),
      gender: oneOf('F', 'M'),
      birth_date: day(),
      district_id: ref('district', 'district_id'),
    },
  },
  disp: {
    rows: 540,
    key: ['disp_id'],
    columns: {
      disp_id: serial(),
      client_id: each('client', 'client_id'),
      account_id: ref('account', 'account_id'),
      type: oneOf('OWNER', 'DISPONENT'),
    },
  },
  card: {
    rows: 90,
    key: ['card_id'],
    columns: {
      card_id: sparse(1, 13),
      disp_id: ref('disp', 'disp_id'),
      type: oneOf('gold', 'classic'),
      issued: day(),
    },
  },
  loan: {
    rows: 68,
    key: ['loan_id'],
    columns: {
      loan_id: sparse(4959, 35),
      account_id: ref('account', 'account_id'),
      date: day(),
      amount: whole(4000, 590_000),
      duration: oneOf('12', '24', '60'),
      status: oneOf('A', 'B', 'C', 'D'),
    },
  },
  order: {
    rows: 640,
    key: ['order_id'],
    columns: {
      order_id: sparse(29_401, 2),
      account_id: ref('account', 'account_id'),
      bank_to: hex(2),
      account_to: whole(1_000_000, 99_999_999),
      amount: money(9000),
      k_symbol: oneOf('SIPO', 'UVER'),
    },
  },
  trans: {
    rows: 5000,
    key: ['trans_id'],
    columns: {
      trans_id: sparse(1, 3),
      account_id: ref('account', 'account_id'),
      date: day(),
      type: oneOf('PRIJEM', 'VYDAJ'),
      amount: whole(0, 90_000),
      balance: whole(0, 200_000),
      bank: hex(2),
      account: whole(0, 99_999_999),
    },
  },
};

const bicycles: Schema = {
  BusinessEntity: {
    rows: 700,
    key: ['BusinessEntityID'],
    columns: { BusinessEntityID: serial(), rowguid: uuid(), ModifiedDate: day() },
  },
  Person: {
    rows: 500,
    key: ['BusinessEntityID'],
    columns: {
      BusinessEntityID: each('BusinessEntity', 'BusinessEntityID'),
      PersonType: oneOf('EM', 'IN', 'SC'),
      FirstName: words(),
      EmailPromotion: whole(0, 2),
      rowguid: uuid(),
    },
  },
  Employee: {
    rows: 90,
    key: ['BusinessEntityID'],
    columns: {
      BusinessEntityID: each('Person', 'BusinessEntityID'),
      NationalIDNumber: code('29', 5847),
      OrganizationLevel: whole(1, 4),
      BirthDate: day(),
      VacationHours: whole(0, 99),
      rowguid: uuid(),
    },
    open: [[['BusinessEntityID'], 'BusinessEntity', ['BusinessEntityID']]],
  },
  SalesPerson: {
    rows: 17,
    key: ['BusinessEntityID'],
    columns: {
      BusinessEntityID: each('Employee', 'BusinessEntityID'),
      TerritoryID: ref('SalesTerritory', 'TerritoryID', { nulls: 0.1 }),
      SalesQuota: money(9000),
      Bonus: money(900),
    },
    open: [
      [['BusinessEntityID'], 'BusinessEntity', ['BusinessEntityID']],
      [['BusinessEntityID'], 'Person', ['BusinessEntityID']],
    ],
  },
  SalesTerritory: {
    rows: 10,
    key: ['TerritoryID'],
    columns: {
      TerritoryID: serial(),
      Name: words(),
      CountryRegionCode: oneOf('US', 'CA'),
      SalesYTD: money(9000),
    },
  },
  Address: {
    rows: 420,
    key: ['AddressID'],
    columns: {
      AddressID: serial(),
      AddressLine1: words(),
      City: words(),
      StateProvinceID: ref('StateProvince', 'StateProvinceID'),
      rowguid: uuid(),
    },
  },
  StateProvince: {
    rows: 60,
    key: ['StateProvinceID'],
    columns: {
      StateProvinceID: serial(),
      StateProvinceCode: hex(3),
      TerritoryID: ref('SalesTerritory', 'TerritoryID'),
    },
  },
  Customer: {
    rows: 480,
    key: ['CustomerID'],
    columns: {
      CustomerID: serial(),
      PersonID: ref('Person', 'BusinessEntityID', { nulls: 0.1 }),
      TerritoryID: ref('SalesTerritory', 'TerritoryID'),
      AccountNumber: code('AW0000', 1, 1),
    },
  },
  SalesOrderHeader: {
    rows: 900,
    key: ['SalesOrderID'],
    columns: {
      SalesOrderID: serial(43_659),
      RevisionNumber: whole(8, 9),
      OrderDate: day(),
      Status: constant(5),
      CustomerID: ref('Customer', 'CustomerID'),
      SalesPersonID: ref('SalesPerson', 'BusinessEntityID', { nulls: 0.6 }),
      TerritoryID: ref('SalesTerritory', 'TerritoryID'),
      BillToAddressID: ref('Address', 'AddressID'),
      ShipToAddressID: ref('Address', 'AddressID'),
      ShipMethodID: ref('ShipMethod', 'ShipMethodID'),
      SubTotal: money(9000),
    },
  },
  ShipMethod: {
    rows: 5,
    key: ['ShipMethodID'],
    columns: { ShipMethodID: serial(), Name: words(), ShipBase: money(30) },
  },
  SalesOrderDetail: {
    rows: 2600,
    key: ['SalesOrderID', 'SalesOrderDetailID'],
    columns: {
      SalesOrderID: ref('SalesOrderHeader', 'SalesOrderID'),
      SalesOrderDetailID: serial(),
      OrderQty: whole(1, 30),
      ProductID: ref('Product', 'ProductID'),
      UnitPrice: money(900),
    },
  },
  Product: {
    rows: 200,
    key: ['ProductID'],
    columns: {
      ProductID: serial(680),
      Name: words(),
      ProductNumber: code('FR-', 20),
      SafetyStockLevel: whole(4, 1000),
      ProductSubcategoryID: ref('ProductSubcategory', 'ProductSubcategoryID', { nulls: 0.4 }),
      ProductModelID: ref('ProductModel', 'ProductModelID', { nulls: 0.3 }),
    },
  },
  ProductSubcategory: {
    rows: 37,
    key: ['ProductSubcategoryID'],
    columns: {
      ProductSubcategoryID: serial(),
      ProductCategoryID: ref('ProductCategory', 'ProductCategoryID'),
      Name: words(),
    },
  },
  ProductCategory: {
    rows: 4,
    key: ['ProductCategoryID'],
    columns: { ProductCategoryID: serial(), Name: words() },
  },
  ProductModel: {
    rows: 110,
    key: ['ProductModelID'],
    columns: { ProductModelID: serial(), Name: words() },
  },
  BillOfMaterials: {
    rows: 600,
    key: ['BillOfMaterialsID'],
    columns: {
      BillOfMaterialsID: sparse(1, 4),
      ProductAssemblyID: ref('Product', 'ProductID', { nulls: 0.1, share: 0.5 }),
      ComponentID: ref('Product', 'ProductID'),
      BOMLevel: whole(0, 4),
      PerAssemblyQty: whole(1, 40),
    },
  },
};

const calendar: Schema = {
  d_calendar: {
    rows: 1000,
    key: ['date_key'],
    columns: { date_key: dayNumber(), iso_week: whole(1, 53), is_holiday: whole(0, 1) },
  },
  d_hotel: {
    rows: 45,
    key: ['hotel_key'],
    columns: {
      hotel_key: serial(),
      hotel_name: words(),
      rooms: whole(20, 300),
      opened_date_key: ref('d_calendar', 'date_key'),
    },
  },
  d_room_type: {
    rows: 7,
    key: ['room_type_key'],
    columns: { room_type_key: serial(), label: words() },
  },
  d_channel: { rows: 5, key: ['channel_key'], columns: { channel_key: serial(), label: words() } },
  d_guest: {
    rows: 600,
    key: ['guest_key'],
    columns: {
      guest_key: serial(),
      nationality: oneOf('SE', 'NO', 'FI'),
      loyalty_tier: oneOf('none', 'gold'),
    },
  },
  f_booking: {
    rows: 2500,
    key: ['booking_key'],
    columns: {
      booking_key: serial(),
      hotel_key: ref('d_hotel', 'hotel_key', { orphans: 0.05 }),
      guest_key: ref('d_guest', 'guest_key', { nulls: 0.05, none: -1 }),
      room_type_key: ref('d_room_type', 'room_type_key'),
      channel_key: ref('d_channel', 'channel_key'),
      booked_date_key: ref('d_calendar', 'date_key'),
      arrival_date_key: ref('d_calendar', 'date_key'),
      departure_date_key: ref('d_calendar', 'date_key', { nulls: 0.03, none: 0 }),
      nights: whole(1, 14),
      revenue: money(2000),
    },
  },
  f_occupancy: {
    rows: 3000,
    key: ['date_key', 'hotel_key', 'room_type_key'],
    columns: {
      date_key: ref('d_calendar', 'date_key', { share: 0.1 }),
      hotel_key: ref('d_hotel', 'hotel_key'),
      room_type_key: ref('d_room_type', 'room_type_key'),
      sold: whole(0, 90),
      available: whole(0, 90),
    },
  },
};

export const shapesUnseen: Readonly<Record<string, () => Generated>> = Object.fromEntries(
  Object.entries({
    sap,
    game,
    russian,
    chinese,
    natural,
    ones,
    decisions,
    exchange,
    subscriptions,
    bank,
    bicycles,
    calendar,
  }).map(([name, schema]) => [name, () => build(name, schema)]),
);
