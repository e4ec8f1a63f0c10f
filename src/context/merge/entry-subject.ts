import { subjects } from '../claims/claim.ts';
import type { DatasetRef } from '../claims/subject.ts';
import { isMapping } from './yaml-text.ts';
import { toMapping, type YamlEntry } from './yaml-values.ts';

/**
 * The subject of an entry in a dataset's file. Segments and the top have the subject of the
 * dataset.
 */
export function entrySubject({ connection, dataset }: DatasetRef, entry: YamlEntry): string {
  const [list] = entry.at;
  const { name, on } = toMapping(entry);
  if (list === 'fields' && typeof name === 'string')
    return subjects.field(connection, dataset, name);
  if (list === 'metrics' && typeof name === 'string')
    return subjects.metric(connection, dataset, name);
  const columns = isMapping(on) ? Object.keys(on) : [];
  return list === 'relationships'
    ? subjects.relationship(connection, dataset, columns)
    : subjects.dataset(connection, dataset);
}
