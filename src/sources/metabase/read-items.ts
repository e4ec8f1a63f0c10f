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

const snippetLineSchema = z.object({ id: z.number(), name: z.string(), content: z.string() });
const segmentLineSchema = z.object({
  id: z.number(),
  name: z.string(),
  description: textOrNull,
  table_id: z.number(),
  archived: z.boolean().optional(),
});
const dashboardLineSchema = z.object({
  id: z.number(),
  name: z.string(),
  collection: z.string(),
  description: textOrNull,
});
const tileLineSchema = z.object({ card: z.number().optional(), text: z.string().optional() });
const settingsLineSchema = z.object({ start_of_week: z.string() });

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
export interface StoredSnippet extends Stored, z.infer<typeof snippetLineSchema> {
  readonly tags: z.infer<typeof queryLineSchema>;
}
export interface StoredSegment extends Stored, z.infer<typeof segmentLineSchema> {
  readonly query: z.infer<typeof queryLineSchema>;
}
export interface StoredDashboard extends Stored, z.infer<typeof dashboardLineSchema> {
  readonly tiles: readonly (z.infer<typeof tileLineSchema> & { readonly line: number })[];
}
type StoredDatabase = Stored & z.infer<typeof databaseLineSchema>;

export interface StoredMetabase {
  readonly databases: readonly StoredDatabase[];
  readonly tables: readonly StoredTable[];
  readonly cards: readonly StoredCard[];
  readonly snippets: readonly StoredSnippet[];
  readonly segments: readonly StoredSegment[];
  readonly dashboards: readonly StoredDashboard[];
  /** Like `sunday`; undefined if the server does not tell. */
  readonly startOfWeek: string | undefined;
  /** Keys of items that a person has made unreadable. */
  readonly unreadable: readonly string[];
}

/** Reads the items as `items.ts` writes them. */
export function readMetabaseItems(items: readonly Item[]): StoredMetabase {
  const databases: StoredDatabase[] = [];
  const tables: StoredTable[] = [];
  const cards: StoredCard[] = [];
  const snippets: StoredSnippet[] = [];
  const segments: StoredSegment[] = [];
  const dashboards: StoredDashboard[] = [];
  const unreadable: string[] = [];
  let startOfWeek: string | undefined;
  /** By the kind of its item: whether it could be read. */
  const readers: Readonly<Record<ItemKind, (entry: ReadEntry) => boolean>> = {
    database: ({ key, first }) =>
      keep(databases, databaseLineSchema.safeParse(first).data, () => ({ key })),
    table: ({ key, first, lines }) =>
      keep(tables, tableLineSchema.safeParse(first).data, () => ({
        key,
        fields: readFields(lines),
      })),
    card: ({ key, first, query }) =>
      query !== undefined &&
      keep(cards, cardLineSchema.safeParse(first).data, () => ({ key, query })),
    snippet: ({ key, first, query: tags = {} }) =>
      keep(snippets, snippetLineSchema.safeParse(first).data, () => ({ key, tags })),
    segment: ({ key, first, query }) =>
      query !== undefined &&
      keep(segments, segmentLineSchema.safeParse(first).data, () => ({ key, query })),
    dashboard: ({ key, first, lines }) =>
      keep(dashboards, dashboardLineSchema.safeParse(first).data, () => ({
        key,
        tiles: readTiles(lines),
      })),
    settings: ({ first }) => {
      startOfWeek = settingsLineSchema.safeParse(first).data?.start_of_week;
      return startOfWeek !== undefined;
    },
  };
  for (const { key, body } of items.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const [first, ...lines] = body.trimEnd().split('\n').map(parseJson);
    const kind = isRecord(first) ? String(first['item']) : '';
    const query = queryLineSchema.safeParse(lines[0]).data;
    const read = Object.hasOwn(readers, kind) ? readers[kind as ItemKind] : undefined;
    if (read?.({ key, first, lines, query }) !== true) unreadable.push(key);
  }
  return { databases, tables, cards, snippets, segments, dashboards, startOfWeek, unreadable };
}

interface ReadEntry extends Stored {
  readonly first: unknown;
  readonly lines: readonly unknown[];
  /** The second line. */
  readonly query: z.infer<typeof queryLineSchema> | undefined;
}

/** Adds what the first line says, with the rest of the item; false if it is another line. */
function keep<Line extends object, Rest extends object>(
  list: (Line & Rest)[],
  line: Line | undefined,
  rest: () => Rest,
): boolean {
  if (line === undefined) return false;
  list.push({ ...line, ...rest() });
  return true;
}

function readTiles(lines: readonly unknown[]): StoredDashboard['tiles'] {
  return lines.flatMap((line, index) => {
    const { data } = tileLineSchema.safeParse(line);
    return data === undefined ? [] : [{ ...data, line: index + 2 }];
  });
}

function readFields(lines: readonly unknown[]): readonly StoredField[] {
  return lines.flatMap((line, index) => {
    const { data } = fieldLineSchema.safeParse(line);
    return data === undefined ? [] : [{ ...data, line: index + 2 }];
  });
}
