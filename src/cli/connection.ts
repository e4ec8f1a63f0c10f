import { defineCommand } from './command.ts';
import { connectionFlags } from './connection-flags.ts';
import { withFlags } from './schema-flags.ts';
import { connect, describeProbe, warnings } from './setup.ts';

export const add = defineCommand({
  description: 'Adds a warehouse to ktx.yaml; comments and order stay. Nothing is written unless the warehouse answers.',
  examples: [['ktx connection add crm --driver sqlite --path crm.db', 'a second warehouse']],
  define: (command) => withFlags(command.argument('<name>', 'name of the connection'), connectionFlags()),
  async run({ args: [name], options }, context) {
    return connect({ dir: (await context.project()).dir, name, options }, context);
  },
});

export const list = defineCommand({
  description: 'The connections of ktx.yaml, without their secrets.',
  examples: [['ktx connection list', 'name, driver, where it is']],
  rows: true,
  define: (command) => command,
  async run(_input, context) {
    const { config } = await context.project();
    const rows = Object.entries(config.connections).map(([name, connection]) => {
      const settings = new Map<string, unknown>(Object.entries(connection));
      const places = ['path', 'url', 'host', 'database'].map((key) => settings.get(key)).filter((place) => typeof place === 'string');
      return [name, connection.driver, places.join('/')];
    });
    const table = { columns: ['connection', 'driver', 'at'].map((name) => ({ name })), rows };
    return { data: table, table };
  },
});

export const test = defineCommand({
  description: 'Connects, reads the structure, and says what the login may do. Fails where the warehouse does not answer.',
  examples: [['ktx connection test warehouse', 'is it reachable, and is the login read-only?']],
  define: (command) => command.argument('[name]', 'the only one where it is left out'),
  async run({ args: [asked] }, context) {
    const project = await context.project();
    const { name, config } = project.connection(asked);
    const { probeConnection } = await import('../project/setup.ts');
    context.progress.update(`connecting to ${name}`);
    const probe = await probeConnection({ dir: project.dir, name, config }, context.signal);
    const login = `login: ${probe.privileges.readOnly ? 'may only read' : 'could write; ktx never does'}`;
    return { data: { connection: name, probe }, text: `${describeProbe(name, probe)}\n${login}`, notes: warnings(probe) };
  },
});

export const remove = defineCommand({
  description: 'Takes a connection out of ktx.yaml. What was written about it stays in semantic-layer/, claims/ and sources/.',
  examples: [['ktx connection remove crm', 'the files stay; git has them']],
  define: (command) => command.argument('<name>', 'name of the connection'),
  async run({ args: [asked] }, context) {
    const project = await context.project();
    const name = project.connection(asked).name;
    const { removeConnection } = await import('../project/setup.ts');
    await removeConnection(project.dir, name);
    return { data: { connection: name }, text: `${name} is out of ktx.yaml; its files stay in semantic-layer/${name}` };
  },
});
