import { suggestedBackend, type BackendName } from '../../llm/backends.ts';
import type { IngestReport } from '../../ingest/report.ts';
import { loadReviewQueue } from '../../project/review/review-queue.ts';
import { openProject, type Project } from '../../project/open/open.ts';
import { scanProject } from '../../project/learn/scan.ts';
import { scanReport } from '../../scan/report.ts';
import type { CommandContext, Outcome } from '../command.ts';
import { describeIngest, ingestFailure, runIngest, usageOf } from '../commands/learn/ingest.ts';
import { usageText } from '../terminal/llm-lines.ts';
import { invocation, shortPath } from '../terminal/output.ts';
import { receiptLines } from '../commands/sl/query.ts';
import { addGifts, commandsToTry, connection, metricFile, prepareFolder } from './folder.ts';
import {
  answerGrid,
  comparison,
  findings,
  page,
  toldTable,
  truths,
  type PageName,
} from './pages.ts';
import { askAll, dimensions, metric } from './question.ts';
import { prepareReader } from './reader.ts';
import { readByModel, toldIn, twoTruths } from './told.ts';

interface Asked {
  readonly dir: string;
  /** Who goes on to read the prose; nobody where it is left out. */
  readonly llm: BackendName | undefined;
}

/** A tour under way: each page is printed when it is known. */
interface Tour {
  readonly project: Project;
  readonly context: CommandContext;
  readonly show: (name: PageName, values: Parameters<typeof page>[1]) => void;
  readonly ingest: (llm: boolean) => Promise<IngestReport>;
}

/** The way from a database without keys to an answer, in the order in which a person would go it. */
export async function runDemo({ dir, llm }: Asked, context: CommandContext): Promise<Outcome> {
  const { screen, progress, surroundings } = context;
  const isSilent = screen.format === 'json';
  let number = 0;
  const show: Tour['show'] = (name, values) => {
    progress.clear();
    number += 1;
    if (!isSilent)
      surroundings.stdout.write(`${page({ name, number }, values, screen).join('\n')}\n\n`);
  };
  progress.update('making the sample company');
  const made = await prepareFolder(dir, context.signal);
  if (llm !== undefined) await prepareReader({ dir, backend: llm }, context);
  await using closing = new AsyncDisposableStack();
  const project = closing.adopt(
    await openProject(dir, { runId: context.runId, env: surroundings.env }),
    (open) => open.close(),
  );
  const ingest: Tour['ingest'] = async (withModel) => {
    const asked = { connections: [], dryRun: false, llm: withModel };
    const report = await runIngest(project, asked, { ...context, event: () => undefined });
    const failure = ingestFailure(report);
    if (failure !== undefined) throw failure;
    return report;
  };
  const tour: Tour = { project, context, show, ingest };
  const found = await lookAtWarehouse(tour, { folder: shortPath(surroundings.cwd, dir), made });
  const first = await ingest(false);
  const said = await tellSources(tour);
  show('written', { report: describeIngest(first, screen) });
  const edit = await editByHand(tour, first);
  const answers = await answer(tour);
  const unchanged =
    made.length === 0 && edit.added.length === 0 && Object.values(first.files).flat().length === 0;
  if (unchanged && !isSilent)
    surroundings.stdout.write('Nothing changed since the last run: same files, no commit.\n\n');
  const read = await readProse(tour, { dir, isAsked: llm !== undefined });
  const next = commandsToTry(dir, surroundings);
  show('ending', { commands: next });
  const { report: second, ...added } = edit;
  const data = {
    dir,
    made,
    unchanged,
    found,
    ...said,
    ingest: [first, second],
    edit: added,
    ...answers,
    read,
    next,
  };
  return { exitCode: (read.report ?? second).exitCode, data };
}

async function lookAtWarehouse(
  { project, context, show }: Tour,
  { folder, made }: { folder: string; made: readonly string[] },
) {
  const { signal, screen, progress } = context;
  const onProgress = ({ phase, ...counts }: { phase: string; done: number; total: number }) =>
    progress.update(phase, counts);
  const scanned = await scanProject(project, { connection, signal, onProgress });
  const tables = scanned.tables.map(({ table }) => `${table.schema}.${table.table}`);
  const found = {
    ...scanReport(scanned),
    tables,
    rows: scanned.tables.reduce((sum, { profile }) => sum + (profile?.rows ?? 0), 0),
  };
  show('warehouse', {
    folder,
    state: made.length === 0 ? 'it stands from an earlier run' : `made ${made.join(', ')}`,
    tables: tables.length,
    schemas: new Set(scanned.tables.map(({ table }) => table.schema)).size,
    rows: found.rows,
  });
  show('findings', findings({ ...found, tables: tables.length }, screen));
  return found;
}

async function tellSources({ project, context, show }: Tour) {
  const told = await toldIn(project, context.signal);
  show('told', { told: toldTable(told, context.screen) });
  const contested = await twoTruths(project);
  if (contested !== undefined) show('truths', truths(contested, context.screen));
  return { told, contested };
}

async function editByHand({ project, context, show, ingest }: Tour, first: IngestReport) {
  const added = (await addGifts(project.dir)) ?? [];
  const report = added.length === 0 ? first : await ingest(false);
  const stands = report.files.changed.includes(metricFile)
    ? 'ktx changed the file'
    : 'the edit stands, comment included';
  show('edit', {
    change: [metricFile, ...added.map((line) => context.screen.style('green', `+${line}`))],
    verdict:
      added.length === 0
        ? 'Written in an earlier run, and it stands.'
        : `Ingested again: ${stands}, and it stays yours to commit.`,
  });
  return { file: metricFile, added, report };
}

async function answer({ project, context, show }: Tour) {
  const { screen } = context;
  context.progress.update('asking');
  const answers = await askAll(project, context.signal);
  show('answer', {
    question: `${metric} by ${dimensions.join(' and ')}`,
    grid: answerGrid(answers, screen),
    sql: [screen.style('dim', 'the SQL that ran'), ...answers.answer.sql.split('\n')],
    receipt: [screen.style('dim', 'the receipt'), ...receiptLines(answers.answer.receipt)],
  });
  show('comparison', comparison(answers, screen));
  return answers;
}

/** The model's part, or what waits for it. */
async function readProse(
  { project, context, show, ingest }: Tour,
  { dir, isAsked }: { dir: string; isAsked: boolean },
) {
  const { screen, surroundings } = context;
  const report = isAsked ? await ingest(true) : undefined;
  const { pending } = await loadReviewQueue(project);
  const found = isAsked ? await readByModel(project) : [];
  if (report !== undefined) {
    const usage = usageText(await usageOf(project));
    show('read', {
      found: toldTable(found.slice(0, 8), screen),
      report: describeIngest(report, screen),
      usage,
    });
  } else if (pending.length > 0) {
    const ktx = invocation(surroundings, undefined);
    show('pending', {
      pending: pending.length,
      command: [`${ktx} demo --dir ${shortPath(surroundings.cwd, dir)} --llm ${suggestedBackend}`],
    });
  }
  return { report, found, pending };
}
