import { slug } from '../../context/catalog/slug.ts';
import { usageBucket } from '../../context/usage/usage.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { Item } from '../source.ts';
import type { LookerDashboard, LookerExplore, LookerLook, LookerQuery } from './api-schemas.ts';
import { writeLookml } from './write-lookml.ts';

/** All explores of a model, as LookML. */
export function modelItem(name: string, explores: readonly LookerExplore[]): Item {
  const key = modelKey(name);
  return { key, path: key, body: writeLookml(explores) };
}

export function modelKey(name: string): string {
  const safe = /^\w{1,100}$/.test(name) ? name : `${slug(name)}_${shortHash(name, 6)}`;
  return `models/${safe}.model.lkml`;
}

/** A look in its first line, and its query in the second. */
export function lookItem(look: LookerLook, folder: string): Item {
  const { query } = look;
  return item(contentKey('looks', look.id), [
    contentLine('look', look, folder),
    ...(query ? [queryLine(query, look.title)] : []),
  ]);
}

/** A dashboard in its first line, and the query or the text of each tile in a line of its own. */
export function dashboardItem(dashboard: LookerDashboard, folder: string): Item {
  const tiles = (dashboard.dashboard_elements ?? []).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const lines = tiles.flatMap(
    ({ title, body_text: text, query, look, result_maker: maker }): object[] => {
      const own = query ?? look?.query ?? maker?.query;
      if (own) return [queryLine(own, title)];
      return text?.trim() ? [{ text: text.trim() }] : [];
    },
  );
  const head = contentLine('dashboard', dashboard, folder);
  return item(contentKey('dashboards', dashboard.id), [head, ...lines]);
}

/** How often things ran, in steps, so that a day's clicks change one small file at most. */
export function usageItem(runs: ReadonlyMap<string, number>): Item {
  const lines = [...runs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([of, count]) => ({ of, runs: usageBucket(count) }));
  return item('usage.jsonl', lines);
}

export function contentKey(kind: 'looks' | 'dashboards', id: string): string {
  const safe = /^\w{1,100}$/.test(id) ? id : `${slug(id)}_${shortHash(id, 6)}`;
  return `${kind}/${safe}.jsonl`;
}

function contentLine(kind: 'look' | 'dashboard', content: LookerLook, folder: string) {
  const { id, title, description, certification_metadata: certification } = content;
  const isCertified = certification?.certification_status === 'certified';
  return {
    item: kind,
    id,
    title: title ?? `${kind} ${id}`,
    ...(description ? { description } : {}),
    folder,
    ...(isCertified ? { certified: true } : {}),
  };
}

function queryLine(query: LookerQuery, title: string | null | undefined) {
  const present = Object.entries(query).filter(([, value]) => value !== null && value !== '');
  return { ...(title ? { title } : {}), query: Object.fromEntries(present) };
}

function item(key: string, lines: readonly unknown[]): Item {
  return { key, path: key, body: lines.map((line) => `${canonicalJson(line)}\n`).join('') };
}
