import type { GeneratedCell } from '../generated-database.ts';
import { type Entity, hasColumn } from './entity.ts';
import type { Namer } from './namer.ts';
import type { Random } from './random.ts';

interface AttributeContext {
  readonly entities: readonly Entity[];
  readonly namer: Namer;
  readonly random: Random;
}

/** Adds columns that refer to nothing, some with names that look like references. */
export function addAttributes(entity: Entity, context: AttributeContext): void {
  const count = 1 + context.random.int(6);
  for (let step = 0; step < count; step += 1) addAttribute(entity, context);
}

function addAttribute(entity: Entity, { entities, namer, random }: AttributeContext): void {
  const [names, type, makeValue] = random.pick(attributeKinds(entity.rows, entities, random));
  const name = entity.prefix + namer.caseWords([random.pick(names)]);
  if (hasColumn(entity, name)) return;
  const isNumbered = /sort|display|position|rank/i.test(name) && random.chance(0.4);
  const values = Array.from({ length: entity.rows }, (_, index) =>
    isNumbered && type === 'INTEGER' ? index + 1 : makeValue(),
  );
  const column = { name, type, values };
  if (random.chance(0.3) && entity.columns.length > 1)
    entity.columns.splice(1 + random.int(entity.columns.length), 0, column);
  else entity.columns.push(column);
}

type AttributeKind = readonly [
  names: readonly string[],
  type: string,
  makeValue: () => GeneratedCell,
];

/** `number_of_orders`, `num_players`: named after a table without referring to it. */
function countName(words: readonly string[], random: Random): string {
  const last = words.at(-1) ?? '';
  return [
    ...random.pick([['number', 'of'], ['num'], ['no', 'of']]),
    ...words.slice(0, -1),
    /s$/i.test(last) ? last : `${last}s`,
  ].join('_');
}

/** Names of measures and positions. */
const measureNames = [
  'quantity',
  'qty',
  'stock',
  'position',
  'rating',
  'level',
  'points',
  'capacity',
  'age',
  'score',
  'duration',
  'priority',
  'rank',
  'floor',
  'grid',
  'x',
  'value',
  'visits',
  'wins',
  'menge',
  'cantidad',
  'episodes',
  'bedrooms',
  'attempt',
  'flags',
  'size',
  'round',
];

/** Names of flags. */
const flagNames = ['is_active', 'deleted', 'active', 'flag', 'is_default', 'paid', 'valid', 'vip'];

/** Names that look like references to tables of other systems. */
const foreignIdNames = [
  'external_id',
  'legacy_id',
  'batch_id',
  'session_no',
  'device_id',
  'terminal_no',
  'house_no',
  'room_number',
  'page_no',
  'tax_number',
  'import_id',
  'revision_no',
  'upc_code',
  'version_number',
  'model_no',
  'ext_ref',
];

/** Names of codes with few values. */
const codeNames = [
  'status_code',
  'gender',
  'type',
  'kind',
  'state_code',
  'currency_code',
  'size_code',
  'class',
];

/** Names of numbers with few values. */
const typeNumberNames = ['type_id', 'kind_id', 'class_code', 'status_id', 'group_no', 'mode'];

function attributeKinds(
  rows: number,
  entities: readonly Entity[],
  random: Random,
): readonly AttributeKind[] {
  const year = () => 1990 + random.int(35);
  const text = () =>
    `${random.pick(['Alpha', 'Bright', 'Cedar', 'Delta', 'Ember', 'Falcon', 'Grove', 'Harbor'])} ${random.pick(['One', 'Two', 'North', 'South', 'Max', 'Mini'])} ${random.int(500)}`;
  const limit = random.pick([3, 5, 10, 20, 100]);
  const smallInteger = () => 1 + random.int(limit);
  return [
    [measureNames, 'INTEGER', smallInteger],
    [flagNames, 'INTEGER', () => random.int(2)],
    [
      foreignIdNames,
      'INTEGER',
      random.chance(0.6) ? () => 1 + random.int(rows * 2) : () => 100_000 + random.int(900_000),
    ],
    [codeNames, 'TEXT', () => random.pick(['A', 'B', 'C', 'X'])],
    [typeNumberNames, 'INTEGER', () => 1 + random.int(5)],
    [['year', 'birth_year', 'model_year', 'jahr', 'founded'], 'INTEGER', year],
    [
      ['price', 'amount', 'total', 'cost', 'salary', 'preis', 'importe', 'balance', 'weight'],
      'NUMERIC(10,2)',
      () => Math.round(random.fraction() * 100_000) / 100,
    ],
    [['name', 'title', 'label', 'description', 'bezeichnung', 'nombre'], 'TEXT', text],
    [
      ['created_at', 'order_date', 'updated_on', 'start_date', 'datum', 'fecha'],
      'DATE',
      () =>
        `${year()}-${String(1 + random.int(12)).padStart(2, '0')}-${String(1 + random.int(28)).padStart(2, '0')}`,
    ],
    [['email', 'contact_email'], 'TEXT', () => `p${random.int(5000)}@example.com`],
    [['sort_order', 'display_order', 'seq', 'line'], 'INTEGER', smallInteger],
    [[countName(random.pick(entities).words, random)], 'INTEGER', smallInteger],
  ];
}
