import type { Generated } from './generate.ts';
import {
  build,
  code,
  day,
  listed,
  made,
  money,
  oneOf,
  ref,
  serial,
  uuid,
  whole,
  words,
  type Schema,
} from './written.ts';

/** Schemas written by hand, in styles that the generator does not make. Nothing is trained on them. */
const star: Schema = {
  dim_date: {
    rows: 400,
    key: ['date_sk'],
    columns: {
      date_sk: serial(20_200_101),
      full_date: made('DATE', ({ row }) =>
        new Date(Date.UTC(2020, 0, 1 + row)).toISOString().slice(0, 10),
      ),
      month_no: whole(1, 12),
      year_no: whole(2020, 2021),
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
      sqm: whole(100, 900),
    },
  },
  dim_promo: {
    rows: 8,
    key: ['promo_sk'],
    columns: { promo_sk: serial(0), promo_nm: words(), pct_off: whole(0, 40) },
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
      qty: whole(1, 9),
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
      qty: whole(1, 3),
    },
  },
  fct_stock_daily: {
    rows: 700,
    key: ['date_sk', 'store_sk', 'prod_sk'],
    columns: {
      date_sk: made('INTEGER', ({ row }) => 20_200_101 + Math.floor(row / 70)),
      store_sk: made('INTEGER', ({ row }) => 1 + (Math.floor(row / 5) % 14)),
      prod_sk: made('INTEGER', ({ row }) => 1 + ((row * 13 + Math.floor(row / 70)) % 90)),
      on_hand: whole(0, 200),
    },
    links: [
      [['date_sk'], 'dim_date', ['date_sk']],
      [['store_sk'], 'dim_store', ['store_sk']],
      [['prod_sk'], 'dim_prod', ['prod_sk']],
    ],
  },
};

const german: Schema = {
  ABT: {
    rows: 9,
    key: ['ABT_NR'],
    columns: { ABT_NR: serial(), BEZ: words(), LEITER: ref('MITARB', 'PERS_NR') },
  },
  MITARB: {
    rows: 60,
    key: ['PERS_NR'],
    columns: {
      PERS_NR: serial(),
      NAME: words(),
      ABT_NR: ref('ABT', 'ABT_NR'),
      VORGESETZTER: ref('MITARB', 'PERS_NR', { nulls: 0.1 }),
      GEHALT: money(6000),
      EINTRITT: day(),
    },
  },
  KUNDE: {
    rows: 140,
    key: ['KD_NR'],
    columns: {
      KD_NR: serial(10_001),
      NAME: words(),
      PLZ: ref('ORT', 'PLZ', { orphans: 0.02 }),
      BETREUER: ref('MITARB', 'PERS_NR', { nulls: 0.2 }),
    },
  },
  ORT: { rows: 70, key: ['PLZ'], columns: { PLZ: code('', 10_115), ORT_NAME: words() } },
  ARTIKEL: {
    rows: 110,
    key: ['ART_NR'],
    columns: {
      ART_NR: serial(),
      BEZ: words(),
      WGR: ref('WARENGRUPPE', 'WGR_NR'),
      VK_PREIS: money(80),
      BESTAND: whole(0, 99),
    },
  },
  WARENGRUPPE: {
    rows: 12,
    key: ['WGR_NR'],
    columns: {
      WGR_NR: serial(),
      BEZ: words(),
      OBER_WGR_NR: ref('WARENGRUPPE', 'WGR_NR', { nulls: 0.4 }),
    },
  },
  LIEFERANT: {
    rows: 25,
    key: ['LIEF_NR'],
    columns: { LIEF_NR: serial(), FIRMA: words(), PLZ: ref('ORT', 'PLZ') },
  },
  AUFTRAG: {
    rows: 320,
    key: ['AUF_NR'],
    columns: {
      AUF_NR: serial(),
      KD_NR: ref('KUNDE', 'KD_NR'),
      SACHB: ref('MITARB', 'PERS_NR'),
      AUF_DAT: day(),
    },
  },
  AUFTRAG_POS: {
    rows: 800,
    key: ['AUF_NR', 'POS_NR'],
    columns: {
      AUF_NR: made('INTEGER', ({ row }) => 1 + Math.floor(row / 2.5)),
      POS_NR: made(
        'INTEGER',
        ({ row }) =>
          1 + Math.floor((row % 5) % 2.5) + (row % 5 >= 3 ? 0 : 0) + (row % 5 === 4 ? 1 : 0),
      ),
      ART_NR: ref('ARTIKEL', 'ART_NR'),
      MENGE: whole(1, 20),
    },
    links: [[['AUF_NR'], 'AUFTRAG', ['AUF_NR']]],
  },
};

