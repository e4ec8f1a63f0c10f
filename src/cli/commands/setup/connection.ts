import { formatCount } from '../../../lib/format-count.ts';
import {
  connectionNameSchema,
  findConnection,
  isWarehouse,
  listSources,
} from '../../../project/open/config.ts';
import { checkSchema } from '../../../lib/schema-check.ts';
import type { Project } from '../../../project/open/open.ts';
import type { SourceProbe } from '../../../project/setup/add-source.ts';
import { fileConnectionFlags } from '../../../warehouse/config.ts';
import { type CommandContext, defineCommand, type NextStep } from '../../command.ts';
import {
  allDrivers,
  connectionFlags,
  parseConnectionName,
  resolveConnection,
} from '../../flags/connection-flags.ts';
import { addDbtProfileFlags, profileNotes, withDbtProfile } from '../../flags/dbt-profile-flags.ts';
import { keepPasswordFlag } from '../../flags/password-flag.ts';
import { usageError } from '../../terminal/failure.ts';
import { promptForFlag, requireAnswer } from '../../terminal/prompt.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import type { ProposedWarehouse } from '../../../sources/source.ts';
import { confirmWarehouses, proposalNotes } from './questions/confirm-warehouses.ts';
import { addFlags } from '../../flags/schema-flags.ts';
import {
  connectWarehouse,
  describeProbe,
  describeWritten,
  historyNotes,
  isHistoryOn,
  probeWarnings,
  rethrowForFlags,
  untriedNotes,
} from './connect-warehouse.ts';

export const addCommand = defineCommand({
  description:
    'Adds a warehouse or a source (for example a folder of documents) to ktx.yaml. Keeps the comments and the order of the file. ' +
    'Writes nothing unless the connection works.',
  examples: [
    [
      `ktx connection add crm ${fileConnectionFlags.replace('<file>', 'crm.duckdb')}`,
      'a second warehouse',
    ],
    [
      'ktx connection add handbook --driver docs --path ./docs',
      'documents: tables of terms, metrics and columns',
    ],
    [
      'ktx connection add prod --from-dbt ./dbt --dbt-target prod',
      'the warehouse of a dbt project',
    ],
  ],
  define: (command) =>
    addDbtProfileFlags(
      addFlags(
        command.argument('[name]', 'name of the connection; asked for if it is missing'),
        connectionFlags(allDrivers),
      ),
    ).addOption(keepPasswordFlag()),
  async run({ args: [name], options }, context) {
    const { dir } = await context.project();
    const connection = parseConnectionName(name ?? (await promptForName(context)));
    const { options: given, profile } = await withDbtProfile(options, { dir, connection }, context);
    const config = await resolveConnection(given, context, allDrivers);
    if (isWarehouse(config)) {
      const { keepPassword } = options;
      const place = { dir, name: connection, config, keepPassword, profile };
      const connected = await connectWarehouse(place, context);
      const found = profile === undefined ? [] : profileNotes(profile);
      return { ...connected, notes: [...found, ...(connected.notes ?? [])] };
    }
    context.progress.update(`reading ${connection}`);
    const { addSource } = await import('../../../project/setup/add-source.ts');
    const { listWarehousePlaces } = await import('../../../project/setup/warehouse-places.ts');
    const warehouses = await listWarehousePlaces(await context.project());
    const confirm = (proposed: readonly ProposedWarehouse[]) =>
      confirmWarehouses(proposed, context);
    const source = { dir, name: connection, config, env: context.host.env, warehouses, confirm };
    const { written, probe } = await addSource(source, context.signal).catch(rethrowForFlags);
    return {
      data: { dir, connection, written, probe },
      text: `${describeSource(connection, probe)}\n${dir}: ${describeWritten(written)}`,
      notes: sourceNotes(probe),
      next: [
        [`ktx ingest ${connection}`, 'reads its items'],
        ['git add ktx.yaml', 'ktx does not commit the configuration'],
      ],
    };
  },
});

/** Asks for the name of a connection. */
function promptForName(context: CommandContext): Promise<string> {
  const { signal, screen } = context;
  if (!screen.interactive)
    throw usageError(
      'The name of the connection is missing, and there is no terminal to ask in.',
      'for example: ktx connection add handbook --driver docs --path ./docs',
    );
  return promptForFlag('the name', context, ({ text }) =>
    text({
      message: 'Name of the connection',
      placeholder: 'handbook',
      signal,
      validate: (value) =>
        requireAnswer(value) ?? checkSchema(connectionNameSchema, value).problems?.[0]?.message,
    }),
  );
}

