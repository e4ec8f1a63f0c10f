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
import { defaultModel, presetModels, presetNames, type PresetName } from '../../llm/presets.ts';
import type { NewLlm } from '../../project/setup/llm-setup.ts';
import type { CommandContext } from '../command.ts';
import { askInPlaceOf } from '../terminal/prompt.ts';
import { saidBy, schemaFlags, type SchemaFlag, type Settings } from './schema-flags.ts';

const titleOf = (name: BackendName): string =>
  name === 'none' ? 'none, for now' : backendProfiles[name].title;

/** `--llm-backend`, `--llm-model`, `--llm-preset`, then each setting of a provider once, with the backends that have it. */
export function llmFlags(): readonly SchemaFlag[] {
  const backend = new Option(
    '--llm-backend <name>',
    'who answers model calls; probed before anything is written',
  ).choices(backends);
  const model = new Option('--llm-model <model>', 'model of every role that has none of its own');
  const models = new Option('--llm-preset <name>', 'models of all roles at once').choices(
    presetNames,
  );
  const auth = new Option('--llm-auth <mode>', 'who pays on claude-agent').choices(authModes);
  const own = { backend, model, preset: models, auth };
  return [...Object.entries(own).map(([key, option]) => ({ key, option })), ...settingFlags()];
}

function settingFlags(): readonly SchemaFlag[] {
  const owned = Object.entries(providers).flatMap(([name, { config }]) =>
    schemaFlags(config).map((flag) => ({ ...flag, name })),
  );
  return [...Map.groupBy(owned, ({ key }) => key)].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const names = [first, ...others].map(({ name }) => name).join(', ');
    const option = new Option(
      first.option.flags.replace('--', '--llm-'),
      `${first.option.description} (${names})`,
    );
    return [{ key, option }];
  });
}

/**
 * What the flags say of the model backend, and what a person answers where one is there; undefined where nothing is to be
 * changed. `standing` has the blocks of `ktx.yaml`.
 */
export async function llmFrom(
  options: Settings,
  context: CommandContext,
  standing: Partial<LlmConfig['provider']> = {},
): Promise<NewLlm | undefined> {
  const said = saidBy(llmFlags(), options);
  if (said['backend'] === undefined && Object.keys(said).length > 0)
    throw missing('--llm-backend', `one of ${backends.join(', ')}`);
  if (said['backend'] === undefined && !context.screen.interactive) return undefined;
  const backend = backends.find((name) => name === said['backend']) ?? (await askBackend(context));
  if (backend === 'none') return { backend, models: {}, settings: {} };
  const models = await modelsFrom(backend, said, context);
  const settings = await settingsFrom(backend, said, context);
  if (isApiProvider(backend) && standing[backend] === undefined)
    refuseIncomplete(backend, settings);
  return { backend, models, settings, auth: await authFrom(backend, said, context) };
}

async function authFrom(
  backend: BackendName,
  said: Settings,
  context: CommandContext,
): Promise<NewLlm['auth']> {
  if (!takesAuthMode(backend) || said['auth'] !== undefined || !context.screen.interactive) {
    return authModes.find((mode) => mode === said['auth']);
  }
  const { signal } = context;
  const options = authModes.map((value) => ({ value, label: value }));
  const chosen = await askInPlaceOf('--llm-auth', context, ({ select }) =>
    select({ message: 'Who pays?', options, initialValue: 'api_key', signal }),
  );
  return authModes.find((mode) => mode === chosen);
}

async function modelsFrom(
  backend: BackendName,
  said: Settings,
  context: CommandContext,
): Promise<NewLlm['models']> {
  const isAsking =
    context.screen.interactive && said['model'] === undefined && said['preset'] === undefined;
  const chosen =
    presetNames.find((name) => name === said['preset']) ??
    (isAsking ? await askPreset(backend, context) : undefined);
  const base = chosen && presetModels(backend, chosen);
  if (chosen !== undefined && base === undefined)
    throw missing('--llm-model', `${backend} has no presets`);
  const model =
    typeof said['model'] === 'string' ? said['model'] : (base?.default ?? defaultModel(backend));
  if (model !== undefined) return { ...base, default: model };
  if (!context.screen.interactive)
    throw missing(
      '--llm-model',
      `--llm-model <id>: a model that your account at ${titleOf(backend)} has`,
    );
  return {
    default: await askInPlaceOf('--llm-model', context, ({ text }) =>
      text({
        message: `Model id at ${titleOf(backend)}`,
        signal: context.signal,
        validate: needed,
      }),
    ),
  };
}

