import { errorMessage, UserError } from '../../lib/error.ts';
import type { CallWatch } from '../port/backend.ts';
import { openClocks, type CallTimeouts } from './call-clocks.ts';
import type { CallGate } from './call-gate.ts';
import { openMeter } from './call-meter.ts';
import { LlmError } from '../port/error.ts';
import type {
  CallMetrics,
  KtxRuntimeToolDescriptor,
  KtxToolSet,
  StepFinished,
} from '../port/runtime.ts';
import type { Spending } from './spending.ts';

interface CallWatchOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeouts: CallTimeouts;
  readonly gate: CallGate;
  readonly spending: Spending;
  readonly warn: (message: string) => void;
  readonly stepBudget?: number;
  readonly onStepFinish?: ((step: StepFinished) => void) | undefined;
}

/** The clocks and counters of one call; `watch` is the adapter's side of it. */
export interface Watching {
  readonly watch: CallWatch;
  /** The tools, with the idle clock stopped while one of them runs. */
  readonly timed: (tools: KtxToolSet) => KtxToolSet;
  /** Runs a tool, with the idle clock stopped meanwhile. */
  readonly during: <T>(run: () => Promise<T>) => Promise<T>;
  /** Waits for a person: no clock runs. */
  readonly asking: <T>(answer: () => Promise<T>) => Promise<T>;
  /** Starts the clocks; aborts where the money was spent while the call waited. */
  start(): void;
  /** Stops them until the next `start`. */
  pause(): void;
  close(): void;
  /** True once the model has answered a turn, or a tool has run. */
  hasActed(): boolean;
  /** Why the call failed: the reason of the abort where there was one. */
  failure(error: unknown): UserError;
  metrics(): CallMetrics;
  toolFailures(): Readonly<Record<string, number>>;
}

export function openCallWatch(options: CallWatchOptions): Watching {
  const { timeouts, gate, spending, warn, stepBudget = 1, onStepFinish } = options;
  const controller = new AbortController();
  const clocks = openClocks(timeouts, (error) => controller.abort(error));
  const meter = openMeter(spending);

  const onAbort = (): void =>
    controller.abort(
      new LlmError('aborted', 'The call was interrupted.', { cause: options.signal?.reason }),
    );
  if (options.signal?.aborted === true) onAbort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const stopAtLimit = (): void => {
    const stop = spending.stop();
    if (stop !== undefined) controller.abort(stop);
  };
  stopAtLimit();

  const watch: CallWatch = {
    signal: controller.signal,
    alive: () => clocks.alive(),
    step() {
      const stepIndex = meter.step();
      clocks.alive();
      try {
        onStepFinish?.({ stepIndex, stepBudget });
      } catch (error) {
        warn(`The progress callback failed: ${errorMessage(error)}`);
      }
      // Spent money stops a loop between two turns; the last turn is the caller's.
      if (stepIndex < stepBudget) stopAtLimit();
    },
    apiCall: () => meter.apiCall(),
    used: (model, tokens, costUsd) => meter.used(model, tokens, costUsd),
    toolFailed: (tool, callId) => meter.toolFailed(tool, callId),
    limit: (report) => gate.report(report),
    warn,
  };

  const tools = timedTools(clocks);
  return {
    watch,
    timed: (toolSet) => tools.timed(toolSet),
    during: (run) => tools.during(run),
    async asking(answer) {
      clocks.freeze();
      try {
        return await answer();
      } finally {
        clocks.thaw();
      }
    },
    start() {
      stopAtLimit();
      clocks.start();
    },
    pause: () => clocks.stop(),
    close() {
      clocks.stop();
      options.signal?.removeEventListener('abort', onAbort);
    },
    hasActed: () => meter.metrics().steps > 0 || tools.ran(),
    failure(error) {
      if (controller.signal.aborted && controller.signal.reason instanceof UserError)
        return controller.signal.reason;
      // A backend that keeps the limit itself knows neither its key nor the sum.
      if (error instanceof UserError && error.code === 'llm_budget_spent')
        return spending.stop() ?? error;
      return error instanceof UserError
        ? error
        : new LlmError('unknown', errorMessage(error), { cause: error });
    },
    metrics: () => meter.metrics(),
    toolFailures: () => meter.toolFailures(),
  };
}

/** Tools that stop the idle clock while one of them runs. */
function timedTools(clocks: ReturnType<typeof openClocks>) {
  let started = 0;
  const during = async <T>(run: () => Promise<T>): Promise<T> => {
    started += 1;
    clocks.hold();
    try {
      return await run();
    } finally {
      clocks.release();
    }
  };
  const timedTool = (tool: KtxRuntimeToolDescriptor): KtxRuntimeToolDescriptor => ({
    ...tool,
    execute: (input, call) => during(() => tool.execute(input, call)),
  });
  return {
    during,
    ran: () => started > 0,
    timed: (tools: KtxToolSet): KtxToolSet =>
      Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, timedTool(tool)])),
  };
}
