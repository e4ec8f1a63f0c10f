import { shortHash } from '../../lib/hash.ts';
import { plainLetters } from '../../lib/patterns/plain-letters.ts';

const maximumLength = 100;

/**
 * The name in lower case, without accents (`ß` is `ss`), with `_` for every run of characters
 * outside `[a-z0-9_]`. A name of which nothing is left becomes its hash.
 */
export function slug(name: string): string {
  const folded = plainLetters(name.toLowerCase());
  const replaced = folded.replaceAll(/[^a-z0-9_]+/g, '_');
  const trimmed = replaced === folded ? replaced : replaced.replaceAll(/^_+|_+$/g, '');
  if (trimmed === '') return `x${shortHash(name, 8)}`;
  return trimmed.length <= maximumLength
    ? trimmed
    : `${trimmed.slice(0, maximumLength)}_${shortHash(name, 8)}`;
}

/** Something that needs a name. */
export interface NameRequest {
  /** What identifies it. */
  readonly key: string;
  readonly wish: string;
  /** True if it has the first right to its wish. */
  readonly exact: boolean;
  /** The name that it has already. */
  readonly recorded?: string | undefined;
}

/**
 * A name for every key, unique even if case is ignored. Recorded names come first. Among several
 * requests with one wish the exact one gets it, and every other gets a suffix from its own key.
 */
export function assignUniqueNames(
  requests: readonly NameRequest[],
  taken: Iterable<string> = [],
): Map<string, string> {
  const used = new Set([...taken].map((name) => name.toLowerCase()));
  const names = new Map<string, string>();
  const ordered = requests.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  for (const { key, recorded } of ordered) {
    if (recorded === undefined || used.has(recorded.toLowerCase())) continue;
    used.add(recorded.toLowerCase());
    names.set(key, recorded);
  }
  const unnamed = ordered.filter(({ key }) => !names.has(key));
  const byWish = Map.groupBy(unnamed, ({ wish }) => wish.toLowerCase());
  const denied: NameRequest[] = [];
  for (const [wish, group] of byWish) {
    const entitled = group.length === 1 ? group : group.filter(({ exact }) => exact);
    const winner = entitled.length === 1 && !used.has(wish) ? entitled[0] : undefined;
    if (winner) names.set(winner.key, winner.wish);
    denied.push(...group.filter((request) => request !== winner));
  }
  for (const name of names.values()) used.add(name.toLowerCase());
  for (const { key, wish } of denied) {
    const candidates = [6, 12, 64].map((length) => `${wish}_${shortHash(key, length)}`);
    const name = candidates.find((candidate) => !used.has(candidate)) ?? wish;
    used.add(name);
    names.set(key, name);
  }
  return names;
}
