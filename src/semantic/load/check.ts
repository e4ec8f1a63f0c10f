import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import {
  findField,
  metricAddress,
  type ModelDataset,
  type ModelMetric,
  type SemanticModel,
} from '../model/model.ts';
import { createResolver, findMetric } from '../resolve/metric-resolver.ts';
import { resolveMetric } from '../resolve/metrics.ts';
import { rowsForRole } from '../resolve/row-rules.ts';
import { unknownMetricError } from '../resolve/unknown-metric.ts';
import { checkConformed } from './check-conformed.ts';
import { checkRelationships } from './check-relationships.ts';
import type { DatasetCheck } from './dataset-check.ts';

/**
 * Reports names that do not resolve: in keys, times, fields, relationships, row rules and metrics.
 */
export function checkDataset(model: SemanticModel, check: DatasetCheck): void {
  checkKeys(check);
  for (const [index, name] of [...check.dataset.fields.keys()].entries())
    checkField(check, [name], index);
  checkLabels(check);
  checkMetricCalls(check);
  checkRowMetrics(model, check);
  checkConformed(model, check);
  checkRelationships(model, check);
  checkAccess(model, check);
  checkMetrics(model, check);
}

/** Keys, the default time and the time of a spine must be fields, and not row metrics. */
function checkKeys({ dataset, yaml, fail }: DatasetCheck): void {
  const { primary_key = [], unique_keys = [], default_time: time, time_spine: spine } = yaml;
  const uses = [
    ...primary_key.map((name, index) => ({ name, path: ['primary_key', index] })),
    ...unique_keys.flatMap((key, index) =>
      key.map((name, position) => ({ name, path: ['unique_keys', index, position] })),
    ),
    ...(time === undefined ? [] : [{ name: time, path: ['default_time'] }]),
    ...(spine === undefined ? [] : [{ name: spine.column, path: ['time_spine', 'column'] }]),
    ...Object.entries(spine?.custom_periods ?? {}).map(([period, name]) => ({
      name,
      path: ['time_spine', 'custom_periods', period],
    })),
  ];
  for (const { name, path } of uses) {
    const field = findField(dataset, name);
    if (field === undefined) {
      fail(path, 'unknown_name', {
        message: `${dataset.name} has no field named ${name}`,
        hint: didYouMean(name, dataset.fields.keys()),
      });
    } else if (field.rowMetric !== undefined) {
      fail(path, 'row_metric', {
        message: `${name} is a row metric: keys and default_time cannot use one`,
        hint: 'Name a column, or a field with an expression over columns.',
      });
    }
  }
}

/**
 * Checks the names in a field's expression, and in those of the fields that it uses. `stack` has
 * the fields on the way, the current one last.
 */
function checkField(check: DatasetCheck, stack: readonly string[], index: number): void {
  const { dataset, fail } = check;
  const path = ['fields', index, 'expr'];
  const current = stack.at(-1) ?? '';
  for (const { parts } of dataset.fields.get(current)?.expr?.references ?? []) {
    if (parts.length > 2 || (parts.length === 2 && parts[0] !== dataset.name)) {
      const message = `The field ${current} uses ${parts.join('.')}, which is not in ${dataset.name}`;
      return fail(path, 'foreign_field', message);
    }
    const next = findField(dataset, parts.at(-1) ?? '')?.name;
    if (next === undefined || next === current) continue;
    if (stack.includes(next))
      return fail(path, 'circular', `Circular fields: ${[...stack, next].join(' → ')}`);
    checkField(check, [...stack, next], index);
  }
}

/**
 * Warns of values that the file declares for a field although it says that they are personal, or
 * that none are to be kept.
 */
function checkLabels({ yaml, warn }: DatasetCheck): void {
  for (const [index, field] of (yaml.fields ?? []).entries()) {
    const { name, values, pii = yaml.pii } = field;
    if (!Array.isArray(values)) continue;
    const isPersonal = pii === 'yes' || pii === true;
    if (!isPersonal && yaml.values === undefined) continue;
    const reason = isPersonal ? 'is personal data (pii: yes)' : 'keeps no values (values: off)';
    warn(['fields', index, 'values'], 'label_contradiction', {
      message: `The field ${name} ${reason}, but the file lists its values`,
      hint: 'Remove the list, which everybody can read in git; or correct the label.',
    });
  }
}

