import type { FileTree } from './project-files.ts';

/** How versions before wrote that a column exists: 0.1.0 with two claims, later ones as a line. */
const formerColumnLine =
  /^\{"subject":"field:[^\n]*"kind":"field"[^\n]*"extractor":"structure@1"|^\{"column":\[/m;

/**
 * What a commit says that also rewrites files of an earlier version; undefined if there are none.
 * Their content stays: facts, names, decisions, and whatever people wrote.
 */
export function upgradeNote(files: FileTree): string | undefined {
  const isFormer = [...files].some(
    ([path, text]) => path.startsWith('claims/') && formerColumnLine.test(text),
  );
  return isFormer
    ? [
        'Upgrades files of an earlier version of ktx: claims/ has one short line for each column,',
        'and .gitattributes says how git merges generated files. Names, decisions and what people',
        'wrote stay as they are.',
      ].join('\n')
    : undefined;
}
