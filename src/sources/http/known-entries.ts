import { z } from 'zod';
import { formatCount } from '../../lib/format-count.ts';

/**
 * A list of an answer. An entry in a form that ktx does not know is undefined and costs none of the
 * others.
 */
export function entriesOf<Entry extends z.ZodType>(entry: Entry) {
  return z.array(entry.optional().catch(undefined));
}

/**
 * The entries that are known. The others are a gap: they may be anything, so that nothing is gone
 * because it is not among those that are known.
 */
export function knownEntries<Entry>(
  entries: readonly (Entry | undefined)[],
  { what, gaps }: { readonly what: string; readonly gaps: string[] },
): readonly Entry[] {
  const known = entries.filter((entry) => entry !== undefined);
  const odd = entries.length - known.length;
  if (odd > 0)
    gaps.push(`${what} has ${formatCount(odd, 'object')} in a form that ktx does not know`);
  return known;
}
