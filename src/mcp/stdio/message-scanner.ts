import { parseJson } from '../../lib/json.ts';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Bytes of a key or an id that are looked at. A longer one is not kept. */
const longestToken = 300;

export type MessageId = string | number;

/**
 * Reads one JSON-RPC message byte by byte, in constant memory: how deeply it is nested, and its id.
 * So a message that is too long, too deep or broken can still be answered to the request it belongs
 * to.
 */
export class MessageScanner {
  #depth = 0;
  #deepest = 0;
  #isInString = false;
  #isEscaped = false;
  #key: unknown;
  #token: number[] = [];
  #id: MessageId | undefined;

  /** How deeply arrays and objects are nested. */
  get deepest(): number {
    return this.#deepest;
  }

  /**
   * The `id` of the outermost object, if it is complete. As in `JSON.parse`, the last one counts.
   */
  get id(): MessageId | undefined {
    return this.#id;
  }

  read(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#isInString) this.#readInString(byte);
      else this.#readBetween(byte);
    }
  }

  #readInString(byte: number): void {
    this.#keep(byte);
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isInString = false;
  }

  #readBetween(byte: number): void {
    if (byte === openBrace || byte === openBracket) {
      this.#keep(byte);
      this.#depth += 1;
      this.#deepest = Math.max(this.#deepest, this.#depth);
    } else if (byte === closeBrace || byte === closeBracket) {
      this.#endValue();
      this.#depth -= 1;
    } else if (byte === comma) this.#endValue();
    else if (byte === colon) this.#endKey();
    else {
      this.#isInString = byte === quote;
      this.#keep(byte);
    }
  }

  #keep(byte: number): void {
    if (this.#depth === 1 && this.#token.length <= longestToken) this.#token.push(byte);
  }

  #endKey(): void {
    if (this.#depth === 1) this.#key = this.#takeToken();
  }

  #endValue(): void {
    if (this.#depth !== 1) return;
    const value = this.#takeToken();
    if (this.#key === 'id' && isMessageId(value)) this.#id = value;
    this.#key = undefined;
  }

  /** The token as a value; undefined if it is too long or no complete JSON. */
  #takeToken(): unknown {
    const token = this.#token;
    this.#token = [];
    return token.length > longestToken ? undefined : parseJson(Buffer.from(token).toString());
  }
}

export function isMessageId(value: unknown): value is MessageId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}
