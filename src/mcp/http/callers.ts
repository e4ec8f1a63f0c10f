import { createMcpHandler } from '@modelcontextprotocol/server';
import { UserError } from '../../lib/error.ts';
import type { ToolEffect } from '../../llm/port/tool-call.ts';
import { type Project, viewAs } from '../../project/open/open.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { recordInto, type RecordCall } from '../audit/record-calls.ts';
import { type Caller, openCaller } from '../caller.ts';
import { createServer } from '../server.ts';
import { type CallerLimits, openLimits, type OpenLimits } from './limits.ts';
import type { AccessToken, tokenScopes } from './tokens.ts';

/** A caller over HTTP: its own handler, answers and limits, kept between its requests. */
export interface HttpCaller {
  readonly limits: OpenLimits;
  /** The handler of the SDK, for the current revision of the protocol and those of 2025. */
  readonly handler: ReturnType<typeof createMcpHandler>;
}

type TokenScope = (typeof tokenScopes)[number];

/** The scope that a tool needs, by what it may affect. */
const scopeOfEffect: Readonly<Record<ToolEffect, TokenScope>> = {
  context: 'read',
  query: 'query',
  write: 'write',
  external: 'write',
};

/** Subscriptions that one caller may hold open. */
const mostSubscriptions = 16;

interface CallersInput {
  readonly limits: CallerLimits;
  readonly audit: Pick<AuditLog, 'append' | 'hash'>;
  /** Ends all calls; their clients still get an answer. */
  readonly end: AbortSignal;
}

/** The callers of a server: one for each token, and one for all requests without login. */
export function openCallers(project: Project, { limits: callLimits, audit, end }: CallersInput) {
  const known = new Map<string, HttpCaller>();
  const open = (token: AccessToken | undefined): HttpCaller => {
    const limits = openLimits(callLimits);
    const record = recordInto(audit, {
      person: token?.name,
      token: token?.id,
      role: token === undefined ? project.role : token.role,
      arguments: project.config.serve.audit.arguments,
    });
    const caller =
      token === undefined
        ? openCaller(project, { admit: admitWithin(limits, undefined), record })
        : openTokenCaller(project, token, { limits, record });
    const handler = createMcpHandler(
      ({ requestInfo }) =>
        createServer(caller, AbortSignal.any([end, ...(requestInfo ? [requestInfo.signal] : [])])),
      { maxSubscriptions: mostSubscriptions },
    );
    return { limits, handler };
  };
  return {
    callerOf(token: AccessToken | undefined): HttpCaller {
      // A token whose file was changed by hand is another caller.
      const key = JSON.stringify(token && [token.id, token.name, token.role, token.scopes]) ?? '';
      const caller = known.get(key) ?? open(token);
      known.set(key, caller);
      return caller;
    },
    async close(): Promise<void> {
      await Promise.all([...known.values()].map(({ handler }) => handler.close()));
    },
  };
}

interface TokenCallerInput {
  readonly limits: OpenLimits;
  readonly record: RecordCall;
}

function openTokenCaller(
  project: Project,
  { name, role, scopes }: AccessToken,
  { limits, record }: TokenCallerInput,
): Caller {
  return openCaller(viewAs(project, role), {
    name,
    mayUse: (effect) => scopes.includes(scopeOfEffect[effect]),
    admit: admitWithin(limits, scopes),
    record,
  });
}

/** Admits calls of tools that the scopes allow (undefined: of all), as long as the limits hold. */
function admitWithin(
  limits: OpenLimits,
  scopes: readonly TokenScope[] | undefined,
): Caller['admit'] {
  return ({ name, effect }) => {
    const scope = scopeOfEffect[effect];
    if (scopes?.includes(scope) === false)
      return { kind: 'refused', error: scopeMissing(name, scope) };
    const isQuery = effect === 'query';
    const error = limits.takeCall() ?? (isQuery ? limits.startQuery() : undefined);
    if (error !== undefined) return { kind: 'refused', error };
    return { kind: 'admitted', release: () => (isQuery ? limits.endQuery() : undefined) };
  };
}

function scopeMissing(tool: string, scope: TokenScope): UserError {
  const message = `This token may not call ${tool}: it does not have the scope ${scope}.`;
  const hint = 'Do without it, or ask the person who runs the server for a token with that scope.';
  return new UserError('scope_missing', message, { hint });
}
