import { join, resolve } from 'node:path';
import type { OpenAgent } from '../../chat/open-agent.ts';
import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { writeAtomically } from '../../store/files.ts';
import type { CommandContext } from '../command.ts';
import { renderCsv } from '../terminal/csv.ts';
import { alignColumns, renderTable } from '../terminal/table.ts';
import { escapeControls } from '../terminal/text-width.ts';
import { addExchangeAsCase } from './add-exchange-as-case.ts';
import { renderConversation, type ChatExchange } from './conversation-text.ts';
import { describeReceipt, describeSources, evidenceTable } from './evidence-text.ts';

/** The running conversation, for slash commands. */
export interface ChatConversation {
  readonly agent: OpenAgent;
  readonly projectDir: string;
  readonly exchanges: ChatExchange[];
  readonly context: CommandContext;
  /** True if it began in an earlier process, whose queries are not at hand. */
  readonly isResumed: boolean;
}

interface SlashCommand {
  readonly argument?: string;
  readonly summary: string;
  /** Returns the text to print. */
  run(conversation: ChatConversation, argument: string): string | Promise<string>;
}

/** Every command of `ktx chat`, in the order of `/help`. */
export const slashCommands: Readonly<Record<string, SlashCommand>> = {
  help: { summary: 'show this list', run: () => helpText() },
  sql: {
    argument: '[q1]',
    summary: 'show the SQL of the last answer, or of one query',
    run: forEvidence(({ id, sql = '(none)' }) => `-- ${id}\n${sql}`),
  },
  rows: { argument: '[q1]', summary: 'show the rows as a table', run: rowsText },
  sources: {
    argument: '[q1]',
    summary: 'show the warehouse, the files with their commit, and conflicts',
    run: forEvidence(describeSources),
  },
  why: {
    argument: '[q1]',
    summary: 'show the receipt: definitions, joins, filters, SQL',
    run: forEvidence(describeReceipt),
  },
  cost: { summary: 'show tokens and cost so far', run: costText },
  permissions: { summary: 'show which tools may run, and what was denied', run: permissionsText },
  save: {
    argument: '<file.md>',
    summary: 'save the conversation as Markdown',
    run: saveConversation,
  },
  export: { argument: '<file.csv>', summary: 'save the last rows as CSV', run: exportRows },
  eval: {
    argument: '[name]',
    summary: 'add the last exchange as a case to evals/<name>.yaml',
    run: addCase,
  },
  quit: { summary: 'leave; also Ctrl-D, or Ctrl-C twice', run: () => '' },
};

function helpText(): string {
  const rows = Object.entries(slashCommands).map(([name, { argument = '', summary }]) => [
    `  ${`/${name} ${argument}`.trimEnd()}`,
    summary,
  ]);
  return alignColumns(rows).join('\n');
}

/**
 * Runs on the query that the argument names, otherwise on those of the last answer that has any.
 */
function forEvidence(render: (evidence: QueryEvidence) => string): SlashCommand['run'] {
  return (conversation, id) => findEvidence(conversation, id).map(render).join('\n\n');
}

function findEvidence({ exchanges }: ChatConversation, id: string): readonly QueryEvidence[] {
  const all = exchanges.flatMap(({ result }) => result.evidence);
  const withEvidence = exchanges.findLast(({ result }) => result.evidence.length > 0);
  const wanted = id.replace(/^\[(.*)\]$/, '$1');
  const matches =
    id === ''
      ? (withEvidence?.result.evidence ?? [])
      : all.filter((evidence) => evidence.id === wanted);
  if (matches.length > 0) return matches;
  const ids = all.map((evidence) => evidence.id);
  const message = id === '' ? 'No query has run yet.' : `There is no query ${id}.`;
  throw new UserError('no_evidence', message, {
    hint: ids.length === 0 ? 'ask a question first' : `one of ${ids.join(', ')}`,
  });
}

