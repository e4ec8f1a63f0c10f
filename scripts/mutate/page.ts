import type { Mutant } from './mutant.ts';

const safety = ['web/safety.test.ts'];
const exported = ['web/export.test.ts'];

/** Who may ask the server of the page, and what a stranger gets. */
export const pageMutants: readonly Mutant[] = [
  {
    name: 'page-link-once',
    file: 'web/page-sessions.ts',
    find: '      link = undefined;\n',
    replace: '',
    why: 'A link that somebody finds later lets in again.',
    tests: safety,
  },
  {
    name: 'page-key',
    file: 'web/guard.ts',
    find: "if (typeof key !== 'string' || !timingSafeEqual(hashText(key), session.keyHash))",
    replace: "if (typeof key === 'string' && !timingSafeEqual(hashText(key), session.keyHash))",
    why: 'The cookie alone is enough, which other servers of this machine see.',
    tests: safety,
  },
  {
    name: 'page-read-only',
    file: 'web/page-server.ts',
    find: 'route.writes === true && isReadOnly',
    replace: 'route.streams === true && isReadOnly',
    why: 'A page that only reads takes decisions.',
    tests: safety,
  },
  {
    name: 'page-export-values',
    file: 'web/export-page.ts',
    find: "'number', 'dir',",
    replace: "'dir',",
    why: 'The exported pages have numbers of the warehouse.',
    tests: exported,
  },
];
