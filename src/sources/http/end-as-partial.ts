import { UserError } from '../../lib/error.ts';
import type { FetchEvent } from '../source.ts';

/**
 * Keeps what was read if the server stops answering on the way: the listing then ends as
 * incomplete, and the next run goes on. A server that does not answer at all is an error.
 */
export async function* endAsPartial(events: AsyncIterable<FetchEvent>): AsyncGenerator<FetchEvent> {
  let hasRead = false;
  try {
    for await (const event of events) {
      hasRead ||= event.kind !== 'end';
      yield event;
    }
  } catch (error) {
    if (!hasRead || !(error instanceof UserError) || !error.retryable) throw error;
    yield { kind: 'end', listingComplete: false, reason: error.message };
  }
}
