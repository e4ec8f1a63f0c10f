import type { Json } from '../../lib/json.ts';
import { quoteName } from '../../semantic/formats/metricflow/mapping/bound-model.ts';
import { replaceSpans, tryParseFragment } from '../../semantic/formats/sql-fragment.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import type { MetricDefinition } from '../../semantic/model/metric-definition.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { KnownDataset } from '../table-finder.ts';

/** A view of LookML with the table or the query that has its rows. */
export interface BoundView {
  readonly dataset: Dataset;
  readonly table: KnownDataset;
  /** The query; undefined for a table. */
  readonly sql?: string;
  /** The field of the table, by dimensions that are one of its columns. */
  readonly columns: ReadonlyMap<string, string>;
  /** SQL over the fields of the table, by the other dimensions. */
  readonly computed: ReadonlyMap<string, string>;
  /** Metrics over the fields of the table, without their texts. */
  readonly metrics: ReadonlyMap<string, Json>;
  /** By name, why a dimension or measure cannot be said over this table. */
  readonly lost: ReadonlyMap<string, string>;
}

/** Finds the fields of each dimension and measure; what needs a column that is missing is lost. */
export function bindView(dataset: Dataset, table: KnownDataset, dialect: Dialect): BoundView {
  const binding: Binding = {
    table,
    dialect,
    fields: new Map(dataset.fields?.map(({ name, expr }) => [name, { name, expr }])),
    measures: new Map(dataset.metrics?.map((metric) => [metric.name, metric])),
    columns: new Map(),
    computed: new Map(),
    metrics: new Map(),
    lost: new Map(),
    open: [],
  };
  for (const name of binding.fields.keys()) bindOnce(name, binding, bindField);
  for (const name of binding.measures.keys()) bindOnce(`${name}()`, binding, bindMetric);
  return { dataset, ...binding };
}

/** A view over a query, which nobody else describes: its dimensions are the fields. */
export function bindQueryView(
  dataset: Dataset & { readonly sql: string },
  connection: string,
): BoundView {
  const { dataset: name, sql, fields = [], metrics = [] } = dataset;
  const names = new Map(fields.map((field) => [field.name.toLowerCase(), field.name]));
  const isColumn = ({ name: own, expr }: (typeof fields)[number]) =>
    /^"?[\w$]+"?$/.test(sqlText(expr) ?? own);
  return {
    dataset,
    sql,
    table: { connection, dataset: name, field: (column) => names.get(column.toLowerCase()) },
    columns: new Map(fields.filter(isColumn).map((field) => [field.name, field.name])),
    computed: new Map(fields.map((field) => [field.name, sqlText(field.expr) ?? field.name])),
    metrics: new Map(
      metrics.map(({ name: metric, agg, of, fraction, per, expr, where }) => [
        metric,
        definedKeys({ agg, of, fraction, per, expr, where }),
      ]),
    ),
    lost: new Map(),
  };
}

function definedKeys(keys: Readonly<Partial<Record<string, Json>>>): Record<string, Json> {
  const body: Record<string, Json> = {};
  for (const [key, value] of Object.entries(keys)) if (value !== undefined) body[key] = value;
  return body;
}

interface Binding {
  readonly table: KnownDataset;
  readonly dialect: Dialect;
  readonly fields: ReadonlyMap<string, Pick<MetricDefinition, 'name' | 'expr'>>;
  readonly measures: ReadonlyMap<string, MetricDefinition>;
  readonly columns: Map<string, string>;
  readonly computed: Map<string, string>;
  readonly metrics: Map<string, Json>;
  readonly lost: Map<string, string>;
  /** What is being bound; a measure has parentheses. */
  readonly open: string[];
}

/** SQL of a view that cannot be said over its table. */
class UnboundSql extends Error {}

/** Dimensions that use dimensions; people have three or four. */
const deepestUse = 100;

