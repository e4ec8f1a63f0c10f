import { Option } from '@commander-js/extra-typings';
import { UserError } from '../../lib/error.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import { providers, type ProviderName } from '../../llm/ai-sdk/providers.ts';
import {
  authModes,
  backendProfiles,
  backends,
  isApiProvider,
  takesAuthMode,
  type BackendName,
} from '../../llm/backends.ts';
import type { LlmConfig } from '../../llm/config.ts';
import { defaultModel, findPresetModels, presetNames, type PresetName } from '../../llm/presets.ts';
import type { NewLlm } from '../../project/setup/llm-setup.ts';
import type { CommandContext } from '../command.ts';
import { usageError } from '../terminal/failure.ts';
import { promptForFlag, requireAnswer, wrapQuestion } from '../terminal/prompt.ts';
import {
  schemaFlags,
  settingsFromFlags,
  type FlagSettings,
  type SchemaFlag,
} from './schema-flags.ts';

const titleOf = (name: BackendName): string =>
  name === 'none' ? 'none, for now' : backendProfiles[name].title;
/** The flag of `ktx setup` for a setting of a provider: `--llm-api-key` for `--api-key`. */
const llmFlagName = (option: Option): string => (option.long ?? '').replace('--', '--llm-');

/**
 * `--llm-backend`, `--llm-model`, `--llm-preset`, `--llm-auth`, then each provider setting once,
 * with the backends that have it.
 */
export function llmFlags(): readonly SchemaFlag[] {
  const backend = new Option(
    '--llm-backend <name>',
    'backend for model calls; tested before anything is written',
  ).choices(backends);
  const model = new Option('--llm-model <model>', 'model for every role without its own');
  const presets = new Option('--llm-preset <name>', 'set the models of all roles').choices(
    presetNames,
  );
  const auth = new Option('--llm-auth <mode>', 'who pays for claude-agent').choices(authModes);
  const ownFlags = { backend, model, preset: presets, auth };
  return [
    ...Object.entries(ownFlags).map(([key, option]) => ({ key, option })),
    ...providerFlags(),
  ];
}

function providerFlags(): readonly SchemaFlag[] {
  const flagsOfProviders = Object.entries(providers).flatMap(([provider, { config }]) =>
    schemaFlags(config).map((flag) => ({ ...flag, provider })),
  );
  return [...Map.groupBy(flagsOfProviders, ({ key }) => key)].flatMap(([key, flags]) => {
    const [first] = flags;
    if (first === undefined) return [];
    const names = flags.map(({ provider }) => provider).join(', ');
    const option = new Option(
      first.option.flags.replace('--', '--llm-'),
      `${first.option.description} (${names})`,
    );
    return [{ key, option }];
  });
}

/**
 * Reads the flags of the model backend and prompts for the rest if a person is there. Returns
 * undefined if nothing is to be changed. `existing` has the provider settings that `ktx.yaml`
 * already has.
 */
export async function resolveLlm(
  options: FlagSettings,
  context: CommandContext,
  existing: Partial<LlmConfig['provider']> = {},
): Promise<NewLlm | undefined> {
  const flags = settingsFromFlags(llmFlags(), options);
  if (flags['backend'] === undefined && Object.keys(flags).length > 0)
    throw missingFlagError('--llm-backend', `one of ${backends.join(', ')}`);
  if (flags['backend'] === undefined && !context.screen.interactive) return undefined;
  const backend =
    backends.find((name) => name === flags['backend']) ?? (await promptForBackend(context));
  if (backend === 'none') return { backend, models: {}, settings: {} };
  const models = await resolveModels(backend, flags, context);
  const settings = await resolveSettings(backend, flags, context);
  if (isApiProvider(backend) && existing[backend] === undefined)
    requireProviderSettings(backend, settings);
  return { backend, models, settings, auth: await resolveAuth(backend, flags, context) };
}

async function resolveAuth(
  backend: BackendName,
  flags: FlagSettings,
  context: CommandContext,
): Promise<NewLlm['auth']> {
  if (!takesAuthMode(backend) || flags['auth'] !== undefined || !context.screen.interactive) {
    return authModes.find((mode) => mode === flags['auth']);
  }
  const { signal } = context;
  const options = authModes.map((value) => ({ value, label: value }));
  const answer = await promptForFlag('--llm-auth', context, ({ select }) =>
    select({ message: 'Who pays?', options, initialValue: 'api_key', signal }),
  );
  return authModes.find((mode) => mode === answer);
}

