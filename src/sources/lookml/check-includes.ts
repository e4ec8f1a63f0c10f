import { matchesGlob } from '../../lib/patterns/glob.ts';
import type { ClaimCollector } from '../claim-collector.ts';
import type { Item } from '../source.ts';

/**
 * Reports each `include` that matches no file of the source: what it names is not read. Files of
 * other projects have to be in the folder.
 */
export function checkIncludes(files: readonly Item[], collector: ClaimCollector): void {
  const paths = files.map(({ key }) => key);
  for (const { key, body } of files)
    for (const [index, line] of body.split('\n').entries()) {
      const [, written = ''] = /^\s*include:\s*"([^"]{1,300})"/.exec(line) ?? [];
      if (written === '' || paths.some((path) => isIncluded(path, written, key))) continue;
      collector.leaveOut(
        { key, line: index + 1 },
        { what: 'include that matches no file', name: written },
      );
    }
}

/** A path is relative to its file, or with a slash to the project; its ending may be missing. */
function isIncluded(path: string, written: string, from: string): boolean {
  const folder = from.slice(0, from.lastIndexOf('/') + 1);
  const isAbsolute = written.startsWith('/');
  const [, project = '', inProject = ''] = /^\/\/([^/]+)\/(.*)$/.exec(written) ?? [];
  const plain = project === '' ? written.replace(/^\/+/, '') : inProject;
  const starts = isAbsolute ? [''] : [folder, ''];
  return starts
    .map((start) => `${start}${plain}`)
    .flatMap((pattern) => [pattern, `${pattern}.lkml`, `${pattern}.lookml`])
    .some((pattern) => matchesGlob(path, pattern) || matchesGlob(path, `**/${pattern}`));
}
