import { shortHash } from '../../lib/hash.ts';

const longest = 100;

/** Lower case, letters without their accents, everything outside `[a-z0-9_]` as `_`. A name with nothing to keep becomes its hash. */
export function slug(name: string): string {
  const plain = name.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const kept = plain.replaceAll(/[^a-z0-9_]+/g, '_');
  const trimmed = kept === plain ? kept : kept.replaceAll(/^_+|_+$/g, '');
  if (trimmed === '') return `x${shortHash(name, 8)}`;
  return trimmed.length <= longest ? trimmed : `${trimmed.slice(0, longest)}_${shortHash(name, 8)}`;
}

/** One thing to be named: what identifies it, the name that it would like, and whether it has the first right to it. */
export interface NameRequest {
  readonly key: string;
  readonly wish: string;
  readonly exact: boolean;
}

/**
 * A name for every key, unique also where case is ignored. A wish that nobody else has is granted; of several with one wish
 * the exact one gets it and each other gets a suffix from its own key, so that what else exists never changes a name.
 */
export function assignUniqueNames(
  wishes: readonly NameRequest[],
  taken: Iterable<string> = [],
): Map<string, string> {
  const used = new Set([...taken].map((name) => name.toLowerCase()));
  const ordered = wishes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const wishers = Map.groupBy(ordered, ({ wish }) => wish.toLowerCase());
  const granted = new Map<string, string>();
  const denied: NameRequest[] = [];
  for (const [wish, group] of wishers) {
    const rightful = group.length === 1 ? group : group.filter(({ exact }) => exact);
    const winner = rightful.length === 1 && !used.has(wish) ? rightful[0] : undefined;
    if (winner) granted.set(winner.key, winner.wish);
    denied.push(...group.filter((one) => one !== winner));
  }
  for (const name of granted.values()) used.add(name.toLowerCase());
  for (const { key, wish } of denied) {
    const name =
      [6, 12, 64]
        .map((length) => `${wish}_${shortHash(key, length)}`)
        .find((one) => !used.has(one)) ?? wish;
    used.add(name);
    granted.set(key, name);
  }
  return granted;
}
