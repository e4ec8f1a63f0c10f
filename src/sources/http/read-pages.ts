import { UserError } from '../../lib/error.ts';

interface ListingPage<Entry, Cursor> {
  readonly entries: readonly Entry[];
  /** Where the next page starts; undefined after the last. */
  readonly next: Cursor | undefined;
}

/** Beyond, a listing fails rather than being cut without a word. */
const mostEntries = 100_000;

/** An API may give pages without entries, but not for ever. */
const mostPages = 10_000;

/**
 * All entries of a listing, page by page. Throws what reading a page throws, and for a listing
 * without an end.
 */
export async function* readPages<Entry, Cursor extends string | number>(
  readPage: (cursor: Cursor | undefined) => Promise<ListingPage<Entry, Cursor>>,
): AsyncGenerator<Entry> {
  const seen = new Set<Cursor>();
  let count = 0;
  for (let cursor: Cursor | undefined; ;) {
    const page = await readPage(cursor);
    yield* page.entries;
    count += page.entries.length;
    if (page.next === undefined) return;
    if (seen.has(page.next) || count > mostEntries || seen.size > mostPages)
      throw new UserError(
        'bad_answer',
        `A listing does not end: ktx stopped after ${count} entries.`,
        {
          hint: 'Check the server. ktx changed nothing.',
        },
      );
    seen.add(page.next);
    cursor = page.next;
  }
}
