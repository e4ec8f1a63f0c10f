import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { nearest, oneOf } from '../../../lib/suggest.ts';
import type { AccessToken } from '../../../mcp/http/tokens.ts';
import type { Project } from '../../../project/open/open.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';

const dayMs = 86_400_000;

export const createCommand = defineCommand({
  description:
    'Makes a token for ktx mcp serve --http and prints it once: ktx keeps only its hash, in your ' +
    'own folder outside of the project. Whoever has it asks as the role of this command (--role, ' +
    'then KTX_ROLE, then query.role): its row rules hold for every call. ' +
    'Without a role, row rules hide all their rows.',
  examples: [
    ['ktx mcp token create ann --role dach', 'may search, read and query, for 90 days'],
    ['ktx mcp token create ci --scope read query write --days 7', 'may write notes and ingest'],
  ],
  define: (command) =>
    command
      .argument('<name>', 'whose token it is, as logs and lists name it', parseName)
      .option('--days <number>', 'days until it expires (default: 90)', parsePositiveInteger)
      .option('--no-expiry', 'it never expires')
      .addOption(
        new Option('--scope <scopes...>', 'what it may do')
          .choices(['read', 'query', 'write', 'metrics'])
          .default(['read', 'query'] as const),
      ),
  async run({ args: [name], options }, context) {
    await using opened = await openTokenCommand(context);
    const { project, tokens } = opened;
    const { role } = project;
    if (role !== undefined) await requireKnownRole(project, role);
    const days = options.days ?? 90;
    const expires = options.expiry ? new Date(Date.now() + days * dayMs).toISOString() : undefined;
    const scopes = [...new Set(options.scope)];
    const { token, text } = await tokens.create({ name, role, scopes, expires });
    return {
      data: { ...token, token: text },
      text,
      notes: [
        `Token of ${name}: ${roleText(token)}, ${scopes.join(', ')}, ${expiryText(token)}.`,
        'It is not shown again. Clients send it as: Authorization: Bearer <token>',
      ],
    };
  },
});

export const listTokensCommand = defineCommand({
  description:
    'Lists the tokens of the project on this machine: names, roles, scopes, and until when they ' +
    'are valid. Never the tokens themselves.',
  examples: [['ktx mcp token list', 'lists all tokens, also revoked ones']],
  hasRows: true,
  define: (command) => command,
  async run(_input, context) {
    await using opened = await openTokenCommand(context);
    const { tokens } = opened;
    const list = (await tokens.list()).toSorted((a, b) => a.created.localeCompare(b.created));
    const names = ['id', 'name', 'role', 'scopes', 'created', 'expires', 'state'];
    return {
      data: { tokens: list },
      table: {
        columns: names.map((column) => ({ name: column, type: 'string' as const })),
        rows: list.map(toRow),
      },
      notes: [formatCount(list.length, 'token')],
    };
  },
});

export const revokeCommand = defineCommand({
  description:
    'Revokes a token. A running server refuses its next request; a call that already runs is ' +
    'finished. The project keeps its login: a server without any valid token lets nobody in.',
  examples: [['ktx mcp token revoke ann', 'by name, or by the id that the list shows']],
  define: (command) => command.argument('<name>', 'name or id of the token'),
  async run({ args: [name] }, context) {
    await using opened = await openTokenCommand(context);
    const { tokens } = opened;
    const revoked = await tokens.revoke(name);
    const text = revoked.map((token) => `revoked: ${token.name} (${token.id})`).join('\n');
    return { data: { revoked }, text };
  },
});

async function openTokenCommand(context: CommandContext) {
  const project = await context.project({ mayAsk: false });
  const { openServeState } = await import('../../../mcp/shared/serve-state.ts');
  return { project, ...(await openServeState(project, context.host.env)) };
}

/** A role that no rule names sees no row of any dataset with rules: mostly a typing error. */
async function requireKnownRole(project: Project, role: string): Promise<void> {
  const models = await Promise.all(project.warehouses.map((name) => project.model(name)));
  const rules = models.flatMap(({ model }) => [...model.datasets.values()]);
  const roles = [
    ...new Set(rules.flatMap(({ access = [] }) => access.map((rule) => rule.role))),
  ].sort();
  if (roles.includes(role)) return;
  const [suggestion] = nearest(role, roles, 1);
  const hint =
    roles.length === 0
      ? 'Leave out the role: the project has no row rules (access: in a dataset file).'
      : suggestion === undefined
        ? oneOf(roles)
        : `did you mean ${suggestion}?`;
  throw new UserError('role_unknown', `No row rule of the project names the role ${role}.`, {
    hint,
    exitCode: 2,
    details: { choices: roles },
  });
}

function toRow({ id, name, role = '', scopes, created, expires = '', state }: AccessToken) {
  const [since, until] = [created, expires].map((time) => time.slice(0, 10));
  return [id, name, role, scopes.join(' '), since, until, state];
}

function roleText({ role }: AccessToken): string {
  return role === undefined ? 'no role' : `role ${role}`;
}

function expiryText({ expires }: AccessToken): string {
  return expires === undefined ? 'never expires' : `valid until ${expires.slice(0, 10)}`;
}

function parseName(value: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,79}$/u.test(value)) return value;
  throw new InvalidArgumentError('letters, digits and . _ @ + - without spaces');
}
