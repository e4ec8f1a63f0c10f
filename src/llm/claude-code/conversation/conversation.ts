import type {
  Query,
  SDKAssistantMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKResultMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import type { CallWatch } from '../../port/backend.ts';
import { LlmError } from '../../port/error.ts';
import type { TokenUsage } from '../../port/runtime.ts';
import type { Access } from '../access.ts';
import { checkInit, type Expected, outputTool } from '../isolation.ts';
import { limitsOf, refusedLimit } from './limits.ts';
import { outcomeOf, type Facts } from './outcome.ts';

export interface Following {
  readonly expected: Expected;
  readonly access: Access;
  readonly stepBudget: number;
  readonly watch: CallWatch;
  /** What the child had used before, by model: its results count from its start. */
  readonly before?: Totals | undefined;
  /** The child is asked again: what it says has to be read to the end. */
  readonly goesOn?: boolean;
}

type Totals = SDKResultMessage['modelUsage'];

/** What a conversation came to. */
export interface Conversation {
  /** Undefined where ktx ended it: at an object that was accepted, or past the budget. */
  readonly facts: Facts | undefined;
  /** Text of the last turn. */
  readonly text: string;
  /** Full id of the model that answered last. */
  readonly model: string | undefined;
  /** The object that was accepted. */
  readonly object: { readonly value: unknown } | undefined;
  /** What the child has used since its start; undefined without a result. */
  readonly totals: Totals | undefined;
}

/** Reads a conversation to its result and tells the watch; the result that was seen decides, whatever is thrown after it. */
export async function follow(query: Query, following: Following): Promise<Conversation> {
  const reader = new Reader(following);
  try {
    while (!reader.isOver()) {
      // Not `for await`: leaving it would wait for the end of the child.
      const next = await query.next();
      if (next.done === true) break;
      following.watch.alive();
      reader.read(next.value);
    }
  } finally {
    reader.reportUsage();
  }
  return reader.conversation();
}

/** How it ended; throws where it failed. */
export function endOf({ facts, object }: Conversation, access: Access): 'natural' | 'budget' {
  // Without facts ktx ended it: at an object, or past the budget.
  if (facts === undefined) return object === undefined ? 'budget' : 'natural';
  const outcome = outcomeOf(facts, access);
  if (outcome.kind === 'failed') throw outcome.failure;
  return outcome.kind;
}

/** From this release on an accepted object ends the turn; before, the model is called once more for nothing. */
const endsAtObject = [2, 1, 325];

class Reader {
  readonly #following: Following;
  readonly #usage = new Map<
    string,
    { readonly model: string; readonly tokens: TokenUsage; readonly isTold: boolean }
  >();
  readonly #turns = new Set<string>();
  readonly #calls = new Map<string, { readonly name: string; readonly input: unknown }>();
  #version: readonly number[] | undefined;
  #result: SDKResultMessage | undefined;
  #text = '';
  #model: string | undefined;
  #streaming = '';
  #error: string | undefined;
  #limit: Facts['limit'];
  #object: Conversation['object'];

  constructor(following: Following) {
    this.#following = following;
  }

  read(message: SDKMessage): void {
    if (message.type === 'system') {
      if (message.subtype === 'init') {
        checkInit(message, this.#following.expected, this.#following.access);
        this.#version = message.claude_code_version.split('.').map(Number);
      } else if (message.subtype === 'api_retry') this.#following.watch.apiCall();
    } else if (message.type === 'rate_limit_event') this.#readLimit(message.rate_limit_info);
    else if (this.#version !== undefined) this.#readAnswer(message);
    else if (message.type === 'assistant' || message.type === 'result') {
      throw new LlmError('isolation', 'Claude Code answered before it had said what it runs with.');
    }
  }

  isOver(): boolean {
    const { goesOn = false } = this.#following;
    const isTaken = !goesOn && this.#object !== undefined && isBefore(this.#version, endsAtObject);
    return isTaken || this.#result !== undefined || this.#isOverBudget();
  }

  reportUsage(): void {
    const { watch, before } = this.#following;
    const models = Object.entries(this.#result?.modelUsage ?? {});
    for (const [model, total] of models) {
      const { tokens, costUsd } = since(total, before?.[model]);
      if (costUsd > 0 || Object.values(tokens).some((count) => count > 0))
        watch.used(model, tokens, costUsd);
    }
    if (models.length > 0) return;
    // Without a result the turns say what was used; one that broke off did not come to that.
    this.#usage.forEach(({ model, tokens, isTold }) =>
      isTold ? watch.used(model, tokens) : watch.used(model, tokensOf({}), null),
    );
  }

  conversation(): Conversation {
    const facts = this.#result && factsOf(this.#result, this.#error, this.#limit);
    if (facts === undefined && this.#object === undefined && !this.#isOverBudget())
      throw this.#noResult();
    const given = this.#result?.subtype === 'success' ? this.#result.structured_output : undefined;
    const object = given === undefined ? this.#object : { value: given };
    return {
      facts,
      text: this.#text,
      model: this.#model,
      object,
      totals: this.#result?.modelUsage,
    };
  }

  /** Claude Code keeps the budget itself; this is the second lock. */
  #isOverBudget(): boolean {
    return this.#turns.size > this.#following.stepBudget;
  }

  #noResult(): LlmError {
    return this.#version === undefined
      ? new LlmError('spawn', 'Claude Code ended without a word.', {
          hint: 'See whether it runs by itself: claude -p hello',
        })
      : new LlmError('execution', 'Claude Code ended without a result.');
  }

  #readLimit(info: unknown): void {
    const reports = limitsOf(info);
    reports.forEach((report) => this.#following.watch.limit(report));
    this.#limit = refusedLimit(reports) ?? this.#limit;
  }

  #readAnswer(message: SDKMessage): void {
    if (message.type === 'result') this.#result = message;
    // What a helper of the program says is no turn of ours; there should be none.
    if (!('parent_tool_use_id' in message) || message.parent_tool_use_id !== null) return;
    if (message.type === 'stream_event') this.#readEvent(message);
    else if (message.type === 'assistant') this.#readTurn(message);
    else if (message.type === 'user') this.#readResults(message);
  }

  #readEvent({ event }: SDKPartialAssistantMessage): void {
    if (event.type === 'message_start') {
      this.#following.watch.apiCall();
      this.#streaming = event.message.id;
      this.#usage.set(this.#streaming, {
        model: event.message.model,
        tokens: tokensOf(event.message.usage),
        isTold: false,
      });
    } else if (event.type === 'message_delta') {
      const { model = '', tokens = tokensOf({}) } = this.#usage.get(this.#streaming) ?? {};
      this.#usage.set(this.#streaming, {
        model,
        tokens: { ...tokens, output: event.usage.output_tokens },
        isTold: true,
      });
    } else if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') this.#following.watch.ear?.text(event.delta.text);
      if (event.delta.type === 'thinking_delta')
        this.#following.watch.ear?.thinking(event.delta.thinking);
    }
  }

  /** One message comes for each block of a turn, all with the id of the turn. */
  #readTurn({ message: { id, model, content }, error }: SDKAssistantMessage): void {
    this.#error = error;
    if (error !== undefined) return;
    if (!this.#turns.has(id)) {
      this.#turns.add(id);
      [this.#text, this.#model] = ['', model];
      if (!this.#isOverBudget()) this.#following.watch.step();
    }
    for (const block of content) {
      if (block.type === 'text') this.#text += block.text;
      if (block.type === 'tool_use') this.#toolCalled(block.id, block.name, block.input);
    }
  }

  #readResults({ message: { content } }: SDKUserMessage): void {
    if (typeof content === 'string') return;
    for (const block of content) {
      const called = block.type === 'tool_result' ? this.#calls.get(block.tool_use_id) : undefined;
      if (block.type !== 'tool_result' || called === undefined) continue;
      const isError = block.is_error === true;
      if (called.name !== outputTool)
        this.#following.watch.ear?.toolEnded({
          id: block.tool_use_id,
          isError,
          text: resultText(block.content),
        });
      if (called.name === outputTool) this.#object = isError ? undefined : { value: called.input };
      else if (isError) this.#toolFailed(called.name, block.tool_use_id);
    }
  }

  #toolCalled(id: string, name: string, input: unknown): void {
    this.#calls.set(id, { name, input });
    const { expected, watch } = this.#following;
    if (name !== outputTool)
      watch.ear?.toolStarted({ id, name: expected.tools.get(name) ?? name, input });
  }

  #toolFailed(id: string, callId: string): void {
    const { expected, watch } = this.#following;
    const name = expected.tools.get(id);
    if (name !== undefined) watch.toolFailed(name, callId);
  }
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map((part) => (part instanceof Object && 'text' in part ? String(part.text) : ''))
    .join('\n');
}

