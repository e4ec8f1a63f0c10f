import { errorMessage, UserError } from '../../lib/error.ts';
import type { CallMonitor } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import type { KtxToolSet, StepFinished } from '../port/runtime.ts';
import { CallClocks, type CallTimeouts } from './call-clocks.ts';
import type { CallGate } from './call-gate.ts';
import { CallMeter } from './call-meter.ts';
import { CallTrace } from '../telemetry/call-trace.ts';
import type { NetworkWatch } from './retries/network-watch.ts';
import { RequestRetries } from './retries/request-retries.ts';
import type { RetryPolicy } from './retries/retry-policy.ts';
import { TurnHold } from './money/turn-hold.ts';
import type { TurnAhead } from './money/turn-estimate.ts';
import type { Spending } from './spending.ts';

interface ActiveCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeouts: CallTimeouts;
  readonly gate: CallGate;
  readonly network: NetworkWatch;
  readonly spending: Spending;
  /** What is known of its turns, to reserve money for them. */
  readonly turn: TurnAhead;
  readonly warn: (message: string) => void;
  readonly policy: RetryPolicy;
  /** Records what is sent, before a request is sent again. */
  readonly recordPrompt?: (() => void) | undefined;
  readonly stepBudget?: number;
  readonly onStepFinish?: ((step: StepFinished) => void) | undefined;
}

/** One call while it runs: its abort signal, its clocks and its counters. */
export class ActiveCall {
  readonly meter: CallMeter;
  /** When the call did what, for telemetry. */
  readonly trace = new CallTrace();
  /** What the backend reports to. */
  readonly monitor: CallMonitor;
  readonly #options: ActiveCallOptions;
  readonly #abort = new AbortController();
  readonly #clocks: CallClocks;
  readonly #retries: RequestRetries;
  readonly #hold: TurnHold;

