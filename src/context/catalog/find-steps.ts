import { stepOfTable, withoutStep } from '../../sql/names/table-layer.ts';
import { type Dataset, type DatasetLayer, splitTableName } from '../../semantic/model/dataset.ts';
import type { ModelDataset } from '../../semantic/model/model.ts';

/** What tells whether people ask a dataset, or only what is made of it. */
interface ListedDataset {
  readonly name: string;
  readonly layer: DatasetLayer | undefined;
  /** The name of its table, after those of its catalog and schema. */
  readonly tableName: readonly string[];
  readonly fields: readonly string[];
  /** True if it has more than the number of its rows and what only names suggest. */
  readonly hasOwnMetric: boolean;
}

/**
 * The names of raw, staging and intermediate datasets that nobody asks: lists leave them out unless
 * somebody wants all. Where marts are declared, these are all datasets that are declared as a step
 * before them. Without that, they are those whose fields a later dataset of the same things has.
 * One with a metric that somebody defined is never among them.
 */
export function findSteps(datasets: readonly ListedDataset[]): ReadonlySet<string> {
  const hasMarts = datasets.some(({ layer }) => layer === 'mart');
  const laterFields = new Map<string, Set<string>>();
  for (const dataset of datasets.filter((each) => !isStep(each))) {
    const known = laterFields.get(thingsOf(dataset)) ?? new Set();
    laterFields.set(thingsOf(dataset), known.union(new Set(lowerCase(dataset.fields))));
  }
  const isRepeated = (dataset: ListedDataset) => {
    const later = laterFields.get(thingsOf(dataset));
    return dataset.fields.length > 0 && lowerCase(dataset.fields).every((name) => later?.has(name));
  };
  const isLeftOut = (dataset: ListedDataset) =>
    isStep(dataset) &&
    !dataset.hasOwnMetric &&
    ((hasMarts && dataset.layer !== undefined) || isRepeated(dataset));
  return new Set(datasets.filter(isLeftOut).map(({ name }) => name));
}

/**
 * True for what stands before the datasets that people ask: by what its file says, else by the name
 * of its table or schema.
 */
export function isStep({ layer, tableName }: ListedDataset): boolean {
  if (layer !== undefined) return layer !== 'mart';
  return !['', 'mart'].includes(stepOfTable(tableName.toReversed()));
}

function thingsOf({ tableName }: ListedDataset): string {
  return withoutStep(tableName.at(-1) ?? '');
}

function lowerCase(names: readonly string[]): readonly string[] {
  return names.map((name) => name.toLowerCase());
}

/** The dataset as its file has it. */
export function listedFile(file: Dataset): ListedDataset {
  const { dataset: name, source = '', layer, fields = [], metrics = [] } = file;
  return {
    name,
    layer,
    tableName: splitTableName(source) ?? [name],
    fields: fields.map((field) => field.name),
    hasOwnMetric: metrics.some(
      ({ agg, of, where, unreviewed }) =>
        unreviewed !== true && (agg !== 'count' || of !== undefined || where !== undefined),
    ),
  };
}

/** The dataset as the semantic model has it. */
export function listedDataset({
  name,
  layer,
  relation,
  fields,
  metrics,
}: ModelDataset): ListedDataset {
  return {
    name,
    layer,
    tableName: relation.kind === 'table' ? relation.parts : [name],
    fields: [...fields.keys()],
    hasOwnMetric: [...metrics.values()].some(
      ({ unreviewed, definition, where }) =>
        unreviewed !== true &&
        (definition.kind !== 'aggregate' ||
          definition.function !== 'count' ||
          definition.of !== undefined ||
          where !== undefined),
    ),
  };
}
