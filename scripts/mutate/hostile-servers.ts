import type { Mutant } from './mutant.ts';

const postgresServer = ['warehouse/hostile-server.test.ts'];
const toolServer = ['chat/hostile-mcp-server.test.ts'];

/** What a hostile server of a project can do to ktx. */
export const hostileServerMutants: readonly Mutant[] = [
  {
    name: 'postgres-guard-login',
    file: 'warehouse/drivers/postgres/guard-socket.ts',
    find: 'this.guard = guardSocket(socket);',
    replace: 'setTimeout(() => (this.guard = guardSocket(socket)), 50);',
    why: 'A server that breaks the protocol during the login ends ktx.',
    tests: postgresServer,
  },
  {
    name: 'postgres-guard-bytes',
    file: 'warehouse/drivers/postgres/guard-socket.ts',
    find: 'const maxTransactionBytes = 256 *',
    replace: 'const maxTransactionBytes = 1500 *',
    why: 'A server that never stops sending fills the memory.',
    tests: postgresServer,
  },
  {
    name: 'postgres-guard-end',
    file: 'warehouse/drivers/postgres/guard-socket.ts',
    find: "isText && ending !== '\\0\\0'",
    replace: "isText && ending === ''",
    why: 'An error without an end keeps the parser of the library busy for ever.',
    tests: postgresServer,
  },
  {
    name: 'tools-output-schema',
    file: 'chat/mcp-client/connection.ts',
    find: "toolDefinition: { name: tool.name, inputSchema: { type: 'object', ...tool.inputSchema } },",
    replace: 'toolDefinition: tool,',
    why: 'The regular expressions of a foreign outputSchema run, and may never end.',
    tests: toolServer,
  },
  {
    name: 'tools-schema-limit',
    file: 'chat/mcp-client/inline-schema.ts',
    find: 'return isTooLarge || !isRecord(inlined)',
    replace: 'return !isRecord(inlined)',
    why: 'A schema whose references double is used in part.',
    tests: toolServer,
  },
  {
    name: 'tools-schema-loop',
    file: 'chat/mcp-client/inline-schema.ts',
    find: 'if (followed.includes(ref)) return {};',
    replace: '',
    why: 'A tool with a schema that refers to itself cannot be used.',
    tests: toolServer,
  },
];
