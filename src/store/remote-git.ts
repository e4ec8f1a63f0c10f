import { UserError } from '../lib/error.ts';
import { git, gitOutput } from './git.ts';

/** A repository on a host, and the login that git sends there and nowhere else. */
export interface RemoteRepository {
  /** Without a login. */
  readonly url: string;
  readonly user: string;
  readonly token: string;
}

interface RemoteCall {
  /** A folder of the repository that takes and gives. */
  readonly root: string;
  readonly remote: RemoteRepository;
  readonly signal: AbortSignal;
}

/** The commit of a branch on the host; undefined if it has none. */
export async function remoteTip(call: RemoteCall, branch: string): Promise<string | undefined> {
  const listed = await callRemote(call, (url) => ['ls-remote', url, `refs/heads/${branch}`]);
  return /^[0-9a-f]{40,64}(?=\t)/.exec(listed)?.[0];
}

/** Fetches a branch into a ref of ktx, and returns its commit. */
export async function fetchBranch(
  call: RemoteCall,
  { branch, into }: { readonly branch: string; readonly into: string },
): Promise<string> {
  const refs = `+refs/heads/${branch}:${into}`;
  await callRemote(call, (url) => [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    url,
    refs,
  ]);
  return gitOutput(call.root, ['rev-parse', '--verify', `${into}^{commit}`]);
}

interface PushedBranch {
  readonly branch: string;
  readonly commit: string;
  /** What the branch has to have, or else it is left as it is; undefined: there must be none. */
  readonly replaces: string | undefined;
}

/** Puts a commit on a branch of the host. */
export async function pushBranch(
  call: RemoteCall,
  { branch, commit, replaces = '' }: PushedBranch,
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  await callRemote(call, (url) => [
    'push',
    '--quiet',
    '--no-verify',
    '--no-signed',
    '--recurse-submodules=no',
    `--force-with-lease=${ref}:${replaces}`,
    url,
    `${commit}:${ref}`,
  ]);
}

/**
 * Runs git against the host. The token is in the environment of git alone: arguments are visible
 * to every process of the machine, and an address ends in messages and files.
 */
async function callRemote(
  { root, remote, signal }: RemoteCall,
  args: (url: string) => readonly string[],
): Promise<string> {
  const { url, token } = remote;
  await requireOwnWay(root);
  try {
    const env = loginEnvironment(remote);
    return await gitOutput(root, [...quietSettings, ...args(url)], { env, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof UserError) || error.code !== 'git_failed') throw error;
    throw remoteError(error, new URL(url).host, [token, basicLogin(remote)]);
  }
}

/**
 * Settings that lead a call to another server or repository, or let one pretend to be the host. The
 * more exact address wins in git, so that a setting on the command line replaces none of them.
 */
const ways =
  '^(http\\.(.*\\.)?(proxy|ssl|schannel|curloptresolve|followredirects|pinnedpubkey|cookiefile|savecookies)|url\\.|remote\\.https?://)';

/** Throws if the repository says how its host is reached: only a person of this machine may. */
async function requireOwnWay(root: string): Promise<void> {
  const args = ['config', '--show-scope', '--name-only', '-z', '--get-regexp', ways];
  const { stdout } = await git(root, args, { allow: [1] });
  const words = stdout.toString('utf8').split('\0');
  const at = words.findIndex((word) => word === 'local' || word === 'worktree');
  if (at === -1) return;
  const name = JSON.stringify(words[at + 1] ?? '');
  throw new UserError('git_way_foreign', `${root}: the repository has the git setting ${name}.`, {
    hint: 'It could lead the token elsewhere. If it is yours: git config --unset it here, and set it with git config --global.',
    exitCode: 2,
  });
}

/** No helper and no program gives another login, and no answer leads to another server. */
const quietSettings = [
  'credential.helper=',
  'core.askPass=',
  'http.followRedirects=false',
  'push.pushOption=',
  'push.followTags=false',
].flatMap((setting) => ['-c', setting]);

function loginEnvironment(remote: RemoteRepository): Readonly<Record<string, string>> {
  const { protocol, origin } = new URL(remote.url);
  const first = Number(process.env['GIT_CONFIG_COUNT'] ?? '0') || 0;
  return {
    GIT_ALLOW_PROTOCOL: protocol.replace(':', ''),
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    // Traces would write the login down.
    ...Object.fromEntries(
      Object.keys(process.env)
        .filter((name) => /^GIT_(?:TRACE|CURL_VERBOSE)/.test(name))
        .map((name) => [name, '0']),
    ),
    // Git sends it to addresses of this origin alone, whatever `insteadOf` says.
    GIT_CONFIG_COUNT: String(first + 1),
    [`GIT_CONFIG_KEY_${first}`]: `http.${origin}/.extraHeader`,
    [`GIT_CONFIG_VALUE_${first}`]: `Authorization: Basic ${basicLogin(remote)}`,
  };
}

function basicLogin({ user, token }: RemoteRepository): string {
  return Buffer.from(`${user}:${token}`).toString('base64');
}

/** What git and the host said, without secrets and in one line. */
function remoteError(error: UserError, host: string, secrets: readonly string[]): UserError {
  const said = secrets
    .reduce((text, secret) => text.replaceAll(secret, '…'), error.message)
    .replaceAll(/\s+/g, ' ')
    .slice(0, 600);
  const found = remoteFaults.find(({ sign }) => sign.test(said)) ?? otherFault;
  const { code, message, hint, retryable } = found;
  return new UserError(code, `${host}: ${message}: ${said}`, { hint, retryable });
}

const otherFault = {
  code: 'git_push_refused',
  message: 'git could not bring the branch there',
  hint: 'Follow git’s message. The change is kept.',
  retryable: false,
};

const remoteFaults = [
  {
    sign: /Could not resolve|Failed to connect|Connection refused|timed out|Empty reply|unexpected disconnect|Recv failure|HTTP 5\d\d|returned error: 5\d\d/i,
    code: 'git_host_unreachable',
    message: 'the host does not answer git',
    hint: 'Try again later. The change is kept.',
    retryable: true,
  },
  {
    sign: /Authentication failed|could not read Username|returned error: 40[13]|HTTP 40[13]|Invalid (?:username|credentials)/i,
    code: 'git_login_refused',
    message: 'the host does not let ktx push',
    hint: 'serve.git.token needs the right to write to the repository.',
    retryable: false,
  },
  {
    sign: /stale info|non-fast-forward|fetch first/i,
    code: 'change_taken_over',
    message: 'the branch has changed there',
    hint: 'Somebody else works on this branch: add to it there, or close its request.',
    retryable: false,
  },
] as const;
