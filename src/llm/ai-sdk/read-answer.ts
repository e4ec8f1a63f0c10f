import type { LanguageModelMiddleware } from 'ai';
import type { BackendCall } from '../port/backend.ts';
import { callWithoutTool } from '../faults/stop-reasons.ts';
import { LlmError } from '../port/error.ts';
import type { TokenUsage } from '../port/runtime.ts';

type WrapStream = NonNullable<LanguageModelMiddleware['wrapStream']>;
export type OpenedStream = Awaited<ReturnType<WrapStream>>;
type AnswerPart = OpenedStream['stream'] extends ReadableStream<infer Part> ? Part : never;
type AnswerEnd = Extract<AnswerPart, { type: 'finish' }>['finishReason'];

/** A failed answer whose usage is known. */
export class UsedInVain extends Error {
  readonly tokens: TokenUsage;

  constructor(cause: LlmError, tokens: TokenUsage) {
    super(cause.message, { cause });
    this.tokens = tokens;
  }
}

/**
 * Reads one answer to its end before the SDK gets any of it: an answer that breaks off can then be
 * asked for again, and none of its tools has run. What a person sees arrives at once. Throws if the
 * answer is not whole.
 */
export async function readAnswer(
  stream: OpenedStream['stream'],
  { monitor }: Pick<BackendCall, 'monitor'>,
): Promise<OpenedStream['stream']> {
  const parts: AnswerPart[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value: part } = await reader.read();
    if (done) throw brokenAnswer();
    monitor.heartbeat();
    if (part.type === 'error')
      throw (
        part.error ?? new LlmError('overloaded', 'The provider ended the answer with an error.')
      );
    if (part.type === 'text-delta') monitor.listener?.text(part.delta);
    if (part.type === 'reasoning-delta') monitor.listener?.thinking(part.delta);
    parts.push(part);
    if (part.type !== 'finish') continue;
    checkIsWhole(part.finishReason);
    const callsTool = parts.some(({ type }) => type === 'tool-call');
    if (part.finishReason.unified === 'tool-calls' && !callsTool)
      throw new UsedInVain(callWithoutTool(), streamedUsage(part.usage));
    // What might follow does not matter: the answer is complete.
    void reader.cancel().catch(() => undefined);
    return new ReadableStream({
      start(controller) {
        for (const kept of parts) controller.enqueue(kept);
        controller.close();
      },
    });
  }
}

/**
 * A stream that ends without a reason has broken off. Other unfinished answers are not repeated.
 */
function checkIsWhole({ unified, raw }: AnswerEnd): void {
  if (unified === 'error')
    throw new LlmError('overloaded', 'The provider ended the answer with an error.');
  if (unified === 'interrupted' || (unified === 'other' && raw === undefined)) throw brokenAnswer();
}

type StreamedUsage = Extract<AnswerPart, { type: 'finish' }>['usage'];

function streamedUsage({ inputTokens, outputTokens }: StreamedUsage): TokenUsage {
  const { total = 0, cacheRead = 0, cacheWrite = 0 } = inputTokens;
  return {
    input: inputTokens.noCache ?? Math.max(0, total - cacheRead - cacheWrite),
    output: outputTokens.total ?? 0,
    cacheRead,
    cacheWrite,
  };
}

function brokenAnswer(): LlmError {
  return new LlmError('network', 'The connection ended in the middle of the answer.');
}
