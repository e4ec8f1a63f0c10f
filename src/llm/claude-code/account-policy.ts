import type { AuthMode } from '../backends.ts';
import { LlmError } from '../port/error.ts';
import { authVariables, missingVariables } from './child/env.ts';

/** What a child reports about the account it would use, before anything is sent. */
export interface ChildAccount {
  readonly email?: string | undefined;
  readonly organization?: string | undefined;
  readonly tokenSource?: string | undefined;
  readonly apiKeySource?: string | undefined;
  readonly apiProvider?: string | undefined;
  readonly subscriptionType?: string | undefined;
  /** Managed settings that the child has. */
  readonly policySettings?: Readonly<Record<string, unknown>> | undefined;
}

/** Which account a child has to use. */
export interface AccountPolicy {
  /** Throws if the child would use another account. Free: called before the first request. */
  checkAccount(account: ChildAccount): void;
  /** Throws if the source of the API key in the `init` message belongs to another account. */
  checkKeySource(source: string | undefined): void;
  /** Who pays, shown to a person. */
  payer(account: ChildAccount): string;
  /**
   * The error when the provider refuses the account. `status` is the HTTP status, if there is one.
   */
  refusedError(status?: number): LlmError;
}

/** Older releases report `oauth`. */
const noApiKey: ReadonlySet<string | undefined> = new Set([undefined, 'none', 'oauth']);
const ownTokenSource = authVariables.oauth_token.account.tokenSource;
/** Token sources of the user's own session. A login of the program itself reports no source. */
const ownTokenSources: ReadonlySet<string | undefined> = new Set([
  undefined,
  'claude.ai',
  ownTokenSource,
]);

const loginHint =
  'Authenticate Claude Code locally: claude auth login (no claude here? npm install -g @anthropic-ai/claude-code). Then run ktx setup, or this command, again.';

/** `claude auth login --console` keeps an API key that the Console made. */
const consoleKeySource = authVariables.console.account.apiKeySource;

function consoleLoginError(): LlmError {
  const message =
    'Claude Code is logged in with a Console account, which pays by API key. The backend claude-code works with the login of a Claude subscription only.';
  return new LlmError('auth', message, {
    hint: 'Authenticate Claude Code locally with a subscription: claude auth login. Or let the Console account pay: ktx setup --llm-backend claude-agent --llm-auth console',
  });
}

/** `claude-code`: only the user's own local session. */
export const ownSessionPolicy: AccountPolicy = {
  checkAccount({ tokenSource, apiKeySource, apiProvider = 'firstParty' }) {
    this.checkKeySource(apiKeySource);
    if (tokenSource === 'none') throw this.refusedError();
    if (apiProvider === 'firstParty' && ownTokenSources.has(tokenSource)) return;
    const account = apiProvider === 'firstParty' ? tokenSource : apiProvider;
    const message = `Claude Code would use ${account} instead of your own local session.`;
    throw new LlmError('auth', message, { hint: loginHint });
  },
  checkKeySource(source) {
    if (noApiKey.has(source)) return;
    if (source === consoleKeySource) throw consoleLoginError();
    const message = `Claude Code would use an API key (${source}). The backend claude-code uses only your own local session.`;
    throw new LlmError('auth', message, {
      hint: `${loginHint} To use an API key, choose the backend anthropic or claude-agent.`,
    });
  },
  payer({ tokenSource, subscriptionType }) {
    const detail = tokenSource === ownTokenSource ? `token from ${tokenSource}` : subscriptionType;
    return `your own local Claude Code session${detail === undefined ? '' : `, ${detail}`}`;
  },
  refusedError(status) {
    const reason =
      status === undefined
        ? 'there is no usable local session'
        : `the local session was refused (${status}); it may have expired`;
    return new LlmError('auth', `Authenticate Claude Code locally: ${reason}.`, {
      hint: loginHint,
      status,
    });
  },
};

/**
 * `claude-agent`: only the account of the auth mode. Throws one error that names all missing
 * variables.
 */
export function authModePolicy(mode: AuthMode, env: NodeJS.ProcessEnv): AccountPolicy {
  const missing = missingVariables(env, mode);
  if (missing.length > 0)
    throw new LlmError('auth', `claude-agent with auth ${mode} needs ${missing.join(', and ')}.`, {
      hint: `Set ${missing.join('; ')} in the environment of ktx, or choose another llm.provider.auth.`,
    });
  const { account: expected, payer, login } = authVariables[mode];
  const hint =
    login === undefined
      ? 'To see what is there, run: ktx doctor'
      : `Log in with: ${login}. Then run ktx setup, or this command, again.`;
  const wrongAccountError = (source: string): LlmError =>
    new LlmError('auth', `Claude Code would use ${source}, not ${payer}.`, { hint });
  return {
    checkAccount({ apiProvider = 'firstParty', apiKeySource, tokenSource }) {
      if (apiProvider !== expected.apiProvider) throw wrongAccountError(apiProvider);
      this.checkKeySource(apiKeySource);
      if (expected.tokenSource !== undefined && tokenSource !== expected.tokenSource)
        throw wrongAccountError(tokenSource ?? 'no token');
    },
    checkKeySource(source) {
      const isExpected =
        expected.apiKeySource === undefined
          ? noApiKey.has(source)
          : source === expected.apiKeySource;
      const isMissing = source === undefined || source === 'none';
      if (!isExpected) throw wrongAccountError(isMissing ? 'no API key' : source);
    },
    payer: () => payer,
    refusedError(status) {
      const subject = `${payer.charAt(0).toUpperCase()}${payer.slice(1)}`;
      const detail = status === undefined ? '' : ` (${status})`;
      return new LlmError('auth', `${subject} was refused${detail}.`, {
        hint: login === undefined ? 'Check it, then run: ktx status' : hint,
        status,
      });
    },
  };
}
