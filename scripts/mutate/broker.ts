import type { Mutant } from './mutant.ts';

const login = ['mcp/broker/login.test.ts'];
const attacks = ['mcp/broker/attacks.test.ts'];

/** Faults of the login that ktx gives clients. */
export const brokerMutants: readonly Mutant[] = [
  {
    name: 'broker-token-hash',
    file: 'mcp/broker/record-adapter.ts',
    find: 'return sha256(`${model} ${id}`);',
    replace: 'return `${model} ${id}`;',
    why: 'Who reads the database has the tokens of everybody.',
    tests: login,
  },
  {
    name: 'broker-replay',
    file: 'store/shared/shared-records.ts',
    find: 'AND used IS NULL AND expires',
    replace: 'AND expires',
    why: 'What may be used once is used by many at the same time.',
    tests: ['store/shared-state.test.ts'],
  },
  {
    name: 'broker-cookie',
    file: 'mcp/broker/interaction.ts',
    find: 'if (found === undefined || !hasCookie(request, stateName(state))) throw expired();',
    replace: 'if (found === undefined) throw expired();',
    why: 'The answer of the company counts in another browser: a login of somebody else.',
    tests: attacks,
  },
  {
    name: 'broker-proof',
    file: 'mcp/broker/interaction.ts',
    find: "if (!isSame(form.get('proof') ?? '', proofOf(cookieKey, details.uid)))",
    replace: "if (form.get('proof') === null)",
    why: 'A form of another page agrees in the name of the person.',
    tests: attacks,
  },
  {
    name: 'broker-old-consent',
    file: 'mcp/broker/open-broker.ts',
    find: 'request.headers.cookie = withoutSession(request.headers.cookie);',
    replace: '',
    why: 'Who logged in before in this browser is asked about, without a new login.',
    tests: attacks,
  },
  {
    name: 'broker-redirects',
    file: 'mcp/broker/authorization-server.ts',
    find: 'if (reason !== undefined) throw new errors.InvalidClientMetadata(reason);',
    replace: '',
    why: 'A client sends people, and their codes, wherever it likes.',
    tests: attacks,
  },
  {
    name: 'broker-private-document',
    file: 'mcp/broker/fetch-client-document.ts',
    find: 'refusePrivateHost(url.hostname);',
    replace: '',
    why: 'A stranger lets the server ask machines of the house.',
    tests: attacks,
  },
  {
    name: 'broker-signature',
    file: 'mcp/broker/company-login.ts',
    find: 'client.enableNonRepudiationChecks,',
    replace: '',
    why: 'An ID token counts whoever signed it.',
    tests: attacks,
  },
  {
    name: 'broker-unchecked-address',
    file: 'mcp/broker/people.ts',
    find: "names.user !== 'email' || claims['email_verified'] !== false",
    replace: "names.user !== ''",
    why: 'Somebody has the name of another by writing it into their profile.',
    tests: attacks,
  },
  {
    name: 'shared-state-away',
    file: 'mcp/http/admit.ts',
    find: 'if (error instanceof UserError && error.retryable) return refuse(response, unchecked);',
    replace: 'if (error instanceof UserError && error.retryable) return withoutLogin;',
    why: 'Everybody comes in while the database of the tokens is away.',
    tests: ['mcp/shared-servers.test.ts'],
  },
];