  constructor(options: ActiveCallOptions) {
    this.#options = options;
    this.#clocks = new CallClocks(options.timeouts, (error) => this.#abort.abort(error));
    this.meter = new CallMeter(options.spending, options.turn);
    this.#retries = new RequestRetries({
      policy: options.policy,
      gate: options.gate,
      network: options.network,
      clocks: this.#clocks,
      signal: this.signal,
      beforeRepeat: () => {
        this.checkBudget();
        this.signal.throwIfAborted();
        options.recordPrompt?.();
      },
    });
    this.#hold = new TurnHold(options.spending, options.turn, this.signal);
    this.monitor = this.#createMonitor();
    if (options.signal?.aborted === true) this.#onCallerAbort();
    options.signal?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Aborts the call if the run's money is spent. */
  checkBudget(): void {
    const stop = this.#options.spending.stop();
    if (stop !== undefined) this.#abort.abort(stop);
  }

  /** Waits until what is left of the budget covers the first turn. */
  reserve(): Promise<void> {
    return this.#hold.begin();
  }

  /** Waits while another call finds out whether the network is away. */
  waitForNetwork(before: LlmError | undefined): Promise<void> {
    return this.#retries.waitForNetwork(before);
  }

  startClocks(): void {
    this.#clocks.start();
  }

  stopClocks(): void {
    this.#clocks.stop();
  }

  /** Gives back what is still reserved. */
  release(): void {
    this.#hold.release();
  }

  close(): void {
    this.#clocks.stop();
    this.#retries.close();
    this.#options.signal?.removeEventListener('abort', this.#onCallerAbort);
  }

  /** The tools with the idle clock stopped while one of them runs. */
  timedTools(tools: KtxToolSet): KtxToolSet {
    return Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [
        name,
        { ...tool, execute: (input, call) => this.runTool(() => tool.execute(input, call)) },
      ]),
    );
  }

  /** Runs a tool with the idle clock stopped. */
  async runTool<T>(run: () => Promise<T>): Promise<T> {
    this.trace.toolStarted();
    this.#clocks.holdIdle();
    this.#hold.toolStarted();
    try {
      return await run();
    } finally {
      this.trace.toolEnded();
      await this.#waitForMoney();
      this.#clocks.releaseIdle();
    }
  }

  /** Waiting for other calls of the run is not time of this call. */
  async #waitForMoney(): Promise<void> {
    this.#clocks.freeze();
    try {
      await this.#hold.toolEnded();
    } finally {
      this.#clocks.thaw();
    }
  }

  /** Waits for a person's answer with the clock of the whole call stopped. */
  async askPerson<T>(answer: () => Promise<T>): Promise<T> {
    this.#clocks.freeze();
    try {
      return await answer();
    } finally {
      this.#clocks.thaw();
    }
  }

  /** Why the call failed: the reason of its abort, if it was aborted, else the error. */
  failureFrom(error: unknown): UserError {
    const { aborted, reason } = this.signal;
    if (aborted && reason instanceof UserError) return reason;
    // A backend that enforces the limit itself knows neither its setting nor the amount.
    if (error instanceof UserError && error.code === 'llm_budget_spent')
      return this.#options.spending.stop() ?? error;
    return error instanceof UserError
      ? error
      : new LlmError('unknown', errorMessage(error), { cause: error });
  }

  /**
   * As `failureFrom`. A spent budget is told with what all calls have cost in the end, as the run
   * tells it.
   */
  async finalFailure(error: unknown): Promise<UserError> {
    const { signal, spending } = this.#options;
    const failure = this.failureFrom(error);
    if (failure.code !== 'llm_budget_spent') return failure;
    this.release();
    const interrupted = Promise.withResolvers<void>();
    const onAbort = (): void => interrupted.resolve();
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    await Promise.race([spending.settled(), interrupted.promise]);
    signal?.removeEventListener('abort', onAbort);
    return spending.stop() ?? failure;
  }

  #createMonitor(): CallMonitor {
    const { gate, warn, spending } = this.#options;
    return {
      signal: this.signal,
      heartbeat: () => {
        this.#clocks.restartIdle();
        this.trace.heard();
      },
      stepFinished: (isLast) => this.#onStepFinished(isLast),
      requestSent: (isAnswering) => {
        // What an aborted call would send does not reach the model.
        if (this.signal.aborted && isAnswering !== true) return;
        this.meter.addRequest();
        this.#retries.requestSent();
        this.#hold.requestSent();
        this.trace.requestSent(isAnswering);
      },
      answerBegan: () => this.#retries.answerBegan(),
      turnUsed: (model, tokens) => {
        this.trace.turnUsed(model, tokens);
        this.#hold.turnEnded(this.meter.expectUsage(model, tokens));
      },
      addUsage: (model, tokens, costUsd = spending.priceOf(model, tokens)) => {
        if (!this.meter.expectsUsage) this.#hold.turnEnded(costUsd ?? null);
        this.meter.addUsage(model, tokens, costUsd);
        this.trace.used(model, tokens, costUsd ?? null);
      },
      toolFailed: (tool, callId) => this.meter.addToolFailure(tool, callId),
      limitReported: (report) => gate.report(report),
      retry: (failure) => this.#retries.waitToRepeat(failure),
      warn,
    };
  }

  #onStepFinished(isLast = false): void {
    const { stepBudget = 1, onStepFinish, warn } = this.#options;
    const stepIndex = this.meter.addStep();
    this.trace.answered();
    this.#retries.succeeded();
    this.#clocks.restartIdle();
    try {
      onStepFinish?.({ stepIndex, stepBudget });
    } catch (error) {
      warn(`The progress callback failed: ${errorMessage(error)}`);
    }
    // Stops a loop between two turns. The last turn is already paid for, so it counts.
    if (!isLast && stepIndex < stepBudget) this.checkBudget();
  }

  readonly #onCallerAbort = (): void => {
    const cause: unknown = this.#options.signal?.reason;
    this.#abort.abort(new LlmError('aborted', 'The call was interrupted.', { cause }));
  };
}
