import { randomBytes } from 'node:crypto';
import { UserError } from '../../lib/error.ts';
import type { Project } from '../../project/open/open.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Caller } from '../caller.ts';
import { authenticate } from '../http/authenticate.ts';
import { openCallers } from '../http/callers.ts';
import type { Identity } from '../http/identity.ts';
import type { ServeState } from '../shared/serve-state.ts';
import { openTaskTable } from '../tasks/task-table.ts';
import type { CallerLimits } from '../usage/limits.ts';

interface TokenCallerOptions {
  /** The token, as `ktx mcp token create` printed it. */
  readonly text: string;
  readonly state: Pick<ServeState, 'tokens' | 'counters'>;
  readonly audit: Pick<AuditLog, 'append' | 'hash'>;
  readonly limits: CallerLimits;
  readonly signal: AbortSignal;
}

/** The client of a server over stdio that was started with a token. */
export interface TokenCaller {
  readonly caller: Caller;
  /** Rejects with `token_invalid` once the token lets nobody in, or lets in somebody else. */
  readonly admit: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * The caller that the server over HTTP would have for this token: the same role, scopes, limits and
 * audit. Throws `token_invalid` for a token that is unknown, expired or revoked.
 */
export async function openTokenCaller(
  project: Project,
  { text, state, audit, limits, signal }: TokenCallerOptions,
): Promise<TokenCaller> {
  const { tokens, counters } = state;
  const identify = async (): Promise<Identity> => {
    const login = await authenticate({ tokens, oidc: undefined }, `Bearer ${text}`);
    if (login.kind === 'in') return login.identity;
    throw tokenInvalid(login.code === 'token_missing' ? unreadable : login.error);
  };
  const identity = await identify();
  if (project.config.serve.changes === 'pull_request') await project.trust.requireGitHost();
  const tasks = openTaskTable(signal);
  const callers = openCallers(project, {
    limits,
    counters,
    audit,
    metrics: { observe: (record) => record },
    end: signal,
    stateSecret: randomBytes(32),
    tasks: () => tasks,
    sessions: { answer: async () => undefined },
    latest: (who) => callers.callerOf(who).caller,
  });
  const { caller } = callers.callerOf(identity);
  return {
    caller,
    async admit(): Promise<void> {
      if (callers.callerOf(await identify()).caller !== caller) throw tokenInvalid(changed);
    },
    close: () => callers.close(),
  };
}

const unreadable = 'It is no token of ktx: ktx_…';
const changed = 'Its role or its scopes were changed. Start the server again.';

function tokenInvalid(reason: string): UserError {
  return new UserError('token_invalid', `KTX_TOKEN lets nobody in. ${reason}`, {
    hint: 'ktx mcp token create makes one, on the machine and as the user that keeps the tokens',
    exitCode: 4,
  });
}
