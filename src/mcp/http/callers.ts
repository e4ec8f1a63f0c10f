import { createHmac } from 'node:crypto';
import {
  createMcpHandler,
  createRequestStateCodec,
  type McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import type { ToolEffect } from '../../llm/port/tool-call.ts';
import { type Project, viewAs } from '../../project/open/open.ts';
import type { SharedCounters } from '../../store/shared/shared-counters.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { recordInto, type RecordCall } from '../audit/record-calls.ts';
import type { WarehouseCaller } from '../../warehouse/identity/statement-identity.ts';
import { type Caller, latestCaller, openCaller } from '../caller.ts';
import type { ClientSessions } from '../client-sessions.ts';
import { createServer } from '../server.ts';
import { openDaySpending } from '../usage/day-spending.ts';
import { openDayUsage } from '../usage/day-usage.ts';
import { type CallerLimits, openLimits, type OpenLimits } from '../usage/limits.ts';
import { openSharedLimits } from '../usage/shared-limits.ts';
import type { WarehouseSignIns } from '../sign-in/warehouse-sign-ins.ts';
import { openTaskSubscriptions } from '../tasks/task-subscription.ts';
import type { TaskTable } from '../tasks/task-table.ts';
import type { Identity } from './identity.ts';
import type { Metrics } from '../usage/metrics.ts';
import type { CallScope } from './tokens.ts';

/** A caller over HTTP: its own handler, answers and limits, kept between its requests. */
export interface HttpCaller {
  readonly caller: Caller;
  readonly limits: OpenLimits;
  /** Answers messages of the current revision of the protocol and of those of 2025. */
  readonly answer: (request: Request, message: unknown) => Promise<Response>;
  readonly close: () => Promise<void>;
  /** Takes the token of the latest request in place of an older one, which may have ended. */
  readonly renew: (identity: Identity | undefined) => void;
  /** The scope that a message needs and that the caller does not have. */
  readonly missingScope: (message: unknown) => CallScope | undefined;
}

/** The scope that a tool needs, by what it may affect. */
const scopeOfEffect: Readonly<Record<ToolEffect, CallScope>> = {
  context: 'read',
  query: 'query',
  write: 'write',
  external: 'write',
};

const exchangeNothing: NonNullable<Identity['exchange']> = () =>
  Promise.reject(new Error('there is no token to exchange'));

/** Subscriptions that one caller may hold open. */
const mostSubscriptions = 16;

export interface CallersInput {
  readonly limits: CallerLimits;
  /** What several servers count together; undefined if each counts for itself. */
  readonly counters?: SharedCounters | undefined;
  readonly audit: Pick<AuditLog, 'append' | 'hash'>;
  readonly metrics: Pick<Metrics, 'observe'>;
  /** Ends all calls; their clients still get an answer. */
  readonly end: AbortSignal;
  /** Seals what clients keep while they ask; each caller has a key of its own from it. */
  readonly stateSecret: Uint8Array;
  /** What answers the messages of a caller. */
  readonly createServer?: typeof createServer | undefined;
  /** Where people sign in at warehouses; undefined without a login of the company. */
  readonly signIns?: WarehouseSignIns | undefined;
  /** The tasks of a caller, with all configurations. */
  readonly tasks: (owner: string) => TaskTable;
  /** Those of all configurations. */
  readonly sessions: Pick<ClientSessions, 'answer'>;
  /** The caller with the configuration that counts then. */
  readonly latest: (identity: Identity | undefined) => Caller;
}

/** The callers of a server: one for each identity, and one for all requests without login. */
export function openCallers(opened: Project, input: CallersInput) {
  const project = { ...opened, proposes: opened.config.serve.changes === 'pull_request' };
  const { limits: callLimits, counters, audit, metrics, end, sessions, latest } = input;
  const create = input.createServer ?? createServer;
  const usageOf = openDayUsage(() => project.journal().db, callLimits);
  const accountOf = openDaySpending(() => project.journal().db, callLimits);
  const known = new Map<string, HttpCaller>();
  const open = (identity: Identity | undefined, owner: string): HttpCaller => {
    const who = identity?.id ?? '';
    const limits =
      counters === undefined
        ? openLimits(callLimits, usageOf(who))
        : openSharedLimits(counters, callLimits, who);
    const recordCall = recordInto(audit, {
      person: identity?.name,
      token: identity?.id,
      role: identity === undefined ? project.role : identity.role,
      arguments: project.config.serve.audit.arguments,
    });
    const record = metrics.observe(recordCall);
    const key = createHmac('sha256', input.stateSecret).update(owner).digest();
    const states = createRequestStateCodec({ key });
    const account = accountOf(identity?.id ?? '');
    const { exchange, renew } = openLatestExchange(identity);
    const { signIns } = input;
    const given = { limits, record, states, account, tasks: input.tasks(owner), signIns };
    const caller =
      identity === undefined
        ? openUnnamedCaller(project, given)
        : openIdentifiedCaller(project, { ...identity, exchange }, given);
    const endWith = (stop?: AbortSignal) => AbortSignal.any([end, ...(stop ? [stop] : [])]);
    const handler = createMcpHandler(
      ({ requestInfo }) => create(caller, endWith(requestInfo?.signal)),
      { maxSubscriptions: mostSubscriptions },
    );
    const listen = openTaskSubscriptions({ caller, most: mostSubscriptions, end });
    const createForSession = (stop: AbortSignal): McpServer =>
      create(
        latestCaller(() => latest(identity)),
        endWith(stop),
      );
    return {
      caller,
      limits,
      answer: async (request, message) =>
        (await sessions.answer({ owner, request, message, createServer: createForSession })) ??
        listen(request, message, await handler.fetch(request, { parsedBody: message })),
      close: () => handler.close(),
      renew,
      missingScope: (message) => scopeNeeded(caller, message),
    };
  };
  return {
    callerOf(identity: Identity | undefined): HttpCaller {
      // A token whose file was changed by hand is another caller.
      const { id, name, person, role, scopes } = identity ?? {};
      const key = JSON.stringify([id, name, person, role, scopes]);
      const caller = known.get(key) ?? open(identity, key);
      known.set(key, caller);
      caller.renew(identity);
      return caller;
    },
    async close(): Promise<void> {
      await Promise.all([...known.values()].map(({ close }) => close()));
    },
  };
}

/** Exchanges the token of the latest request of a person. */
function openLatestExchange(first: Identity | undefined) {
  let latest = first?.exchange;
  const exchange: Identity['exchange'] =
    latest && ((wanted) => (latest ?? exchangeNothing)(wanted));
  const renew = (identity: Identity | undefined): void => {
    latest = identity?.exchange ?? latest;
  };
  return { exchange, renew };
}

interface CallerInput {
  readonly limits: OpenLimits;
  readonly record: RecordCall;
  readonly states: Caller['states'];
  readonly account: WarehouseCaller['account'];
  readonly tasks: TaskTable;
  readonly signIns: WarehouseSignIns | undefined;
}

/** Everyone who asks a server without login. */
function openUnnamedCaller(project: Project, { account, limits, ...given }: CallerInput): Caller {
  const view = account ? viewAs(project, { ...project.caller, account }) : project;
  return openCaller(view, { ...given, admit: admitWithin(limits, undefined) });
}

function openIdentifiedCaller(
  project: Project,
  { name, role, person, exchange, scopes, canStepUp }: Identity,
  { limits, account, ...given }: CallerInput,
): Caller {
  const signIn = person === undefined ? undefined : given.signIns?.tokenOf(person);
  return openCaller(viewAs(project, { name, role, person, exchange, signIn, account }), {
    name,
    mayUse: (effect) => scopes.includes(scopeOfEffect[effect]),
    // A client that can get another token has to know for what.
    mayOffer: (effect) => canStepUp || scopes.includes(scopeOfEffect[effect]),
    admit: admitWithin(limits, scopes),
    ...given,
  });
}

/** Admits calls of tools that the scopes allow (undefined: of all), as long as the limits hold. */
function admitWithin(limits: OpenLimits, scopes: Identity['scopes'] | undefined): Caller['admit'] {
  return async ({ name, effect }) => {
    const scope = scopeOfEffect[effect];
    if (scopes?.includes(scope) === false)
      return { kind: 'refused', error: scopeMissing(name, scope) };
    const isQuery = effect === 'query';
    const error = (await limits.takeCall()) ?? (isQuery ? await limits.startQuery() : undefined);
    if (error !== undefined) return { kind: 'refused', error };
    return { kind: 'admitted', release: (bytes) => (isQuery ? limits.endQuery(bytes) : undefined) };
  };
}

const messageSchema = z.object({
  method: z.string(),
  params: z.object({ name: z.string().optional() }).optional(),
});

/** The scope that a message needs and that the caller does not have. */
function scopeNeeded(caller: Caller, message: unknown): CallScope | undefined {
  const { method, params } = messageSchema.safeParse(message).data ?? {};
  const effect =
    method === 'tools/call'
      ? effectOfTool(caller, params?.name)
      : method === 'resources/read' || method === 'resources/list'
        ? 'context'
        : undefined;
  return effect === undefined || caller.mayUse(effect) ? undefined : scopeOfEffect[effect];
}

function effectOfTool({ toolbox }: Caller, name: string | undefined): ToolEffect | undefined {
  const { signal } = new AbortController();
  const tools = [...toolbox.tools(signal), ...toolbox.appTools(signal)];
  return tools.find((tool) => tool.name === name)?.effect;
}

function scopeMissing(tool: string, scope: CallScope): UserError {
  const message = `This token may not call ${tool}: it does not have the scope ${scope}.`;
  const hint = 'Do without it, or ask the person who runs the server for a token with that scope.';
  return new UserError('scope_missing', message, { hint });
}
