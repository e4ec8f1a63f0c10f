import type { Pause } from '../llm/call-gate.ts';
import type { LlmConfig } from '../llm/config.ts';
import type { LlmRuntime } from '../llm/govern.ts';
import { resolveSecret } from '../store/secrets.ts';
import { openJournal, type Journal } from '../store/journal.ts';

/** What a run hears of its model calls while they go on. */
export interface LlmNotices {
  readonly warn: (message: string) => void;
  /** All calls wait for the reset of a limit. */
  readonly onPause: (pause: Pause) => void;
}

interface LlmOfProject {
  readonly dir: string;
  readonly config: LlmConfig;
  readonly runId: string;
  readonly notices: LlmNotices;
  readonly env: NodeJS.ProcessEnv;
  /** In place of the one that the configuration names. */
  readonly runtime?: LlmRuntime | undefined;
}

/** The model runtime and the journal of a project; both open at first use. */
export function openProjectLlm({ dir, config, runId, notices, env, runtime }: LlmOfProject) {
  let journal: Journal | undefined;
  let opened: Promise<LlmRuntime | undefined> | undefined;
  const openedJournal = (): Journal => (journal ??= openJournal(dir));
  const listeners = new Set<LlmNotices['onPause']>([notices.onPause]);
  const onPause: LlmNotices['onPause'] = (pause) => listeners.forEach((listener) => listener(pause));
  const others = new Map<string, Promise<LlmRuntime | undefined>>();
  const open = async (wanted = config): Promise<LlmRuntime | undefined> => {
    if (runtime !== undefined) return runtime;
    const [{ openLlm }, { usageRecorder }] = await Promise.all([import('../llm/factory.ts'), import('../llm/usage.ts')]);
    const record = usageRecorder(openedJournal().db);
    const secret = (reference: string): string => resolveSecret(reference, dir);
    return openLlm({ config: wanted, projectDir: dir, env, run: runId, secret, record, warn: notices.warn, onPause });
  };
  return {
    journal: openedJournal,
    /** Undefined where no backend is configured. Nothing is called yet. */
    llm: (): Promise<LlmRuntime | undefined> =>
      config.provider.backend === 'none' && runtime === undefined ? Promise.resolve(undefined) : (opened ??= open()),
    /** The runtime of another configuration: an agent's. One for all that ask for the same. */
    llmOf(wanted: LlmConfig): Promise<LlmRuntime | undefined> {
      const key = JSON.stringify(wanted);
      const known = others.get(key) ?? open(wanted);
      others.set(key, known);
      return known;
    },
    /** Tells of every wait for a limit, until the result is disposed of. */
    hearPauses(listener: LlmNotices['onPause']): Disposable {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async close(): Promise<void> {
      for (const outcome of await Promise.allSettled([opened, ...others.values()])) {
        if (outcome.status === 'fulfilled') await outcome.value?.close();
      }
      journal?.close();
      journal = undefined;
    },
  };
}
