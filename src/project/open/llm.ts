import type { Pause } from '../../llm/governor/call-gate.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { resolveSecret } from '../../store/secrets.ts';
import { openEgressLedger } from '../../llm/egress/ledger.ts';
import { openJournal } from '../../store/journal.ts';

/** Callbacks about model calls while a run is going on. */
export interface LlmNotices {
  readonly warn: (message: string) => void;
  /** All calls wait until a rate limit resets. */
  readonly onPause: (pause: Pause) => void;
}

interface ProjectLlmInput {
  readonly dir: string;
  readonly config: LlmConfig;
  readonly runId: string;
  readonly notices: LlmNotices;
  readonly env: NodeJS.ProcessEnv;
  /** Replaces the runtime that the configuration names. */
  readonly runtime?: LlmRuntime | undefined;
}

interface LlmRun {
  /** The calls are recorded under this id. */
  readonly id: string;
  /** US dollars that the run may cost, instead of the configured budget. */
  readonly budget?: number | undefined;
}

/** The model runtime of a project, its journal, and the ledger of what leaves the machine. All open at first use. */
export function openProjectLlm({ dir, config, runId, notices, env, runtime }: ProjectLlmInput) {
  const journal = openAtFirstUse(() => openJournal(dir));
  const egress = openAtFirstUse(() => openEgressLedger(dir));
  let shared: Promise<LlmRuntime | undefined> | undefined;
  const agentRuntimes = new Map<string, Promise<LlmRuntime | undefined>>();
  const runRuntimes = new Set<LlmRuntime>();
  const pauseListeners = new Set<LlmNotices['onPause']>([notices.onPause]);
  const isDisabled = config.provider.backend === 'none' && runtime === undefined;
  const open = async (
    llmConfig: LlmConfig,
    { id, budget }: LlmRun,
  ): Promise<LlmRuntime | undefined> => {
    if (runtime !== undefined) return runtime;
    const [{ openLlm }, { usageRecorder }] = await Promise.all([
      import('../../llm/factory.ts'),
      import('../../llm/governor/usage.ts'),
    ]);
    return openLlm({
      config: llmConfig,
      projectDir: dir,
      env,
      run: id,
      budget,
      secret: (reference) => resolveSecret(reference, dir),
      record: usageRecorder(journal.use().db),
      egress: (entry) => egress.use().record(entry),
      warn: notices.warn,
      onPause: (pause) => pauseListeners.forEach((listener) => listener(pause)),
    });
  };
  return {
    journal: journal.use,
    egress: egress.use,
    /** Undefined if no backend is configured. Opening calls no model. */
    llm: (): Promise<LlmRuntime | undefined> =>
      isDisabled ? Promise.resolve(undefined) : (shared ??= open(config, { id: runId })),
    /** A runtime with a budget and usage records of its own. The caller closes it. */
    async llmRun(run: LlmRun): Promise<LlmRuntime | undefined> {
      const opened = isDisabled ? undefined : await open(config, run);
      if (opened === undefined) return undefined;
      // A runtime that was handed in belongs to whoever handed it in.
      if (opened === runtime) return { ...opened, close: () => Promise.resolve() };
      runRuntimes.add(opened);
      const close = () => (runRuntimes.delete(opened) ? opened.close() : Promise.resolve());
      return { ...opened, close };
    },
    /** A runtime for the configuration of an agent; agents with equal configurations share one. */
    llmOf(agentConfig: LlmConfig): Promise<LlmRuntime | undefined> {
      const key = JSON.stringify(agentConfig);
      const opening = agentRuntimes.get(key) ?? open(agentConfig, { id: runId });
      agentRuntimes.set(key, opening);
      return opening;
    },
    /** Calls the listener for each wait for a rate limit, until the result is disposed. */
    hearPauses(listener: LlmNotices['onPause']): Disposable {
      pauseListeners.add(listener);
      return { [Symbol.dispose]: () => void pauseListeners.delete(listener) };
    },
    async close(): Promise<void> {
      for (const opened of await Promise.allSettled([shared, ...agentRuntimes.values()])) {
        if (opened.status === 'fulfilled') await opened.value?.close();
      }
      for (const opened of runRuntimes) await opened.close();
      journal.close();
      egress.close();
    },
  };
}

/** A resource that opens when it is first used, and again after `close`. */
function openAtFirstUse<Resource extends { close(): void }>(open: () => Resource) {
  let opened: Resource | undefined;
  return {
    use: (): Resource => (opened ??= open()),
    close(): void {
      opened?.close();
      opened = undefined;
    },
  };
}
