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
}

/**
 * A name for every key, unique even if case is ignored. Among several requests with one wish the
 * exact one gets it, and every other gets a suffix from its own key. So a name never depends on
 * which other things exist.
 */
export function assignUniqueNames(
  requests: readonly NameRequest[],
  taken: Iterable<string> = [],
): Map<string, string> {
  const used = new Set([...taken].map((name) => name.toLowerCase()));
  const ordered = requests.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const byWish = Map.groupBy(ordered, ({ wish }) => wish.toLowerCase());
  const names = new Map<string, string>();
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
