import { UserError } from '../../lib/error.ts';
import { extractInThread, SlowFile } from '../../sources/parser.ts';
import type { OpenSource } from '../../sources/registry.ts';
import type { Extraction, Item } from '../../sources/source.ts';
import type { ItemReport } from '../report.ts';
import type { FetchedSource } from './read-sources.ts';

interface ExtractOptions {
  readonly context: Parameters<OpenSource['extract']>[1];
  readonly signal: AbortSignal;
  /** How long one item may take, in milliseconds. */
  readonly longest?: number;
}

interface ExtractedItems {
  /** Without the items that took too long. */
  readonly fetched: FetchedSource;
  readonly extractions: readonly Extraction[];
}

/** Each costs as much time as the limit. */
const mostSlowItems = 5;

/**
 * What code reads in the items. A new or changed item that takes too long counts as one that could
 * not be fetched: its last version stays. If that one takes too long as well, or too many do, it is
 * an error: without its facts the artifacts would lose what came from it.
 */
export async function extractItems(
  fetched: FetchedSource,
  options: ExtractOptions,
): Promise<ExtractedItems> {
  let current = fetched;
  for (let slowItems = 0; ; slowItems += 1) {
    try {
      const { source, items } = current;
      return { fetched: current, extractions: await extractInThread(source, items, options) };
    } catch (error) {
      if (!(error instanceof SlowFile)) throw error;
      current = withoutSlowItem(current, error, slowItems);
    }
  }
}

function withoutSlowItem(
  { items, stored, report, ...fetched }: FetchedSource,
  { index, message }: SlowFile,
  slowItems: number,
): FetchedSource {
  const slow = index === undefined ? undefined : items[index];
  const before = stored.find(({ key }) => key === slow?.key);
  const isNew = slow !== undefined && before?.body !== slow.body;
  if (slow === undefined || !isNew || report.items === undefined || slowItems >= mostSlowItems)
    throw slowSourceError(fetched.input.name, slow, message);
  const kept = items.flatMap((item) => (item === slow ? (before ?? []) : item));
  const failure = { key: slow.key, reason: message };
  return { ...fetched, stored, items: kept, report: { items: withFailure(report.items, failure) } };
}

/** The report of a fetch in which one item more failed. */
function withFailure(report: ItemReport, failure: ItemReport['failed'][number]): ItemReport {
  const isOther = (key: string) => key !== failure.key;
  const wasChanged = report.changed.includes(failure.key);
  return {
    ...report,
    added: report.added.filter(isOther),
    changed: report.changed.filter(isOther),
    failed: [...report.failed, failure],
    unchanged: report.unchanged + (wasChanged ? 1 : 0),
  };
}

function slowSourceError(connection: string, item: Item | undefined, reason: string): UserError {
  const what = item === undefined ? connection : `${connection}: ${item.path}`;
  return new UserError('source_too_slow', `${what} cannot be parsed: ${reason}.`, {
    hint: 'Take the file out of the source, or split it. Nothing has changed.',
  });
}
