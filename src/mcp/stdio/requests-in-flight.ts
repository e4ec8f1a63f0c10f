import type { MessageId } from './message-scanner.ts';

/** How much a client may ask at once. */
const mostRequests = 2000;
const mostBytes = 64 * 1024 * 1024;

/** The requests that are not answered yet. A client may use an id twice; both count. */
export class RequestsInFlight {
  readonly #bytesById = new Map<MessageId, number[]>();
  #requests = 0;
  #bytes = 0;

  /** False if there are too many: the request does not count then, and has to be refused. */
  add(id: MessageId, bytes: number): boolean {
    const isFirst = this.#requests === 0;
    if (!isFirst && (this.#requests >= mostRequests || this.#bytes + bytes > mostBytes))
      return false;
    this.#bytesById.set(id, [...(this.#bytesById.get(id) ?? []), bytes]);
    this.#requests += 1;
    this.#bytes += bytes;
    return true;
  }

  /** An answer was sent, or the client cancelled. Ids that are not there do not matter. */
  remove(id: MessageId): void {
    const [bytes, ...others] = this.#bytesById.get(id) ?? [];
    if (bytes === undefined) return;
    if (others.length > 0) this.#bytesById.set(id, others);
    else this.#bytesById.delete(id);
    this.#requests -= 1;
    this.#bytes -= bytes;
  }
}
