import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { parseSql, isWithin } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type Fragment, parseFragment } from '../../sql/fragment.ts';
import {
  type Dataset,
  type ExpressionText,
  type MetricDefinition,
  type ParameterDefinition,
  sourceParts,
} from '../model/dataset.ts';
import { parseParameterValue } from '../model/parameters.ts';
import { parsePeriodGrain, parsePeriod } from '../model/grains.ts';
import {
  columnIdentity,
  type RelationshipEnds,
  type MetricRule,
  type ModelDataset,
  type ModelMetric,
  type ModelRelationship,
  conditionSide,
} from '../model/model.ts';

type YamlPath = readonly PropertyKey[];
type RelationshipDefinition = NonNullable<Dataset['relationships']>[number];

/** Reports a finding at a place in the file. */
export type ReportFinding = (
  path: YamlPath,
  rule: string,
  said: string | { readonly message: string; readonly hint?: string | undefined },
) => void;

/** What building needs to know of the file; `fail` reports an error. */
export interface BuildContext {
  readonly file: string;
  readonly dialect: Dialect;
  readonly fail: ReportFinding;
  /** What `param.x` may name here; undefined where the word means a dataset or role. */
  readonly parameters?: ReadonlySet<string> | undefined;
}

/** A dataset with its expressions parsed; what does not parse is reported, and the dataset is then not to be used. */
export function buildDataset(outside: BuildContext, dataset: Dataset): ModelDataset {
  const origin = { ...outside, parameters: parameterNames(outside, dataset) };
  const {
    dataset: name,
    fields = [],
    row_metrics = [],
    segments = [],
    metrics = [],
    parameters = [],
    relationships = [],
    primary_key = [],
    unique_keys = [],
  } = dataset;
  checkDuplicateNames(origin, dataset);
  const filters = segments.flatMap((segment, index): [string, Fragment][] => {
    const fragment = parseRowFragment(origin, segment.where, ['segments', index, 'where']);
    return fragment === undefined ? [] : [[segment.name, fragment]];
  });
  const relation = buildRelation(origin, dataset);
  const rules = dataset.access?.flatMap(({ role, where }, index) => {
    const fragment = parseRowFragment(withoutParameters(origin), where, ['access', index, 'where']);
    return fragment === undefined ? [] : [{ role, where: fragment }];
  });
  const built: ModelDataset = {
    name,
    file: origin.file,
    relation,
    rows: relation,
    access: rules,
    keys: [],
    defaultTime: dataset.default_time,
    fiscalYearStart: dataset.fiscal_year_start,
    parameters: buildParameters(origin, parameters),
    fields: mapByName([
      ...fields.map((field, index) => ({
        ...field,
        expr: parseRowFragment(origin, field.expr, ['fields', index, 'expr']),
      })),
      ...row_metrics.map(({ metric, via = name, ...field }) => ({
        ...field,
        expr: undefined,
        measure: { metric, via },
      })),
    ]),
    segments: new Map(filters),
    metrics: mapByName(
      metrics.map((metric, index) =>
        buildMetric(origin, { ...metric, dataset: name, key: primary_key }, ['metrics', index]),
      ),
    ),
    relationships: relationships.map((it, index) =>
      buildRelationship(origin, { ...it, from: name }, ['relationships', index]),
    ),
    primaryKey: primary_key.length === 0 ? undefined : primary_key,
    toOne: [],
    toMany: [],
  };
  const keys = [primary_key, ...unique_keys].filter((key) => key.length > 0);
  return { ...built, keys: keys.map((key) => key.map((column) => columnIdentity(built, column))) };
}

