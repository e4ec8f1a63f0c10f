import type { Mutant } from './mutant.ts';

const bi = ['sources/odd/bi-worlds.test.ts'];
const cards = ['sources/metabase-cards.test.ts'];

/** What sources make of odd answers, and of filters that a tool adds by itself. */
export const oddPayloadMutants: readonly Mutant[] = [
  {
    name: 'odd-entry-gap',
    file: 'sources/http/known-entries.ts',
    find: 'if (odd > 0)',
    replace: 'if (odd < 0)',
    why: 'What a listing has in an unknown form counts as gone.',
    tests: bi,
  },
  {
    name: 'looker-default-filter',
    file: 'sources/looker/translate-query.ts',
    find: '...Object.entries(filters ?? {}), ...defaultFilters(query, known)]',
    replace: '...Object.entries(filters ?? {})]',
    why: 'A saved query counts rows that its explore always leaves out.',
    tests: bi,
  },
  {
    name: 'looker-inner-join',
    file: 'sources/looker/translate-query.ts',
    find: "if (type !== 'left_outer' ||",
    replace: "if (type === 'cross' ||",
    why: 'A saved query counts rows that the inner join of its explore takes away.',
    tests: bi,
  },
  {
    name: 'metabase-odd-clause',
    file: 'sources/metabase/read-query.ts',
    find: 'written !== null) isWhole = false;',
    replace: 'written !== null) isWhole = true;',
    why: 'A question loses a filter in an unknown form without a word.',
    tests: bi,
  },
  {
    name: 'metabase-segment-table',
    file: 'sources/metabase/bind-tables.ts',
    find: 'segment?.table === owner.stored.id ?',
    replace: 'segment !== undefined ?',
    why: 'A question filters by the segment of another table.',
    tests: cards,
  },
  {
    name: 'metabase-sunday-weeks',
    file: 'sources/metabase/bind-tables.ts',
    find: "hasMondayWeeks: startOfWeek === 'monday'",
    replace: "hasMondayWeeks: startOfWeek !== ''",
    why: 'Weeks that begin on Sundays are added up from Mondays.',
    tests: bi,
  },
];
