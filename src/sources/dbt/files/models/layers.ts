import { stepOf, isMartName } from '../../../../sql/names/table-layer.ts';
import type { DatasetLayer } from '../../../../semantic/model/dataset.ts';

/** What tells the layer of a model. */
interface ModelPlace {
  readonly name: string;
  /** From the outermost to the innermost. */
  readonly folders: readonly string[];
  readonly tags: readonly string[];
}

const layerWords: ReadonlyMap<string, DatasetLayer> = new Map([
  ['raw', 'raw'],
  ['bronze', 'raw'],
  ['staging', 'staging'],
  ['stage', 'staging'],
  ['stg', 'staging'],
  ['base', 'staging'],
  ['intermediate', 'intermediate'],
  ['int', 'intermediate'],
  ['prep', 'intermediate'],
  ['silver', 'intermediate'],
  ['mart', 'mart'],
  ['marts', 'mart'],
  ['reporting', 'mart'],
  ['reports', 'mart'],
  ['gold', 'mart'],
]);

/** The layer that the innermost folder, a tag or the name of a model tells. */
export function namedLayer({ name, folders, tags }: ModelPlace): DatasetLayer | undefined {
  const words = [...folders.toReversed(), ...tags, stepOf(name)];
  const layers = words.flatMap((word) => layerWords.get(word.toLowerCase()) ?? []);
  return layers[0] ?? (isMartName(name) ? 'mart' : undefined);
}

/** The place of a model between the other relations of its project. */
interface GraphPlace {
  readonly readsSources: boolean;
  readonly readsModels: boolean;
  /** Whether another model reads it. */
  readonly isRead: boolean;
  /** Whether a semantic model or an exposure is made of it. */
  readonly isAsked: boolean;
}

/**
 * The layer that its place tells: what people ask or nothing reads is a mart; what stands between
 * sources and other models is staging. Between models, it may be either.
 */
export function layerInGraph({
  readsSources,
  readsModels,
  isRead,
  isAsked,
}: GraphPlace): DatasetLayer | undefined {
  if (isAsked) return 'mart';
  if (!isRead) return readsModels ? 'mart' : undefined;
  return readsSources && !readsModels ? 'staging' : undefined;
}