/** No name may come twice, in any case: engines fold it. */
function checkDuplicateNames({ fail }: BuildContext, dataset: Dataset): void {
  for (const list of ['fields', 'segments', 'metrics', 'parameters'] as const) {
    const names = (dataset[list] ?? []).map(({ name }) => name.toLowerCase());
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) < index)
        fail([list, index, 'name'], 'duplicate', `${name} is declared twice in ${list}`);
    }
  }
  const fields = (dataset.fields ?? []).map((field) => field.name.toLowerCase());
  for (const [index, { name }] of (dataset.row_metrics ?? []).entries()) {
    const earlier = [
      ...fields,
      ...(dataset.row_metrics ?? []).slice(0, index).map((one) => one.name.toLowerCase()),
    ];
    if (earlier.includes(name.toLowerCase()))
      fail(['row_metrics', index, 'name'], 'duplicate', `${name} is declared twice`);
  }
  const roles = (dataset.relationships ?? []).map(({ role, to }) => role ?? to);
  for (const [index, role] of roles.entries()) {
    const twin = roles
      .slice(0, index)
      .find((other) => other !== role && other.toLowerCase() === role.toLowerCase());
    if (twin !== undefined)
      fail(
        ['relationships', index, 'role'],
        'duplicate',
        `The roles ${twin} and ${role} differ only by case`,
      );
  }
}

/** With their values as their types have them. */
function buildParameters(
  origin: BuildContext,
  parameters: readonly ParameterDefinition[] = [],
): readonly ParameterDefinition[] {
  return parameters.map((parameter, index) => {
    const path = ['parameters', index];
    const values = parameter.values?.flatMap((value, position) => {
      return (
        reportFailure(origin, [...path, 'values', position], () =>
          parseParameterValue({ ...parameter, values: undefined }, value),
        ) ?? []
      );
    });
    const { default: value } = parameter;
    const checked =
      value === undefined
        ? value
        : reportFailure(origin, [...path, 'default'], () =>
            parseParameterValue({ ...parameter, values }, value),
          );
    return { ...parameter, values, default: checked };
  });
}

function parameterNames(
  origin: BuildContext,
  { dataset, parameters = [], relationships = [] }: Dataset,
): BuildContext['parameters'] {
  const isTaken =
    dataset === 'param' ||
    relationships.some(({ to, role = to }) => to === 'param' || role === 'param');
  if (isTaken && parameters.length > 0)
    origin.fail(
      ['parameters'],
      'duplicate',
      'param is the name of a dataset or role, so it cannot mean parameters',
    );
  return isTaken ? undefined : new Set(parameters.map(({ name }) => name));
}

const none: ReadonlySet<string> = new Set();

/** Where no query may choose a value. */
function withoutParameters(origin: BuildContext): BuildContext {
  return origin.parameters === undefined ? origin : { ...origin, parameters: none };
}

function mapByName<Item extends { readonly name: string }>(
  items: readonly Item[],
): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.name, item]));
}

type BuiltMetricInput = MetricDefinition & {
  readonly dataset: string;
  readonly key: readonly string[];
};

function buildMetric(
  origin: BuildContext,
  { key, ...metric }: BuiltMetricInput,
  path: YamlPath,
): ModelMetric {
  const where = parseRowFragment(origin, metric.where, [...path, 'where']);
  const {
    over,
    take,
    per = key.includes(over ?? '') ? key.filter((name) => name !== over) : undefined,
  } = metric.semi_additive ?? {};
  const balance = over === undefined || take === undefined ? undefined : { over, take, per };
  return {
    ...metric,
    file: origin.file,
    where,
    definition: buildMetricRule(origin, metric, path),
    balance,
  };
}

