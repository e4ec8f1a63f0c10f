import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import type { MetricDefinition } from '../../model/metric-definition.ts';
import {
  type DatasetField,
  type DatasetRelationship,
  type ImportedModel,
  type Misfit,
  toDatasetName,
  toKtxName,
} from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import type { LiquidParameter } from './liquid.ts';
import { blocksWithKey, type LookmlBlock, type LookmlPlace, textProperty } from './parse.ts';
import { readNativeTables } from './native-table.ts';
import { readDimension, type FieldContext } from './read-dimension.ts';
import { readJoins, type ReadJoin } from './read-joins.ts';
import { readMeasure } from './read-measure.ts';
import { readTable, type LookmlTableContext } from './read-table.ts';
import { type LookmlFile, type LookmlProject, resolveProject } from './resolve-project.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';
import { readViewNames, type ViewNames } from './view-names.ts';

export interface LookmlModel extends ImportedModel {
  readonly misfits: readonly LookmlMisfit[];
  /** Where each dataset and each part of one stands: `orders`, `orders.status`. */
  readonly places: ReadonlyMap<string, LookmlPlace>;
  readonly joins: readonly ReadJoin[];
  readonly project: LookmlProject;
}

interface LookmlMisfit extends Misfit {
  readonly place: LookmlPlace;
}

interface LookmlReadOptions {
  readonly dialect: Dialect;
  /** Values that win over those of the manifest. */
  readonly constants?: Readonly<Record<string, string>> | undefined;
}

interface LookmlReadContext {
  readonly views: ReadonlyMap<string, ViewNames>;
  readonly parameters: ReadonlyMap<string, LiquidParameter>;
  readonly joins: readonly ReadJoin[];
  readonly places: Map<string, LookmlPlace>;
  readonly addFault: AddLookmlFault;
  readonly dialect: Dialect;
}

export type AddLookmlFault = (at: string, message: string, place: LookmlPlace) => void;

/** Reads the views and explores of all LookML files together. Runs inside `withAnalyzer`. */
export function readLookml(
  files: readonly LookmlFile[],
  { dialect, constants }: LookmlReadOptions,
): LookmlModel {
  const misfits: LookmlMisfit[] = [];
  const addFault: AddLookmlFault = (at, message, place) =>
    void misfits.push({ at: `${place.file}:${place.line}: ${at}`, message, place });
  const project = resolveProject(files, {
    constants,
    addFault: ({ key, name, place }, message) =>
      addFault([key, name].join(' ').trim(), message, place),
  });
  const unread = project.others.filter((entry) => !silentKeys.includes(entry.key));
  for (const { key, name, place } of unread)
    addFault([key, name].join(' ').trim(), 'not read: ktx has no equivalent', place);
  const views = new Map(project.views.map((view) => [view.name, readViewNames(view, dialect)]));
  const parameters = new Map(
    [...views.values()].flatMap((view) =>
      view.parameters.flatMap((parameter) => [
        [`${view.view}.${parameter.name}`, parameter] as const,
      ]),
    ),
  );
  const joins = readJoins(project, { views, addFault, dialect });
  const places = new Map<string, LookmlPlace>();
  const context = { views, parameters, joins, places, addFault, dialect };
  const blocks = new Map(project.views.map((view) => [view.name, view]));
  const tables: LookmlTableContext = { views: blocks, parameters, addFault, dialect };
  const datasets = project.views.flatMap((view) => readDataset(view, context, tables));
  const joined = withJoins(datasets, context);
  const native = readNativeTables(joined, { ...context, project });
  return { datasets: native, misfits, places, joins, project };
}

const silentKeys = [
  'include',
  'connection',
  'label',
  'project_name',
  'persist_for',
  'week_start_day',
];

function readDataset(
  view: LookmlBlock,
  context: LookmlReadContext,
  tables: LookmlTableContext,
): Dataset[] {
  const { data, problems } = checkSchema(datasetSchema, readView(view, context, tables));
  if (data !== undefined) return [data];
  const message = `left out: ${problems.map(problemText).join('; ')}`;
  context.addFault(`view ${view.name}`, message, view.place);
  return [];
}

const viewKeys = [
  'label',
  'description',
  'sql_table_name',
  'derived_table',
  'dimension',
  'dimension_group',
  'measure',
  'parameter',
  'extends',
  'extends__all',
  'extension',
  'hidden',
];
/** Keys that only change how Looker shows something. */
const displayKeys = [
  'drill_fields',
  'html',
  'link',
  'action',
  'group_label',
  'group_item_label',
  'view_label',
  'label_from_parameter',
  'order_by_field',
  'style',
  'map_layer_name',
  'suggestions',
  'suggestable',
  'suggest_dimension',
  'suggest_explore',
  'suggest_persist_for',
  'full_suggestions',
  'bypass_suggest_restrictions',
  'alpha_sort',
  'can_filter',
  'skip_drill_filter',
  'allow_fill',
  'value_format',
  'value_format_name',
  'tags',
  'set',
  'filter',
  'description',
  'label',
  'hidden',
  'alias',
  'fields_hidden_by_default',
  'suggestions_only',
];