function bindOnce(
  name: string,
  binding: Binding,
  bind: (name: string, binding: Binding) => void,
): void {
  const { open, lost, columns, computed, metrics } = binding;
  const plain = name.replace('()', '');
  const bound: ReadonlyMap<string, unknown>[] = name === plain ? [columns, computed] : [metrics];
  if (lost.has(name) || bound.some((members) => members.has(plain))) return;
  if (open.includes(name) || open.length >= deepestUse)
    throw new UnboundSql(`it uses itself: ${[...open.slice(-3), name].join(' → ')}`);
  open.push(name);
  try {
    bind(plain, binding);
  } catch (error) {
    if (!(error instanceof UnboundSql)) throw error;
    lost.set(name, error.message);
  } finally {
    open.pop();
  }
}

function bindField(name: string, binding: Binding): void {
  const { columns, computed, table } = binding;
  const sql = sqlText(binding.fields.get(name)?.expr) ?? quoteName(name);
  // Words with spaces are a name only in quotes: `closed_at IS NULL` is a condition.
  const [, quoted, bare] = /^(?:"([\w$ ]+)"|([\w$]+))$/.exec(sql) ?? [];
  const column = quoted ?? bare;
  const target = column === undefined ? undefined : fieldFor(column, name, binding);
  if (target !== undefined && !computed.has(target)) {
    columns.set(name, target);
    return;
  }
  if (table.field(name) !== undefined)
    throw new UnboundSql('it is not a plain column; the column of that name keeps its own meaning');
  computed.set(name, target === undefined ? rowSql(sql, name, binding) : quoteName(target));
}

/** The field that a name in the SQL of `own` means: a dimension, or a column of the table. */
function fieldFor(name: string, own: string, binding: Binding): string {
  const { fields, columns, computed, table } = binding;
  if (name !== own && fields.has(name)) {
    bindOnce(name, binding, bindField);
    const field = columns.get(name) ?? (computed.has(name) ? name : undefined);
    if (field === undefined) throw new UnboundSql(`it uses ${name}, which is left out`);
    return field;
  }
  const field = table.field(name);
  if (field === undefined) throw new UnboundSql(`the table has no column ${name}`);
  return field;
}

function bindMetric(name: string, binding: Binding): void {
  const metric = binding.measures.get(name);
  if (metric === undefined) return;
  const { agg, of, fraction, per, expr, where } = metric;
  const row = (sql: MetricDefinition['of']) => {
    const text = sqlText(sql);
    return text === undefined ? undefined : rowSql(text, '', binding);
  };
  const formula = sqlText(expr);
  const body = definedKeys({
    agg,
    of: row(of),
    fraction,
    per: per === undefined ? undefined : fieldFor(per, '', binding),
    expr: formula === undefined ? undefined : formulaSql(formula, binding),
    where: row(where),
  });
  binding.metrics.set(name, body);
}

function sqlText(sql: MetricDefinition['expr']): string | undefined {
  return typeof sql === 'string' ? sql : undefined;
}

/** SQL of one row with the names of the fields. `own` is the dimension that it belongs to. */
function rowSql(sql: string, own: string, binding: Binding): string {
  return replaceNames(sql, binding, (name) => quoteName(fieldFor(name, own, binding)));
}

/** Within an aggregate, names are fields; elsewhere, they are measures. */
function formulaSql(sql: string, binding: Binding): string {
  return replaceNames(sql, binding, (name, isAggregated) => {
    if (isAggregated) return quoteName(fieldFor(name, '', binding));
    bindOnce(`${name}()`, binding, bindMetric);
    if (!binding.metrics.has(name)) throw new UnboundSql(`it uses ${name}, which is left out`);
    return quoteName(name);
  });
}

function replaceNames(
  sql: string,
  { dialect }: Binding,
  replace: (name: string, isAggregated: boolean) => string,
): string {
  const fragment = tryParseFragment(sql, dialect);
  if (fragment === undefined) throw new UnboundSql('ktx cannot use its SQL');
  const replacements = fragment.references.map((reference) => {
    const [name = '', ...more] = reference.parts;
    if (more.length > 0) throw new UnboundSql(`it uses ${reference.parts.join('.')}`);
    const isAggregated = fragment.aggregates.some(
      (call) => call.start <= reference.start && reference.start < call.end,
    );
    return [reference, replace(name, isAggregated)] as const;
  });
  return replaceSpans(sql, replacements);
}
