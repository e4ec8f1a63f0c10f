import { canonicalJson } from '../../lib/json.ts';
import type { Item } from '../source.ts';
import type { MetabaseCard, MetabaseTable } from './api-schemas.ts';

/** What the first line of an item is about. */
export type ItemKind = 'card' | 'database' | 'table';

/** A database, without its login and its settings. */
export function databaseItem(database: {
  readonly id: number;
  readonly name: string;
  readonly engine: string;
}): Item {
  const { id, name, engine } = database;
  return item(`databases/${id}.jsonl`, [{ item: 'database', id, name, engine }]);
}

/** A table in its first line, and each field in a line of its own. */
export function tableItem({ fields, ...table }: MetabaseTable, databaseId: number): Item {
  const sorted = (fields ?? []).toSorted((a, b) => a.id - b.id);
  return item(`tables/${table.id}.jsonl`, [
    { item: 'table', ...table, database_id: databaseId },
    ...sorted,
  ]);
}

/** A question, model or metric in its first line, and its query in the second. */
export function cardItem(card: MetabaseCard, collection: string): Item {
  const {
    dataset_query: query,
    moderation_reviews: reviews,
    result_metadata: columns,
    ...own
  } = card;
  const isVerified = reviews?.some(
    ({ status, most_recent: isLast }) => status === 'verified' && isLast !== false,
  );
  return item(`cards/${card.id}.jsonl`, [
    {
      item: 'card',
      ...own,
      ...(columns && { columns }),
      collection,
      ...(isVerified === true ? { verified: true } : {}),
    },
    withoutRandomIds(query),
  ]);
}

/** Metabase makes new ids for the clauses of a query whenever it reads an old one. */
function withoutRandomIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRandomIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      key === 'lib/uuid' ? [] : [[key, withoutRandomIds(inner)]],
    ),
  );
}

function item(key: string, lines: readonly unknown[]): Item {
  return { key, path: key, body: lines.map((line) => `${canonicalJson(line)}\n`).join('') };
}
