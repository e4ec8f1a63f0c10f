import { UserError } from '../../lib/error.ts';
import { isWithin, parseSql, type Span, type SqlNode, walkSql } from '../../sql/analyzer.ts';
import type { Fragment } from '../../sql/fragment.ts';
import {
  columnIdentity,
  metricAddress,
  type ModelDataset,
  type ModelMetric,
  type SemanticModel,
} from '../model/model.ts';
import { createPlan } from '../plan/plan.ts';
import { querySchema } from '../query/query.ts';
import {
  equalColumns,
  type ParsedSelect,
  parseSelect,
  type SelectAggregate,
  type TableColumn,
} from './parse-select.ts';

interface LintFinding {
  readonly rule: 'fan_out' | 'missing_filter';
  readonly message: string;
  readonly hint: string;
}

export interface LintReport {
  readonly findings: readonly LintFinding[];
  /** A metric query for the same aggregates and groups. It has none of the statement's filters. */
  readonly proposal:
    | { readonly metrics: readonly string[]; readonly dimensions: readonly string[] }
    | undefined;
}

/**
 * Any aggregate of a column. Without one there is nothing to lint, and the parser need not load.
 */
const aggregatePattern = /\b(?:sum|avg|count|min|max|median)\s*\(\s*[^*\s]/i;

/**
 * Compares a statement of a person or an agent with the model. Finds joins that multiply the rows
 * of an aggregate, and missing filters that every curated metric of the same column has. Reports
 * nothing when in doubt. Call it inside `withAnalyzer`.
 */
export function lintSql(sql: string, model: SemanticModel): LintReport {
  if (!aggregatePattern.test(sql)) return { findings: [], proposal: undefined };
  const selects = parseStatements(sql, model)
    .flatMap((statement) => [...walkSql({ [statement.kind]: statement.body })])
    .filter(({ kind }) => kind === 'select')
    .map((node) => parseSelect(node, model));
  const findings = selects.flatMap((select) => [
    ...findFanOuts(select),
    ...findMissingFilters(select, sql),
  ]);
  const byMessage = new Map(findings.map((finding) => [finding.message, finding]));
  const [only, ...others] = selects;
  const proposal = only === undefined || others.length > 0 ? undefined : proposeQuery(only, model);
  return { findings: [...byMessage.values()], proposal };
}

/** Empty if the parser cannot read the SQL: whether to accept it is up to the engine. */
function parseStatements(sql: string, { dialect }: SemanticModel): readonly SqlNode[] {
  try {
    return parseSql(sql, dialect);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/**
 * Aggregates over a table whose rows a join repeats: it reaches a table by columns that are no key
 * of that table.
 */
function findFanOuts(select: ParsedSelect): readonly LintFinding[] {
  return knownAggregates(select)
    .filter(({ name }) => !['min', 'max', 'count_distinct'].includes(name))
    .flatMap(({ name, dataset, column }): LintFinding[] => {
      const multiplying = findMultiplyingJoin(select, column.alias);
      if (multiplying === undefined) return [];
      const aggregate = `${name}(${dataset.name}.${column.name})`;
      const [metric] = curatedMetrics(dataset, name, column);
      const hint =
        metric === undefined
          ? `ask for ${aggregate} with query_metrics or ktx sl query`
          : `ask for the metric ${metricAddress(metric)}`;
      return [
        {
          rule: 'fan_out',
          message: `${aggregate} counts rows of ${dataset.name} more than once: the join to ${multiplying.name} is not on a key of it`,
          hint: `Each row counts once if you ${hint}.`,
        },
      ];
    });
}

/**
 * Follows the joins from a table. Returns the first dataset that is joined by columns which are
 * none of its declared keys. A dataset without keys stops the search: nothing is known about it.
 */
function findMultiplyingJoin(
  { tables, node }: ParsedSelect,
  start: string,
): ModelDataset | undefined {
  const pairs = equalColumns(node, tables);
  const visited = new Set([start]);
  const queue = [start];
  for (let from = queue.pop(); from !== undefined; from = queue.pop()) {
    for (const [alias, dataset] of tables) {
      const columns = joinColumns(pairs, from, alias);
      if (visited.has(alias) || columns.length === 0) continue;
      if (hasKeyAmong(dataset, columns)) {
        visited.add(alias);
        queue.push(alias);
      } else if (dataset.keys.length > 0) return dataset;
    }
  }
  return undefined;
}

/** The columns of table `to` that are set equal to columns of table `from`. */
function joinColumns(
  pairs: ReturnType<typeof equalColumns>,
  from: string,
  to: string,
): readonly TableColumn[] {
  return pairs.flatMap(([left, right]) => {
    if (left.alias === from && right.alias === to) return [right];
    if (left.alias === to && right.alias === from) return [left];
    return [];
  });
}

function hasKeyAmong(dataset: ModelDataset, columns: readonly TableColumn[]): boolean {
  const names = columns.map(({ name }) => columnIdentity(dataset, name).toLowerCase());
  return dataset.keys.some((key) => key.every((column) => names.includes(column.toLowerCase())));
}

/**
 * Visible metrics that are this aggregate of this column. Balances are left out, because they add
 * up only one value of each account.
 */
function curatedMetrics(
  dataset: ModelDataset,
  aggregate: string,
  column: TableColumn,
): readonly ModelMetric[] {
  return [...dataset.metrics.values()].filter(({ hidden, definition, balance }) => {
    if (hidden === true || balance !== undefined) return false;
    if (definition.kind !== 'aggregate' || definition.function !== aggregate) return false;
    const name = singleColumn(definition.of);
    return name !== undefined && isSameColumn(dataset, name, column.name);
  });
}

/** The name, if the SQL is nothing but one column. */
function singleColumn(fragment: Fragment | undefined): string | undefined {
  const [reference, ...others] = fragment?.references ?? [];
  if (reference === undefined || others.length > 0) return undefined;
  const isWhole = reference.end - reference.start === fragment?.text.trim().length;
  return isWhole ? reference.parts.at(-1) : undefined;
}

/**
 * If all curated metrics of a column share a filter, an aggregate without it is hardly what people
 * mean by these metrics.
 */
function findMissingFilters(select: ParsedSelect, sql: string): readonly LintFinding[] {
  const statement = normalizeSql(sql);
  return knownAggregates(select).flatMap(({ name, dataset, column }): LintFinding[] => {
    const metrics = curatedMetrics(dataset, name, column);
    const missing = sharedFilters(metrics).filter(
      (filter) => !statement.includes(normalizeSql(filter)),
    );
    const [first] = metrics;
    if (first === undefined || missing.length === 0) return [];
    const aggregate = `${name}(${dataset.name}.${column.name})`;
    return [
      {
        rule: 'missing_filter',
        message: `${aggregate} has no ${missing.join(' and ')}, which every curated metric of it has: ${metrics.map(metricAddress).join(', ')}`,
        hint: `Add the condition, or ask for ${metricAddress(first)}.`,
      },
    ];
  });
}

/** The filters that all of the metrics have, as the first one writes them. */
function sharedFilters(metrics: readonly ModelMetric[]): readonly string[] {
  const [first = [], ...others] = metrics.map(({ where }) => fixedConditions(where));
  return first.filter((condition) =>
    others.every((conditions) =>
      conditions.some((filter) => normalizeSql(filter) === normalizeSql(condition)),
    ),
  );
}

/** The conditions that contain no parameter. */
function fixedConditions(where: Fragment | undefined): readonly string[] {
  if (where === undefined) return [];
  const hasParameter = (condition: Span) =>
    where.parameters?.some((parameter) => isWithin(parameter, condition)) === true;
  return where.conjuncts
    .filter((condition) => !hasParameter(condition))
    .map(({ start, end }) => where.text.slice(start, end));
}

/** Lower case, without qualifiers, quotes and spaces: good enough to find a condition again. */
function normalizeSql(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\b\w+\s*\.\s*/g, '')
    .replaceAll(/["`[\]\s]/g, '');
}

/**
 * A query for the same, if every aggregate is a metric and every group a field that it can reach.
 */
function proposeQuery(select: ParsedSelect, model: SemanticModel): LintReport['proposal'] {
  const metrics = knownAggregates(select).flatMap(({ name, dataset, column }) =>
    curatedMetrics(dataset, name, column).slice(0, 1).map(metricAddress),
  );
  const dimensions = select.groupColumns.flatMap((column) => dimensionFor(select, column) ?? []);
  const isComplete =
    metrics.length > 0 &&
    metrics.length === select.aggregates.length &&
    dimensions.length === select.groupCount;
  const proposal = { metrics: [...new Set(metrics)], dimensions };
  return isComplete && canPlan(proposal, model) ? proposal : undefined;
}

function dimensionFor({ tables }: ParsedSelect, { alias, name }: TableColumn): string | undefined {
  const dataset = tables.get(alias);
  const field = [...(dataset?.fields.values() ?? [])].find(
    (candidate) =>
      dataset !== undefined &&
      candidate.hidden !== true &&
      equalsIgnoringCase(columnIdentity(dataset, candidate.name), name),
  );
  return field && `${dataset?.name}.${field.name}`;
}

function canPlan(proposal: NonNullable<LintReport['proposal']>, model: SemanticModel): boolean {
  try {
    createPlan(model, querySchema.parse(proposal));
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

interface KnownAggregate extends SelectAggregate {
  readonly column: TableColumn;
  readonly dataset: ModelDataset;
}

/** The aggregates of columns whose dataset is known. */
function knownAggregates({ aggregates, tables }: ParsedSelect): readonly KnownAggregate[] {
  return aggregates.flatMap(({ name, column }) => {
    const dataset = column && tables.get(column.alias);
    return column === undefined || dataset === undefined ? [] : [{ name, column, dataset }];
  });
}

function isSameColumn(dataset: ModelDataset, left: string, right: string): boolean {
  return equalsIgnoringCase(columnIdentity(dataset, left), columnIdentity(dataset, right));
}

function equalsIgnoringCase(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
