import { UserError } from '../lib/error.ts';
import { requireAnalyzer } from '../sql/analyzer.ts';
import type { Dialect } from '../sql/dialect.ts';
import { type Fragment, parseFragment } from '../sql/expression.ts';
import { type Dataset, type ExpressionText, type MetricDefinition, sourceParts } from './dataset.ts';
import { columnIdentity, type MetricRule, type ModelDataset, type ModelField, type ModelMetric, type ModelRelationship } from './model.ts';

/** What building needs to know of the file; `fail` reports an error at a place in it. */
export interface Origin {
  readonly file: string;
  readonly dialect: Dialect;
  readonly fail: Report;
}

export type Report = (
  path: readonly PropertyKey[],
  rule: string,
  finding: { readonly message: string; readonly hint?: string | undefined },
) => void;

/** A dataset with its expressions parsed; what does not parse is reported, and the dataset is then not to be used. */
export function buildDataset(origin: Origin, dataset: Dataset): ModelDataset {
  const fields = named(origin, { key: 'fields', items: dataset.fields }, (field, path): ModelField => {
    const expr = rowFragment(origin, field.expr, [...path, 'expr']);
    return { name: field.name, type: field.type, expr, hidden: field.hidden ?? false, description: field.description };
  });
  const segments = named(origin, { key: 'segments', items: dataset.segments }, (segment, path) =>
    rowFragment(origin, segment.where, [...path, 'where']),
  );
  const metrics = named(origin, { key: 'metrics', items: dataset.metrics }, (metric, path) =>
    buildMetric(origin, { metric, path, dataset: dataset.dataset }),
  );
  const relationships = (dataset.relationships ?? []).map((relationship, index): ModelRelationship => {
    const { on } = relationship;
    const fragment = typeof on === 'string' ? rowFragment(origin, on, ['relationships', index, 'on']) : undefined;
    if (relationship.cardinality === 'many_to_many' && relationship.via === undefined) {
      origin.fail(['relationships', index], 'bridge', {
        message: 'A many_to_many relationship needs its bridge',
        hint: 'Add via: with the bridge dataset.',
      });
    }
    return {
      from: dataset.dataset,
      to: relationship.to,
      name: relationship.role ?? relationship.to,
      cardinality: relationship.cardinality ?? 'many_to_one',
      on: fragment === undefined ? { kind: 'columns', pairs: pairsOf(on) } : { kind: 'condition', fragment },
    };
  });
  const built: ModelDataset = {
    name: dataset.dataset,
    file: origin.file,
    relation: relationOf(origin, dataset),
    description: dataset.description,
    synonyms: dataset.synonyms ?? [],
    keys: [],
    defaultTime: dataset.default_time,
    fields,
    segments: new Map([...segments].flatMap(([name, fragment]) => (fragment === undefined ? [] : [[name, fragment]]))),
    metrics,
    relationships,
    incoming: [],
  };
  const keys = [dataset.primary_key ?? [], ...(dataset.unique_keys ?? [])].filter((key) => key.length > 0);
  return { ...built, keys: keys.map((key) => key.map((name) => columnIdentity(built, name))) };
}

function pairsOf(on: string | Readonly<Record<string, string>>): readonly { own: string; target: string }[] {
  return typeof on === 'string' ? [] : Object.entries(on).map(([own, target]) => ({ own, target }));
}

/** A metric, or undefined (reported) where its parts do not make one. */
export function buildMetric(
  origin: Origin,
  input: { metric: MetricDefinition; path: readonly PropertyKey[]; dataset: string | undefined },
): ModelMetric {
  const { metric, path, dataset } = input;
  return {
    name: metric.name,
    dataset,
    file: origin.file,
    hidden: metric.hidden ?? false,
    unit: metric.unit,
    description: metric.description,
    where: rowFragment(origin, metric.where, [...path, 'where']),
    definition: ruleOf(origin, metric, path),
  };
}

