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
import { alignColumns } from '../terminal/table.ts';
import {
  addGiftsMetric,
  commandsToTry,
  connection,
  metricFile,
  nextChoices,
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
  /** True shows each step; otherwise only what comes out of it. */
  readonly tour: boolean;
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
  { dir, llm, tour: isTour }: DemoOptions,
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
  const options = { dir, made, print, readsProse: llm !== undefined };
  return isTour ? showTour(tour, options) : showOutcome(tour, options);
}

interface ShownDemo {
  readonly dir: string;
  /** What this run created. */
  readonly made: readonly string[];
  readonly print: (lines: readonly string[]) => void;
  readonly readsProse: boolean;
}

/** Each step with everything that comes out of it. */
async function showTour(
  tour: Tour,
  { dir, made, print, readsProse }: ShownDemo,
): Promise<CommandResult> {
  const { context, showPage, ingest } = tour;
  const { screen, host } = context;
  const found = await scanDemo(tour);
  showWarehouse(tour, { found, folder: shortPath(host.cwd, dir), made });
  const first = await ingest(false);
  const facts = await showSourceFacts(tour);
  showPage('written', { report: describeIngest(first, screen) });
  const { report: second, ...edit } = await showEdit(tour, first);
  const answer = await showAnswer(tour);
  const unchanged = isUnchanged(made, first) && edit.added.length === 0;
  if (unchanged) print([nothingChanged]);
  const read = await showProse(tour, { dir, readsProse });
  const next = commandsToTry(dir, host);
  showPage('ending', { commands: next });
  const about = { dir, made, unchanged, found, ...facts };
  const data = { ...about, ingest: [first, second], edit, ...answer, read, next };
  return { exitCode: (read.report ?? second).exitCode, data };
}

/** What a person who has a minute wants to see, the point first. */
async function showOutcome(
  tour: Tour,
  { dir, made, print, readsProse }: ShownDemo,
): Promise<CommandResult> {
  const { project, context, showPage, ingest } = tour;
  const { screen, signal, host, progress } = context;
  const found = await scanDemo(tour);
  const first = await ingest(false);
  progress.update('running the query');
  const answer = await compareWithNaiveSql(project, signal);
  const { rows, tables } = found;
  const company = { rows, tables: tables.length };
  showPage('wrong', { ...company, ...comparisonValues(answer, screen) });
  const contested = await loadMetricConflict(project);
  if (contested !== undefined) showPage('truths', conflictValues(contested, screen));
  const folder = shortPath(host.cwd, dir);
  showPage('learned', { ...learnedValues(first, found), folder });
  const unchanged = isUnchanged(made, first);
  if (unchanged) print([nothingChanged]);
  const read = readsProse ? await showProse(tour, { dir, readsProse }) : undefined;
  const choices = nextChoices(dir, host);
  showPage('choice', { choices: alignColumns(choices) });
  const next = choices.map(([, command]) => command);
  const data = { dir, made, unchanged, found, contested, ingest: [first], ...answer, read, next };
  return { exitCode: (read?.report ?? first).exitCode, data };
}

const nothingChanged = 'Nothing changed since the last run: same files, no commit.';

function isUnchanged(made: readonly string[], { files }: IngestReport): boolean {
  return made.length === 0 && Object.values(files).flat().length === 0;
}

function learnedValues(
  { sources }: IngestReport,
  { primary_keys: keys, links }: Awaited<ReturnType<typeof scanDemo>>,
): PageValues {
  return {
    keys: keys.filter(({ status }) => status === 'accepted').length,
    accepted: links.filter(({ status }) => status === 'accepted').length,
    facts: sources.reduce((sum, { claims }) => sum + claims, 0),
  };
}

async function scanDemo({ project, context }: Tour) {
  const { signal, progress } = context;
  const onProgress = ({ phase, ...counts }: { phase: string; done: number; total: number }) =>
    progress.update(phase, counts);
  const scan = await scanProject(project, { connection, signal, onProgress });
  const tables = scan.tables.map(({ table }) => `${table.schema}.${table.table}`);
  return {
    ...scanReport(scan),
    tables,
    rows: scan.tables.reduce((sum, { profile }) => sum + (profile?.rows ?? 0), 0),
  };
}

interface FoundWarehouse {
  readonly found: Awaited<ReturnType<typeof scanDemo>>;
  readonly folder: string;
  readonly made: readonly string[];
}

function showWarehouse({ context, showPage }: Tour, { found, folder, made }: FoundWarehouse): void {
  const { rows, tables } = found;
  showPage('warehouse', {
    folder,
    state: made.length === 0 ? 'created by an earlier run' : `created ${made.join(', ')}`,
    tables: tables.length,
    schemas: new Set(tables.map((table) => table.split('.')[0])).size,
    rows,
  });
  showPage('findings', findingsValues({ ...found, tables: tables.length }, context.screen));
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
