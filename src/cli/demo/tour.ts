import { suggestedBackend, type BackendName } from '../../llm/backends.ts';
import type { IngestReport } from '../../ingest/report.ts';
import { scanProject } from '../../project/learn/scan.ts';
import { openProject, type Project } from '../../project/open/open.ts';
import { loadReviewQueue } from '../../project/review/review-queue.ts';
import { scanReport } from '../../scan/report.ts';
import type { CommandContext, CommandResult } from '../command.ts';
import { describeIngest } from '../commands/learn/ingest-report-text.ts';
import { ingestFailure, loadRunUsage, runIngest } from '../commands/learn/run-ingest.ts';
import { receiptLines } from '../commands/sl/receipt-text.ts';
import { ktxInvocation, shortPath } from '../terminal/invocation.ts';
import { describeUsage } from '../terminal/llm-text.ts';
import {
  addGiftsMetric,
  commandsToTry,
  connection,
  metricFile,
  prepareDemoFolder,
} from './demo-folder.ts';
import { configureDemoLlm } from './demo-llm.ts';
import { compareWithNaiveSql, dimensions, metric } from './naive-comparison.ts';
import {
  comparisonValues,
  conflictValues,
  findingsValues,
  renderAnswer,
  renderFacts,
  renderPage,
  type PageName,
  type PageValues,
} from './pages.ts';
import { loadMetricConflict, loadModelFacts, loadSourceFacts } from './source-facts.ts';

interface DemoOptions {
  readonly dir: string;
  /** The backend that reads the prose; without one nothing reads it. */
  readonly llm: BackendName | undefined;
}

/** A tour in progress. Each page is printed as soon as its values are known. */
interface Tour {
  readonly project: Project;
  readonly context: CommandContext;
  readonly showPage: (name: PageName, values: PageValues) => void;
  readonly ingest: (llm: boolean) => Promise<IngestReport>;
}

/** Goes from a database without keys to an answer, in the order in which a person would. */
export async function runDemo(
  { dir, llm }: DemoOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const { screen, progress, host } = context;
  const print = (lines: readonly string[]): void => {
    progress.clear();
    if (screen.format !== 'json') host.stdout.write(`${lines.join('\n')}\n\n`);
  };
  let number = 0;
  const showPage: Tour['showPage'] = (name, values) => {
    number += 1;
    print(renderPage({ name, number }, values, screen));
  };
  progress.update('creating the sample company');
  const made = await prepareDemoFolder(dir, host.env, context.signal);
  if (llm !== undefined) await configureDemoLlm({ dir, backend: llm }, context);
  await using disposables = new AsyncDisposableStack();
  const project = disposables.adopt(
    await openProject(dir, { runId: context.runId, env: host.env }),
    (opened) => opened.close(),
  );
  const ingest: Tour['ingest'] = async (withModel) => {
    const options = { connections: [], dryRun: false, llm: withModel };
    const report = await runIngest(project, options, { ...context, printEvent: () => undefined });
    const failure = ingestFailure(report);
    if (failure !== undefined) throw failure;
    return report;
  };
  const tour: Tour = { project, context, showPage, ingest };
  const found = await showWarehouse(tour, { folder: shortPath(host.cwd, dir), made });
  const first = await ingest(false);
  const facts = await showSourceFacts(tour);
  showPage('written', { report: describeIngest(first, screen) });
  const { report: second, ...edit } = await showEdit(tour, first);
  const answer = await showAnswer(tour);
  const unchanged =
    made.length === 0 && edit.added.length === 0 && Object.values(first.files).flat().length === 0;
  if (unchanged) print(['Nothing changed since the last run: same files, no commit.']);
  const read = await showProse(tour, { dir, readsProse: llm !== undefined });
  const next = commandsToTry(dir, host);
  showPage('ending', { commands: next });
  const data = {
    dir,
    made,
    unchanged,
    found,
    ...facts,
    ingest: [first, second],
    edit,
    ...answer,
    read,
    next,
  };
  return { exitCode: (read.report ?? second).exitCode, data };
}

async function showWarehouse(
  { project, context, showPage }: Tour,
  { folder, made }: { folder: string; made: readonly string[] },
) {
  const { signal, screen, progress } = context;
  const onProgress = ({ phase, ...counts }: { phase: string; done: number; total: number }) =>
    progress.update(phase, counts);
  const scan = await scanProject(project, { connection, signal, onProgress });
  const tables = scan.tables.map(({ table }) => `${table.schema}.${table.table}`);
  const found = {
    ...scanReport(scan),
    tables,
    rows: scan.tables.reduce((sum, { profile }) => sum + (profile?.rows ?? 0), 0),
  };
  showPage('warehouse', {
    folder,
    state: made.length === 0 ? 'created by an earlier run' : `created ${made.join(', ')}`,
    tables: tables.length,
    schemas: new Set(scan.tables.map(({ table }) => table.schema)).size,
    rows: found.rows,
  });
  showPage('findings', findingsValues({ ...found, tables: tables.length }, screen));
  return found;
}

async function showSourceFacts({ project, context, showPage }: Tour) {
  const told = await loadSourceFacts(project, context.signal);
  showPage('facts', { facts: renderFacts(told, context.screen) });
  const contested = await loadMetricConflict(project);
  if (contested !== undefined) showPage('conflict', conflictValues(contested, context.screen));
  return { told, contested };
}

async function showEdit({ project, context, showPage, ingest }: Tour, first: IngestReport) {
  const added = (await addGiftsMetric(project.dir)) ?? [];
  const report = added.length === 0 ? first : await ingest(false);
  const outcome = report.files.changed.includes(metricFile)
    ? 'ktx changed the file'
    : 'the edit is still there, with its comment';
  showPage('edit', {
    change: [metricFile, ...added.map((line) => context.screen.style('green', `+${line}`))],
    verdict:
      added.length === 0
        ? 'Written in an earlier run, and still there.'
        : `After another ingest, ${outcome}. It is yours to commit.`,
  });
  return { file: metricFile, added, report };
}

async function showAnswer({ project, context, showPage }: Tour) {
  const { screen } = context;
  context.progress.update('running the query');
  const result = await compareWithNaiveSql(project, context.signal);
  const { sql, receipt } = result.answer;
  showPage('answer', {
    question: `${metric} by ${dimensions.join(' and ')}`,
    grid: renderAnswer(result, screen),
    sql: [screen.style('dim', 'the SQL that ran'), ...sql.split('\n')],
    receipt: [screen.style('dim', 'the receipt'), ...receiptLines(receipt)],
  });
  showPage('comparison', comparisonValues(result, screen));
  return result;
}

const maxShownFacts = 8;

/** What a model read, or what is left for one. */
async function showProse(
  { project, context, showPage, ingest }: Tour,
  { dir, readsProse }: { dir: string; readsProse: boolean },
) {
  const { screen, host } = context;
  const report = readsProse ? await ingest(true) : undefined;
  const { pending } = await loadReviewQueue(project);
  const found = readsProse ? await loadModelFacts(project) : [];
  if (report !== undefined) {
    showPage('read', {
      found: renderFacts(found.slice(0, maxShownFacts), screen),
      report: describeIngest(report, screen),
      usage: describeUsage(await loadRunUsage(project)),
    });
  } else if (pending.length > 0) {
    const ktx = ktxInvocation(host, undefined);
    const folder = shortPath(host.cwd, dir);
    showPage('pending', {
      pending: pending.length,
      command: [`${ktx} demo --dir ${folder} --llm ${suggestedBackend}`],
    });
  }
  return { report, found, pending };
}
