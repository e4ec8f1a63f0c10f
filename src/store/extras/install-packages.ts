import { spawn } from 'node:child_process';
import { basename, delimiter, dirname, isAbsolute } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import type { ExtraName } from './extra-list.ts';

/** Characters of what npm says about a failure. */
const longestReason = 300;
/** Retries for a few seconds. By default npm is silent for more than a minute. */
const retries = [
  '--fetch-retries=3',
  '--fetch-retry-mintimeout=500',
  '--fetch-retry-maxtimeout=3000',
];
const options = [
  'ci',
  '--ignore-scripts',
  '--omit=dev',
  '--no-audit',
  '--no-fund',
  '--json',
  '--loglevel=silent',
  ...retries,
];

/** Runs `npm ci` in a folder with the lists of an extra. Throws `extra_failed`. */
export async function installPackages(
  name: ExtraName,
  cwd: string,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn('npm', options, {
    cwd,
    env: { ...process.env, PATH: pathWithoutProject() },
    stdio: ['ignore', 'pipe', 'ignore'],
    signal,
    // npm is a script there. The options have nothing that a shell could misread.
    shell: process.platform === 'win32',
  });
  let answer = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  child.once('error', (error: NodeJS.ErrnoException) =>
    reject(signal.aborted ? error : failedError(name, { code: 'NO_NPM', summary: error.message })),
  );
  child.once('close', (code) =>
    code === 0 ? resolve() : reject(failedError(name, readReason(answer, code))),
  );
  return promise;
}

/** Without the folders that `npx` and `npm run` add: a cloned project must not choose npm. */
function pathWithoutProject(): string {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(
      (folder) =>
        isAbsolute(folder) &&
        !(basename(folder) === '.bin' && basename(dirname(folder)) === 'node_modules'),
    )
    .join(delimiter);
}

interface Reason {
  readonly code: string;
  readonly summary: string;
}

const answerSchema = z.looseObject({
  error: z.looseObject({ code: z.string().catch(''), summary: z.string() }),
});

/** What `npm --json` says about a failure. */
function readReason(answer: string, code: number | null): Reason {
  try {
    return answerSchema.parse(JSON.parse(answer)).error;
  } catch {
    return { code: '', summary: `npm ended with ${code}` };
  }
}

const unreachable =
  /^(?:E(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH|PIPE)|ERR_SOCKET_TIMEOUT)$/;

function failedError(name: ExtraName, { code, summary }: Reason): UserError {
  const { what, hint } = explain(code);
  const [line = ''] = summary.replace(/^\w*Error: /, '').split('\n');
  const reason = line.slice(0, longestReason);
  const message = `The extra ${name} could not be fetched: ${what}${reason}`;
  return new UserError('extra_failed', message, { hint, retryable: unreachable.test(code) });
}

function explain(code: string): { readonly what: string; readonly hint: string } {
  if (code === 'NO_NPM')
    return {
      what: 'npm cannot be started: ',
      hint: 'Install npm, which comes with Node.js. Then repeat the command.',
    };
  if (code === 'EINTEGRITY')
    return {
      what: 'what the registry sent is not what this version of ktx expects. ',
      hint: 'Nothing of it was kept. Check which registry npm uses: npm config get registry',
    };
  if (unreachable.test(code))
    return {
      what: 'the registry of npm cannot be reached. ',
      hint: 'Check the network and the proxy of npm; nothing was left behind. Then repeat the command.',
    };
  return {
    what: '',
    hint: 'Nothing was left behind. Check the settings of npm (npm config list), then repeat the command.',
  };
}
