import { conflictsPath, parseConflicts, type Conflict } from '../../context/compile/conflicts.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { openCachedReader } from '../open/model-files.ts';

/** What is contested, as the last ingest left it. */
export function readConflicts(dir: string): Promise<readonly Conflict[]> {
  return read(dir, conflictsPath);
}

const read = openCachedReader(parseConflicts);

/** Those about a dataset and what it holds. */
export function conflictsOfDataset(
  conflicts: readonly Conflict[],
  connection: string,
  dataset: string,
): readonly Conflict[] {
  const isOwn = ({ subject }: Conflict) => {
    const parts = parseSubject(subject);
    return parts?.connection === connection && parts.dataset === dataset;
  };
  return conflicts.filter(isOwn);
}

/** One line for each, for a reader of what it is about. */
export function conflictLines(conflicts: readonly Conflict[]): string[] {
  return conflicts.map(({ subject, kind, variants }) => {
    const versions = variants.map(
      ({ says, evidence }) => `${JSON.stringify(says)} (${evidence.join('; ')})`,
    );
    return `contested: ${subject} ${kind}: ${versions.join(' | ')}`;
  });
}
