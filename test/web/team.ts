import { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { runCli } from '../../src/cli/run.ts';
import { environment, ktxJson } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';
import { type Received, sendTo } from './page.ts';

export interface StartedTeam extends AsyncDisposable {
  /** With a slash at the end. */
  readonly url: string;
  readonly mcp: string;
}

const listeningSchema = z.object({ url: z.string() });

/** `ktx mcp serve --http --page` in this process, until it is disposed. */
export async function startTeam(cwd: string, flags: readonly string[] = []): Promise<StartedTeam> {
  const env = environment({});
  await approve(cwd, env);
  const stop = new AbortController();
  const listening = Promise.withResolvers<string>();
  const ended = runCli(['mcp', 'serve', '--http', '--page', '--port=0', '--json', ...flags], {
    stdin: Readable.from([]),
    stdout: new Writable({
      write(chunk: Buffer, _encoding, done) {
        listening.resolve(chunk.toString());
        done();
      },
    }),
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
    env,
    cwd,
    signal: stop.signal,
  });
  void ended.then(() => listening.reject(new Error('ktx mcp serve ended')));
  const { url: mcp } = listeningSchema.parse(JSON.parse(await listening.promise));
  return {
    mcp,
    url: mcp.slice(0, -'mcp'.length),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

const tokenSchema = z.object({ token: z.string() });

/** A token as `ktx mcp token create` prints it, once. */
export async function createToken(
  cwd: string,
  name: string,
  flags: readonly string[],
): Promise<string> {
  const { envelope } = await ktxJson(['mcp', 'token', 'create', name, ...flags], { cwd });
  return tokenSchema.parse(envelope.data).token;
}

export function askToEnter({ url }: StartedTeam, token: string): Promise<Received> {
  return sendTo(`${url}session`, {
    method: 'POST',
    headers: { origin: new URL(url).origin, 'content-type': 'application/json' },
    body: { token },
  });
}

/** The headers that the page sends once somebody has logged in. */
export async function enterTeam(team: StartedTeam, token: string): Promise<Record<string, string>> {
  const { status, headers, text } = await askToEnter(team, token);
  if (status !== 200) throw new Error(text);
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  const { data } = z.object({ data: z.object({ key: z.string() }) }).parse(JSON.parse(text));
  return { cookie, origin: new URL(team.url).origin, 'x-ktx-page': data.key };
}
