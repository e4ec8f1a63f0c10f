import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import {
  checkLine,
  errorReply,
  inPlainWords,
  longestMessage,
  type ErrorReply,
} from './check-line.ts';
import { isMessageId } from './message-scanner.ts';
import { LineReader, type ClientLine } from './read-lines.ts';
import { RequestsInFlight } from './requests-in-flight.ts';

/** Bytes that wait for a client that does not read. With more, ktx stops reading its requests. */
const mostUnread = 8 * 1024 * 1024;
/** An error code that JSON-RPC leaves to servers. */
const tooManyRequests = -32_029;

/** Asked before each message. The first that is refused ends the connection. */
interface MessageGuard {
  readonly admit: () => Promise<void>;
  readonly refuse: (error: unknown) => void;
}

/**
 * MCP over two streams, for whatever a client sends: a message that is broken, too long or too deep
 * is answered with the protocol's error, and the next one is read. Memory stays bounded. Unlike the
 * SDK's transport, which ends at a message that is too long and does not answer broken ones.
 */
export class StdioTransport implements Transport {
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  onmessage: Transport['onmessage'];
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines = new LineReader(longestMessage);
  readonly #inFlight = new RequestsInFlight();
  readonly #guard: MessageGuard | undefined;
  /** The messages before, so that they stay in their order. */
  #admitted: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(stdin: Readable, stdout: Writable, guard?: MessageGuard) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#guard = guard;
  }

  start(): Promise<void> {
    this.#stdin.on('data', this.#onData);
    for (const event of ['end', 'close', 'error']) this.#stdin.on(event, this.#end);
    for (const event of ['close', 'error']) this.#stdout.on(event, this.#end);
    this.#stdout.on('drain', this.#onDrain);
    if (this.#stdin.readableEnded || this.#stdin.destroyed) setImmediate(this.#end);
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const isAnswer = 'result' in message || 'error' in message;
    if (isAnswer && isMessageId(message.id)) this.#inFlight.remove(message.id);
    return this.#write(inPlainWords(message));
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.#stdin.off('data', this.#onData);
    for (const event of ['end', 'close', 'error']) this.#stdin.off(event, this.#end);
    this.#stdout.off('drain', this.#onDrain);
    this.#stdin.pause();
    this.onclose?.();
    return Promise.resolve();
  }

  // The listener for errors of stdout stays: an answer may fail after the end.
  readonly #end = (): void => void this.close();

  readonly #onDrain = (): void => void this.#stdin.resume();

  readonly #onData = (piece: Buffer): void => {
    for (const line of this.#lines.read(piece)) this.#readLine(line);
    if (this.#stdout.writableLength > mostUnread) this.#stdin.pause();
  };

  #readLine(line: ClientLine): void {
    const checked = checkLine(line);
    if (checked.kind === 'refused') return checked.errors.forEach((error) => this.#refuse(error));
    if (checked.kind === 'notification') {
      if (checked.cancelledId !== undefined) this.#inFlight.remove(checked.cancelledId);
    } else if (!this.#inFlight.add(checked.id, checked.bytes)) {
      const text = 'Too many requests wait for an answer. Send this one again later.';
      return this.#refuse(errorReply(checked.id, tooManyRequests, text));
    }
    this.#pass(checked.message);
  }

  #pass(message: JSONRPCMessage): void {
    const guard = this.#guard;
    if (guard === undefined) return this.onmessage?.(message);
    this.#admitted = this.#admitted
      .then(() => guard.admit())
      .then(
        () => this.#isClosed || this.onmessage?.(message),
        (error: unknown) => {
          guard.refuse(error);
          return this.close();
        },
      )
      .then(() => undefined);
  }

  /** A client that is gone needs no answer. */
  #refuse(error: ErrorReply): void {
    this.#write(error).catch(() => undefined);
  }

  #write(message: object): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('The connection is closed.'));
    return new Promise((resolve, reject) => {
      this.#stdout.write(`${JSON.stringify(message)}\n`, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }
}
