import type { OpenSource } from '../../sources/registry.ts';
import { formatCount } from '../../lib/format-count.ts';
import { UserError } from '../../lib/error.ts';
import type { Item } from '../../sources/source.ts';
import type { ItemReport } from '../report.ts';
import { hashItem } from './item-files.ts';

export interface FetchInput {
  readonly connection: string;
  readonly source: OpenSource;
  /** As the last run left them. */
  readonly before: readonly Item[];
  readonly projectDir: string;
  readonly cacheDir: string;
  readonly secrets: (reference: string) => string;
  readonly signal: AbortSignal;
  /** A person says that it is meant, where nothing is there any more. */
  readonly allowEmpty?: boolean | undefined;
}

/**
 * Reads a source and says what became of each item. What failed stays as it was. An item is gone only where the listing came
 * to its end without it and the configuration still asks for it. A listing in which nothing is left of what there was fails as a whole:
 * a folder that is not mounted looks like one that somebody emptied.
 */
export async function fetchItems(
  input: FetchInput,
): Promise<{ items: readonly Item[]; report: ItemReport }> {
  const { source, before, allowEmpty = false, ...context } = input;
  const known = new Map(before.map((item) => [item.key, item]));
  const items = new Map(known);
  const seen = new Set<string>();
  const taken = new Map<string, string>();
  const failed: { key: string; reason: string }[] = [];
  let listing: ItemReport['listing'] = {
    complete: false,
    reason: 'the source ended without saying so',
  };
  for await (const fetched of source.fetch(context)) {
    context.signal.throwIfAborted();
    if (fetched.kind === 'end') {
      listing = { complete: fetched.listingComplete, reason: fetched.reason };
      continue;
    }
    seen.add(fetched.key);
    const fault = fetched.kind === 'failed' ? fetched.reason : pathFault(fetched, taken);
    if (fault !== undefined || fetched.kind === 'failed')
      failed.push({ key: fetched.key, reason: fault ?? '' });
    else items.set(fetched.key, { key: fetched.key, path: fetched.path, body: fetched.body });
  }
  const gone = [...known.keys()].filter(
    (key) => listing.complete && !seen.has(key) && source.covers(key),
  );
  const [bare, told] = [
    [...seen].every((key) => source.isConfiguration(key)),
    gone.filter((key) => !source.isConfiguration(key)).length,
  ];
  if (bare && told > 0 && !allowEmpty) throw emptied(context.connection, told);
  for (const key of gone) items.delete(key);
  const isChanged = (item: Item, old: Item) =>
    hashItem(item) !== hashItem(old) || item.path !== old.path;
  const added = [...items.keys()].filter((key) => !known.has(key));
  const changed = [...items.values()]
    .filter((item) => isChanged(item, known.get(item.key) ?? item))
    .map(({ key }) => key);
  const unchanged = items.size - added.length - changed.length;
  const report = {
    listing,
    added: added.sort(),
    changed: changed.sort(),
    gone: gone.sort(),
    failed,
    unchanged,
  };
  return { items: [...items.values()].sort((a, b) => (a.key < b.key ? -1 : 1)), report };
}

function emptied(connection: string, count: number): UserError {
  const message = `${connection} shows nothing any more, where it had ${formatCount(count, 'item')}; all that came of ${count === 1 ? 'it' : 'them'} stays.`;
  const hint = `See that the folder is the right one and is mounted. Where it is meant to be empty: ktx ingest ${connection} --allow-empty`;
  return new UserError('source_emptied', message, { hint });
}

/** Where a body must not lie: outside of its folder, on the index, or on another item where case means nothing. */
function pathFault({ key, path }: Item, taken: Map<string, string>): string | undefined {
  const steps = path.split('/');
  // eslint-disable-next-line no-control-regex -- what a file name must not have
  const isOdd =
    /[\\\u0000-\u001f:*?"<>|]/.test(path) ||
    steps.some((step) => ['', '.', '..', '.git'].includes(step.toLowerCase()));
  if (isOdd || path.toLowerCase() === 'index.jsonl' || path.length > 400)
    return `its path cannot be used: ${JSON.stringify(path)}`;
  const other = taken.get(path.toLowerCase());
  taken.set(path.toLowerCase(), key);
  return other === undefined ? undefined : `its path ${path} is that of ${other} already`;
}
