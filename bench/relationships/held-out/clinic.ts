import {
  code,
  computed,
  cycle,
  day,
  integer,
  money,
  oneOf,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const clinic: HandWrittenSchema = {
  departments: {
    rows: 8,
    key: ['name'],
    columns: {
      name: cycle('Cardio', 'Neuro', 'Ortho', 'Derma', 'Onco', 'Ped', 'ENT', 'ICU'),
      floor: integer(1, 6),
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
    columns: { ward_code: code('W', 1), beds: integer(4, 30), dept: ref('departments', 'name') },
  },
  diagnoses: { rows: 60, key: ['icd'], columns: { icd: code('K', 10), text: words() } },
  visit_diagnoses: {
    rows: 1400,
    key: ['visit_no', 'icd'],
    columns: {
      visit_no: computed('INTEGER', ({ row }) => 1 + (row % 900)),
      icd: computed('TEXT', ({ row }) => `K${10 + ((row * 11 + Math.floor(row / 900)) % 60) * 7}`),
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
      days: integer(3, 90),
    },
  },
  drugs: { rows: 90, key: ['ndc'], columns: { ndc: code('', 50_000), label: words() } },
};
