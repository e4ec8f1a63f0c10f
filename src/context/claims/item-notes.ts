import type { Evidence } from './claim.ts';
import { readYaml } from '../../lib/yaml/read-yaml.ts';

/** What an item says about itself: who answers for it, from when it is, until when it holds. */
export type ItemNotes = Pick<Evidence, 'owner' | 'dated' | 'expires'>;

const longestFrontMatter = 20_000;
const longestOwner = 120;

/** Reads the front matter of a page; empty where there is none or it cannot be read. */
export function readItemNotes(body: string): ItemNotes {
  const head = body.slice(0, longestFrontMatter).replace(/^\uFEFF/, '');
  if (!head.startsWith('---')) return {};
  const end = head.indexOf('\n---', 3);
  if (end < 0) return {};
  try {
    const values = readYaml(head.slice(head.indexOf('\n') + 1, end));
    return values instanceof Object ? notesOf(values as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function notesOf(values: Readonly<Record<string, unknown>>): ItemNotes {
  const first = (keys: readonly string[], read: (value: unknown) => string | undefined) =>
    keys.map((key) => read(values[key])).find((value) => value !== undefined);
  const owner = first(['owner', 'owners', 'maintainer'], ownerText);
  const dated = first(['updated', 'last_updated', 'lastmod', 'date'], dateText);
  const expires = first(['expires', 'valid_until', 'review_by'], dateText);
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(dated === undefined ? {} : { dated }),
    ...(expires === undefined ? {} : { expires }),
  };
}

function ownerText(value: unknown): string | undefined {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  const text = names
    .filter((name) => typeof name === 'string')
    .join(', ')
    .trim();
  return text === '' ? undefined : text.slice(0, longestOwner).toWellFormed();
}

function dateText(value: unknown): string | undefined {
  return typeof value === 'string' ? /^\d{4}-\d{2}-\d{2}/.exec(value)?.[0] : undefined;
}
