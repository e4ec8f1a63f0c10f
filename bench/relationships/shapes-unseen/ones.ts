import { integer, oneOf, ref, serial, words, type HandWrittenSchema } from '../schema-builder.ts';

export const ones: HandWrittenSchema = {
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
      year: integer(1990, 2022),
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
      pay_grade: integer(1, 12),
    },
  },
  material: {
    rows: 130,
    key: ['id'],
    columns: {
      id: serial(),
      unit_id: ref('unit', 'id'),
      vendor_id: ref('vendor', 'id'),
      shelf_days: integer(10, 400),
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
      planned_qty: integer(1, 500),
      priority: integer(1, 5),
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
      qty: integer(1, 90),
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
      minutes: integer(1, 300),
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
      defects: integer(0, 9),
      sample_size: integer(1, 50),
    },
  },
};
