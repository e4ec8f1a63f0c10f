import { Option } from '@commander-js/extra-typings';
import { UserError } from '../lib/error.ts';
import { providers, type ProviderName } from '../llm/ai-sdk/providers.ts';
import { backends, type BackendName } from '../llm/config.ts';
import { defaultModel, preset, presetNames, type PresetName } from '../llm/presets.ts';
import type { NewLlm } from '../project/llm-setup.ts';
import type { CommandContext } from './command.ts';
import { answer } from './prompt.ts';
import { saidBy, schemaFlags, type SchemaFlag, type Settings } from './schema-flags.ts';

const titles: Readonly<Record<Exclude<BackendName, ProviderName>, string>> = {
  none: 'none, for now',
  'claude-code': 'your own local Claude Code session',
  'claude-agent': 'the Claude Agent SDK with a key of its own (comes with chat)',
};

const titleOf = (name: BackendName): string => (isProvider(name) ? providers[name].title : titles[name]);
const isProvider = (name: BackendName): name is ProviderName => Object.hasOwn(providers, name);

/** `--llm-backend`, `--llm-model`, `--llm-preset`, then each setting of a provider once, with the backends that have it. */
export function llmFlags(): readonly SchemaFlag[] {
  const backend = new Option('--llm-backend <name>', 'who answers model calls; probed before anything is written').choices(backends);
  const model = new Option('--llm-model <model>', 'model of every role that has none of its own');
  const models = new Option('--llm-preset <name>', 'models of all roles at once').choices(presetNames);
  return [{ key: 'backend', option: backend }, { key: 'model', option: model }, { key: 'preset', option: models }, ...settingFlags()];
}

function settingFlags(): readonly SchemaFlag[] {
  const owned = Object.entries(providers).flatMap(([name, { config }]) => schemaFlags(config).map((flag) => ({ ...flag, name })));
  return [...Map.groupBy(owned, ({ key }) => key)].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const names = [first, ...others].map(({ name }) => name).join(', ');
    const option = new Option(first.option.flags.replace('--', '--llm-'), `${first.option.description} (${names})`);
    return [{ key, option }];
  });
}

/** What the flags say of the model backend, and what a person answers where one is there; undefined where nothing is to be changed. */
export async function llmFrom(options: Settings, context: CommandContext): Promise<NewLlm | undefined> {
  const said = saidBy(llmFlags(), options);
  if (said['backend'] === undefined && Object.keys(said).length > 0) throw missing('--llm-backend', `one of ${backends.join(', ')}`);
  if (said['backend'] === undefined && !context.screen.interactive) return undefined;
  const backend = backends.find((name) => name === said['backend']) ?? (await askBackend(context));
  if (backend === 'none') return { backend, models: {}, settings: {} };
  return { backend, models: await modelsFrom(backend, said, context), settings: await settingsFrom(backend, said, context) };
}

async function modelsFrom(backend: BackendName, said: Settings, context: CommandContext): Promise<NewLlm['models']> {
  const isAsking = context.screen.interactive && said['model'] === undefined && said['preset'] === undefined;
  const chosen = presetNames.find((name) => name === said['preset']) ?? (isAsking ? await askPreset(backend, context) : undefined);
  const base = chosen && preset(backend, chosen);
  if (chosen !== undefined && base === undefined) throw missing('--llm-model', `${backend} has no presets`);
  const model = typeof said['model'] === 'string' ? said['model'] : (base?.default ?? defaultModel(backend));
  if (model !== undefined) return { ...base, default: model };
  if (!context.screen.interactive) throw missing('--llm-model', `${backend} has no model that would be obvious`);
  return {
    default: await answer(({ text }) => text({ message: `Model id at ${titleOf(backend)}`, signal: context.signal, validate: needed })),
  };
}

async function settingsFrom(backend: BackendName, said: Settings, context: CommandContext): Promise<NewLlm['settings']> {
  if (!isProvider(backend)) {
    const foreign = settingFlags().find(({ key }) => said[key] !== undefined);
    if (foreign === undefined) return {};
    throw new UserError('usage', `${foreign.option.long ?? ''} is no setting of ${backend}.`, { exitCode: 2, hint: 'leave it out' });
  }
  const { backend: _backend, model: _model, preset: _preset, ...settings } = said;
  if (Object.keys(settings).length > 0 || !context.screen.interactive) return settings;
  for (const { key, option } of schemaFlags(providers[backend].config).filter(({ key: name }) => name !== 'base_url')) {
    const initialValue = key === 'api_key' ? `env:${backend.toUpperCase()}_API_KEY` : undefined;
    settings[key] = await answer(({ text }) =>
      text({ message: option.description, initialValue, signal: context.signal, validate: needed }),
    );
  }
  return settings;
}

const needed = (value?: string): string | undefined => (value ? undefined : 'something is needed');

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

async function askBackend({ signal }: CommandContext): Promise<BackendName> {
  const offered = backends.filter((name) => name !== 'claude-agent');
  const choices: readonly Choice[] = offered.map((value) => ({ value, label: titleOf(value) }));
  const message = 'Which LLM may ktx use?';
  const said = await answer(({ select }) => select({ message, options: [...choices], initialValue: 'none', signal }));
  return backends.find((name) => name === said) ?? 'none';
}

async function askPreset(backend: BackendName, { signal }: CommandContext): Promise<PresetName | undefined> {
  if (preset(backend, 'balanced') === undefined) return undefined;
  const hint = (name: PresetName) => Object.values(preset(backend, name) ?? {}).join(', ');
  const choices: readonly Choice[] = presetNames.map((value) => ({ value, label: value, hint: hint(value) }));
  const said = await answer(({ select }) => select({ message: 'Which models?', options: [...choices], initialValue: 'balanced', signal }));
  return presetNames.find((name) => name === said);
}

function missing(flag: string, hint: string): UserError {
  return new UserError('flag_missing', `${flag} is missing.`, { hint, exitCode: 2 });
}
