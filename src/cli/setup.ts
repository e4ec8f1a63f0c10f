import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { counted } from '../lib/counted.ts';
import { UserError } from '../lib/error.ts';
import type { ProjectConfig } from '../project/config.ts';
import type { TriedLlm } from '../project/llm-setup.ts';
import type { Probe } from '../project/setup.ts';
import type { WarehouseConfig } from '../warehouse/config.ts';
import { defineCommand, type CommandContext, type Outcome } from './command.ts';
import { connectionFlags, connectionName, warehouseFrom } from './connection-flags.ts';
import { withHint } from './failure.ts';
import { llmFlags, llmFrom } from './llm-flags.ts';
import { saidBy, withFlags, type Settings } from './schema-flags.ts';

export const setup = defineCommand({
  description:
    'Makes a project: connects to the warehouse first, then writes ktx.yaml and the local folder .ktx, and ' +
    'makes a git repository where there is none. With --llm-backend also chooses who answers model calls, or only that where the ' +
    'project stands. Nothing is written unless what was named answers; a second run changes nothing.',
  examples: [
    ['ktx setup --driver duckdb --path shop.duckdb', 'a project in this folder on a DuckDB file'],
    ['ktx setup --driver duckdb --path ./exports', 'on a folder of Parquet, CSV or JSON files'],
    ['ktx setup --llm-backend claude-code', 'descriptions by your own local Claude Code session; a project that stands keeps the rest'],
    ['ktx setup --llm-backend anthropic --llm-api-key env:ANTHROPIC_API_KEY', 'or by an API key'],
    ['ktx setup --driver postgres --url env:WAREHOUSE_URL --schema analytics', 'on Postgres; the secret stays in the environment'],
  ],
  define: (command) => {
    const named = command.option('--name <name>', 'name of the connection; the folder under semantic-layer/', 'warehouse');
    return withFlags(withFlags(named, connectionFlags()), llmFlags()).option('--no-input', 'ask nothing; what is missing is an error');
  },
  async run({ options }, context) {
    const { cwd, env } = context.surroundings;
    const dir = resolve(cwd, context.projectDir ?? (env['KTX_PROJECT_DIR'] || '.'));
    const asking = options.input ? context : { ...context, screen: { ...context.screen, interactive: false } };
    const saysLlm = Object.keys(saidBy(llmFlags(), options)).length > 0;
    const saysConnection = Object.keys(saidBy(connectionFlags(), options)).length > 0;
    // What the flags name is tried before anything is written; what is asked for comes after the warehouse.
    const named = saysLlm ? await triedLlm(dir, options, asking) : undefined;
    const onlyLlm = saysLlm && !saysConnection && (await hasConnections(dir));
    const connected = onlyLlm ? undefined : await connect({ dir, name: options.name, options }, asking);
    const tried = named ?? (asking.screen.interactive && !(await hasLlm(dir)) ? await triedLlm(dir, options, asking) : undefined);
    return tried === undefined ? connected : withLlm(connected, tried, dir);
  },
});

async function hasConnections(dir: string): Promise<boolean> {
  return Object.keys((await configIn(dir))?.connections ?? {}).length > 0;
}

async function hasLlm(dir: string): Promise<boolean> {
  return ((await configIn(dir))?.llm.provider.backend ?? 'none') !== 'none';
}

async function configIn(dir: string): Promise<ProjectConfig | undefined> {
  const { readConfig } = await import('../project/config-file.ts');
  return existsSync(join(dir, 'ktx.yaml')) ? readConfig(dir) : undefined;
}

async function triedLlm(dir: string, options: Settings, context: CommandContext): Promise<TriedLlm | undefined> {
  const llm = await llmFrom(options, context);
  if (llm === undefined) return undefined;
  const { tryLlm } = await import('../project/llm-setup.ts');
  context.progress.update(`asking ${llm.backend}`);
  const { env } = context.surroundings;
  return tryLlm({ dir, runId: context.runId, env, llm, warn: (message) => context.say(message) }, context.signal);
}

async function withLlm(connected: Outcome | undefined, tried: TriedLlm, dir: string): Promise<Outcome> {
  const { writeLlm } = await import('../project/llm-setup.ts');
  const { backend, models, probe, ignored } = tried;
  const written = await writeLlm(dir, tried);
  const account = probe?.account === undefined ? '' : ` (${probe.account.source})`;
  const answer = probe === undefined ? 'llm: none' : `llm: ${backend} answers with ${probe.model}${account}`;
  const change = written.length === 0 ? 'the LLM stood already' : `wrote ${written.join(', ')}`;
  return {
    ...connected,
    data: { ...connected?.data, llm: { backend, models, probe, ignored, written } },
    text: [...(connected?.text === undefined ? [] : [connected.text]), answer, `${dir}: ${change}`].join('\n'),
    notes: [...(connected?.notes ?? []), ...ignored.map((line) => `ignored: ${line}`)],
    next: connected?.next ?? ['ktx ingest  describe what the database leaves undescribed', 'ktx status  who answers, and who pays'],
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
async function connect({ dir, options, ...asked }: Asked, context: CommandContext): Promise<Outcome> {
  const name = connectionName(asked.name);
  const config = await warehouseFrom(options, context);
  return connectWarehouse({ dir, name, config }, context);
}

/** Tried, and written where it answers. */
export async function connectWarehouse({ dir, name, config }: Warehouse, context: CommandContext): Promise<Outcome> {
  context.progress.update(`connecting to ${name}`);
  const { setUpProject } = await import('../project/setup.ts');
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
  throw withHint(error, 'check --path, --database or --url; a relative path starts at the folder of the project');
}

export function describeProbe(name: string, { tables, schemas, ms }: Probe): string {
  return `${name}: connected in ${ms} ms, ${counted(tables, 'table')} in ${schemas.join(', ') || 'no schema'}`;
}

/** What deserves a word although it works. */
export function warnings({ tables, privileges }: Probe): readonly string[] {
  const empty = tables === 0 ? ['The database has no tables that this login can see.'] : [];
  if (privileges.readOnly) return empty;
  const found = privileges.findings.map((finding) => `  ${finding}`);
  return [...empty, 'This login could write; ktx itself never does. A read-only login is safer:', ...found];
}