async function settingsFrom(
  backend: BackendName,
  said: Settings,
  context: CommandContext,
): Promise<NewLlm['settings']> {
  if (!isApiProvider(backend)) {
    const foreign = settingFlags().find(({ key }) => said[key] !== undefined);
    if (foreign === undefined) return {};
    throw new UserError('usage', `${foreign.option.long ?? ''} is no setting of ${backend}.`, {
      exitCode: 2,
      hint: 'leave it out',
    });
  }
  const { backend: _backend, model: _model, preset: _preset, auth: _auth, ...settings } = said;
  if (Object.keys(settings).length > 0 || !context.screen.interactive) return settings;
  for (const { key, option } of schemaFlags(providers[backend].config).filter(
    ({ key: name }) => name !== 'base_url',
  )) {
    const initialValue = key === 'api_key' ? `env:${backend.toUpperCase()}_API_KEY` : undefined;
    const validate = (value?: string) => {
      const { problems } = checkSchema(providers[backend].config, { ...settings, [key]: value });
      return value ? problems?.find(({ path }) => path[0] === key)?.message : 'something is needed';
    };
    settings[key] = await askInPlaceOf(
      (option.long ?? '').replace('--', '--llm-'),
      context,
      ({ text }) =>
        text({ message: option.description, initialValue, signal: context.signal, validate }),
    );
  }
  return settings;
}

/** Names the flag that is missing; what a flag says wrongly is found when it is tried. */
function refuseIncomplete(backend: ProviderName, settings: NewLlm['settings']): void {
  const { config } = providers[backend];
  const flags = schemaFlags(config);
  const { problems = [] } = checkSchema(config, settings);
  const key = problems
    .map(({ path }) => path[0])
    .find((name) => settings[String(name)] === undefined);
  const absent =
    flags.find((flag) => flag.key === key) ??
    (Object.keys(settings).length === 0 ? flags[0] : undefined);
  if (absent === undefined || problems.some(({ path }) => path[0] !== key)) return;
  const flag = (absent.option.long ?? '').replace('--', '--llm-');
  const value =
    absent.key === 'api_key' ? `env:${backend.toUpperCase()}_API_KEY` : `<${absent.key}>`;
  throw missing(flag, `${flag} ${value}: ${absent.option.description}`);
}

const needed = (value?: string): string | undefined => (value ? undefined : 'something is needed');

interface Choice {
  readonly value: string;
  readonly label: string;
}

async function askBackend(context: CommandContext): Promise<BackendName> {
  const choices: readonly Choice[] = backends.map((value) => ({ value, label: titleOf(value) }));
  const message = 'Which LLM may ktx use?';
  const { signal } = context;
  const said = await askInPlaceOf('--llm-backend', context, ({ select }) =>
    select({ message, options: [...choices], initialValue: 'none', signal }),
  );
  return backends.find((name) => name === said) ?? 'none';
}

async function askPreset(
  backend: BackendName,
  context: CommandContext,
): Promise<PresetName | undefined> {
  if (presetModels(backend, 'balanced') === undefined) return undefined;
  const { signal } = context;
  const choices: readonly Choice[] = presetNames.map((value) => ({
    value,
    label: `${value}: ${inWords(presetModels(backend, value) ?? {})}`,
  }));
  const said = await askInPlaceOf('--llm-preset', context, ({ select }) =>
    select({ message: 'Which models?', options: [...choices], initialValue: 'balanced', signal }),
  );
  return presetNames.find((name) => name === said);
}

/** `sonnet; haiku for triage, repair` */
function inWords({ default: model = '', ...roles }: NewLlm['models']): string {
  const own = Map.groupBy(Object.entries(roles), ([, name]) => name);
  return [
    model,
    ...[...own].map(([name, uses]) => `${name} for ${uses.map(([role]) => role).join(', ')}`),
  ].join('; ');
}

function missing(flag: string, hint: string): UserError {
  return new UserError('flag_missing', `${flag} is missing.`, { hint, exitCode: 2 });
}
