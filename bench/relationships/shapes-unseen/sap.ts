import {
  computed,
  cycle,
  day,
  fromTuple,
  integer,
  money,
  oneOf,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

const client = () => oneOf('100', '200');
export const sap: HandWrittenSchema = {
  T000: { rows: 2, key: ['MANDT'], columns: { MANDT: cycle('100', '200'), MTEXT: words() } },
  T001: {
    rows: 12,
    key: ['MANDT', 'BUKRS'],
    columns: {
      MANDT: computed('TEXT', ({ row }) => (row < 6 ? '100' : '200')),
      BUKRS: computed('TEXT', ({ row }) => String(1000 + (row % 6) * 100)),
      BUTXT: words(),
      WAERS: oneOf('EUR', 'USD'),
    },
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  KNA1: {
    rows: 400,
    key: ['MANDT', 'KUNNR'],
    columns: {
      MANDT: computed('TEXT', ({ row }) => (row < 250 ? '100' : '200')),
      KUNNR: computed('TEXT', ({ row }) => String(100_000 + (row % 250)).padStart(10, '0')),
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
      MANDT: computed('TEXT', ({ row }) => (row < 90 ? '100' : '200')),
      LIFNR: computed('TEXT', ({ row }) => String(300_000 + (row % 90)).padStart(10, '0')),
      NAME1: words(),
      LAND1: oneOf('DE', 'AT', 'CH'),
    },
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  MARA: {
    rows: 320,
    key: ['MANDT', 'MATNR'],
    columns: {
      MANDT: computed('TEXT', ({ row }) => (row < 200 ? '100' : '200')),
      MATNR: computed('TEXT', ({ row }) => `M${String(row % 200).padStart(6, '0')}`),
      MTART: oneOf('FERT', 'ROH'),
      MEINS: oneOf('ST', 'KG'),
    },
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  MAKT: {
    rows: 500,
    key: ['MANDT', 'MATNR', 'SPRAS'],
    columns: {
      MANDT: fromTuple('TEXT'),
      MATNR: fromTuple('TEXT'),
      SPRAS: oneOf('D', 'E'),
      MAKTX: words(),
    },
    tuples: [[['MANDT', 'MATNR'], 'MARA', ['MANDT', 'MATNR']]],
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
  VBAK: {
    rows: 900,
    key: ['MANDT', 'VBELN'],
    columns: {
      MANDT: client(),
      VBELN: computed('TEXT', ({ row }) => String(5_000_000 + row).padStart(10, '0')),
      ERDAT: day(),
      AUART: oneOf('TA', 'RE'),
      KUNNR: fromTuple('TEXT'),
      BUKRS_VF: fromTuple('TEXT'),
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
      MANDT: fromTuple('TEXT'),
      VBELN: fromTuple('TEXT'),
      POSNR: integer(1, 8),
      MATNR: fromTuple('TEXT'),
      KWMENG: integer(1, 90),
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
      EBELN: computed('TEXT', ({ row }) => String(4_500_000_000 + row)),
      BUKRS: fromTuple('TEXT'),
      LIFNR: fromTuple('TEXT'),
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
      MANDT: fromTuple('TEXT'),
      EBELN: fromTuple('TEXT'),
      EBELP: integer(1, 6),
      MATNR: fromTuple('TEXT'),
      MENGE: integer(1, 900),
    },
    tuples: [
      [['MANDT', 'EBELN'], 'EKKO', ['MANDT', 'EBELN']],
      [['MANDT', 'MATNR'], 'MARA', ['MANDT', 'MATNR']],
    ],
    links: [[['MANDT'], 'T000', ['MANDT']]],
  },
};
