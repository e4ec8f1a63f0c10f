import type { Claim } from '../../context/claims/claim.ts';
import { parseSubject, type DatasetRef } from '../../context/claims/subject.ts';
import type { WrittenSynonyms } from '../../context/compile/competing-synonyms.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { entrySubject } from '../../context/merge/entry-subject.ts';
import {
  artifactPath,
  parseDatasetFile,
  removedPath,
  type MergeResult,
} from '../../context/merge/merge-dataset.ts';
import type { PersonEdit } from '../../context/merge/resolve-by-edit.ts';
import { listEntries, valuesByPath } from '../../context/merge/yaml-values.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import type { KeptEdit } from '../report.ts';

interface MergedDataset {
  readonly dataset: string;
  /** Path of the dataset's file. */
  readonly at: string;
  readonly result: Pick<MergeResult, 'kept' | 'edits' | 'text'>;
  readonly compiled: Dataset | undefined;
}

/** What people changed in a dataset's file, and what they took out that ktx would have there. */
export function listKeptEdits({ dataset, at, result, compiled }: MergedDataset): KeptEdit[] {
  const { kept, edits, text = '' } = result;
  if (kept.length + edits.length === 0) return [];
  const file = kept.length === 0 ? { reason: 'not needed' } : parseDatasetFile(text);
  const fileValues = [...valuesByPath(listEntries('mapping' in file ? file.mapping : {}))];
  const compiledValues = [...valuesByPath(listEntries(compiled ?? {}))];
  const valuesBelow = (path: string) =>
    [fileValues, compiledValues].map((values) =>
      values.filter(([valuePath]) => isAtOrBelow(valuePath, path)),
    );
  const toKeptEdit = (path: string, isRemoval: boolean): KeptEdit => ({
    path: path === '' ? dataset : `${dataset}.${path}`,
    at,
    isRemoval,
    mark: shortHash(canonicalJson([at, path, isRemoval, valuesBelow(path)]), 16),
  });
  const removals = edits
    .map(removedPath)
    .filter((path) => path === '' || valuesBelow(path).some((values) => values.length > 0));
  return [
    ...[...new Set(kept)].map((path) => toKeptEdit(path, false)),
    ...removals.map((path) => toKeptEdit(path, true)),
  ];
}

/** The synonyms of fields and metrics that people wrote into a dataset's file. */
export function listWrittenSynonyms({
  connection,
  dataset,
  result: { text = '', kept },
}: DatasetRef & Pick<MergedDataset, 'result'>): readonly WrittenSynonyms[] {
  if (kept.length === 0 || !text.includes('synonyms')) return [];
  const file = parseDatasetFile(text);
  const entries = listEntries('mapping' in file ? file.mapping : {});
  return entries.flatMap((entry): WrittenSynonyms[] => {
    const subject = parseSubject(entrySubject({ connection, dataset }, entry));
    const synonyms = entry.values.find(({ key }) => key === 'synonyms');
    if (subject === undefined || synonyms === undefined) return [];
    if (!kept.some((path) => isAtOrBelow(synonyms.path, path))) return [];
    const words = Array.isArray(synonyms.value) ? synonyms.value : [];
    return [{ subject, words: words.filter((word) => typeof word === 'string') }];
  });
}

/** A person's edit of what a conflict is about; undefined if they did not edit it. */
export function findPersonEdit(
  owner: DatasetRef,
  conflict: Conflict,
  { text, kept, edits }: Pick<MergeResult, 'text' | 'kept' | 'edits'>,
): PersonEdit | undefined {
  if (kept.length + edits.length === 0) return undefined;
  const parsed = parseDatasetFile(text ?? '');
  const entries =
    'mapping' in parsed
      ? listEntries(parsed.mapping).filter(
          (entry) => entrySubject(owner, entry) === conflict.subject,
        )
      : [];
  const decides = decidingKeys(conflict);
  const values = entries.flatMap((entry) => entry.values).filter(({ key }) => decides(key));
  const isKept = values.some(({ path }) => kept.some((keptPath) => isAtOrBelow(path, keptPath)));
  const removals = edits.filter(
    (edit) => edit.subject === conflict.subject && removesAny(edit, decides),
  );
  if (!isKept && removals.length === 0) return undefined;
  const content: Json = [
    values.map((value) => [value.key, value.value]),
    removals.map(({ body }) => body),
  ];
  return {
    value: shortHash(canonicalJson(content), 16),
    item: artifactPath(owner.connection, owner.dataset),
    location: entries[0]?.path ?? conflict.subject,
  };
}

/** Keys of a metric or a join that say nothing of what it computes or connects. */
const describingKeys: ReadonlySet<string> = new Set([
  'name',
  'description',
  'synonyms',
  'unit',
  'owner',
  'unreviewed',
  'hidden',
  'default',
  'role',
  'shared',
  'extensions',
]);

/**
 * The keys of an entry that a conflict is about. These kinds are one key; any other is about what
 * the entry computes or connects, and words beside it decide nothing.
 */
function decidingKeys({ kind }: Conflict): (key: string) => boolean {
  const only = ['type', 'primary_key', 'unit'].find((own) => own === kind);
  return (key) => (only === undefined ? !describingKeys.has(key) : key === only);
}

/** True if the edit took out such a key, or the whole entry. */
function removesAny({ body }: Claim, decides: (key: string) => boolean): boolean {
  return body === null || Object.keys(Object(body)).some(decides);
}

function isAtOrBelow(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(`${ancestor}.`);
}
