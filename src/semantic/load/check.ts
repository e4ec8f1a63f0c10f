import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { rowsForRole } from '../resolve/row-rules.ts';
import type { ReportFinding } from './fragments.ts';
import type { Dataset } from '../model/dataset.ts';
import {
  columnIdentity,
  findField,
  metricAddress,
  conditionSide,
  type ModelDataset,
  type ModelMetric,
  type SemanticModel,
} from '../model/model.ts';
import { typeFamilyOf } from '../resolve/join-checks.ts';
import { resolveMetric } from '../resolve/metrics.ts';
import { findMetric, createResolver } from '../resolve/metric-resolver.ts';
import { unknownMetricError } from '../resolve/unknown-metric.ts';

/** A dataset beside the YAML that it was built from. */
export interface DatasetCheck {
  readonly dataset: ModelDataset;
  readonly source: Dataset;
  readonly fail: ReportFinding;
  readonly warn: ReportFinding;
}

/** Names that must lead somewhere: keys, default time, relationships, fields within fields, metrics within metrics. */
export function checkDataset(model: SemanticModel, checked: DatasetCheck): void {
  const { dataset, source, fail } = checked;
  const { primary_key = [], unique_keys = [], default_time: time } = source;
  const needed = [
    ...primary_key.map((name, index) => ({ name, path: ['primary_key', index] })),
    ...unique_keys.flatMap((key, index) =>
      key.map((name, position) => ({ name, path: ['unique_keys', index, position] })),
    ),
    ...(time === undefined ? [] : [{ name: time, path: ['default_time'] }]),
  ];
  for (const { name, path } of needed) {
    const field = findField(dataset, name);
    if (field?.measure !== undefined)
      fail(path, 'row_metric', {
        message: `${name} is a metric of the row, which cannot identify it`,
        hint: 'Name columns.',
      });
    if (field !== undefined) continue;
    fail(path, 'unknown_name', {
      message: `${dataset.name} has no field named ${name}`,
      hint: didYouMean(name, dataset.fields.keys()),
    });
  }
  for (const [index, name] of [...dataset.fields.keys()].entries())
    checkField(checked, [name], index);
  checkRowMetrics(model, checked);
  for (const index of dataset.relationships.keys()) checkRelationship(model, checked, index);
  checkAccess(model, checked);
  for (const [index, metric] of [...dataset.metrics.values()].entries()) {
    const { code = '', message, hint } = metricFailure(model, metric) ?? {};
    const address = metricAddress(metric);
    if (code !== '' && !queryTimeCodes.includes(code))
      fail(['metrics', index], code, { message: `${address}: ${message}`, hint });
  }
}

/** Rules that name what is not there, and ways around them. */
function checkAccess(model: SemanticModel, { dataset, fail, warn }: DatasetCheck): void {
  for (const [index, { role }] of (dataset.access ?? []).entries()) {
    const failure = catchUserError(() => rowsForRole(model, dataset, role));
    if (failure !== undefined) return fail(['access', index, 'where'], failure.code, failure);
  }
  if (dataset.access !== undefined || !model.hasRules) return;
  const table = dataset.relation.kind === 'table' ? dataset.relation.parts.at(-1) : undefined;
  const words = new Set(
    dataset.relation.kind === 'query' ? dataset.relation.sql.toLowerCase().match(/\w+/g) : [],
  );
  for (const { name, access, relation } of model.datasets.values()) {
    const own = relation.kind === 'table' ? relation.parts.at(-1)?.toLowerCase() : undefined;
    if (
      access === undefined ||
      own === undefined ||
      (table?.toLowerCase() !== own && !words.has(own))
    )
      continue;
    const message = `${dataset.name} reads the table of ${name}, which has row rules, and has none: it shows every row to everyone`;
    warn(['dataset'], 'access', { message, hint: 'Add access: with the same rules.' });
  }
}

/** A query refuses the metric by name: it is of a kind that the planner does not answer yet. */
export function isQueryable(model: SemanticModel, metric: ModelMetric): boolean {
  return metricFailure(model, metric)?.code !== 'not_supported';
}

/** Follows the names in the expression of the last of `stack`, which the others led to. */
function checkField(checked: DatasetCheck, stack: readonly string[], index: number): void {
  const { dataset, fail } = checked;
  const path = ['fields', index, 'expr'];
  const at = stack.at(-1) ?? '';
  for (const { parts } of dataset.fields.get(at)?.expr?.references ?? []) {
    const next = findField(dataset, parts.at(-1) ?? '')?.name;
    if (parts.length > 2 || (parts.length === 2 && parts[0] !== dataset.name)) {
      return fail(
        path,
        'foreign_field',
        `The field ${at} uses ${parts.join('.')}, which is not of ${dataset.name}`,
      );
    }
    if (next === undefined || next === at) continue;
    if (stack.includes(next))
      return fail(path, 'circular', `Circular fields: ${[...stack, next].join(' → ')}`);
    checkField(checked, [...stack, next], index);
  }
}

