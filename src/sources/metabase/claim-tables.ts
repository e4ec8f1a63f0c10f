import { type ClaimKind, subjects } from '../../context/claims/claim.ts';
import { synonymsFor } from '../../semantic/formats/metricflow/mapping/bound-model.ts';
import type { ClaimCollector, ItemPlace } from '../claim-collector.ts';
import type { BoundField, BoundMetabase, BoundTable } from './bind-tables.ts';

/** What an administrator of Metabase said, or its own guess. */
export const plainConfidence = 0.6;

/** Claims what Metabase says about tables, fields, keys and references of the warehouse. */
export function claimTables(bound: BoundMetabase, collector: ClaimCollector): void {
  const fieldsByTable = Map.groupBy(bound.fields.values(), ({ owner }) => owner);
  for (const owner of bound.tables.values()) {
    const { stored, table } = owner;
    const subject = subjects.dataset(table.connection, table.dataset);
    const place = { key: stored.key, line: 1, quote: stored.description ?? stored.name };
    claimTexts({ subject, place, own: table.dataset, texts: stored }, collector);
    claimKey(owner, fieldsByTable.get(owner) ?? [], collector);
  }
  for (const field of bound.fields.values()) {
    const { owner, stored, name } = field;
    const { connection, dataset } = owner.table;
    const subject = subjects.field(connection, dataset, name);
    const quote = stored.description ?? stored.display_name ?? stored.name;
    const place = { key: owner.stored.key, line: stored.line, quote };
    claimTexts({ subject, place, own: name, texts: stored }, collector);
    claimReference(field, bound, { place, collector });
  }
}

interface ClaimedTexts {
  readonly subject: string;
  readonly place: ItemPlace;
  readonly own: string;
  readonly texts: {
    readonly description?: string | null | undefined;
    readonly display_name?: string | null | undefined;
  };
}

function claimTexts({ subject, place, own, texts }: ClaimedTexts, collector: ClaimCollector) {
  const description = texts.description?.trim() ?? '';
  const kind: ClaimKind = 'description';
  const confidence = plainConfidence;
  if (description !== '')
    collector.addClaim(place, { subject, kind, body: description, confidence });
  const body = [...synonymsFor(own, [texts.display_name ?? undefined])];
  if (body.length > 0) collector.addClaim(place, { subject, kind: 'synonyms', body, confidence });
}

function claimKey(
  { stored, table }: BoundTable,
  fields: readonly BoundField[],
  collector: ClaimCollector,
): void {
  const keys = fields.filter((field) => field.stored.semantic_type === 'type/PK');
  const isWhole = stored.fields.filter((field) => field.semantic_type === 'type/PK').length;
  const [first] = keys;
  if (first === undefined || keys.length !== isWhole) return;
  collector.addClaim(
    { key: stored.key, line: first.stored.line, quote: first.stored.name },
    {
      subject: subjects.dataset(table.connection, table.dataset),
      kind: 'primary_key',
      body: keys.map(({ name }) => name),
      confidence: plainConfidence,
    },
  );
}

/** A foreign key of Metabase is a relationship if both of its ends are known. */
function claimReference(
  { owner, stored, name }: BoundField,
  { fields }: BoundMetabase,
  { place, collector }: { readonly place: ItemPlace; readonly collector: ClaimCollector },
): void {
  const target = fields.get(stored.fk_target_field_id ?? -1);
  if (stored.semantic_type !== 'type/FK' || target === undefined) return;
  const { connection, dataset } = owner.table;
  if (target.owner.table.connection !== connection) return;
  collector.addClaim(place, {
    subject: subjects.relationship(connection, dataset, [name]),
    kind: 'relationship',
    body: { to: target.owner.table.dataset, on: { [name]: target.name } },
    confidence: plainConfidence,
  });
}