function buildMetricRule(
  origin: BuildContext,
  metric: MetricDefinition,
  path: YamlPath,
): MetricRule {
  const { name, agg, of, fraction, ratio, per } = metric;
  const kinds = (
    ['agg', 'expr', 'ratio', 'cumulative', 'offset', 'total', 'conversion'] as const
  ).filter((kind) => metric[kind] !== undefined);
  const faults = [
    [
      kinds.length !== 1,
      kinds.join(' and ') || 'nothing to compute',
      'Give exactly one of agg, expr, ratio, cumulative, offset, total, conversion.',
    ],
    [
      agg !== undefined && agg !== 'count' && of === undefined,
      `${agg} of nothing`,
      'Add of: with a field or an expression.',
    ],
    [agg === undefined && of !== undefined, 'of but no agg', 'Add agg: sum, count, avg…'],
    [
      agg === undefined && per !== undefined,
      'per but no agg',
      'Add agg: avg… and of: with a metric or aggregates.',
    ],
    [
      (agg === 'percentile') !== (fraction !== undefined),
      'fraction without percentile or reverse',
      'A percentile needs fraction: 0.9.',
    ],
  ] as const;
  for (const [isFault, what, hint] of faults) {
    if (isFault) origin.fail(path, 'metric', { message: `The metric ${name} has ${what}`, hint });
  }
  if (metric.conversion !== undefined) {
    const { on, window, ...rest } = metric.conversion;
    const pairs = Object.entries(on).map(([base, to]) => ({ base, to }));
    return { kind: 'conversion', ...rest, on: pairs, window: windowOf(window) };
  }
  if (metric.cumulative !== undefined) return buildRunningRule(origin, metric.cumulative, path);
  if (metric.offset !== undefined)
    return { kind: 'offset', of: metric.offset.of, by: parsePeriod(metric.offset.by) };
  if (metric.total !== undefined)
    return { kind: 'total', of: metric.total.of, by: metric.total.by ?? [] };
  if (ratio !== undefined) return { kind: 'ratio', ...ratio };
  const fragment =
    agg === undefined ? parseExpression(origin, metric.expr, [...path, 'expr']) : undefined;
  if (fragment !== undefined) return { kind: 'expression', fragment };
  const inner = per === undefined ? undefined : parseExpression(origin, of, [...path, 'of']);
  if (inner !== undefined && per !== undefined)
    return { kind: 'nested', function: agg ?? 'count', fraction, of: inner, per };
  return {
    kind: 'aggregate',
    function: agg ?? 'count',
    of: parseRowFragment(origin, of, [...path, 'of']),
    fraction,
  };
}

function buildRunningRule(
  origin: BuildContext,
  { of, window, grain_to_date: since }: NonNullable<MetricDefinition['cumulative']>,
  path: YamlPath,
): MetricRule {
  if (window !== undefined && since !== undefined) {
    origin.fail([...path, 'cumulative'], 'metric', {
      message: 'window and grain_to_date exclude each other',
      hint: 'Keep one of them.',
    });
  }
  return {
    kind: 'running',
    of,
    running: { window: windowOf(window), since },
  };
}

function windowOf(text: string | undefined) {
  return text === undefined
    ? undefined
    : { period: parsePeriod(text), grain: parsePeriodGrain(text) };
}

function buildRelationship(
  origin: BuildContext,
  relationship: RelationshipDefinition & { readonly from: string },
  path: YamlPath,
): ModelRelationship {
  const { from, to, on, role = to, cardinality = 'many_to_one', via, within: range } = relationship;
  if (cardinality === 'many_to_many' && via === undefined)
    origin.fail(path, 'bridge', 'A many_to_many relationship needs its bridge');
  if (range !== undefined && cardinality !== 'many_to_one') {
    origin.fail([...path, 'within'], 'within', {
      message: `A range makes a ${cardinality} no sense`,
      hint: 'Leave cardinality out: one row of the target has the value.',
    });
  }
  const ranged = range && {
    field: range.field,
    from: range.from,
    to: range.to,
    includesEnd: range.includes_end === true,
  };
  const described = { from, to, name: role, cardinality, via, within: ranged };
  const condition =
    typeof on === 'string'
      ? parseRowFragment(withoutParameters(origin), on, [...path, 'on'])
      : undefined;
  const pairs =
    typeof on === 'string' ? [] : Object.entries(on).map(([own, target]) => ({ own, target }));
  return {
    ...described,
    condition,
    equal: condition === undefined ? pairs : findEqualities(condition, described),
  };
}