function checkRowMetrics(
  model: SemanticModel,
  { dataset, source, fail, warn }: DatasetCheck,
): void {
  for (const [index, { name, metric }] of (source.row_metrics ?? []).entries()) {
    const parts = metric.split('.');
    if (findMetric(model, parts, dataset.name) !== undefined) continue;
    const path = ['row_metrics', index, 'metric'];
    const [home = ''] = parts;
    if (model.excluded.has(home))
      warn(path, 'left_out', `${home} was left out, so nothing can ask for ${name}`);
    else fail(path, 'unknown_name', unknownMetricError({ model, queryMetrics: new Map() }, parts));
  }
  if (source.row_metrics === undefined || dataset.primaryKey !== undefined) return;
  fail(['row_metrics'], 'no_key', {
    message: `${dataset.name} has no primary_key, so its rows cannot be told apart`,
    hint: 'Declare it.',
  });
}

function checkRelationship(model: SemanticModel, checked: DatasetCheck, index: number): void {
  const { dataset, source, fail, warn } = checked;
  const relationship = dataset.relationships[index];
  if (relationship === undefined) return;
  const { to, name: role, condition } = relationship;
  const path = ['relationships', index];
  const twin = role.toLowerCase();
  if (twin !== role && model.datasets.has(twin)) {
    fail(
      [...path, 'role'],
      'duplicate',
      `The role ${role} differs from the dataset ${twin} only by case`,
    );
  }
  if (!model.datasets.has(to) && model.excluded.has(to)) {
    return warn([...path, 'to'], 'left_out', `${to} was left out, so this relationship is too`);
  }
  const { via } = source.relationships?.[index] ?? {};
  for (const [key, name] of Object.entries({ to, via })) {
    if (name === undefined || model.datasets.has(name)) continue;
    const message = `There is no dataset named ${name}`;
    fail([...path, key], 'unknown_name', {
      message,
      hint: didYouMean(name, model.datasets.keys()),
    });
  }
  checkBridge(model, checked, index);
  checkWithin(model, checked, index);
  for (const { parts } of condition?.references ?? []) {
    if (conditionSide(relationship, parts) !== undefined) continue;
    fail(
      [...path, 'on'],
      'foreign_field',
      `${parts.join('.')} is neither of ${dataset.name} nor of ${to}`,
    );
  }
}

/** Ranges have fields of one kind, and nothing but a key says that they do not overlap. */
function checkWithin(
  model: SemanticModel,
  { dataset, fail, warn }: DatasetCheck,
  index: number,
): void {
  const { to = '', within, equal = [] } = dataset.relationships[index] ?? {};
  const target = model.datasets.get(to);
  if (within === undefined || target === undefined) return;
  const path = ['relationships', index, 'within'];
  const sides = [
    ['field', dataset, within.field],
    ['from', target, within.from],
    ['to', target, within.to],
  ] as const;
  const missing = sides.filter(([, side, name]) => findField(side, name) === undefined);
  for (const [key, side, name] of missing) {
    fail([...path, key], 'unknown_name', {
      message: `${side.name} has no field named ${name}`,
      hint: didYouMean(name, side.fields.keys()),
    });
  }
  const kinds = new Set(
    sides.flatMap(([, side, name]) => typeFamilyOf(findField(side, name)?.type) ?? []),
  );
  if (kinds.size > 1)
    fail(path, 'within', {
      message: `A range compares ${[...kinds].join(' with ')}`,
      hint: 'Correct the types of the fields.',
    });
  if (missing.length > 0 || kinds.size > 1) return;
  const columns = equal.flatMap((pair) =>
    pair.target === undefined ? [] : [columnIdentity(target, pair.target)],
  );
  const bounds = [within.from, within.to].map((name) => columnIdentity(target, name));
  if (
    target.keys.some((key) =>
      bounds.some((bound) => key.every((column) => [...columns, bound].includes(column))),
    )
  )
    return;
  const wanted = [...equal.flatMap((pair) => pair.target ?? []), within.from].join(', ');
  const message = `Nothing says that ranges of ${to} do not overlap: where they do, a row of ${dataset.name} counts once for each`;
  warn(path, 'overlap', {
    message,
    hint: `If they do not, declare unique_keys: [[${wanted}]] in ${target.file}.`,
  });
}

function checkBridge(model: SemanticModel, { dataset, fail }: DatasetCheck, index: number): void {
  const { from = '', to = '', via, cardinality } = dataset.relationships[index] ?? {};
  if (
    cardinality !== 'many_to_many' ||
    via === undefined ||
    !model.datasets.has(via) ||
    !model.datasets.has(to)
  )
    return;
  const ends = model.datasets.get(via)?.relationships.map((relationship) => relationship.to) ?? [];
  const missing = [from, to].filter(
    (end, position) => ends.filter((one) => one === end).length < (from === to ? position + 1 : 1),
  );
  if (missing.length === 0) return;
  const message = `The bridge ${via} has no relationship to ${missing.join(' and ')}`;
  fail(['relationships', index, 'via'], 'bridge', {
    message,
    hint: `Add it to the file of ${via}.`,
  });
}

/** Faults that show only where a query uses the metric; what the planner does not support yet is no fault of the file. */
const queryTimeCodes: readonly string[] = [
  'not_supported',
  'ambiguous_path',
  'no_path',
  'missing_parameter',
];

/** Resolves the metric as a query would. */
function metricFailure(model: SemanticModel, metric: ModelMetric): UserError | undefined {
  return catchUserError(() => resolveMetric(createResolver(model, []), metric));
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
