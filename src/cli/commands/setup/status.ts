import { Option } from '@commander-js/extra-typings';
import { egressGroupings } from '../../../llm/egress/report.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { Project } from '../../../project/open/open.ts';
import type { ReviewQueue } from '../../../project/review/review-queue.ts';
import type { RowRuleBypass } from '../../../project/review/row-rule-bypass.ts';
import type { ConnectionStatus, SourceStatus } from '../../../project/review/status.ts';
import type { EmbeddingsStatus } from '../../../project/setup/embeddings-status.ts';
import type { LlmStatus } from '../../../project/setup/llm-status.ts';
import { fileConnectionFlags } from '../../../warehouse/config.ts';
import {
  defineCommand,
  type CommandContext,
  type CommandResult,
  type NextStep,
} from '../../command.ts';
import { visibleFlag } from '../../flags/visible-flag.ts';
import { describeEmbeddings } from '../../terminal/embeddings-text.ts';
import { describeLlm, describeUsage } from '../../terminal/llm-text.ts';
import { egressResult } from '../../terminal/egress-text.ts';
import { pastRunsResult } from './past-runs.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import {
  conflictTitle,
  openWorkLines,
  removedSourceLines,
  unusedFactLines,
} from '../learn/open-work-text.ts';

export const statusCommand = defineCommand({
  description:
    'Shows which connections are configured, reachable and up to date, what the semantic layer contains, what waits for you, and what is ' +
    'not committed.',
  examples: [
    ['ktx status', 'connects to every warehouse'],
    ['ktx status --fast', 'connects to nothing and pays nothing'],
    ['ktx status --usage', 'tokens and cost of the model calls'],
    ['ktx status --runs', 'the last ingests, evals and conversations, with their cost'],
    ['ktx status --egress', 'values of the warehouse that were sent to a model, by column'],
  ],
  define: (command) =>
    command
      .option('--fast', 'skip slow and paid checks')
      .option('--usage', 'show past model calls by backend, model and role')
      .option('--runs', 'show the last ingests, evals and conversations with their cost')
      .option('--egress', 'show how many values of which columns were sent to which model')
      .addOption(
        new Option('--by <grouping>', 'with --egress: what a line stands for')
          .choices(egressGroupings)
          .default('column' as const),
      )
      .option(...visibleFlag),
  async run({ options }, context) {
    const project = await context.project({ mayAsk: false });
    if (options.usage === true) return usageResult(project);
    if (options.runs === true) return pastRunsResult(project);
    if (options.egress === true) return egressResult(project, options.by);
    if (options.visible === true) return visibleResult(project, context);
    const { readProjectStatus } = await import('../../../project/review/status.ts');
    context.progress.update('connecting to the warehouses');
    const depth = options.fast === true ? 'fast' : 'kept';
    const status = await readProjectStatus(project, depth, context.signal);
    const { connections, sources, attention: queue, uncommitted, llm, embeddings, git } = status;
    const commitText =
      uncommitted?.length === 0 ? 'all committed' : `not committed: ${uncommitted?.join(', ')}`;
    const text = [
      status.dir,
      ...connections.flatMap((connection) => connectionLines(connection, context.screen)),
      ...sources.flatMap((source) => sourceLines(source, context.screen)),
      ...removedSourceLines(status.former),
      ...bypassLines(status.unruled, context.screen),
      ...status.unreadableFiles.map(({ path, reason }) =>
        context.screen.style('yellow', `${path} is not read: ${reason}`),
      ),
      ...queueLines(queue, context.screen),
      ...describeLlm(llm),
      ...describeEmbeddings(embeddings),
      uncommitted === undefined ? (git ?? 'no git repository') : commitText,
    ];
    return {
      data: status,
      text: text.join('\n'),
      hasCommands: true,
      next: [nextStep(status, queue)],
      failure:
        connectionFailure([...connections, ...sources]) ??
        llmFailure(llm) ??
        embeddingsFailure(embeddings),
    };
  },
});

async function visibleResult(
  project: Project,
  { signal, screen }: CommandContext,
): Promise<CommandResult> {
  const { readVisibleStatus } = await import('../../../project/visible/status-visible.ts');
  const status = await readVisibleStatus(project, signal);
  const text = [
    ...status.connections.flatMap((own) => connectionLines(own, screen)),
    ...status.sources.flatMap((own) => sourceLines(own, screen)),
    ...queueLines(status.attention, screen),
  ].join('\n');
  return { data: status, text };
}

const usageColumns = [
  ...['backend', 'model', 'role'].map((name) => ({ name, type: 'string' })),
  ...['calls', 'failed', 'in', 'out', 'cache read', 'cache write', 'USD'].map((name) => ({
    name,
    type: 'number',
  })),
];

