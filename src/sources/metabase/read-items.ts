import { z } from 'zod';
import { isRecord, parseJson } from '../../lib/json.ts';
import type { Item } from '../source.ts';
import type { ItemKind } from './items.ts';

const textOrNull = z.string().nullish();

const databaseLineSchema = z.object({ id: z.number(), name: z.string(), engine: z.string() });
const tableLineSchema = z.object({
  id: z.number(),
  database_id: z.number(),
  name: z.string(),
  schema: textOrNull,
  display_name: textOrNull,
  description: textOrNull,
});
const fieldLineSchema = z.object({
  id: z.number(),
  name: z.string(),
  display_name: textOrNull,
  description: textOrNull,
  semantic_type: textOrNull,
  coercion_strategy: textOrNull,
  fk_target_field_id: z.number().nullish(),
});
const columnSchema = z.object({
  name: z.string(),
  base_type: textOrNull,
  display_name: textOrNull,
});
const cardLineSchema = z.object({
  id: z.number(),
  name: z.string(),
  type: z.string(),
  collection: z.string(),
  description: textOrNull,
  database_id: z.number().nullish(),
  archived: z.boolean().nullish(),
  verified: z.boolean().optional(),
  columns: z.array(columnSchema).optional().catch(undefined),
});

const queryLineSchema = z.record(z.string(), z.unknown());

interface Stored {
  /** The key of the item. */
  readonly key: string;
}
export type StoredField = z.infer<typeof fieldLineSchema> & { readonly line: number };
export interface StoredTable extends Stored, z.infer<typeof tableLineSchema> {
  readonly fields: readonly StoredField[];
}
export interface StoredCard extends Stored, z.infer<typeof cardLineSchema> {
  readonly query: z.infer<typeof queryLineSchema>;
}
type StoredDatabase = Stored & z.infer<typeof databaseLineSchema>;

export interface StoredMetabase {
  readonly databases: readonly StoredDatabase[];
  readonly tables: readonly StoredTable[];
  readonly cards: readonly StoredCard[];
  /** Keys of items that a person has made unreadable. */
  readonly unreadable: readonly string[];
}

/** Reads the items as `items.ts` writes them. */
export function readMetabaseItems(items: readonly Item[]): StoredMetabase {
  const databases: StoredDatabase[] = [];
  const tables: StoredTable[] = [];
  const cards: StoredCard[] = [];
  const unreadable: string[] = [];
  for (const { key, body } of items.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const [first, ...lines] = body.trimEnd().split('\n').map(parseJson);
    const kind = (isRecord(first) ? first['item'] : undefined) as ItemKind | undefined;
    const database = kind === 'database' ? databaseLineSchema.safeParse(first).data : undefined;
    const table = kind === 'table' ? tableLineSchema.safeParse(first).data : undefined;
    const card = kind === 'card' ? cardLineSchema.safeParse(first).data : undefined;
    const query = queryLineSchema.safeParse(lines[0]).data;
    if (database !== undefined) databases.push({ key, ...database });
    else if (table !== undefined) tables.push({ key, ...table, fields: readFields(lines) });
    else if (card !== undefined && query !== undefined) cards.push({ key, ...card, query });
    else unreadable.push(key);
  }
  return { databases, tables, cards, unreadable };
}

function readFields(lines: readonly unknown[]): StoredField[] {
  return lines.flatMap((line, index) => {
    const { data } = fieldLineSchema.safeParse(line);
    return data === undefined ? [] : [{ ...data, line: index + 2 }];
  });
}
