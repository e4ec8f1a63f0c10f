import type { Pause } from '../../llm/governor/call-gate.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { resolveSecret } from '../../store/secrets.ts';
import { openJournal, type Journal } from '../../store/journal.ts';

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

/** What the calls of one run are recorded under, and US dollars that they may cost in place of what the configuration allows. */
interface LlmRun {
  readonly id: string;
  readonly budget?: number | undefined;
}

/** The model runtime and the journal of a project; both open at first use. */
export function openProjectLlm({ dir, config, runId, notices, env, runtime }: LlmOfProject) {
  let journal: Journal | undefined;
  let opened: Promise<LlmRuntime | undefined> | undefined;
  const openedJournal = (): Journal => (journal ??= openJournal(dir));
  const listeners = new Set<LlmNotices['onPause']>([notices.onPause]);
  const onPause: LlmNotices['onPause'] = (pause) =>
    listeners.forEach((listener) => listener(pause));
  const others = new Map<string, Promise<LlmRuntime | undefined>>();
  const runs = new Set<LlmRuntime>();
  const isNone = config.provider.backend === 'none' && runtime === undefined;
  const open = async ({
    id = runId,
    budget,
    wanted = config,
  }: Partial<LlmRun> & { readonly wanted?: LlmConfig } = {}): Promise<LlmRuntime | undefined> => {
    if (runtime !== undefined) return runtime;
    const [{ openLlm }, { usageRecorder }] = await Promise.all([
      import('../../llm/factory.ts'),
      import('../../llm/governor/usage.ts'),
    ]);
    const record = usageRecorder(openedJournal().db);
    const secret = (reference: string): string => resolveSecret(reference, dir);
    return openLlm({
      config: wanted,
      projectDir: dir,
      env,
      run: id,
      budget,
      secret,
      record,
      warn: notices.warn,
      onPause: (pause) => onPause(pause),
    });
  };
  return {
    journal: openedJournal,
    /** Undefined where no backend is configured. Nothing is called yet. */
    llm: (): Promise<LlmRuntime | undefined> =>
      isNone ? Promise.resolve(undefined) : (opened ??= open()),
    /** A runtime with a bill and a limit of its own; whoever takes it closes it. */
    async llmRun(run: LlmRun): Promise<LlmRuntime | undefined> {
      const own = isNone ? undefined : await open(run);
      if (own === undefined || own === runtime)
        return own && { ...own, close: () => Promise.resolve() };
      runs.add(own);
      return { ...own, close: () => (runs.delete(own) ? own.close() : Promise.resolve()) };
    },
    /** The runtime of another configuration: an agent's. One for all that ask for the same. */
    llmOf(wanted: LlmConfig): Promise<LlmRuntime | undefined> {
      const key = JSON.stringify(wanted);
      const known = others.get(key) ?? open({ wanted });
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
      for (const own of runs) await own.close();
      journal?.close();
      journal = undefined;
    },
  };
}
