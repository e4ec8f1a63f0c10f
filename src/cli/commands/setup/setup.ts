import { resolve } from 'node:path';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { suggestedBackend } from '../../../llm/backends.ts';
import type { FoundProfile } from '../../../project/setup/dbt-profile.ts';
import { drivers } from '../../../warehouse/config.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { askForSighting } from '../../flags/ask-for-sighting.ts';
import {
  connectionFlags,
  needsConnectionPrompt,
  parseConnectionName,
  resolveWarehouse,
} from '../../flags/connection-flags.ts';
import { addDbtProfileFlags, profileNotes, withDbtProfile } from '../../flags/dbt-profile-flags.ts';
import { embeddingsFlags } from '../../flags/embeddings-flags.ts';
import { firstAnswerFlags, readFirstAnswerFlags } from '../../flags/first-answer-flags.ts';
import { llmFlags } from '../../flags/llm-flags.ts';
import { keepPasswordFlag, type PasswordPlace } from '../../flags/password-flag.ts';
import {
  addFlags,
  settingsFromFlags,
  type FlagSettings,
  type SchemaFlag,
} from '../../flags/schema-flags.ts';
import { retryPrompts } from '../../terminal/prompt.ts';
import { connectWarehouse } from './connect-warehouse.ts';
import { stepsForSources } from './steps-for-sources.ts';
import { embeddingsResult, resolveAndProbeEmbeddings, saveEmbeddings } from './setup-embeddings.ts';
import { promptForLlm, readExistingConfig, resolveAndProbeLlm, saveLlm } from './setup-llm.ts';

const defaultName = 'warehouse';

export const setupCommand = defineCommand({
  description:
    'Creates a project: connects to a warehouse, then writes ktx.yaml and the local folder .ktx, and creates a git repository if there ' +
    'is none. --llm-backend also configures the LLM, and --embeddings-provider embeddings; in an existing project they change only ' +
    'that. Nothing is written unless the connections work. Run it again to add what is missing; it keeps what is there.',
  examples: [
    ...drivers.flatMap(({ examples }) =>
      examples.map(([flags, connectsTo]) => [`ktx setup ${flags}`, connectsTo] as const),
    ),
    [
      `ktx setup --llm-backend ${suggestedBackend}`,
      'uses your own local Claude Code session; keeps the rest of an existing project',
    ],
    ['ktx setup --from-dbt ./dbt', 'the warehouse of a dbt project, and the project itself'],
    ['ktx setup --llm-backend anthropic --llm-api-key env:ANTHROPIC_API_KEY', 'uses an API key'],
    [
      'ktx setup --embeddings-provider openai --embeddings-model text-embedding-3-small --embeddings-api-key env:OPENAI_API_KEY',
      'compares names and texts by their meaning',
    ],
  ],
  define: (command) => {
    const named = command.option(
      '--name <name>',
      'name of the connection, and of its folder in semantic-layer/',
      defaultName,
    );
    const flags = [...connectionFlags(), ...llmFlags(), ...embeddingsFlags()];
    for (const option of firstAnswerFlags()) named.addOption(option);
    return addDbtProfileFlags(addFlags(named, flags))
      .addOption(keepPasswordFlag())
      .option('--no-input', 'never prompt; fail if something is missing');
  },
  async run({ options: typed }, runnerContext) {
    const context = typed.input ? runnerContext : withoutPrompts(runnerContext);
    const dir = projectFolder(context);
    const flags = readFirstAnswerFlags(typed);
    const { goToFirstAnswer, refuseJson } = await import('./first-answer.ts');
    refuseJson(flags, context);
    const done = await setUp(await withSighting(typed, dir, context), dir, context);
    // The name of the flag if there is none in the file yet.
    const known = Object.keys((await readExistingConfig(dir))?.connections ?? {});
    const connection = known.includes(typed.name) ? typed.name : known[0];
    const setsModel = hasAnyFlag([...llmFlags(), ...embeddingsFlags()], typed);
    const isOnlyModel = setsModel && !namesWarehouse(typed);
    if (connection === undefined || isOnlyModel) return done;
    const sources = await stepsForSources(dir);
    const result = { ...done, next: [...(done.next ?? []), ...sources] };
    return goToFirstAnswer(result, { dir, connection, flags, context });
  },
});

type SetupFlags = FlagSettings & {
  readonly name: string;
  readonly keepPassword?: PasswordPlace | undefined;
};

/** What the folder has comes first: a newcomer does not know which flags it takes. */
async function withSighting<Typed extends SetupFlags>(
  typed: Typed,
  dir: string,
  context: CommandContext,
): Promise<Typed> {
  const isOpen =
    !namesWarehouse(typed) && !hasAnyFlag([...llmFlags(), ...embeddingsFlags()], typed);
  if (!isOpen || (await readExistingConfig(dir)) !== undefined) return typed;
  return { ...typed, ...(await askForSighting(dir, context)) };
}

