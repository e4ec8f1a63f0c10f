import { existsSync } from 'node:fs';
import { checkSchema } from '../../lib/schema-check.ts';
import { UserError } from '../../lib/error.ts';
import type { AccountReport, ProbeReport, ProgramReport } from '../../llm/port/backend.ts';
import type { AuthMode, BackendName } from '../../llm/backends.ts';
import { llmConfigSchema, type LlmConfig } from '../../llm/config.ts';
import { ignoredCachingFields } from '../../llm/ignored-settings.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { projectPaths } from '../../store/directories.ts';
import { readText } from '../../store/files.ts';
import { withProjectLock } from '../../store/lock.ts';
import { projectConfigSchema, type ProjectConfig } from '../open/config.ts';
import { editConfig, readConfig } from '../open/config-file.ts';
import type { ProjectTrust } from '../trust/trust.ts';
import { llmGrant } from '../trust/entry-grants.ts';
import { approveTyped } from '../trust/typed-approval.ts';

export interface NewLlm {
  readonly backend: BackendName;
  readonly models: LlmConfig['models'];
  /** The settings block of the backend; secrets are references. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The account that pays, for backends that take one. */
  readonly auth?: AuthMode | undefined;
}

export interface LlmProbeRequest {
  /** Where the project is, or will be. */
  readonly dir: string;
  readonly runId: string;
  readonly env: NodeJS.ProcessEnv;
  readonly llm: NewLlm;
  readonly warn: (message: string) => void;
}

/** A backend that answered, with the settings to write. */
export interface ProbedLlm extends NewLlm {
  /** Undefined for the backend `none`. */
  readonly probe: ProbeReport | undefined;
  readonly ignored: readonly string[];
}

/** Makes one minimal call with the backend as it would be configured. Throws if it cannot be used. Writes nothing. */
export async function probeLlm(
  { dir, runId, env, llm, warn }: LlmProbeRequest,
  signal: AbortSignal,
): Promise<ProbedLlm> {
  const project = existsSync(projectPaths(dir).config)
    ? await readConfig(dir)
    : projectConfigSchema.parse({});
  const present = project.llm;
  const { backend, models, settings, auth } = llm;
  const block = Object.keys(settings).length === 0 ? {} : { [backend]: settings };
  const wanted = { ...present, provider: { ...present.provider, backend, auth, ...block }, models };
  const { data: config, problems } = checkSchema(llmConfigSchema, wanted);
  if (config === undefined) throw invalidLlmConfig(problems);
  const { openLlm } = await import('../../llm/factory.ts');
  const { secrets: secret } = await approveTypedLlm({ dir, env, llm }, { ...project, llm: config });
  const quiet = { record: () => undefined, onPause: () => undefined, warn };
  const projectDir = existsSync(dir) ? dir : process.cwd();
  const runtime = await openLlm({ config, projectDir, env, run: runId, secret, ...quiet });
  try {
    return { ...llm, probe: await runtime?.probe(signal), ignored: ignoredCachingFields(config) };
  } finally {
    await runtime?.close();
  }
}

interface LlmToWrite {
  readonly dir: string;
  readonly env: HostEnvironment;
  readonly llm: NewLlm;
}

/**
 * Writes the backend that a person has chosen into `ktx.yaml`, keeps comments and other settings, and approves it. Returns the
 * files that changed.
 */
export async function writeLlm({ dir, env, llm }: LlmToWrite): Promise<readonly string[]> {
  const { backend, models, settings, auth } = llm;
  const before = await readText(projectPaths(dir).config);
  await withProjectLock(dir, () =>
    editConfig(dir, (document) => {
      document.setIn(['llm', 'provider', 'backend'], backend);
      if (auth === undefined) document.deleteIn(['llm', 'provider', 'auth']);
      else document.setIn(['llm', 'provider', 'auth'], auth);
      if (Object.keys(settings).length > 0)
        document.setIn(['llm', 'provider', backend], document.createNode(settings));
      // One role at a time, so that comments and the models of other roles stay.
      for (const [role, model] of Object.entries(models))
        document.setIn(['llm', 'models', role], model);
    }),
  );
  await (await approveTypedLlm({ dir, env, llm }, await readConfig(dir))).remember();
  return before === (await readText(projectPaths(dir).config)) ? [] : ['ktx.yaml'];
}

