import type { Dialect } from '../../../sql/dialect.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import { type Dataset, datasetSchema, type MetricDefinition } from '../../model/dataset.ts';
import {
  toDatasetName,
  toKtxName,
  type DatasetField,
  type ImportedModel,
  type Misfit,
} from '../imported-model.ts';
import { readJoins } from './read-joins.ts';
import { fieldSql, filterSql, measureSql, Unreadable } from './translate-sql.ts';
import { isBlock, type LookmlEntry, parseLookml } from './parse.ts';
import { without } from '../patch.ts';

type Note = (at: string, message: string) => void;
type Block = LookmlEntry & { readonly value: readonly LookmlEntry[] };

/** Views and explores of LookML, of all files together. Runs inside `withAnalyzer`. Throws `import_invalid`. */
export function readLookml(texts: readonly string[], dialect: Dialect): ImportedModel {
  const misfits: Misfit[] = [];
  const note: Note = (at, message) => void misfits.push({ at, message });
  const entries = texts.flatMap((text) => parseLookml(text));
  const blocks = (key: string) =>
    entries.filter((entry): entry is Block => entry.key === key && isBlock(entry));
  const others = entries.filter(
    ({ key }) => !['view', 'explore', 'include', 'connection', 'label'].includes(key),
  );
  for (const { key, name } of others)
    note([key, name].join(' ').trim(), 'not read: ktx has no word for it');
  const views = blocks('view').filter(({ name, value }) => {
    const why = name.startsWith('+')
      ? 'a refinement'
      : value.some(({ key }) => key.startsWith('extends'))
        ? 'a view that extends another'
        : undefined;
    if (why !== undefined) note(`view ${name}`, `left out: ${why} is not read`);
    return why === undefined;
  });
  const bare = new Map(views.map((view) => [view.name, readView(view, note, dialect)]));
  const relationships = readJoins(blocks('explore'), { views: bare, note });
  const datasets = [...bare].flatMap(([name, dataset]): Dataset[] => {
    const own = relationships.get(name) ?? [];
    const { data, problems } = checkSchema(
      datasetSchema,
      without({ ...dataset, relationships: own.length === 0 ? undefined : own }),
    );
    if (data === undefined)
      note(`view ${name}`, `left out: ${problems.map(problemText).join('; ')}`);
    return data === undefined ? [] : [data];
  });
  return { datasets, misfits };
}

/** The text of a property; undefined where there is none. */
function textOf({ value }: Block, key: string): string | undefined {
  const found = value.findLast((entry) => entry.key === key)?.value;
  return typeof found === 'string' ? found : undefined;
}

const readOfView = [
  'label',
  'description',
  'sql_table_name',
  'derived_table',
  'dimension',
  'dimension_group',
  'measure',
];

function readView(view: Block, note: Note, dialect: Dialect): Dataset {
  const at = `view ${view.name}`;
  noteUnread(view, readOfView, (message) => note(at, message));
  const parts = (key: string) =>
    view.value.filter((entry): entry is Block => entry.key === key && isBlock(entry));
  const attempt = <Item>(block: Block, read: () => Item): readonly Item[] => {
    try {
      return [read()];
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      note(`${at}.${block.name}`, `left out: ${error.message}`);
      return [];
    }
  };
  const dimensions = [...parts('dimension'), ...parts('dimension_group')];
  const fields = dimensions.flatMap((block) =>
    attempt(block, () => readField(block, { view: view.name, note, dialect })),
  );
  const booleans = new Set(
    parts('dimension')
      .filter((block) => textOf(block, 'type') === 'yesno')
      .map(({ name }) => name),
  );
  const measures = parts('measure');
  const metrics = measures.flatMap((block) =>
    attempt(block, () => readMeasure(block, { view: view.name, note, dialect, booleans })),
  );
  const key = parts('dimension').find((block) => textOf(block, 'primary_key') === 'yes')?.name;
  return {
    dataset: toDatasetName(view.name),
    ...without({
      ...relationOf(view, note),
      description: textOf(view, 'description'),
      synonyms: labelOf(view),
      primary_key: key === undefined ? undefined : [key],
      fields: fields.length === 0 ? undefined : fields,
      metrics: metrics.length === 0 ? undefined : metrics,
    }),
  };
}

