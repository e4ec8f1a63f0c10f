import type { z } from 'zod';
import { UserError } from '../../../lib/error.ts';
import { parseJson, isRecord } from '../../../lib/json.ts';
import { type HttpClient, openHttp } from '../../../sources/http/client.ts';
import { limitedFor } from '../../../sources/http/used-up-limit.ts';
import type { RemoteRepository } from '../../../store/remote-git.ts';
import { gitHostAddress, type GitHostConfig } from './git-host-config.ts';
import { openGithub } from './github.ts';
import { openGitlab } from './gitlab.ts';

/** A pull request of GitHub, a merge request of GitLab. */
interface ChangeRequest {
  readonly number: number;
  /** Where a person reads it. */
  readonly url: string;
}

export interface RequestText {
  readonly branch: string;
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

/** What both hosts can do. Every call throws a UserError of the codes of this file. */
export interface GitHostApi {
  /** Throws if the host is away, or does not let the token see the repository. */
  check(): Promise<void>;
  /** The open request of a branch. */
  findOpen(branch: string): Promise<ChangeRequest | undefined>;
  create(text: RequestText): Promise<ChangeRequest>;
  update(number: number, text: RequestText): Promise<ChangeRequest>;
  readState(number: number): Promise<'open' | 'merged' | 'closed'>;
}

export interface GitHost extends GitHostApi {
  readonly remote: RemoteRepository;
  /** Opens the request of a branch, or brings the open one up to date. */
  propose(text: RequestText): Promise<ChangeRequest>;
}

/** In milliseconds: a person waits for the answer. */
const longestWait = 10_000;

/** Opens the way to a host. Sends nothing yet. */
export function openGitHost(config: GitHostConfig, token: string, signal: AbortSignal): GitHost {
  const address = gitHostAddress(config);
  const isOwn = config.url !== undefined;
  const { api, user, headers, open } = config.host === 'github' ? github(isOwn) : gitlab();
  const http = openHttp({
    connection: 'serve.git',
    baseUrl: `${config.host === 'github' && !isOwn ? 'https://api.github.com' : address}${api}`,
    headers: { 'user-agent': 'ktx', authorization: `Bearer ${token}`, ...headers },
    allowPrivate: config.allow_private === true,
    longestWait,
    signal,
  });
  const { repository, base } = config;
  const own = open({ repository, base, ask: openAsk(http, token) });
  return {
    ...own,
    remote: { url: `${address}/${repository}.git`, user, token },
    async propose(text) {
      const known = await own.findOpen(text.branch);
      return known === undefined ? own.create(text) : own.update(known.number, text);
    },
  };
}

function github(isOwn: boolean) {
  // A host of one's own may not know the newest version; both have what ktx asks.
  const version = isOwn ? '2022-11-28' : '2026-03-10';
  const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': version };
  return { api: isOwn ? '/api/v3' : '', user: 'x-access-token', headers, open: openGithub };
}

function gitlab() {
  return { api: '/api/v4', user: 'oauth2', headers: {}, open: openGitlab };
}

/** Sends a request. The answer is one of success that fits the schema, or an error. */
type AskHost = <T>(request: Parameters<HttpClient['ask']>[0], schema: z.ZodType<T>) => Promise<T>;

export interface HostInput {
  readonly repository: string;
  readonly base: string;
  readonly ask: AskHost;
}

function openAsk(http: HttpClient, token: string): AskHost {
  return async (request, schema) => {
    const answer = await http.ask(request).catch((error: unknown) => {
      throw error instanceof UserError ? withoutSource(error) : error;
    });
    if (answer.status < 200 || answer.status >= 300) throw refusal(answer, token);
    const { data, success } = schema.safeParse(parseJson(answer.text));
    if (success) return data;
    const message = `serve.git: the answer to ${request.path} is not what ktx expects.`;
    const hint = 'Check serve.git.url and host. The change is kept.';
    throw new UserError('git_request_refused', message, { hint });
  };
}

/** The client speaks of sources; this is none. */
function withoutSource(error: UserError): UserError {
  const { code, message, exitCode, details } = error;
  if (code !== 'source_unreachable') return error;
  return new UserError('git_host_unreachable', message, {
    hint: 'Try again later. The change is kept.',
    retryable: true,
    exitCode,
    details,
  });
}

type HostAnswer = Awaited<ReturnType<HttpClient['ask']>>;

function refusal(answer: HostAnswer, token: string): UserError {
  const { status } = answer;
  const said = wordsOf(answer.text).replaceAll(token, '…');
  const message = `serve.git: the host answered with ${status}${said === '' ? '' : `: ${said}`}.`;
  const wait = limitedFor(answer);
  if (wait !== undefined)
    return new UserError('git_host_busy', `${message} Its limit is used up for ${wait} seconds.`, {
      hint: 'Try again after that time. The change is kept.',
      retryable: true,
    });
  const { code, hint } = faults[status] ?? otherFault;
  return new UserError(code, message, { hint, exitCode: status === 401 ? 4 : 1 });
}

const otherFault = {
  code: 'git_request_refused',
  hint: 'Check serve.git in ktx.yaml: repository, base and url. The change is kept.',
};
const faults: Readonly<Record<number, { readonly code: string; readonly hint: string }>> = {
  401: { code: 'git_login_refused', hint: 'Renew the secret of serve.git.token.' },
  403: {
    code: 'git_host_forbidden',
    hint: 'serve.git.token needs the rights to write to the repository and its requests.',
  },
  404: {
    code: 'git_repository_unknown',
    hint: 'Check serve.git.repository, and that serve.git.token may see it.',
  },
};

/** What the host says is wrong, shortened; it is text from outside. */
function wordsOf(text: string): string {
  const answer = parseJson(text);
  if (!isRecord(answer)) return '';
  const parts = ['message', 'error', 'errors'].map((key) => answer[key]);
  const words = parts.filter((part) => part !== undefined).map(textOf);
  return words.join(' ').replaceAll(/\s+/g, ' ').trim().slice(0, 300);
}

function textOf(part: unknown): string {
  return typeof part === 'string' ? part : JSON.stringify(part);
}
