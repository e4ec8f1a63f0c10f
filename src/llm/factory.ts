import { availableParallelism, freemem } from 'node:os';
import { UserError } from '../lib/error.ts';
import { isSecretReference } from '../store/secrets.ts';
import { providers, type ProviderName } from './ai-sdk/providers.ts';
import type { ModelBackend } from './port/backend.ts';
import { openCallGate, type CallGate, type Pause } from './governor/call-gate.ts';
import type { LlmConfig } from './config.ts';
import { govern, type LlmRuntime } from './governor/govern.ts';
import { modelOf } from './governor/governed-call.ts';
import { checkPrices, openSpending } from './governor/spending.ts';
import type { CallRecord } from './governor/usage.ts';

export interface LlmOptions {
  readonly config: LlmConfig;
  /** The project's folder: where a local Claude Code session runs, and where logs go. */
  readonly projectDir: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly run: string;
  /** US dollars that this run may cost, in place of `llm.max_usd_per_run`. */
  readonly budget?: number | undefined;
  /** The value of a secret reference. */
  readonly secret: (reference: string) => string;
  readonly record: (record: CallRecord) => void;
  readonly warn: (message: string) => void;
  readonly onPause: (pause: Pause) => void;
}

/** A Claude Code child takes about 180 MB. */
const bytesPerChild = 256 * 2 ** 20;
const longestPauseMs = 60 * 60 * 1000;

/** One gate for each backend of the process, however many runtimes it opens. */
const gates = new Map<
  string,
  { readonly gate: CallGate; readonly listeners: Set<LlmOptions['onPause']> }
>();

/** The one way from `ktx.yaml` to a model; undefined with backend `none`. Nothing is called yet. */
export async function openLlm(options: LlmOptions): Promise<LlmRuntime | undefined> {
  const { config, record, run, onPause, budget } = options;
  const { backend } = config.provider;
  if (backend === 'none') return undefined;
  modelOf(config, 'default');
  const limit =
    budget === undefined
      ? { limit: config.max_usd_per_run, key: 'llm.max_usd_per_run' }
      : { limit: budget, key: '--budget' };
  const money = { ...limit, prices: config.prices };
  checkPrices(
    backend,
    Object.values(config.models).filter((model) => model !== undefined),
    money,
  );
  const adapter = await openAdapter(options);
  const concurrency = config.concurrency ?? defaultConcurrency(backend);
  const { gate, listeners } = gates.get(backend) ?? openGate(backend, concurrency);
  listeners.add(onPause);
  const said = new Set<string>();
  const warn = (message: string): void => {
    if (said.has(message)) return;
    said.add(message);
    options.warn(message);
  };
  const runtime = govern({
    config,
    adapter,
    gate,
    spending: openSpending(money),
    run,
    concurrency,
    record,
    warn,
  });
  const close = (): Promise<void> => {
    listeners.delete(onPause);
    return runtime.close();
  };
  return { ...runtime, close };
}

/** A pause is told to every runtime that is open. */
function openGate(backend: string, concurrency: number) {
  const listeners = new Set<LlmOptions['onPause']>();
  const onPause = (pause: Pause): void => listeners.forEach((listener) => listener(pause));
  const opened = { gate: openCallGate({ concurrency, longestPauseMs, onPause }), listeners };
  gates.set(backend, opened);
  return opened;
}

async function openAdapter({ config, projectDir, env, secret }: LlmOptions): Promise<ModelBackend> {
  const { provider, promptCaching } = config;
  const { backend } = provider;
  switch (backend) {
    case 'anthropic':
    case 'vertex':
    case 'gateway':
    case 'openai':
    case 'bedrock': {
      const { openAiSdkBackend } = await import('./ai-sdk/backend.ts');
      const values = Object.entries(provider[backend] ?? {}).map(([key, value]) => [
        key,
        isSecretReference(value) ? secret(value) : value,
      ]);
      return openAiSdkBackend({
        provider: backend,
        config: Object.fromEntries(values),
        promptCaching,
        repairModel: modelOf(config, 'repair'),
        projectDir: projectDir ?? process.cwd(),
      });
    }
    case 'claude-code':
    case 'claude-agent': {
      if (projectDir === undefined)
        throw new UserError(
          'llm_project_missing',
          `The backend ${backend} needs the folder of a project to run in.`,
          { hint: 'ktx setup makes one.', exitCode: 2 },
        );
      const { openClaudeCodeBackend } = await import('./claude-code/backend.ts');
      const auth = backend === 'claude-agent' ? (provider.auth ?? 'api_key') : undefined;
      return openClaudeCodeBackend({ projectDir, env, promptCaching, auth });
    }
    case 'none':
      throw new UserError('llm_missing', 'llm.provider.backend is none.', { exitCode: 2 });
    default:
      return backend satisfies never;
  }
}

function defaultConcurrency(backend: ProviderName | 'claude-code' | 'claude-agent'): number {
  if (backend in providers) return 4;
  return Math.max(1, Math.min(availableParallelism(), Math.floor(freemem() / bytesPerChild), 4));
}
