import { loadAgent, type Agent } from '../../project/agents/agent.ts';
import { collectEarly } from '../../lib/collect-early.ts';
import { UserError } from '../../lib/error.ts';
import { readVersion } from '../../lib/version.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { noBackendError } from '../../llm/no-backend.ts';
import type { Project } from '../../project/open/open.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import { goldenRows } from '../cases/golden-sql.ts';
import type { EvalCase, QuestionSet } from '../cases/question-set.ts';
import { fingerprint } from './fingerprint.ts';
import { disabledToolsWarning, prepareAgent, type PreparedAgent } from './prepare-agent.ts';
import type { FinishedAttempt, FinishedAttempts } from './attempt-log.ts';
import { recordVerified } from './record-verified.ts';
import { runCase, skippedCase, type CaseContext } from './run-case.ts';
import type { CaseResult, EvalRun } from './run-schema.ts';

export interface EvalOptions {
  readonly sets: readonly QuestionSet[];
  /** Id of the run. */
  readonly id: string;
  /**
   * What a benchmark takes from the agents. Rules about metrics and tools are then not graded, and
   * nothing is verified: the conditions answer alike cases.
   */
  readonly condition?: ((agent: Agent) => Agent) | undefined;
  /** Asked instead of the agents that the question sets name. */
  readonly agent?: string | undefined;
  /** Replaces the repeat of every case. */
  readonly repeat?: number | undefined;
  /** Asks every case a second time, without any context. */
  readonly withoutContext: boolean;
  /** Lets write tools and MCP servers run, without asking for permission. */
  readonly allowSideEffects: boolean;
  /** How many cases run at the same time. */
  readonly concurrency: number;
  /** After this time, in ms, no further case starts. */
  readonly mostMs?: number | undefined;
  /** The attempts of the run that this one continues. */
  readonly done: FinishedAttempts;
  /** Called as each attempt ends. */
  readonly onAttempt: (attempt: FinishedAttempt) => void;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
  /** Called before the first case, with what the answers will depend on. */
  readonly onStart: (context: EvalRun['context']) => void;
  /** `context`: false in the second pass, without context. */
  readonly onCase: (
    result: CaseResult,
    progress: { readonly done: number; readonly of: number; readonly context: boolean },
  ) => void;
}

/** What all cases of a run share. */
interface EvalSetup {
  readonly project: Project;
  readonly options: EvalOptions;
  readonly agents: ReadonlyMap<string, PreparedAgent>;
  readonly golden: CaseContext['golden'];
  readonly judge: CaseContext['judge'];
  readonly startTime: number;
}

/**
 * Asks every case, each in a new conversation. After an interrupt, the result holds the cases asked
 * so far.
 */
export async function runEvals(fullProject: Project, options: EvalOptions): Promise<EvalRun> {
  const project = { ...fullProject, offersVerified: false as const };
  const { sets, signal } = options;
  const started = new Date().toISOString();
  const startTime = performance.now();
  // A run holds little: 10 MB for 2,000 cases. Without this, it would take 600 MB.
  collectEarly(50);
  const agents = await prepareAgents(project, options);
  for (const { agent } of agents.values()) await requireModel(project, agent);
  const warning = disabledToolsWarning(agents);
  if (warning !== undefined) options.warn(warning);
  const declaredAgents = [...agents.values()].map(({ declared }) => declared);
  const context = await fingerprint(project, sets, declaredAgents);
  const setup: EvalSetup = {
    project,
    options,
    agents,
    golden: cacheGoldenRows(project, signal),
    judge: once(() => openJudge(project)),
    startTime,
  };
  options.onStart(context);
  const cases = await runAllCases(setup, true);
  const withoutContext = options.withoutContext ? await runAllCases(setup, false) : undefined;
  return {
    version: 1,
    id: options.id,
    started,
    ms: Math.round(performance.now() - startTime),
    ktx: readVersion(),
    interrupted: signal.aborted,
    context,
    cases,
    ...(withoutContext && { without_context: withoutContext }),
  };
}

async function prepareAgents(
  project: Project,
  { agent, sets, allowSideEffects }: EvalOptions,
): Promise<ReadonlyMap<string, PreparedAgent>> {
  const names = new Set(agent === undefined ? sets.map((set) => set.agent) : [agent]);
  const agents = new Map<string, PreparedAgent>();
  for (const name of names)
    agents.set(name, prepareAgent(await loadAgent(project.dir, name), allowSideEffects));
  return agents;
}

async function requireModel(project: Project, agent: Agent): Promise<void> {
  if (agent.model.backend === undefined && (await project.llm()) === undefined)
    throw noBackendError('ktx eval run needs a model');
}

async function openJudge(project: Project): Promise<LlmRuntime> {
  const runtime = await project.llm();
  if (runtime === undefined) throw noBackendError('A judge is a model');
  return runtime;
}

interface QueuedCase {
  readonly evalCase: EvalCase;
  readonly agent: string;
}

/**
 * Runs all cases, several at the same time; results are in the order of the cases. If the provider
 * refuses the account or the budget is spent, the remaining cases are skipped with that reason. A
 * configuration error ends the run.
 */
