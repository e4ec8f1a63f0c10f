import { Option } from '@commander-js/extra-typings';
import {
  embeddingProviders,
  embeddingsConfigSchema,
} from '../../llm/ai-sdk/embedding-providers.ts';
import type { EmbeddingsConfig } from '../../llm/ai-sdk/embedding-providers.ts';
import { checkSchema } from '../../lib/schema-check.ts';
import { usageError } from '../terminal/failure.ts';
import {
  schemaFlags,
  settingsFromFlags,
  type FlagSettings,
  type SchemaFlag,
} from './schema-flags.ts';

const providerNames = Object.keys(embeddingProviders);

/**
 * `--embeddings-provider`, then each setting of a provider once: `--embeddings-model` and so on,
 * with the providers that have it where not all do.
 */
export function embeddingsFlags(): readonly SchemaFlag[] {
  const provider = new Option(
    '--embeddings-provider <name>',
    'provider of embeddings, apart from the LLM; tested before anything is written',
  ).choices(providerNames);
  const flags = embeddingsConfigSchema.options.flatMap((config) =>
    schemaFlags(config).map((flag) => ({ ...flag, of: config.shape.provider.value })),
  );
  const settings = [...Map.groupBy(flags, ({ key }) => key)].flatMap(([key, alike]) => {
    const [first] = alike;
    if (first === undefined || key === 'provider') return [];
    const { flags: words, description, parseArg } = first.option;
    const names = alike.map(({ of }) => of);
    const those = names.length === providerNames.length ? '' : ` (${names.join(', ')})`;
    const option = new Option(words.replace('--', '--embeddings-'), `${description}${those}`);
    return [{ key, option: parseArg === undefined ? option : option.argParser(parseArg) }];
  });
  return [{ key: 'provider', option: provider }, ...settings];
}

/** Reads and checks the flags; undefined if none was given. */
export function resolveEmbeddings(options: FlagSettings): EmbeddingsConfig | undefined {
  const flags = embeddingsFlags();
  const settings = settingsFromFlags(flags, options);
  if (Object.keys(settings).length === 0) return undefined;
  const provider = providerNames.find((name) => name === settings['provider']);
  if (provider === undefined)
    throw usageError(
      '--embeddings-provider is missing.',
      `--embeddings-provider takes one of ${providerNames.join(', ')}`,
    );
  const { data, problems } = checkSchema(embeddingsConfigSchema, settings);
  if (data !== undefined) return data;
  const lines = problems.map(({ path, message, rule }) => {
    const flag = flags.find(({ key }) => key === path[0])?.option.long;
    if (rule === 'unknown_key') return `${flag ?? ''} does not apply to ${provider}`;
    return flag === undefined ? message : `${flag}: ${message}`;
  });
  throw usageError(
    `Invalid flags for embeddings: ${lines.join('; ')}.`,
    'docs/embeddings.md lists what each provider needs',
  );
}
