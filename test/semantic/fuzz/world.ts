import * as fc from 'fast-check';

/** A random model with its rows: what a query can be asked of, and all that the brute-force evaluator knows. */
export interface World {
  readonly datasets: readonly Dataset[];
}

export interface Dataset {
  readonly name: string;
  readonly links: readonly Link[];
  /** With `n`, which is no column, where there is a measure. */
  readonly rows: readonly Row[];
  /** A metric of the rows that point here by a role. */
  readonly measure: { readonly metric: 'total' | 'rows_in_a'; readonly of: string; readonly role: string } | undefined;
  /** Only rows whose `v` is greater, or NULL, are seen; undefined where all are. */
  readonly above?: number | undefined;
}

/** From many to one, by a column of the role's name; or through a bridge, whose pairs are its rows. */
interface Link {
  readonly role: string;
  readonly to: string;
  readonly via?: string;
}

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

const key = fc.option(fc.integer({ min: 1, max: 5 }), { nil: null, freq: 5 });
const month = fc.integer({ min: 1, max: 4 });
const cells = fc.record({
  g: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: null, freq: 4 }),
  v: fc.option(fc.integer({ min: -4, max: 9 }), { nil: null, freq: 5 }),
  t: fc.option(fc.tuple(month, fc.constantFrom(1, 2, 15, 28)).map(([at, day]) => `2024-0${at}-${String(day).padStart(2, '0')}`), { nil: null, freq: 8 }), // prettier-ignore
  keys: fc.array(key, { minLength: 3, maxLength: 3 }),
});

const names = ['ants', 'bees', 'cats', 'dogs', 'elks'];

/** Later datasets point at earlier ones, twice perhaps; one may point at itself; two may meet through a bridge. */
export const worldArbitrary: fc.Arbitrary<World> = fc
  .record({
    shape: fc.array(fc.record({ ups: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 2 }), isLoop: fc.boolean() }), {
      minLength: 2,
      maxLength: 5,
    }),
    tables: fc.array(fc.array(cells, { minLength: 2, maxLength: 7 }), { minLength: 6, maxLength: 6 }),
    above: fc.array(fc.option(fc.integer({ min: -4, max: 2 }), { nil: undefined, freq: 1 }), { minLength: 5, maxLength: 5 }),
    hasRules: fc.boolean(),
    bridge: fc.option(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), { nil: undefined }),
  })
  .map(({ shape, tables, bridge, above, hasRules }): World => {
    const datasets = shape.map(({ ups, isLoop }, index) => {
      const parents = index === 0 ? [] : ups.map((up) => names[up % index] ?? '');
      const links = parents.map((to, position): Link => ({
        to,
        role: parents.indexOf(to) === position && parents.lastIndexOf(to) === position ? to : `r${position + 1}`,
      }));
      const loop: readonly Link[] = isLoop ? [{ to: names[index] ?? '', role: 'boss' }] : [];
      const dataset = datasetOf(names[index] ?? '', [...links, ...loop], tables[index] ?? []);
      return hasRules ? { ...dataset, above: above[index] } : dataset;
    });
    if (bridge === undefined) return measured(datasets);
    const [from, to] = [datasets[bridge[0] % datasets.length], datasets[bridge[1] % datasets.length]];
    if (from === undefined || to === undefined || from === to) return measured(datasets);
    const pairs = datasetOf(
      'pairs',
      [
        { to: from.name, role: from.name },
        { to: to.name, role: to.name },
      ],
      tables[5] ?? [],
    );
    const bridged = datasets.map((one) =>
      one === from ? { ...one, links: [...one.links, { role: 'linked', to: to.name, via: 'pairs' }] } : one,
    );
    return measured([...bridged, pairs]);
  });

/** Each dataset that others point at, with what one of these adds up to for each of its rows. */
function measured(datasets: readonly Dataset[]): World {
  const all = datasets.map((dataset, index): Dataset => {
    const found = datasets.flatMap(({ name, links }) => links.filter(({ to, via }) => to === dataset.name && via === undefined).map(({ role }) => ({ of: name, role }))); // prettier-ignore
    const last = found.at(-1);
    if (last === undefined) return dataset;
    const measure = { ...last, metric: index % 2 === 0 ? ('total' as const) : ('rows_in_a' as const) };
    const children = datasets.find(({ name }) => name === measure.of)?.rows ?? [];
    const rows = dataset.rows.map((row) => {
      const own = children.filter((child) => child[`${measure.role}_id`] === row['id']);
      const values = own.flatMap(({ v }) => (typeof v === 'number' ? [v] : []));
      const total = values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
      return { ...row, n: measure.metric === 'total' ? total : own.filter(({ g }) => g === 'a').length };
    });
    return { ...dataset, rows, measure };
  });
  return { datasets: all };
}