const tracker: Schema = {
  workspace: {
    rows: 5,
    key: ['id'],
    columns: { id: uuid(), name: words(), plan: oneOf('free', 'team') },
  },
  member: {
    rows: 45,
    key: ['id'],
    columns: {
      id: uuid(),
      workspace: ref('workspace', 'id'),
      handle: words(),
      invited_by: ref('member', 'id', { nulls: 0.3 }),
    },
  },
  project: {
    rows: 20,
    key: ['id'],
    columns: {
      id: uuid(),
      workspace: ref('workspace', 'id'),
      lead: ref('member', 'id', { nulls: 0.1 }),
      title: words(),
    },
  },
  state: {
    rows: 5,
    key: ['slug'],
    columns: { slug: listed('backlog', 'todo', 'doing', 'done', 'dropped'), sort: serial() },
  },
  issue: {
    rows: 400,
    key: ['id'],
    columns: {
      id: uuid(),
      number: serial(),
      project: ref('project', 'id'),
      state: ref('state', 'slug'),
      reporter: ref('member', 'id'),
      assignee: ref('member', 'id', { nulls: 0.4 }),
      parent: ref('issue', 'id', { nulls: 0.7 }),
      estimate: whole(1, 8),
    },
  },
  label: {
    rows: 30,
    key: ['id'],
    columns: { id: uuid(), workspace: ref('workspace', 'id'), name: words() },
  },
  issue_label: {
    rows: 300,
    key: ['issue', 'label'],
    columns: { issue: ref('issue', 'id'), label: ref('label', 'id') },
  },
  comment: {
    rows: 500,
    key: ['id'],
    columns: {
      id: uuid(),
      issue: ref('issue', 'id'),
      author: ref('member', 'id'),
      body: words(),
      at: day(),
    },
  },
  attachment: {
    rows: 80,
    key: ['id'],
    columns: {
      id: uuid(),
      comment: ref('comment', 'id', { orphans: 0.03 }),
      bytes: whole(100, 90_000),
    },
  },
};

const racing: Schema = {
  circuits: {
    rows: 40,
    key: ['circuitId'],
    columns: {
      circuitId: serial(),
      circuitRef: code('track', 1),
      country: oneOf('IT', 'UK', 'DE'),
      alt: whole(0, 2000),
    },
  },
  seasons: { rows: 40, key: ['year'], columns: { year: serial(1980), url: code('http://s/', 1) } },
  races: {
    rows: 520,
    key: ['raceId'],
    columns: {
      raceId: serial(),
      year: ref('seasons', 'year'),
      round: whole(1, 20),
      circuitId: ref('circuits', 'circuitId'),
      name: words(),
    },
  },
  drivers: {
    rows: 240,
    key: ['driverId'],
    columns: {
      driverId: serial(),
      number: whole(1, 99),
      code: oneOf('HAM', 'ALO', 'VET', 'ROS'),
      surname: words(),
      dob: day(),
    },
  },
  constructors: {
    rows: 60,
    key: ['constructorId'],
    columns: { constructorId: serial(), name: words(), nationality: oneOf('it', 'uk') },
  },
  status: { rows: 70, key: ['statusId'], columns: { statusId: serial(), status: words() } },
  results: {
    rows: 3000,
    key: ['resultId'],
    columns: {
      resultId: serial(),
      raceId: ref('races', 'raceId'),
      driverId: ref('drivers', 'driverId'),
      constructorId: ref('constructors', 'constructorId'),
      number: whole(1, 99),
      grid: whole(0, 24),
      positionOrder: whole(1, 24),
      points: whole(0, 25),
      laps: whole(0, 78),
      milliseconds: whole(900_000, 9_000_000),
      rank: whole(1, 24),
      statusId: ref('status', 'statusId'),
    },
  },
  qualifying: {
    rows: 1500,
    key: ['qualifyId'],
    columns: {
      qualifyId: serial(),
      raceId: ref('races', 'raceId'),
      driverId: ref('drivers', 'driverId'),
      constructorId: ref('constructors', 'constructorId'),
      number: whole(1, 99),
      position: whole(1, 24),
    },
  },
  lapTimes: {
    rows: 2400,
    key: ['raceId', 'driverId', 'lap'],
    columns: {
      raceId: made('INTEGER', ({ row }) => 1 + Math.floor(row / 60) * 13),
      driverId: made('INTEGER', ({ row }) => 1 + ((Math.floor(row / 20) * 11) % 240)),
      lap: made('INTEGER', ({ row }) => 1 + (row % 20)),
      position: whole(1, 24),
      milliseconds: whole(60_000, 130_000),
    },
    links: [
      [['raceId'], 'races', ['raceId']],
      [['driverId'], 'drivers', ['driverId']],
    ],
  },
  constructorStandings: {
    rows: 900,
    key: ['constructorStandingsId'],
    columns: {
      constructorStandingsId: serial(),
      raceId: ref('races', 'raceId'),
      constructorId: ref('constructors', 'constructorId'),
      points: whole(0, 300),
      position: whole(1, 24),
      wins: whole(0, 9),
    },
  },
};

