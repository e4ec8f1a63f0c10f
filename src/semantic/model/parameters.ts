import type { Fragment } from '../../sql/fragment.ts';
import type { ParameterDefinition, ParameterValue } from './dataset.ts';
import { ambiguousError, queryError, unknownNameError } from '../query/errors.ts';
import type { MetricRule, ModelDataset, ModelMetric, SemanticModel } from './model.ts';

type ParameterValues = Readonly<Record<string, ParameterValue>>;

const boundModels = new WeakMap<SemanticModel, Map<string, SemanticModel>>();
const declaringDatasets = new WeakMap<SemanticModel, readonly ModelDataset[]>();

/** The model with a value for each `param.x` of its fragments; a name means the parameter of every dataset that declares it alike. */
export function withParameters(model: SemanticModel, given: ParameterValues): SemanticModel {
  const declaring =
    declaringDatasets.get(model) ??
    [...model.datasets.values()].filter(({ parameters }) => parameters.length > 0);
  declaringDatasets.set(model, declaring);
  // What is said of one dataset wins.
  const names = Object.keys(given).toSorted(
    (a, b) => Number(a.includes('.')) - Number(b.includes('.')),
  );
  if (declaring.length === 0 && names.length === 0) return model;
  const key = JSON.stringify(names.map((name) => [name, given[name]]));
  const known = boundModels.get(model) ?? new Map<string, SemanticModel>();
  const last = known.get(key);
  if (last !== undefined) return last;
  const values = new Map<string, ParameterValue>();
  for (const name of names) {
    for (const { address, parameter } of findParameters(declaring, name))
      values.set(address, parseParameterValue(parameter, given[name] ?? ''));
  }
  const datasets = new Map(model.datasets);
  for (const dataset of declaring) datasets.set(dataset.name, bindDataset(dataset, values));
  const bound = { ...model, datasets };
  if (known.size > 100) known.clear();
  boundModels.set(model, known.set(key, bound));
  return bound;
}

/** A value for each parameter without a default, so that what uses it can be tried. */
export function sampleParameters({ datasets }: SemanticModel): ParameterValues {
  const samples = {
    string: 'a',
    integer: 1,
    decimal: 1,
    boolean: true,
    date: '2024-01-01',
  } as const;
  const needed = [...datasets.values()].flatMap((dataset) =>
    dataset.parameters
      .filter((one) => one.default === undefined)
      .map((one) => [`${dataset.name}.${one.name}`, one.values?.[0] ?? samples[one.type]]),
  );
  return Object.fromEntries(needed);
}

interface AddressedParameter {
  readonly address: string;
  readonly parameter: ParameterDefinition;
}

function findParameters(
  declaring: readonly ModelDataset[],
  name: string,
): readonly AddressedParameter[] {
  const all = declaring.flatMap((dataset) =>
    dataset.parameters.map((parameter) => ({
      address: `${dataset.name}.${parameter.name}`,
      parameter,
    })),
  );
  const found = all.filter(({ address, parameter }) => name === address || name === parameter.name);
  const meanings = new Set(
    found.map(({ parameter: { type, default: value, values } }) =>
      JSON.stringify([type, value, values]),
    ),
  );
  if (meanings.size === 1) return found;
  if (meanings.size > 1)
    throw ambiguousError(
      'ambiguous_name',
      `The parameter ${name} is declared in several ways`,
      found.map(({ address }) => address),
    );
  throw unknownNameError({
    what: 'parameter',
    name,
    candidates: new Set(all.map(({ parameter }) => parameter.name)),
  });
}

/** As its type has it; text may stand for any of them. */
export function parseParameterValue(
  { name, type, values }: ParameterDefinition,
  given: ParameterValue,
): ParameterValue {
  const value = coerceValue(type, given);
  if (value === undefined) {
    const choices = (values ?? (type === 'boolean' ? [true, false] : [])).map(String);
    throw queryError(
      'wrong_parameter',
      `The parameter ${name} is of type ${type}, which ${JSON.stringify(given)} is not`,
      {
        choices,
        hint: choices.length > 0 ? '' : `Give it a value like ${examples[type]}.`,
      },
    );
  }
  if (values === undefined || values.includes(value)) return value;
  throw queryError(
    'wrong_parameter',
    `${JSON.stringify(given)} is no value of the parameter ${name}`,
    { choices: values.map(String) },
  );
}

const examples = {
  string: 'EUR',
  integer: '5',
  decimal: '0.5',
  boolean: 'true',
  date: '2024-01-31',
} as const;

function coerceValue(
  type: ParameterDefinition['type'],
  given: ParameterValue,
): ParameterValue | undefined {
  const text = String(given);
  if (type === 'string') return typeof given === 'string' ? given : undefined;
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined;
  if (type === 'date') return isDate(text) ? text : undefined;
  const isWritten = typeof given === 'number' || /^-?\d{1,15}(\.\d{1,15})?$/.test(text);
  const value = Number(text);
  const isSafe = Number.isInteger(value)
    ? Number.isSafeInteger(value)
    : type === 'decimal' && Number.isFinite(value);
  return isWritten && isSafe && typeof given !== 'boolean' ? value : undefined;
}

function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return time !== undefined && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

function bindDataset(
  dataset: ModelDataset,
  values: ReadonlyMap<string, ParameterValue>,
): ModelDataset {
  const bind = <F extends Fragment | undefined>(fragment: F): F => {
    if (fragment?.parameters === undefined) return fragment;
    const parameters = fragment.parameters.map((one) => {
      const declared = dataset.parameters.find(({ name }) => name === one.name);
      const address = `${dataset.name}.${one.name}`;
      const value = values.get(address) ?? declared?.default;
      return { ...one, bound: { address, value, choices: declared?.values?.map(String) ?? [] } };
    });
    return { ...fragment, parameters };
  };
  const mapped = <Item>(items: ReadonlyMap<string, Item>, map: (item: Item) => Item) =>
    new Map([...items].map(([name, item]) => [name, map(item)]));
  return {
    ...dataset,
    fields: mapped(dataset.fields, (field) => ({ ...field, expr: bind(field.expr) })),
    segments: mapped(dataset.segments, bind),
    metrics: mapped(dataset.metrics, (metric): ModelMetric => ({
      ...metric,
      where: bind(metric.where),
      definition: bindRule(metric.definition, bind),
    })),
  };
}

function bindRule(
  rule: MetricRule,
  bind: <F extends Fragment | undefined>(fragment: F) => F,
): MetricRule {
  if (rule.kind === 'aggregate') return { ...rule, of: bind(rule.of) };
  if (rule.kind === 'nested') return { ...rule, of: bind(rule.of) };
  return rule.kind === 'expression' ? { ...rule, fragment: bind(rule.fragment) } : rule;
}

/** The values that stand anywhere inside, by `dataset.name`. */
export function parametersIn(value: unknown): Readonly<Record<string, ParameterValue>> {
  const found = new Map<string, ParameterValue>();
  const seen = new Set<unknown>();
  const visit = (inner: unknown): void => {
    if (typeof inner !== 'object' || inner === null || seen.has(inner)) return;
    seen.add(inner);
    if (isLiteral(inner)) found.set(inner.parameter, inner.value);
    else for (const child of Object.values(inner)) visit(child);
  };
  visit(value);
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isLiteral(
  value: object,
): value is { readonly parameter: string; readonly value: ParameterValue } {
  return 'kind' in value && value.kind === 'literal';
}
