import { UserError } from '../../lib/error.ts';
import type { FieldType } from '../../sql/field-type.ts';
import { type Asked, type Block, blockOf } from './fact-query.ts';
import { calendarOf } from './calendar.ts';
import { splitConditions } from '../resolve/conditions.ts';
import {
  ambiguousError,
  queryError,
  unknownDatasetError,
  unknownNameError,
} from '../query/errors.ts';
import type { Expr, CommonTable } from '../relational/query-tree.ts';
import { isWithin } from '../../sql/analyzer.ts';
import { mergeTables } from './merge-facts.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import { parametersIn, withParameters } from '../model/parameters.ts';
import {
  requireDataset,
  formatFieldPath,
  type ResolvedField,
  resolveQueryField,
  timeTypeOf,
} from '../resolve/field-path.ts';
import { type Grain, isFiscal } from '../model/grains.ts';
import type { SemanticQuery } from '../query/query.ts';
import { type MetricReceipt, metricReceipt } from './receipt.ts';
import {
  factQueryKey,
  type AggregateNode,
  emptyTrace,
  type MetricTrace,
} from '../resolve/aggregate-node.ts';
import { withZeroForMissingSums, resolveQueryMetric } from '../resolve/metrics.ts';
import { findMetric, createResolver, type MetricResolver } from '../resolve/metric-resolver.ts';
import { checkSegments } from './row-conditions.ts';

/**
 * What will be computed, as plain data: a block of aggregates for each owner, merged to one row a group; then arithmetic,
 * conditions and order over the merged columns.
 */
export interface Plan {
  /** What `tables` are made of, one for each owner of aggregates. */
  readonly blocks: readonly Block[];
  /** Each may read those before it; the last one gives the rows. */
  readonly tables: readonly CommonTable[];
  /** True where one of them reads itself. */
  readonly isRecursive: boolean;
  /** Those that were asked for: the dimensions, then the metrics. */
  readonly columns: readonly PlanColumn[];
  readonly having: readonly Expr[];
  readonly order: readonly { readonly expr: Expr; readonly dir: 'asc' | 'desc' }[];
  readonly limit: number | undefined;
  /** Addresses of the metrics of the model that any number or condition of the answer is made of. */
  readonly used: ReadonlySet<string>;
  readonly receipt: {
    readonly metrics: readonly MetricReceipt[];
    readonly notes: readonly string[];
    readonly parameters: ReturnType<typeof parametersIn>;
  };
}

interface PlanColumn {
  /** As asked. */
  readonly name: string;
  readonly kind: 'dimension' | 'metric';
  readonly expr: Expr;
  readonly type: FieldType | undefined;
  readonly grain: Grain | undefined;
  readonly unit: string | undefined;
}

interface Metric {
  readonly name: string;
  readonly expr: Expr;
  readonly trace: MetricTrace;
}

/** Pure; runs inside `withAnalyzer`. Throws a `UserError` that names the choices, or `not_supported`. */
export function plan(given: SemanticModel, query: SemanticQuery): Plan {
  const model = withParameters(given, query.parameters);
  const resolver = createResolver(model, query.metrics);
  const metrics = query.metrics.map((metric) =>
    metricOf(resolver, typeof metric === 'string' ? metric : metric.name),
  );
  checkNames([...query.dimensions, ...metrics.map((metric) => metric.name)]);
  const conditions = splitConditions(resolver, query);
  const order = orderOf(resolver, query, metrics);
  const notes = new Set<string>();
  const asked = { model, query, conditions, notes, used: resolver.usedMetrics };
  const leaves = [...resolver.aggregates.values()];
  const blocks = blocksOf(asked, leaves, metrics);
  const [{ places }] = blocks;
  checkFiscal(asked, blocks);
  checkBareTimes(asked, blocks);
  const calendar = calendarOf(asked, blocks);
  const having = conditions.aggregates.map(({ text }) => text);
  const tables = [...calendar.tables, ...mergeTables(blocks, calendar.filled)];
  const used =
    model === given
      ? {}
      : parametersIn([tables, metrics.map(({ expr }) => expr), conditions.aggregates, order]);
  return {
    blocks,
    tables,
    isRecursive: calendar.isRecursive,
    columns: [
      ...places.map((place, index) => dimensionColumn(place, query.dimensions[index] ?? '', index)),
      ...metrics.map(metricColumn),
    ],
    having: conditions.aggregates.map((condition) => condition.expr),
    order,
    limit: query.limit,
    used: resolver.usedMetrics,
    receipt: {
      metrics: metrics.map((metric) =>
        metricReceipt(model, metric, { blocks, grain: query.dimensions, having }),
      ),
      notes: [...notes, ...fanNotes(blocks), ...unusedNotes(query, used)],
      /** The values that were used, by `dataset.name`. */
      parameters: used,
    },
  };
}

