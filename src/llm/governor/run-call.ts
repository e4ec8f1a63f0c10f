import { errorMessage, type UserError } from '../../lib/error.ts';
import { modelIdForRole, type LlmConfig } from '../config.ts';
import type { ModelBackend } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import type { CallMetrics, KtxModelRole, KtxToolSet, RunLoopParams } from '../port/runtime.ts';
import type { EgressEntry } from '../egress/ledger.ts';
import { checkToolSet } from '../port/tool-set.ts';
import type { FinishedCall } from '../telemetry/call-spans.ts';
import { ActiveCall } from './active-call.ts';
import type { CallTimeouts } from './call-clocks.ts';
import type { CallGate } from './call-gate.ts';
import type { NetworkWatch } from './retries/network-watch.ts';
import { retryPolicy } from './retries/retry-policy.ts';
import type { Spending } from './spending.ts';
import type { CallRecord } from './usage.ts';

/** What all governed calls of one runtime share. */
export interface CallContext {
  readonly config: LlmConfig;
  readonly gate: CallGate;
  /** What calls of this runtime know of the network. */
  readonly network: NetworkWatch;
  readonly spending: Spending;
  readonly run: string;
  readonly concurrency: number;
  readonly record: (record: CallRecord) => void;
  readonly warn: (message: string) => void;
  /** Records what is about to be sent. Throws if it cannot; then it is not sent. */
  readonly egress?: ((entry: EgressEntry) => void) | undefined;
  /** Names the region of an account that comes from the environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** What all calls of one language model runtime share. */
export interface GovernorContext extends CallContext {
  readonly modelBackend: ModelBackend;
}

interface CallRequest {
  readonly role: KtxModelRole;
  readonly tools: KtxToolSet;
  readonly signal?: AbortSignal | undefined;
  readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined;
  readonly onCall?: ((call: FinishedCall) => void) | undefined;
  /** What the call is for. */
  readonly stage?: string | undefined;
  /** Characters of the prompt and the system text. */
  readonly promptLength: number;
  readonly stepBudget?: number;
  readonly onStepFinish?: RunLoopParams['onStepFinish'];
  /** Default `llm.timeouts`. */
  readonly timeouts?: CallTimeouts | undefined;
  /** Records the values in the prompt, before every attempt. A failure ends the call. */
  readonly recordPrompt: () => void;
}

/** The end of a call: a value or a failure, and what it used. */
export interface CallOutcome<T> {
  readonly value?: T;
  readonly failure?: UserError;
  readonly metrics: CallMetrics;
  readonly toolFailures: Readonly<Record<string, number>>;
}

type CallAttempt<T> = (call: ActiveCall) => Promise<T>;

/**
 * Runs one call: check the budget, wait for a slot, start the clocks, ask the backend, record the
 * usage. Failures of the call are in the outcome. Throws only for mistakes of the caller: an
 * invalid tool set or a missing model.
 */
export async function runCall<T>(
  context: CallContext,
  request: CallRequest,
  attempt: CallAttempt<T>,
): Promise<CallOutcome<T>> {
  checkToolSet(request.tools);
  const { role, stage = '', promptLength } = request;
  const model = modelIdForRole(context.config, role);
  const { config, gate, network, spending, warn } = context;
  const timeouts = request.timeouts ?? config.timeouts;
  const policy = retryPolicy(config);
  const turn = { kind: `${role} ${stage}`, model, promptLength };
  const call = new ActiveCall({
    ...request,
    turn,
    timeouts,
    policy,
    gate,
    network,
    spending,
    warn,
  });
  try {
    call.checkBudget();
    const value = await attemptInSlot(call, { ...request, gate, network }, attempt);
    return settleCall(context, request, { call, value });
  } catch (error) {
    return settleCall(context, request, { call, failure: await call.finalFailure(error) });
  } finally {
    call.close();
  }
}

type SlotRule = Pick<CallRequest, 'recordPrompt'> & Pick<CallContext, 'gate' | 'network'>;

async function attemptInSlot<T>(
  call: ActiveCall,
  { gate, network, recordPrompt }: SlotRule,
  attempt: CallAttempt<T>,
): Promise<T> {
  const queuedAt = performance.now();
  // A call that waits for its turn while the network turns out to be away is not made any more.
  const awayBefore = network.away;
  const leaveSlot = await gate
    .enter(call.signal)
    .finally(() => call.trace.entered(performance.now() - queuedAt));
  try {
    await call.waitForNetwork(awayBefore);
    await call.reserve();
    // Other calls may have spent the money while this one waited.
    call.checkBudget();
    call.signal.throwIfAborted();
    recordPrompt();
    call.startClocks();
    return await attempt(call);
  } finally {
    call.stopClocks();
    call.release();
    leaveSlot();
  }
}

interface EndedCall<T> {
  readonly call: ActiveCall;
  readonly value?: T;
  readonly failure?: UserError;
}

/** Records the usage of a call and reports its metrics. Neither can make the call fail. */
function settleCall<T>(
  context: CallContext,
  { role, onMetrics, onCall, stage }: CallRequest,
  { call, value, failure }: EndedCall<T>,
): CallOutcome<T> {
  const { config, run, record, warn } = context;
  call.meter.settle();
  const metrics = call.meter.metrics();
  const callRecord: CallRecord = {
    run,
    role,
    backend: config.provider.backend,
    model: modelIdForRole(config, role),
    outcome: failure instanceof LlmError ? failure.kind : (failure?.code ?? 'ok'),
    metrics,
  };
  try {
    record(callRecord);
  } catch (error) {
    warn(`The usage of a call could not be recorded: ${errorMessage(error)}`);
  }
  try {
    onMetrics?.(metrics);
    onCall?.({ ...callRecord, backend: config.provider.backend, stage, trace: call.trace.end() });
  } catch (error) {
    warn(`A callback about the end of a call failed: ${errorMessage(error)}`);
  }
  return { value, failure, metrics, toolFailures: call.meter.toolFailures() };
}
