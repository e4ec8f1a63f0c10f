import { subjects } from '../../../context/claims/claim.ts';
import type { ClaimCollector } from '../../claim-collector.ts';
import { type BoundMetabase, type BoundTable, fieldsOfTable } from '../bind-tables.ts';
import { plainConfidence } from '../claim-tables.ts';
import { conditionSql, UnsaidQuery } from '../query-conditions.ts';
import type { StoredSegment } from '../read-items.ts';

/** A term for each segment: the condition that people call by that name, about its table. */
export function claimSegments(
  segments: readonly StoredSegment[],
  { bound, collector }: { readonly bound: BoundMetabase; readonly collector: ClaimCollector },
): void {
  for (const segment of segments) {
    const { key, id, name, description } = segment;
    const place = { key, line: 1, quote: description ?? name };
    const read = readSegment(segment, bound);
    if ('reason' in read) {
      const what = `segment ${id}, ${name}: ${read.reason}`;
      collector.leaveOut(place, { what: 'segment', name: what });
      continue;
    }
    const { connection, dataset } = read.owner.table;
    const title = `${name.trim()} (Metabase segment ${id})`;
    const subject = subjects.term(title);
    const words = [description?.trim() ?? '', `Rows of ${dataset} where ${read.where}.`];
    const confidence = plainConfidence;
    const definition = words.filter(Boolean).join(' ');
    collector.addClaim(place, { subject, kind: 'title', body: title, confidence });
    collector.addClaim(place, { subject, kind: 'definition', body: definition, confidence });
    const refs = [subjects.dataset(connection, dataset)];
    collector.addClaim(place, { subject, kind: 'refs', body: refs, confidence });
  }
}

/** The condition on its table, or why there is none. */
function readSegment(
  { id, table_id: table, archived }: StoredSegment,
  bound: BoundMetabase,
): { readonly owner: BoundTable; readonly where: string } | { readonly reason: string } {
  if (archived === true) return { reason: 'it is archived' };
  const owner = bound.tables.get(table);
  if (owner === undefined) return { reason: 'the warehouse does not have its table' };
  const filters = bound.segments.get(id)?.filters;
  if (filters === undefined) return { reason: 'it is more than a condition on its table' };
  const fields = { dialect: owner.dialect, ...fieldsOfTable(owner, bound) };
  try {
    return { owner, where: filters.map((filter) => conditionSql(filter, fields)).join(' AND ') };
  } catch (error) {
    if (!(error instanceof UnsaidQuery)) throw error;
    return { reason: `ktx cannot say ${error.message}` };
  }
}
