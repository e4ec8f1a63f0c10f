import {
  conflictsFault,
  conflictsPath,
  parseConflicts,
  type Conflict,
} from '../../context/compile/conflicts.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { openCachedReader } from '../open/file-cache.ts';

/** The open conflicts as of the last ingest. */
export function readConflicts(dir: string): Promise<readonly Conflict[]> {
  return readCached(dir, conflictsPath);
}

const readCached = openCachedReader(parseConflicts);

/** What has to be said if nobody knows what is contested; undefined if the file is fine. */
export async function noteUnknownConflicts(
  dir: string,
  unknown = 'whether this is contested',
): Promise<string | undefined> {
  const fault = await readFault(dir, conflictsPath);
  if (fault === undefined) return undefined;
  return `${conflictsPath} cannot be read (${fault}), so it is not known ${unknown}; ktx ingest writes it again`;
}

const readFault = openCachedReader(conflictsFault);

/** The conflicts about a dataset or anything in it. */
export function filterDatasetConflicts(
  conflicts: readonly Conflict[],
  connection: string,
  dataset: string,
): readonly Conflict[] {
  return conflicts.filter(({ subject }) => {
    const parts = parseSubject(subject);
    return parts?.connection === connection && parts.dataset === dataset;
  });
}

/** One line per conflict: the subject, and each version with its evidence. */
export function describeConflicts(conflicts: readonly Conflict[]): string[] {
  return conflicts.map(({ subject, kind, variants }) => {
    const versions = variants.map(
      ({ says, evidence }) => `${JSON.stringify(says)} (${evidence.join('; ')})`,
    );
    return `contested: ${subject} ${kind}: ${versions.join(' | ')}`;
  });
}