type Cells = typeof cells extends fc.Arbitrary<infer Value> ? Value : never;

function datasetOf(name: string, links: readonly Link[], rows: readonly Cells[]): Dataset {
  return {
    name,
    links,
    measure: undefined,
    rows: rows.map(({ g, v, t, keys }, index) => {
      const own = links.map(({ role }, position): [string, Cell] => [`${role}_id`, keys[position] ?? null]);
      return { id: index + 1, g, v, t, ...Object.fromEntries(own) };
    }),
  };
}

export function filesOf({ datasets }: World): Record<string, string> {
  return Object.fromEntries(
    datasets.map(({ name, links, measure, above }, index) => {
      const access =
        above === undefined
          ? {}
          : {
              access: [
                { role: 'reader', where: `v > ${above}` },
                { role: 'reader', where: 'v is null' },
              ],
            };
      const next = datasets[index + 1]?.name ?? name;
      const followed = { base: 'number', to: `${next}.number`, on: { g: 'g' }, window: '14 days' };
      const relationships = links.map(({ role, to, via }) =>
        via === undefined ? { to, role, on: { [`${role}_id`]: 'id' } } : { to, role, on: {}, cardinality: 'many_to_many', via },
      );
      const fields = [['id', 'integer'], ['g', 'string'], ['v', 'integer'], ['t', 'date']].map(([field, type]) => ({ name: field, type })); // prettier-ignore
      const metrics = [
        { name: 'total', agg: 'sum', of: 'v' },
        { name: 'rows_in_a', agg: 'count', where: "g = 'a'" },
        { name: 'closing', agg: 'sum', of: 'v', semi_additive: { over: 't', take: 'last', per: ['g'] } },
        { name: 'earlier', offset: { of: 'total', by: '1 month' } },
        { name: 'running', cumulative: { of: 'total' } },
        { name: 'overall', total: { of: 'total' } },
        { name: 'over_g', total: { of: 'values', by: [`${name}.g`] } },
        { name: 'values', agg: 'count_distinct', of: 'v' },
        { name: 'number', agg: 'count' },
        { name: 'followed', conversion: { ...followed, calculation: 'conversions' } },
        { name: 'follow_rate', conversion: { ...followed, calculation: 'conversion_rate' } },
        { name: 'each', agg: 'avg', of: 'total', per: 't' },
      ];
      const row_metrics =
        measure === undefined ? [] : [{ name: 'n', metric: `${measure.of}.${measure.metric}`, via: `${measure.of}.${measure.role}` }];
      return [
        name,
        JSON.stringify({
          dataset: name,
          source: name,
          primary_key: ['id'],
          default_time: 't',
          fields,
          row_metrics,
          metrics,
          relationships,
          ...access,
        }),
      ];
    }),
  );
}

/** As the reader sees it. */
export function visible({ datasets }: World): World {
  const isSeen = ({ v = null }: Row, above: number | undefined): boolean => above === undefined || v === null || Number(v) > above;
  return { datasets: datasets.map((one) => ({ ...one, rows: one.rows.filter((row) => isSeen(row, one.above)) })) };
}

/** Statements that make the tables anew; `literal` is the engine's. */
export function scriptOf({ datasets }: World, literal: (value: Cell) => string): string {
  return datasets
    .map(({ name, links, rows }) => {
      const keys = links.filter(({ via }) => via === undefined).map(({ role }) => `${role}_id`);
      const columns = ['id', 'g', 'v', 't', ...keys];
      const types: Readonly<Record<string, string>> = { g: 'VARCHAR(9)', t: 'DATE' };
      const values = rows.map((row) => `(${columns.map((column) => literal(row[column] ?? null)).join(', ')})`);
      const create = `DROP TABLE IF EXISTS ${name}; CREATE TABLE ${name} (${columns.map((column) => `${column} ${types[column] ?? 'INTEGER'}`).join(', ')});`;
      return rows.length === 0 ? create : `${create} INSERT INTO ${name} VALUES ${values.join(', ')};`;
    })
    .join('\n');
}
