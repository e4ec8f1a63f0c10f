import { errorMessage } from '../../lib/error.ts';
import type { SessionListener } from '../port/backend.ts';
import type { KtxRuntimeToolDescriptor } from '../port/runtime.ts';
import type { AgentEvent, PermissionDenial, ToolCallRecord } from '../port/session.ts';
import type { QueryEvidence, ToolCall, ToolOutput } from '../port/tool-call.ts';

interface RecordedToolCall {
  readonly name: string;
  readonly input: unknown;
  readonly startedAt: number;
  /** Set once the tool has returned. */
  output?: ToolOutput;
  end?: ToolCallRecord;
}

/**
 * Records one turn and emits its events, each once and in order. Both the backend's stream and the
 * running tools report here.
 */
export class TurnRecorder {
  readonly #emit: (event: AgentEvent) => void;
  readonly #hasAnswerFormat: boolean;
  readonly #startedAt = performance.now();
  readonly #calls = new Map<string, RecordedToolCall>();
  #text = '';
  /** True after a tool call: the next text replaces the text so far. */
  #startsNewText = false;
  #firstTokenMs: number | undefined;
  #isClosed = false;
  #isShortened = false;
  readonly denials: PermissionDenial[] = [];
  readonly evidence: QueryEvidence[] = [];

  /** With an answer format the model's text is not the answer, so no text is emitted. */
  constructor(emit: (event: AgentEvent) => void, hasAnswerFormat: boolean) {
    this.#emit = emit;
    this.#hasAnswerFormat = hasAnswerFormat;
  }

  /** True if the turn was told again in a shortened form. */
  get isShortened(): boolean {
    return this.#isShortened;
  }

  get text(): string {
    return this.#text;
  }

  get firstTokenMs(): number | undefined {
    return this.#firstTokenMs;
  }

  /** True once text, thinking or a tool call has arrived. */
  get hasShown(): boolean {
    return this.#firstTokenMs !== undefined;
  }

  get durationMs(): number {
    return performance.now() - this.#startedAt;
  }

  get toolCalls(): readonly ToolCallRecord[] {
    return [...this.#calls.values()].flatMap(({ end }) => end ?? []);
  }

  /** True if no tool call succeeded after the last denial. */
  get isDenied(): boolean {
    const lastDenial = this.denials.at(-1);
    if (lastDenial === undefined) return false;
    const calls = this.toolCalls;
    const sinceDenial = calls.slice(calls.findIndex(({ id }) => id === lastDenial.id));
    return !sinceDenial.some(({ ok }) => ok);
  }

  emit(event: AgentEvent): void {
    if (!this.#isClosed) this.#emit(event);
  }

  /** The backend's stream reports here. */
  listener(): SessionListener {
    return {
      text: (delta) => this.#addText(delta),
      thinking: (text) => {
        if (text === '') return;
        this.#markFirstToken();
        this.emit({ type: 'thinking_delta', text });
      },
      startedAgain: () => {
        if (this.#text !== '' && !this.#startsNewText)
          this.emit({ type: 'warning', message: 'The answer broke off. It is asked for again.' });
        this.#startsNewText = true;
      },
      toolStarted: (call) => this.#startCall(call),
      toolEnded: ({ id, isError, text }) => {
        // A tool that ran has reported its own end, which has more detail.
        if (this.#calls.get(id)?.output === undefined)
          this.#endCall(id, !isError, { markdown: text });
      },
    };
  }

  /**
   * The turn goes on with a model that gets a shortened history. New text replaces the text so far.
   */
  startAgain(): void {
    for (const [id, { end }] of this.#calls)
      if (end === undefined) this.#endCall(id, false, { markdown: 'The call did not finish.' });
    this.#startsNewText = true;
    if (!this.#isShortened)
      this.emit({
        type: 'warning',
        message:
          'The conversation no longer fits the context of the model. It goes on with older tool results shortened.',
      });
    this.#isShortened = true;
  }

  /** Runs a tool of the session and records the call. */
  async runTool(
    tool: KtxRuntimeToolDescriptor,
    input: unknown,
    call: ToolCall,
  ): Promise<ToolOutput> {
    const { id } = call;
    this.#startCall({ id, name: tool.name, input });
    try {
      const output = await tool.execute(input, call);
      this.#endCall(id, output.isError !== true, output);
      return output;
    } catch (error) {
      this.#endCall(id, false, { markdown: errorMessage(error) });
      throw error;
    }
  }

  /** Ends the calls that are still open. Nothing is emitted afterwards. */
  close(): void {
    for (const [id, { end }] of this.#calls)
      if (end === undefined) this.#endCall(id, false, { markdown: 'The call did not finish.' });
    this.#isClosed = true;
  }

  #addText(delta: string): void {
    if (delta === '') return;
    this.#markFirstToken();
    this.#text = this.#startsNewText ? delta : this.#text + delta;
    this.#startsNewText = false;
    if (!this.#hasAnswerFormat) this.emit({ type: 'text_delta', text: delta });
  }

  #markFirstToken(): void {
    this.#firstTokenMs ??= this.durationMs;
  }

  #startCall({ id, name, input }: Parameters<SessionListener['toolStarted']>[0]): void {
    if (this.#isClosed || this.#calls.has(id)) return;
    this.#markFirstToken();
    this.#startsNewText = true;
    this.#calls.set(id, { name, input, startedAt: performance.now() });
    this.emit({ type: 'tool_start', id, name, input });
  }

  #endCall(id: string, ok: boolean, output: ToolOutput): void {
    const call = this.#calls.get(id);
    if (this.#isClosed || call === undefined || call.end !== undefined) return;
    const { name, input, startedAt } = call;
    const { markdown, evidence, denied } = output;
    const end = {
      id,
      name,
      ok,
      summary: output.summary ?? markdown.split('\n')[0]?.slice(0, 200) ?? '',
      evidenceId: evidence?.id,
      ms: Math.round(performance.now() - startedAt),
    };
    call.output = output;
    const { choices, values } = output;
    call.end = { ...end, input, answer: markdown, values, ...(choices && { choices }) };
    if (evidence !== undefined) this.evidence.push({ ...evidence, call: id });
    if (denied !== undefined) this.denials.push({ id, tool: name, reason: denied });
    this.emit({ type: 'tool_end', ...end });
  }
}
