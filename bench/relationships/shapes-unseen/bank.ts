import {
  day,
  hex,
  integer,
  money,
  oneOf,
  onePerRow,
  ref,
  serial,
  sparseSerial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const bank: HandWrittenSchema = {
  district: {
    rows: 77,
    key: ['district_id'],
    columns: {
      district_id: serial(),
      A2: words(),
      A3: oneOf('Prague', 'south'),
      A4: integer(40_000, 900_000),
      A5: integer(0, 151),
      A6: integer(0, 70),
      A9: integer(1, 11),
      A14: integer(81, 167),
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
      client_id: onePerRow('client', 'client_id'),
      account_id: ref('account', 'account_id'),
      type: oneOf('OWNER', 'DISPONENT'),
    },
  },
  card: {
    rows: 90,
    key: ['card_id'],
    columns: {
      card_id: sparseSerial(1, 13),
      disp_id: ref('disp', 'disp_id'),
      type: oneOf('gold', 'classic'),
      issued: day(),
    },
  },
  loan: {
    rows: 68,
    key: ['loan_id'],
    columns: {
      loan_id: sparseSerial(4959, 35),
      account_id: ref('account', 'account_id'),
      date: day(),
      amount: integer(4000, 590_000),
      duration: oneOf('12', '24', '60'),
      status: oneOf('A', 'B', 'C', 'D'),
    },
  },
  order: {
    rows: 640,
    key: ['order_id'],
    columns: {
      order_id: sparseSerial(29_401, 2),
      account_id: ref('account', 'account_id'),
      bank_to: hex(2),
      account_to: integer(1_000_000, 99_999_999),
      amount: money(9000),
      k_symbol: oneOf('SIPO', 'UVER'),
    },
  },
  trans: {
    rows: 5000,
    key: ['trans_id'],
    columns: {
      trans_id: sparseSerial(1, 3),
      account_id: ref('account', 'account_id'),
      date: day(),
      type: oneOf('PRIJEM', 'VYDAJ'),
      amount: integer(0, 90_000),
      balance: integer(0, 200_000),
      bank: hex(2),
      account: integer(0, 99_999_999),
    },
  },
};
