import type { Mutant } from './mutant.ts';

const http = ['mcp/http.test.ts'];
const tokens = ['mcp/http-tokens.test.ts'];

/** Who may ask the MCP server over HTTP, and what they get. */
export const mcpHttpMutants: readonly Mutant[] = [
  {
    name: 'http-role',
    file: 'mcp/http/callers.ts',
    find: 'viewAs(project, role)',
    replace: 'viewAs(project, project.role ?? role?.replace("us", "dach"))',
    why: 'A token gets the rows of another role.',
    tests: tokens,
  },
  {
    name: 'http-revoked',
    file: 'mcp/http/authenticate.ts',
    find: "token?.state === 'valid'",
    replace: 'token !== undefined',
    why: 'A revoked or expired token still lets in.',
    tests: tokens,
  },
  {
    name: 'http-login-stays',
    file: 'mcp/http/routes.ts',
    find: 'needsLogin ||= input.tokens.hasAny();',
    replace: 'needsLogin = input.tokens.hasAny();',
    why: 'A server opens up when the files of its tokens are removed.',
    tests: tokens,
  },
  {
    name: 'http-host',
    file: 'mcp/http/routes.ts',
    find: 'if (!host.ok) return',
    replace: 'if (!host.ok && headers.host === undefined) return',
    why: 'A page of another site asks the server on this machine (DNS rebinding).',
    tests: http,
  },
  {
    name: 'http-public',
    file: 'mcp/http/listen-address.ts',
    find: '!isLocal || others.some((name) => !loopbackNames.includes(name))',
    replace: '!isLocal && others.length === 0',
    why: 'A server that others reach under a name asks for no login.',
    tests: http,
  },
];
