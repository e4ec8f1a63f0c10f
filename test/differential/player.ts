import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { addMetrics } from '../../src/llm/governor/call-meter.ts';
import type { CallRecord } from '../../src/llm/governor/usage.ts';
import { LlmError } from '../../src/llm/port/error.ts';
import type { CallMetrics, KtxToolSet, TokenUsage } from '../../src/llm/port/runtime.ts';
import { readTurnResult } from '../../src/llm/port/session.ts';
import { errorMessage, UserError } from '../../src/lib/error.ts';
import type { ClaudeHome } from '../support/claude-home.ts';
import { makeMachine, openRuntime, type TestRuntime } from '../support/llm-runtimes.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import {
  type Answer,
  defaultUsage,
  drop,
  fail,
  type ModelCall,
  say,
} from '../support/model-script.ts';
import { withoutHidden } from './named-differences.ts';
import type { Compared, Played } from './outcome.ts';
import { answerOf, type ResponseScript, type Step } from './response-script.ts';

export interface Player {
  play(script: ResponseScript, subject: Compared): Promise<Played>;
  close(): Promise<void>;
}

const none: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** Long, so that the load of the machine decides nothing. No script waits for it. */
const longestSeconds = 600;

/** Plays scripts through the product's own factory, many at the same time. */
export async function openPlayer(): Promise<Player> {
  const endpoint = await openModelEndpoint();
  const machine = await makeMachine(endpoint);
  const around = {
    machine,
    concurrency: 8,
    timeouts: { idle_seconds: 60, call_seconds: longestSeconds - 10 },
  };
  const recordsOfPlay = new AsyncLocalStorage<CallRecord[]>();
  const shared = await openRuntime('claude-code', endpoint, {
    ...around,
    record: (record) => recordsOfPlay.getStore()?.push(record),
  });
  return {
    play: (script, subject) =>
      script.alone === true
        ? playAlone({ ...script, alone: false }, subject)
        : playHere({ endpoint, machine, subject, shared, recordsOfPlay }, script),
    close: async () => {
      await shared.runtime.close();
      await endpoint.close();
      await machine.remove();
    },
  };
}

/**
 * A limit closes the gate for all calls of a process and backend. A thread has a gate of its own.
 */
function playAlone(script: ResponseScript, subject: Compared): Promise<Played> {
  const worker = new Worker(new URL('./play-alone.ts', import.meta.url), {
    workerData: { script, subject },
  });
  return new Promise<Played>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  }).finally(() => worker.terminate());
}

interface Stage {
  readonly endpoint: ModelEndpoint;
  readonly machine: ClaudeHome;
  readonly subject: Compared;
  /**
   * Claude Code for all scripts at once, as in the product, where a child serves several calls: a
   * child for each script would take most of the time of this suite.
   */
  readonly shared: TestRuntime;
  readonly recordsOfPlay: AsyncLocalStorage<CallRecord[]>;
}

async function playHere(stage: Stage, script: ResponseScript): Promise<Played> {
  const { endpoint, subject, shared, recordsOfPlay } = stage;
  const served: Answer[] = [];
  const steps: Step[] = [];
  let abandoned = 0;
  /** The answers after which the program sends something by itself. */
  const provokedBy = new Set<number>();
  const isClaudeCode = subject === 'claude-code';
  const running = endpoint.start(async (call) => {
    if (isClaudeCode && isTroubled(script, served.length)) {
      provokedBy.add(served.length);
      await sleep(stopGraceMs);
      if (call.gone.aborted) {
        abandoned += 1;
        return drop;
      }
    }
    const step = script.steps[served.length] ?? script.afterwards;
    if (step !== undefined) steps.push(step);
    const answer = step === undefined ? afterTheEnd(call) : answerOf(step, call.protocol);
    served.push(answer);
    return answer;
  });
  const repairModel = `claude-repair-${randomUUID()}`;
  const repairs = endpoint.start(() => fail('bad-request'), repairModel);
  const isShared = isClaudeCode && !script.classes.includes('slow');
  const opened = isShared ? shared : await openOwn(stage, script, repairModel);
  try {
    const tools: string[] = [];
    const props = { marker: running.marker, tools: makeTools(tools) };
    const own: CallRecord[] = [];
    const said = await recordsOfPlay.run(own, () => ask(opened, script, props));
    const records = isShared ? own : opened.records;
    // A conversation that is told again in less words has one record for each time.
    const metrics = said.metrics ?? records.map((record) => record.metrics).reduce(addMetrics);
    return {
      ...failureFields(said.failure),
      requests: served.length + repairs.calls.length,
      repairs: repairs.calls.length,
      abandoned,
      provoked: provokedBy.size,
      hidden: isClaudeCode ? steps.length - withoutHidden(steps).length : 0,
      apiCalls: metrics?.apiCalls ?? 0,
      steps: metrics?.steps ?? 0,
      stopReason: said.stopReason,
      tokens: sum(Object.values(metrics?.usage ?? {})),
      tools: tools.toSorted(),
      toolFailures: said.toolFailures ?? {},
      answer: JSON.stringify(said.answer ?? null),
      served: sum(served.map(tokensOf)),
      isWhole: served.every(isWhole),
    };
  } finally {
    if (!isShared) await opened.runtime.close();
  }
}

