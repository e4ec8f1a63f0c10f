import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../store/git-project.ts';
import type { Fault } from '../loopback-server.ts';
import { answerGit } from './git-backend.ts';
import { answerGithub } from './github-api.ts';
import { answerGitlab } from './gitlab-api.ts';

/** A pull request or merge request, as the host keeps it. */
export interface KeptRequest {
  readonly number: number;
  state: 'open' | 'merged' | 'closed';
  readonly branch: string;
  readonly base: string;
  title: string;
  body: string;
  /** True if its branch is in a fork. */
  readonly isFork?: true;
}

export interface HostState {
  readonly url: string;
  readonly repository: string;
  readonly requests: KeptRequest[];
  readonly hasBranch: (name: string) => boolean;
}

export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly json: Readonly<Record<string, unknown>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly json: unknown;
}

/**
 * A git host on loopback: a bare repository that git itself serves over HTTP, and the calls of the
 * API that ktx makes, as the vendor documents them. Everything needs the token.
 */
export async function startGitHost(
  kind: 'github' | 'gitlab',
  { token, repository = 'acme/data' }: { readonly token: string; readonly repository?: string },
) {
  const folder = mkdtempSync(join(tmpdir(), 'ktx-git-host-'));
  const bare = join(folder, `${repository}.git`);
  mkdirSync(dirname(bare), { recursive: true });
  run(folder, 'init', '-q', '--bare', '-b', 'main', bare);
  run(bare, 'config', 'http.receivepack', 'true');
  const faults: Fault[] = [];
  const log: string[] = [];
  const logins: string[] = [];
  const requests: KeptRequest[] = [];
  const hasBranch = (name: string) =>
    run(bare, 'for-each-ref', `refs/heads/${name}`, '--format=x') === 'x';
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = '', method = '', headers } = request;
    log.push(`${method} ${url}`);
    logins.push(headers.authorization ?? '');
    const fault = faults.find(({ match, times }) => times > 0 && match.test(`${method} ${url}`));
    if (fault !== undefined) {
      fault.times -= 1;
      response.writeHead(fault.status ?? 500, fault.headers).end(fault.body ?? '{}');
      return;
    }
    const isGit = /\.git\//.test(url);
    if (!isLogin(headers.authorization, isGit ? 'basic' : 'bearer', token)) {
      response.writeHead(401, isGit ? { 'www-authenticate': 'Basic realm="host"' } : {});
      response.end(JSON.stringify({ message: 'Bad credentials' }));
      return;
    }
    if (isGit) return answerGit(folder, request, response);
    let text = '';
    for await (const piece of request as AsyncIterable<Buffer>) text += piece.toString('utf8');
    const call: ApiRequest = {
      method,
      url: new URL(url, 'http://loopback'),
      headers,
      json: (text === '' ? {} : JSON.parse(text)) as ApiRequest['json'],
    };
    const { status, json } = (kind === 'github' ? answerGithub : answerGitlab)(call, state);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const state: HostState = { url: `http://127.0.0.1:${port}`, repository, requests, hasBranch };
  return {
    url: state.url,
    bare,
    faults,
    requests,
    /** Method and address of each call, and the login that came with it. */
    log,
    logins,
    git: (...args: string[]) => run(bare, ...args),
    close: async (): Promise<void> => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isLogin(header: string | undefined, scheme: 'basic' | 'bearer', token: string): boolean {
  const [word = '', value = ''] = (header ?? '').split(' ');
  if (word.toLowerCase() !== scheme) return false;
  if (scheme === 'bearer') return value === token;
  const [user = '', password] = Buffer.from(value, 'base64').toString('utf8').split(':');
  return ['x-access-token', 'oauth2'].includes(user) && password === token;
}
