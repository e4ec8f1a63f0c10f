import type { Pause } from '../../llm/governor/call-gate.ts';
import type { EmbeddingsConfig } from '../../llm/ai-sdk/embedding-providers.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { CallRecord } from '../../llm/governor/usage.ts';
import type { EmbeddingRuntime } from '../../llm/embeddings/open.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import type { Spending } from '../../llm/governor/spending.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { openEgressLedger, type EgressEntry, type EgressLedger } from '../../llm/egress/ledger.ts';
import { openJournal, type Journal } from '../../store/journal.ts';

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
  /** Throws unless a person has approved the backend. */
  readonly requireLlm: (config: LlmConfig) => Promise<ReadSecret>;
  readonly embeddings: EmbeddingsConfig | undefined;
  /** Throws unless a person has approved the provider of embeddings. */
  readonly requireEmbeddings: () => Promise<ReadSecret>;
  /** US dollars that all calls together may cost, instead of the configured limit. */
  readonly budget?: number | undefined;
  /** Replaces the runtime that the configuration names. */
  readonly runtime?: LlmRuntime | undefined;
}

interface LlmRun {
  /** The calls are recorded under this id. */
  readonly id: string;
  /** US dollars that the run may cost, instead of the configured budget. */
  readonly budget?: number | undefined;
  /** What the run has spent so far, if it has both a model and embeddings. */
  readonly spending?: Spending | undefined;
  /** Takes what each call used, in place of the journal of this machine. */
  readonly onCall?: ((call: CallRecord) => void) | undefined;
}

/**
 * The model runtime of a project, its journal, and the ledger of what leaves the machine. All open
 * at first use.
 */
export function openProjectLlm(input: ProjectLlmInput) {
  const { dir, config, runId, notices, runtime, requireLlm } = input;
  const journal = openAtFirstUse(() => openJournal(dir));
  const egress = openAtFirstUse(() => openEgressLedger(dir));
  let shared: Promise<LlmRuntime | undefined> | undefined;
  const agentRuntimes = new Map<string, Promise<LlmRuntime | undefined>>();
  const runRuntimes = new Set<LlmRuntime>();
  const embeddingRuntimes = new Set<EmbeddingRuntime>();
  const pauseListeners = new Set<LlmNotices['onPause']>([notices.onPause]);
  const isDisabled = config.provider.backend === 'none' && runtime === undefined;
  const onPause = (pause: Pause): void => pauseListeners.forEach((listener) => listener(pause));
  const open = async (llmConfig: LlmConfig, run: LlmRun): Promise<LlmRuntime | undefined> =>
    runtime ??
    openRuntime(input, { llmConfig, run, journal: journal.use, egress: egress.use, onPause });
  const sharedRun = onceOnly(() => openSharedRun(input));
  return {
    journal: journal.use,
    egress: egress.use,
    /** Undefined if no backend is configured. Opening calls no model. */
    async llm(): Promise<LlmRuntime | undefined> {
      if (isDisabled) return undefined;
      // Also for a runtime that is open: the approval may have been revoked.
      if (runtime === undefined) await requireLlm(config);
      const opening = (shared ??= sharedRun().then((run) => open(config, run)));
      // If this attempt fails, the next call tries again.
      opening.catch(() => (shared = undefined));
      return opening;
    },
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
    /** Undefined if `ktx.yaml` names no provider. Opening it sends nothing. */
    async embeddings(run: LlmRun = { id: runId }): Promise<EmbeddingRuntime | undefined> {
      const resources = { run, journal: journal.use, egress: egress.use, onPause };
      const opened = await openProjectEmbeddings(input, resources);
      if (opened === undefined) return undefined;
      embeddingRuntimes.add(opened);
      return opened;
    },
    /** A runtime for the configuration of an agent; agents with equal configurations share one. */
    async llmOf(agentConfig: LlmConfig): Promise<LlmRuntime | undefined> {
      if (runtime === undefined) await requireLlm(agentConfig);
      const key = JSON.stringify(agentConfig);
      const opening = agentRuntimes.get(key) ?? sharedRun().then((run) => open(agentConfig, run));
      agentRuntimes.set(key, opening);
      opening.catch(() => agentRuntimes.delete(key));
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
      for (const opened of [...runRuntimes, ...embeddingRuntimes]) await opened.close();
      journal.close();
      egress.close();
    },
  };
}

/** The model of the project and those of its agents share the budget of the command line. */
async function openSharedRun({ config, runId, budget }: ProjectLlmInput): Promise<LlmRun> {
  if (budget === undefined) return { id: runId };
  const { openSpending, runSpendingLimit } = await import('../../llm/governor/spending.ts');
  return { id: runId, budget, spending: openSpending(runSpendingLimit(config, budget)) };
}

function onceOnly<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
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

interface RunResources {
  readonly run: LlmRun;
  readonly journal: () => Journal;
  readonly egress: () => EgressLedger;
  readonly onPause: LlmNotices['onPause'];
}

async function openRuntime(
  input: ProjectLlmInput,
  { llmConfig, ...resources }: RunResources & { readonly llmConfig: LlmConfig },
): Promise<LlmRuntime | undefined> {
  const secret = await input.requireLlm(llmConfig);
  const { openLlm } = await import('../../llm/factory.ts');
  return openLlm({ config: llmConfig, secret, ...(await callOptions(input, resources)) });
}

async function openProjectEmbeddings(
  input: ProjectLlmInput,
  resources: RunResources,
): Promise<EmbeddingRuntime | undefined> {
  const { embeddings: config, config: llm } = input;
  if (config === undefined) return undefined;
  const secret = await input.requireEmbeddings();
  const { openEmbeddings } = await import('../../llm/embeddings/open.ts');
  return openEmbeddings({ config, llm, secret, ...(await callOptions(input, resources)) });
}

/** What every call of a run has in common, whatever it asks. */
async function callOptions(
  { dir, env, notices }: ProjectLlmInput,
  { run, journal, egress, onPause }: RunResources,
) {
  const [{ usageRecorder }, { forgetModels }] = await Promise.all([
    import('../../llm/governor/usage.ts'),
    import('../../llm/model-checks.ts'),
  ]);
  const recordUsage = usageRecorder(journal().db);
  return {
    projectDir: dir,
    env,
    run: run.id,
    budget: run.budget,
    spending: run.spending,
    record(call: CallRecord) {
      (run.onCall ?? recordUsage)(call);
      forgetModels(dir, call.outcome);
    },
    egress: (entry: EgressEntry) => egress().record(entry),
    warn: notices.warn,
    onPause,
  };
}
