import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import type { FieldType } from '../../../sql/field-type.ts';
import type { Aggregate } from '../../../sql/aggregates.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import type { MetricDefinition } from '../../model/metric-definition.ts';
import {
  type AddMisfit,
  type DatasetField,
  type ImportedModel,
  type Misfit,
  toDatasetName,
  toKtxName,
} from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import { blocksWithKey, isBlock, type LookmlBlock, parseLookml, textProperty } from './parse.ts';
import { readJoins } from './read-joins.ts';
import {
  translateFieldSql,
  translateFilters,
  translateMeasureSql,
  UnreadableLookml,
} from './translate-sql.ts';

/**
 * Reads the views and explores of all LookML files together. Runs inside `withAnalyzer`. Throws
 * `import_invalid`.
 */
export function readLookml(texts: readonly string[], dialect: Dialect): ImportedModel {
  const misfits: Misfit[] = [];
  const addMisfit: AddMisfit = (at, message) => void misfits.push({ at, message });
  const entries = texts.flatMap((text) => parseLookml(text));
  const readKeys = ['view', 'explore', 'include', 'connection', 'label'];
  for (const { key, name } of entries.filter((entry) => !readKeys.includes(entry.key)))
    addMisfit([key, name].join(' ').trim(), 'not read: ktx has no equivalent');
  const readableViews = blocksWithKey(entries, 'view').filter((view) =>
    isReadableView(view, addMisfit),
  );
  const views = new Map(
    readableViews.map((view) => [
      view.name,
      readView(view, { view: view.name, addMisfit, dialect }),
    ]),
  );
  const relationships = readJoins(blocksWithKey(entries, 'explore'), { views, addMisfit });
  const datasets = [...views].flatMap(([name, dataset]): Dataset[] => {
    const { data, problems } = checkSchema(
      datasetSchema,
      omitKeys({ ...dataset, relationships: relationships.get(name) }),
    );
    if (data !== undefined) return [data];
    addMisfit(`view ${name}`, `left out: ${problems.map(problemText).join('; ')}`);
    return [];
  });
  return { datasets, misfits };
}

function isReadableView({ name, value }: LookmlBlock, addMisfit: AddMisfit): boolean {
  const isRefinement = name.startsWith('+');
  const isExtension = value.some(({ key }) => key.startsWith('extends'));
  if (isRefinement) addMisfit(`view ${name}`, 'left out: ktx does not read refinements');
  else if (isExtension)
    addMisfit(`view ${name}`, 'left out: ktx does not read views that extend another');
  return !isRefinement && !isExtension;
}

interface ViewContext {
  readonly view: string;
  readonly addMisfit: AddMisfit;
  readonly dialect: Dialect;
}

const viewKeys = [
  'label',
  'description',
  'sql_table_name',
  'derived_table',
  'dimension',
  'dimension_group',
  'measure',
];

function readView(view: LookmlBlock, context: ViewContext): Dataset {
  noteUnreadKeys(view, viewKeys, (message) => context.addMisfit(`view ${view.name}`, message));
  const dimensions = blocksWithKey(view.value, 'dimension');
  const groups = blocksWithKey(view.value, 'dimension_group');
  const fields = [...dimensions, ...groups].flatMap((dimension) =>
    readOrLeaveOut(dimension, context, () => readDimension(dimension, context)),
  );
  const yesNoDimensions = dimensions.filter((block) => textProperty(block, 'type') === 'yesno');
  const booleans = new Set(yesNoDimensions.map(({ name }) => name));
  const metrics = blocksWithKey(view.value, 'measure').flatMap((measure) =>
    readOrLeaveOut(measure, context, () => readMeasure(measure, { ...context, booleans })),
  );
  const key = dimensions.find((block) => textProperty(block, 'primary_key') === 'yes')?.name;
  return {
    dataset: toDatasetName(view.name),
    ...omitKeys({
      ...readTable(view, context),
      description: textProperty(view, 'description'),
      synonyms: labelAsSynonyms(view),
      primary_key: key === undefined ? undefined : [key],
      fields: fields.length === 0 ? undefined : fields,
      metrics: metrics.length === 0 ? undefined : metrics,
    }),
  };
}

function readOrLeaveOut<Item>(
  block: LookmlBlock,
  { view, addMisfit }: ViewContext,
  read: () => Item,
): readonly Item[] {
  try {
    return [read()];
  } catch (error) {
    if (!(error instanceof UnreadableLookml)) throw error;
    addMisfit(`view ${view}.${block.name}`, `left out: ${error.message}`);
    return [];
  }
}

