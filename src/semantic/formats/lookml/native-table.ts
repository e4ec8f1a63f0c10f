import { errorMessage, UserError } from '../../../lib/error.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { emit } from '../../emit/emit.ts';
import { buildModel } from '../../load/load.ts';
import type { Dataset } from '../../model/dataset.ts';
import { grains } from '../../model/grains.ts';
import { createPlanToTry } from '../../plan/plan.ts';
import { querySchema } from '../../query/query.ts';
import { toDatasetName, toKtxName } from '../imported-model.ts';
import { resolveLiquid, type LiquidParameter } from './liquid.ts';
import { blocksWithKey, type LookmlBlock, textProperty } from './parse.ts';
import { exploreView, filterKeys, type ReadJoin } from './read-joins.ts';
import type { AddLookmlFault } from './read.ts';
import type { LookmlProject } from './resolve-project.ts';
import { translateFilters } from './translate-filters.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';
import { splitTimeframe, type ViewNames } from './view-names.ts';

interface NativeTableContext {
  readonly project: Pick<LookmlProject, 'views' | 'explores'>;
  readonly views: ReadonlyMap<string, ViewNames>;
  readonly parameters: ReadonlyMap<string, LiquidParameter>;
  readonly joins: readonly ReadJoin[];
  readonly addFault: AddLookmlFault;
  readonly dialect: Dialect;
}

/** The query over an explore that a view is made of; undefined for other views. */
export function nativeSource(view: LookmlBlock): LookmlBlock | undefined {
  const [derived] = blocksWithKey(view.value, 'derived_table');
  return blocksWithKey(derived?.value ?? [], 'explore_source')[0];
}

/** Views over explores over such views; people have two or three. */
const longestChain = 10;

/**
 * Writes the query of each view that Looker builds from an explore as the SQL that ktx makes of it.
 * A note names the views whose query means something else in ktx.
 */
export function readNativeTables(
  datasets: readonly Dataset[],
  context: NativeTableContext,
): readonly Dataset[] {
  const known = new Map(datasets.map((dataset) => [dataset.dataset, dataset]));
  let open = context.project.views.filter(
    (view) => nativeSource(view) !== undefined && known.has(toDatasetName(view.name)),
  );
  const reasons = new Map<LookmlBlock, string>();
  for (let pass = 0; pass < longestChain && open.length > 0; pass += 1) {
    const readable = new Map([...known].filter(([, dataset]) => hasRows(dataset)));
    const left = open.filter((view) => {
      const result = tryReadNative(view, readable, context);
      const own = known.get(toDatasetName(view.name));
      if ('reason' in result) reasons.set(view, result.reason);
      else if (own !== undefined) known.set(own.dataset, { ...own, sql: result.sql });
      return 'reason' in result;
    });
    if (left.length === open.length) break;
    open = left;
  }
  for (const view of open)
    context.addFault(
      `view ${view.name}`,
      `its table cannot be read, ${reasons.get(view)}: set source or sql in the dataset file`,
      view.place,
    );
  return [...known.values()];
}

function hasRows({ source, sql }: Dataset): boolean {
  return source !== undefined || sql !== undefined;
}

function tryReadNative(
  view: LookmlBlock,
  datasets: ReadonlyMap<string, Dataset>,
  context: NativeTableContext,
): { readonly sql: string } | { readonly reason: string } {
  try {
    return { sql: nativeSql(view, datasets, context) };
  } catch (error) {
    if (error instanceof UnreadableLookml) return { reason: error.message };
    if (error instanceof UserError) return { reason: `ktx cannot plan it: ${errorMessage(error)}` };
    throw error;
  }
}

/** Keys of a query over an explore that do not change its rows. */
const readKeys = ['column', 'derived_column', 'filters', 'filter', 'sorts', 'sort', 'timezone'];