async function runAllCases(setup: EvalSetup, hasContext: boolean): Promise<CaseResult[]> {
  const { options } = setup;
  const queue = options.sets.flatMap(({ agent, cases }) =>
    cases.map((evalCase): QueuedCase => ({ evalCase, agent: options.agent ?? agent })),
  );
  const results = new Map<string, CaseResult>();
  let skipReason: string | undefined;
  let configurationError: UserError | undefined;
  let nextIndex = 0;
  const work = async (): Promise<void> => {
    for (let queued = queue[nextIndex++]; queued !== undefined; queued = queue[nextIndex++]) {
      const reason = options.signal.aborted ? 'interrupted' : (skipReason ?? timeReason(setup));
      const result =
        reason === undefined
          ? await askCase(setup, queued, hasContext)
          : skippedCase(queued.evalCase, reason);
      if (result instanceof UserError) {
        configurationError ??= result;
        skipReason ??= result.message;
        continue;
      }
      skipReason ??= refusalReason(result);
      if (hasContext && options.condition === undefined)
        await keepVerified(setup, { evalCase: queued.evalCase, result });
      const named = { ...result, agent: queued.agent };
      results.set(result.id, named);
      options.onCase(named, { done: results.size, of: queue.length, context: hasContext });
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, queue.length) }, work));
  if (configurationError !== undefined) throw configurationError;
  return queue.flatMap(({ evalCase }) => results.get(evalCase.id) ?? []);
}

/** A question that cannot be kept as verified costs its case nothing. */
async function keepVerified(
  { project, options: { id, signal, warn } }: EvalSetup,
  asked: { readonly evalCase: EvalCase; readonly result: CaseResult },
): Promise<void> {
  try {
    await recordVerified(project, { ...asked, run: id }, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof UserError)) throw error;
    warn(`${asked.result.id} is not kept as a verified question: ${error.message}`);
  }
}

/** Why no further case starts; undefined while there is time. */
function timeReason({ options: { mostMs }, startTime }: EvalSetup): string | undefined {
  if (mostMs === undefined || performance.now() - startTime < mostMs) return undefined;
  return `${notAsked}: ${mostMs / 60_000} minutes are over`;
}

/** How the reason begins for which a case was not asked though the run should have asked it. */
const notAsked = 'not asked';

/** Returns a `UserError` that concerns the configuration, and with it every case. */
async function askCase(
  { project, options, agents, golden, judge }: EvalSetup,
  { evalCase, agent: agentName }: QueuedCase,
  hasContext: boolean,
): Promise<CaseResult | UserError> {
  const prepared = agents.get(agentName);
  if (prepared === undefined) throw new Error(`no agent ${agentName}`);
  const gradesContext = hasContext && options.condition === undefined;
  const asked = {
    ...(gradesContext ? evalCase : withoutContextRules(evalCase)),
    repeat: options.repeat ?? evalCase.repeat,
  };
  if (!asked.turns.some(({ expect }) => expect !== undefined))
    return skippedCase(evalCase, 'expects nothing that works without context');
  const full = options.condition?.(prepared.agent) ?? prepared.agent;
  const agent = hasContext ? full : withoutSemanticLayer(full);
  const { signal } = options;
  const place = { case: evalCase.id, context: hasContext };
  try {
    return await runCase(
      {
        project,
        agent,
        policy: prepared.policy,
        golden,
        judge,
        signal,
        done: options.done(place),
        onAttempt: (attempt) => options.onAttempt({ ...place, attempt }),
      },
      asked,
    );
  } catch (error) {
    if (signal.aborted) return skippedCase(evalCase, 'interrupted');
    if (!(error instanceof UserError)) throw error;
    if (error.exitCode === 2) return error;
    return { ...skippedCase(evalCase, `${error.code}: ${error.message}`), outcome: 'error' };
  }
}

function withoutSemanticLayer(agent: Agent): Agent {
  return { ...agent, context: { ...agent.context, semantic_layer: 'off' } };
}

/**
 * Drops the rules about metrics and tools: without context there are no metrics and fewer tools.
 */
function withoutContextRules(evalCase: EvalCase): EvalCase {
  const turns = evalCase.turns.map(({ question, expect }) => {
    if (expect === undefined) return { question, expect };
    const { semantic_layer: _metrics, tools: _tools, ...rest } = expect;
    return { question, expect: Object.keys(rest).length === 0 ? undefined : rest };
  });
  return { ...evalCase, turns };
}

/** Error codes after which every further call would fail in the same way. */
const refusalCodes = /^llm_(?:auth|billing|permission|model_unavailable|budget_spent)\b/;

/** Why the remaining cases need not be asked; undefined if they should be. */
function refusalReason({ outcome, reason, attempts }: CaseResult): string | undefined {
  if (outcome !== 'error') return undefined;
  const [firstFinding] = attempts.flatMap(({ turns }) => turns.flatMap(({ findings }) => findings));
  const message = reason ?? firstFinding?.found ?? '';
  return refusalCodes.test(message) ? `${notAsked}: ${message}` : undefined;
}

/** Runs each golden statement once per run, however often its case is asked. */
function cacheGoldenRows(project: Project, signal: AbortSignal): CaseContext['golden'] {
  const cache = new Map<string, Promise<QueryResult>>();
  return (connection, sql) => {
    const key = JSON.stringify([connection, sql]);
    const rows = cache.get(key) ?? goldenRows(project, { connection, sql }, signal);
    cache.set(key, rows);
    return rows;
  };
}

function once<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  return () => (created ??= create());
}
