import { resolve } from 'node:path';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { RunComparison } from '../../../eval/report/compare-runs.ts';
import type { EvalRun } from '../../../eval/run/run-schema.ts';
import { writeAtomically } from '../../../store/files.ts';
import type { CommandContext } from '../../command.ts';

interface ReportFlags {
  readonly junit?: string | undefined;
  readonly markdown?: string | undefined;
  readonly html?: string | undefined;
}

interface ReportedRun {
  readonly run: EvalRun;
  readonly comparison: RunComparison | undefined;
}

/** Runs in the trend of the HTML report. */
const maxPastRuns = 30;

/** Adds the flags that write reports. */
export function addReportFlags<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .option('--junit <file>', 'write a JUnit XML report, for CI')
    .option('--markdown <file>', 'write a Markdown report, for a comment')
    .option('--html <file>', 'write an HTML report: trend, cases by run, answers, changed SQL');
}

/** Writes the reports that the flags ask for. Returns a line for each file. */
export async function writeReports(
  flags: ReportFlags,
  { run, comparison }: ReportedRun,
  context: CommandContext,
): Promise<string[]> {
  const lines: string[] = [];
  const write = async (name: string | undefined, render: () => Promise<string>): Promise<void> => {
    if (name === undefined) return;
    await writeAtomically(resolve(context.host.cwd, name), await render());
    lines.push(`wrote ${name}`);
  };
  await write(flags.junit, async () =>
    (await import('../../../eval/report/junit-report.ts')).renderJunitReport(run),
  );
  await write(flags.markdown, async () =>
    (await import('../../../eval/report/markdown-report.ts')).renderMarkdownReport(run, comparison),
  );
  await write(flags.html, async () => {
    const [{ renderHtmlReport }, { readPastRuns }] = await Promise.all([
      import('../../../eval/report/html-report.ts'),
      import('../../../eval/run/run-file.ts'),
    ]);
    const { dir } = await context.project();
    const pastRuns = await readPastRuns(dir, maxPastRuns);
    const history = pastRuns.filter(({ started }) => started < run.started);
    return renderHtmlReport({ run, history, comparison });
  });
  return lines;
}
