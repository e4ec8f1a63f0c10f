import { canonicalJson } from '../../lib/json.ts';
import type { Item } from '../source.ts';
import type {
  MetabaseCard,
  MetabaseDashboard,
  MetabaseSegment,
  MetabaseSnippet,
  MetabaseTable,
} from './api-schemas.ts';

/** What the first line of an item is about. */
export type ItemKind =
  | 'card'
  | 'dashboard'
  | 'database'
  | 'segment'
  | 'settings'
  | 'snippet'
  | 'table';

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

/** What counts for the whole server. */
export function settingsItem(startOfWeek: string): Item {
  return item(settingsKey, [{ item: 'settings', start_of_week: startOfWeek }]);
}

export const settingsKey = 'settings.jsonl';

/** A snippet of SQL in its first line, and what its tags stand for in the second. */
export function snippetItem({ id, name, content, template_tags: tags }: MetabaseSnippet): Item {
  return item(`snippets/${id}.jsonl`, [
    { item: 'snippet', id, name, content },
    withoutRandomIds(tags ?? {}),
  ]);
}

/** A segment in its first line, and its query in the second. */
export function segmentItem({ definition, archived, ...own }: MetabaseSegment): Item {
  const key = `segments/${own.id}.jsonl`;
  const state = archived === true ? { archived } : {};
  return item(key, [{ item: 'segment', ...own, ...state }, withoutRandomIds(definition)]);
}

/** A dashboard in its first line, and each of its questions and texts in a line of its own. */
export function dashboardItem(dashboard: MetabaseDashboard, collection: string): Item {
  const { id, name, description, tabs } = dashboard;
  const tabNames = new Map((tabs ?? []).map((tab) => [tab.id, tab.name]));
  const tiles = [...(dashboard.dashcards ?? dashboard.ordered_cards ?? [])];
  const lines = tiles
    .sort((a, b) => a.id - b.id)
    .flatMap((tile): object[] => {
      const { card_id: card, dashboard_tab_id: tabId, series, visualization_settings: look } = tile;
      const tab = tabNames.get(tabId ?? -1);
      const where = tab === undefined ? {} : { tab };
      const cards = [card, ...(series ?? []).map((more) => more.id)];
      const text = look?.text?.trim() ?? '';
      return [
        ...cards.flatMap((shown) => (typeof shown === 'number' ? [{ card: shown, ...where }] : [])),
        ...(text === '' ? [] : [{ text, ...where }]),
      ];
    });
  const head = { item: 'dashboard', id, name, description, collection };
  return item(`dashboards/${id}.jsonl`, [head, ...lines]);
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
