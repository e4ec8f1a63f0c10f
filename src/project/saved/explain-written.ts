import { join } from 'node:path';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml';
import type { Explanation } from '../../context/compile/explain.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import type { Json } from '../../lib/json.ts';
import { readText } from '../../store/files.ts';
import type { Project } from '../open/open.ts';
import { findSavedQuery } from './saved-queries.ts';

/** Lists of a dataset file whose entries queries use like fields, and which no source writes. */
const writtenLists = ['row_metrics', 'conformed_dimensions'] as const;

/**
 * What only people write: a saved query, a row metric or a conformed dimension, each key with its
 * line. Undefined for any other subject.
 */
export async function explainWritten(
  project: Project,
  subject: string,
): Promise<Explanation | undefined> {
  if (subject.startsWith('query:')) {
    const { file } = await findSavedQuery(project, subject);
    return explainMap(project, { subject, file, find: (map) => map });
  }
  const parts = parseSubject(subject);
  if (parts?.type !== 'field') return undefined;
  const { connection, dataset, name } = parts;
  if (!project.warehouses.includes(connection)) return undefined;
  const { model } = await project.model(connection);
  const { file, conformed, fields } = model.datasets.get(dataset) ?? {};
  const isWritten = conformed?.has(name) === true || fields?.get(name)?.rowMetric !== undefined;
  if (file === undefined || !isWritten) return undefined;
  return explainMap(project, {
    subject,
    file,
    find: (map) => writtenLists.flatMap((list) => namedEntry(map.get(list), name) ?? [])[0],
  });
}

function namedEntry(list: unknown, name: string): YAMLMap | undefined {
  const entries = isSeq(list) ? list.items.filter(isMap) : [];
  return entries.find((entry) => entry.get('name') === name);
}

interface WrittenPlace {
  readonly subject: string;
  readonly file: string;
  readonly find: (map: YAMLMap) => YAMLMap | undefined;
}

async function explainMap(
  { dir }: Project,
  { subject, file, find }: WrittenPlace,
): Promise<Explanation | undefined> {
  const text = (await readText(join(dir, file), dir)) ?? '';
  const counter = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: counter });
  const map = isMap(contents) ? find(contents) : undefined;
  if (map === undefined) return undefined;
  const values = map.items.map(({ key, value }) => {
    const start = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    return {
      key: String(key),
      value: (isNode(value) ? value.toJSON() : value) as Json,
      by: 'person' as const,
      path: file,
      line: counter.linePos(start).line,
    };
  });
  return { subject, values, claims: [], findings: [] };
}
