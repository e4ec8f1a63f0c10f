import { dirname } from 'node:path';
import { isTooLarge } from '../../context/catalog/shards.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import type { FileTree } from './project-files.ts';

/** How versions before wrote that a column exists: 0.1.0 with two claims, later ones as a line. */
const formerColumnLine =
  /^\{"subject":"field:[^\n]*"kind":"field"[^\n]*"extractor":"structure@1"|^\{"column":\[/m;
/** How versions before wrote what code found: with the whole item on each line. */
const formerItemEvidence =
  /"item":"(?:[^"\\\n]|\\.)*",(?:"location":"(?:[^"\\\n]|\\.)*",)?"origin":"code"/;
/** How versions before wrote that a schema exists: with a hash. */
const formerSchemaLine = /^\{"hash":"[^"]*","key":"[^"\n]*","path":"[^"\n]*"\}$/m;

/** How versions before wrote that an item is at its key. */
const formerItemLine = /"key":("[^"\n]*"),"path":\1/;

/**
 * What a commit says that also rewrites files of an earlier version; undefined if there are none.
 * Their content stays: facts, names, decisions, and whatever people wrote.
 */
export function upgradeNote(files: FileTree): string | undefined {
  const has = (test: (path: string, text: string) => boolean) =>
    [...files].some(([path, text]) => test(path, text));
  const changes = [
    ...(has((path, text) => path.startsWith('claims/') && formerColumnLine.test(text))
      ? ['claims/ has one short line for each column, and .gitattributes says how git merges it.']
      : []),
    ...(has((path, text) => isTableFile(path, text) && formerItemEvidence.test(text))
      ? ['claims/ names the item of what code found once in each file of a table.']
      : []),
    ...(has((path, text) => isIndex(path) && formerSchemaLine.test(text))
      ? ['The index of a warehouse no longer has a hash that each change rewrote.']
      : []),
    ...(has((path, text) => isIndex(path) && formerItemLine.test(text))
      ? ['The index of a source names a path only where it is not the key.']
      : []),
    ...(has((path, text) => isSplitFile(path, files) && isTooLarge(text))
      ? ['Files of terms, or of a schema, above 1 MB are split into a folder of their name.']
      : []),
  ];
  if (changes.length === 0) return undefined;
  const kept = 'Names, decisions and what people wrote stay as they are.';
  return ['Upgrades files of an earlier version of ktx:', ...changes, kept].join('\n');
}

function isTableFile(path: string, text: string): boolean {
  return path.startsWith('claims/') && /^\{"table":/m.test(text);
}

function isIndex(path: string): boolean {
  return /^sources\/[^/]+\/index\.jsonl$/.test(path);
}

/** True for the claims about terms, and for the structure of a schema. */
function isSplitFile(path: string, files: FileTree): boolean {
  if (path === wikiClaimsPath) return true;
  if (!/^sources\/[^/]+\/[^/]+\.jsonl$/.test(path) || isIndex(path)) return false;
  return (files.get(`${dirname(path)}/index.jsonl`) ?? '').startsWith('{"dialect":');
}
