import type { Mutant } from './mutant.ts';

const warehouseServer = ['warehouse/hostile-server.test.ts'];
const toolServer = ['chat/hostile-mcp-server.test.ts'];

/** What a hostile server of a project can do to ktx. */
export const hostileServerMutants: readonly Mutant[] = [
  {
    name: 'postgres-guard-login',
    file: 'warehouse/drivers/postgres/guard-socket.ts',
    find: 'this.guard = guardSocket(socket);',
    replace: 'setTimeout(() => (this.guard = guardSocket(socket)), 50);',
    why: 'A server that breaks the protocol during the login ends ktx.',
    tests: warehouseServer,
  },
  {
    name: 'postgres-guard-bytes',
    file: 'warehouse/result-size.ts',
    find: 'export const maxTransactionBytes = 256 *',
    replace: 'export const maxTransactionBytes = 1500 *',
    why: 'A server that never stops sending fills the memory.',
    tests: warehouseServer,
  },
  {
    name: 'postgres-guard-end',
    file: 'warehouse/drivers/postgres/guard-socket.ts',
    find: "isText && ending !== '\\0\\0'",
    replace: "isText && ending === ''",
    why: 'An error without an end keeps the parser of the library busy for ever.',
    tests: warehouseServer,
  },
  {
    name: 'postgres-canceller-error',
    file: 'warehouse/drivers/postgres/driver.ts',
    find: "  canceller.on('error', () => undefined);",
    replace: '',
    why: 'A server that breaks the connection which cancels a statement ends ktx.',
    tests: warehouseServer,
  },
  {
    name: 'mysql-server-key',
    file: 'warehouse/drivers/mysql/connection/connectable-settings.ts',
    find: '...(isReadable && {',
    replace: '...(isReadable && ssl !== undefined && {',
    why: 'Whoever answers in place of the server gets the password, encrypted with his own key.',
    tests: warehouseServer,
  },
  {
    name: 'mysql-guard-order',
    file: 'warehouse/drivers/mysql/connection/guard-connection.ts',
    find: '    throw error;\n  });',
    replace: '    return error;\n  });',
    why: 'A server whose packets are out of order fills the terminal and never ends.',
    tests: warehouseServer,
  },
  {
    name: 'mysql-guard-results',
    file: 'warehouse/drivers/mysql/connection/guard-connection.ts',
    find: 'results > 0 || columns > mostColumns',
    replace: 'columns > mostColumns',
    why: 'A server that answers with results without end keeps ktx busy for ever.',
    tests: warehouseServer,
  },
  {
    name: 'mysql-kill-end',
    file: 'warehouse/drivers/mysql/transactions.ts',
    find: 'const timer = setTimeout(end, 2 * killMs);',
    replace: 'const timer = setTimeout(() => undefined, 2 * killMs);',
    why: 'A server that does not answer keeps ktx from ending.',
    tests: warehouseServer,
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
