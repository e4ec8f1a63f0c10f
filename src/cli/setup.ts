import { resolve } from 'node:path';
import { defineCommand } from './command.ts';
import { connectionFlags, connectionFrom, connectionName, inFlags } from './connection-flags.ts';
import { counted } from './output.ts';
import { withFlags } from './schema-flags.ts';
import type { Probe } from '../project/setup.ts';

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
    const name = connectionName(options.name);
    const config = await connectionFrom(options, context);
    const { setUpProject } = await import('../project/setup.ts');
    const { cwd, env } = context.surroundings;
    const dir = resolve(cwd, context.projectDir ?? (env['KTX_PROJECT_DIR'] || '.'));
    context.progress.update(`connecting to ${name}`);
    const report = await setUpProject({ dir, name, config }, context.signal).catch(inFlags);
    const change = report.written.length === 0 ? 'everything stood already' : `wrote ${report.written.join(', ')}`;
    return {
      data: report,
      text: `${describeProbe(name, report.probe)}\n${dir}: ${change}`,
      notes: warnings(report.probe),
      next: [
        'ktx ingest  find keys and joins, write the semantic layer',
        'ktx scan  look first, write nothing',
        'git add ktx.yaml  the configuration is yours to commit',
      ],
    };
  },
});

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
