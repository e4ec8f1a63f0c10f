import type { IngestReport } from '../../ingest/event.ts';
import { UserError } from '../../lib/error.ts';
import { openProject } from '../../project/open.ts';
import { ingestProject } from '../../project/ingest.ts';
import type { Project } from '../../project/project.ts';
import { scanProject } from '../../project/scan.ts';
import { scanReport } from '../../scan/report.ts';
import { refreshIndex } from '../../tools/refresh-index.ts';
import type { CommandContext, Outcome } from '../command.ts';
import { shortPath } from '../output.ts';
import { addRevenue, commandsToTry, connection, metricFile, prepareFolder } from './folder.ts';
import * as pages from './pages.ts';
import { askAll } from './question.ts';

/** The way from a database without keys to an answer, in the order in which a person would go it. Each page is printed when it is known. */
export async function runDemo(dir: string, context: CommandContext): Promise<Outcome> {
  const { signal, screen, progress } = context;
  const { stdout } = context.surroundings;
  const show = (lines: readonly string[]): void => {
    progress.clear();
    if (screen.format !== 'json') stdout.write(`${lines.join('\n')}\n\n`);
  };
  const folder = shortPath(context.surroundings.cwd, dir);
  progress.update('making the sample company');
  const made = await prepareFolder(dir, signal);
  const project = await openProject(dir, { runId: context.runId });
  try {
    const scanned = await scanProject(
      project,
      { connection },
      { signal, onProgress: ({ phase, done, total }) => progress.update(phase, { done, total }) },
    );
    const found = {
      ...scanReport(scanned),
      rows: scanned.tables.reduce((sum, { profile }) => sum + (profile?.rows ?? 0), 0),
    };
    const sources = scanned.tables.map(({ table }) => `${table.schema}.${table.table}`);
    show(pages.warehouse({ folder, made, tables: sources, rows: found.rows }, screen));
    show(pages.findings(found, screen));
    const first = await ingest(project, context);
    show(pages.written(first, screen));
    const added = await addRevenue(dir);
    const second = added === undefined ? first : await ingest(project, context);
    show(pages.edit({ file: metricFile, added, report: second }, screen));
    progress.update('asking');
    const answers = await askAll(project, signal);
    show(pages.answer(answers, screen));
    show(pages.comparison(answers, screen));
    const unchanged = made.length === 0 && added === undefined && first.commit.id === undefined;
    const next = commandsToTry(dir, context.surroundings);
    show(pages.ending({ unchanged, next }, screen));
    return {
      exitCode: second.exitCode,
      data: {
        dir,
        made,
        unchanged,
        found: { ...found, tables: sources },
        ingest: [first, second],
        edit: { file: metricFile, added: added ?? [] },
        ...answers,
        next,
      },
    };
  } finally {
    await project.close();
  }
}

async function ingest(project: Project, { signal, progress }: CommandContext): Promise<IngestReport> {
  progress.update('ingesting');
  const report = await ingestProject(project, { connections: [], signal, updateIndex: (state) => refreshIndex(project, state) });
  const failure = report.connections[0]?.failure;
  if (failure !== undefined) throw new UserError(failure.code, failure.message, { ...failure, exitCode: report.exitCode });
  return report;
}
