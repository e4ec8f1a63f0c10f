import { testText } from './query-text.ts';
import type { Span } from './times.ts';
import type { Cell, Dataset, Link, World } from './world.ts';

/** The files of the semantic layer, by dataset. */
export function filesOf({ datasets }: World): Record<string, string> {
  return Object.fromEntries(
    datasets.map((dataset, index) => [dataset.name, JSON.stringify(fileOf(dataset, datasets[index + 1] ?? dataset))]),
  );
}

function fileOf(dataset: Dataset, next: Dataset) {
  const { name, measure, above, chosen } = dataset;
  const rules = above === undefined ? [] : [`v > ${above}`, 'v is null'];
  const segment = testText({ op: '>', value: chosen.above }, chosen.role === undefined ? name : `${name}.${chosen.role}`);
  const fields = { id: 'integer', g: 'string', v: 'integer', t: 'date', z: 'datetime_tz', ...boundTypes(dataset) };
  return {
    dataset: name,
    source: name,
    primary_key: ['id'],
    // What says that ranges do not overlap.
    unique_keys: [['low'], ['g', 'low'], ['since'], ['g', 'since']].filter((key) => key.every((field) => field in fields)),
    default_time: 't',
    fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
    row_metrics:
      measure === undefined ? [] : [{ name: 'n', metric: `${measure.of}.${measure.metric}`, via: `${measure.of}.${measure.role}` }],
    segments: [{ name: 'chosen', where: segment }],
    metrics: metricsOf(dataset, next),
    relationships: dataset.links.map(relationshipOf),
    ...(rules.length === 0 ? {} : { access: rules.map((where) => ({ role: 'reader', where })) }),
  };
}

function metricsOf({ name, window, since, within }: Dataset, next: Dataset) {
  const followed = {
    base: 'number',
    to: `${next.name}.number`,
    on: { g: 'g' },
    ...(within === undefined ? {} : { window: spanText(within) }),
  };
  return [
    { name: 'total', agg: 'sum', of: 'v' },
    { name: 'rows_in_a', agg: 'count', where: "g = 'a'" },
    { name: 'closing', agg: 'sum', of: 'v', semi_additive: { over: 't', take: 'last', per: ['g'] } },
    { name: 'earlier', offset: { of: 'total', by: '1 month' } },
    { name: 'running', cumulative: { of: 'total' } },
    { name: 'trailing', cumulative: { of: 'total', window: spanText(window) } },
    { name: 'to_date', cumulative: { of: 'total', grain_to_date: since } },
    { name: 'overall', total: { of: 'total' } },
    { name: 'over_g', total: { of: 'values', by: [`${name}.g`] } },
    { name: 'values', agg: 'count_distinct', of: 'v' },
    { name: 'number', agg: 'count' },
    { name: 'followed', conversion: { ...followed, calculation: 'conversions' } },
    { name: 'follow_rate', conversion: { ...followed, calculation: 'conversion_rate' } },
    { name: 'each', agg: 'avg', of: 'total', per: 't' },
  ];
}

function relationshipOf({ role, to, via, within }: Link) {
  if (via !== undefined) return { to, role, on: {}, cardinality: 'many_to_many', via };
  if (within === undefined) return { to, role, on: { [`${role}_id`]: 'id' } };
  const { field, from, to: end, includesEnd, byGroup } = within;
  return { to, role, on: byGroup ? { g: 'g' } : {}, within: { field, from, to: end, includes_end: includesEnd } };
}

function spanText({ count, unit }: Span): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function boundTypes({ rows: [row = {}] }: Dataset): Readonly<Record<string, string>> {
  return 'low' in row ? { low: 'integer', high: 'integer', since: 'date', until: 'date' } : {};
}

const columnTypes: Readonly<Record<string, string>> = { g: 'VARCHAR(9)', t: 'DATE', z: 'TIMESTAMPTZ', since: 'DATE', until: 'DATE' };

/** Statements that make the tables anew; `literal` is the engine's. */
export function scriptOf({ datasets }: World, literal: (value: Cell) => string): string {
  return datasets
    .map((dataset) => {
      const { name, links, rows } = dataset;
      const keys = links.filter(({ via, within }) => via === undefined && within === undefined).map(({ role }) => `${role}_id`);
      const columns = ['id', 'g', 'v', 't', 'z', ...Object.keys(boundTypes(dataset)), ...keys];
      const values = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(', ')})`);
      const create = `DROP TABLE IF EXISTS ${name}; CREATE TABLE ${name} (${columns.map((column) => `${column} ${columnTypes[column] ?? 'INTEGER'}`).join(', ')});`;
      return rows.length === 0 ? create : `${create} INSERT INTO ${name} VALUES ${values.join(', ')};`;
    })
    .join('\n');
}