/** One for each owner of aggregates; without metrics, one of the rows that the dimensions are about. */
function blocksOf(
  asked: Asked,
  leaves: readonly AggregateNode[],
  metrics: readonly Metric[],
): readonly [Block, ...Block[]] {
  const { model, query } = asked;
  if (query.include_empty && leaves.length === 0) {
    throw queryError(
      'unused_option',
      'include_empty means nothing in a query without metrics',
      'Add a metric, or leave it out.',
    );
  }
  const groups = [...Map.groupBy(leaves, factQueryKey).values()];
  const nameOf = (leaf: AggregateNode | undefined) =>
    metrics.find(({ trace }) => leaf !== undefined && trace.aggregates.has(leaf))?.name;
  const blocks = groups.map((group) => {
    const owner = requireDataset(model, group[0]?.owner ?? '');
    return blockOf({ ...asked, owners: groups.flatMap(([leaf]) => leaf?.owner ?? []) }, group, {
      owner,
      metric: nameOf(group[0]) ?? `what is asked of ${owner.name}`,
    });
  });
  const [first = blockOf(asked, [], { owner: ownerOf(model, query), metric: '' }), ...others] = [
    ...totalled(asked, blocks),
    ...blocks,
  ];
  checkScopes(
    asked,
    [first, ...others].map(({ owner }) => owner),
  );
  return [first, ...others];
}

/** The groups of rows that are only totalled: those of each owner are shown whatever else is asked. */
function totalled(asked: Asked, blocks: readonly Block[]): readonly Block[] {
  const rowsOf = ({ owner, leaves: [first] }: Block): string =>
    JSON.stringify([owner, first?.shift ?? []]);
  const shown = new Set(
    blocks
      .filter(({ kept, leaves }) => kept === undefined && leaves[0]?.running === undefined)
      .map(rowsOf),
  );
  const missing = new Map(
    blocks
      .filter((block) => block.kept !== undefined && !shown.has(rowsOf(block)))
      .map((block) => [rowsOf(block), block]),
  );
  return [...missing.values()].map(({ owner, leaves }) =>
    blockOf(asked, [], {
      owner: requireDataset(asked.model, owner),
      metric: owner,
      shift: leaves[0]?.shift ?? [],
    }),
  );
}

/** What restricts no block would be lost without a word. */
function checkScopes({ model, query, conditions }: Asked, owners: readonly string[]): void {
  checkSegments(model, query, owners);
  for (const { on, text } of conditions.rows) {
    if (on === undefined || owners.includes(on)) continue;
    const message = `The condition ${JSON.stringify(text)} is scoped to ${on}, of which the query has no metric`;
    throw queryError('unused_scope', message, {
      hint: 'That is what on: takes here.',
      choices: owners,
    });
  }
}

/** A fiscal period that would mean one thing for one dataset and another for the next. */
function checkFiscal(
  { model, query, conditions }: Asked,
  [first, ...others]: readonly [Block, ...Block[]],
): void {
  const differ = (
    one: ModelDataset | undefined,
    other: ModelDataset | undefined,
    name: string,
  ): void => {
    if (one === undefined || other === undefined || one.fiscalYearStart === other.fiscalYearStart)
      return;
    const told = [one, other].map((it) => `${it.name} in month ${it.fiscalYearStart} (${it.file})`);
    const message = `${name} is not one period for both: fiscal years begin for ${told.join(', for ')}`;
    throw queryError(
      'fiscal_year',
      message,
      'Ask for one of them at a time, or write the same fiscal_year_start into both files.',
    );
  };
  const isOfEach = ([root, grain]: readonly string[]): boolean =>
    root === 'metric_time' && grain?.startsWith('fiscal_') === true;
  const isAsked = conditions.rows.find(({ on, text, row }) => {
    const names = row?.fragment.references
      .filter((one) => isWithin(one, row.span))
      .map(({ parts }) => parts);
    return on === undefined && (names ?? [text.split(' ', 1).join().split('.')]).some(isOfEach);
  });
  for (const { owner, places } of others) {
    for (const [index, { grain, dataset }] of places.entries()) {
      if (grain !== undefined && isFiscal(grain))
        differ(first.places[index]?.dataset, dataset, query.dimensions[index] ?? '');
    }
    if (isAsked !== undefined)
      differ(
        model.datasets.get(first.owner),
        model.datasets.get(owner),
        JSON.stringify(isAsked.text),
      );
  }
}

/** Days of one and moments of the other are no common groups: 1 May, and 1 May at midnight. */
function checkBareTimes({ query }: Asked, [first, ...others]: readonly [Block, ...Block[]]): void {
  for (const { owner, places } of others) {
    for (const [index, place] of places.entries()) {
      const types = [first.places[index], place].flatMap((one) =>
        one === undefined || one.grain !== undefined ? [] : (timeTypeOf(one) ?? []),
      );
      const [one, other] = types;
      if (one === other || other === undefined) continue;
      const name = query.dimensions[index] ?? '';
      const message = `${name} without a period is no common time: it is a ${one} of ${first.owner} and a ${other} of ${owner}`;
      throw queryError('no_period', message, {
        hint: 'Say which period.',
        choices: [`${name}.day`, `${name}.month`],
      });
    }
  }
}

