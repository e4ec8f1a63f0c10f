import type { FieldType } from '../../../sql/field-type.ts';
import { type DatasetField, toKtxName } from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import { blocksWithKey, type LookmlBlock, textProperty } from './parse.ts';
import { readTimeframeFields } from './timeframe-fields.ts';
import { translateFieldSql, type ViewSql } from './translate-sql.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';

export interface FieldContext extends ViewSql {
  /** Adds a field that only a metric uses. */
  readonly addField: (field: DatasetField) => void;
  readonly sayUnread: (block: LookmlBlock, readKeys: readonly string[]) => void;
}

const dimensionTypes: Readonly<Record<string, FieldType>> = {
  string: 'string',
  number: 'decimal',
  yesno: 'boolean',
  date: 'date',
  date_time: 'datetime',
  zipcode: 'string',
  time: 'datetime',
  int: 'integer',
};

const dimensionKeys = [
  'type',
  'sql',
  'sql_start',
  'sql_end',
  'sql_latitude',
  'sql_longitude',
  'intervals',
  'primary_key',
  'timeframes',
  'datatype',
  'convert_tz',
  'case',
  'tiers',
  'bins',
];

/** A dimension is one field; a duration or a location has one for each of its parts. */
export function readDimension(block: LookmlBlock, context: FieldContext): readonly DatasetField[] {
  context.sayUnread(block, dimensionKeys);
  const type = textProperty(block, 'type') ?? defaultType(block);
  if (blocksWithKey(block.value, 'case').length > 0)
    return [field(block, { type: 'string', expr: caseSql(block, context) })];
  if (type.startsWith('duration')) return readDuration(block, type, context);
  switch (type) {
    case 'tier':
    case 'bin':
      return [field(block, { type: 'string', expr: tierSql(block, context) })];
    case 'location':
      return readLocation(block, context);
    case 'distance':
      throw new UnreadableLookml('ktx has no equivalent for dimensions of type distance');
    default: {
      const plain = readPlain(block, type, context);
      if (block.key !== 'dimension_group') return [plain];
      return [plain, ...readTimeframeFields(block, plain, context)];
    }
  }
}

function defaultType({ key }: LookmlBlock): string {
  return key === 'dimension_group' ? 'time' : 'string';
}

function readPlain(block: LookmlBlock, lookmlType: string, context: ViewSql): DatasetField {
  const type = dimensionTypes[lookmlType] ?? timeframeType(lookmlType);
  if (type === undefined)
    throw new UnreadableLookml(`ktx has no equivalent for dimensions of type ${lookmlType}`);
  const datatype = textProperty(block, 'datatype');
  if (datatype === 'epoch' || datatype === 'yyyymmdd')
    throw new UnreadableLookml(`its column is a number that means a time (${datatype})`);
  const isDate = [datatype, textProperty(block, 'convert_tz')].includes('date');
  const expr = translateFieldSql(textProperty(block, 'sql') ?? `\${TABLE}.${block.name}`, context);
  return field(block, { type: isDate ? 'date' : type, expr });
}

/** Types of a single timeframe, such as `date_raw`. */
function timeframeType(lookmlType: string): FieldType | undefined {
  return lookmlType === 'date_raw' ? 'datetime' : undefined;
}

function field(
  block: LookmlBlock,
  { type, expr, name = block.name }: { type: FieldType; expr: string; name?: string },
): DatasetField {
  const ktxName = toKtxName(name);
  return {
    name: ktxName,
    ...omitKeys({ type, expr: expr === ktxName ? undefined : expr, ...readDescription(block) }),
  };
}

/** The keys that dimensions and measures have in common. */
export function readDescription(block: LookmlBlock) {
  const label = textProperty(block, 'label');
  // The label is what people see in Looker, so they also search for it.
  const words = [label, toKtxName(block.name) === block.name ? undefined : block.name];
  const synonyms = words.filter((word) => word !== undefined);
  return {
    description: textProperty(block, 'description'),
    synonyms: synonyms.length === 0 ? undefined : synonyms,
    hidden: textProperty(block, 'hidden') === 'yes' ? true : undefined,
  };
}

