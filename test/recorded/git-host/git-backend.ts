import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers a request of git itself with git's own program, on the bare repositories of a folder. */
export async function answerGit(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '', 'http://loopback');
  const { headers } = request;
  const env = {
    PATH: process.env['PATH'],
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    PATH_INFO: decodeURIComponent(url.pathname),
    QUERY_STRING: url.search.slice(1),
    REQUEST_METHOD: request.method,
    REMOTE_USER: 'token',
    CONTENT_TYPE: headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  };
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const pieces: Buffer[] = [];
  for await (const piece of child.stdout as AsyncIterable<Buffer>) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  const end = whole.indexOf('\r\n\r\n');
  const lines = whole.subarray(0, end).toString('latin1').split('\r\n');
  const fields = lines.map((line) => line.split(/:\s*/, 2) as [string, string]);
  const status = fields.find(([name]) => name.toLowerCase() === 'status')?.[1];
  response.writeHead(
    Number.parseInt(status ?? '200', 10),
    Object.fromEntries(fields.filter(([name]) => name.toLowerCase() !== 'status')),
  );
  response.end(whole.subarray(end + 4));
}
