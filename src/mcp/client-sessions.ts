import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server';
import { isRecord } from '../lib/json.ts';
import { declaresApps } from './apps/client-shows-apps.ts';
import { errorReply } from './stdio/check-line.ts';

/** The session of a client of 2025 that can be asked something in the middle of a call. */
interface ClientSession {
  /** Who opened it. Nobody else can use it. */
  readonly owner: string;
  readonly transport: Transport;
  readonly end: () => Promise<void>;
  /** Requests that are not answered yet. */
  readonly running: Set<Request>;
  /** By the clock of the sessions. */
  usedAt: number;
}

export interface ClientSessionLimits {
  /** Sessions of one caller. Clients beyond that have none, and are not asked anything. */
  readonly mostOfOne: number;
  readonly mostOfAll: number;
  /** Milliseconds after which a session without a request makes room for others. */
  readonly idleMs: number;
}

export interface ClientSessionMessage {
  readonly owner: string;
  readonly request: Request;
  /** Undefined for a request without a body. */
  readonly message: unknown;
  /** Makes the server of a new session. The signal ends its calls. */
  readonly createServer: (stop: AbortSignal) => McpServer;
}

export type ClientSessions = ReturnType<typeof openClientSessions>;

/**
 * The sessions of all callers. Only a client of 2025 that can answer questions (elicitation,
 * sampling) or shows apps gets one: the revision 2026-07-28 has none, and other clients lose
 * nothing when the server restarts.
 */
export function openClientSessions({ mostOfOne, mostOfAll, idleMs }: ClientSessionLimits) {
  const known = new Map<string, ClientSession>();

  const hasRoom = async (owner: string): Promise<boolean> => {
    const idle = [...known.values()].filter(
      ({ running, usedAt }) => running.size === 0 && performance.now() - usedAt >= idleMs,
    );
    await Promise.all(idle.map(({ end }) => end()));
    const own = [...known.values()].filter((session) => session.owner === owner);
    return known.size < mostOfAll && own.length < mostOfOne;
  };

  const open = async ({ owner, createServer }: ClientSessionMessage): Promise<ClientSession> => {
    const id = randomUUID();
    const stop = new AbortController();
    const server = createServer(stop.signal);
    const end = async (): Promise<void> => {
      known.delete(id);
      stop.abort();
      await server.close();
    };
    const transport = new Transport({ sessionIdGenerator: () => id, onsessionclosed: end });
    const session = { owner, transport, end, running: new Set<Request>(), usedAt: Infinity };
    known.set(id, session);
    await server.connect(transport);
    return session;
  };

  const begin = async (asked: ClientSessionMessage): Promise<Response | undefined> => {
    if (!needsSession(asked.message) || !(await hasRoom(asked.owner))) return undefined;
    const session = await open(asked);
    const answer = await handle(session, asked);
    // A session that did not begin takes no room.
    if (!answer.ok) await session.end();
    return answer;
  };

  return {
    /** Undefined for a message that belongs to no session. */
    async answer(asked: ClientSessionMessage): Promise<Response | undefined> {
      const { request, message, owner } = asked;
      if (!(await isLegacyRequest(request, message))) return undefined;
      const id = request.headers.get('mcp-session-id');
      if (id === null) return begin(asked);
      const session = known.get(id);
      return session?.owner === owner ? handle(session, asked) : sessionNotFound();
    },
    async close(): Promise<void> {
      await Promise.all([...known.values()].map(({ end }) => end()));
    },
  };
}

function handle(
  session: ClientSession,
  { request, message }: Pick<ClientSessionMessage, 'request' | 'message'>,
): Promise<Response> {
  session.usedAt = performance.now();
  session.running.add(request);
  // Also aborted once the whole answer was sent.
  const release = (): void => {
    session.running.delete(request);
    session.usedAt = performance.now();
    cancel(session, message);
  };
  request.signal.addEventListener('abort', release, { once: true });
  if (request.signal.aborted) release();
  return session.transport.handleRequest(request, { parsedBody: message });
}

/** Whether it said something that the server has to remember: it says it only here. */
function needsSession(message: unknown): boolean {
  if (!isInitializeRequest(message)) return false;
  const { capabilities } = message.params;
  const { elicitation, sampling } = capabilities;
  return elicitation !== undefined || sampling !== undefined || declaresApps(capabilities);
}

/** Nobody could get the answer any more. Does nothing if it was sent. */
function cancel({ transport }: ClientSession, message: unknown): void {
  const id = isRecord(message) && 'method' in message ? message['id'] : undefined;
  if (typeof id !== 'string' && typeof id !== 'number') return;
  const params = { requestId: id, reason: 'The client is gone.' };
  transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
}

/** As the protocol wants it: the client then begins a new session. */
function sessionNotFound(): Response {
  const text = 'Session not found: it ended, or the server was started again. Begin a new one.';
  return Response.json(errorReply(null, -32_001, text), { status: 404 });
}
