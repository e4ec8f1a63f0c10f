import type { Finding } from '../../lib/diagnostic.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';

/** What a check found, and whether it would find the same in another model. */
interface CheckResult {
  readonly findings: readonly Finding[];
  readonly holdsIn: (model: SemanticModel, besides: unknown) => boolean;
}

const checkResults = new WeakMap<ModelDataset, CheckResult>();

/**
 * What `check` finds of a dataset: found once, and again where a dataset that the check asked the model for is another one by
 * now. `besides` is all that it looks at beside dataset and model.
 */
export function cachedFindings(
  dataset: ModelDataset,
  { model, besides }: { readonly model: SemanticModel; readonly besides: unknown },
  check: (model: SemanticModel) => readonly Finding[],
): readonly Finding[] {
  const known = checkResults.get(dataset);
  if (known?.holdsIn(model, besides) === true) return known.findings;
  const watched = recordLookups(model);
  const findings = check(watched.model);
  checkResults.set(dataset, {
    findings,
    holdsIn: (now, also) => also === besides && watched.wouldSee(now),
  });
  return findings;
}

/** The model, and what was asked of it. */
function recordLookups(model: SemanticModel) {
  const { datasets, excluded, ...rest } = model;
  const [asked, left] = [new Map<string, ModelDataset | undefined>(), new Map<string, boolean>()];
  let isListed = false;
  const ask = (name: string) => {
    const dataset = datasets.get(name);
    asked.set(name, dataset);
    return dataset;
  };
  const listed = <T>(value: T): T => {
    isListed = true;
    return value;
  };
  const watchedDatasets: SemanticModel['datasets'] = {
    get: ask,
    has: (name) => ask(name) !== undefined,
    keys: () => listed(datasets.keys()),
    values: () => listed(datasets.values()),
    entries: () => listed(datasets.entries()),
    forEach: (run) => listed(datasets).forEach(run),
    get size() {
      return listed(datasets.size);
    },
    [Symbol.iterator]: () => listed(datasets[Symbol.iterator]()),
  };
  const has = (name: string) => {
    left.set(name, excluded.has(name));
    return excluded.has(name);
  };
  const wouldSee = (now: SemanticModel) =>
    (!isListed || now.datasets === datasets) &&
    Object.entries(rest).every(([key, value]) => now[key as keyof typeof rest] === value) &&
    [...asked].every(([name, dataset]) => now.datasets.get(name) === dataset) &&
    [...left].every(([name, was]) => now.excluded.has(name) === was);
  return {
    model: {
      ...rest,
      datasets: watchedDatasets,
      excluded: Object.assign(new Set(excluded), { has }),
    },
    wouldSee,
  };
}
