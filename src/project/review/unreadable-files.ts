import { join } from 'node:path';
import { conflictsFault, conflictsPath } from '../../context/compile/conflicts.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { readTextOrReason, whyUnreadable } from '../../store/text-or-reason.ts';
import { findUnreadablePages } from '../answer/wiki.ts';

interface UnreadableFile {
  readonly path: string;
  /** The end of a sentence: `it is not valid UTF-8`. */
  readonly reason: string;
  readonly fix: string;
}

/** Pages of the wiki, decisions and conflicts that cannot be read. */
export async function findUnreadableFiles(dir: string): Promise<readonly UnreadableFile[]> {
  const pages = (await findUnreadablePages(dir)).map((page) => ({
    ...page,
    fix: `correct it, or take it back: git checkout -- ${page.path}`,
  }));
  const faultIn = async (path: string, findFault: (text: string) => string | undefined) => {
    const text = await readTextOrReason(join(dir, path), dir);
    return text === undefined ? undefined : (whyUnreadable(text) ?? findFault(text));
  };
  const [pins, conflicts] = await Promise.all([
    faultIn(pinsPath, (text) => parsePins(text).fault),
    faultIn(conflictsPath, conflictsFault),
  ]);
  return [
    ...pages,
    ...(pins === undefined
      ? []
      : [
          {
            path: pinsPath,
            reason: pins,
            fix: `correct ${pinsPath}: nothing is decided until then`,
          },
        ]),
    ...(conflicts === undefined
      ? []
      : [{ path: conflictsPath, reason: conflicts, fix: 'ktx ingest writes it again' }]),
  ];
}