function caseSql(block: LookmlBlock, context: ViewSql): string {
  const [body] = blocksWithKey(block.value, 'case');
  const branches = blocksWithKey(body?.value ?? [], 'when').map((when) => {
    const [sql, label] = [textProperty(when, 'sql'), textProperty(when, 'label')];
    if (sql === undefined || label === undefined)
      throw new UnreadableLookml('a branch of its case lacks sql or label');
    return `when ${translateFieldSql(sql, context)} then ${context.dialect.literal(label)}`;
  });
  if (branches.length === 0) throw new UnreadableLookml('its case has no branch');
  const other = body === undefined ? undefined : textProperty(body, 'else');
  const end = other === undefined ? '' : ` else ${context.dialect.literal(other)}`;
  return `case ${branches.join(' ')}${end} end`;
}

/** Labels by style; `classic` has those of `interval`. */
function tierSql(block: LookmlBlock, context: ViewSql): string {
  const list = block.value.find(({ key }) => key === 'tiers' || key === 'bins')?.value;
  const bounds = Array.isArray(list) ? list.map(Number) : [];
  if (bounds.length === 0 || !bounds.every(Number.isFinite) || bounds.length > 1000)
    throw new UnreadableLookml('its tiers are no list of numbers');
  const sorted = bounds.toSorted((a, b) => a - b);
  const sql = translateFieldSql(textProperty(block, 'sql') ?? `\${TABLE}.${block.name}`, context);
  const style = textProperty(block, 'style') ?? 'classic';
  if (style === 'classic') context.addNote('its tiers have the labels of the style interval');
  const label = (from?: number, to?: number) => context.dialect.literal(tierLabel(style, from, to));
  const branches = sorted.map(
    (bound, index) => `when (${sql}) < ${bound} then ${label(sorted[index - 1], bound)}`,
  );
  const last = `when (${sql}) >= ${sorted.at(-1)} then ${label(sorted.at(-1))}`;
  return `case ${branches.join(' ')} ${last} else 'Undefined' end`;
}

function tierLabel(style: string, from: number | undefined, to: number | undefined): string {
  if (style === 'integer') {
    if (from === undefined) return `Below ${to}`;
    if (to === undefined) return `${from} or Above`;
    return from === to - 1 ? `${from}` : `${from} to ${to - 1}`;
  }
  if (style === 'relational') {
    if (from === undefined) return `< ${to}`;
    return to === undefined ? `>= ${from}` : `>= ${from} and < ${to}`;
  }
  if (from === undefined) return `(-inf, ${to})`;
  return to === undefined ? `[${from}, inf)` : `[${from}, ${to})`;
}

function readLocation(block: LookmlBlock, context: ViewSql): readonly DatasetField[] {
  return ['latitude', 'longitude'].map((part) => {
    const sql = textProperty(block, `sql_${part}`);
    if (sql === undefined) throw new UnreadableLookml(`it has no sql_${part}`);
    const expr = translateFieldSql(sql, context);
    return field(block, { type: 'decimal', expr, name: `${block.name}_${part}` });
  });
}

/** Seconds of the intervals that are equally long everywhere. */
const intervalSeconds: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
};

function readDuration(block: LookmlBlock, type: string, context: ViewSql): readonly DatasetField[] {
  const ends = ['sql_start', 'sql_end'].map((key) => textProperty(block, key));
  const [start, end] = ends.map((sql) => sql && translateFieldSql(sql, context));
  if (!start || !end) throw new UnreadableLookml('it lacks sql_start or sql_end');
  const listed = block.value.find(({ key }) => key === 'intervals')?.value;
  const single = type.split('_')[1];
  const intervals = Array.isArray(listed) ? listed : Object.keys(intervalSeconds);
  const wanted = single === undefined ? intervals : [single];
  const fields = wanted.flatMap((interval): readonly DatasetField[] => {
    const seconds = typeof interval === 'string' ? intervalSeconds[interval] : undefined;
    if (seconds === undefined) {
      context.addNote(`the interval ${String(interval)} is left out: its length varies`);
      return [];
    }
    const elapsed = `extract(epoch from cast(${end} as timestamp) - cast(${start} as timestamp))`;
    const name = single === undefined ? `${interval}s_${block.name}` : block.name;
    return [field(block, { type: 'decimal', expr: `floor(${elapsed} / ${seconds}.0)`, name })];
  });
  if (fields.length === 0) throw new UnreadableLookml(`ktx has no length for ${wanted.join(', ')}`);
  context.addNote('its intervals are complete periods');
  return fields;
}