async function setUp(
  typed: SetupFlags,
  dir: string,
  context: CommandContext,
): Promise<CommandResult> {
  const place = { dir, connection: typed.name };
  const { keepPassword } = typed;
  const { options: given, profile } = await withDbtProfile(typed, place, context);
  const options = { ...given, name: typed.name };
  const existing = Object.keys((await readExistingConfig(dir))?.connections ?? {});
  const hasLlmFlags = hasAnyFlag(llmFlags(), options);
  // A backend that the flags name is tested before anything is written. Prompts for one come
  // after the warehouse.
  const embeddings = await resolveAndProbeEmbeddings(dir, options, context);
  const llm = hasLlmFlags ? await resolveAndProbeLlm(dir, options, context) : undefined;
  const isNewConnection = namesNewConnection(existing, options);
  const connected = isNewConnection
    ? await connect({ dir, name: options.name, options, profile, keepPassword }, context)
    : describeExisting(dir, existing);
  const { host, signal } = context;
  const { env } = host;
  const done = isNewConnection ? connected : undefined;
  const written = await saveEmbeddings({ dir, env, embeddings });
  if (llm !== undefined) return saveLlm(done, { dir, env, llm, signal });
  if (written !== undefined) return embeddingsResult(done, { dir, env, written }, signal);
  if (!context.screen.interactive || (await hasLlm(dir))) return connected;
  if (connected.text !== undefined) context.printNote(connected.text);
  const withoutNext = isNewConnection ? connected : { ...connected, next: undefined };
  return promptForLlm({ dir, options, connected: withoutNext }, context);
}

function projectFolder({ host: { cwd, env }, projectDir }: CommandContext): string {
  return resolve(cwd, projectDir ?? (env['KTX_PROJECT_DIR'] || '.'));
}

function namesNewConnection(
  existing: readonly string[],
  options: FlagSettings & { readonly name: string },
): boolean {
  if (existing.length === 0 || hasAnyFlag(connectionFlags(), options)) return true;
  return options.name !== defaultName && !existing.includes(options.name);
}

function namesWarehouse(options: FlagSettings): boolean {
  const { fromDbt } = options;
  return fromDbt !== undefined || hasAnyFlag(connectionFlags(), options);
}

function hasAnyFlag(flags: readonly SchemaFlag[], options: FlagSettings): boolean {
  return Object.keys(settingsFromFlags(flags, options)).length > 0;
}

function withoutPrompts(context: CommandContext): CommandContext {
  return { ...context, screen: { ...context.screen, interactive: false } };
}

function describeExisting(dir: string, connections: readonly string[]): CommandResult {
  const names = `${formatCount(connections.length, 'connection')}: ${connections.join(', ')}`;
  return {
    data: { dir, connections, written: [] },
    text: `${dir}: this project is already set up, with ${names}`,
    next: [
      ['ktx status', 'shows its state'],
      ['ktx connection add --help', 'adds another connection'],
      ['ktx setup --help', 'lists the flags that change the LLM'],
    ],
  };
}

interface NewConnectionFlags {
  readonly dir: string;
  readonly name: string;
  readonly options: FlagSettings;
  /** With it, the dbt project becomes a source. */
  readonly profile?: FoundProfile | undefined;
  readonly keepPassword?: PasswordPlace | undefined;
}

async function connect(flags: NewConnectionFlags, context: CommandContext): Promise<CommandResult> {
  const connected = await connectTyped(flags, context);
  const { dir, name, profile } = flags;
  if (profile === undefined) return connected;
  context.progress.update('reading the dbt project');
  const { addDbtProject } = await import('../../../project/setup/add-source.ts');
  const { path, schema } = profile;
  const source = { dir, path, schema, warehouse: name, env: context.host.env };
  const added = await addDbtProject(source, context.signal);
  return {
    ...connected,
    text: `${connected.text ?? ''}\n${added.name}: the dbt project in ${path}`.trim(),
    notes: [...profileNotes(profile), ...(connected.notes ?? [])],
    next: [
      ['ktx ingest', 'finds keys and joins, reads the dbt project, writes the semantic layer'],
      ['git add ktx.yaml', 'ktx does not commit the configuration'],
    ],
  };
}

async function connectTyped(
  { dir, name, options, keepPassword, profile }: NewConnectionFlags,
  context: CommandContext,
): Promise<CommandResult> {
  // After a wrong path only the path is asked again.
  let knownDriver: string | undefined;
  const attempt = async () => {
    const connectionName = parseConnectionName(name);
    const answers = knownDriver === undefined ? options : { ...options, driver: knownDriver };
    const config = await resolveWarehouse(answers, context);
    knownDriver = config.driver;
    const place = { dir, name: connectionName, config, keepPassword, profile };
    return connectWarehouse(place, context).catch((error) => {
      if (!isNotFound(error)) knownDriver = undefined;
      throw error;
    });
  };
  return needsConnectionPrompt(options, context) ? retryPrompts(context, attempt) : attempt();
}

function isNotFound(error: unknown): boolean {
  return error instanceof UserError && error.code === 'warehouse_not_found';
}

async function hasLlm(dir: string): Promise<boolean> {
  return ((await readExistingConfig(dir))?.llm.provider.backend ?? 'none') !== 'none';
}
