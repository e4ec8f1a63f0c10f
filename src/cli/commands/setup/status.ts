import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { ReviewQueue } from '../../../project/review/review-queue.ts';
import type { LlmStatus } from '../../../project/setup/llm-setup.ts';
import type { Project } from '../../../project/open/open.ts';
import type { RowRuleBypass } from '../../../project/review/row-rule-bypass.ts';
import type { ConnectionStatus, SourceStatus } from '../../../project/review/status.ts';
import { defineCommand, type Outcome } from '../../command.ts';
import { formerLines, unfitLines, waitingLines } from '../learn/ingest.ts';
import { llmLines, usageText } from '../../terminal/llm-lines.ts';
import type { Screen } from '../../terminal/output.ts';
import { printable } from '../../terminal/text-width.ts';
import { fileConnectionFlags } from '../../../warehouse/config.ts';

export const status = defineCommand({
  description:
    'What is configured, reachable and fresh, what the semantic layer holds, and what is not committed.',
  examples: [
    ['ktx status', 'asks every warehouse'],
    ['ktx status --fast', 'asks no warehouse, pays no model'],
    ['ktx status --usage', 'tokens and money of the model calls'],
  ],
  define: (command) =>
    command
      .option('--fast', 'make no slow call and no paid one')
      .option('--usage', 'what model calls took so far, by backend, model and role'),
  async run({ options }, context) {
    const project = await context.project();
    if (options.usage === true) return usage(project);
    const { projectStatus } = await import('../../../project/review/status.ts');
    context.progress.update('asking the warehouses');
    const data = await projectStatus(project, options.fast === true, context.signal);
    const {
      dir,
      connections,
      sources,
      former,
      unruled,
      attention,
      uncommitted,
      llm,
      git = 'no git repository',
    } = data;
    const files =
      uncommitted?.length === 0 ? 'all committed' : `not committed: ${uncommitted?.join(', ')}`;
    const lines = [
      ...connections.flatMap((each) => describe(each, context.screen)),
      ...sources.map(describeSource),
      ...formerLines(former),
    ];
    const open = [
      ...unruledLines(unruled, context.screen),
      ...attentionLines(attention, context.screen),
    ];
    const text = [
      dir,
      ...lines,
      ...open,
      ...llmLines(llm),
      uncommitted === undefined ? git : files,
    ].join('\n');
    return {
      data,
      text,
      tells: true,
      next: nextSteps(connections, sources, attention),
      failure: unreachable(connections) ?? unusable(llm),
    };
  },
});

async function usage(project: Project): Promise<Outcome> {
  const { usageReport } = await import('../../../llm/governor/usage.ts');
  const lines = usageReport(project.journal().db);
  if (lines.length === 0) return { data: { usage: [] }, text: 'No model was called yet.' };
  const columns = [
    'backend',
    'model',
    'role',
    'calls',
    'failed',
    'in',
    'out',
    'cache read',
    'cache write',
    'USD',
  ];
  const rows = lines.map((line) => {
    const { backend, model, role, calls, failed, input, output, cacheRead, cacheWrite, costUsd } =
      line;
    return [
      backend,
      model,
      role,
      calls,
      failed,
      input,
      output,
      cacheRead,
      cacheWrite,
      costUsd === null ? 'unknown' : costUsd.toFixed(4),
    ];
  });
  const named = columns.map((name, index) => ({ name, type: index < 3 ? 'string' : 'number' }));
  const reasons = [...new Set(lines.flatMap(({ costReason }) => costReason ?? []))].map(
    (reason) => `cost unknown: ${reason}`,
  );
  return {
    data: { usage: lines },
    table: { columns: named, rows },
    notes: [usageText(lines), ...reasons],
  };
}

function unusable({ backend, error }: LlmStatus): UserError | undefined {
  return error && new UserError(error.code, `${backend}: ${error.message}`, error);
}

/** The first cause decides the code; every connection says its own. */
function unreachable(connections: readonly ConnectionStatus[]): UserError | undefined {
  const causes = connections.flatMap(({ connection, error }) =>
    error === undefined ? [] : [{ ...error, connection }],
  );
  const [first] = causes;
  return (
    first &&
    new UserError(
      first.code,
      causes.map(({ connection, message }) => `${connection}: ${message}`).join('\n'),
      first,
    )
  );
}

function describe(found: ConnectionStatus, { style }: Screen): string[] {
  const {
    connection,
    driver,
    reachable,
    drift,
    ingested,
    datasets,
    metrics,
    relationships,
    privileges = [],
    invalid,
  } = found;
  const answer =
    reachable === true
      ? style('green', ' reachable')
      : style('red', reachable === false ? ' no answer' : '');
  const changed =
    drift === 0 ? ', fresh' : `, ${formatCount(drift ?? 0, 'table')} changed since the last ingest`;
  const holds = `${formatCount(datasets, 'dataset')}, ${formatCount(metrics, 'metric')}, ${formatCount(relationships, 'relationship')}`;
  return [
    `${connection} (${driver})${answer}: ${ingested ? holds + (drift === undefined ? '' : changed) : 'not ingested yet'}`,
    ...privileges.map((finding) => `  login: ${finding}`),
    ...invalid.map((problem) => `  ${style('yellow', problem)}`),
  ];
}

function describeSource({ connection, driver, ingested, items }: SourceStatus): string {
  return `${connection} (${driver}): ${ingested ? formatCount(items, 'item') : 'not ingested yet'}`;
}

function unruledLines(unruled: readonly RowRuleBypass[], { style }: Screen): readonly string[] {
  return unruled.map(
    ({ connection, ruled }) =>
      `  ${style('yellow', 'no rules')}  ${connection} reads the database of ${ruled}, whose row rules do not hold there`,
  );
}

/** What waits for somebody, and what has no place, by name. */
function attentionLines(
  { contested, unfit, ...others }: ReviewQueue,
  screen: Screen,
): readonly string[] {
  const mark = screen.style('yellow', 'contested');
  return [
    ...contested.map(
      ({ subject, kind, variants }) =>
        `  ${mark} ${printable(subject)} ${kind}: ${variants.length} versions`,
    ),
    ...waitingLines(others, screen),
    ...unfitLines(unfit),
  ];
}

function nextSteps(
  connections: readonly ConnectionStatus[],
  sources: readonly SourceStatus[],
  { contested }: ReviewQueue,
): readonly string[] {
  if (connections.length === 0) return [`ktx connection add <name> ${fileConnectionFlags}`];
  const isNew =
    connections.some(({ ingested, drift = 0 }) => !ingested || drift > 0) ||
    sources.some(({ ingested }) => !ingested);
  if (isNew) return ['ktx ingest'];
  if (contested.length > 0) return ['ktx review  decide what sources say differently'];
  return connections.some(({ invalid }) => invalid.length > 0)
    ? ['ktx sl validate']
    : ['ktx sl list'];
}
