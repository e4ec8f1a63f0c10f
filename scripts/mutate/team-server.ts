import type { Mutant } from './mutant.ts';

/** What a team gets of its server beside HTTP: stdio with a token, tasks, requests, secrets. */
export const teamServerMutants: readonly Mutant[] = [
  {
    name: 'team-stdio-revoked',
    file: 'mcp/stdio/transport.ts',
    find: '.then(() => guard.admit())',
    replace: '.then(() => undefined)',
    why: 'A client goes on with a token that was revoked.',
    tests: ['mcp/stdio-token.test.ts'],
  },
  {
    name: 'team-stdio-role',
    file: 'mcp/stdio/token-caller.ts',
    find: '.caller !== caller)',
    replace: '.caller === undefined)',
    why: 'A token that lost its role keeps the rows of that role.',
    tests: ['mcp/stdio-token.test.ts'],
  },
  {
    name: 'team-task-undeclared',
    file: 'mcp/tasks/task-subscription.ts',
    find: 'if (!declaresTasks(meta) || ',
    replace: 'if (',
    why: 'A client that knows no tasks gets notifications that it does not understand.',
    tests: ['mcp/task-subscription.test.ts'],
  },
  {
    name: 'team-review-commits',
    file: 'cli/commands/learn/review/open-for-decision.ts',
    find: "commit !== true && project.config.serve.changes === 'pull_request'",
    replace: 'false',
    why: 'A decision is a commit on the branch of the folder where the project asks for requests.',
    tests: ['cli/review-request.test.ts'],
  },
  {
    name: 'team-note-lines',
    file: 'ingest/fetch/item-files.ts',
    find: '? lines.map(({ item: { key }, text }) => ({ path: noteLinePath(key), text }))',
    replace: "? [{ path: itemPath(connection, 'index.jsonl'), text: texts.join('') }]",
    why: 'Two requests with a note each are in conflict at their host.',
    tests: ['mcp/changes.test.ts'],
  },
  {
    name: 'team-audit-prune',
    file: 'mcp/audit/audit-thread.ts',
    find: 'if (keepDays === undefined || prunedOn === firstKeptDay(0)) return undefined;',
    replace:
      'if (keepDays === undefined || prunedOn === firstKeptDay(0)) return undefined;\n  prunedOn = firstKeptDay(0);',
    why: 'After a full disk, old days of the audit stay until the next day.',
    tests: ['mcp/audit-retention.test.ts'],
  },
  {
    name: 'team-state-key',
    file: 'mcp/shared/serve-state.ts',
    find: 'named && (await trust.requireServe())(named)',
    replace: 'undefined',
    why: 'The secrets of servers are plain although the project names a key for them.',
    tests: ['store/shared-secret.test.ts'],
  },
];