const trade: Schema = {
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
      p_size: whole(1, 50),
      p_retailprice: money(99),
    },
  },
  partmaker: {
    rows: 400,
    key: ['pm_partkey', 'pm_makerkey'],
    columns: {
      pm_partkey: made('INTEGER', ({ row }) => 1 + (row % 200)),
      pm_makerkey: made('INTEGER', ({ row }) => 1 + ((row * 7 + Math.floor(row / 200) * 13) % 50)),
      pm_availqty: whole(1, 999),
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
      o_orderkey: made('INTEGER', ({ row }) => 1 + row * 4),
      o_buykey: ref('buyer', 'b_buykey'),
      o_orderstatus: oneOf('F', 'O'),
      o_totalprice: money(9000),
      o_orderdate: day(),
      o_shippriority: whole(0, 0),
    },
  },
  lineitem: {
    rows: 1500,
    key: ['l_orderkey', 'l_linenumber'],
    columns: {
      l_orderkey: made('INTEGER', ({ row }) => 1 + Math.floor(row / 3) * 4),
      l_linenumber: made('INTEGER', ({ row }) => 1 + (row % 3)),
      l_partkey: made('INTEGER', ({ row }) => 1 + ((row * 17) % 200)),
      l_makerkey: made('INTEGER', ({ row }) => 1 + ((((row * 17) % 200) * 7) % 50)),
      l_quantity: whole(1, 50),
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

const clinic: Schema = {
  departments: {
    rows: 8,
    key: ['name'],
    columns: {
      name: listed('Cardio', 'Neuro', 'Ortho', 'Derma', 'Onco', 'Ped', 'ENT', 'ICU'),
      floor: whole(1, 6),
      head: ref('physicians', 'licence'),
    },
  },
  physicians: {
    rows: 40,
    key: ['licence'],
    columns: {
      licence: code('LK', 88_000),
      full_name: words(),
      department: ref('departments', 'name'),
      supervisor: ref('physicians', 'licence', { nulls: 0.2 }),
    },
  },
  patients: {
    rows: 300,
    key: ['mrn'],
    columns: {
      mrn: serial(500_000),
      full_name: words(),
      born: day(),
      primary_physician: ref('physicians', 'licence', { nulls: 0.1 }),
      blood_type: oneOf('A', 'B', 'AB', '0'),
    },
  },
  visits: {
    rows: 900,
    key: ['visit_no'],
    columns: {
      visit_no: serial(),
      mrn: ref('patients', 'mrn', { orphans: 0.01 }),
      seen_by: ref('physicians', 'licence'),
      ward: ref('wards', 'ward_code', { nulls: 0.5 }),
      cost: money(400),
      on_day: day(),
    },
  },
  wards: {
    rows: 12,
    key: ['ward_code'],
    columns: { ward_code: code('W', 1), beds: whole(4, 30), dept: ref('departments', 'name') },
  },
  diagnoses: { rows: 60, key: ['icd'], columns: { icd: code('K', 10), text: words() } },
  visit_diagnoses: {
    rows: 1400,
    key: ['visit_no', 'icd'],
    columns: {
      visit_no: made('INTEGER', ({ row }) => 1 + (row % 900)),
      icd: made('TEXT', ({ row }) => `K${10 + ((row * 11 + Math.floor(row / 900)) % 60) * 7}`),
    },
    links: [
      [['visit_no'], 'visits', ['visit_no']],
      [['icd'], 'diagnoses', ['icd']],
    ],
  },
  prescriptions: {
    rows: 700,
    key: ['rx'],
    columns: {
      rx: serial(),
      visit: ref('visits', 'visit_no'),
      drug: ref('drugs', 'ndc'),
      days: whole(3, 90),
    },
  },
  drugs: { rows: 90, key: ['ndc'], columns: { ndc: code('', 50_000), label: words() } },
};

export const heldOut: Readonly<Record<string, () => Generated>> = Object.fromEntries(
  Object.entries({ star, german, tracker, racing, trade, clinic }).map(([name, schema]) => [
    name,
    () => build(name, schema),
  ]),
);
