import { existsSync } from 'node:fs';
import { checkSchema } from '../../lib/schema-check.ts';
import { UserError } from '../../lib/error.ts';
import type { ProbeReport } from '../../llm/port/backend.ts';
import type { AuthMode, BackendName } from '../../llm/backends.ts';
import { llmConfigSchema, type LlmConfig } from '../../llm/config.ts';
import { ignoredCachingFields } from '../../llm/ignored-settings.ts';
import type { AccessInput } from '../../llm/model-checks.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { projectPaths } from '../../store/directories.ts';
import { readText } from '../../store/files.ts';
import { withProjectLock } from '../../store/lock.ts';
import { projectConfigSchema, type ProjectConfig } from '../open/config.ts';
import { editConfig, readConfig } from '../open/config-file.ts';
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

/**
 * Makes one minimal call with each model, as it would be configured. Throws if one cannot be used.
 * Writes nothing.
 */
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
    const probe = runtime && (await probeModels({ config, runtime, dir: projectDir }, signal));
    return { ...llm, probe, ignored: ignoredCachingFields(config) };
  } finally {
    await runtime?.close();
  }
}

async function probeModels(input: AccessInput, signal: AbortSignal): Promise<ProbeReport> {
  const { checkModels, firstError } = await import('../../llm/model-checks.ts');
  const { account, checks } = await checkModels(input, { mode: 'fresh' }, signal);
  const error = firstError(checks);
  if (error !== undefined) throw error;
  const [first] = checks;
  return { model: first?.answeredAs ?? '', account };
}

interface LlmToWrite {
  readonly dir: string;
  readonly env: HostEnvironment;
  readonly llm: NewLlm;
}

/**
 * Writes the backend that a person has chosen into `ktx.yaml`, keeps comments and other settings,
 * and approves it. Returns the files that changed.
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
