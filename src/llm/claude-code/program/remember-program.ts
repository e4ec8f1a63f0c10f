import { stat } from 'node:fs/promises';
import type { ProgramReport } from '../../port/backend.ts';

interface RememberedProgram {
  readonly report: ProgramReport;
  /** Changes with the file. */
  readonly stamp: string;
}

/**
 * Remembers a choice while the file of the program stays the same. Claude Code updates itself, and
 * an update may happen during a run: then the new file is checked first.
 */
export function rememberProgram(
  choose: () => Promise<ProgramReport>,
): () => Promise<ProgramReport> {
  const chooseNow = async (): Promise<RememberedProgram> => {
    const report = await choose();
    return { report, stamp: await readStamp(report.path) };
  };
  // Calls at the same moment share one choice.
  let current: Promise<RememberedProgram> | undefined;
  return async () => {
    const last = current;
    const remembered = await last?.catch(() => undefined);
    if (remembered !== undefined && remembered.stamp === (await readStamp(remembered.report.path)))
      return remembered.report;
    if (current === last) current = chooseNow();
    return (await (current ?? chooseNow())).report;
  };
}

async function readStamp(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined);
  return stats === undefined ? 'missing' : `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}
