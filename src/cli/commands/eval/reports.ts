import { resolve } from 'node:path';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { RunComparison } from '../../../eval/report/compare-runs.ts';
import type { EvalRun } from '../../../eval/run/run-schema.ts';
import { writeAtomically } from '../../../store/files.ts';
import type { CommandContext } from '../../command.ts';

export interface ReportFlags {
  readonly junit?: string | undefined;
  readonly markdown?: string | undefined;
  readonly html?: string | undefined;
}

/** Where reports are written to; the same for a run and for one of the past. */
export function reportOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
) {
  return command
    .option('--junit <file>', 'write JUnit XML, for CI')
    .option('--markdown <file>', 'write Markdown, for a comment')
    .option('--html <file>', 'write one HTML file: trend, cases by run, answers, SQL that changed');
}

/** Gives a line for each file that was written. */
export async function writeReports(
  flags: ReportFlags,
  { run, comparison }: Reported,
  context: CommandContext,
): Promise<string[]> {
  const written: string[] = [];
  const write = async (name: string | undefined, text: () => Promise<string>): Promise<void> => {
    if (name === undefined) return;
    await writeAtomically(resolve(context.host.cwd, name), await text());
    written.push(`written to ${name}`);
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
    const history = (await readPastRuns(dir, runsShown)).filter(
      ({ started }) => started < run.started,
    );
    return renderHtmlReport({ run, history, comparison });
  });
  return written;
}

const runsShown = 30;

interface Reported {
  readonly run: EvalRun;
  readonly comparison: RunComparison | undefined;
}