/** `config` is what `ktx.yaml` says once the typed settings are written. */
function approveTypedLlm({ dir, env, llm }: LlmToWrite, { llm: config, scan }: ProjectConfig) {
  const { backend, auth, settings } = llm;
  const block = Object.keys(settings).length === 0 ? {} : { [backend]: settings };
  const typed = { ...config, provider: { backend, auth, ...block } };
  return approveTyped({
    dir,
    env,
    grantOf: llmGrant.bind(undefined, { ...config, scan }),
    typedGrantOf: llmGrant.bind(undefined, { ...typed, scan }),
  });
}

function invalidLlmConfig(
  problems: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): UserError {
  const lines = problems.map(({ path, message }) => `llm.${path.join('.')}: ${message}`);
  return new UserError('config_invalid', lines.join('\n'), {
    hint: 'ktx setup --help lists what each backend needs',
    exitCode: 2,
  });
}

/** The state of the project's model backend. */
export interface LlmStatus {
  readonly backend: BackendName;
  /** By role, including roles that fall back to the default. */
  readonly models: LlmConfig['models'];
  /** `unverified`: configured, but not tried, because a call costs money. `unapproved`: nobody approved it on this machine. */
  readonly state: 'none' | 'ready' | 'unverified' | 'unapproved' | 'broken';
  /** Who pays, if the backend can tell. */
  readonly account?: string | undefined;
  readonly ignored: readonly string[];
  /** What a person has to know about the backend on this machine. */
  readonly notes: readonly string[];
  /** The program that runs on this machine, for backends that run one. */
  readonly program?: ProgramReport | undefined;
  /** Whether frequent values of columns may leave the machine. */
  readonly sendsSamples: boolean;
  readonly error?:
    | Pick<UserError, 'code' | 'message' | 'hint' | 'exitCode' | 'retryable'>
    | undefined;
}

interface LlmStatusInput {
  readonly config: { readonly llm: LlmConfig; readonly scan: { readonly send_samples: boolean } };
  readonly llm: () => Promise<LlmRuntime | undefined>;
  readonly trust: Pick<ProjectTrust, 'isLlmApproved'>;
}

/** Whether the backend is ready. `fast` makes no call that costs money. */
export async function readLlmStatus(
  { config, llm: runtime, trust }: LlmStatusInput,
  fast: boolean,
  signal: AbortSignal,
): Promise<LlmStatus> {
  const { llm, scan } = config;
  const { backend } = llm.provider;
  const settings = { backend, models: llm.models, sendsSamples: scan.send_samples };
  if (backend === 'none') return { ...settings, state: 'none', ignored: [], notes: [] };
  const ignored = ignoredCachingFields(llm);
  if (!(await trust.isLlmApproved()))
    return { ...settings, state: 'unapproved', ignored, notes: [] };
  let known: Pick<LlmStatus, 'account' | 'notes' | 'program'> = { notes: [] };
  try {
    const opened = await runtime();
    known = describeAccount(await opened?.account(signal));
    if (fast) return { ...settings, ...known, state: 'unverified', ignored };
    const { account } = (await opened?.probe(signal)) ?? {};
    known = { ...known, account: account?.source ?? known.account };
    return { ...settings, ...known, state: 'ready', ignored };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    const { code, message, hint, exitCode, retryable } = error;
    const failure = { code, message, hint, exitCode, retryable };
    return { ...settings, ...known, state: 'broken', ignored, error: failure };
  }
}

function describeAccount(
  report: AccountReport | undefined,
): Pick<LlmStatus, 'account' | 'notes' | 'program'> {
  return { account: report?.source, notes: report?.notes ?? [], program: report?.program };
}
