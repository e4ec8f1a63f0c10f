import { basename } from 'node:path';
import { isMap, isSeq, parseDocument } from 'yaml';
import { subjects, type Claim } from '../../context/claims/claim.ts';
import type { Quarantined } from '../report.ts';

const kindsByList = { metrics: 'metric', fields: 'field' } as const;

/**
 * Turns a fault of a dataset's file into a fault of the claim that produced the line, so that only
 * this claim is left out and not the whole file. Returns the same fault if no claim produced the
 * line.
 */
export function blameClaim(
  fault: Quarantined,
  text: string | undefined,
  claims: readonly Claim[],
): Quarantined {
  const [, path = '', line = ''] = /^(.*):(\d+)$/.exec(fault.location ?? '') ?? [];
  if (text === undefined || fault.subject !== path) return fault;
  const entry = findEntryAtLine(text, Number(line));
  if (entry === undefined) return fault;
  const { kind, name } = entry;
  const [, connection = ''] = path.split('/');
  const dataset = basename(path).replace(/\.ya?ml$/, '');
  const subject = subjects[kind](connection, dataset, name);
  return claims.some((claim) => claim.subject === subject && claim.kind === kind)
    ? { ...fault, subject, kind }
    : fault;
}

/** The metric or field whose entry contains the line, counted from 1. */
function findEntryAtLine(
  text: string,
  line: number,
): { readonly kind: 'metric' | 'field'; readonly name: string } | undefined {
  const document = parseDocument(text);
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  for (const [list, kind] of Object.entries(kindsByList)) {
    const entries = document.get(list, true);
    for (const entry of isSeq(entries) ? entries.items : []) {
      const name = isMap(entry) ? entry.get('name') : undefined;
      const [start = 0, end = 0] = isMap(entry) ? (entry.range ?? []) : [];
      const isInEntry = lineAt(start) <= line && line <= lineAt(Math.max(start, end - 1));
      if (typeof name === 'string' && isInEntry) return { kind, name };
    }
  }
  return undefined;
}
