import { join } from 'node:path';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap } from 'yaml';
import { claimId, isEditRecord } from '../../context/claims/claim.ts';
import { parseClaims } from '../../context/claims/claims-file.ts';
import {
  savedQueryClaimsPath,
  savedQuerySubject,
} from '../../context/claims/saved-query-claims.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import type { Explanation } from '../../context/compile/explain.ts';
import { isUnedited } from '../../context/merge/merge-base.ts';
import { hashFile } from '../../context/merge/merge-whole-file.ts';
import type { Json } from '../../lib/json.ts';
import { readText } from '../../store/files.ts';
import type { Project } from '../open/open.ts';
import { findSavedQuery } from './saved-queries.ts';

/** Lists of a dataset file whose entries queries use like fields, and which no source writes. */
const writtenLists = ['row_metrics', 'conformed_dimensions'] as const;

/**
 * What is in no claim about a dataset: a saved query, a row metric or a conformed dimension, each
 * key with its line. Undefined for any other subject.
 */
export async function explainWritten(
  project: Project,
  subject: string,
): Promise<Explanation | undefined> {
  if (subject.startsWith('query:')) return explainSavedQuery(project, subject);
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

/** With what sources say about it, if one has it. */
async function explainSavedQuery(
  project: Project,
  named: string,
): Promise<Explanation | undefined> {
  const { dir } = project;
  const query = await findSavedQuery(project, named);
  const { file } = query;
  const subject = savedQuerySubject(query);
  const explained = await explainMap(project, { subject, file, find: (map) => map });
  if (explained === undefined) return undefined;
  const [text = '', claimLines = ''] = await Promise.all([
    readText(join(dir, file), dir),
    readText(join(dir, savedQueryClaimsPath), dir),
  ]);
  const { base, claims } = parseClaims(savedQueryClaimsPath, claimLines);
  const shown = base.has(file) && isUnedited(base, file, hashFile(text));
  const by = shown ? 'ktx' : 'person';
  return {
    ...explained,
    values: explained.values.map((value) => ({ ...value, by })),
    claims: claims
      .filter((claim) => claim.subject === subject && !isEditRecord(claim))
      .map((claim) => ({ ...claim, id: claimId(claim), shown })),
  };
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
