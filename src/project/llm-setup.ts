import { check } from '../lib/schema-check.ts';
import { UserError } from '../lib/error.ts';
import type { ProbeReport } from '../llm/backend.ts';
import { llmConfigSchema, type BackendName, type LlmConfig } from '../llm/config.ts';
import type { LlmRuntime } from '../llm/govern.ts';
import { resolveSecret } from '../store/secrets.ts';
import { withProjectLock } from '../store/lock.ts';
import { editConfig, readConfig } from './config-file.ts';

export interface NewLlm {
  readonly backend: BackendName;
  readonly models: LlmConfig['models'];
  /** The backend's own block; secrets as references. */
  readonly settings: Readonly<Record<string, unknown>>;
}

interface LlmSetup {
  readonly dir: string;
  readonly runId: string;
  readonly llm: NewLlm;
  readonly warn: (message: string) => void;
}

export interface LlmSetupReport {
  readonly backend: BackendName;
  readonly models: LlmConfig['models'];
  readonly written: readonly string[];
  /** Undefined with `none`. */
  readonly probe: ProbeReport | undefined;
  readonly ignored: readonly string[];
}

/** Chooses the backend of a project. It is probed first, with a minimal call; where that fails nothing is written. */
export async function setUpLlm({ dir, runId, llm, warn }: LlmSetup, signal: AbortSignal): Promise<LlmSetupReport> {
  const { backend, models, settings } = llm;
  const { llm: present } = await readConfig(dir);
  const block = Object.keys(settings).length === 0 ? {} : { [backend]: settings };
  const wanted = { ...present, provider: { ...present.provider, backend, ...block }, models };
  const { data: config, problems } = check(llmConfigSchema, wanted);
  if (config === undefined) throw invalid(problems);
  const probe = await probeConfig({ dir, runId, config, warn }, signal);
  const before = JSON.stringify([present.provider, present.models]);
  const isSame = before === JSON.stringify([config.provider, config.models]);
  if (!isSame) {
    await withProjectLock(dir, () =>
      editConfig(dir, (document) => {
        document.setIn(['llm', 'provider', 'backend'], backend);
        if (Object.keys(settings).length > 0) document.setIn(['llm', 'provider', backend], document.createNode(settings));
        if (Object.keys(models).length > 0) document.setIn(['llm', 'models'], document.createNode(models));
      }),
    );
  }
  return { backend, models, written: isSame ? [] : ['ktx.yaml'], probe, ignored: await ignoredFields(config) };
}

interface Probed {
  readonly dir: string;
  readonly runId: string;
  readonly config: LlmConfig;
  readonly warn: (message: string) => void;
}

async function probeConfig({ dir, runId, config, warn }: Probed, signal: AbortSignal): Promise<ProbeReport | undefined> {
  const { openLlm } = await import('../llm/factory.ts');
  const secret = (reference: string): string => resolveSecret(reference, dir);
  const quiet = { record: () => undefined, onPause: () => undefined, warn };
  const runtime = await openLlm({ config, projectDir: dir, env: process.env, run: runId, secret, ...quiet });
  try {
    return await runtime?.probe(signal);
  } finally {
    await runtime?.close();
  }
}

/** Settings of `ktx.yaml` that the backend cannot honour, each with what happens instead. */
export async function ignoredFields({ provider, promptCaching }: LlmConfig): Promise<readonly string[]> {
  if (provider.backend !== 'claude-code' && provider.backend !== 'claude-agent') return [];
  const { ignoredCaching } = await import('../llm/claude-code/ignored-settings.ts');
  return ignoredCaching(promptCaching);
}

function invalid(problems: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): UserError {
  const lines = problems.map(({ path, message }) => `llm.${path.join('.')}: ${message}`);
  return new UserError('config_invalid', lines.join('\n'), { hint: 'ktx setup --help lists what each backend needs', exitCode: 2 });
}

/** What is known of the project's model. */
export interface LlmStatus {
  readonly backend: BackendName;
  /** By role, those that fall back to the default included. */
  readonly models: LlmConfig['models'];
  /** `unverified`: configured, and nothing was spent to try it. */
  readonly state: 'none' | 'ready' | 'unverified' | 'broken';
  /** Who pays, where that can be told. */
  readonly account?: string | undefined;
  readonly ignored: readonly string[];
  /** Whether frequent values of columns may leave the machine. */
  readonly sendsSamples: boolean;
  readonly error?: UserError | undefined;
}

interface StatusOf {
  readonly dir: string;
  readonly config: { readonly llm: LlmConfig; readonly scan: { readonly send_samples: boolean } };
  readonly runtime: () => Promise<LlmRuntime | undefined>;
}

/** Readiness of the backend. `fast` asks only what is free. */
export async function llmStatus({ config, runtime }: StatusOf, fast: boolean, signal: AbortSignal): Promise<LlmStatus> {
  const { llm, scan } = config;
  const { backend } = llm.provider;
  const about = { backend, models: llm.models, sendsSamples: scan.send_samples };
  if (backend === 'none') return { ...about, state: 'none', ignored: [] };
  const ignored = await ignoredFields(llm);
  try {
    const opened = await runtime();
    const account = (await opened?.account(signal))?.source;
    if (fast) return { ...about, state: 'unverified', account, ignored };
    const probe = await opened?.probe(signal);
    return { ...about, state: 'ready', account: probe?.account?.source ?? account, ignored };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    return { ...about, state: 'broken', ignored, error };
  }
}
