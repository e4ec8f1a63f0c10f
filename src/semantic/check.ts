import { UserError } from '../lib/error.ts';
import { nearest } from '../lib/suggest.ts';
import type { Report } from './build.ts';
import type { Dataset } from './dataset.ts';
import { metricAddress, type ModelDataset, type ModelMetric, type SemanticModel } from './model.ts';
import { ownerInCondition } from './paths.ts';
import { newTrace, resolveMetric, type Resolver } from './resolve.ts';

/** A dataset beside the YAML that it was built from. */
export interface Checked {
  readonly dataset: ModelDataset;
  readonly source: Dataset;
  readonly fail: Report;
  readonly warn: Report;
}

/** Names that must lead somewhere: keys, default time, relationships, fields within fields, metrics within metrics. */
export function checkDataset(model: SemanticModel, { dataset, source, fail, warn }: Checked): void {
  const own = new Set(dataset.fields.keys());
  const needField = (name: string, path: readonly PropertyKey[]): void => {
    if (!own.has(name)) fail(path, 'unknown_name', { message: `${dataset.name} has no field named ${name}`, hint: suggestion(name, own) });
  };
  for (const [index, name] of (source.primary_key ?? []).entries()) needField(name, ['primary_key', index]);
  for (const [index, key] of (source.unique_keys ?? []).entries()) {
    for (const [position, name] of key.entries()) needField(name, ['unique_keys', index, position]);
  }
  if (source.default_time !== undefined) needField(source.default_time, ['default_time']);
  for (const [index, field] of (source.fields ?? []).entries()) checkField(dataset, field.name, (rule, finding) => fail(['fields', index, 'expr'], rule, finding)); // prettier-ignore
  for (const index of (source.relationships ?? []).keys()) checkRelationship(model, { dataset, source, fail, warn }, index);
  const metrics = (source.metrics ?? []).flatMap((metric) => dataset.metrics.get(metric.name) ?? []);
  for (const [index, metric] of metrics.entries()) checkMetric(model, metric, (rule, finding) => fail(['metrics', index], rule, finding));
}

type ReportHere = (rule: string, finding: Parameters<Report>[2]) => void;

function checkField(dataset: ModelDataset, name: string, fail: ReportHere): void {
  const visit = (at: string, stack: readonly string[]): void => {
    for (const { parts } of dataset.fields.get(at)?.expr?.references ?? []) {
      const next = parts.at(-1) ?? '';
      if (parts.length > 1 && (parts.length > 2 || parts[0] !== dataset.name)) {
        return fail('foreign_field', { message: `The field ${at} uses ${parts.join('.')}, which is not of ${dataset.name}`, hint: 'A field is made of its own row; ask for the other one by its path in the query.' }); // prettier-ignore
      }
      if (next === at || !dataset.fields.has(next)) continue;
      if (stack.includes(next)) return fail('circular', { message: `Circular fields: ${[...stack, next].join(' → ')}` });
      visit(next, [...stack, next]);
    }
  };
  visit(name, [name]);
}

function checkRelationship(model: SemanticModel, { dataset, source, fail, warn }: Checked, index: number): void {
  const relationship = dataset.relationships[index];
  if (relationship === undefined) return;
  const path = ['relationships', index];
  const target = model.datasets.get(relationship.to);
  if (target === undefined && model.excluded.has(relationship.to)) {
    return warn([...path, 'to'], 'left_out', { message: `${relationship.to} was left out, so this relationship is too` });
  }
  if (target === undefined) {
    const hint = suggestion(relationship.to, model.datasets.keys());
    return fail([...path, 'to'], 'unknown_name', { message: `There is no dataset named ${relationship.to}`, hint });
  }
  const via = source.relationships?.[index]?.via;
  if (via !== undefined && !model.datasets.has(via)) {
    fail([...path, 'via'], 'unknown_name', { message: `There is no dataset named ${via}`, hint: suggestion(via, model.datasets.keys()) });
  }
  const { on } = relationship;
  const sides =
    on.kind === 'columns' ? on.pairs.flatMap(({ own, target: name }) => [[dataset, own] as const, [target, name] as const]) : [];
  for (const [side, name] of sides) {
    // A physical column need not be a field: only a name that looks like a slip is worth a word.
    const near = side.fields.has(name) ? undefined : suggestion(name, side.fields.keys());
    if (near !== undefined) warn([...path, 'on'], 'unknown_column', { message: `${side.name} declares no field ${name}; it is taken for a column`, hint: near }); // prettier-ignore
  }
  if (on.kind !== 'condition') return;
  for (const { parts } of on.fragment.references) {
    if (ownerInCondition(relationship, parts) !== undefined) continue;
    fail([...path, 'on'], 'foreign_field', { message: `${parts.join('.')} is neither of ${dataset.name} nor of ${relationship.to}` });
  }
}

/** Resolves the metric as a query would; what the planner does not support yet is no fault of the file. */
export function checkMetric(model: SemanticModel, metric: ModelMetric, fail: ReportHere): void {
  const resolver: Resolver = { model, named: new Map(), names: new Set(), leaves: [], leafKeys: new Map() };
  try {
    resolveMetric(resolver, metric, newTrace());
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure;
    const isPlanners = failure.code === 'not_supported' || failure.code === 'ambiguous_path' || failure.code === 'no_path';
    if (!isPlanners) fail(failure.code, { message: `${metricAddress(metric)}: ${failure.message}`, hint: failure.hint });
  }
}

function suggestion(name: string, candidates: Iterable<string>): string | undefined {
  const near = nearest(name, candidates);
  return near.length === 0 ? undefined : `Did you mean ${near.join(', ')}?`;
}
