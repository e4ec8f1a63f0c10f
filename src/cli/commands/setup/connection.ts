import { formatCount } from '../../../lib/format-count.ts';
import { findConnection, isWarehouse, listSources } from '../../../project/open/config.ts';
import type { Project } from '../../../project/open/open.ts';
import { fileConnectionFlags } from '../../../warehouse/config.ts';
import { defineCommand } from '../../command.ts';
import {
  allKinds,
  connectionFlags,
  connectionFrom,
  connectionName,
} from '../../flags/connection-flags.ts';
import { withFlags } from '../../flags/schema-flags.ts';
import { connectWarehouse, describeProbe, warnings } from './setup.ts';

export const add = defineCommand({
  description:
    'Adds a warehouse, or a source of context such as a folder of documents, to ktx.yaml; comments and order stay. ' +
    'Nothing is written unless it answers.',
  examples: [
    [
      `ktx connection add crm ${fileConnectionFlags.replace('<file>', 'crm.duckdb')}`,
      'a second warehouse',
    ],
    [
      'ktx connection add handbook --driver docs --path ./docs',
      'documents: their tables of terms, metrics and columns',
    ],
  ],
  define: (command) =>
    withFlags(command.argument('<name>', 'name of the connection'), connectionFlags(allKinds)),
  async run({ args: [asked], options }, context) {
    const { dir } = await context.project();
    const name = connectionName(asked);
    const config = await connectionFrom(options, context, allKinds);
    if (isWarehouse(config)) return connectWarehouse({ dir, name, config }, context);
    context.progress.update(`reading ${name}`);
    const { addSource } = await import('../../../project/setup/add-source.ts');
    const { written, probe } = await addSource({ dir, name, config }, context.signal);
    const change =
      written.length === 0 ? 'everything stood already' : `wrote ${written.join(', ')}`;
    return {
      data: { dir, connection: name, written, probe },
      text: `${name}: ${describeItems(probe)}\n${dir}: ${change}`,
      notes: probe.failed.map((line) => `cannot be read: ${line}`),
      next: [
        `ktx ingest ${name}  read it`,
        'git add ktx.yaml  the configuration is yours to commit',
      ],
    };
  },
});

function describeItems({
  items,
  failed,
  isComplete,
}: {
  items: number;
  failed: readonly string[];
  isComplete: boolean;
}): string {
  const unread = failed.length === 0 ? '' : `, ${failed.length} cannot be read`;
  return `${formatCount(items, 'item')}${unread}${isComplete ? '' : ', the listing is cut short'}`;
}

export const list = defineCommand({
  description: 'The connections of ktx.yaml, without their secrets.',
  examples: [['ktx connection list', 'name, driver, where it is']],
  rows: true,
  define: (command) => command,
  async run(_input, context) {
    const { config } = await context.project();
    const rows = Object.entries(config.connections).map(([name, connection]) => {
      const settings = new Map<string, unknown>(Object.entries(connection));
      const places = ['path', 'url', 'host', 'database']
        .map((key) => settings.get(key))
        .filter((place) => typeof place === 'string');
      return [name, connection.driver, places.join('/')];
    });
    const table = { columns: ['connection', 'driver', 'at'].map((name) => ({ name })), rows };
    return { data: table, table };
  },
});

export const test = defineCommand({
  description:
    'Connects, reads the structure, and says what the login may do. Fails where the warehouse does not answer.',
  examples: [['ktx connection test warehouse', 'is it reachable, and is the login read-only?']],
  define: (command) => command.argument('[name]', 'the only one where it is left out'),
  async run({ args: [asked] }, context) {
    const project = await context.project();
    const source = asked === undefined ? undefined : findConnection(project.config, asked);
    if (asked !== undefined && source !== undefined && !isWarehouse(source)) {
      const { probeSource } = await import('../../../project/setup/add-source.ts');
      const probe = await probeSource(
        { dir: project.dir, name: asked, config: source },
        context.signal,
      );
      return { data: { connection: asked, probe }, text: `${asked}: ${describeItems(probe)}` };
    }
    const { name, config } = project.connection(asked);
    const { probeConnection } = await import('../../../project/setup/setup.ts');
    context.progress.update(`connecting to ${name}`);
    const probe = await probeConnection({ dir: project.dir, name, config }, context.signal);
    const login = `login: ${probe.privileges.readOnly ? 'may only read' : 'could write; ktx never does'}`;
    return {
      data: { connection: name, probe },
      text: `${describeProbe(name, probe)}\n${login}`,
      notes: warnings(probe),
    };
  },
});

export const remove = defineCommand({
  description:
    'Takes a connection out of ktx.yaml. What was written about it stays in semantic-layer/, claims/ and sources/.',
  examples: [['ktx connection remove crm', 'the files stay; git has them']],
  define: (command) => command.argument('<name>', 'name of the connection'),
  async run({ args: [asked] }, context) {
    const project = await context.project();
    const name = anyConnection(project, asked);
    const { removeConnection } = await import('../../../project/setup/setup.ts');
    const isSource = listSources(project.config).some(([source]) => source === name);
    await removeConnection(project.dir, name);
    const next = isSource ? [`ktx ingest --forget ${name}  take back what only it says`] : [];
    return { data: { connection: name }, text: `${name} is out of ktx.yaml; its files stay`, next };
  },
});

function anyConnection({ config, connection }: Project, name: string): string {
  return findConnection(config, name) === undefined ? connection(name).name : name;
}
