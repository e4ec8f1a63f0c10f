import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { mcpClients, type McpClient } from '../../clients/client-list.ts';
import type { ClientReport } from '../../clients/install.ts';
import type { ServerTarget } from '../../clients/server-target.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';

const names = mcpClients.map(({ name }) => name);
const clientsArgument = () => new Argument('[clients...]', 'which clients').choices(names);
const nameFlag = ['--name <name>', 'what the client calls the server', 'ktx'] as const;
const scopeOption = () =>
  new Option('--scope <scope>', 'for you on this machine, or only in this folder')
    .choices(['user', 'project'] as const)
    .default('user' as const);

export const installCommand = defineCommand({
  description:
    'Adds the MCP server of this project to the settings of the clients that you name. Before ' +
    'anything is written, ktx starts the server as the client would start it, and it has to ' +
    'answer. Comments and other servers stay, and the old file is kept beside it as .bak. No ' +
    'secret is written: where the project needs variables, the file only names them.',
  examples: [
    ['ktx mcp install claude-code cursor', 'adds it to both'],
    ['ktx mcp install --all', 'adds it to every client that is on this machine'],
    ['ktx mcp install vscode --scope project', 'only in this folder: .vscode/mcp.json'],
    ['ktx mcp install codex --dry-run', 'shows what would be written'],
    [
      'ktx mcp install cursor --http https://ktx.example.com/mcp --token-env KTX_TOKEN',
      'a server of your team',
    ],
  ],
  define: (command) =>
    command
      .addArgument(clientsArgument())
      .option('--all', 'all clients that are on this machine')
      .addOption(scopeOption())
      .option(...nameFlag)
      .option('--http <url>', 'the server of a team, in place of a program')
      .option(
        '--token-env <variable>',
        'with --http: the variable that holds the token',
        parseVariable,
      )
      .option('--replace', 'even if the name belongs to another project or server')
      .option('--dry-run', 'show the change and write nothing')
      .option('--link', 'print addresses that open Cursor or VS Code with the server filled in'),
  async run({ args: [given], options }, context) {
    const { describeTarget } = await import('../../clients/server-target.ts');
    const { installClient, reportFailure } = await import('../../clients/install.ts');
    if (options.link === true)
      return showLinks(await describeTarget(options, context), options.name);
    const clients = await chooseClients(given, options, context);
    const target = await describeTarget(options, context);
    const reports: ClientReport[] = [];
    for (const client of clients) {
      const install = () => installClient(client, { ...options, target }, context);
      reports.push(await reportFailure(client, install));
    }
    const notes = reports.flatMap((report) => installNotes(report, target));
    return { ...clientResult(reports), notes };
  },
});

export const uninstallCommand = defineCommand({
  description:
    'Removes the MCP server from the settings of the clients that you name. Everything else in ' +
    'their files stays; the old file is kept as .bak.',
  examples: [
    ['ktx mcp uninstall cursor', 'removes it from Cursor'],
    ['ktx mcp uninstall --all', 'removes it from every client'],
  ],
  define: (command) =>
    command
      .addArgument(clientsArgument())
      .option('--all', 'all clients that are on this machine')
      .addOption(scopeOption())
      .option(...nameFlag)
      .option('--replace', 'even if the name belongs to something else than ktx')
      .option('--dry-run', 'show the change and write nothing'),
  async run({ args: [given], options }, context) {
    const { uninstallClient, reportFailure } = await import('../../clients/install.ts');
    const reports: ClientReport[] = [];
    for (const client of await chooseClients(given, options, context)) {
      const remove = () => uninstallClient(client, options, context);
      reports.push(await reportFailure(client, remove));
    }
    return clientResult(reports);
  },
});

export const clientsCommand = defineCommand({
  description:
    'Shows in which clients on this machine ktx is installed, for which project, and whether it ' +
    'answers when it is started as the client would start it.',
  examples: [['ktx mcp status', 'one line for each client']],
  hasRows: true,
  define: (command) => command.addOption(scopeOption()).option(...nameFlag),
  async run({ options }, context) {
    const { clientStatus, foundClients } = await import('../../clients/install.ts');
    const clients = [];
    for (const client of foundClients(context)) {
      context.progress.update(`starting ktx as ${client.title} does`);
      clients.push(await clientStatus(client, options, context));
    }
    const columns = ['client', 'state', 'project', 'answers'] as const;
    return {
      data: { clients },
      table: {
        columns: columns.map((name) => ({ name, type: 'string' as const })),
        rows: clients.map((row) => columns.map((column) => row[column] ?? '')),
      },
      notes: [`${formatCount(clients.length, 'client')} on this machine`],
    };
  },
});

