import type { Dataset } from '../model/dataset.ts';

/** Another tool's model in ktx's words. */
export interface ImportedModel {
  readonly datasets: readonly Dataset[];
  readonly misfits: readonly Misfit[];
}

/** Something that did not fit: left out, kept aside, or meant otherwise over there. */
export interface Misfit {
  /** In the words of the file: `metrics.revenue`. */
  readonly at: string;
  readonly message: string;
}

export type DatasetField = NonNullable<Dataset['fields']>[number];
export type DatasetRelationship = NonNullable<Dataset['relationships']>[number];

/** A name that ktx allows, for any that a tool has. */
export function toKtxName(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/[^A-Za-z0-9_]+/g, '_');
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
}

export function toDatasetName(name: string): string {
  return toKtxName(name).toLowerCase();
}

/** The names, each told apart from those before it in any case. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${name}_${count}`;
    taken.add(free.toLowerCase());
    return free;
  });
}
