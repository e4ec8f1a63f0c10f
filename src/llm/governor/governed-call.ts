import { errorMessage, UserError } from '../../lib/error.ts';
import type { ModelBackend } from '../port/backend.ts';
import type { CallTimeouts } from './call-clocks.ts';
import { openCallWatch, type Watching } from './call-watch.ts';
import type { CallGate } from './call-gate.ts';
import type { LlmConfig } from '../config.ts';
import { LlmError } from '../port/error.ts';
import type { CallMetrics, KtxModelRole, KtxToolSet, RunLoopParams } from '../port/runtime.ts';
import type { Spending } from './spending.ts';
import { checkToolSet } from '../port/tool-set.ts';
import type { CallRecord } from './usage.ts';

export interface GovernOptions {
  readonly config: LlmConfig;
  readonly adapter: ModelBackend;
  readonly gate: CallGate;
  readonly spending: Spending;
  readonly run: string;
  readonly concurrency: number;
  readonly record: (record: CallRecord) => void;
  readonly warn: (message: string) => void;
}

export function modelOf({ provider: { backend }, models }: LlmConfig, role: KtxModelRole): string {
  const model = models[role] ?? models.default;
  if (model !== undefined) return model;
  throw new UserError(
    'llm_model_missing',
    `llm.models.default is missing; the backend ${backend} needs it.`,
    {
      hint: `ktx setup --llm-backend ${backend} --llm-model <model>`,
      exitCode: 2,
    },
  );
}

/** What a call is about, as far as every call has it. */
interface Governed {
  readonly role: KtxModelRole;
  readonly tools: KtxToolSet;
  readonly signal?: AbortSignal | undefined;
  readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined;
  readonly stepBudget?: number;
  readonly onStepFinish?: RunLoopParams['onStepFinish'];
  /** Default `llm.timeouts`. */
  readonly timeouts?: CallTimeouts | undefined;
  /** True once something of the answer was shown. */
  readonly hasShown?: () => boolean;
}

export interface Ended<T> {
  readonly value?: T;
  readonly failure?: UserError;
  readonly metrics: CallMetrics;
  readonly toolFailures: Readonly<Record<string, number>>;
}

/** One call from the gate to its record. Only mistakes of the caller are thrown: an invalid tool set, a missing model. */
export async function governed<T>(
  options: GovernOptions,
  call: Governed,
  attempt: (watching: Watching) => Promise<T>,
): Promise<Ended<T>> {
  const { config, gate, spending, run, warn } = options;
  checkToolSet(call.tools);
  const model = modelOf(config, call.role);
  const watching = openCallWatch({
    ...call,
    timeouts: call.timeouts ?? config.timeouts,
    gate,
    spending,
    warn,
  });
  const end = (rest: Pick<Ended<T>, 'value' | 'failure'>): Ended<T> => {
    const metrics = watching.metrics();
    const outcome =
      rest.failure instanceof LlmError ? rest.failure.kind : (rest.failure?.code ?? 'ok');
    const record = {
      run,
      role: call.role,
      backend: config.provider.backend,
      model,
      outcome,
      metrics,
    };
    // What was paid for is not lost with its bill.
    attempted(
      () => options.record(record),
      (reason) => warn(`What a call used could not be kept: ${reason}`),
    );
    attempted(
      () => call.onMetrics?.(metrics),
      (reason) => warn(`The metrics callback failed: ${reason}`),
    );
    return { ...rest, metrics, toolFailures: watching.toolFailures() };
  };
  try {
    return end({
      value: await afterReset(gate, { watching, hasShown: call.hasShown }, () =>
        admitted(gate, watching, attempt),
      ),
    });
  } catch (error) {
    return end({ failure: watching.failure(error) });
  } finally {
    watching.close();
  }
}

function attempted(run: () => void, onFailure: (reason: string) => void): void {
  try {
    run();
  } catch (error) {
    onFailure(errorMessage(error));
  }
}

async function admitted<T>(
  gate: CallGate,
  watching: Watching,
  attempt: (watching: Watching) => Promise<T>,
): Promise<T> {
  const leave = await gate.enter(watching.watch.signal);
  try {
    watching.start();
    watching.watch.signal.throwIfAborted();
    return await attempt(watching);
  } finally {
    watching.pause();
    leave();
  }
}

interface Attempted {
  readonly watching: Watching;
  readonly hasShown?: (() => boolean) | undefined;
}

/** A call that met a limit before it did anything is made once more, after the reset. */
async function afterReset<T>(
  gate: CallGate,
  { watching, hasShown }: Attempted,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const failure = watching.failure(error);
    const isLimit =
      failure instanceof LlmError &&
      failure.kind === 'rate_limit' &&
      failure.resetsAt !== undefined;
    if (!isLimit || watching.hasActed() || hasShown?.() === true) throw failure;
    gate.report({
      window: failure.window ?? 'requests',
      state: 'closed',
      resetsAt: failure.resetsAt,
    });
    return run();
  }
}
