import { UserError } from '../../lib/error.ts';
import { parseSql, type SqlNode } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { metricAddress, type ModelMetric, type SemanticModel } from '../model/model.ts';
import { findUnknownJoins } from './joins.ts';
import { proposeQuery, type QueryProposal } from './propose.ts';
import { findMultiplying } from './repeated-rows.ts';
import { conjunctsOf, readScopes, type SelectScope } from './scopes.ts';
import {
  allowedValues,
  conditionText,
  fixedConditions,
  parseFilter,
  type WantedFilter,
} from './conditions.ts';
import { curatedMetrics, type TracedAggregate } from './metrics.ts';
import { originOf, type ScopedCondition, type Trace, traceValue } from './traces.ts';

export interface LintFinding {
  readonly rule: 'fan_out' | 'missing_filter' | 'unknown_join';
  readonly message: string;
  readonly hint: string;
}

export interface LintReport {
  readonly findings: readonly LintFinding[];
  /** A metric query that gives the same rows; undefined if ktx cannot show that. */
  readonly proposal: QueryProposal | undefined;
}

/**
 * Any aggregate of a column. Without one there is nothing to lint, and the parser need not load.
 */
const aggregatePattern = /\b(?:sum|avg|count|min|max|median)\s*\(\s*[^*\s]/i;

/**
 * Compares a statement of a person or an agent with the model. Follows the columns of aggregates
 * through subqueries and common tables. Finds joins that repeat their rows, filters that every
 * curated metric of a column has and the statement lacks, and joins that no relationship knows.
 * Reports nothing when in doubt. Call it inside `withAnalyzer`.
 */
export function lintSql(sql: string, model: SemanticModel): LintReport {
  if (!aggregatePattern.test(sql)) return { findings: [], proposal: undefined };
  const scopes = parseStatements(sql, model).flatMap((statement) => readScopes(statement, model));
  const aggregates = scopes.flatMap(aggregatesOf);
  const findings = [
    ...aggregates.flatMap(findFanOut),
    ...aggregates.flatMap((aggregate) => findMissingFilters(aggregate, model.dialect)),
    ...scopes.filter(({ aggregates: [first] }) => first !== undefined).flatMap(findUnknownJoins),
  ];
  const byMessage = new Map(findings.map((finding) => [finding.message, finding]));
  const [only, ...others] = scopes;
  const isOne = only !== undefined && others.length === 0 && findings.length === 0;
  return {
    findings: [...byMessage.values()],
    proposal: isOne ? proposeQuery(only, aggregates, model) : undefined,
  };
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

function aggregatesOf(scope: SelectScope): readonly TracedAggregate[] {
  return scope.aggregates.map((node) => {
    const isDistinct = node.body['distinct'] === true;
    const name = isDistinct ? `${node.kind}_distinct` : node.kind;
    return { scope, node, name, trace: traceValue(scope, node.body['this']) };
  });
}

/** An aggregate over a source whose rows a join repeats. */
function findFanOut({ name, trace }: TracedAggregate): readonly LintFinding[] {
  if (trace === undefined || ['min', 'max'].includes(name) || name.endsWith('_distinct')) return [];
  for (const { scope, alias } of trace.steps) {
    const multiplying = findMultiplying(scope, alias);
    if (multiplying === undefined) continue;
    const { origin } = trace;
    const rows = origin?.dataset.name ?? alias;
    const aggregate = `${name}(${origin === undefined ? alias : `${rows}.${origin.column}`})`;
    const source = scope.sources.get(multiplying);
    const other = source?.kind === 'dataset' ? source.dataset.name : multiplying;
    const [metric] = trace.isExact ? curatedMetrics(name, origin) : [];
    const hint =
      metric === undefined
        ? `ask for ${aggregate} with query_metrics or ktx sl query`
        : `ask for the metric ${metricAddress(metric)}`;
    return [
      {
        rule: 'fan_out',
        message: `${aggregate} counts rows of ${rows} more than once: the join to ${other} is not on a key of it`,
        hint: `Each row counts once if you ${hint}.`,
      },
    ];
  }
  return [];
}

/**
 * If all curated metrics of a column share a filter, an aggregate without it is hardly what people
 * mean by these metrics. A statement that groups by the column of the filter shows all of them.
 */
function findMissingFilters(
  { name, node, scope, trace }: TracedAggregate,
  dialect: Dialect,
): readonly LintFinding[] {
  if (trace?.origin === undefined || !trace.isExact) return [];
  const { origin, steps, conditions } = trace;
  const metrics = curatedMetrics(name, origin);
  const [first] = metrics;
  if (first === undefined) return [];
  const known: readonly ScopedCondition[] = [
    ...steps.flatMap((step) =>
      step.scope.conditions.map((condition) => ({ scope: step.scope, condition })),
    ),
    ...[...conditions, { scope, condition: node.body['filter'] }].flatMap((outer) =>
      conjunctsOf(outer.condition).map((condition) => ({ ...outer, condition })),
    ),
  ];
  const groups = steps.flatMap((step) =>
    step.scope.groups.flatMap((group) => originOf(step.scope, group) ?? []),
  );
  const missing = sharedFilters(metrics).filter((filter) => {
    const wanted = parseFilter(filter, origin.dataset, dialect);
    return wanted !== undefined && !isMet(wanted, { origin, known, groups });
  });
  if (missing.length === 0) return [];
  const aggregate = `${name}(${origin.dataset.name}.${origin.column})`;
  return [
    {
      rule: 'missing_filter',
      message: `${aggregate} has no ${missing.join(' and ')}, which every curated metric of it has: ${metrics.map(metricAddress).join(', ')}`,
      hint: `Add the condition, or ask for ${metricAddress(first)}.`,
    },
  ];
}

function isMet(
  { text, allowed }: WantedFilter,
  {
    origin,
    known,
    groups,
  }: {
    readonly origin: NonNullable<Trace['origin']>;
    readonly known: readonly ScopedCondition[];
    readonly groups: readonly NonNullable<Trace['origin']>[];
  },
): boolean {
  const isGrouped = groups.some(
    ({ dataset, column }) => dataset === origin.dataset && column === allowed?.column,
  );
  if (isGrouped) return true;
  return known.some(({ scope, condition }) => {
    if (conditionText(scope, condition) === text) return true;
    const given = allowedValues(condition);
    if (given === undefined || allowed === undefined) return false;
    const found = originOf(scope, given.column);
    const isSame = found?.dataset === origin.dataset && found.column === allowed.column;
    return isSame && given.values.every((value) => allowed.values.includes(value));
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

/** Lower case, without qualifiers, quotes and spaces: good enough to find a condition again. */
function normalizeSql(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\b\w+\s*\.\s*/g, '')
    .replaceAll(/["`[\]\s]/g, '');
}