function nativeSql(
  view: LookmlBlock,
  datasets: ReadonlyMap<string, Dataset>,
  context: NativeTableContext,
): string {
  const source = nativeSource(view);
  const explore = context.project.explores.find(({ name }) => name === source?.name);
  if (source === undefined || explore === undefined)
    throw new UnreadableLookml(`there is no explore ${source?.name} in these files`);
  const unread = source.value.find(({ key }) => !readKeys.includes(key));
  if (unread !== undefined) throw new UnreadableLookml(`its query has ${unread.key}`);
  const filter = explore.value.find(({ key }) => filterKeys.includes(key) || key === 'always_join');
  if (filter !== undefined)
    throw new UnreadableLookml(`the explore ${explore.name} has ${filter.key}`);
  const native = { view, explore, source, datasets, context };
  const fields = new Map(
    blocksWithKey(source.value, 'column').map((column) => [
      column.name,
      findField(textProperty(column, 'field') ?? `${baseScope(explore)}.${column.name}`, native),
    ]),
  );
  if (fields.size === 0) throw new UnreadableLookml('its query has no column');
  return withDerived(columnsSql(fields, native), [...fields.keys()], native);
}

interface NativeQuery {
  readonly view: LookmlBlock;
  readonly explore: LookmlBlock;
  readonly source: LookmlBlock;
  readonly datasets: ReadonlyMap<string, Dataset>;
  readonly context: NativeTableContext;
}

/** What the fields of the explore's own view have in front. */
function baseScope(explore: LookmlBlock): string {
  if (textProperty(explore, 'from') !== undefined) return explore.name;
  return textProperty(explore, 'view_name') ?? explore.name;
}

interface NativeField {
  readonly kind: 'metric' | 'dimension';
  /** As a query of ktx names it. */
  readonly name: string;
  readonly dataset: string;
}

function findField(written: string, native: NativeQuery): NativeField {
  const { explore, context } = native;
  const [scope = '', name = ''] = written.split('.');
  const isOwn = scope === baseScope(explore);
  const { path, view } = isOwn ? ownPath(native) : joinedPath(scope, native);
  const dataset = native.datasets.get(toDatasetName(view));
  if (dataset === undefined) throw new UnreadableLookml(`the view ${view} has no table`);
  const ktxName = toKtxName(name);
  if (dataset.metrics?.some((metric) => metric.name === ktxName) === true) {
    // Looker keeps the rows of the explore without a match, and ktx asks the metric of its own.
    if (!isOwn) throw new UnreadableLookml(`${written} is a measure of a joined view`);
    return { kind: 'metric', name: `${path}.${ktxName}`, dataset: dataset.dataset };
  }
  const has = (field: string) => dataset.fields?.some((own) => own.name === field) === true;
  if (has(ktxName))
    return { kind: 'dimension', name: `${path}.${ktxName}`, dataset: dataset.dataset };
  const time = splitTimeframe(name, context.views.get(view)?.members ?? new Map());
  const period = time && periods.get(time.timeframe);
  if (time === undefined || period === undefined || !has(toKtxName(time.group)))
    throw new UnreadableLookml(`ktx has no ${written}`);
  const field = `${path}.${toKtxName(time.group)}${period}`;
  return { kind: 'dimension', name: field, dataset: dataset.dataset };
}

const periods: ReadonlyMap<string, string> = new Map([
  ['raw', ''],
  ['time', ''],
  ['date', '.day'],
  ...grains.map((grain) => [grain, `.${grain}`] as const),
]);

function ownPath({ explore }: NativeQuery): { readonly path: string; readonly view: string } {
  const view = exploreView(explore);
  return { path: toDatasetName(view), view };
}

function joinedPath(
  scope: string,
  native: NativeQuery,
): { readonly path: string; readonly view: string } {
  const { explore, context } = native;
  const base = ownPath(native);
  const join = context.joins.find(({ at }) => at === `explore ${explore.name}.${scope}`);
  const block = blocksWithKey(explore.value, 'join').find(({ name }) => name === scope);
  if (join === undefined || block === undefined)
    throw new UnreadableLookml(`ktx has no join ${scope} of the explore ${explore.name}`);
  if (join.alias !== scope || join.from !== base.view)
    throw new UnreadableLookml(`${scope} is not joined to one row of ${base.view}`);
  const isRestricted =
    (textProperty(block, 'type') ?? 'left_outer') !== 'left_outer' ||
    textProperty(block, 'sql_where') !== undefined;
  if (isRestricted) throw new UnreadableLookml(`the join ${scope} drops rows`);
  const isAlsoJoined = blocksWithKey(explore.value, 'join').some(
    ({ name, value }) => (textFrom(value) ?? name) === base.view,
  );
  if (isAlsoJoined) throw new UnreadableLookml(`${base.view} is joined to itself`);
  const { role, to } = join.relationship;
  return { path: `${base.path}.${role ?? to}`, view: join.to };
}

