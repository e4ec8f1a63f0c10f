import { MessageScanner } from './message-scanner.ts';

/** One line of the client, without its line feed. */
export interface ClientLine {
  /** Undefined if the line is longer than the limit: the rest was read and dropped. */
  readonly bytes: Buffer | undefined;
  /** What is known about the message even if the line is broken or too long. */
  readonly scanner: MessageScanner;
}

const lineFeed = 0x0a;
const firstCapacity = 4096;

/**
 * Cuts a stream into lines. Holds at most one line of at most `longestLine` bytes, however small
 * the pieces are in which it arrives, and whether or not it ever ends.
 */
export class LineReader {
  readonly #longestLine: number;
  #held: Buffer = Buffer.alloc(0);
  #length = 0;
  #isTooLong = false;
  #scanner = new MessageScanner();

  constructor(longestLine: number) {
    this.#longestLine = longestLine;
  }

  /** The lines that end in this piece of the stream. */
  *read(piece: Buffer): Generator<ClientLine> {
    for (let start = 0; start < piece.length;) {
      const end = piece.indexOf(lineFeed, start);
      this.#hold(piece.subarray(start, end < 0 ? piece.length : end));
      if (end < 0) return;
      yield this.#takeLine();
      start = end + 1;
    }
  }

  #hold(bytes: Buffer): void {
    this.#scanner.read(bytes);
    const length = this.#length + bytes.length;
    if (this.#isTooLong || length > this.#longestLine) {
      this.#isTooLong = true;
      this.#held = Buffer.alloc(0);
      return;
    }
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(firstCapacity, length, 2 * this.#held.length));
      this.#held.copy(larger, 0, 0, this.#length);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#length);
    this.#length = length;
  }

  #takeLine(): ClientLine {
    const bytes = this.#isTooLong ? undefined : this.#held.subarray(0, this.#length);
    const line = { bytes, scanner: this.#scanner };
    this.#held = Buffer.alloc(0);
    this.#length = 0;
    this.#isTooLong = false;
    this.#scanner = new MessageScanner();
    return line;
  }
}