function readView(
  view: LookmlBlock,
  context: LookmlReadContext,
  tables: LookmlTableContext,
): Dataset {
  const at = `view ${view.name}`;
  sayUnread(view, viewKeys, (message) => context.addFault(at, message, view.place));
  const names = context.views.get(view.name) ?? readViewNames(view, context.dialect);
  const dataset = toDatasetName(view.name);
  context.places.set(dataset, view.place);
  const readMembers = <Item extends { readonly name: string }>(
    blocks: readonly LookmlBlock[],
    read: (block: LookmlBlock, fieldContext: FieldContext) => readonly Item[],
  ) => {
    const taken = new Set<string>();
    const items = blocks.flatMap((block) => {
      const found = readOrLeaveOut(block, { ...context, names }, read).filter(({ name }) => {
        const isFree = !taken.has(name.toLowerCase());
        if (!isFree) context.addFault(`${at}.${name}`, `left out: ${sameName}`, block.place);
        taken.add(name.toLowerCase());
        return isFree;
      });
      for (const { name } of found) context.places.set(`${dataset}.${name}`, block.place);
      return found;
    });
    return items.length === 0 ? undefined : items;
  };
  const dimensions = [
    ...blocksWithKey(view.value, 'dimension'),
    ...blocksWithKey(view.value, 'dimension_group'),
  ];
  const read = readMembers<DatasetField>(dimensions, readDimension) ?? [];
  const measures = blocksWithKey(view.value, 'measure');
  const helpers: DatasetField[] = [];
  const metrics = readMembers<MetricDefinition>(measures, (block, one) => [
    readMeasure(block, { ...one, addField: (field) => void helpers.push(field) }),
  ]);
  const fields = read.length + helpers.length === 0 ? undefined : [...read, ...helpers];
  const readFields = new Set(read.map(({ name }) => name));
  const key = names.primaryKey.map(toKtxName);
  const label = textProperty(view, 'label');
  return {
    dataset,
    ...omitKeys({
      ...readTable(view, tables),
      description: textProperty(view, 'description'),
      synonyms: label === undefined ? undefined : [label],
      primary_key: key.length > 0 && key.every((name) => readFields.has(name)) ? key : undefined,
      fields,
      metrics,
    }),
  };
}

const sameName = 'another field of the view has its name';

function readOrLeaveOut<Item>(
  block: LookmlBlock,
  context: LookmlReadContext & { readonly names: ViewNames },
  read: (block: LookmlBlock, fieldContext: FieldContext) => readonly Item[],
): readonly Item[] {
  const { names, parameters, addFault } = context;
  const at = `view ${names.view}.${block.name}`;
  const addNote = (note: string) => addFault(at, note, block.place);
  const own = names.parameters.map((parameter) => [parameter.name, parameter] as const);
  try {
    if (names.members.get(block.name)?.block !== block) throw new UnreadableLookml(sameName);
    return read(block, {
      ...context,
      own: block.name,
      parameters: new Map([...parameters, ...own]),
      addNote,
      addField: () => undefined,
      sayUnread: (member, readKeys) => sayUnread(member, readKeys, addNote),
    });
  } catch (error) {
    if (!(error instanceof UnreadableLookml)) throw error;
    addNote(`left out: ${error.message}`);
    return [];
  }
}

function sayUnread(
  { value }: LookmlBlock,
  readKeys: readonly string[],
  addMessage: (message: string) => void,
): void {
  const known = new Set([...readKeys, ...displayKeys]);
  const unread = [...new Set(value.map(({ key }) => key))].filter((key) => !known.has(key));
  if (unread.length > 0) addMessage(`not read: ${unread.join(', ')}`);
}

/** Adds the joins whose fields are there. */
function withJoins(
  datasets: readonly Dataset[],
  { joins, addFault }: LookmlReadContext,
): readonly Dataset[] {
  const fields = new Map(
    datasets.map(({ dataset, fields: own }) => [dataset, new Set(own?.map(({ name }) => name))]),
  );
  const missing = ({ from, relationship: { to, on } }: ReadJoin) =>
    typeof on === 'string'
      ? undefined
      : Object.entries(on)
          .flatMap(([own, other]) => [
            [toDatasetName(from), own],
            [to, other],
          ])
          .find(([dataset = '', field = '']) => fields.get(dataset)?.has(field) !== true);
  const readable = joins.filter((join) => {
    const lost = missing(join);
    if (lost !== undefined)
      addFault(join.at, `left out: its field ${lost.join('.')} is left out`, join.place);
    return lost === undefined;
  });
  return datasets.map((dataset) => {
    const own = readable.filter(({ from }) => toDatasetName(from) === dataset.dataset);
    const unique = new Map(
      own.map(({ relationship }) => [JSON.stringify(relationship), relationship]),
    );
    const relationships: readonly DatasetRelationship[] = [...unique.values()];
    return relationships.length === 0 ? dataset : { ...dataset, relationships: [...relationships] };
  });
}