function fanNotes(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap(({ owner, fanned }) =>
    fanned.map(
      (dimension) =>
        `One row of ${owner} can have several ${dimension}: it counts once in each, so these groups do not add up to the total`,
    ),
  );
}

function unusedNotes({ parameters }: SemanticQuery, used: object): readonly string[] {
  const names = Object.keys(used).flatMap((address) => [address, address.split('.').at(-1)]);
  const unused = Object.keys(parameters).filter((name) => !names.includes(name));
  return unused.map((name) => `Nothing that is asked uses the parameter ${name}`);
}

function metricOf(resolver: MetricResolver, name: string): Metric {
  const trace = emptyTrace();
  const expr = withZeroForMissingSums(() => resolveQueryMetric(resolver, name, trace), trace);
  if (trace.aggregates.size > 0) return { name, expr, trace };
  throw queryError(
    'no_owner',
    `${name} aggregates nothing`,
    'Use a metric or an aggregate in it, like sum(orders.amount).',
  );
}

function checkNames(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw queryError(
      'duplicate_name',
      `The query asks for ${repeated} twice`,
      'Name every column once.',
    );
  if (names.length === 0)
    throw queryError(
      'empty_query',
      'The query asks for nothing',
      'Name at least one metric or dimension.',
    );
}

/** As asked, then by every dimension, so that equal values do not shuffle between runs. */
function orderOf(
  resolver: MetricResolver,
  query: SemanticQuery,
  metrics: readonly Metric[],
): Plan['order'] {
  const asked = query.order_by.map(({ field, dir }) => {
    const index = query.dimensions.indexOf(field);
    return {
      dir,
      expr:
        index === -1 ? orderMetric(resolver, field, { query, metrics }) : dimensionResult(index),
    };
  });
  const ties = query.dimensions.flatMap((name, index) =>
    query.order_by.some(({ field }) => field === name)
      ? []
      : [{ dir: 'asc' as const, expr: dimensionResult(index) }],
  );
  return [...asked, ...ties];
}

function dimensionResult(index: number): Expr {
  return { kind: 'result', column: `d${index + 1}` };
}

function orderMetric(
  resolver: MetricResolver,
  field: string,
  { query, metrics }: { query: SemanticQuery; metrics: readonly Metric[] },
): Expr {
  const asked = metrics.find((metric) => metric.name === field);
  if (asked !== undefined) return asked.expr;
  if (findMetric(resolver.model, field.split('.')) !== undefined)
    return withZeroForMissingSums((trace) => resolveQueryMetric(resolver, field, trace));
  const candidates = [...metrics.map((metric) => metric.name), ...query.dimensions];
  throw unknownNameError({ what: 'requested dimension or metric', name: field, candidates });
}

/** The dataset whose rows a query without metrics is about: the one from which every dimension can be reached. */
function ownerOf(model: SemanticModel, query: SemanticQuery): ModelDataset {
  const roots = query.dimensions.map((dimension) => dimension.split('.')[0] ?? '');
  const failures: UserError[] = [];
  const found: { readonly dataset: ModelDataset; readonly places: readonly ResolvedField[] }[] = [];
  for (const dataset of new Set(roots.flatMap((root) => candidatesFor(model, root)))) {
    try {
      found.push({
        dataset,
        places: query.dimensions.map((dimension) =>
          resolveQueryField({ model, owner: dataset, reach: 'one' }, dimension.split('.')),
        ),
      });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failures.push(error);
    }
  }
  const named = found.filter(({ dataset }) => roots.includes(dataset.name));
  const [first, ...others] = named.length > 0 ? named : found;
  if (first === undefined) throw failures[0] ?? unknownDatasetError(model, roots[0] ?? '');
  if (others.length === 0) return first.dataset;
  const choices = [first, ...others].flatMap(({ places }) =>
    places
      .filter(({ path }) => path.length > 0)
      .slice(0, 1)
      .map(formatFieldPath),
  );
  throw ambiguousError(
    'ambiguous_path',
    `${query.dimensions.join(' and ')} do not say whose rows are meant`,
    choices,
  );
}

/** Datasets in which a dimension's path may begin. */
function candidatesFor(model: SemanticModel, root: string): readonly ModelDataset[] {
  if (root === 'metric_time')
    throw queryError('no_owner', 'metric_time needs a metric', 'Add a metric.');
  const own = model.datasets.get(root);
  return own === undefined
    ? [...model.datasets.values()].filter(({ toOne: steps }) =>
        steps.some((step) => step.name === root),
      )
    : [own];
}

function dimensionColumn({ grain, field }: ResolvedField, name: string, index: number): PlanColumn {
  const isClock = grain === 'second' || grain === 'minute' || grain === 'hour';
  const periodType = isClock ? 'datetime' : 'date';
  const type = grain === undefined ? field?.type : periodType;
  return { name, kind: 'dimension', expr: dimensionResult(index), type, grain, unit: undefined };
}

function metricColumn({ name, expr, trace }: Metric): PlanColumn {
  return {
    name,
    kind: 'metric',
    expr,
    type: undefined,
    grain: undefined,
    unit: trace.metric?.unit,
  };
}
