import type { SDKAssistantMessage } from '@anthropic-ai/claude-agent-sdk';

interface OpenAnswer {
  readonly id: string;
  readonly calls: Set<string>;
  hasText: boolean;
  /** The provider said why the answer ends. */
  isWhole: boolean;
  isBroken: boolean;
  /** Nothing more of it comes. */
  isClosed: boolean;
}

/** A block of an answer, as far as it decides what the program does next. */
type TrackedBlock =
  | { readonly type: 'call'; readonly callId: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'other' };

type ContentBlock = SDKAssistantMessage['message']['content'][number];

export function trackedBlock(block: ContentBlock): TrackedBlock {
  if (block.type === 'tool_use') return { type: 'call', callId: block.id };
  return block.type === 'text' ? { type: 'text', text: block.text } : { type: 'other' };
}

/** Follows the answers of a conversation. An answer counts as a step once it is whole. */
export class TurnTracker {
  readonly #onStep: (isLast: boolean) => void;
  readonly #seen = new Set<string>();
  readonly #counted = new Set<string>();
  readonly #broken = new Set<string>();
  #answer: OpenAnswer | undefined;

  /** `isLast`: the turn asks for nothing more. */
  constructor(onStep: (isLast: boolean) => void) {
    this.#onStep = onStep;
  }

  /** Turns that have begun, without those that broke off. */
  get begun(): number {
    return this.#seen.size - this.#broken.size;
  }

  /** Turns that are whole. */
  get steps(): number {
    return this.#counted.size;
  }

  /** True if an answer broke off: the program counts it as a turn. */
  get hasBroken(): boolean {
    return this.#broken.size > 0;
  }

  /** The message whose stream is read now. */
  get streamingId(): string {
    return this.#answer?.id ?? '';
  }

  get isBroken(): boolean {
    return this.#answer?.isBroken === true;
  }

  /**
   * True between the reason why an answer ends and its last line: a failure there changes nothing
   * of it.
   */
  get isEnding(): boolean {
    return this.#answer?.isWhole === true && !this.#answer.isClosed;
  }

  /** The calls of the answer that is read now. */
  get calls(): ReadonlySet<string> {
    return this.#answer?.calls ?? new Set();
  }

  /** True if the answer has nothing for whoever asked: neither text nor a call. */
  get isEmpty(): boolean {
    return this.#answer !== undefined && !this.#answer.hasText && this.calls.size === 0;
  }

  /**
   * True if a text of the answer is complete. The program asks at once for the rest then, if the
   * answer broke off.
   */
  get hasText(): boolean {
    return this.#answer?.hasText === true;
  }

  startStream(id: string): void {
    this.#answer = open(id);
  }

  /** The provider said why the answer ends. */
  endStream(isLast: boolean): void {
    if (this.#answer === undefined) return;
    this.#answer.isWhole = true;
    if (this.isEmpty) this.#seen.add(this.#answer.id);
    if (this.#seen.has(this.#answer.id)) this.#count(this.#answer.id, isLast);
  }

  /** No more of the stream comes. True if the answer broke off with that. */
  stopStream(): boolean {
    const answer = this.#answer;
    if (answer !== undefined) answer.isClosed = true;
    if (answer === undefined || answer.isWhole || answer.isBroken) return false;
    answer.isBroken = true;
    if (this.#seen.has(answer.id)) this.#broken.add(answer.id);
    return true;
  }

  /** The answer that seemed to break off has everything that was asked for. */
  takeBack(): void {
    if (this.#answer === undefined) return;
    this.#answer.isBroken = false;
    this.#broken.delete(this.#answer.id);
    this.endStream(true);
  }

  /** The broken answer is asked for again. */
  forget(): void {
    if (this.isBroken) this.#answer = undefined;
  }

  /** The blocks of a turn that are complete. True if they are its first. */
  addBlocks(id: string, blocks: readonly TrackedBlock[]): boolean {
    // Without a stream, the whole answer comes at once.
    const isStreamed = this.#answer?.id === id && !this.#answer.isWhole;
    if (this.#answer?.id !== id) this.#answer = { ...open(id), isWhole: true, isClosed: true };
    for (const block of blocks) {
      if (block.type === 'call') this.#answer?.calls.add(block.callId);
      if (block.type === 'text' && block.text.trim() !== '' && this.#answer)
        this.#answer.hasText = true;
    }
    const isFirst = !this.#seen.has(id);
    this.#seen.add(id);
    if (!isStreamed) this.#count(id);
    return isFirst;
  }

  #count(id: string, isLast = false): void {
    if (this.#counted.has(id)) return;
    this.#counted.add(id);
    this.#onStep(isLast);
  }
}

function open(id: string): OpenAnswer {
  return { id, calls: new Set(), hasText: false, isWhole: false, isBroken: false, isClosed: false };
}