/** A runtime for one script. */
function openOwn(
  { endpoint, machine, subject }: Stage,
  { classes }: ResponseScript,
  repairModel: string,
): Promise<TestRuntime> {
  return openRuntime(subject, endpoint, {
    machine,
    models: { repair: repairModel },
    concurrency: 8,
    timeouts: {
      // An idle clock that is short enough to wait for, and long enough for a child to start.
      idle_seconds: classes.includes('slow') ? 4 : 60,
      call_seconds: longestSeconds - 10,
    },
  });
}

/** How long a program that is told to stop may take, although it has begun to send a request. */
const stopGraceMs = 150;

/** True if the step before makes the program send something by itself, which ktx prevents. */
function isTroubled({ steps, afterwards }: ResponseScript, at: number): boolean {
  const before = at === 0 ? undefined : (steps[at - 1] ?? afterwards);
  if (before === undefined) return false;
  if (before.kind !== 'reply') return true;
  const { fault, stop, blocks } = before;
  return fault !== undefined || stop !== undefined || blocks.length === 0;
}

/** Older programs ask once more after an object. Another request is one too many. */
function afterTheEnd({ objectTaken }: ModelCall): Answer {
  return objectTaken ? say('Done.') : fail('bad-request');
}

interface Said {
  readonly answer?: unknown;
  readonly stopReason?: string;
  readonly failure?: unknown;
  readonly toolFailures?: Readonly<Record<string, number>>;
  readonly metrics?: CallMetrics;
}

interface Props {
  readonly marker: string;
  readonly tools: KtxToolSet;
}

async function ask(opened: TestRuntime, script: ResponseScript, props: Props): Promise<Said> {
  const { runtime } = opened;
  const { operation, stepBudget = 6 } = script;
  const { marker, tools } = props;
  const prompt = `Look at the tables. ${marker}`;
  const system = 'Be brief.';
  const signal = AbortSignal.timeout(longestSeconds * 1000);
  if (operation === 'loop') {
    const result = await runtime.runAgentLoop({
      modelRole: 'default',
      systemPrompt: system,
      userPrompt: prompt,
      toolSet: tools,
      stepBudget,
      signal,
    });
    const { text, stopReason, error, toolFailures, metrics } = result;
    return { answer: text, stopReason, failure: error, toolFailures, metrics };
  }
  if (operation === 'session') {
    const limits = { maxTurns: stepBudget, timeoutSeconds: longestSeconds - 10 };
    const session = runtime.sessions.open({ id: randomUUID(), system, tools, limits });
    try {
      const result = await readTurnResult(session.send(prompt, { signal }));
      return { answer: result.text, stopReason: result.stopReason, failure: result.error };
    } finally {
      await session.close();
    }
  }
  const input = { role: 'default', prompt, system, signal } as const;
  const schema = z.object({ name: z.string(), rows: z.number().refine((rows) => rows >= 0) });
  try {
    const answer =
      operation === 'object'
        ? await runtime.generateObject({ ...input, schema })
        : await runtime.generateText(operation === 'text' ? input : { ...input, tools });
    return { answer };
  } catch (failure) {
    return { failure };
  }
}

function makeTools(ran: string[]): KtxToolSet {
  const word = z.object({ word: z.string() });
  return {
    look_up: {
      name: 'look_up',
      description: 'Looks up a word.',
      inputSchema: word,
      execute: (input) => {
        ran.push(`look_up ${JSON.stringify(input)}`);
        return Promise.resolve({ markdown: `Found ${word.parse(input).word}.` });
      },
    },
    break_down: {
      name: 'break_down',
      description: 'Breaks down.',
      inputSchema: z.object({}),
      execute: () => {
        ran.push('break_down');
        return Promise.reject(new Error('The handler broke down.'));
      },
    },
    fails: {
      name: 'fails',
      description: 'Says that it failed.',
      inputSchema: z.object({}),
      execute: () => {
        ran.push('fails');
        return Promise.resolve({ markdown: 'No such table.', isError: true });
      },
    },
  };
}

function failureFields(
  failure: unknown,
): Pick<Played, 'kind' | 'exitCode' | 'attempts' | 'message'> {
  if (failure === undefined) return { kind: 'ok', exitCode: 0, attempts: 1, message: '' };
  if (!(failure instanceof UserError))
    return {
      kind: 'not a UserError',
      exitCode: 70,
      attempts: 1,
      message: errorMessage(failure),
    };
  const kind = failure instanceof LlmError ? failure.kind : failure.code;
  const { exitCode, message } = failure;
  const attempts = Number(/\((\d+) attempts\)/.exec(message)?.[1] ?? 1);
  return { kind, exitCode, attempts, message };
}

/**
 * Tokens that an answer carries in full or in part; the start of a message says how much was read.
 */
function tokensOf(answer: Answer): TokenUsage {
  if (answer.kind !== 'reply' || answer.hang !== undefined) return none;
  return isWhole(answer) ? { ...defaultUsage, ...answer.usage } : none;
}

function isWhole(answer: Answer): boolean {
  return answer.kind !== 'reply' || (answer.fault === undefined && answer.hang === undefined);
}

function sum(usages: readonly TokenUsage[]): TokenUsage {
  return usages.reduce(
    (total, usage) => ({
      input: total.input + usage.input,
      output: total.output + usage.output,
      cacheRead: total.cacheRead + usage.cacheRead,
      cacheWrite: total.cacheWrite + usage.cacheWrite,
    }),
    none,
  );
}