async function chooseClients(
  given: readonly string[],
  { all }: { readonly all?: true | undefined },
  context: CommandContext,
): Promise<readonly McpClient[]> {
  if (given.length > 0) return [...new Set(given)].map(clientNamed);
  const { foundClients } = await import('../../clients/install.ts');
  const found = foundClients(context);
  if (all === true && found.length > 0) return found;
  const there = found.map(({ name }) => name);
  const hint =
    there.length > 0
      ? `ktx mcp install ${there.join(' ')}, or --all for these`
      : `name one of ${names.join(', ')}`;
  if (all === true)
    throw new UserError('no_clients', 'None of the clients is on this machine.', { hint });
  throw usageError('Which clients?', hint);
}

function clientNamed(name: string): McpClient {
  const client = mcpClients.find((known) => known.name === name);
  if (client === undefined) throw new Error(`no client is called ${name}`);
  return client;
}

async function showLinks(target: ServerTarget, name: string): Promise<CommandResult> {
  const { deepLinks } = await import('../../clients/deep-links.ts');
  const links = Object.fromEntries(
    ['cursor', 'vscode'].flatMap((client) => {
      const entry = target.entryFor(clientNamed(client), name);
      return entry === undefined ? [] : Object.entries(deepLinks(client, { name, entry }));
    }),
  );
  const lines = Object.entries(links).map(([place, address]) => `${place}\n  ${address}`);
  return { data: { links }, text: lines.join('\n'), verbatim: true };
}

/** The runner sets the exit code by the failure: 3 if some of the clients worked. */
function clientResult(reports: readonly ClientReport[]): CommandResult {
  const failed = reports.filter(({ state }) => state === 'failed');
  const [first] = failed.flatMap(({ error }) => error ?? []);
  const isPartial = failed.length > 0 && failed.length < reports.length;
  const failure =
    first === undefined || (!isPartial && failed.length === 1)
      ? first
      : new UserError('clients_failed', `${formatCount(failed.length, 'client')} failed.`, {
          exitCode: isPartial ? 3 : first.exitCode,
          hint: first.hint,
        });
  const isAlone = failure === first && failure !== undefined;
  const shown = isAlone ? [] : reports;
  return {
    data: { clients: reports.map(reportData) },
    ...(shown.length > 0 && { text: shown.map(reportText).join('\n') }),
    failure,
  };
}

function reportData({ error, ...report }: ClientReport): object {
  if (error === undefined) return report;
  const { code, message, hint } = error;
  return { ...report, error: { code, message, hint } };
}

function reportText({
  client,
  state,
  file = '',
  backup,
  trial,
  diff,
  error,
}: ClientReport): string {
  const title = clientNamed(client).title;
  if (error !== undefined) return `${title}: ${error.message}`;
  const answered =
    trial && `answered in ${trial.seconds} s with ${formatCount(trial.tools, 'tool')}`;
  const kept = backup === undefined ? [] : [`  the old file: ${backup}`];
  const texts: Record<ClientReport['state'], readonly string[]> = {
    installed: [`${title}: installed, ${answered}`, `  ${file}`, ...kept],
    unchanged: [`${title}: was installed already, ${answered}`],
    planned:
      diff?.length === 0
        ? [`${title}: nothing to change`]
        : [`${title}: ${file}`, ...(diff ?? []).map((line) => `  ${line}`)],
    removed: [`${title}: removed`, `  ${file}`, ...kept],
    absent: [`${title}: was not installed`],
    failed: [],
  };
  return texts[state].join('\n');
}

function installNotes(report: ClientReport, { variables }: ServerTarget): readonly string[] {
  const { title, reload, passesVariables } = clientNamed(report.client);
  const isBare = !passesVariables && variables.length > 0;
  const missing = isBare
    ? [`${title} hands on no variables: put ${variables.join(', ')} into the project's .env.`]
    : [];
  if (report.state !== 'installed') return report.state === 'planned' ? missing : [];
  return reload === undefined ? missing : [...missing, `To see ktx in ${title}: ${reload}.`];
}

function parseVariable(value: string): string {
  if (/^[A-Za-z_]\w*$/.test(value)) return value;
  throw new InvalidArgumentError('the name of a variable, not the token itself');
}