async function resolveModels(
  backend: BackendName,
  flags: FlagSettings,
  context: CommandContext,
): Promise<NewLlm['models']> {
  const needsPrompt =
    context.screen.interactive && flags['model'] === undefined && flags['preset'] === undefined;
  const presetName =
    presetNames.find((name) => name === flags['preset']) ??
    (needsPrompt ? await promptForPreset(backend, context) : undefined);
  const chosen = presetName && findPresetModels(backend, presetName);
  if (presetName !== undefined && chosen === undefined)
    throw missingFlagError('--llm-model', `${backend} has no presets`);
  const model =
    typeof flags['model'] === 'string'
      ? flags['model']
      : (chosen?.default ?? defaultModel(backend));
  if (model !== undefined) return { ...chosen, default: model };
  const title = titleOf(backend);
  if (!context.screen.interactive)
    throw missingFlagError(
      '--llm-model',
      `--llm-model <id>: a model that your ${title} account can use`,
    );
  const { signal } = context;
  const answer = await promptForFlag('--llm-model', context, ({ text }) =>
    text({ message: `Model id at ${title}`, signal, validate: requireAnswer }),
  );
  return { default: answer };
}

async function resolveSettings(
  backend: BackendName,
  flags: FlagSettings,
  context: CommandContext,
): Promise<NewLlm['settings']> {
  if (!isApiProvider(backend)) {
    const foreign = providerFlags().find(({ key }) => flags[key] !== undefined);
    if (foreign === undefined) return {};
    throw usageError(`${foreign.option.long ?? ''} does not apply to ${backend}.`, 'leave it out');
  }
  const { backend: _backend, model: _model, preset: _preset, auth: _auth, ...settings } = flags;
  if (Object.keys(settings).length > 0 || !context.screen.interactive) return settings;
  const { config } = providers[backend];
  const { signal } = context;
  for (const { key, option } of schemaFlags(config).filter((flag) => flag.key !== 'base_url')) {
    const initialValue = key === 'api_key' ? apiKeyReference(backend) : undefined;
    const validate = (value?: string) => {
      const { problems } = checkSchema(config, { ...settings, [key]: value });
      return requireAnswer(value) ?? problems?.find(({ path }) => path[0] === key)?.message;
    };
    settings[key] = await promptForFlag(llmFlagName(option), context, ({ text }) =>
      text({
        message: wrapQuestion(option.description, context.screen),
        initialValue,
        signal,
        validate,
      }),
    );
  }
  return settings;
}

const apiKeyReference = (backend: ProviderName): string => `env:${backend.toUpperCase()}_API_KEY`;

/** Throws if a flag is missing. A wrong value is found later, when the backend is tested. */
function requireProviderSettings(backend: ProviderName, settings: NewLlm['settings']): void {
  const { config } = providers[backend];
  const flags = schemaFlags(config);
  const { problems = [] } = checkSchema(config, settings);
  const missingKey = problems
    .map(({ path }) => path[0])
    .find((name) => settings[String(name)] === undefined);
  const missingFlag =
    flags.find(({ key }) => key === missingKey) ??
    (Object.keys(settings).length === 0 ? flags[0] : undefined);
  if (missingFlag === undefined || problems.some(({ path }) => path[0] !== missingKey)) return;
  const { key, option } = missingFlag;
  const name = llmFlagName(option);
  const value = key === 'api_key' ? apiKeyReference(backend) : `<${key}>`;
  throw missingFlagError(name, `${name} ${value}: ${option.description}`);
}

interface SelectOption {
  readonly value: string;
  readonly label: string;
}

async function promptForBackend(context: CommandContext): Promise<BackendName> {
  const options: SelectOption[] = backends.map((value) => ({ value, label: titleOf(value) }));
  const { signal } = context;
  const answer = await promptForFlag('--llm-backend', context, ({ select }) =>
    select({ message: 'Which LLM may ktx use?', options, initialValue: 'none', signal }),
  );
  return backends.find((name) => name === answer) ?? 'none';
}

async function promptForPreset(
  backend: BackendName,
  context: CommandContext,
): Promise<PresetName | undefined> {
  if (findPresetModels(backend, 'balanced') === undefined) return undefined;
  const { signal } = context;
  const options: SelectOption[] = presetNames.map((value) => ({
    value,
    label: `${value}: ${describeModels(findPresetModels(backend, value) ?? {})}`,
  }));
  const answer = await promptForFlag('--llm-preset', context, ({ select }) =>
    select({ message: 'Which models?', options, initialValue: 'balanced', signal }),
  );
  return presetNames.find((name) => name === answer);
}

/** `sonnet; haiku for triage, repair` */
function describeModels({ default: model = '', ...roles }: NewLlm['models']): string {
  const byModel = Map.groupBy(Object.entries(roles), ([, name]) => name);
  const others = [...byModel].map(
    ([name, uses]) => `${name} for ${uses.map(([role]) => role).join(', ')}`,
  );
  return [model, ...others].join('; ');
}

function missingFlagError(flag: string, hint: string): UserError {
  return new UserError('flag_missing', `${flag} is missing.`, { hint, exitCode: 2 });
}
