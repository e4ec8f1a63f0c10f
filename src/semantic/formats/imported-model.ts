import { shortHash } from '../../lib/hash.ts';
import type { Dataset } from '../model/dataset.ts';
import type { SavedQueryFile } from '../query/saved-query.ts';

/** The model of another tool, converted to ktx datasets. */
export interface ImportedModel {
  readonly datasets: readonly Dataset[];
  /** Saved queries, where the tool has some. */
  readonly queries?: readonly SavedQueryDraft[];
  readonly misfits: readonly Misfit[];
}

/**
 * Something that could not be converted exactly: left out, set aside, or with another meaning in
 * the other tool.
 */
export interface Misfit {
  /** Where it stands in the file, in the file's own terms: `metrics.revenue`. */
  readonly at: string;
  readonly message: string;
}

/** What the file of a saved query has; the rest is left at its defaults. */
export type SavedQueryDraft = Pick<SavedQueryFile, 'query' | 'metrics' | 'dimensions' | 'where'> &
  Partial<Pick<SavedQueryFile, 'description' | 'synonyms' | 'limit'>>;

/** Collects a misfit. */
export type AddMisfit = (at: string, message: string) => void;

export type DatasetField = NonNullable<Dataset['fields']>[number];
export type DatasetRelationship = NonNullable<Dataset['relationships']>[number];

/**
 * Turns any name into one that ktx allows. Letters of other scripts are no part of it: its hash
 * keeps two such names apart.
 */
export function toKtxName(name: string): string {
  const folded = name.replaceAll('ß', 'ss').normalize('NFKD');
  const plain = folded.replaceAll(/[^A-Za-z0-9_]+/g, '_');
  const own = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  const hasOtherLetters = /\p{L}/u.test(folded.replaceAll(/[\p{ASCII}\p{M}]/gu, ''));
  return hasOtherLetters ? `${own.replace(/_+$/, '')}_${shortHash(name, 6)}` : own;
}

export function toDatasetName(name: string): string {
  return toKtxName(name).toLowerCase();
}

/** The same names in the same order; a repeated name, in any case, gets a suffix: `_2`, `_3`. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${name}_${count}`;
    taken.add(free.toLowerCase());
    return free;
  });
}

/**
 * Names of metrics in a model that has one namespace for all: a name that two datasets use gets its
 * dataset's name in front.
 */
export function modelWideNames(
  metrics: readonly { readonly dataset: string; readonly name: string }[],
): readonly string[] {
  const byName = Map.groupBy(metrics, ({ name }) => name.toLowerCase());
  return uniqueNames(
    metrics.map(({ dataset, name }) =>
      byName.get(name.toLowerCase())?.length === 1 ? name : `${dataset}_${name}`,
    ),
  );
}