function describeSource(connection: string, probe: SourceProbe): string {
  if ('login' in probe)
    return [`${connection}: ${probe.login}`, ...probe.sees.map((line) => `  ${line}`)]
      .map(escapeControls)
      .join('\n');
  const { items, failed, isComplete } = probe;
  const unread = failed.length === 0 ? '' : `, ${failed.length} cannot be read`;
  const end = isComplete ? '' : ', the listing is incomplete';
  return `${connection}: ${formatCount(items, 'item')}${unread}${end}`;
}

const unreadNote = (line: string) => `cannot be read: ${line}`;

function sourceNotes(probe: SourceProbe): readonly string[] {
  const lines =
    'login' in probe
      ? [...proposalNotes(probe.proposed ?? []), ...probe.misses]
      : probe.failed.map(unreadNote);
  return lines.map(escapeControls);
}

/** What of a configuration says where the data is, from the outside in. */
const placeKeys = ['path', 'url', 'base_url', 'account', 'project', 'host', 'catalog', 'database'];

export const listCommand = defineCommand({
  description: 'Lists the connections in ktx.yaml, without their secrets.',
  examples: [['ktx connection list', 'name, driver and location']],
  hasRows: true,
  define: (command) => command,
  async run(_input, context) {
    const { config } = await context.project();
    const rows = Object.entries(config.connections).map(([name, connection]) => {
      const settings = new Map<string, unknown>(Object.entries(connection));
      const location = placeKeys
        .map((key) => settings.get(key))
        .filter((part) => typeof part === 'string');
      return [name, connection.driver, location.join('/')];
    });
    const table = { columns: ['connection', 'driver', 'at'].map((name) => ({ name })), rows };
    return { data: table, table };
  },
});

export const testCommand = defineCommand({
  description:
    'Connects to a warehouse or a source and shows what the login sees and may do. Fails if it does not answer.',
  examples: [['ktx connection test warehouse', 'is it reachable, and is the login read-only?']],
  define: (command) => command.argument('[name]', 'the connection, if there are several'),
  async run({ args: [requested] }, context) {
    const project = await context.project();
    const { dir } = project;
    const source = requested === undefined ? undefined : findConnection(project.config, requested);
    if (requested !== undefined && source !== undefined && !isWarehouse(source)) {
      context.progress.update(`connecting to ${requested}`);
      const { probeSource } = await import('../../../project/setup/add-source.ts');
      const { listWarehousePlaces } = await import('../../../project/setup/warehouse-places.ts');
      const secrets = await project.trust.requireConnections([requested]);
      const warehouses = await listWarehousePlaces(project);
      const input = { dir, name: requested, config: source, secrets, warehouses };
      const probe = await probeSource(input, context.signal);
      const text = describeSource(requested, probe);
      return { data: { connection: requested, probe }, text, notes: sourceNotes(probe) };
    }
    const { name, config } = project.connection(requested);
    const { probeConnection } = await import('../../../project/setup/setup.ts');
    const secrets = await project.trust.requireConnections([name]);
    context.progress.update(`connecting to ${name}`);
    const probe = await probeConnection({ dir, name, config, secrets }, context.signal);
    const login = probe.privileges.readOnly ? 'read-only' : 'could write; ktx never does';
    return {
      data: { connection: name, probe },
      text: `${describeProbe(name, probe)}\nlogin: ${login}`,
      notes: [
        ...untriedNotes(config),
        ...probeWarnings(probe),
        ...historyNotes(probe, { name, isOn: isHistoryOn(config) }),
      ],
    };
  },
});

export const removeCommand = defineCommand({
  description:
    'Removes a connection from ktx.yaml. Its files in semantic-layer/, claims/ and sources/ stay.',
  examples: [['ktx connection remove crm', 'the files stay']],
  define: (command) => command.argument('<name>', 'name of the connection'),
  async run({ args: [requested] }, context) {
    const project = await context.project();
    const name = requireConnection(project, requested);
    const { removeConnection } = await import('../../../project/setup/setup.ts');
    const isSource = listSources(project.config).some(([source]) => source === name);
    await removeConnection(project.dir, name);
    const next: readonly NextStep[] = isSource
      ? [[`ktx ingest --forget ${name}`, 'removes what only this source supported']]
      : [];
    return {
      data: { connection: name },
      text: `removed ${name} from ktx.yaml; its files stay`,
      next,
    };
  },
});

/** The name of a warehouse or a source; throws with the nearest names if there is none. */
function requireConnection({ config, connection }: Project, name: string): string {
  return findConnection(config, name) === undefined ? connection(name).name : name;
}
