import { basename } from 'node:path';
import { parseDocument, isMap, isSeq } from 'yaml';
import { subjects, type Claim } from '../../context/claims/claim.ts';
import type { Quarantined } from '../report.ts';

const lists = { metrics: 'metric', fields: 'field' } as const;

/**
 * A fault of a dataset's file as one of the claim that put the line there, so that it alone is left out and not the whole file; as it is
 * where no claim did.
 */
export function blameClaim(
  fault: Quarantined,
  text: string | undefined,
  claims: readonly Claim[],
): Quarantined {
  const [, path = '', line = ''] = /^(.*):(\d+)$/.exec(fault.location ?? '') ?? [];
  if (text === undefined || fault.subject !== path) return fault;
  const [, connection = ''] = path.split('/');
  const dataset = basename(path).replace(/\.ya?ml$/, '');
  const entry = entryAt(text, Number(line));
  if (entry === undefined) return fault;
  const { kind, name } = entry;
  const subject = subjects[kind](connection, dataset, name);
  return claims.some((claim) => claim.subject === subject && claim.kind === kind)
    ? { ...fault, subject, kind }
    : fault;
}

/** The metric or field whose entry has that line, counted from 1. */
function entryAt(
  text: string,
  line: number,
): { readonly kind: 'metric' | 'field'; readonly name: string } | undefined {
  const document = parseDocument(text);
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  for (const [list, kind] of Object.entries(lists)) {
    const entries = document.get(list, true);
    for (const entry of isSeq(entries) ? entries.items : []) {
      const name = isMap(entry) ? entry.get('name') : undefined;
      const [from = 0, to = 0] = isMap(entry) ? (entry.range ?? []) : [];
      if (
        typeof name === 'string' &&
        lineOf(from) <= line &&
        line <= lineOf(Math.max(from, to - 1))
      )
        return { kind, name };
    }
  }
  return undefined;
}
