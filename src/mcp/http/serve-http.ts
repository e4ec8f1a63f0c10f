import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Project } from '../../project/open/open.ts';
import { appendToLog } from '../../store/log.ts';
import { openPeopleLogin, type PeopleLoginOptions } from '../broker/people-login.ts';
import type { ServeState } from '../shared/serve-state.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { type ClientSessionLimits, openClientSessions } from '../client-sessions.ts';
import { openCallers, type CallersInput } from './callers.ts';
import type { CallerLimits } from '../usage/limits.ts';
import { serverLimits, startListening } from '../listen.ts';
import { openWarehouseSignIns } from '../sign-in/warehouse-sign-ins.ts';
import { openTaskTables } from '../tasks/task-table.ts';
import { resolveListenAddress } from './listen-address.ts';
import type { GuardedPage } from '../page/page-route.ts';
import { openMetrics } from '../usage/metrics.ts';
import { keepRefreshing, openReloading } from './reload.ts';
import { openRoutes } from './routes.ts';

interface HttpServerOptions extends Pick<CallersInput, 'createServer'> {
  readonly sessions?: ClientSessionLimits | undefined;
  /** A name or an address; anything but loopback needs a token. */
  readonly host: string;
  /** 0 chooses a free one. */
  readonly port: number;
  /** Names, beside its own, under which clients reach the server. */
  readonly allowedHosts: readonly string[];
  readonly state: ServeState;
  /** For each token; without login for all clients together. */
  readonly limits: CallerLimits;
  /** The caller closes it. */
  readonly audit: AuditLog;
  /** How often keys of the provider are fetched. */
  readonly oidc?: PeopleLoginOptions['oidc'];
  /** How documents of clients are fetched. */
  readonly network?: PeopleLoginOptions['network'];
  /** Milliseconds that running calls get when the signal aborts. */
  readonly graceMs: number;
  /** Opens the project with the configuration that it has now; without it the first one stays. */
  readonly reopen?: (() => Promise<Project>) | undefined;
  readonly refreshMs?: number;
  /** Answers what is not MCP. */
  readonly page?: GuardedPage | undefined;
  readonly signal: AbortSignal;
  /** Called once the server accepts requests. */
  readonly onListening: (started: { readonly url: string; readonly hasLogin: boolean }) => void;
}

/**
 * Serves MCP over HTTP until the signal aborts. Then it accepts nothing new, and waits for running
 * calls, but not forever. The caller closes the project.
 */
export async function serveHttp(project: Project, options: HttpServerOptions): Promise<void> {
  const { state, limits, audit, signal, graceMs } = options;
  const { tokens, counters } = state;
  if (project.config.serve.changes === 'pull_request') await project.trust.requireGitHost();
  const report = (entry: object) => appendToLog(project.dir, 'http', entry);
  const { provider, broker } = await openPeopleLogin(project, { ...options, report });
  const hasProvider = provider !== undefined;
  const ownName = hasProvider ? [new URL(provider.auth.resource).hostname] : [];
  const allowedHosts = [...options.allowedHosts, ...ownName];
  const listen = await resolveListenAddress({ ...options, tokens, allowedHosts, hasProvider });
  const metrics = openMetrics();
  const ended = new AbortController();
  const { createServer, reopen, refreshMs = defaultRefreshMs } = options;
  const sessions = openClientSessions(options.sessions ?? defaultSessions);
  const tasks = openTaskTables(ended.signal);
  const signIns = provider && openWarehouseSignIns(new URL(provider.auth.resource).origin);
  const shared = { limits, counters, audit, metrics, sessions, tasks, signIns, createServer };
  const input = { ...shared, end: ended.signal, stateSecret: randomBytes(32) };
  const callers = openReloading(project, {
    openCallers: (opened, latest) => openCallers(opened, { ...input, latest }),
    reopen,
    report,
  });
  const routes = openRoutes({
    callers,
    metrics,
    tokens,
    provider,
    broker,
    signIns,
    names: listen.names,
    report,
    page: options.page,
    end: ended.signal,
  });
  const server = createHttpServer(serverLimits, (request, response) => {
    void routes.answer(request, response);
  });
  server.maxConnections = mostConnections;
  try {
    const { port } = await startListening(server, listen.address, options.port);
    options.onListening({
      url: urlOf(options.host, port),
      hasLogin: hasProvider || (await tokens.hasAny()),
    });
    // Load the models ahead of the first query. A failure here is reported by the query that
    // needs the model.
    const loading = Promise.allSettled(project.warehouses.map((name) => project.model(name)));
    void loading.then(() => routes.becomeReady());
    await keepRefreshing(callers, refreshMs, signal);
    routes.stop();
    const closed = new Promise((resolve) => void server.close(resolve));
    const waitForCalls = (ms: number) =>
      Promise.race([routes.settled(), sleep(ms, undefined, { ref: false })]);
    await waitForCalls(graceMs);
    ended.abort();
    await waitForCalls(cancellationMs);
    await sessions.close();
    await callers.close();
    server.closeAllConnections();
    await Promise.all([closed, routes.settled()]);
  } finally {
    server.closeAllConnections();
    server.close();
    await sessions.close();
    await callers.close();
  }
}

const mostConnections = 1000;

const defaultSessions = { mostOfOne: 16, mostOfAll: 512, idleMs: 30 * 60_000 };

/** Milliseconds between two looks at `ktx.yaml`. */
const defaultRefreshMs = 2_000;

/** Milliseconds in which calls that are cancelled end, and their clients read that. */
const cancellationMs = 2_000;

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/mcp`;
}
