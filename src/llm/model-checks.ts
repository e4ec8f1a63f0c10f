import { UserError } from '../lib/error.ts';
import { openCheckCache } from '../store/check-cache.ts';
import { modelIdForRole, type LlmConfig } from './config.ts';
import { type LlmRuntime, slowProbeHint } from './governor/govern.ts';
import type { AccountReport } from './port/backend.ts';
import { LlmError, type LlmErrorKind } from './port/error.ts';
import { modelRoles, type KtxModelRole } from './port/runtime.ts';

/** Whether the account can use one model of `llm.models`. */
export interface ModelAccess {
  readonly model: string;
  /** The roles that use it, in the order of `modelRoles`. */
  readonly roles: readonly KtxModelRole[];
  /** `unverified`: not asked, because that costs money, or because the account failed before. */
  readonly state: 'works' | 'broken' | 'unverified';
  /** When it last answered. */
  readonly answeredAt?: Date | undefined;
  /** The full id of the model that answered. */
  readonly answeredAs?: string | undefined;
  readonly error?: UserError | undefined;
}

interface CheckedLlm {
  readonly account: AccountReport | undefined;
  readonly checks: readonly ModelAccess[];
}

export interface AccessInput {
  readonly config: LlmConfig;
  readonly runtime: Pick<LlmRuntime, 'account' | 'probe'>;
  /** The project folder: an answer is kept there for a day. */
  readonly dir: string;
}

interface AccessOptions {
  /** Default: all roles. */
  readonly roles?: readonly KtxModelRole[];
  /**
   * `known`: asks no model. `kept`: asks each model that did not answer within the last day.
   * `fresh`: asks each model.
   */
  readonly mode: 'known' | 'kept' | 'fresh';
}

const dayMs = 24 * 60 * 60 * 1000;
/** For all models together. */
const limitMs = 60_000;
const modelsAtOnce = 2;
const cacheName = 'model';

/** After these kinds every other model of the account would fail in the same way. */
const accountKinds: readonly LlmErrorKind[] = [
  'auth',
  'billing',
  'rate_limit',
  'network',
  'aborted',
  'timeout',
  'spawn',
  'isolation',
];

/**
 * Checks the account for free, then each distinct model with one minimal call. Throws if the
 * account cannot be used; a model that cannot be used is in the result. Only answers are kept: a
 * failure is asked about again, so that nobody has to wait after mending it.
 */
export async function checkModels(
  { config, runtime, dir }: AccessInput,
  { roles = modelRoles, mode }: AccessOptions,
  signal: AbortSignal,
): Promise<CheckedLlm> {
  const account = await runtime.account(signal, roles[0]);
  const cache = openCheckCache(dir, cacheName);
  const keyOf = (model: string): unknown => [config.provider, accountKey(account), model];
  const known = rolesByModel(config, roles).map(([model, itsRoles]): ModelAccess => {
    const kept = mode === 'fresh' ? undefined : cache.read(keyOf(model), dayMs);
    if (kept === undefined) return { model, roles: itsRoles, state: 'unverified' };
    return { model, roles: itsRoles, state: 'works', answeredAt: kept.at };
  });
  if (mode === 'known') return { account, checks: known };
  const limit = AbortSignal.timeout(limitMs);
  const ask = async (check: ModelAccess): Promise<ModelAccess> => {
    const asked = await askModel(check, { config, runtime, signal, limit });
    if (asked.state === 'works') await cache.write(keyOf(check.model), asked.answeredAs);
    return asked;
  };
  return { account, checks: await askAll(known, ask) };
}

/** Another account or another version of the program makes an answer worthless. */
function accountKey(account: AccountReport | undefined): unknown {
  const { source, provider, id, program } = account ?? {};
  return { source, provider, id, program: [program?.path, program?.version] };
}

/**
 * Throws if the account is refused for a model of these roles: before long work, and with the words
 * of `ktx status`. A failure that may pass, such as a network that is down, is left to the call
 * that needs the model: there may be none.
 */
export async function requireModels(
  input: AccessInput,
  roles: readonly KtxModelRole[],
  signal: AbortSignal,
): Promise<void> {
  const { checks } = await checkModels(input, { roles, mode: 'kept' }, signal);
  const errors = checks.flatMap(({ error }) => error ?? []);
  const refusal = errors.find((error) => error instanceof LlmError && refusals.has(error.kind));
  if (refusal !== undefined) throw refusal;
}

export function firstError(checks: readonly ModelAccess[]): UserError | undefined {
  return checks.find(({ error }) => error !== undefined)?.error;
}

/** Outcomes of calls after which what was known about a model no longer holds. */
const refusals: ReadonlySet<string> = new Set([
  'auth',
  'billing',
  'permission',
  'model_unavailable',
] satisfies readonly LlmErrorKind[]);

/** Forgets all answers if a call was refused: `ktx status` then asks again. */
export function forgetModels(dir: string, outcome: string): void {
  if (refusals.has(outcome)) openCheckCache(dir, cacheName).clear();
}

function rolesByModel(
  config: LlmConfig,
  roles: readonly KtxModelRole[],
): readonly (readonly [string, readonly KtxModelRole[]])[] {
  return [...Map.groupBy(roles, (role) => modelIdForRole(config, role))];
}

/**
 * Asks the first model alone, because the account may fail for all of them; then the others, a few
 * at a time.
 */
async function askAll(
  checks: readonly ModelAccess[],
  ask: (check: ModelAccess) => Promise<ModelAccess>,
): Promise<readonly ModelAccess[]> {
  const results = new Map(checks.map((check) => [check.model, check]));
  const queue = checks.filter(({ state }) => state !== 'works');
  const askNext = async (): Promise<void> => {
    const check = queue.shift();
    if (check === undefined) return;
    const asked = await ask(check);
    results.set(check.model, asked);
    if (asked.error instanceof LlmError && accountKinds.includes(asked.error.kind))
      queue.length = 0;
  };
  const work = async (): Promise<void> => {
    while (queue.length > 0) await askNext();
  };
  await askNext();
  await Promise.all(Array.from({ length: modelsAtOnce }, work));
  return [...results.values()];
}

interface AskOptions extends Pick<AccessInput, 'config' | 'runtime'> {
  readonly signal: AbortSignal;
  readonly limit: AbortSignal;
}

async function askModel(
  check: ModelAccess,
  { config, runtime, signal, limit }: AskOptions,
): Promise<ModelAccess> {
  const { model, roles } = check;
  try {
    const { model: answeredAs } = await runtime.probe(AbortSignal.any([signal, limit]), roles[0]);
    return { model, roles, state: 'works', answeredAt: new Date(), answeredAs };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    const failure = limit.aborted
      ? new LlmError('timeout', `${model} did not answer within ${limitMs / 1000} s.`, {
          hint: slowProbeHint,
        })
      : error;
    return { model, roles, state: 'broken', error: namedError(failure, check, config) };
  }
}

/** The error with the roles that `ktx.yaml` binds to the model, unless that is only the default. */
function namedError(error: UserError, { model }: ModelAccess, { models }: LlmConfig): UserError {
  const roles = modelRoles.filter((role) => models[role] === model);
  if (!(error instanceof LlmError) || (roles.length === 1 && roles[0] === 'default')) return error;
  const { kind, message, hint, status, resetsAt, window } = error;
  const text = `${message.replace(/\.$/, '')} (${model} is llm.models.${roles.join(', ')}).`;
  return new LlmError(kind, text, { hint, status, resetsAt, window, cause: error });
}
