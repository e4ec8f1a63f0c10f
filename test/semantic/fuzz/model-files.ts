import type { RunnerName } from './runner.ts';
import { tableNames } from './draw-world.ts';
import type { Span } from './times.ts';
import { type Cell, type Chosen, type Dataset, keyColumn, type Link, type World } from './world.ts';

/** The files of the semantic layer, by dataset. */
export function filesOf({ datasets }: World): Record<string, string> {
  return Object.fromEntries(
    datasets.map((dataset, index) => [
      dataset.name,
      JSON.stringify(fileOf(dataset, datasets[index + 1] ?? dataset)),
    ]),
  );
}

function fileOf(dataset: Dataset, next: Dataset) {
  const { name, measure, rules, chosen, clock, fiscal, least, links } = dataset;
  const bounds = dataset.name === 'spans' ? boundTypes : {};
  const fields = { id: 'integer', g: 'string', v: 'integer', ...timeTypes, ...bounds };
  const keys = [['low'], ['g', 'low'], ['since'], ['g', 'since']];
  const twin = links.find(({ isOneToOne }) => isOneToOne === true);
  return {
    dataset: name,
    source: name,
    primary_key: ['id'],
    // They state that ranges do not overlap, and that a one-to-one key occurs once.
    unique_keys: [
      ...(name === 'spans' ? keys : []),
      ...(twin === undefined ? [] : [[keyColumn(dataset, twin.role)]]),
    ],
    default_time: clock,
    ...(fiscal === undefined ? {} : { fiscal_year_start: fiscal }),
    parameters: [
      { name: 'least', type: 'integer', ...(least === undefined ? {} : { default: least }) },
    ],
    fields: [
      ...Object.entries(fields).map(([field, type]) => ({ name: field, type })),
      { name: 'w', type: 'integer', expr: 'v - param.least' },
      ...links.map(({ role }) => ({
        name: keyColumn(dataset, role),
        type: 'integer',
        hidden: true,
      })),
    ],
    row_metrics:
      measure === undefined
        ? []
        : [
            {
              name: 'n',
              metric: `${measure.of}.${measure.metric}`,
              via: `${measure.of}.${measure.role}`,
            },
          ],
    segments: [{ name: 'chosen', where: conditionOf(name, chosen) }],
    metrics: metricsOf(dataset, next),
    relationships: links.map((link) => relationshipOf(dataset, link)),
    ...(rules === undefined ? {} : { access: accessOf(name, rules) }),
  };
}

function accessOf(name: string, rules: readonly Chosen[]) {
  const own = rules.map((rule) => ({ role: 'reader', where: conditionOf(name, rule) }));
  return [...own, { role: 'owner', where: 'true' }];
}

function conditionOf(name: string, { role, above, isNull }: Chosen): string {
  const place = role === undefined ? name : `${name}.${role}`;
  return isNull === true ? `${place}.v is null` : `${place}.v > ${above}`;
}

function metricsOf(
  { name, window, since, within, back, clock, take, far, asked, per }: Dataset,
  next: Dataset,
) {
  const followed = {
    base: 'number',
    to: `${next.name}.number`,
    on: { g: 'g' },
    ...(within === undefined ? {} : { window: spanText(within) }),
  };
  return [
    { name: 'total', agg: 'sum', of: 'v' },
    { name: 'rows_in_a', agg: 'count', where: "g = 'a'" },
    { name: 'far', agg: 'count', where: conditionOf(name, far) },
    {
      name: 'asked',
      agg: 'count',
      where: asked === undefined ? 'true' : `${asked.of}.v > ${asked.above}`,
    },
    { name: 'above', agg: 'sum', of: 'v', where: 'v > param.least' },
    { name: 'closing', agg: 'sum', of: 'v', semi_additive: { over: clock, take, per: ['g'] } },
    { name: 'earlier', offset: { of: 'total', by: spanText(back) } },
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
    {
      name: 'each_far',
      agg: 'avg',
      of: 'total',
      per: per === undefined ? 'g' : `${name}.${per}.g`,
    },
    { name: 'share', expr: 'total / overall' },
    { name: 'ratio', ratio: { numerator: 'total', denominator: 'number' } },
    { name: 'growth', expr: 'total - earlier' },
  ];
}

