import type { FetchContext, FetchEvent, Source } from '../source.ts';
import { parseCorrection } from './correction.ts';
import { readStoredNotes } from './inbox.ts';

/** Notes that people and agents hand in. A note stays an item until somebody deletes its file. */
export const notesSource: Source<undefined> = {
  extractor: 'notes@1',
  async *fetch({ projectDir }: FetchContext<undefined>): AsyncGenerator<FetchEvent> {
    for (const { id, text } of await readStoredNotes(projectDir))
      yield { kind: 'item', key: id, path: `${id}.md`, body: text };
    yield { kind: 'end', listingComplete: true };
  },
  covers: () => false,
  extract: (items) =>
    items.map(({ key, body }) => ({
      key,
      claims: [],
      // A proposed correction waits for a person, and no model takes it for a fact.
      unread:
        parseCorrection(body) === undefined
          ? [{ what: 'prose', location: 'line 1', text: body }]
          : [],
    })),
};
