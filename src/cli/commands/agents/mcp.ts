import { basename } from 'node:path';
import type { Project } from '../../../project/open/open.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { parseBytes, parsePositiveAmount, parsePositiveInteger } from '../../flags/parse-number.ts';
import { parsePort } from '../../flags/parse-port.ts';
import { usageError } from '../../terminal/failure.ts';

const defaultHost = '127.0.0.1';
const defaultPort = 7878;
const defaultLimits = { requestsPerMinute: 120, concurrentQueries: 4 };
/** A year, and time to look at it. */
const defaultKeptDays = 400;
const defaultGrace = 10;

interface ServeFlags {
  readonly http?: true | undefined;
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly allowHost?: string[] | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly concurrentQueries?: number | undefined;
  readonly queriesPerDay?: number | undefined;
  readonly megabytesPerDay?: number | undefined;
  readonly bytesReadPerDay?: number | undefined;
  readonly usdPerDay?: number | undefined;
  readonly grace?: number | undefined;
  readonly keepAudit?: number | undefined;
  readonly page?: true | undefined;
}

export const serveCommand = defineCommand({
  description:
    'Starts an MCP server over stdio. An agent starts it itself and gets tools to search and read ' +
    'the context, query metrics, run read-only SQL, find values, remember notes, ingest, and list ' +
    'what waits for review. With --http it serves a team instead: over HTTP, at /mcp, with tokens ' +
    'that ktx mcp token create makes. Without tokens it only serves this machine. Over stdio, the ' +
    'token in KTX_TOKEN says who asks.',
  examples: [
    [
      'claude mcp add ktx -- ktx mcp serve --project-dir /path/to/project',
      'adds it to Claude Code',
    ],
    ['ktx mcp serve --http', `serves this machine at http://${defaultHost}:${defaultPort}/mcp`],
    [
      'ktx mcp serve --http --host 0.0.0.0 --allow-host ktx.example.com',
      'serves others, who need a token',
    ],
    ['ktx mcp serve --http --page', 'also shows people the page, after they log in'],
  ],
  define: (command) =>
    command
      .option('--http', 'serve over HTTP instead of stdio')
      .option('--port <number>', `port; 0 chooses one (default: ${defaultPort})`, parsePort)
      .option('--host <host>', `address to listen on (default: ${defaultHost})`)
      .option('--allow-host <names...>', 'further names under which clients reach the server')
      .option(
        '--requests-per-minute <number>',
        `calls of tools for each token (default: ${defaultLimits.requestsPerMinute})`,
        parsePositiveInteger,
      )
      .option(
        '--concurrent-queries <number>',
        `queries at a time for each token (default: ${defaultLimits.concurrentQueries})`,
        parsePositiveInteger,
      )
      .option(
        '--queries-per-day <number>',
        'queries a day (UTC) for each token (default: no limit)',
        parsePositiveInteger,
      )
      .option(
        '--megabytes-per-day <number>',
        'answers to queries a day (UTC) for each token (default: no limit)',
        parsePositiveInteger,
      )
      .option(
        '--bytes-read-per-day <size>',
        'what queries of each token may read of the warehouse a day (UTC), such as 200GB (default: no limit)',
        parseBytes,
      )
      .option(
        '--usd-per-day <amount>',
        'what queries of each token may cost a day (UTC), where the provider bills bytes (default: no limit)',
        parsePositiveAmount,
      )
      .option(
        '--grace <seconds>',
        `time for running calls when the server stops (default: ${defaultGrace})`,
        parsePositiveInteger,
      )
      .option(
        '--keep-audit <days>',
        `days after which lines of the audit are removed (default: ${defaultKeptDays})`,
        parsePositiveInteger,
      )
      .option('--page', 'also the page of ktx web, for everybody with a token'),
  async run({ options }, context) {
    const { http, ...flags } = options;
    if (http === true) return serveOverHttp(flags, context);
    const [flag] = Object.keys(flags);
    if (flag !== undefined) throw onlyWithHttp(flag);
    const { stdin, stdout, env } = context.host;
    const token = env['KTX_TOKEN'] ?? '';
    if (token !== '') return serveWithToken(token, context);
    const project = await context.project({ mayAsk: false });
    const { serveStdio } = await import('../../../mcp/stdio/serve-stdio.ts');
    await serveStdio(project, { stdin, stdout, signal: context.signal });
    return undefined;
  },
});

