import type { Fragment } from '../../sql/fragment.ts';
import { ambiguousError, queryError, unknownNameError } from '../query/errors.ts';
import type { ParameterDefinition, ParameterValue } from './dataset.ts';
import type { MetricRule, ModelDataset, ModelMetric, SemanticModel } from './model.ts';

/** Values by parameter name or address (`dataset.name`). */
type ParameterValues = Readonly<Record<string, ParameterValue>>;

const boundModels = new WeakMap<SemanticModel, Map<string, SemanticModel>>();
const declaringDatasets = new WeakMap<SemanticModel, readonly ModelDataset[]>();

/**
 * The model with a value for each `param.x` of its fragments. A bare name sets the parameter of
 * every dataset that declares it in the same way; an address overrides it for one dataset. Throws
 * `unknown_name`, `ambiguous_name`, `wrong_parameter`.
 */
export function withParameters(model: SemanticModel, given: ParameterValues): SemanticModel {
  const declaring = datasetsWithParameters(model);
  // Addresses come last, so that they win over bare names.
  const names = Object.keys(given).toSorted(
    (a, b) => Number(a.includes('.')) - Number(b.includes('.')),
  );
  if (declaring.length === 0 && names.length === 0) return model;
  const key = JSON.stringify(names.map((name) => [name, given[name]]));
  const cache = boundModels.get(model) ?? new Map<string, SemanticModel>();
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const values = new Map<string, ParameterValue>();
  for (const name of names) {
    for (const { address, parameter } of findParameters(declaring, name))
      values.set(address, parseParameterValue(parameter, given[name] ?? ''));
  }
  const datasets = new Map(model.datasets);
  for (const dataset of declaring) datasets.set(dataset.name, bindDataset(dataset, values));
  const bound = { ...model, datasets };
  if (cache.size > 100) cache.clear();
  boundModels.set(model, cache.set(key, bound));
  return bound;
}

function datasetsWithParameters(model: SemanticModel): readonly ModelDataset[] {
  const cached = declaringDatasets.get(model);
  if (cached !== undefined) return cached;
  const declaring = [...model.datasets.values()].filter(({ parameters }) => parameters.length > 0);
  declaringDatasets.set(model, declaring);
  return declaring;
}

const sampleValues = {
  string: 'a',
  integer: 1,
  decimal: 1,
  boolean: true,
  date: '2024-01-01',
} as const;

/** Any value for each parameter without a default, so that metrics that use it can be tried. */
export function sampleParameters(model: SemanticModel): ParameterValues {
  const samples = datasetsWithParameters(model).flatMap((dataset) =>
    dataset.parameters
      .filter((parameter) => parameter.default === undefined)
      .map(({ name, values, type }) => [
        `${dataset.name}.${name}`,
        values?.[0] ?? sampleValues[type],
      ]),
  );
  return Object.fromEntries(samples);
}

interface AddressedParameter {
  /** `dataset.name`. */
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
  const matches = all.filter(
    ({ address, parameter }) => name === address || name === parameter.name,
  );
  const declarations = new Set(
    matches.map(({ parameter: { type, default: value, values } }) =>
      JSON.stringify([type, value, values]),
    ),
  );
  if (declarations.size === 1) return matches;
  if (declarations.size > 1) {
    throw ambiguousError(
      'ambiguous_name',
      `The parameter ${name} is declared in several ways`,
      matches.map(({ address }) => address),
    );
  }
  const candidates = [...new Set(all.map(({ parameter }) => parameter.name))];
  throw unknownNameError({ what: 'parameter', name, candidates });
}

/**
 * Converts a value to the parameter's type; text may stand for any type. Throws `wrong_parameter`.
 */
export function parseParameterValue(
  { name, type, values }: ParameterDefinition,
  given: ParameterValue,
): ParameterValue {
  const value = coerceValue(type, given);
  const written = JSON.stringify(given);
  if (value === undefined) {
    const choices = (values ?? (type === 'boolean' ? [true, false] : [])).map(String);
    const hint = choices.length > 0 ? '' : `Give it a value like ${exampleValues[type]}.`;
    throw queryError(
      'wrong_parameter',
      `The parameter ${name} is of type ${type}, which ${written} is not`,
      { choices, hint },
    );
  }
  if (values === undefined || values.includes(value)) return value;
  const choices = values.map(String);
  throw queryError('wrong_parameter', `The parameter ${name} cannot be ${written}`, { choices });
}

const exampleValues = {
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
  return typeof given === 'boolean' ? undefined : coerceNumber(type, given);
}

/** A number that a double holds exactly: safe integers, and for decimals any finite number. */
function coerceNumber(type: 'integer' | 'decimal', given: number | string): number | undefined {
  if (typeof given === 'string' && !/^-?\d{1,15}(\.\d{1,15})?$/.test(given)) return undefined;
  const value = Number(given);
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? value : undefined;
  return type === 'decimal' && Number.isFinite(value) ? value : undefined;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

type BindFragment = <F extends Fragment | undefined>(fragment: F) => F;

function bindDataset(
  dataset: ModelDataset,
  values: ReadonlyMap<string, ParameterValue>,
): ModelDataset {
  const bind: BindFragment = (fragment) => {
    if (fragment?.parameters === undefined) return fragment;
    const parameters = fragment.parameters.map((reference) => {
      const declared = dataset.parameters.find(({ name }) => name === reference.name);
      const address = `${dataset.name}.${reference.name}`;
      const value = values.get(address) ?? declared?.default;
      const choices = declared?.values?.map(String) ?? [];
      return { ...reference, bound: { address, value, choices } };
    });
    return { ...fragment, parameters };
  };
  const mapValues = <Item>(items: ReadonlyMap<string, Item>, map: (item: Item) => Item) =>
    new Map([...items].map(([name, item]) => [name, map(item)]));
  return {
    ...dataset,
    fields: mapValues(dataset.fields, (field) => ({ ...field, expr: bind(field.expr) })),
    segments: mapValues(dataset.segments, bind),
    metrics: mapValues(dataset.metrics, (metric): ModelMetric => ({
      ...metric,
      where: bind(metric.where),
      definition: bindRule(metric.definition, bind),
    })),
  };
}

function bindRule(rule: MetricRule, bind: BindFragment): MetricRule {
  if (rule.kind === 'aggregate') return { ...rule, of: bind(rule.of) };
  if (rule.kind === 'nested') return { ...rule, of: bind(rule.of) };
  return rule.kind === 'expression' ? { ...rule, fragment: bind(rule.fragment) } : rule;
}

/** The parameter values that occur anywhere in a plan, by address, sorted. */
export function parametersIn(plan: unknown): Readonly<Record<string, ParameterValue>> {
  const values = new Map<string, ParameterValue>();
  const seen = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    if (isLiteral(node)) values.set(node.parameter, node.value);
    else for (const child of Object.values(node)) visit(child);
  };
  visit(plan);
  return Object.fromEntries([...values].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isLiteral(
  node: object,
): node is { readonly parameter: string; readonly value: ParameterValue } {
  return 'kind' in node && node.kind === 'literal' && 'parameter' in node;
}
