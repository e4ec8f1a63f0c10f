import { deserializeMessage, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/json.ts';
import { ServerLimitError } from './errors.ts';

/**
 * Lines that answer nothing which a server may send between two answers: notices, requests, other
 * text.
 */
export const mostOtherLines = 10_000;
export const tooManyLines = `it sent more than ${mostOtherLines} lines that answer nothing`;

export interface LineLimits {
  readonly maxBytes: number;
  /** The message of the error when a line is longer. */
  readonly tooLarge: string;
}

const lineFeed = 0x0a;

/**
 * Cuts what a program writes into messages, with the methods of the SDK's `ReadBuffer`. That one
 * takes any number of lines and quadratic time for a long line in small pieces.
 */
export class MessageLines {
  readonly #limits: LineLimits;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #lines: Buffer[] = [];
  #otherLines = 0;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** Throws if a line is too long or too many lines answer nothing; the transport then closes. */
  append(chunk: Buffer): void {
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(lineFeed, start);
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      this.#bytes += piece.length;
      if (this.#bytes > this.#limits.maxBytes) this.#fail(this.#limits.tooLarge);
      this.#pieces.push(piece);
      if (end < 0) return;
      this.#takeLine();
      start = end + 1;
    }
  }

  readMessage(): JSONRPCMessage | null {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      const message = readMessage(line);
      if (message === undefined) continue;
      if (isAnswer(message)) this.#otherLines = 0;
      return message;
    }
    return null;
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
    this.#lines = [];
  }

  #takeLine(): void {
    this.#lines.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#bytes = 0;
    this.#otherLines += 1;
    if (this.#otherLines > mostOtherLines) this.#fail(tooManyLines);
  }

  #fail(reason: string): never {
    this.clear();
    throw new ServerLimitError(reason);
  }
}

function readMessage(line: Buffer): JSONRPCMessage | undefined {
  // Other text is skipped without the costs of an exception.
  if (!/^\s*\{/.test(line.subarray(0, 20).toString('latin1'))) return undefined;
  try {
    return deserializeMessage(line.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAnswer(message: JSONRPCMessage): boolean {
  return isRecord(message) && ('result' in message || 'error' in message);
}