/** Of the conjuncts that compare a name of one side with one of the other, or with a literal. */
function findEqualities(condition: Fragment, ends: RelationshipEnds): ModelRelationship['equal'] {
  return condition.conjuncts.flatMap((conjunct) => {
    const references = condition.references.filter((it) => isWithin(it, conjunct));
    const rest = condition.tokens.filter(
      (token) => isWithin(token, conjunct) && !references.some((it) => isWithin(token, it)),
    );
    const literals = rest.filter(({ kind }) => kind === 'string' || kind === 'number');
    const nameOf = (side: 'own' | 'target') =>
      references.find(({ parts }) => conditionSide(ends, parts) === side)?.parts.at(-1);
    const [own, target] = [nameOf('own'), nameOf('target')];
    const isComparison =
      references.length + literals.length === 2 && rest.length === literals.length + 1;
    const isOneEach =
      references.length === [own, target].filter((name) => name !== undefined).length;
    return isComparison && isOneEach && rest.some(({ text }) => text === '=')
      ? [{ own, target }]
      : [];
  });
}

function buildRelation(origin: BuildContext, dataset: Dataset): ModelDataset['relation'] {
  const { source, sql } = dataset;
  const parts = source === undefined ? [] : sourceParts(source);
  if ((source === undefined) === (sql === undefined))
    origin.fail(['dataset'], 'source', 'A dataset has either source or sql');
  if (parts === undefined)
    origin.fail(
      ['source'],
      'source',
      `${source} is not table, schema.table or catalog.schema.table`,
    );
  if (sql === undefined) return { kind: 'table', parts: parts ?? [] };
  const query = sql.trim().replace(/;$/, '');
  const statements = reportFailure(origin, ['sql'], () => parseSql(query, origin.dialect));
  if (statements !== undefined && statements.length !== 1)
    origin.fail(['sql'], 'sql', 'The sql of a dataset is one query');
  return { kind: 'query', sql: query };
}

function parseRowFragment(
  origin: BuildContext,
  text: ExpressionText | undefined,
  path: YamlPath,
): Fragment | undefined {
  const fragment = parseExpression(origin, text, path);
  if (fragment === undefined || fragment.aggregates.length === 0) return fragment;
  origin.fail(path, 'aggregate', 'An aggregate cannot stand in a row-level expression');
  return undefined;
}

function parseExpression(
  origin: BuildContext,
  text: ExpressionText | undefined,
  path: YamlPath,
): Fragment | undefined {
  const { dialect } = origin;
  if (text === undefined) return undefined;
  const own = typeof text === 'object' ? (text[dialect.name] ?? text['default']) : text;
  if (own !== undefined) {
    const fragment = reportFailure(origin, path, () =>
      parseFragment(own, { dialect, origin: 'model' }),
    );
    return fragment && extractParameters(origin, fragment, path);
  }
  origin.fail(path, 'dialect', `There is no expression for ${dialect.name}`);
  return undefined;
}

/** Names like `param.x` are values, not columns. */
function extractParameters(
  { parameters, fail }: BuildContext,
  fragment: Fragment,
  path: YamlPath,
): Fragment {
  const isOne = ({ parts }: Fragment['references'][number]) =>
    parameters !== undefined && parts.length === 2 && parts[0] === 'param';
  const found = fragment.references
    .filter(isOne)
    .map(({ parts, start, end }) => ({ name: parts[1] ?? '', start, end }));
  if (found.length === 0) return fragment;
  for (const { name } of found.filter((one) => parameters?.has(one.name) !== true)) {
    const message = `param.${name} is no parameter that can stand here`;
    const isFixed = parameters === none;
    const hint = isFixed
      ? 'Row rules and joins are the same for every query: write the value itself.'
      : 'Declare it in parameters of this file.';
    fail(path, 'unknown_name', {
      message,
      hint: (isFixed ? undefined : didYouMean(name, parameters ?? [])) ?? hint,
    });
  }
  return {
    ...fragment,
    references: fragment.references.filter((one) => !isOne(one)),
    parameters: found,
  };
}

/** The result, or undefined where a person's mistake was thrown, which is reported. */
function reportFailure<Result>(
  origin: BuildContext,
  path: YamlPath,
  run: () => Result,
): Result | undefined {
  try {
    return run();
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure;
    origin.fail(path, failure.code, failure);
    return undefined;
  }
}
