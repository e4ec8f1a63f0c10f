import type { CommandModule } from './command.ts';

export interface CommandEntry {
  /** Words after `ktx`. */
  readonly path: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

/** Words that only group commands. */
export const groups: Readonly<Record<string, string>> = {
  connection: 'The warehouses in ktx.yaml: add, list, test, remove',
  sl: 'The semantic layer: list, read, validate, query, export, import',
  review: 'Decide what sources say differently',
  eval: 'Question sets: check, run, compare, report, generate',
  mcp: 'The MCP server for agents',
};

/** Every command, in the order of `ktx --help`. A module loads only when its command runs. */
export const registry: readonly CommandEntry[] = [
  {
    path: 'demo',
    summary: 'See it all on a small company, from nothing',
    load: async () => (await import('./commands/setup/demo.ts')).demo,
  },
  {
    path: 'setup',
    summary: 'Create a project and connect a warehouse',
    load: async () => (await import('./commands/setup/setup.ts')).setup,
  },
  {
    path: 'status',
    summary: 'What is configured, reachable, fresh',
    load: async () => (await import('./commands/setup/status.ts')).status,
  },
  {
    path: 'doctor',
    summary: 'Check the environment; each finding with its fix',
    load: async () => (await import('./commands/setup/doctor.ts')).doctor,
  },
  {
    path: 'connection add',
    summary: 'Add a warehouse to ktx.yaml',
    load: async () => (await import('./commands/setup/connection.ts')).add,
  },
  {
    path: 'connection list',
    summary: 'List the connections',
    load: async () => (await import('./commands/setup/connection.ts')).list,
  },
  {
    path: 'connection test',
    summary: 'Connect and say what the login may do',
    load: async () => (await import('./commands/setup/connection.ts')).test,
  },
  {
    path: 'connection remove',
    summary: 'Take a connection out of ktx.yaml',
    load: async () => (await import('./commands/setup/connection.ts')).remove,
  },
  {
    path: 'scan',
    summary: 'Find tables, keys and joins; writes nothing',
    load: async () => (await import('./commands/learn/scan.ts')).scan,
  },
  {
    path: 'ingest',
    summary: 'Bring the semantic layer up to date and commit it',
    load: async () => (await import('./commands/learn/ingest.ts')).ingest,
  },
  {
    path: 'sl list',
    summary: 'Datasets and their metrics',
    load: async () => (await import('./commands/sl/datasets.ts')).list,
  },
  {
    path: 'sl read',
    summary: 'One dataset with fields, metrics, joins',
    load: async () => (await import('./commands/sl/datasets.ts')).read,
  },
  {
    path: 'sl validate',
    summary: 'Check every dataset file',
    load: async () => (await import('./commands/sl/datasets.ts')).validate,
  },
  {
    path: 'sl query',
    summary: 'Ask for metrics by dimensions',
    load: async () => (await import('./commands/sl/query.ts')).query,
  },
  {
    path: 'sl export',
    summary: 'The semantic layer for other tools',
    load: async () => (await import('./commands/sl/exchange.ts')).exportModel,
  },
  {
    path: 'sl import',
    summary: 'Dataset files from another tool’s model',
    load: async () => (await import('./commands/sl/exchange.ts')).importModel,
  },
  {
    path: 'search',
    summary: 'Find datasets, fields and metrics by words',
    load: async () => (await import('./commands/query/search.ts')).search,
  },
  {
    path: 'values',
    summary: 'Find the fields that hold a value',
    load: async () => (await import('./commands/query/values.ts')).values,
  },
  {
    path: 'sql',
    summary: 'Run one read-only SELECT',
    load: async () => (await import('./commands/query/sql.ts')).sql,
  },
  {
    path: 'remember',
    summary: 'Keep what you tell it',
    load: async () => (await import('./commands/learn/remember.ts')).remember,
  },
  {
    path: 'review list',
    summary: 'What is contested, with both numbers',
    load: async () => (await import('./commands/learn/review.ts')).list,
  },
  {
    path: 'review choose',
    summary: 'Decide one conflict',
    load: async () => (await import('./commands/learn/review.ts')).choose,
  },
  {
    path: 'review',
    summary: 'Decide what sources say differently',
    load: async () => (await import('./commands/learn/review.ts')).review,
  },
  {
    path: 'check',
    summary: 'For CI: nothing stale, contested or invalid',
    load: async () => (await import('./commands/learn/check.ts')).check,
  },
  {
    path: 'explain',
    summary: 'Where a fact comes from: claims and evidence',
    load: async () => (await import('./commands/learn/explain.ts')).explain,
  },
  {
    path: 'ask',
    summary: 'One question to an agent, with evidence',
    load: async () => (await import('./commands/agents/ask.ts')).ask,
  },
  {
    path: 'chat',
    summary: 'A conversation with an agent',
    load: async () => (await import('./commands/agents/chat.ts')).chat,
  },
  {
    path: 'eval run',
    summary: 'Ask agents the questions of evals/ and grade them',
    load: async () => (await import('./commands/eval/run.ts')).run,
  },
  {
    path: 'eval check',
    summary: 'Run the golden SQL of question sets; no model',
    load: async () => (await import('./commands/eval/check.ts')).check,
  },
  {
    path: 'eval compare',
    summary: 'What changed between two runs, with its SQL',
    load: async () => (await import('./commands/eval/compare.ts')).compare,
  },
  {
    path: 'eval report',
    summary: 'A run that was kept, as text or as a file',
    load: async () => (await import('./commands/eval/report.ts')).report,
  },
  {
    path: 'eval generate',
    summary: 'Propose cases from metrics and terms',
    load: async () => (await import('./commands/eval/generate.ts')).generate,
  },
  {
    path: 'mcp serve',
    summary: 'Serve the tools to an agent over stdio',
    load: async () => (await import('./commands/agents/mcp.ts')).serve,
  },
  {
    path: 'completion',
    summary: 'Complete commands and names in your shell',
    load: async () => (await import('./commands/shell/completion.ts')).completion,
  },
  {
    path: 'schema',
    summary: 'Print the JSON Schemas of the files',
    load: async () => (await import('./commands/shell/schema.ts')).schema,
  },
];
