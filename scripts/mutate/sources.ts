import type { Mutant } from './mutant.ts';

const http = ['sources/http.test.ts'];
const metabase = ['sources/metabase.test.ts'];

/** The client of sources behind an API, and what Metabase says. */
export const sourceMutants: readonly Mutant[] = [
  {
    name: 'http-private-name',
    file: 'sources/http/private-address.ts',
    find: 'if (refused !== undefined) return',
    replace: 'if (addresses.length > 99 && refused !== undefined) return',
    why: 'A name that leads to a private address is asked.',
    tests: http,
  },
  {
    name: 'http-private-mapped',
    file: 'sources/http/private-address.ts',
    find: 'if (isIP(address) !== 0 && isPrivate(address)) throw',
    replace: 'if (isIP(address) === 4 && isPrivate(address)) throw',
    why: 'An IPv6 address leads into the private network.',
    tests: http,
  },
  {
    name: 'http-answer-size',
    file: 'sources/http/send-once.ts',
    find: 'if (size > maxBytes) throw',
    replace: 'if (size < 0) throw',
    why: 'A server fills the memory of ktx with one answer.',
    tests: http,
  },
  {
    name: 'http-page-loop',
    file: 'sources/http/read-pages.ts',
    find: 'seen.has(page.next) || count > mostEntries || seen.size > mostPages',
    replace: 'count > mostEntries || seen.size > mostPages',
    why: 'A listing that repeats itself is read a hundred thousand times.',
    tests: http,
  },
  {
    name: 'metabase-gap',
    file: 'sources/metabase/fetch.ts',
    find: 'listingComplete: reason === undefined, reason',
    replace: 'listingComplete: true, reason',
    why: 'A page that cannot be read removes what was on it.',
    tests: metabase,
  },
  {
    name: 'metabase-not-equal',
    file: 'sources/metabase/metric-of-query.ts',
    find: "(${literals.join(', ')}) OR ${field} IS NULL)`",
    replace: "(${literals.join(', ')}))`",
    why: 'A metric drops the rows without a value, which Metabase keeps.',
    tests: metabase,
  },
  {
    name: 'metabase-whole-day',
    file: 'sources/metabase/metric-of-query.ts',
    find: "&& type !== 'date')",
    replace: "&& type === 'unknown')",
    why: 'A metric until the 31st ends with the first second of that day.',
    tests: ['sources/metabase-metrics.test.ts'],
  },
  {
    name: 'metabase-converted',
    file: 'sources/metabase/metric-of-query.ts',
    find: 'if (field.isCoerced)',
    replace: 'if (!field.isCoerced && false)',
    why: 'A metric compares seconds with what Metabase reads as a time.',
    tests: ['sources/metabase-metrics.test.ts'],
  },
];