function relationshipOf(dataset: Dataset, { role, to, via, within, isOneToOne, only }: Link) {
  if (via !== undefined) return { to, role, on: {}, cardinality: 'many_to_many', via };
  if (only !== undefined)
    return { to, role, on: `${keyColumn(dataset, role)} = ${role}.id and ${role}.g = '${only}'` };
  const on = { [keyColumn(dataset, role)]: 'id' };
  if (within === undefined)
    return { to, role, on, ...(isOneToOne === true ? { cardinality: 'one_to_one' } : {}) };
  const { field, from, to: end, includesEnd, byGroup } = within;
  return {
    to,
    role,
    on: byGroup ? { g: 'g' } : {},
    within: { field, from, to: end, includes_end: includesEnd },
  };
}

function spanText({ count, unit }: Span): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const boundTypes = { low: 'integer', high: 'integer', since: 'date', until: 'date' };
const timeTypes = { t: 'date', m: 'datetime', z: 'datetime_tz' };

const columns = [
  'id',
  'g',
  'v',
  't',
  'm',
  'z',
  'low',
  'high',
  'since',
  'until',
  'k1',
  'k2',
  'k3',
  'k4',
] as const;

/** Statements that make every table that a world can have. */
export function tablesScript(engine: RunnerName): string {
  const [moment, suffix] = momentAndSuffix(engine);
  const types: Readonly<Record<string, string>> = {
    g: 'VARCHAR(9)',
    t: 'DATE',
    m: engine === 'mysql' ? 'DATETIME' : 'TIMESTAMP',
    z: moment,
    since: 'DATE',
    until: 'DATE',
  };
  const list = columns.map((column) => `${column} ${types[column] ?? 'INTEGER'}`).join(', ');
  return tableNames.map((name) => `CREATE TABLE ${name} (${list})${suffix};`).join('\n');
}

function momentAndSuffix(engine: RunnerName): readonly [moment: string, suffix: string] {
  if (engine === 'mysql') return ['TIMESTAMP NULL', ' ENGINE=MEMORY'];
  return engine === 'clickhouse'
    ? ["DateTime64(6, 'UTC')", ' ENGINE = Memory']
    : ['TIMESTAMPTZ', ''];
}

/** Statements that put the rows of a world in place of those before; `literal` is the engine's. */
export function rowsScript(
  { datasets }: World,
  engine: RunnerName,
  literal: (value: Cell) => string,
): string {
  // MariaDB and ClickHouse do not read an offset in a time.
  const written = (cell: Cell): string =>
    literal(
      (engine === 'mysql' || engine === 'clickhouse') && typeof cell === 'string'
        ? cell.replace(/^(.{10})T(.{8})\+00:00$/, '$1 $2')
        : cell,
    );
  const inserts = datasets
    .filter(({ rows }) => rows.length > 0)
    .map(({ name, links, rows }) => {
      const cellIn = (row: Dataset['rows'][number], column: string): Cell => {
        const link = column.startsWith('k') ? links[Number(column.slice(1)) - 1] : undefined;
        const isKey = link !== undefined && link.via === undefined && link.within === undefined;
        return column.startsWith('k')
          ? ((isKey ? row[`${link.role}_id`] : null) ?? null)
          : (row[column] ?? null);
      };
      const values = rows.map(
        (row) => `(${columns.map((column) => written(cellIn(row, column))).join(', ')})`,
      );
      return `INSERT INTO ${name} (${columns.join(', ')}) VALUES ${values.join(', ')};`;
    });
  const empty = engine === 'clickhouse' ? 'TRUNCATE TABLE' : 'DELETE FROM';
  return [...tableNames.map((name) => `${empty} ${name};`), ...inserts].join('\n');
}