function ruleOf(origin: Origin, metric: MetricDefinition, path: readonly PropertyKey[]): MetricRule {
  const kinds = (['agg', 'expr', 'ratio', 'cumulative', 'offset'] as const).filter((kind) => metric[kind] !== undefined);
  const fail = (message: string, hint: string): void =>
    origin.fail(path, 'metric', { message: `The metric ${metric.name} ${message}`, hint });
  if (kinds.length !== 1)
    fail(`has ${kinds.join(' and ') || 'nothing to compute'}`, 'Give exactly one of agg, expr, ratio, cumulative, offset.');
  if (metric.agg !== undefined && metric.agg !== 'count' && metric.of === undefined)
    fail(`has ${metric.agg} of nothing`, 'Add of: with a field or an expression.');
  if (metric.agg === undefined && metric.of !== undefined) fail('has of but no agg', 'Add agg: sum, count, avg…');
  if ((metric.agg === 'percentile') !== (metric.fraction !== undefined))
    fail('has fraction without percentile, or the reverse', 'A percentile needs fraction: 0.9, nothing else has one.');
  if (metric.semi_additive !== undefined) return { kind: 'unsupported', feature: 'semi_additive' };
  if (metric.cumulative !== undefined) return { kind: 'unsupported', feature: 'cumulative' };
  if (metric.offset !== undefined) return { kind: 'unsupported', feature: 'offset' };
  if (metric.ratio !== undefined) return { kind: 'ratio', ...metric.ratio };
  if (metric.agg !== undefined) {
    return { kind: 'aggregate', function: metric.agg, of: rowFragment(origin, metric.of, [...path, 'of']), fraction: metric.fraction };
  }
  const fragment = fragmentOf(origin, metric.expr, [...path, 'expr']);
  return fragment === undefined
    ? { kind: 'aggregate', function: 'count', of: undefined, fraction: undefined }
    : { kind: 'expression', fragment };
}

function relationOf(origin: Origin, dataset: Dataset): ModelDataset['relation'] {
  const parts = dataset.source === undefined ? undefined : sourceParts(dataset.source);
  if ((dataset.source === undefined) === (dataset.sql === undefined)) {
    origin.fail(['dataset'], 'source', { message: 'A dataset has either source or sql', hint: 'Give exactly one of the two.' });
  } else if (dataset.source !== undefined && parts === undefined) {
    origin.fail(['source'], 'source', {
      message: `${dataset.source} is not a table`,
      hint: 'Write table, schema.table or catalog.schema.table.',
    });
  }
  if (dataset.sql === undefined) return { kind: 'table', parts: parts ?? [] };
  const sql = dataset.sql.trim().replace(/;$/, '');
  attempt(origin, ['sql'], () => {
    const [statement, ...more] = requireAnalyzer().parse(sql, origin.dialect).statements;
    if (statement === undefined || more.length > 0) origin.fail(['sql'], 'sql', { message: 'The sql of a dataset is one query' });
  });
  return { kind: 'query', sql };
}

/** Items by name; a name that comes twice (in any case: engines fold it) is reported. */
function named<Item extends { name: string }, Built>(
  origin: Origin,
  list: { readonly key: string; readonly items: readonly Item[] | undefined },
  build: (item: Item, path: readonly PropertyKey[]) => Built,
): ReadonlyMap<string, Built> {
  const seen = new Set<string>();
  const built = new Map<string, Built>();
  for (const [index, item] of (list.items ?? []).entries()) {
    const folded = item.name.toLowerCase();
    if (seen.has(folded))
      origin.fail([list.key, index, 'name'], 'duplicate', {
        message: `${item.name} is declared twice in ${list.key}`,
        hint: 'Names must differ by more than case.',
      });
    seen.add(folded);
    built.set(item.name, build(item, [list.key, index]));
  }
  return built;
}

function rowFragment(origin: Origin, text: ExpressionText | undefined, path: readonly PropertyKey[]): Fragment | undefined {
  const fragment = fragmentOf(origin, text, path);
  if (fragment === undefined || fragment.aggregates.length === 0) return fragment;
  origin.fail(path, 'aggregate', { message: 'An aggregate cannot stand in a row-level expression', hint: 'Make it a metric with expr.' });
  return undefined;
}

function fragmentOf(origin: Origin, text: ExpressionText | undefined, path: readonly PropertyKey[]): Fragment | undefined {
  const own = typeof text === 'object' ? (text[origin.dialect.name] ?? text['default']) : text;
  if (own === undefined) {
    if (text !== undefined)
      origin.fail(path, 'dialect', { message: `There is no expression for ${origin.dialect.name}`, hint: 'Add default: to the map.' });
    return undefined;
  }
  return attempt(origin, path, () => parseFragment(own, { dialect: origin.dialect, origin: 'model' }));
}

/** The result, or undefined where a person's mistake was thrown, which is reported. */
function attempt<Result>(origin: Origin, path: readonly PropertyKey[], run: () => Result): Result | undefined {
  try {
    return run();
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure;
    origin.fail(path, failure.code, { message: failure.message, hint: failure.hint });
    return undefined;
  }
}
