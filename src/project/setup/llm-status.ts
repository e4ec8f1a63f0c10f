import { UserError } from '../../lib/error.ts';
import type { BackendName } from '../../llm/backends.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { ignoredCachingFields } from '../../llm/ignored-settings.ts';
import type { ModelAccess } from '../../llm/model-checks.ts';
import type { AccountReport, ProgramReport } from '../../llm/port/backend.ts';
import type { KtxModelRole } from '../../llm/port/runtime.ts';
import type { ProjectTrust } from '../trust/trust.ts';

type ShownError = Pick<UserError, 'code' | 'message' | 'hint' | 'exitCode' | 'retryable'>;

/** What is known of one model of `llm.models`. */
export interface ModelStatus {
  readonly model: string;
  /** The roles that use it, including those that fall back to the default. */
  readonly roles: readonly KtxModelRole[];
  readonly state: ModelAccess['state'];
  /** When it last answered. */
  readonly answeredAt?: string | undefined;
  readonly error?: ShownError | undefined;
}

/** The state of the project's model backend. */
export interface LlmStatus {
  readonly backend: BackendName;
  /** As `ktx.yaml` binds them. */
  readonly models: LlmConfig['models'];
  /**
   * `unverified`: a model was not asked, because that costs money. `unapproved`: nobody approved it
   * on this machine.
   */
  readonly state: 'none' | 'ready' | 'unverified' | 'unapproved' | 'broken';
  /** Each distinct model; empty if the account cannot be used. */
  readonly checks: readonly ModelStatus[];
  /** Who pays, if the backend can tell. */
  readonly account?: string | undefined;
  readonly ignored: readonly string[];
  /** What a person has to know about the backend on this machine. */
  readonly notes: readonly string[];
  /** The program that runs on this machine, for backends that run one. */
  readonly program?: ProgramReport | undefined;
  /** Whether frequent values of columns may leave the machine. */
  readonly sendsSamples: boolean;
  readonly error?: ShownError | undefined;
}

interface LlmStatusInput {
  readonly dir: string;
  readonly config: { readonly llm: LlmConfig; readonly scan: { readonly send_samples: boolean } };
  readonly llm: () => Promise<LlmRuntime | undefined>;
  readonly trust: Pick<ProjectTrust, 'isLlmApproved'>;
}

/**
 * What a status may do. `fast`: nothing that costs money or connects to a warehouse. `kept`: asks
 * models, except those that answered within the last day. `fresh`: asks everything.
 */
export type StatusDepth = 'fast' | 'kept' | 'fresh';

/** Whether the backend is ready: its account, and each model. */
export async function readLlmStatus(
  { dir, config, llm: openRuntime, trust }: LlmStatusInput,
  depth: StatusDepth,
  signal: AbortSignal,
): Promise<LlmStatus> {
  const { llm, scan } = config;
  const { backend } = llm.provider;
  const empty = { ignored: [], notes: [], checks: [] };
  const settings = { ...empty, backend, models: llm.models, sendsSamples: scan.send_samples };
  if (backend === 'none') return { ...settings, state: 'none' };
  const ignored = ignoredCachingFields(llm);
  if (!(await trust.isLlmApproved())) return { ...settings, state: 'unapproved', ignored };
  try {
    const runtime = await openRuntime();
    if (runtime === undefined) return { ...settings, state: 'none' };
    const { checkModels } = await import('../../llm/model-checks.ts');
    const mode = depth === 'fast' ? 'known' : depth;
    const found = await checkModels({ config: llm, runtime, dir }, { mode }, signal);
    const checks = found.checks.map(modelStatus);
    const state = stateOf(checks);
    const error = checks.find((check) => check.error !== undefined)?.error;
    return { ...settings, ...describeAccount(found.account), ignored, checks, state, error };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    return { ...settings, state: 'broken', ignored, error: shownError(error) };
  }
}

function stateOf(checks: readonly ModelStatus[]): LlmStatus['state'] {
  if (checks.some(({ state }) => state === 'broken')) return 'broken';
  return checks.every(({ state }) => state === 'works') ? 'ready' : 'unverified';
}

function modelStatus({ model, roles, state, answeredAt, error }: ModelAccess): ModelStatus {
  return {
    model,
    roles,
    state,
    answeredAt: answeredAt?.toISOString(),
    error: error && shownError(error),
  };
}

function shownError({ code, message, hint, exitCode, retryable }: UserError): ShownError {
  return { code, message, hint, exitCode, retryable };
}

function describeAccount(
  report: AccountReport | undefined,
): Pick<LlmStatus, 'account' | 'notes' | 'program'> {
  return { account: report?.source, notes: report?.notes ?? [], program: report?.program };
}