async function usageResult(project: Project): Promise<CommandResult> {
  const { usageReport } = await import('../../../llm/governor/usage.ts');
  const lines = usageReport(project.journal().db);
  if (lines.length === 0) return { data: { usage: [] }, text: 'No model was called yet.' };
  const rows = lines.map((line) => [
    line.backend,
    line.model,
    line.role,
    line.calls,
    line.failed,
    line.input,
    line.output,
    line.cacheRead,
    line.cacheWrite,
    line.costUsd === null ? 'unknown' : line.costUsd.toFixed(4),
  ]);
  const reasons = new Set(lines.flatMap(({ costReason }) => costReason ?? []));
  return {
    data: { usage: lines },
    table: { columns: usageColumns, rows },
    notes: [describeUsage(lines), ...[...reasons].map((reason) => `cost unknown: ${reason}`)],
  };
}

function connectionLines(status: ConnectionStatus, { style }: Screen): readonly string[] {
  const { connection, driver, reachable, drift, ingested, invalid } = status;
  const { privileges = [], unreadFiles = [] } = status;
  const reachableText = !status.approved
    ? style('yellow', notApproved)
    : reachable === true
      ? style('green', ' reachable')
      : style('red', reachable === false ? ' not reachable' : '');
  const contents = [
    formatCount(status.datasets, 'dataset'),
    formatCount(status.metrics, 'metric'),
    formatCount(status.relationships, 'relationship'),
    ...(drift === undefined ? [] : [driftText(drift)]),
  ];
  return [
    `${connection} (${driver})${reachableText}: ${ingested ? contents.join(', ') : 'not ingested yet'}`,
    ...privileges.map((finding) => `  login: ${finding}`),
    ...unreadFiles.map(
      ({ reason }) => `  ${style('yellow', `not read: ${escapeControls(reason)}`)}`,
    ),
    ...invalid.map((problem) => `  ${style('yellow', problem)}`),
  ];
}

const notApproved = ' not approved on this machine (ktx trust), so ktx does not connect';

function driftText(changedTables: number): string {
  return changedTables === 0
    ? 'up to date'
    : `${formatCount(changedTables, 'table')} changed since the last ingest`;
}

function sourceLines(source: SourceStatus, { style }: Screen): readonly string[] {
  const { connection, driver, approved, ingested, items, reachable, misses = [] } = source;
  const isUnreachable = reachable === false ? style('red', ' not reachable') : '';
  const reach = reachable === true ? style('green', ' reachable') : isUnreachable;
  const approval = approved ? reach : notApproved;
  return [
    `${connection} (${driver})${approval}: ${ingested ? formatCount(items, 'item') : 'not ingested yet'}`,
    ...misses.map((line) => `  ${style('yellow', escapeControls(line))}`),
  ];
}

function bypassLines(bypasses: readonly RowRuleBypass[], { style }: Screen): readonly string[] {
  return bypasses.map(
    ({ connection, ruled }) =>
      `  ${style('yellow', 'no rules')}  ${connection} reads the same database as ${ruled}, but without its row rules`,
  );
}

function queueLines(queue: ReviewQueue, screen: Screen): readonly string[] {
  const mark = screen.style('yellow', 'contested');
  return [
    ...queue.contested.map(
      (conflict) => `  ${mark} ${conflictTitle(conflict)}: ${conflict.variants.length} versions`,
    ),
    ...openWorkLines(queue, screen),
    ...unusedFactLines(queue.unfit),
  ];
}

interface StatusParts {
  readonly connections: readonly ConnectionStatus[];
  readonly sources: readonly SourceStatus[];
  readonly llm: LlmStatus;
  readonly embeddings: EmbeddingsStatus;
}

function nextStep(
  { connections, sources, llm, embeddings }: StatusParts,
  { contested }: ReviewQueue,
): NextStep {
  const isApproved = [...connections, ...sources].every(({ approved }) => approved);
  if (!isApproved || [llm, embeddings].some(({ state }) => state === 'unapproved'))
    return ['ktx trust', 'shows what this project would do on this machine, and asks'];
  if (connections.length === 0) return [`ktx connection add <name> ${fileConnectionFlags}`];
  const needsIngest =
    connections.some(({ ingested, drift = 0 }) => !ingested || drift > 0) ||
    sources.some(({ ingested }) => !ingested);
  if (needsIngest) return ['ktx ingest'];
  if (contested.length > 0) return ['ktx review', 'resolves conflicts between sources'];
  return connections.some(({ invalid }) => invalid.length > 0)
    ? ['ktx sl validate']
    : ['ktx sl list'];
}

/** One error for all connections, each with its message; the first one decides the code. */
function connectionFailure(
  connections: readonly Pick<ConnectionStatus, 'connection' | 'error'>[],
): UserError | undefined {
  const errors = connections.flatMap(({ connection, error }) =>
    error === undefined ? [] : [{ ...error, connection }],
  );
  const [first] = errors;
  if (first === undefined) return undefined;
  const lines = errors.map(({ connection, message }) => `${connection}: ${message}`);
  return new UserError(first.code, lines.join('\n'), first);
}

function llmFailure({ backend, error }: LlmStatus): UserError | undefined {
  return error && new UserError(error.code, `${backend}: ${error.message}`, error);
}

function embeddingsFailure({ error }: EmbeddingsStatus): UserError | undefined {
  return error && new UserError(error.code, error.message, error);
}