/** Serves stdio as the server over HTTP would serve whoever has the token. */
async function serveWithToken(text: string, context: CommandContext): Promise<undefined> {
  const { signal, host } = context;
  const project = await context.project({ mayAsk: false });
  const [{ serveStdio }, { openTokenCaller }, { openServeState }, { openServerAudit }] =
    await Promise.all([
      import('../../../mcp/stdio/serve-stdio.ts'),
      import('../../../mcp/stdio/token-caller.ts'),
      import('../../../mcp/shared/serve-state.ts'),
      import('../../../mcp/audit/shared-audit-log.ts'),
    ]);
  await using state = await openServeState(project, host.env);
  using audit = await openServerAudit(project.dir, host.env, state);
  const options = { text, state, audit, limits: defaultLimits, signal };
  const { close, ...as } = await openTokenCaller(project, options);
  try {
    await serveStdio(project, { stdin: host.stdin, stdout: host.stdout, signal, as });
  } finally {
    await close();
  }
  return undefined;
}

async function serveOverHttp(flags: ServeFlags, context: CommandContext): Promise<undefined> {
  const project = await context.project({ mayAsk: false });
  const [{ serveHttp }, { openServeState }, { openServerAudit }, { describeUnlimited }] =
    await Promise.all([
      import('../../../mcp/http/serve-http.ts'),
      import('../../../mcp/shared/serve-state.ts'),
      import('../../../mcp/audit/shared-audit-log.ts'),
      import('../../../mcp/usage/unlimited-connections.ts'),
    ]);
  const { queriesPerDay, megabytesPerDay, bytesReadPerDay, usdPerDay } = flags;
  const { requestsPerMinute, concurrentQueries } = { ...defaultLimits, ...flags };
  const limits = {
    requestsPerMinute,
    concurrentQueries,
    queriesPerDay,
    megabytesPerDay,
    bytesReadPerDay,
    usdPerDay,
  };
  for (const sentence of describeUnlimited(project, limits)) context.printNote(sentence);
  await using state = await openServeState(project, context.host.env);
  const keepDays = flags.keepAudit ?? defaultKeptDays;
  using audit = await openServerAudit(project.dir, context.host.env, { ...state, keepDays });
  await serveHttp(project, {
    audit,
    host: flags.host ?? defaultHost,
    port: flags.port ?? defaultPort,
    allowedHosts: flags.allowHost ?? [],
    state,
    limits,
    graceMs: (flags.grace ?? defaultGrace) * 1000,
    reopen: () => context.reopenProject(),
    page: flags.page === true ? await openPage(project, context) : undefined,
    signal: context.signal,
    onListening({ url, hasLogin }) {
      if (flags.page === true) context.printNote(describePage(url, hasLogin));
      const who = hasLogin ? 'clients need a token' : 'without login, for this machine only';
      context.printNote(`ktx serves MCP at ${url} (${who}).`);
      context.printEvent({ type: 'listening', url, login: hasLogin });
    },
  });
  return undefined;
}

async function openPage({ dir }: Project, context: CommandContext) {
  const [{ readBuiltPage }, { openCallerRunner }, { openTeamPage }] = await Promise.all([
    import('../../page/built-page.ts'),
    import('../../page/run-for-page.ts'),
    import('../../../web/team/team-page.ts'),
  ]);
  const files = await readBuiltPage(context);
  return openTeamPage({ files, project: basename(dir), run: openCallerRunner(context) });
}

function describePage(url: string, hasLogin: boolean): string {
  const page = url.slice(0, -'mcp'.length);
  return hasLogin
    ? `The page is at ${page} (people log in with their token).`
    : `The page is at ${page}, and lets nobody in: ktx mcp token create <name>.`;
}

function onlyWithHttp(key: string) {
  const flag = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return usageError(`--${flag} is for the server over HTTP.`, 'Add --http, or leave it out.');
}
