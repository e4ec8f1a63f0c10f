import type { Mutant } from './mutant.ts';

const company = ['web/team-company.test.ts'];

/** The login of the company on the page of a server. */
export const pageLoginMutants: readonly Mutant[] = [
  {
    name: 'page-login-once',
    file: 'mcp/broker/page-login.ts',
    find: 'if (found === undefined || !(await records.use(place))) return undefined;',
    replace: 'if (found === undefined) return undefined;',
    why: 'Whoever copies the cookie of a login that ended gets a session of their own.',
    tests: company,
  },
  {
    name: 'page-login-host',
    file: 'web/team/team-login.ts',
    find: 'return company?.host === host.toLowerCase() ? company : undefined;',
    replace: 'return host === "" ? undefined : company;',
    why: 'A login begins under a name of the server at which it cannot end.',
    tests: company,
  },
  {
    name: 'page-login-logout',
    file: 'web/team/team-login.ts',
    find: 'if (session !== undefined) await door.company?.end(session.token);',
    replace: 'if (session === undefined) await door.company?.end(host);',
    why: 'Who logs out stays logged in at the broker for hours.',
    tests: company,
  },
  {
    name: 'page-login-origin',
    file: 'web/team/team-login.ts',
    find: '  if (request.headers.origin === undefined)\n',
    replace: "  if (request.headers.origin === '')\n",
    why: 'What is no page begins logins in somebody else’s browser.',
    tests: company,
  },
];
