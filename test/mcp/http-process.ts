import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { freePort } from '../support/postgres-server.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** `ktx mcp serve --http` as a process, as it is run. */
export async function startServer(dir: string) {
  const port = await freePort();
  const limits = ['--requests-per-minute', '100000', '--concurrent-queries', '1000'];
  const child = spawn(
    process.execPath,
    [main, 'mcp', 'serve', '--http', '--port', String(port), ...limits, '--project-dir', dir],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => void said.push(line));
  const url = `http://127.0.0.1:${port}/mcp`;
  const ready = async () =>
    (await fetch(url.replace('/mcp', '/ready')).catch(() => undefined))?.status;
  await expect.poll(ready, { timeout: 60_000, message: said.join('\n') }).toBe(200);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'close');
  };
  return { url, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}
