import type { Dataset } from '../../semantic/model/dataset.ts';
import type { VisibleDataset } from '../../project/answer/visible-datasets.ts';

/** The lists of a dataset file whose entries have names. */
const listKeys = [
  'parameters',
  'fields',
  'row_metrics',
  'conformed_dimensions',
  'segments',
  'metrics',
  'relationships',
] as const;

/**
 * The dataset with only one of its parts and the parts that this one names, directly or through
 * others; undefined if it has no part of that name.
 */
export function narrowToPart(visible: VisibleDataset, name: string): VisibleDataset | undefined {
  const { dataset, contested, stale, unqueryable } = visible;
  const names = namesOfParts(dataset);
  if (!names.has(name)) return undefined;
  const kept = new Set<string>([name]);
  // A set gives what is added while it is walked, too.
  for (const part of kept) for (const used of namesUsedBy(dataset, part, names)) kept.add(used);
  const { dataset: datasetName, source, sql, primary_key, default_time, entity } = dataset;
  const lists = listKeys.map((key) => {
    const entries = dataset[key]?.filter((entry) => kept.has(nameOfPart(entry)));
    return [key, entries?.length === 0 ? undefined : entries];
  });
  const isOfKept = (subject: string) =>
    [...kept].some((part) => subject.endsWith(`.${datasetName}.${part}`));
  const shared = { dataset: datasetName, source, sql, entity, primary_key, default_time };
  return {
    ...visible,
    dataset: { ...shared, ...Object.fromEntries(lists) },
    hidden: 0,
    contested: contested.filter(({ subject }) => isOfKept(subject)),
    stale: new Map([...stale].filter(([subject]) => isOfKept(subject))),
    unqueryable: new Set([...unqueryable].filter((metric) => kept.has(metric))),
  };
}

type Part = NonNullable<Dataset[(typeof listKeys)[number]]>[number];

/** A relationship is called by its role. */
function nameOfPart(part: Part): string {
  return 'to' in part ? (part.role ?? part.to) : part.name;
}

function partsOf(dataset: Dataset): readonly Part[] {
  return listKeys.flatMap((key): readonly Part[] => dataset[key] ?? []);
}

function namesOfParts(dataset: Dataset): ReadonlySet<string> {
  return new Set(partsOf(dataset).map(nameOfPart));
}

/** The names of other parts in the definition of a part, whatever its descriptions say. */
function namesUsedBy(
  dataset: Dataset,
  name: string,
  names: ReadonlySet<string>,
): readonly string[] {
  return partsOf(dataset)
    .filter((part) => nameOfPart(part) === name)
    .flatMap((part) => {
      const definition = { ...part, description: undefined, synonyms: undefined };
      return JSON.stringify(definition).match(/[\p{L}\p{N}_$]+/gu) ?? [];
    })
    .filter((word) => names.has(word));
}
