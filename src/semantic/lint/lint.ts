import { UserError } from '../../lib/error.ts';
import { parseSql, type Span, type SqlNode, walkSql, isWithin } from '../../sql/analyzer.ts';
import type { Fragment } from '../../sql/fragment.ts';
import { type Column, equalitiesIn, type Selected, selectedIn } from './lint-select.ts';
import {
  columnIdentity,
  metricAddress,
  type ModelDataset,
  type ModelMetric,
  type SemanticModel,
} from '../model/model.ts';
import { createPlan } from '../plan/plan.ts';
import { querySchema } from '../query/query.ts';

interface LintFinding {
  readonly rule: 'fan_out' | 'missing_filter';
  readonly message: string;
  readonly hint: string;
}

export interface LintReport {
  readonly findings: readonly LintFinding[];
  /** A metric query that asks for the same; the filters of the statement are left to be added. */
  readonly proposal:
    | { readonly metrics: readonly string[]; readonly dimensions: readonly string[] }
    | undefined;
}

/** Without an aggregate of a column there is nothing to say, and the parser need not be loaded. */
const aggregated = /\b(?:sum|avg|count|min|max|median)\s*\(\s*[^*\s]/i;

/**
 * What the model knows of a statement that people or agents wrote: joins that multiply the rows of a sum, filters that every
 * curated metric of the same column has. Says nothing where it cannot tell. Runs inside `withAnalyzer`.
 */
export function lintSql(sql: string, model: SemanticModel): LintReport {
  if (!aggregated.test(sql)) return { findings: [], proposal: undefined };
  const statements = parsed(sql, model);
  const selects = statements.flatMap((statement) =>
    [...walkSql({ [statement.kind]: statement.body })].filter(({ kind }) => kind === 'select'),
  );
  const all = selects.map((select) => selectedIn(select, model));
  const findings = all.flatMap((select) => [...fanOuts(select), ...missingFilters(select, sql)]);
  const unique = findings.filter(
    ({ message }, index) => findings.findIndex((other) => other.message === message) === index,
  );
  const [only, ...more] = all;
  return {
    findings: unique,
    proposal: only === undefined || more.length > 0 ? undefined : proposalFor(only, model),
  };
}

/** What the parser does not read is the engine's to refuse. */
function parsed(sql: string, { dialect }: SemanticModel): readonly SqlNode[] {
  try {
    return parseSql(sql, dialect);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** From the table of each aggregate along the joins: one whose columns are no key of the next table repeats its rows. */
function fanOuts(select: Selected): readonly LintFinding[] {
  return select.aggregates.flatMap(({ function: name, column }): LintFinding[] => {
    if (column === undefined || name === 'min' || name === 'max' || name === 'count_distinct')
      return [];
    const hop = multiplyingHop(select, column.alias);
    const dataset = select.tables.get(column.alias);
    if (hop === undefined || dataset === undefined) return [];
    const message = `${name}(${dataset.name}.${column.name}) counts rows of ${dataset.name} more than once: the join to ${hop.name} is not on a key of it`;
    const metric = curatedFor(dataset, name, column)[0];
    const hint =
      metric === undefined
        ? `ask for ${name}(${dataset.name}.${column.name}) with query_metrics or ktx sl query`
        : `ask for the metric ${metricAddress(metric)}`;
    return [{ rule: 'fan_out', message, hint: `Each row counts once if you ${hint}.` }];
  });
}

/** The first dataset that the joins from `start` reach by what is no declared key of it; those without keys tell nothing. */
function multiplyingHop({ tables, node }: Selected, start: string): ModelDataset | undefined {
  const pairs = equalitiesIn(node, tables);
  const seen = new Set([start]);
  const queue = [start];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const from = at;
    for (const [alias, dataset] of tables) {
      const columns = pairs.flatMap(([left, right]) =>
        left.alias === from && right.alias === alias
          ? [right]
          : left.alias === alias && right.alias === from
            ? [left]
            : [],
      );
      if (seen.has(alias) || columns.length === 0) continue;
      const names = columns.map(({ name }) => columnIdentity(dataset, name).toLowerCase());
      const isKey = dataset.keys.some((key) =>
        key.every((column) => names.includes(column.toLowerCase())),
      );
      if (!isKey && dataset.keys.length > 0) return dataset;
      if (!isKey) continue;
      seen.add(alias);
      queue.push(alias);
    }
  }
  return undefined;
}

/** Visible metrics that are this aggregate of this column; a balance is not, which adds up one value of each account only. */
function curatedFor(dataset: ModelDataset, name: string, column: Column): readonly ModelMetric[] {
  return [...dataset.metrics.values()].filter(({ hidden, definition, balance }) => {
    if (
      hidden === true ||
      balance !== undefined ||
      definition.kind !== 'aggregate' ||
      definition.function !== name
    )
      return false;
    const [reference, ...more] = definition.of?.references ?? [];
    const isColumn =
      reference !== undefined &&
      more.length === 0 &&
      reference.end - reference.start === definition.of?.text.trim().length;
    return (
      isColumn &&
      same(
        columnIdentity(dataset, reference.parts.at(-1) ?? ''),
        columnIdentity(dataset, column.name),
      )
    );
  });
}

/** Where all metrics of a column share a filter, an aggregate without it is likely not what people call by that name. */
function missingFilters(select: Selected, sql: string): readonly LintFinding[] {
  const said = plain(sql);
  return select.aggregates.flatMap(({ function: name, column }): LintFinding[] => {
    const dataset = column && select.tables.get(column.alias);
    if (column === undefined || dataset === undefined) return [];
    const metrics = curatedFor(dataset, name, column);
    const [first, ...others] = metrics.map(({ where }) => conditionsOf(where));
    const shared = (first ?? []).filter((condition) =>
      others.every((other) => other.some((one) => plain(one) === plain(condition))),
    );
    const missing = shared.filter((condition) => !said.includes(plain(condition)));
    if (missing.length === 0) return [];
    const names = metrics.map(metricAddress).join(', ');
    const message = `${name}(${dataset.name}.${column.name}) has no ${missing.join(' and ')}, which every curated metric of it has: ${names}`;
    return [
      {
        rule: 'missing_filter',
        message,
        hint: `Add the condition, or ask for ${metrics[0] === undefined ? '' : metricAddress(metrics[0])}.`,
      },
    ];
  });
}

function conditionsOf(where: Fragment | undefined): readonly string[] {
  const isFixed = (conjunct: Span) =>
    where?.parameters?.some((one) => isWithin(one, conjunct)) !== true;
  return (
    where?.conjuncts.filter(isFixed).map(({ start, end }) => where.text.slice(start, end)) ?? []
  );
}

/** Without qualifiers, quotes of names, case and space: enough to find a condition again. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\b\w+\s*\.\s*/g, '')
    .replaceAll(/["`[\]\s]/g, '');
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Where every aggregate is a metric and every group a field that can be reached: the same, asked of the semantic layer. */
function proposalFor(
  { aggregates, groups, tables, isGrouped }: Selected,
  model: SemanticModel,
): LintReport['proposal'] {
  const metrics = aggregates.flatMap(({ function: name, column }) => {
    const dataset = column && tables.get(column.alias);
    const found =
      column === undefined || dataset === undefined ? [] : curatedFor(dataset, name, column);
    return found[0] === undefined ? [] : [metricAddress(found[0])];
  });
  const dimensions = groups.flatMap(({ alias, name }) => {
    const dataset = tables.get(alias);
    const field =
      dataset &&
      [...dataset.fields.values()].find(
        (one) => one.hidden !== true && same(columnIdentity(dataset, one.name), name),
      );
    return field === undefined ? [] : [`${dataset?.name}.${field.name}`];
  });
  const isWhole =
    metrics.length > 0 && metrics.length === aggregates.length && isGrouped === dimensions.length;
  const proposal = { metrics: [...new Set(metrics)], dimensions };
  return isWhole && canPlan(proposal, model) ? proposal : undefined;
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
