import type { Mutant } from './mutant.ts';

const http = ['mcp/http.test.ts'];
const tokens = ['mcp/http-tokens.test.ts'];
const audit = ['mcp/audit.test.ts'];
const login = ['mcp/http-login.test.ts'];
const attacks = ['mcp/attacks/over-http.test.ts'];
const sessions = ['mcp/http-sessions.test.ts'];

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
    file: 'mcp/http/admit.ts',
    find: 'needsLogin ||= tokens.hasAny();',
    replace: 'needsLogin = tokens.hasAny();',
    why: 'A server opens up when the files of its tokens are removed.',
    tests: tokens,
  },
  {
    name: 'http-host',
    file: 'mcp/http/routes.ts',
    find: 'if (!host.ok) return {',
    replace: 'if (!host.ok && headers.host === undefined) return {',
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
  {
    name: 'audit-before-answer',
    file: 'mcp/answer-call.ts',
    find: 'return unrecorded === undefined ? result : refuseCall(unrecorded);',
    replace: 'return unrecorded?.code === undefined ? result : result;',
    why: 'An answer leaves although its line could not be written.',
    tests: audit,
  },
  {
    name: 'audit-end',
    file: 'mcp/audit/verify-audit.ts',
    find: 'else if (!this.#isAtHead())',
    replace: 'else if (this.#seq > seq)',
    why: 'Somebody changes a line and makes all later hashes again.',
    tests: audit,
  },
  {
    name: 'audit-crash',
    file: 'mcp/audit/audit-log.ts',
    find: 'const resumed = size > known ?',
    replace: 'const resumed = size > known && head.seq < 0 ?',
    why: 'After a crash the next line is appended to half a line.',
    tests: audit,
  },
  {
    name: 'oidc-audience',
    file: 'mcp/http/oidc.ts',
    find: '          audience: auth.audience ?? auth.resource,\n',
    replace: '',
    why: 'A token that was made for another server lets in here.',
    tests: login,
  },
  {
    name: 'oidc-token-type',
    file: 'mcp/http/oidc.ts',
    find: "if (!tokenTypes.has(type) || claims['cnf'] !== undefined) return undefined;",
    replace: 'if (type === claims) return undefined;',
    why: 'A logout token, or one that is bound to a key of its client, lets in.',
    tests: login,
  },
  {
    name: 'oidc-issuer',
    file: 'mcp/http/oidc.ts',
    find: 'if (data.issuer !== issuer)',
    replace: 'if (data.issuer === undefined)',
    why: 'The keys of one provider count for another.',
    tests: login,
  },
  {
    name: 'http-connection-close',
    file: 'mcp/http/exchange.ts',
    find: "name !== 'connection'",
    replace: "name !== 'x-connection'",
    why: 'A connection stays open that the client wants closed.',
    tests: attacks,
  },
  {
    name: 'http-token-of-request',
    file: 'mcp/http/authenticate.ts',
    find: '/^Bearer +(\\S+)$/i.exec',
    replace: '/(ktx_\\S+)$/i.exec',
    why: 'A token gets in by another login than Bearer.',
    tests: attacks,
  },
  {
    name: 'http-session-owner',
    file: 'mcp/client-sessions.ts',
    find: 'session?.owner === owner ?',
    replace: 'session !== undefined ?',
    why: 'The session of one token answers to another.',
    tests: sessions,
  },
  {
    name: 'http-session-bound',
    file: 'mcp/client-sessions.ts',
    find: 'own.length < mostOfOne',
    replace: 'own.length >= 0',
    why: 'One caller takes the sessions of all.',
    tests: sessions,
  },
  {
    name: 'http-session-gone',
    file: 'mcp/client-sessions.ts',
    find: '    cancel(session, message);',
    replace: '',
    why: 'A call runs on when its client is gone.',
    tests: sessions,
  },
];
