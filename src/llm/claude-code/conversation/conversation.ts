import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { readPrompt } from '../../prompt.ts';
import type { AccountPolicy } from '../account-policy.ts';
import { ConversationReader, type ReadOptions } from './conversation-reader.ts';
import { interruptProgram, MessageSource } from './message-source.ts';
import { classifyResult } from './outcome.ts';
import type { ConversationResult } from './result-facts.ts';

export interface ConversationOptions extends ReadOptions {
  /** Resolves when the child has ended. */
  readonly gone: Promise<void>;
  /** Sends the next prompt of the conversation. */
  readonly ask: (prompt: string) => Promise<unknown>;
  /** True if a call that failed before it did anything is made again with another child. */
  readonly startsOver?: boolean;
}

/**
 * Reads a conversation to its result and reports to the monitor. A result that was read counts,
 * whatever the program throws after it. A request that fails for a reason that passes is sent again
 * when the governor allows it: the program is kept from doing so by itself.
 */
export async function readConversation(
  query: Query,
  options: ConversationOptions,
): Promise<ConversationResult> {
  const { monitor, ask, gate, gone, startsOver = false } = options;
  const reader = new ConversationReader(options);
  const source = new MessageSource(query, gone);
  const read = (isOver: () => boolean) => readUntil(isOver, source, { reader, monitor, gate });
  const interrupt = async (): Promise<void> => {
    if (!reader.hasResult) await interruptProgram(query);
  };
  const stop = async (): Promise<void> => {
    reader.drain();
    await interrupt();
    await read(() => reader.hasResult);
  };
  gate.open(monitor.signal);
  try {
    for (;;) {
      await read(() => reader.isOver());
      const failure = reader.requestFailure();
      if (failure === undefined && !reader.isCutShort) break;
      if (failure !== undefined && startsOver && !reader.hasActed) {
        await interrupt();
        return { ...reader.state(), unanswered: failure };
      }
      // A program whose tool is held back asks again by itself when it gets an answer.
      const { heldCalls } = reader;
      if (!reader.hasResult && heldCalls.length === 0) await stop();
      if (failure !== undefined) await monitor.retry(failure);
      monitor.listener?.startedAgain();
      reader.goOn();
      if (heldCalls.length > 0) gate.refuse(heldCalls);
      else await ask(readPrompt('request-repeated'));
    }
    if (reader.isAtWork) await interrupt();
  } finally {
    gate.close();
    reader.reportUsage();
  }
  return reader.result();
}

interface Reading extends Pick<ReadOptions, 'monitor' | 'gate'> {
  readonly reader: ConversationReader;
}

async function readUntil(
  isOver: () => boolean,
  source: MessageSource,
  { reader, monitor, gate }: Reading,
): Promise<void> {
  while (!isOver()) {
    const next = await source.read(reader.patienceMs);
    if (next === 'ended') break;
    if (next === 'gone') {
      if (reader.hasResult) break;
      throw new Error('Claude Code ended before it answered.');
    }
    if (next === 'late') reader.giveUpBroken();
    else {
      monitor.heartbeat();
      reader.readMessage(next);
      for (const turn of reader.takeFinishedTurns()) await gate.report(turn);
    }
  }
}

/** How the conversation ended. Throws if it failed. */
export function checkedStopReason(
  { facts, object, isAnswered }: ConversationResult,
  policy: AccountPolicy,
): 'natural' | 'budget' {
  if (facts === undefined) return object === undefined && !isAnswered ? 'budget' : 'natural';
  // Whoever asked checks the object, and asks again.
  if (facts.subtype === 'error_max_structured_output_retries') return 'natural';
  const outcome = classifyResult(facts, policy);
  if (outcome.kind === 'failed') throw outcome.failure;
  return outcome.kind;
}
