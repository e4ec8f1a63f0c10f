import {
  code,
  computed,
  day,
  integer,
  money,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const german: HandWrittenSchema = {
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
      BESTAND: integer(0, 99),
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
      AUF_NR: computed('INTEGER', ({ row }) => 1 + Math.floor(row / 2.5)),
      POS_NR: computed(
        'INTEGER',
        ({ row }) =>
          1 + Math.floor((row % 5) % 2.5) + (row % 5 >= 3 ? 0 : 0) + (row % 5 === 4 ? 1 : 0),
      ),
      ART_NR: ref('ARTIKEL', 'ART_NR'),
      MENGE: integer(1, 20),
    },
    links: [[['AUF_NR'], 'AUFTRAG', ['AUF_NR']]],
  },
};
