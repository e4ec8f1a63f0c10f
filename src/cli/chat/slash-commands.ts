import { join } from 'node:path';
import type { OpenAgent } from '../../chat/open-agent.ts';
import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { writeAtomically } from '../../store/files.ts';
import { writeNewFile } from '../export/new-file.ts';
import { chooseChart } from '../chart/choose-chart.ts';
import { renderTextChart } from '../chart/text-chart.ts';
import type { CommandContext } from '../command.ts';
import { alignColumns, renderRecords, renderTable } from '../terminal/table.ts';
import { escapeControls } from '../terminal/text-width.ts';
import { addExchangeAsCase } from './add-exchange-as-case.ts';
import { renderConversation } from './conversation-text.ts';
import { describeReceipt, describeSources, evidenceTable } from './evidence-text.ts';
import { exportEvidence, parseExport } from './export-command.ts';
import { type ChatExchange, lastGrounded, shownExchanges } from './shown-exchanges.ts';
import { splitWords } from './split-words.ts';

/** The running conversation, for slash commands. */
export interface ChatConversation {
  readonly agent: OpenAgent;
  readonly projectDir: string;
  readonly exchanges: ChatExchange[];
  readonly context: CommandContext;
  /** What the ambiguous name of the last answer may mean. */
  choices: readonly string[];
  /** The files that were saved, which the next save may replace. */
  readonly saved: Set<string>;
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
  rows: {
    argument: '[q1] [\\G]',
    summary: 'show the rows as a table; with \\G or --vertical, a line for each column',
    run: rowsText,
  },
  chart: {
    argument: '[q1]',
    summary: 'draw the rows: a line for periods, bars for categories',
    run: chartText,
  },
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
  share: {
    argument: '[file.html]',
    summary: 'write the last answer with chart, rows, SQL and receipt as one HTML file',
    run: shareAnswer,
  },
  export: {
    argument: '[q1] [file]',
    summary: 'save the rows of a query: .csv, .parquet, .xlsx or .md',
    run: exportRows,
  },
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

function findEvidence(
  { agent, exchanges }: ChatConversation,
  id: string,
): readonly QueryEvidence[] {
  const answers = [...agent.about.past, ...exchanges.map(({ result }) => result)];
  const all = answers.flatMap(({ evidence }) => evidence);
  const withEvidence = answers.findLast(({ evidence }) => evidence.length > 0);
  const wanted = id.replace(/^\[(.*)\]$/, '$1');
  const matches =
    id === '' ? (withEvidence?.evidence ?? []) : all.filter((evidence) => evidence.id === wanted);
  if (matches.length > 0) return matches;
  const ids = all.map((evidence) => evidence.id);
  const message = id === '' ? 'No query has run yet.' : `There is no query ${id}.`;
  throw new UserError('no_evidence', message, {
    hint: ids.length === 0 ? 'ask a question first' : `one of ${ids.join(', ')}`,
  });
}

function rowsText(conversation: ChatConversation, argument: string): string {
  const { screen } = conversation.context;
  const id = argument.replace(/(?:^|\s*)(?:\\G|--vertical)$/, '');
  const render = id === argument ? renderTable : renderRecords;
  const tables = findEvidence(conversation, id).map((evidence) => {
    const count = formatCount(evidence.rows.length, 'row');
    const title = `[${evidence.id}] ${count}${evidence.truncated ? ', truncated' : ''}`;
    const warnings = (evidence.warnings ?? []).map((text) => `\nwarning: ${escapeControls(text)}`);
    return `${title}\n${render(evidenceTable(evidence), screen)}${warnings.join('')}`;
  });
  return tables.join('\n\n');
}

function chartText(conversation: ChatConversation, id: string): string {
  const evidence = findEvidence(conversation, id).at(-1);
  if (evidence === undefined) throw noQueryError();
  const choice = chooseChart(evidence);
  if (choice.kind === 'none')
    throw new UserError('no_chart', `The rows of ${evidence.id} make no chart: ${choice.reason}.`, {
      hint: `/rows ${evidence.id} shows them`,
    });
  const charts = choice.charts.map((chart) => renderTextChart(chart, conversation.context.screen));
  return [`[${evidence.id}]`, charts.join('\n\n')].join(' ');
}

function noQueryError(): UserError {
  return new UserError('no_evidence', 'No query has run yet.', { hint: 'ask a question first' });
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
  const curated = permissions.isCuratedGranted()
    ? ['queries of what is curated run without asking']
    : [];
  const denials = exchanges.flatMap(({ result }) =>
    result.denials.map(({ tool, reason }) => `  ${tool}: ${reason}`),
  );
  return [
    `mode ${about.mode}`,
    ...alignColumns(tools),
    ...curated,
    ...(denials.length === 0 ? [] : ['denied:', ...denials]),
  ].join('\n');
}

async function saveConversation(
  { exchanges, agent, context, saved }: ChatConversation,
  path: string,
): Promise<string> {
  const shown = shownExchanges(agent.about.past, exchanges);
  if (shown.length === 0) throw emptyConversationError();
  const { cwd } = context.host;
  const [name = `${agent.id}.md`, flag] = splitWords(path);
  const overwrites = flag === '--overwrite' || saved.has(name);
  const file = await writeNewFile(name, renderConversation(agent.about, shown), {
    cwd,
    overwrites,
    overwriteHint: `/save ${name} --overwrite`,
  });
  saved.add(name);
  return `wrote ${file}`;
}

async function shareAnswer(
  { exchanges, agent, context }: ChatConversation,
  argument: string,
): Promise<string> {
  const { about } = agent;
  const last = lastGrounded(about.past, exchanges);
  if (last === undefined) throw emptyConversationError();
  const [path = `${agent.id}.html`, flag] = splitWords(argument);
  const { writeSharePage } = await import('../share/write-share-page.ts');
  return writeSharePage([last], {
    path,
    about,
    cwd: context.host.cwd,
    overwrites: flag === '--overwrite',
    overwriteHint: `/share ${path} --overwrite`,
  });
}

async function exportRows(conversation: ChatConversation, argument: string): Promise<string> {
  const request = parseExport(argument);
  const evidence = findEvidence(conversation, request.id).at(-1);
  if (evidence === undefined) throw noQueryError();
  return exportEvidence(evidence, request, conversation.context.host.cwd);
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
