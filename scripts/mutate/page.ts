import type { Mutant } from './mutant.ts';

const safety = ['web/safety.test.ts'];
const changed = ['web/changed.test.ts'];
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
  {
    name: 'page-changed-under-lock',
    file: 'ingest/ingest.ts',
    find: '  await run.beforeDecision?.();\n',
    replace: '',
    why: 'Of two people who decide at once, the second decides over the first.',
    tests: changed,
  },
  {
    name: 'page-new-version-unseen',
    file: 'project/review/decide/changed-question.ts',
    find: 'if (added.size === 0 && gone.size === 0) return;',
    replace: 'if (gone.size === 0) return;',
    why: 'A version that nobody has read is decided against.',
    tests: changed,
  },
  {
    name: 'app-declared-only',
    file: 'mcp/apps/client-shows-apps.ts',
    find: 'mimeTypes.includes(appType) === true',
    replace: 'mimeTypes.includes(appType) !== false',
    why: 'Clients that show no apps list the tools of the apps, so that a model can decide.',
    tests: ['mcp/apps.test.ts'],
  },
  {
    name: 'app-decision-seen',
    file: 'project/review/decide/decide.ts',
    find: '  else await requireUnchanged(',
    replace: '  else void (',
    why: 'What a person decides in an app holds although something else is open by then.',
    tests: ['mcp/apps.test.ts'],
  },
  {
    name: 'page-join-in-use',
    file: 'project/review/decide/changed-question.ts',
    find: '  if (named.every(isOpen)) return open;',
    replace: '  if (named.length > 0) return open;',
    why: 'Nobody can reject or name a join in use from the graph.',
    tests: changed,
  },
  {
    name: 'page-role-used',
    file: 'project/review/decide/check-role.ts',
    find: '  if (users.length === 0) return;',
    replace: '  if (users.length >= 0) return;',
    why: 'A join gets another name, and saved queries still say the old one.',
    tests: changed,
  },
];