function noteUnread(
  { value }: Block,
  read: readonly string[],
  note: (message: string) => void,
): void {
  const unread = [...new Set(value.map(({ key }) => key))].filter((key) => !read.includes(key));
  if (unread.length > 0) note(`not read: ${unread.join(', ')}`);
}

/** What people see in Looker is another word for it. */
function labelOf(block: Block): string[] | undefined {
  const label = textOf(block, 'label');
  return label === undefined ? undefined : [label];
}

function relationOf(view: Block, note: Note): Pick<Dataset, 'source' | 'sql'> {
  const derived = view.value.find(({ key }) => key === 'derived_table');
  const sql = derived !== undefined && isBlock(derived) ? textOf(derived, 'sql') : undefined;
  const table = textOf(view, 'sql_table_name');
  const isLiquid = [sql, table].some((text) => /\{[%{]|\$\{/.test(text ?? ''));
  if (isLiquid || (derived !== undefined && sql === undefined)) {
    note(
      `view ${view.name}`,
      'the table is written in Liquid or built by Looker: give source or sql by hand',
    );
  }
  if (sql !== undefined) return { sql };
  return { source: (table ?? view.name).replaceAll('`', '').trim() };
}

interface At {
  readonly view: string;
  readonly note: Note;
  readonly dialect: Dialect;
}

const fieldTypes: Readonly<Record<string, DatasetField['type']>> = {
  string: 'string',
  number: 'decimal',
  yesno: 'boolean',
  date: 'date',
  date_time: 'datetime',
  zipcode: 'string',
  time: 'datetime',
  int: 'integer',
};

function readField(block: Block, { view, note, dialect }: At): DatasetField {
  const type = textOf(block, 'type') ?? (block.key === 'dimension_group' ? 'time' : 'string');
  const isDate = ['datatype', 'convert_tz'].some((key) => textOf(block, key) === 'date');
  if (fieldTypes[type] === undefined) throw new Unreadable(`ktx has no dimension of type ${type}`);
  if (block.value.some(({ key }) => key === 'case'))
    throw new Unreadable('a case of LookML; write it as SQL');
  const read = [
    'type',
    'sql',
    'label',
    'description',
    'hidden',
    'primary_key',
    'timeframes',
    'datatype',
  ];
  noteUnread(block, read, (message) => note(`view ${view}.${block.name}`, message));
  const expr = fieldSql(textOf(block, 'sql') ?? `\${TABLE}.${block.name}`, { view, dialect });
  return {
    name: toKtxName(block.name),
    ...without({
      type: isDate ? 'date' : fieldTypes[type],
      expr: expr === block.name ? undefined : expr,
      description: textOf(block, 'description'),
      synonyms: labelOf(block),
      hidden: textOf(block, 'hidden') === 'yes' ? true : undefined,
    }),
  };
}

const aggregates: Readonly<Record<string, NonNullable<MetricDefinition['agg']>>> = {
  count: 'count',
  sum: 'sum',
  average: 'avg',
  min: 'min',
  max: 'max',
  count_distinct: 'count_distinct',
  median: 'median',
  percentile: 'percentile',
};

function readMeasure(
  block: Block,
  { view, note, dialect, booleans }: At & { readonly booleans: ReadonlySet<string> },
): MetricDefinition {
  const type = textOf(block, 'type') ?? 'string';
  const [agg, sql] = [aggregates[type], textOf(block, 'sql')];
  noteUnread(
    block,
    ['type', 'sql', 'label', 'description', 'hidden', 'filters', 'percentile'],
    (message) => note(`view ${view}.${block.name}`, message),
  );
  const where = filterSql(block, { booleans, dialect });
  const about = without({
    where,
    description: textOf(block, 'description'),
    synonyms: labelOf(block),
    hidden: textOf(block, 'hidden') === 'yes' ? true : undefined,
  });
  const name = toKtxName(block.name);
  if (type === 'number' && sql !== undefined)
    return { name, expr: measureSql(sql, { view, dialect }), ...about };
  if (agg === undefined) throw new Unreadable(`ktx has no measure of type ${type}`);
  if (sql === undefined && agg !== 'count') throw new Unreadable('it has no sql');
  const of = sql === undefined ? {} : { of: fieldSql(sql, { view, dialect }) };
  return {
    name,
    agg,
    ...of,
    ...(agg === 'percentile' && { fraction: Number(textOf(block, 'percentile') ?? 50) / 100 }),
    ...about,
  };
}