function noteUnreadKeys(
  { value }: LookmlBlock,
  readKeys: readonly string[],
  addMisfit: (message: string) => void,
): void {
  const keys = new Set(value.map(({ key }) => key));
  const unread = [...keys].filter((key) => !readKeys.includes(key));
  if (unread.length > 0) addMisfit(`not read: ${unread.join(', ')}`);
}

/** The label is what people see in Looker, so they also search for it. */
function labelAsSynonyms(block: LookmlBlock): string[] | undefined {
  const label = textProperty(block, 'label');
  return label === undefined ? undefined : [label];
}

function readTable(view: LookmlBlock, { addMisfit }: ViewContext): Pick<Dataset, 'source' | 'sql'> {
  const derived = view.value.find(({ key }) => key === 'derived_table');
  const sql = derived !== undefined && isBlock(derived) ? textProperty(derived, 'sql') : undefined;
  const table = textProperty(view, 'sql_table_name');
  const isLiquid = [sql, table].some((text) => /\{[%{]|\$\{/.test(text ?? ''));
  if (isLiquid || (derived !== undefined && sql === undefined))
    addMisfit(
      `view ${view.name}`,
      'its table is written in Liquid or built by Looker: set source or sql in the dataset file',
    );
  return sql === undefined ? { source: (table ?? view.name).replaceAll('`', '').trim() } : { sql };
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
  'label',
  'description',
  'hidden',
  'primary_key',
  'timeframes',
  'datatype',
];

function readDimension(block: LookmlBlock, context: ViewContext): DatasetField {
  const { view, addMisfit } = context;
  const defaultType = block.key === 'dimension_group' ? 'time' : 'string';
  const lookmlType = textProperty(block, 'type') ?? defaultType;
  const type = dimensionTypes[lookmlType];
  if (type === undefined)
    throw new UnreadableLookml(`ktx has no equivalent for dimensions of type ${lookmlType}`);
  if (block.value.some(({ key }) => key === 'case'))
    throw new UnreadableLookml('ktx does not read the LookML case: write it as SQL');
  noteUnreadKeys(block, dimensionKeys, (message) =>
    addMisfit(`view ${view}.${block.name}`, message),
  );
  const isDate = ['datatype', 'convert_tz'].some((key) => textProperty(block, key) === 'date');
  const expr = translateFieldSql(textProperty(block, 'sql') ?? `\${TABLE}.${block.name}`, context);
  return {
    name: toKtxName(block.name),
    ...omitKeys({
      type: isDate ? 'date' : type,
      expr: expr === block.name ? undefined : expr,
      ...readDescription(block),
    }),
  };
}

/** The keys that dimensions and measures have in common. */
function readDescription(block: LookmlBlock) {
  return {
    description: textProperty(block, 'description'),
    synonyms: labelAsSynonyms(block),
    hidden: textProperty(block, 'hidden') === 'yes' ? true : undefined,
  };
}

const measureAggregates: Readonly<Record<string, Aggregate>> = {
  count: 'count',
  sum: 'sum',
  average: 'avg',
  min: 'min',
  max: 'max',
  count_distinct: 'count_distinct',
  median: 'median',
  percentile: 'percentile',
};

const measureKeys = ['type', 'sql', 'label', 'description', 'hidden', 'filters', 'percentile'];

function readMeasure(
  block: LookmlBlock,
  context: ViewContext & { readonly booleans: ReadonlySet<string> },
): MetricDefinition {
  const { view, addMisfit } = context;
  const type = textProperty(block, 'type') ?? 'string';
  noteUnreadKeys(block, measureKeys, (message) => addMisfit(`view ${view}.${block.name}`, message));
  const where = translateFilters(block, context);
  return {
    name: toKtxName(block.name),
    ...readComputation(block, type, context),
    ...omitKeys({ where, ...readDescription(block) }),
  };
}

/** `expr` for arithmetic over other measures, else `agg` and `of`. */
function readComputation(
  block: LookmlBlock,
  type: string,
  context: ViewContext,
): Pick<MetricDefinition, 'expr' | 'agg' | 'of' | 'fraction'> {
  const [agg, sql] = [measureAggregates[type], textProperty(block, 'sql')];
  if (type === 'number' && sql !== undefined) return { expr: translateMeasureSql(sql, context) };
  if (agg === undefined)
    throw new UnreadableLookml(`ktx has no equivalent for measures of type ${type}`);
  if (sql === undefined && agg !== 'count') throw new UnreadableLookml('it has no sql');
  const percent = Number(textProperty(block, 'percentile') ?? 50);
  return {
    agg,
    ...(sql !== undefined && { of: translateFieldSql(sql, context) }),
    ...(agg === 'percentile' && { fraction: percent / 100 }),
  };
}