function textFrom(members: LookmlBlock['value']): string | undefined {
  const value = members.findLast(({ key }) => key === 'from')?.value;
  return typeof value === 'string' ? value : undefined;
}

/** Names that only the query has. */
const rowsName = 'ktx_rows';
const segmentName = 'ktx_filter';

/** The query, with the columns as the view calls them. */
function columnsSql(fields: ReadonlyMap<string, NativeField>, native: NativeQuery): string {
  const { context, datasets, source } = native;
  const { path, view } = ownPath(native);
  const where = filtersSql(source, view, native);
  const used = [path, ...[...fields.values()].map(({ dataset }) => dataset)];
  const extended = [...new Set(used)].flatMap((name): readonly Dataset[] => {
    const dataset = datasets.get(name);
    if (dataset === undefined) return [];
    if (name !== path) return [{ ...dataset, relationships: [] }];
    const metrics = [...(dataset.metrics ?? []), { name: rowsName, agg: 'count' as const }];
    const relationships = dataset.relationships?.filter(({ to }) => used.includes(to)) ?? [];
    const segments = where === undefined ? [] : [{ name: segmentName, where }];
    return [{ ...dataset, metrics, relationships, segments }];
  });
  const names = (kind: NativeField['kind']) => [
    ...new Set([...fields.values()].flatMap((field) => (field.kind === kind ? field.name : []))),
  ];
  const query = querySchema.parse({
    // With a count of rows, a group stands whatever its other metrics say.
    metrics: [...names('metric'), `${path}.${rowsName}`],
    dimensions: names('dimension'),
    segments: where === undefined ? [] : [`${path}.${segmentName}`],
  });
  const plan = createPlanToTry(buildModel(context.dialect, extended), query);
  const { dialect } = context;
  const items = [...fields].map(([column, { name }]) => {
    const index = plan.columns.findIndex((planned) => planned.name === name);
    return `${dialect.quote(dialect.resultColumn(name, index))} AS ${columnName(column, dialect)}`;
  });
  return `SELECT ${items.join(', ')} FROM (\n${emit({ ...plan, order: [] }, dialect)}\n) AS ktx_native`;
}

function columnName(name: string, dialect: Dialect): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : dialect.quote(name);
}

function filtersSql(
  source: LookmlBlock,
  view: string,
  { explore, context }: NativeQuery,
): string | undefined {
  const names = context.views.get(view);
  const hasFilters = source.value.some(({ key }) => key === 'filters' || key === 'filter');
  if (!hasFilters || names === undefined) return undefined;
  if (baseScope(explore) !== view)
    throw new UnreadableLookml(`its filters are on ${baseScope(explore)}, another name of ${view}`);
  const { parameters, dialect } = context;
  return translateFilters(source, {
    names,
    parameters,
    dialect,
    own: '',
    addNote: () => undefined,
  });
}

/** Columns over the rows of the query, such as ranks. */
function withDerived(
  sql: string,
  columns: readonly string[],
  { view, source, context }: NativeQuery,
): string {
  const derived = blocksWithKey(source.value, 'derived_column');
  if (derived.length === 0) return sql;
  const { dialect, parameters, addFault } = context;
  const addNote = (note: string) => addFault(`view ${view.name}`, `its table: ${note}`, view.place);
  const items = derived.map((column) => {
    const written = textProperty(column, 'sql');
    if (written === undefined) throw new UnreadableLookml(`${column.name} has no sql`);
    const text = resolveLiquid(written, { parameters, dialect, addNote });
    if (/[$@]\{/.test(text)) throw new UnreadableLookml(`${column.name} uses other fields`);
    return `${text.trim()} AS ${columnName(column.name, dialect)}`;
  });
  const own = columns.map((column) => columnName(column, dialect));
  return `SELECT ${[...own, ...items].join(', ')} FROM (\n${sql}\n) AS ktx_rows`;
}