function factsOf(
  result: SDKResultMessage,
  error: string | undefined,
  limit: Facts['limit'],
): Facts {
  const {
    subtype,
    is_error: isError,
    terminal_reason: terminalReason,
    stop_reason: stopReason,
  } = result;
  const status = result.subtype === 'success' ? (result.api_error_status ?? undefined) : undefined;
  const text = result.subtype === 'success' ? result.result : result.errors.join('; ');
  return { subtype, isError, terminalReason, stopReason, status, error, limit, text };
}

function since(
  total: Totals[string],
  before: Totals[string] | undefined,
): { tokens: TokenUsage; costUsd: number } {
  const tokens = {
    input: total.inputTokens - (before?.inputTokens ?? 0),
    output: total.outputTokens - (before?.outputTokens ?? 0),
    cacheRead: total.cacheReadInputTokens - (before?.cacheReadInputTokens ?? 0),
    cacheWrite: total.cacheCreationInputTokens - (before?.cacheCreationInputTokens ?? 0),
  };
  return { tokens, costUsd: total.costUSD - (before?.costUSD ?? 0) };
}

interface ApiUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

function tokensOf(usage: ApiUsage): TokenUsage {
  return {
    input: usage.input_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
  };
}

function isBefore(version: readonly number[] = [], other: readonly number[]): boolean {
  const index = other.findIndex((part, at) => (version[at] ?? 0) !== part);
  return index >= 0 && (version[index] ?? 0) < (other[index] ?? 0);
}
