import { loadAgent, type Agent } from '../../chat/agent.ts';
import type { PermissionPolicy } from '../../chat/permissions.ts';
import { UserError } from '../../lib/error.ts';
import { readVersion } from '../../lib/version.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { noBackendError } from '../../llm/no-backend.ts';
import type { Project } from '../../project/open/open.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import { fingerprint } from './fingerprint.ts';
import { goldenRows } from '../cases/golden-sql.ts';
import type { EvalCase, QuestionSet } from '../cases/question-set.ts';
import { runCase, skipped, type CaseContext } from './run-case.ts';
import type { CaseResult, EvalRun } from './run-file.ts';

export interface EvalOptions {
  readonly sets: readonly QuestionSet[];
  /** In place of the agents of the files. */
  readonly agent?: string | undefined;
  readonly repeat?: number | undefined;
  /** Every case a second time, with no context at all. */
  readonly withoutContext: boolean;
  /** Writes and tools of other servers run, unasked. */
  readonly allowSideEffects: boolean;
  /** Cases at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
  readonly onCase: (
    result: CaseResult,
    about: { readonly done: number; readonly of: number; readonly context: boolean },
  ) => void;
}

/** Asks every case, each in a conversation of its own. What was asked before an interrupt is in the result. */
export async function runEvals(project: Project, options: EvalOptions): Promise<EvalRun> {
  const { sets, signal } = options;
  const [started, began] = [new Date().toISOString(), performance.now()];
  const names = [
    ...new Set(options.agent === undefined ? sets.map(({ agent }) => agent) : [options.agent]),
  ];
  const agents = new Map<string, Prepared>();
  for (const name of names)
    agents.set(name, prepare(await loadAgent(project.dir, name), options.allowSideEffects));
  for (const name of names) await requireModel(project, agents.get(name)?.agent);
  tellDisabled(agents, options.warn);
  const context = await fingerprint(
    project,
    sets,
    [...agents.values()].map(({ declared }) => declared),
  );
  const plan: Plan = {
    project,
    options,
    agents,
    golden: goldenOnce(project, signal),
    judge: onlyOnce(() => judgeOf(project)),
  };
  const cases = await column(plan, true);
  const without = options.withoutContext ? await column(plan, false) : undefined;
  return {
    version: 1,
    id: project.runId,
    started,
    ms: Math.round(performance.now() - began),
    ktx: readVersion(),
    interrupted: signal.aborted,
    context,
    cases,
    ...(without && { without_context: without }),
  };
}

interface Prepared {
  /** As its file has it. */
  readonly declared: Agent;
  readonly agent: Agent;
  readonly policy: PermissionPolicy;
  /** What was taken from it. */
  readonly disabled: readonly string[];
}

const writes = ['remember', 'ingest'];

/** Context and queries run. What could change something does not; an explicit `manual` stays, and nobody is there to be asked. */
function prepare(declared: Agent, allowSideEffects: boolean): Prepared {
  const { mode } = declared.permissions;
  if (allowSideEffects)
    return { declared, agent: declared, policy: { mode: mode ?? 'acceptAll' }, disabled: [] };
  const { allow, deny } = declared.tools;
  const offered = writes.filter((name) => (allow?.includes(name) ?? true) && !deny.includes(name));
  const servers = Object.keys(declared.mcp_servers).map((name) => `server ${name}`);
  const agent = { ...declared, mcp_servers: {} };
  // Without an agent's file nobody asked for these tools.
  const isAsked = allow !== undefined || mode === 'acceptAll' || mode === 'acceptEdits';
  const disabled = [...(isAsked ? offered : []), ...servers];
  return {
    declared,
    agent,
    policy: { mode: mode === 'manual' ? 'manual' : 'unattended' },
    disabled,
  };
}

function tellDisabled(agents: ReadonlyMap<string, Prepared>, warn: EvalOptions['warn']): void {
  const said = [...agents].flatMap(([name, { disabled }]) =>
    disabled.length === 0 ? [] : [`${name}: ${disabled.join(', ')}`],
  );
  if (said.length > 0)
    warn(
      `Disabled, as they could change something (${said.join('; ')}); --allow-side-effects runs them.`,
    );
}

async function requireModel(project: Project, agent: Agent | undefined): Promise<void> {
  if (agent?.model.backend === undefined && (await project.llm()) === undefined)
    throw noBackendError('Asking questions takes a model');
}

async function judgeOf(project: Project): Promise<LlmRuntime> {
  const runtime = await project.llm();
  if (runtime === undefined) throw noBackendError('A judge is a model');
  return runtime;
}

interface Plan {
  readonly project: Project;
  readonly options: EvalOptions;
  readonly agents: ReadonlyMap<string, Prepared>;
  readonly golden: CaseContext['golden'];
  readonly judge: CaseContext['judge'];
}

/** All cases in their order, several at once. An account that refuses, or money that is spent, ends it: every further case would say the same. */
async function column(plan: Plan, context: boolean): Promise<CaseResult[]> {
  const { options } = plan;
  const queue = options.sets.flatMap(({ agent, cases }) =>
    cases.map((one) => ({ one, agent: options.agent ?? agent })),
  );
  const results = new Map<string, CaseResult>();
  let refusal: string | undefined;
  let failure: UserError | undefined;
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < queue.length; at = next++) {
      const asked = queue[at];
      if (asked === undefined) return;
      const reason = options.signal.aborted ? 'interrupted' : refusal;
      const result =
        reason === undefined ? await ask(plan, asked, context) : skipped(asked.one, reason);
      if (result instanceof UserError) {
        failure ??= result;
        refusal ??= result.message;
        continue;
      }
      refusal ??= refusalIn(result);
      results.set(asked.one.id, result);
      options.onCase(result, { done: results.size, of: queue.length, context });
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, queue.length) }, worker));
  if (failure !== undefined) throw failure;
  return queue.flatMap(({ one }) => results.get(one.id) ?? []);
}

