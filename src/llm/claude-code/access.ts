import type { AuthMode } from '../backends.ts';
import { LlmError } from '../port/error.ts';
import { families, missingVariables } from './child/env.ts';

/** What a child says of who pays, before anything is sent. */
export interface Account {
  readonly tokenSource?: string | undefined;
  readonly apiKeySource?: string | undefined;
  readonly apiProvider?: string | undefined;
  readonly subscriptionType?: string | undefined;
}

/** Whose account a child goes by, and how that is made sure of. */
export interface Access {
  /** Throws unless a child would use this account. Free: asked before the first request. */
  checkAccount(account: Account): void;
  /** The same of what `init` says. */
  checkKeySource(source: string | undefined): void;
  /** Who pays, for a person. */
  payer(account: Account): string;
  refused(status?: number): LlmError;
}

/** `oauth` was said by older releases. */
const noApiKey: ReadonlySet<string | undefined> = new Set([undefined, 'none', 'oauth']);
/** Where the user's own session may come from; a login of the program itself names no source. */
const ownSources: ReadonlySet<string | undefined> = new Set([
  undefined,
  'claude.ai',
  families.oauth_token.account.tokenSource,
]);

const authHint =
  'Authenticate Claude Code locally: claude auth login (no claude here? npm install -g @anthropic-ai/claude-code). Then run ktx setup, or this command, again.';

/** `claude-code`: the user's own local session, and nothing else. */
export const ownSession: Access = {
  checkAccount({ tokenSource, apiKeySource, apiProvider = 'firstParty' }) {
    this.checkKeySource(apiKeySource);
    if (tokenSource === 'none') throw this.refused();
    const other = apiProvider === 'firstParty' ? tokenSource : apiProvider;
    if (apiProvider === 'firstParty' && ownSources.has(tokenSource)) return;
    throw new LlmError(
      'auth',
      `Claude Code would go by ${other} in place of your own local session.`,
      { hint: authHint },
    );
  },
  checkKeySource(source) {
    if (noApiKey.has(source)) return;
    const message = `Claude Code would use an API key (${source}); the backend claude-code takes your own local session only.`;
    throw new LlmError('auth', message, {
      hint: `${authHint} To use an API key, choose the backend anthropic or claude-agent.`,
    });
  },
  payer({ tokenSource, subscriptionType }) {
    const how =
      tokenSource === families.oauth_token.account.tokenSource
        ? `token from ${tokenSource}`
        : subscriptionType;
    return `your own local Claude Code session${how === undefined ? '' : ` (${how})`}`;
  },
  refused(status) {
    const why =
      status === undefined
        ? 'there is no usable local session'
        : `the local session was refused (${status})`;
    return new LlmError('auth', `Authenticate Claude Code locally: ${why}.`, {
      hint: authHint,
      status,
    });
  },
};

/** `claude-agent`: the account of the mode; throws where a variable is missing, with all of them in one error. */
export function agentAccess(mode: AuthMode, env: NodeJS.ProcessEnv): Access {
  const missing = missingVariables(env, mode);
  const hint = `Set ${missing.length === 0 ? 'what' : missing.join('; ')} in the environment of ktx, or choose another llm.provider.auth.`;
  if (missing.length > 0)
    throw new LlmError('auth', `claude-agent with auth ${mode} needs ${missing.join(', and ')}.`, {
      hint,
    });
  const { account: wanted, payer } = families[mode];
  const other = (source: string): LlmError => {
    return new LlmError('auth', `Claude Code would go by ${source}, not by ${payer}.`, {
      hint: 'ktx doctor shows what is there.',
    });
  };
  return {
    checkAccount({ apiProvider = 'firstParty', apiKeySource, tokenSource }) {
      if (apiProvider !== wanted.apiProvider) throw other(apiProvider);
      this.checkKeySource(apiKeySource);
      if (wanted.tokenSource !== undefined && tokenSource !== wanted.tokenSource)
        throw other(tokenSource ?? 'no token');
    },
    checkKeySource(source) {
      const isRight =
        wanted.apiKeySource === undefined ? noApiKey.has(source) : source === wanted.apiKeySource;
      if (!isRight) throw other(source ?? 'no API key');
    },
    payer: () => payer,
    refused(status) {
      const why = status === undefined ? '' : ` (${status})`;
      return new LlmError(
        'auth',
        `${payer.charAt(0).toUpperCase()}${payer.slice(1)} was refused${why}.`,
        {
          hint: 'Check it, then: ktx status',
          status,
        },
      );
    },
  };
}
