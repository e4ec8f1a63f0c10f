import type { LinkFinding } from '../../context/catalog/catalog.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import { isMeasure } from '../names/parse-name.ts';
import type { LinkCandidate } from './link-candidate.ts';

const typeWords = /^(type|kind|class|table|model|entity|object|typ|tipo)$/;

/**
 * Finds `commentable_type` beside `commentable_id`: the column that says which table is meant, and
 * the tables that its values name.
 */
export function findTypeColumn(
  { parts, table }: ColumnFacts,
  tables: readonly TableFacts[],
): LinkCandidate['typeColumn'] {
  const stem = parts.entity.join(' ');
  if (stem === '' || isMeasure(parts)) return undefined;
  const typeColumn = table.columns.find(({ parts: { words }, profile }) => {
    const hasTypeName = typeWords.test(words.at(-1) ?? '') && words.slice(0, -1).join(' ') === stem;
    return hasTypeName && profile.kind !== 'integer' && profile.distinct < 50;
  });
  if (!typeColumn) return undefined;
  const values = new Set(typeColumn.profile.top.map(lettersAndDigits));
  const namedTables = tables.filter(
    ({ schema, parts: { entity } }) =>
      values.has(lettersAndDigits(schema.table)) || values.has(entity.join('')),
  );
  // `order_id` beside `order_type` refers to the table of orders.
  const isTableName = tables.some(
    ({ parts: { entity } }) => entity.slice(-parts.entity.length).join(' ') === stem,
  );
  return isTableName && namedTables.length < 2
    ? undefined
    : { name: typeColumn.name, tables: namedTables };
}

const lettersAndDigits = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

type DecidedLink = Pick<LinkFinding, 'status' | 'evidence'>;

/** Why a link to one of the tables that a type column names is not used. */
export function polymorphicReason(typeColumn: string | undefined): string {
  return `polymorphic: ${typeColumn} tells which table is meant`;
}

/** True for a link that another column decides row by row, so that no join can be made of it. */
export function isPolymorphic({ status, evidence: { why } }: DecidedLink): boolean {
  return status === 'review' && typeof why === 'string' && why.startsWith('polymorphic: ');
}

/** True for a link that a person can accept or reject. */
export function isForReview(link: DecidedLink): boolean {
  return link.status === 'review' && !isPolymorphic(link);
}