/** A `UserError` is about the configuration, and so about every case. */
async function ask(
  plan: Plan,
  { one, agent: name }: { one: EvalCase; agent: string },
  context: boolean,
): Promise<CaseResult | UserError> {
  const { project, options, golden, judge } = plan;
  const prepared = plan.agents.get(name);
  if (prepared === undefined) throw new Error(`no agent ${name}`);
  const { agent, policy } = prepared;
  const asked = { ...(context ? one : bare(one)), repeat: options.repeat ?? one.repeat };
  if (!asked.turns.some(({ expect }) => expect !== undefined))
    return skipped(one, 'expects nothing but context');
  const own = context
    ? agent
    : { ...agent, context: { ...agent.context, semantic_layer: 'off' as const } };
  try {
    return await runCase(
      { project, agent: own, policy, golden, judge, signal: options.signal },
      asked,
    );
  } catch (error) {
    if (options.signal.aborted) return skipped(one, 'interrupted');
    if (!(error instanceof UserError)) throw error;
    if (error.exitCode === 2) return error;
    return { ...skipped(one, `${error.code}: ${error.message}`), outcome: 'error' };
  }
}

/** Without context there are no metrics to use and fewer tools to call: only the answer counts. */
function bare(one: EvalCase): EvalCase {
  const turns = one.turns.map(({ question, expect }) => {
    if (expect === undefined) return { question, expect };
    const { semantic_layer: _metrics, tools: _tools, ...rest } = expect;
    return { question, expect: Object.keys(rest).length === 0 ? undefined : rest };
  });
  return { ...one, turns };
}

const refused = /^llm_(?:auth|billing|permission|budget_spent)\b/;

function refusalIn({ outcome, reason, attempts }: CaseResult): string | undefined {
  if (outcome !== 'error') return undefined;
  const said =
    reason ??
    attempts.flatMap(({ turns }) => turns.flatMap(({ findings }) => findings))[0]?.found ??
    '';
  return refused.test(said) ? `not asked: ${said}` : undefined;
}

/** Golden SQL runs once a run, however often its case is asked. */
function goldenOnce(project: Project, signal: AbortSignal): CaseContext['golden'] {
  const known = new Map<string, Promise<QueryResult>>();
  return (connection, sql) => {
    const key = JSON.stringify([connection, sql]);
    const rows = known.get(key) ?? goldenRows(project, { connection, sql }, signal);
    known.set(key, rows);
    return rows;
  };
}

function onlyOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
