import { join, resolve } from 'node:path';
import type { OpenAgent } from '../../chat/open-agent.ts';
import { formatCount } from '../../lib/format-count.ts';
import { UserError } from '../../lib/error.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { writeAtomically } from '../../store/files.ts';
import type { CommandContext } from '../command.ts';
import { renderCsv } from '../terminal/csv.ts';
import { renderTable } from '../terminal/table.ts';
import { caseFile } from './case-file.ts';
import { conversationText } from './conversation-text.ts';
import { evidenceTable, sourcesText, whyText } from './evidence-text.ts';

/** What was said so far, and what a slash command may look at. */
export interface Conversation {
  readonly agent: OpenAgent;
  readonly projectDir: string;
  readonly exchanges: { readonly message: string; readonly result: TurnResult }[];
  readonly context: CommandContext;
}

interface SlashCommand {
  readonly takes?: string;
  readonly what: string;
  /** What is printed. */
  run(conversation: Conversation, argument: string): string | Promise<string>;
}

/** Every command of `ktx chat`, in the order of `/help`. */
export const slashCommands: Readonly<Record<string, SlashCommand>> = {
  help: { what: 'this list', run: () => helpText() },
  sql: {
    takes: '[q1]',
    what: 'the SQL behind the last answer, or behind one query',
    run: ofEvidence(({ id, sql = '(none)' }) => `-- ${id}\n${sql}`),
  },
  rows: {
    takes: '[q1]',
    what: 'the rows as a table',
    run: (conversation, id) =>
      ofEvidence(
        (one) =>
          `[${one.id}] ${formatCount(one.rows.length, 'row')}${one.truncated ? ', cut off' : ''}\n${renderTable(evidenceTable(one), conversation.context.screen)}`,
      )(conversation, id),
  },
  sources: {
    takes: '[q1]',
    what: 'warehouse, files with their commit, what is contested',
    run: ofEvidence(sourcesText),
  },
  why: {
    takes: '[q1]',
    what: 'the receipt: definitions, joins, filters, SQL',
    run: ofEvidence(whyText),
  },
  cost: { what: 'tokens and money so far', run: costText },
  permissions: { what: 'what may run, what was allowed and denied', run: permissionsText },
  save: { takes: '<file.md>', what: 'writes the conversation as Markdown', run: save },
  export: { takes: '<file.csv>', what: 'writes the last rows as CSV', run: exportRows },
  eval: {
    takes: '[name]',
    what: 'makes the last exchange a case of evals/<name>.yaml',
    run: makeCase,
  },
  quit: { what: 'leaves; so do Ctrl-D, and Ctrl-C twice', run: () => '' },
};

function helpText(): string {
  const lines = Object.entries(slashCommands).map(
    ([name, { takes = '', what }]) => `  ${`/${name} ${takes}`.padEnd(20)}${what}`,
  );
  return lines.join('\n');
}

/** For the evidence of the last answer that has any, or the one that is named. */
function ofEvidence(text: (evidence: QueryEvidence) => string): SlashCommand['run'] {
  return (conversation, id) => evidenceNamed(conversation, id).map(text).join('\n\n');
}

function evidenceNamed({ exchanges }: Conversation, id: string): readonly QueryEvidence[] {
  const all = exchanges.flatMap(({ result }) => result.evidence);
  const named =
    id === ''
      ? (exchanges.findLast(({ result }) => result.evidence.length > 0)?.result.evidence ?? [])
      : all.filter((one) => one.id === id.replace(/^\[(.*)\]$/, '$1'));
  if (named.length > 0) return named;
  const hint =
    all.length === 0 ? 'ask something first' : `one of ${all.map((one) => one.id).join(', ')}`;
  throw new UserError(
    'no_evidence',
    id === '' ? 'No query was run yet.' : `There is no evidence ${id}.`,
    { hint },
  );
}

function costText({ exchanges }: Conversation): string {
  const lines = new Map<string, number>();
  const results = exchanges.map(({ result }) => result);
  for (const { usage } of results) {
    for (const [model, { input, output, cacheRead, cacheWrite }] of Object.entries(usage))
      lines.set(model, (lines.get(model) ?? 0) + input + output + cacheRead + cacheWrite);
  }
  const known = results.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  const unknown = results.filter(({ costUsd }) => costUsd === null);
  const gap =
    unknown.length === 0
      ? ''
      : `; of ${formatCount(unknown.length, 'turn')} the cost is unknown (${unknown[0]?.costReason ?? 'not told'})`;
  const tokens = [...lines].map(
    ([model, count]) => `${model}: ${count.toLocaleString('en-US')} tokens`,
  );
  return [...tokens, `${formatCount(results.length, 'turn')}, $${known.toFixed(4)}${gap}`].join(
    '\n',
  );
}

function permissionsText({ agent, exchanges }: Conversation): string {
  const { about, permissions } = agent;
  const tools = about.tools.map(
    ({ name, effect }) =>
      `  ${name.padEnd(24)}${effect.padEnd(10)}${permissions.isAsked({ tool: name, effect }) ? 'asks' : 'runs'}`,
  );
  const denials = exchanges.flatMap(({ result }) =>
    result.denials.map(({ tool, reason }) => `  ${tool}: ${reason}`),
  );
  return [
    `mode ${about.mode}`,
    ...tools,
    ...(denials.length === 0 ? [] : ['not run:', ...denials]),
  ].join('\n');
}

async function save({ exchanges, agent, context }: Conversation, path: string): Promise<string> {
  if (exchanges.length === 0) throw new UserError('nothing_said', 'Nothing was said yet.');
  const file = resolve(context.host.cwd, path || `${agent.id}.md`);
  await writeAtomically(file, conversationText(agent.about, exchanges));
  return `written to ${file}`;
}

async function exportRows(conversation: Conversation, path: string): Promise<string> {
  const last = evidenceNamed(conversation, '').at(-1);
  if (last === undefined) throw new UserError('no_evidence', 'No query was run yet.');
  const file = resolve(conversation.context.host.cwd, path || `${last.id}.csv`);
  await writeAtomically(file, renderCsv(evidenceTable(last)));
  return `${formatCount(last.rows.length, 'row')} written to ${file}${last.truncated ? '; more exist' : ''}`;
}

async function makeCase(
  { exchanges, agent, projectDir }: Conversation,
  name: string,
): Promise<string> {
  const last = exchanges.at(-1);
  if (last === undefined)
    throw new UserError('nothing_said', 'Nothing was asked yet.', { hint: 'ask, then /eval' });
  const chosen = name || 'chat';
  if (!/^[a-z][a-z0-9_-]*$/.test(chosen))
    throw new UserError('usage', 'A question set is named with a-z, 0-9, _ and -.', {
      exitCode: 2,
    });
  const path = `evals/${chosen}.yaml`;
  const { id, text } = await caseFile(join(projectDir, path), { about: agent.about, ...last });
  await writeAtomically(join(projectDir, path), text, { within: projectDir });
  return `case ${id} written to ${path}: say there what a right answer is`;
}
