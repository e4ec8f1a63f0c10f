import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { ProjectConfig } from '../../../project/open/config.ts';
import type { ProbedLlm } from '../../../project/setup/llm-setup.ts';
import type { WarehouseProbe } from '../../../project/setup/setup.ts';
import { drivers, type WarehouseConfig } from '../../../warehouse/config.ts';
import { defineCommand, type CommandContext, type Outcome } from '../../command.ts';
import {
  asksConnection,
  connectionFlags,
  connectionName,
  warehouseFrom,
} from '../../flags/connection-flags.ts';
import { withHint } from '../../terminal/failure.ts';
import { llmFlags, llmFrom } from '../../flags/llm-flags.ts';
import { askingAgain } from '../../terminal/prompt.ts';
import { saidBy, withFlags, type Settings } from '../../flags/schema-flags.ts';

export const setup = defineCommand({
  description:
    'Makes a project: connects to the warehouse first, then writes ktx.yaml and the local folder .ktx, and ' +
    'makes a git repository where there is none. With --llm-backend also chooses who answers model calls, or only that where the ' +
    'project stands. Nothing is written unless what was named answers; a second run keeps what stands and asks for the rest.',
  examples: [
    ...drivers.flatMap(({ examples }) =>
      examples.map(([flags, connectsTo]) => [`ktx setup ${flags}`, connectsTo] as const),
    ),
    [
      'ktx setup --llm-backend claude-code',
      'descriptions by your own local Claude Code session; a project that stands keeps the rest',
    ],
    ['ktx setup --llm-backend anthropic --llm-api-key env:ANTHROPIC_API_KEY', 'or by an API key'],
  ],
  define: (command) => {
    const named = command.option(
      '--name <name>',
      'name of the connection; the folder under semantic-layer/',
      'warehouse',
    );
    return withFlags(withFlags(named, connectionFlags()), llmFlags()).option(
      '--no-input',
      'ask nothing; what is missing is an error',
    );
  },
  async run({ options }, context) {
    const { cwd, env } = context.surroundings;
    const dir = resolve(cwd, context.projectDir ?? (env['KTX_PROJECT_DIR'] || '.'));
    const asking = options.input
      ? context
      : { ...context, screen: { ...context.screen, interactive: false } };
    const saysLlm = Object.keys(saidBy(llmFlags(), options)).length > 0;
    const saysConnection = Object.keys(saidBy(connectionFlags(), options)).length > 0;
    const present = Object.keys((await configIn(dir))?.connections ?? {});
    const isAnother = options.name !== 'warehouse' && !present.includes(options.name);
    // What the flags name is tried before anything is written; what is asked for comes after the warehouse.
    const named = saysLlm ? await triedLlm(dir, options, asking) : undefined;
    const isStanding = present.length > 0 && !saysConnection && !isAnother;
    const connected = isStanding
      ? saysLlm
        ? undefined
        : standing(dir, present)
      : await connectAsking({ dir, name: options.name, options }, asking);
    if (named !== undefined) return withLlm(connected, named, dir);
    if (!asking.screen.interactive || (await hasLlm(dir))) return connected;
    if (connected?.text !== undefined) context.say(connected.text);
    return chosenLlm(isStanding ? { data: {}, ...connected, next: undefined } : connected, dir, {
      options,
      context: asking,
    });
  },
});

/** A project keeps its connections: only what it lacks is asked for. */
function standing(dir: string, connections: readonly string[]): Outcome {
  return {
    data: { dir, connections, written: [] },
    text: `${dir}: the project stands, with ${formatCount(connections.length, 'connection')}: ${connections.join(', ')}`,
    next: [
      'ktx status  what is there',
      'ktx connection add --help  another warehouse',
      'ktx setup --help  choose or change the LLM',
    ],
  };
}

async function connectAsking(asked: Asked, context: CommandContext): Promise<Outcome> {
  const isAsked = asksConnection(asked.options, context);
  return isAsked ? askingAgain(context, () => connect(asked, context)) : connect(asked, context);
}

/** One who leaves the question has the project all the same. */
async function chosenLlm(
  connected: Outcome | undefined,
  dir: string,
  asked: { options: Settings; context: CommandContext },
) {
  const { options, context } = asked;
  const { text: _said, ...rest } = connected ?? { data: {} };
  try {
    const tried = await askingAgain(context, () => triedLlm(dir, options, context));
    return tried === undefined ? rest : await withLlm(rest, tried, dir);
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'interrupted')) throw error;
    const hint = 'ktx setup asks for an LLM again; everything else works without one: ktx ingest';
    return {
      ...rest,
      failure: new UserError('interrupted', 'No LLM was chosen. The project stands.', {
        hint,
        exitCode: 130,
      }),
    };
  }
}

async function hasLlm(dir: string): Promise<boolean> {
  return ((await configIn(dir))?.llm.provider.backend ?? 'none') !== 'none';
}

async function configIn(dir: string): Promise<ProjectConfig | undefined> {
  const { readConfig } = await import('../../../project/open/config-file.ts');
  return existsSync(join(dir, 'ktx.yaml')) ? readConfig(dir) : undefined;
}

