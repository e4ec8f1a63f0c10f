import { resolve } from 'node:path';
import type { Command, OptionValues } from '@commander-js/extra-typings';
import type { Comparison } from '../../eval/compare.ts';
import type { EvalRun } from '../../eval/run-file.ts';
import { writeAtomically } from '../../store/files.ts';
import type { CommandContext } from '../command.ts';

export interface ReportFlags {
  readonly junit?: string | undefined;
  readonly markdown?: string | undefined;
}

/** Where reports are written to; the same for a run and for one of the past. */
export function reportOptions<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command.option('--junit <file>', 'write JUnit XML, for CI').option('--markdown <file>', 'write Markdown, for a comment');
}

/** Gives a line for each file that was written. */
export async function writeReports(flags: ReportFlags, { run, comparison }: Reported, context: CommandContext): Promise<string[]> {
  const written: string[] = [];
  const write = async (name: string | undefined, text: () => Promise<string>): Promise<void> => {
    if (name === undefined) return;
    await writeAtomically(resolve(context.surroundings.cwd, name), await text());
    written.push(`written to ${name}`);
  };
  await write(flags.junit, async () => (await import('../../eval/report-junit.ts')).junitReport(run));
  await write(flags.markdown, async () => (await import('../../eval/report-markdown.ts')).markdownReport(run, comparison));
  return written;
}

interface Reported {
  readonly run: EvalRun;
  readonly comparison: Comparison | undefined;
}
