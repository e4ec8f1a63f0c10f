import type { CommandModule } from './command.ts';

export interface CommandEntry {
  /** The words after `ktx`, like `sl query`. */
  readonly path: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

/** Summaries of the command groups. */
export const groups: Readonly<Record<string, string>> = {
  connection: 'Manage connections in ktx.yaml: add, list, test, remove',
  sl:
    'Work with the semantic layer: ' +
    'list, read, query, queries, dimensions, metrics, graph, validate, export, import',
  extras: 'Fetch what only some projects need: list, add, remove',
  wiki: 'Read the terms and rules of the company: list, read',
  state: 'Decide whether ktx uses the local folder .ktx: show, keep, set-aside',
  review: 'Resolve conflicts between sources',
  eval: 'Test agents with question sets: check, run, compare, report, diff, runs, generate, add, import',
  mcp: 'Run the MCP server for agents: install, uninstall, status, serve, token, login, changes',
  audit: 'Show who asked the MCP server over HTTP what: list, verify',
  'mcp token': 'Decide who may use the MCP server over HTTP: create, list, revoke',
};

/** Every command, in the order of `ktx --help`. A module is loaded only when its command runs. */
export const registry: readonly CommandEntry[] = [
  {
    path: 'demo',
    summary: 'Try ktx on the database of a sample company',
    load: async () => (await import('./commands/setup/demo.ts')).demoCommand,
  },
  {
    path: 'setup',
    summary: 'Create a project and connect a warehouse',
    load: async () => (await import('./commands/setup/setup.ts')).setupCommand,
  },
  {
    path: 'status',
    summary: 'Show connections, semantic layer and open work',
    load: async () => (await import('./commands/setup/status.ts')).statusCommand,
  },
  {
    path: 'doctor',
    summary: 'Check the environment and suggest fixes',
    load: async () => (await import('./commands/setup/doctor.ts')).doctorCommand,
  },
  {
    path: 'extras list',
    summary: 'List what can be fetched: Claude Code, model providers',
    load: async () => (await import('./commands/setup/extras.ts')).listExtrasCommand,
  },
  {
    path: 'extras add',
    summary: 'Fetch an extra, with exact versions and checked hashes',
    load: async () => (await import('./commands/setup/extras.ts')).addExtraCommand,
  },
  {
    path: 'extras remove',
    summary: 'Delete a fetched extra',
    load: async () => (await import('./commands/setup/extras.ts')).removeExtraCommand,
  },
  {
    path: 'state show',
    summary: 'Show whether ktx uses the local folder .ktx',
    load: async () => (await import('./commands/setup/state.ts')).showStateCommand,
  },
  {
    path: 'state keep',
    summary: 'Use a .ktx that ktx did not make on this machine',
    load: async () => (await import('./commands/setup/state.ts')).keepStateCommand,
  },
  {
    path: 'state set-aside',
    summary: 'Move .ktx away; nothing is deleted',
    load: async () => (await import('./commands/setup/state.ts')).setStateAsideCommand,
  },
  {
    path: 'trust',
    summary: 'Approve what a project does on this machine',
    load: async () => (await import('./commands/setup/trust.ts')).trustCommand,
  },
  {
    path: 'connection add',
    summary: 'Add a warehouse or a source to ktx.yaml',
    load: async () => (await import('./commands/setup/connection.ts')).addCommand,
  },
  {
    path: 'connection list',
    summary: 'List the connections',
    load: async () => (await import('./commands/setup/connection.ts')).listCommand,
  },
  {
    path: 'connection test',
    summary: 'Test a connection and the privileges of its login',
    load: async () => (await import('./commands/setup/connection.ts')).testCommand,
  },
  {
    path: 'connection remove',
    summary: 'Remove a connection from ktx.yaml',
    load: async () => (await import('./commands/setup/connection.ts')).removeCommand,
  },
  {
    path: 'scan',
    summary: 'Find tables, keys and joins without writing files',
    load: async () => (await import('./commands/learn/scan.ts')).scanCommand,
  },
  {
    path: 'ingest',
    summary: 'Update the semantic layer and commit it',
    load: async () => (await import('./commands/learn/ingest.ts')).ingestCommand,
  },
  {
    path: 'worker',
    summary: 'Read prose for ingests of other machines',
    load: async () => (await import('./commands/learn/worker.ts')).workerCommand,
  },
  {
    path: 'coverage',
    summary: 'Show what sources say and ktx did not take, and why',
    load: async () => (await import('./commands/learn/coverage.ts')).coverageCommand,
  },
  {
    path: 'history',
    summary: 'Show what people ran, and what of it counts',
    load: async () => (await import('./commands/learn/history.ts')).historyCommand,
  },
  {
    path: 'sl list',
    summary: 'List datasets and their metrics',
    load: async () => (await import('./commands/sl/list.ts')).listCommand,
  },
  {
    path: 'sl read',
    summary: 'Show the file of one dataset',
    load: async () => (await import('./commands/sl/datasets.ts')).readCommand,
  },
  {
    path: 'sl validate',
    summary: 'Check all dataset files for errors',
    load: async () => (await import('./commands/sl/datasets.ts')).validateCommand,
  },
  {
    path: 'sl query',
    summary: 'Query metrics by dimensions',
    load: async () => (await import('./commands/sl/query.ts')).queryCommand,
  },
  {
    path: 'sl queries',
    summary: 'List the saved queries',
    load: async () => (await import('./commands/sl/saved-queries.ts')).queriesCommand,
  },
  {
    path: 'sl dimensions',
    summary: 'List what metrics can be grouped by',
    load: async () => (await import('./commands/sl/groupings.ts')).dimensionsCommand,
  },
  {
    path: 'sl metrics',
    summary: 'List metrics, or those with given dimensions',
    load: async () => (await import('./commands/sl/groupings.ts')).metricsCommand,
  },
  {
    path: 'sl graph',
    summary: 'Show how the datasets join, and how sure each join is',
    load: async () => (await import('./commands/sl/graph.ts')).graphCommand,
  },
  {
    path: 'sl export',
    summary: 'Export the semantic layer for another tool',
    load: async () => (await import('./commands/sl/exchange.ts')).exportCommand,
  },
  {
    path: 'sl import',
    summary: 'Create dataset files from the model of another tool',
    load: async () => (await import('./commands/sl/exchange.ts')).importCommand,
  },
  {
    path: 'wiki list',
    summary: 'List the pages of the wiki',
    load: async () => (await import('./commands/wiki/wiki.ts')).listWikiCommand,
  },
  {
    path: 'wiki read',
    summary: 'Show a page, a term or a rule',
    load: async () => (await import('./commands/wiki/wiki.ts')).readWikiCommand,
  },
  {
    path: 'search',
    summary: 'Search metrics, datasets, fields, terms and tables',
    load: async () => (await import('./commands/query/search.ts')).searchCommand,
  },
  {
    path: 'values',
    summary: 'Find the fields that contain a value',
    load: async () => (await import('./commands/query/values.ts')).valuesCommand,
  },
  {
    path: 'sql',
    summary: 'Run one read-only SELECT',
    load: async () => (await import('./commands/query/sql.ts')).sqlCommand,
  },
  {
    path: 'remember',
    summary: 'Add a note to the project',
    load: async () => (await import('./commands/learn/remember.ts')).rememberCommand,
  },
  {
    path: 'forget',
    summary: 'Remove a note, and what only it said',
    load: async () => (await import('./commands/learn/forget.ts')).forgetCommand,
  },
  {
    path: 'review list',
    summary: 'List conflicts and other open work',
    load: async () => (await import('./commands/learn/review/list.ts')).listCommand,
  },
  {
    path: 'review choose',
    summary: 'Resolve one conflict',
    load: async () => (await import('./commands/learn/review/decide.ts')).chooseCommand,
  },
  {
    path: 'review accept',
    summary: 'Accept a join that is in doubt',
    load: async () => (await import('./commands/learn/review/decide.ts')).acceptCommand,
  },
  {
    path: 'review reject',
    summary: 'Reject a join',
    load: async () => (await import('./commands/learn/review/decide.ts')).rejectCommand,
  },
  {
    path: 'review edit',
    summary: 'Write a definition of your own',
    load: async () => (await import('./commands/learn/review/decide.ts')).editCommand,
  },
  {
    path: 'review defer',
    summary: 'Put a decision off',
    load: async () => (await import('./commands/learn/review/decide.ts')).deferCommand,
  },
  {
    path: 'review undo',
    summary: 'Take a decision back',
    load: async () => (await import('./commands/learn/review/undo.ts')).undoCommand,
  },
  {
    path: 'review',
    summary: 'Resolve conflicts one by one',
    load: async () => (await import('./commands/learn/review/review.ts')).reviewCommand,
  },
  {
    path: 'web',
    summary: 'Review, search and look at the project in a browser',
    load: async () => (await import('./commands/agents/web.ts')).webCommand,
  },
  {
    path: 'check',
    summary: 'Fail in CI if anything is stale, contested or invalid',
    load: async () => (await import('./commands/learn/check.ts')).checkCommand,
  },
  {
    path: 'explain',
    summary: 'Show the evidence for a definition or a number',
    load: async () => (await import('./commands/learn/explain.ts')).explainCommand,
  },
  {
    path: 'ask',
    summary: 'Ask an agent one question',
    load: async () => (await import('./commands/agents/ask.ts')).askCommand,
  },
  {
    path: 'chat',
    summary: 'Chat with an agent',
    load: async () => (await import('./commands/agents/chat.ts')).chatCommand,
  },
  {
    path: 'eval run',
    summary: 'Run question sets against agents and grade the answers',
    load: async () => (await import('./commands/eval/run.ts')).runCommand,
  },
  {
    path: 'eval check',
    summary: 'Run the golden SQL of question sets, without a model',
    load: async () => (await import('./commands/eval/check.ts')).checkCommand,
  },
  {
    path: 'eval compare',
    summary: 'Compare two eval runs',
    load: async () => (await import('./commands/eval/compare.ts')).compareCommand,
  },
  {
    path: 'eval report',
    summary: 'Show or export a past eval run',
    load: async () => (await import('./commands/eval/report.ts')).reportCommand,
  },
  {
    path: 'eval diff',
    summary: 'Compare the rows of an answer with those that its case expects',
    load: async () => (await import('./commands/eval/diff.ts')).diffCommand,
  },
  {
    path: 'eval runs',
    summary: 'List past eval runs',
    load: async () => (await import('./commands/eval/runs.ts')).runsCommand,
  },
  {
    path: 'eval generate',
    summary: 'Generate cases from metrics, terms or SQL files',
    load: async () => (await import('./commands/eval/generate.ts')).generateCommand,
  },
  {
    path: 'eval add',
    summary: 'Make an answer of a past conversation a case',
    load: async () => (await import('./commands/eval/add.ts')).addCommand,
  },
  {
    path: 'eval import',
    summary: 'Import questions of BIRD, Spider, dbt Labs or a CSV file',
    load: async () => (await import('./commands/eval/import.ts')).importCommand,
  },
  {
    path: 'bench',
    summary: 'Measure what each part of the context adds, and what search finds',
    load: async () => (await import('./commands/eval/bench.ts')).benchCommand,
  },
  {
    path: 'mcp install',
    summary: 'Add the MCP server to Claude, Cursor, VS Code and others',
    load: async () => (await import('./commands/agents/mcp-clients.ts')).installCommand,
  },
  {
    path: 'mcp uninstall',
    summary: 'Remove it from them',
    load: async () => (await import('./commands/agents/mcp-clients.ts')).uninstallCommand,
  },
  {
    path: 'mcp status',
    summary: 'Show which clients have it, and whether it answers',
    load: async () => (await import('./commands/agents/mcp-clients.ts')).clientsCommand,
  },
  {
    path: 'mcp serve',
    summary: 'Start the MCP server over stdio or HTTP',
    load: async () => (await import('./commands/agents/mcp.ts')).serveCommand,
  },
  {
    path: 'mcp token create',
    summary: 'Make a token for the MCP server over HTTP',
    load: async () => (await import('./commands/agents/mcp-token.ts')).createCommand,
  },
  {
    path: 'mcp token list',
    summary: 'List the tokens, without their secrets',
    load: async () => (await import('./commands/agents/mcp-token.ts')).listTokensCommand,
  },
  {
    path: 'mcp token revoke',
    summary: 'Revoke a token at once',
    load: async () => (await import('./commands/agents/mcp-token.ts')).revokeCommand,
  },
  {
    path: 'mcp login list',
    summary: 'List who has logged in',
    load: async () => (await import('./commands/agents/mcp-login.ts')).listLoginsCommand,
  },
  {
    path: 'mcp login end',
    summary: 'End the logins of a person',
    load: async () => (await import('./commands/agents/mcp-login.ts')).endLoginCommand,
  },
  {
    path: 'mcp changes',
    summary: 'List what people proposed through the server',
    load: async () => (await import('./commands/agents/mcp-changes.ts')).changesCommand,
  },
  {
    path: 'audit list',
    summary: 'List the calls of the MCP server over HTTP',
    load: async () => (await import('./commands/audit/audit.ts')).listCommand,
  },
  {
    path: 'audit verify',
    summary: 'Check that no line of the audit was changed or removed',
    load: async () => (await import('./commands/audit/audit.ts')).verifyCommand,
  },
  {
    path: 'completion',
    summary: 'Print the completion script for your shell',
    load: async () => (await import('./commands/shell/completion.ts')).completionCommand,
  },
  {
    path: 'schema',
    summary: 'Print the JSON Schemas of project files',
    load: async () => (await import('./commands/shell/schema.ts')).schemaCommand,
  },
];
