import { errorMessage } from '../../lib/error.ts';
import type { SessionEar } from '../port/backend.ts';
import type { KtxRuntimeToolDescriptor } from '../port/runtime.ts';
import type { AgentEvent, Denial, ToolCallRecord } from '../port/session.ts';
import type { QueryEvidence, ToolCall, ToolOutput } from '../port/tool-call.ts';

interface Call {
  readonly name: string;
  readonly input: unknown;
  readonly started: number;
  /** Set where its `execute` ran. */
  output?: ToolOutput;
  end?: ToolCallRecord;
}

/** What happens in one turn, told once and in order, whoever tells it: the adapter from its stream, or the tool that runs. */
export class TurnRecord {
  readonly #emit: (event: AgentEvent) => void;
  readonly #isFormed: boolean;
  readonly #started = performance.now();
  readonly #calls = new Map<string, Call>();
  #text = '';
  /** A tool ran since the last text: what comes next is a new text. */
  #isBehindTool = false;
  #firstTokenMs: number | undefined;
  #isOver = false;
  readonly denials: Denial[] = [];
  readonly evidence: QueryEvidence[] = [];

  /** With an answer format the text of the model is no answer, and not told. */
  constructor(emit: (event: AgentEvent) => void, isFormed: boolean) {
    this.#emit = emit;
    this.#isFormed = isFormed;
  }

  get text(): string {
    return this.#text;
  }

  get firstTokenMs(): number | undefined {
    return this.#firstTokenMs;
  }

  get durationMs(): number {
    return performance.now() - this.#started;
  }

  get toolCalls(): readonly ToolCallRecord[] {
    return [...this.#calls.values()].flatMap(({ end }) => end ?? []);
  }

  /** True where, after the last denial, no call succeeded. */
  get isDenied(): boolean {
    const last = this.denials.at(-1);
    const calls = this.toolCalls;
    return (
      last !== undefined &&
      !calls.slice(calls.findIndex(({ id }) => id === last.id)).some(({ ok }) => ok)
    );
  }

  tell(event: AgentEvent): void {
    if (!this.#isOver) this.#emit(event);
  }

  /** What the adapter tells from its stream. */
  ear(): SessionEar {
    return {
      text: (delta) => {
        if (delta === '') return;
        this.#isFirst();
        this.#text = this.#isBehindTool ? delta : this.#text + delta;
        this.#isBehindTool = false;
        if (!this.#isFormed) this.tell({ type: 'text_delta', text: delta });
      },
      thinking: (text) => {
        if (text === '') return;
        this.#isFirst();
        this.tell({ type: 'thinking_delta', text });
      },
      toolStarted: (call) => this.#begin(call),
      toolEnded: ({ id, isError, text }) => {
        // What ran has its own end, which knows more.
        if (this.#calls.get(id)?.output === undefined)
          this.#finish(id, !isError, { markdown: text });
      },
    };
  }

  /** Runs a tool of the session for a call of the model. */
  async run(tool: KtxRuntimeToolDescriptor, input: unknown, call: ToolCall): Promise<ToolOutput> {
    const { id } = call;
    this.#begin({ id, name: tool.name, input });
    try {
      const output = await tool.execute(input, call);
      this.#finish(id, output.isError !== true, output);
      return output;
    } catch (error) {
      this.#finish(id, false, { markdown: errorMessage(error) });
      throw error;
    }
  }

  /** Every call has its end, and nothing is told any more. */
  close(): void {
    for (const [id, { end }] of this.#calls)
      if (end === undefined) this.#finish(id, false, { markdown: 'It did not come to its end.' });
    this.#isOver = true;
  }

  #isFirst(): void {
    this.#firstTokenMs ??= this.durationMs;
  }

  #begin({ id, name, input }: Parameters<SessionEar['toolStarted']>[0]): void {
    if (this.#isOver || this.#calls.has(id)) return;
    this.#isFirst();
    this.#isBehindTool = true;
    this.#calls.set(id, { name, input, started: performance.now() });
    this.tell({ type: 'tool_start', id, name, input });
  }

  #finish(id: string, ok: boolean, output: ToolOutput): void {
    const call = this.#calls.get(id);
    if (this.#isOver || call === undefined || call.end !== undefined) return;
    const { name, input, started } = call;
    const { markdown, evidence, denied } = output;
    const summary = output.summary ?? markdown.split('\n')[0]?.slice(0, 200) ?? '';
    const end = {
      id,
      name,
      ok,
      summary,
      evidenceId: evidence?.id,
      ms: Math.round(performance.now() - started),
    };
    call.output = output;
    call.end = { ...end, input, answer: markdown };
    if (evidence !== undefined) this.evidence.push({ ...evidence, call: id });
    if (denied !== undefined) this.denials.push({ id, tool: name, reason: denied });
    this.tell({ type: 'tool_end', ...end });
  }
}
