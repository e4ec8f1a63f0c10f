import type { Claim } from '../../context/claims/claim.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import type { EditReport, Quarantined } from '../report.ts';
import type { FileTree } from './project-files.ts';

/** One write of a file, in order. If a path occurs twice, the last write wins. */
export interface FileWrite {
  readonly step: 'file_written' | 'base_recorded' | 'claims_written';
  readonly path: string;
  /** Undefined removes the file. */
  readonly text: string | undefined;
  /**
   * The file of a dataset or a page that this write changes or is about; absent for other generated
   * files.
   */
  readonly artifact?: string;
}

/** Everything that ktx would change in a tree (disk or HEAD). */
export interface Rendering extends EditReport {
  /** In an order that a kill cannot spoil; see `publish`. */
  readonly writes: readonly FileWrite[];
  readonly quarantined: readonly Quarantined[];
  readonly conflicts: readonly Conflict[];
  /** All claims that stand, as they were made, and the decisions of models about them. */
  readonly claims: readonly Claim[];
}

/** The final text of every file that is written; undefined for files that are removed. */
export function finalTexts(writes: readonly FileWrite[]): Map<string, string | undefined> {
  return new Map(writes.map(({ path, text }) => [path, text]));
}

/** The tree after all writes. */
export function applyWrites(tree: FileTree, writes: readonly FileWrite[]): FileTree {
  return new Map(
    [...new Map([...tree, ...finalTexts(writes)])].flatMap(([path, text]) =>
      text === undefined ? [] : [[path, text]],
    ),
  );
}
