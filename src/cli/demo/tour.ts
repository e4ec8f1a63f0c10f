import { openProject } from '../../project/open.ts';
import { scanProject } from '../../project/scan.ts';
import { scanReport } from '../../scan/report.ts';
import type { CommandContext, Outcome } from '../command.ts';
import { describeIngest, ingestFailure, runIngest } from '../ingest.ts';
import { shortPath } from '../output.ts';
import { receiptLines } from '../sl-query.ts';
import { addRevenue, commandsToTry, connection, metricFile, prepareFolder } from './folder.ts';
import { answerGrid, comparison, findings, page, type PageName } from './pages.ts';
import { askAll, dimensions, metric } from './question.ts';

/** The way from a database without keys to an answer, in the order in which a person would go it. Each page is printed when it is known. */
export async function runDemo(dir: string, context: CommandContext): Promise<Outcome> {
  const { signal, screen, progress, surroundings } = context;
  const show = (name: PageName, values: Parameters<typeof page>[1]): void => {
    progress.clear();
    if (screen.format !== 'json') surroundings.stdout.write(`${page(name, values, screen).join('\n')}\n\n`);
  };
  progress.update('making the sample company');
  const made = await prepareFolder(dir, signal);
  await using closing = new AsyncDisposableStack();
  const project = closing.adopt(await openProject(dir, { runId: context.runId }), (open) => open.close());
  const ingest = async () => {
    const report = await runIngest(project, { connections: [], dryRun: false }, { ...context, event: () => undefined });
    const failure = ingestFailure(report);
    if (failure !== undefined) throw failure;
    return report;
  };
  const onProgress = ({ phase, ...counts }: { phase: string; done: number; total: number }) => progress.update(phase, counts);
  const scanned = await scanProject(project, { connection }, { signal, onProgress });
  const tables = scanned.tables.map(({ table }) => `${table.schema}.${table.table}`);
  const found = { ...scanReport(scanned), tables, rows: scanned.tables.reduce((sum, { profile }) => sum + (profile?.rows ?? 0), 0) };
  show('warehouse', {
    folder: shortPath(surroundings.cwd, dir),
    state: made.length === 0 ? 'it stands from an earlier run' : `made ${made.join(', ')}`,
    tables: tables.length,
    schemas: new Set(scanned.tables.map(({ table }) => table.schema)).size,
    rows: found.rows,
  });
  show('findings', findings({ ...found, tables: tables.length }, screen));
  const first = await ingest();
  show('written', { report: describeIngest(first, screen) });
  const added = await addRevenue(dir);
  const second = added === undefined ? first : await ingest();
  const stands = second.files.changed.includes(metricFile) ? 'ktx changed the file' : 'the edit stands, comment included';
  show('edit', {
    change: [metricFile, ...(added ?? []).map((line) => screen.style('green', `+${line}`))],
    verdict: added === undefined ? 'Written in an earlier run, and it stands.' : `Ingested again: ${stands}, and it stays yours to commit.`,
  });
  progress.update('asking');
  const answers = await askAll(project, signal);
  show('answer', {
    question: `${metric} by ${dimensions.join(' and ')}`,
    grid: answerGrid(answers, screen),
    sql: [screen.style('dim', 'the SQL that ran'), ...answers.answer.sql.split('\n')],
    receipt: [screen.style('dim', 'the receipt'), ...receiptLines(answers.answer.receipt)],
  });
  show('comparison', comparison(answers, screen));
  const unchanged = made.length === 0 && added === undefined && Object.values(first.files).flat().length === 0;
  if (unchanged && screen.format !== 'json') surroundings.stdout.write('Nothing changed since the last run: same files, no commit.\n\n');
  const next = commandsToTry(dir, surroundings);
  show('ending', { commands: next });
  const edit = { file: metricFile, added: added ?? [] };
  return { exitCode: second.exitCode, data: { dir, made, unchanged, found, ingest: [first, second], edit, ...answers, next } };
}
