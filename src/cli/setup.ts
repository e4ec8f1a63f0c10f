import { resolve } from 'node:path';
import { counted } from '../lib/counted.ts';
import { UserError } from '../lib/error.ts';
import type { Probe } from '../project/setup.ts';
import { defineCommand, type CommandContext, type Outcome } from './command.ts';
import { connectionFlags, connectionFrom, connectionName } from './connection-flags.ts';
import { withHint } from './failure.ts';
import { withFlags, type Settings } from './schema-flags.ts';

export const setup = defineCommand({
  description:
    'Makes a project: connects to the warehouse first, then writes ktx.yaml and the local folder .ktx, and ' +
    'makes a git repository where there is none. Nothing is written unless the warehouse answers; a second run changes nothing.',
  examples: [
    ['ktx setup --driver duckdb --path shop.duckdb', 'a project in this folder on a DuckDB file'],
    ['ktx setup --driver duckdb --path ./exports', 'on a folder of Parquet, CSV or JSON files'],
    ['ktx setup --driver postgres --url env:WAREHOUSE_URL --schema analytics', 'on Postgres; the secret stays in the environment'],
  ],
  define: (command) =>
    withFlags(command.option('--name <name>', 'name of the connection; the folder under semantic-layer/', 'warehouse'), connectionFlags()),
  async run({ options }, context) {
    const { cwd, env } = context.surroundings;
    const dir = resolve(cwd, context.projectDir ?? (env['KTX_PROJECT_DIR'] || '.'));
    return connect({ dir, name: options.name, options }, context);
  },
});

interface Asked {
  readonly dir: string;
  readonly name: string;
  readonly options: Settings;
}

/** The connection that the flags say, tried and written. */
export async function connect({ dir, options, ...asked }: Asked, context: CommandContext): Promise<Outcome> {
  const name = connectionName(asked.name);
  const config = await connectionFrom(options, context);
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
