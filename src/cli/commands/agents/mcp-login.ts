import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { ListedLogin } from '../../../mcp/broker/people-login.ts';
import { defineCommand, type CommandContext } from '../../command.ts';

export const listLoginsCommand = defineCommand({
  description:
    'Lists who has logged in at the server with serve.auth.mode: broker, and with which client. ' +
    'Never the tokens.',
  examples: [['ktx mcp login list', 'persons, clients, and since when']],
  hasRows: true,
  define: (command) => command,
  async run(_input, context) {
    const logins = (await readLogins(context)).map(describe);
    return {
      data: { logins },
      table: {
        columns: ['person', 'client', 'since'].map((name) => ({ name, type: 'string' as const })),
        rows: logins.map(({ person, client, since }) => [person, client, since]),
      },
      notes: [formatCount(logins.length, 'login')],
    };
  },
});

export const endLoginCommand = defineCommand({
  description:
    'Ends all logins of a person with serve.auth.mode: broker: their clients have to log in again. ' +
    'A running server refuses their next request; a call that already runs is finished. It does ' +
    'not keep anybody from logging in again: that is decided by the company’s provider.',
  examples: [['ktx mcp login end ann@example.com', 'by the name that the list shows']],
  define: (command) => command.argument('<person>', 'name of the person'),
  async run({ args: [name] }, context) {
    const logins = await readLogins(context, ({ person }) => person === name);
    const ended = logins.filter((login) => login.ended).map(describe);
    if (ended.length === 0) throw loginUnknown(name);
    const text = ended.map(({ person, client }) => `ended: ${person} with ${client}`).join('\n');
    return { data: { ended }, text };
  },
});

async function readLogins(context: CommandContext, end?: (login: ListedLogin) => boolean) {
  const project = await context.project({ mayAsk: false });
  const [{ openServeState }, { listLogins }] = await Promise.all([
    import('../../../mcp/shared/serve-state.ts'),
    import('../../../mcp/broker/people-login.ts'),
  ]);
  await using state = await openServeState(project, context.host.env);
  return await listLogins(project, state, end);
}

function describe({ person, client, since }: ListedLogin) {
  return { person, client, since: new Date(since).toISOString() };
}

function loginUnknown(name: string): UserError {
  return new UserError('login_unknown', `Nobody with the name ${name} has logged in.`, {
    hint: 'ktx mcp login list shows who has',
    exitCode: 2,
  });
}
