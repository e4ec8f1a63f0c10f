import type { Finding } from '../../lib/diagnostic.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';

interface CheckResult {
  readonly findings: readonly Finding[];
  /** True if the check would find the same with this model and input. */
  readonly holdsFor: (model: SemanticModel, input: unknown) => boolean;
}

const checkResults = new WeakMap<ModelDataset, CheckResult>();

/**
 * The findings of `check` about a dataset. They are computed again only if `input`, or something
 * that the check looked up in the model, is another object than the last time. `input` is all that
 * the check reads besides dataset and model.
 */
export function cachedFindings(
  dataset: ModelDataset,
  { model, input }: { readonly model: SemanticModel; readonly input: unknown },
  check: (model: SemanticModel) => readonly Finding[],
): readonly Finding[] {
  const cached = checkResults.get(dataset);
  if (cached?.holdsFor(model, input) === true) return cached.findings;
  const recorded = recordLookups(model);
  const findings = check(recorded.model);
  checkResults.set(dataset, {
    findings,
    holdsFor: (nextModel, nextInput) => nextInput === input && recorded.isSameFor(nextModel),
  });
  return findings;
}

/**
 * A model that records what is looked up in it, and a test whether another model would answer the
 * same.
 */
function recordLookups(model: SemanticModel) {
  const { datasets, excluded, ...rest } = model;
  const lookedUp = new Map<string, ModelDataset | undefined>();
  const askedExcluded = new Map<string, boolean>();
  let isListed = false;
  const get = (name: string) => {
    const dataset = datasets.get(name);
    lookedUp.set(name, dataset);
    return dataset;
  };
  const recordListing = <T>(value: T): T => {
    isListed = true;
    return value;
  };
  const recordingDatasets: SemanticModel['datasets'] = {
    get,
    has: (name) => get(name) !== undefined,
    keys: () => recordListing(datasets.keys()),
    values: () => recordListing(datasets.values()),
    entries: () => recordListing(datasets.entries()),
    forEach: (run) => recordListing(datasets).forEach(run),
    get size() {
      return recordListing(datasets.size);
    },
    [Symbol.iterator]: () => recordListing(datasets[Symbol.iterator]()),
  };
  const has = (name: string) => {
    askedExcluded.set(name, excluded.has(name));
    return excluded.has(name);
  };
  const isSameFor = (next: SemanticModel) =>
    (!isListed || next.datasets === datasets) &&
    Object.entries(rest).every(([key, value]) => next[key as keyof typeof rest] === value) &&
    [...lookedUp].every(([name, dataset]) => next.datasets.get(name) === dataset) &&
    [...askedExcluded].every(([name, was]) => next.excluded.has(name) === was);
  return {
    model: {
      ...rest,
      datasets: recordingDatasets,
      excluded: Object.assign(new Set(excluded), { has }),
    },
    isSameFor,
  };
}
