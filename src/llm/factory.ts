import { availableParallelism, freemem } from 'node:os';
import { durationMs } from '../lib/time/duration.ts';
import { UserError } from '../lib/error.ts';
import { requireExtra } from '../store/extras/require-extra.ts';
import { isSecretReference } from '../store/secrets.ts';
import { extraOfBackend, isApiProvider, takesAuthMode, type ModelBackendName } from './backends.ts';
import { modelIdForRole, type LlmConfig } from './config.ts';
import type { EgressEntry } from './egress/ledger.ts';
import { CallGate, type Pause } from './governor/call-gate.ts';
import { govern, type LlmRuntime } from './governor/govern.ts';
import { checkPrices, openSpending, runSpendingLimit, type Spending } from './governor/spending.ts';
import { NetworkWatch } from './governor/retries/network-watch.ts';
import type { CallRecord } from './governor/usage.ts';
import type { ModelBackend } from './port/backend.ts';

export interface LlmOptions {
  readonly config: LlmConfig;
  /** The project folder. A local session runs there, and logs go there. */
  readonly projectDir: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Id of the run that usage is recorded for. */
  readonly run: string;
  /** US dollars that this run may cost. Overrides `llm.max_usd_per_run`. */
  readonly budget?: number | undefined;
  /** What the run has spent so far, if it also embeds texts. Default: nothing. */
  readonly spending?: Spending | undefined;
  /** Resolves a secret reference to its value. */
  readonly secret: (reference: string) => string;
  readonly record: (record: CallRecord) => void;
  /**
   * Records values of warehouses that are about to be sent. Throws if it cannot; then they are not
   * sent.
   */
  readonly egress?: ((entry: EgressEntry) => void) | undefined;
  readonly warn: (message: string) => void;
  readonly onPause: (pause: Pause) => void;
}

/** Calls of all runtimes of a backend pass one gate. */
export interface SharedGate {
  readonly gate: CallGate;
  readonly pauseListeners: Set<LlmOptions['onPause']>;
}

/** One gate for each backend and longest wait in the process, shared by all its runtimes. */
const gates = new Map<string, SharedGate>();

/** Opens the backend that `ktx.yaml` names; undefined for `none`. No call is made yet. */
export async function openLlm(options: LlmOptions): Promise<LlmRuntime | undefined> {
  const { config, record, run, onPause, egress, env } = options;
  const { backend } = config.provider;
  if (backend === 'none') return undefined;
  modelIdForRole(config, 'default');
  const spendingLimit = runSpendingLimit(config, options.budget);
  const models = Object.values(config.models).filter((model) => model !== undefined);
  checkPrices(backend, models, spendingLimit);
  const modelBackend = await openBackend(backend, options);
  const concurrency = config.concurrency ?? defaultConcurrency(backend);
  const { gate, pauseListeners } = sharedGate(backend, config, concurrency);
  pauseListeners.add(onPause);
  const runtime = govern({
    config,
    modelBackend,
    gate,
    network: new NetworkWatch(),
    spending: options.spending ?? openSpending(spendingLimit),
    run,
    concurrency,
    record,
    egress,
    env,
    warn: warnOnce(options.warn),
  });
  return {
    ...runtime,
    close() {
      pauseListeners.delete(onPause);
      return runtime.close();
    },
  };
}

export function warnOnce(warn: (message: string) => void): (message: string) => void {
  const shown = new Set<string>();
  return (message) => {
    if (shown.has(message)) return;
    shown.add(message);
    warn(message);
  };
}

/** The one gate of this process for everything of that name. All that use it hear of a pause. */
export function sharedGate(
  name: string,
  { max_wait: maxWait }: LlmConfig,
  concurrency: number,
): SharedGate {
  const key = `${name} ${maxWait}`;
  const open = gates.get(key);
  if (open !== undefined) return open;
  const pauseListeners = new Set<LlmOptions['onPause']>();
  const onPause = (pause: Pause): void => pauseListeners.forEach((listener) => listener(pause));
  const longestPauseMs = durationMs(maxWait);
  const gate = new CallGate({ concurrency, longestPauseMs, onPause });
  gates.set(key, { gate, pauseListeners });
  return { gate, pauseListeners };
}

async function openBackend(
  backend: ModelBackendName,
  { config, projectDir, env, secret }: LlmOptions,
): Promise<ModelBackend> {
  const { provider, promptCaching } = config;
  requireExtra(extraOfBackend(backend));
  if (isApiProvider(backend)) {
    const { openAiSdkBackend } = await import('./ai-sdk/backend.ts');
    const settings = Object.entries(provider[backend] ?? {}).map(([key, value]) => [
      key,
      isSecretReference(value) ? secret(value) : value,
    ]);
    return openAiSdkBackend({
      provider: backend,
      config: Object.fromEntries(settings),
      promptCaching,
      repairModel: modelIdForRole(config, 'repair'),
      projectDir: projectDir ?? process.cwd(),
    });
  }
  if (projectDir === undefined)
    throw new UserError(
      'llm_project_missing',
      `The backend ${backend} needs a project folder to run in.`,
      { hint: 'To make one, run: ktx setup', exitCode: 2 },
    );
  const { openClaudeCodeBackend } = await import('./claude-code/backend.ts');
  const auth = takesAuthMode(backend) ? (provider.auth ?? 'api_key') : undefined;
  const { allow_managed_settings: allowManagedSettings, program } = provider;
  const options = { projectDir, env, promptCaching, auth, allowManagedSettings, program };
  const concurrency = config.concurrency ?? defaultConcurrency(backend);
  return openClaudeCodeBackend({ ...options, concurrency });
}

/** A local child process takes about 180 MB. */
const bytesPerChild = 256 * 2 ** 20;

function defaultConcurrency(backend: ModelBackendName): number {
  if (isApiProvider(backend)) return 4;
  return Math.max(1, Math.min(availableParallelism(), Math.floor(freemem() / bytesPerChild), 4));
}