function rowsText(conversation: ChatConversation, id: string): string {
  const { screen } = conversation.context;
  const tables = findEvidence(conversation, id).map((evidence) => {
    const count = formatCount(evidence.rows.length, 'row');
    const title = `[${evidence.id}] ${count}${evidence.truncated ? ', truncated' : ''}`;
    const warnings = (evidence.warnings ?? []).map((text) => `\nwarning: ${escapeControls(text)}`);
    return `${title}\n${renderTable(evidenceTable(evidence), screen)}${warnings.join('')}`;
  });
  return tables.join('\n\n');
}

function costText({ exchanges }: ChatConversation): string {
  const results = exchanges.map(({ result }) => result);
  const tokens = [...tokensByModel(results)].map(
    ([model, count]) => `${model}: ${count.toLocaleString('en-US')} tokens`,
  );
  const cost = results.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  const unknown = results.filter(({ costUsd }) => costUsd === null);
  const reason = unknown[0]?.costReason ?? 'the provider did not report it';
  const unknownText =
    unknown.length === 0
      ? ''
      : `; cost of ${formatCount(unknown.length, 'turn')} unknown (${reason})`;
  const total = `${formatCount(results.length, 'turn')}, $${cost.toFixed(4)}${unknownText}`;
  return [...tokens, total].join('\n');
}

function tokensByModel(results: readonly TurnResult[]): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const { usage } of results) {
    for (const [model, { input, output, cacheRead, cacheWrite }] of Object.entries(usage))
      totals.set(model, (totals.get(model) ?? 0) + input + output + cacheRead + cacheWrite);
  }
  return totals;
}

function permissionsText({ agent, exchanges }: ChatConversation): string {
  const { about, permissions } = agent;
  const tools = about.tools.map(({ name, effect }) => [
    `  ${name}`,
    effect,
    permissions.isAsked({ tool: name, effect }) ? 'asks' : 'runs',
  ]);
  const denials = exchanges.flatMap(({ result }) =>
    result.denials.map(({ tool, reason }) => `  ${tool}: ${reason}`),
  );
  return [
    `mode ${about.mode}`,
    ...alignColumns(tools),
    ...(denials.length === 0 ? [] : ['denied:', ...denials]),
  ].join('\n');
}

async function saveConversation(
  { exchanges, agent, context }: ChatConversation,
  path: string,
): Promise<string> {
  if (exchanges.length === 0) throw emptyConversationError();
  const file = resolve(context.host.cwd, path || `${agent.id}.md`);
  await writeAtomically(file, renderConversation(agent.about, exchanges));
  return `wrote ${file}`;
}

async function exportRows(conversation: ChatConversation, path: string): Promise<string> {
  const last = findEvidence(conversation, '').at(-1);
  if (last === undefined) throw new UserError('no_evidence', 'No query has run yet.');
  const file = resolve(conversation.context.host.cwd, path || `${last.id}.csv`);
  await writeAtomically(file, renderCsv(evidenceTable(last)));
  const more = last.truncated ? '; there are more rows' : '';
  return `wrote ${formatCount(last.rows.length, 'row')} to ${file}${more}`;
}

async function addCase(
  { exchanges, agent, projectDir }: ChatConversation,
  name: string,
): Promise<string> {
  const last = exchanges.at(-1);
  if (last === undefined) throw emptyConversationError();
  const set = name || 'chat';
  if (!/^[a-z][a-z0-9_-]*$/.test(set))
    throw new UserError('usage', 'The name of a question set may contain a-z, 0-9, _ and -.', {
      exitCode: 2,
    });
  const path = `evals/${set}.yaml`;
  const file = join(projectDir, path);
  const { id, text } = await addExchangeAsCase(file, { about: agent.about, ...last });
  await writeAtomically(file, text, { within: projectDir });
  return `added case ${id} to ${path}; check there what it expects`;
}

function emptyConversationError(): UserError {
  return new UserError('nothing_said', 'The conversation is empty.', {
    hint: 'ask a question first',
  });
}
