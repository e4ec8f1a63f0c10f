import {
  code,
  computed,
  day,
  email,
  hex,
  integer,
  money,
  oneOf,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const natural: HandWrittenSchema = {
  countries: {
    rows: 60,
    key: ['iso2'],
    columns: {
      iso2: computed('TEXT', ({ row }) =>
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
      ccy: computed('TEXT', ({ row }) =>
        String.fromCodePoint(65 + (row % 26), 67 + Math.floor(row / 26), 68 + ((row * 7) % 20)),
      ),
      minor_units: integer(0, 3),
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
      grams: integer(10, 900),
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
      qty: integer(1, 6),
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
      iata: computed('TEXT', ({ row }) =>
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
      dep_delay: integer(-10, 90),
      distance: integer(90, 4000),
    },
  },
  aircraft: {
    rows: 50,
    key: ['tail_number'],
    columns: {
      tail_number: code('N', 1021),
      model: oneOf('A320', 'B737'),
      seats: integer(80, 300),
    },
  },
};