async function triedLlm(
  dir: string,
  options: Settings,
  context: CommandContext,
): Promise<ProbedLlm | undefined> {
  const llm = await llmFrom(options, context, (await configIn(dir))?.llm.provider);
  if (llm === undefined) return undefined;
  const { probeLlm } = await import('../../../project/setup/llm-setup.ts');
  context.progress.update(`asking ${llm.backend}`);
  const { env } = context.surroundings;
  const trial = {
    dir,
    runId: context.runId,
    env,
    llm,
    warn: (message: string) => context.say(message),
  };
  return probeLlm(trial, context.signal).catch(inLlmFlags(llm));
}

/** What was tried is not in `ktx.yaml` yet: the hint names what was said. */
function inLlmFlags({ settings, models }: TriedLlmSettings): (error: unknown) => never {
  return (error) => {
    const { api_key: key, base_url: url } = settings;
    const place = typeof url === 'string' ? ` for ${url} (--llm-base-url)` : '';
    const hints: Readonly<Record<string, string | undefined>> = {
      llm_auth: typeof key === 'string' ? `check that ${key} holds a valid key${place}` : undefined,
      llm_model_unavailable: `${models.default ?? 'the model'} is not there for this account: name another with --llm-model`,
      llm_permission: `this account may not use ${models.default ?? 'the model'}: name another with --llm-model`,
    };
    const hint = error instanceof UserError ? hints[error.code] : undefined;
    throw error instanceof UserError && hint !== undefined ? withHint(error, hint) : error;
  };
}

type TriedLlmSettings = Pick<ProbedLlm, 'settings' | 'models'>;

const withModel = [
  'ktx ingest  describe what the database leaves undescribed',
  'ktx status  who answers, and who pays',
];

async function withLlm(
  connected: Outcome | undefined,
  tried: ProbedLlm,
  dir: string,
): Promise<Outcome> {
  const { writeLlm } = await import('../../../project/setup/llm-setup.ts');
  const { backend, models, probe, ignored } = tried;
  const written = await writeLlm(dir, tried);
  const account = probe?.account === undefined ? '' : ` (${probe.account.source})`;
  const answer =
    probe === undefined ? 'llm: none' : `llm: ${backend} answers with ${probe.model}${account}`;
  const change = written.length === 0 ? 'the LLM stood already' : `wrote ${written.join(', ')}`;
  return {
    ...connected,
    data: { ...connected?.data, llm: { backend, models, probe, ignored, written } },
    text: [
      ...(connected?.text === undefined ? [] : [connected.text]),
      answer,
      `${dir}: ${change}`,
    ].join('\n'),
    notes: [...(connected?.notes ?? []), ...ignored.map((line) => `ignored: ${line}`)],
    next:
      connected?.next ??
      (probe === undefined
        ? ['ktx ingest  works without one', 'ktx sl list  what there is']
        : withModel),
  };
}

interface Asked {
  readonly dir: string;
  readonly name: string;
  readonly options: Settings;
}

interface Warehouse {
  readonly dir: string;
  readonly name: string;
  readonly config: WarehouseConfig;
}

/** The warehouse that the flags say, tried and written. */
async function connect(
  { dir, options, ...asked }: Asked,
  context: CommandContext,
): Promise<Outcome> {
  const name = connectionName(asked.name);
  const config = await warehouseFrom(options, context);
  return connectWarehouse({ dir, name, config }, context);
}

/** Tried, and written where it answers. */
export async function connectWarehouse(
  { dir, name, config }: Warehouse,
  context: CommandContext,
): Promise<Outcome> {
  context.progress.update(`connecting to ${name}`);
  const { setUpProject } = await import('../../../project/setup/setup.ts');
  const report = await setUpProject({ dir, name, config }, context.signal).catch(inFlags);
  const { written, probe } = report;
  const change = written.length === 0 ? 'everything stood already' : `wrote ${written.join(', ')}`;
  return {
    data: report,
    text: `${describeProbe(name, probe)}\n${dir}: ${change}`,
    notes: warnings(probe),
    next: [
      `ktx ingest ${name}  find keys and joins, write the semantic layer`,
      `ktx scan ${name}  look first, write nothing`,
      'git add ktx.yaml  the configuration is yours to commit',
    ],
  };
}

/** There is no `ktx.yaml` to correct yet. */
function inFlags(error: unknown): never {
  if (!(error instanceof UserError && error.code === 'warehouse_not_found')) throw error;
  throw withHint(
    error,
    'check the path, database or address; a relative path starts at the folder of the project',
  );
}

export function describeProbe(name: string, { tables, schemas, ms }: WarehouseProbe): string {
  return `${name}: connected in ${ms} ms, ${formatCount(tables, 'table')} in ${schemas.join(', ') || 'no schema'}`;
}

/** What deserves a word although it works. */
export function warnings({ tables, privileges }: WarehouseProbe): readonly string[] {
  const empty = tables === 0 ? ['The database has no tables that this login can see.'] : [];
  if (privileges.readOnly) return empty;
  const found = privileges.findings.map((finding) => `  ${finding}`);
  const remedy = (privileges.remedy ?? []).map((statement) => `  ${statement}`);
  return [
    ...empty,
    'This login could write; ktx itself never does. A read-only login is safer:',
    ...found,
    ...remedy,
  ];
}
