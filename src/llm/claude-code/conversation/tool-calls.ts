import type { CallMonitor } from '../../port/backend.ts';
import { type ExpectedInit, outputTool } from '../isolation.ts';

interface KnownCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

interface CallEnd {
  readonly isError: boolean;
  readonly text: string;
}

export interface GivenObject {
  readonly value: unknown;
}

/** The tool calls of a conversation. Calls of an answer that broke off do not count. */
export class ToolCalls {
  readonly #expected: ExpectedInit;
  readonly #monitor: CallMonitor;
  readonly #waiting = new Map<string, KnownCall>();
  /** Those of the answer that broke off last. */
  #dropped: readonly KnownCall[] = [];
  readonly #started = new Map<string, KnownCall>();
  /** Ends of calls whose answer is not whole yet: the program does not wait to refuse a call. */
  readonly #early = new Map<string, CallEnd>();
  #accepted: GivenObject | undefined;
  #refused: GivenObject | undefined;
  #given: GivenObject | undefined;

  constructor(expected: ExpectedInit, monitor: CallMonitor) {
    this.#expected = expected;
    this.#monitor = monitor;
  }

  /** True once a whole answer has called a tool. */
  get hasStarted(): boolean {
    return this.#started.size > 0;
  }

  /** The object that the program accepted. */
  get accepted(): GivenObject | undefined {
    return this.#accepted;
  }

  /** The last object that the program refused. */
  get refused(): GivenObject | undefined {
    return this.#refused;
  }

  /** The object that the model gave last, before the program has checked it. */
  get given(): GivenObject | undefined {
    return this.#given;
  }

  /** A call of an answer that is not whole yet. */
  add(call: KnownCall): void {
    this.#waiting.set(call.id, call);
  }

  /** The answer with the calls so far is whole. */
  start(): void {
    for (const call of this.#waiting.values()) this.#start(call);
    for (const [id, end] of this.#early) this.#end(id, end);
    this.drop();
    this.#dropped = [];
  }

  /** The answer with the calls so far broke off. */
  drop(): void {
    this.#dropped = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#early.clear();
  }

  /**
   * Takes back the answer that broke off last, if an object is all that it had. False if it had
   * anything else.
   */
  takeBackObject(): boolean {
    const calls = this.#dropped;
    if (calls.length === 0 || calls.some(({ name }) => name !== outputTool)) return false;
    for (const call of calls) this.#waiting.set(call.id, call);
    return true;
  }

  end(id: string, end: CallEnd): void {
    if (this.#waiting.has(id)) this.#early.set(id, end);
    else this.#end(id, end);
  }

  #end(id: string, { isError, text }: CallEnd): void {
    const call = this.#started.get(id);
    if (call === undefined) return;
    if (call.name === outputTool) {
      this.#given = undefined;
      this.#accepted = isError ? undefined : { value: call.input };
      this.#refused = isError ? { value: call.input } : undefined;
      return;
    }
    this.#monitor.listener?.toolEnded({ id, isError, text });
    const ownName = this.#expected.tools.get(call.name);
    if (isError && ownName !== undefined) this.#monitor.toolFailed(ownName, id);
  }

  #start(call: KnownCall): void {
    const { id, name: toolName, input } = call;
    this.#started.set(id, call);
    this.#given = toolName === outputTool ? { value: input } : undefined;
    if (toolName === outputTool) return;
    const name = this.#expected.tools.get(toolName) ?? toolName;
    this.#monitor.listener?.toolStarted({ id, name, input });
  }
}
