import type { Fetched, FetchContext, Source } from '../source.ts';
import { storedNotes } from './inbox.ts';

/** What people and agents hand in. It has no far end: what was handed in stays until somebody deletes the file. */
export const notes: Source<undefined> = {
  extractor: 'notes@1',
  async *fetch({ projectDir }: FetchContext<undefined>): AsyncGenerator<Fetched> {
    for (const { id, text } of await storedNotes(projectDir))
      yield { kind: 'item', key: id, path: `${id}.md`, body: text };
    yield { kind: 'end', listingComplete: true };
  },
  covers: () => false,
  extract: (items) =>
    items.map(({ key, body }) => ({
      key,
      claims: [],
      unread: [{ what: 'prose', location: 'line 1', text: body }],
    })),
};