/** Fields can use no metric: a row metric is one, and conditions can. */
function checkMetricCalls({ dataset, yaml, fail }: DatasetCheck): void {
  for (const [index, { name }] of (yaml.fields ?? []).entries()) {
    if (dataset.fields.get(name)?.expr?.metricCalls === undefined) continue;
    fail(['fields', index, 'expr'], 'row_metric', {
      message: `The field ${name} uses metric_by, which only conditions can`,
      hint: 'Declare a metric of each row under row_metrics.',
    });
  }
}

function checkRowMetrics(model: SemanticModel, { dataset, yaml, fail, warn }: DatasetCheck): void {
  for (const [index, { name, metric }] of (yaml.row_metrics ?? []).entries()) {
    const parts = metric.split('.');
    if (findMetric(model, parts, dataset.name) !== undefined) continue;
    const path = ['row_metrics', index, 'metric'];
    const [home = ''] = parts;
    if (model.excluded.has(home))
      warn(path, 'left_out', `${home} was left out because of its errors, so ${name} is too`);
    else fail(path, 'unknown_name', unknownMetricError({ model, queryMetrics: new Map() }, parts));
  }
  if (yaml.row_metrics === undefined || dataset.primaryKey !== undefined) return;
  fail(['row_metrics'], 'no_key', {
    message: `${dataset.name} has no primary_key, so its rows cannot be told apart`,
    hint: 'Declare primary_key.',
  });
}

/**
 * Reports row rules that do not resolve. Warns if another dataset has row rules for the same table,
 * and this one has none.
 */
function checkAccess(model: SemanticModel, { dataset, fail, warn }: DatasetCheck): void {
  for (const [index, { role }] of (dataset.access ?? []).entries()) {
    const failure = catchUserError(() => rowsForRole(model, dataset, role));
    if (failure !== undefined) return fail(['access', index, 'where'], failure.code, failure);
  }
  if (dataset.access !== undefined || !model.hasRules) return;
  const names = tableNamesIn(dataset);
  for (const { name, access, relation } of model.datasets.values()) {
    const table = relation.kind === 'table' ? relation.parts.at(-1)?.toLowerCase() : undefined;
    if (access === undefined || table === undefined || !names.has(table)) continue;
    warn(['dataset'], 'access', {
      message:
        `${dataset.name} reads the table of ${name} without its row rules: ` +
        'everyone sees every row',
      hint: 'Add access: with the same rules.',
    });
  }
}

/** The name of the dataset's table, or every word of its query, in lower case. */
function tableNamesIn({ relation }: ModelDataset): ReadonlySet<string> {
  if (relation.kind === 'query') return new Set(relation.sql.toLowerCase().match(/\w+/g));
  return new Set(relation.parts.slice(-1).map((part) => part.toLowerCase()));
}

/**
 * Errors that are no fault of the file: they depend on the query, or ktx does not support something
 * yet.
 */
const queryTimeCodes: readonly string[] = [
  'not_supported',
  'ambiguous_path',
  'no_path',
  'missing_parameter',
];

function checkMetrics(model: SemanticModel, { dataset, fail }: DatasetCheck): void {
  for (const [index, metric] of [...dataset.metrics.values()].entries()) {
    const failure = findMetricFailure(model, metric) ?? findCallFailure(model, metric);
    if (failure === undefined || queryTimeCodes.includes(failure.code)) continue;
    const { code, message, hint } = failure;
    fail(['metrics', index], code, { message: `${metricAddress(metric)}: ${message}`, hint });
  }
}

/** False for a metric of a kind that the planner does not support yet. */
export function isQueryable(model: SemanticModel, metric: ModelMetric): boolean {
  return findMetricFailure(model, metric)?.code !== 'not_supported';
}

/** The error of a query for the metric; undefined if it works. */
function findMetricFailure(model: SemanticModel, metric: ModelMetric): UserError | undefined {
  return catchUserError(() => resolveMetric(createResolver(model, []), metric));
}

/** The error of the first `metric_by` in the filter that names no metric. */
function findCallFailure(
  model: SemanticModel,
  { where, dataset }: ModelMetric,
): UserError | undefined {
  const unknown = (where?.metricCalls ?? []).find(
    (call) => findMetric(model, call.metric, dataset) === undefined,
  );
  return unknown && unknownMetricError({ model, queryMetrics: new Map() }, unknown.metric);
}

function catchUserError(run: () => unknown): UserError | undefined {
  try {
    run();
    return undefined;
  } catch (failure) {
    if (failure instanceof UserError) return failure;
    throw failure;
  }
}
