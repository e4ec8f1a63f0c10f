import type { OpenAgent } from '../../chat/open-agent.ts';
import { addAnswerAsCase } from '../../eval/cases/add-answer-as-case.ts';
import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { writeNewFile } from '../export/new-file.ts';
import { chooseChart } from '../chart/choose-chart.ts';
import { renderTextChart } from '../chart/text-chart.ts';
import type { CommandContext } from '../command.ts';
import { alignColumns, renderRecords, renderTable } from '../terminal/table.ts';
import { escapeControls, wrapText } from '../terminal/text-width.ts';
import { renderConversation } from './conversation-text.ts';
import { describeReceipt, describeSources, evidenceTable } from './evidence-text.ts';
import { exportEvidence, parseExport } from './export-command.ts';
import {
  type ChatExchange,
  groundedExchanges,
  lastGrounded,
  shownExchanges,
} from './shown-exchanges.ts';
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
  help: { summary: 'show this list', run: ({ context }) => helpText(context.screen.width) },
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
    run: forEvidence((evidence, { context }) => wrapReceipt(evidence, context.screen.width)),
  },
  cost: { summary: 'show tokens and cost so far', run: costText },
  permissions: { summary: 'show which tools may run, and what was denied', run: permissionsText },
  save: {
    argument: '<file.md>',
    summary: 'save the conversation as Markdown',
    run: saveConversation,
  },
  share: {
    argument: '[file.html] [--all]',
    summary:
      'write the last answer (all with --all) with chart, rows, SQL and receipt as one HTML file',
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

function helpText(width: number | undefined): string {
  const entries = Object.entries(slashCommands).map(([name, { argument = '', summary }]) => ({
    command: `  ${`/${name} ${argument}`.trimEnd()}`,
    summary,
  }));
  const indent = Math.max(...entries.map(({ command }) => command.length)) + 2;
  const rows = entries.flatMap(({ command, summary }) =>
    wrapText(summary, width && width - indent).map((line, index) => [
      index === 0 ? command : '',
      line,
    ]),
  );
  return alignColumns(rows).join('\n');
}

/**
 * Runs on the query that the argument names, otherwise on those of the last answer that has any.
 */
function forEvidence(
  render: (evidence: QueryEvidence, conversation: ChatConversation) => string,
): SlashCommand['run'] {
  return (conversation, id) =>
    findEvidence(conversation, id)
      .map((evidence) => render(evidence, conversation))
      .join('\n\n');
}

/** Lines that go on stay under their own beginning. */
function wrapReceipt(evidence: QueryEvidence, width: number | undefined): string {
  const lines = describeReceipt(evidence).split('\n');
  return lines
    .flatMap((line) => {
      const indent = /^ */.exec(line)?.[0] ?? '';
      const words = line.slice(indent.length);
      return wrapText(words, width && width - indent.length).map((part) => indent + part);
    })
    .join('\n');
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
  const words = splitWords(argument);
  const [path = `${agent.id}.html`] = words.filter((word) => !word.startsWith('--'));
  const hasAll = words.includes('--all');
  const last = hasAll ? [] : [lastGrounded(about.past, exchanges)];
  const shown = hasAll ? groundedExchanges(about.past, exchanges) : last;
  const answers = shown.filter((answer) => answer !== undefined);
  if (answers.length === 0) throw emptyConversationError();
  const { writeSharePage } = await import('../share/write-share-page.ts');
  return writeSharePage(answers, {
    path,
    about,
    cwd: context.host.cwd,
    overwrites: words.includes('--overwrite'),
    overwriteHint: `/share ${path}${hasAll ? ' --all' : ''} --overwrite`,
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
  const { agent: who, connections, past } = agent.about;
  const turns = [
    ...past,
    ...exchanges.map(({ message, result }) => ({ message, evidence: result.evidence })),
  ];
  if (turns.length === 0) throw emptyConversationError();
  const asked = { turns, agent: who, connection: connections[0] };
  const { id, file } = await addAnswerAsCase(projectDir, name || 'chat', asked);
  return `added case ${id} to ${file}; check there what it expects`;
}

function emptyConversationError(): UserError {
  return new UserError('nothing_said', 'The conversation is empty.', {
    hint: 'ask a question first',
  });
}
