// Measures the time from the start of `ktx mcp serve` to its first answer, per tool. Every round
// starts bare Node and then one fresh server for each call. Prints medians, for the built package
// and the demo project.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ktx = join(root, 'bin/ktx.js');
const rounds = 15;

const call = (name: string, input: object) => ({
  method: 'tools/call',
  params: { name, arguments: input },
});
const calls: Readonly<Record<string, { readonly method: string; readonly params: object }>> = {
  'tools/list': { method: 'tools/list', params: {} },
  search_context: call('search_context', { text: 'revenue by region' }),
  run_sql: call('run_sql', { sql: 'SELECT status, count(*) FROM orders GROUP BY status' }),
  query_metrics: call('query_metrics', {
    metrics: ['orders.revenue'],
    dimensions: ['orders.buyer.regions.rgn_nm', 'orders.placed_at.month'],
  }),
};
const hello = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'ktx-first-answer-'));
try {
  execFileSync(process.execPath, [ktx, 'demo', '--dir', folder, '--quiet'], { stdio: 'ignore' });
  const bare: number[] = [];
  const times = new Map(Object.keys(calls).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    bare.push(bareMilliseconds());
    for (const [name, request] of Object.entries(calls))
      times.get(name)?.push(await firstAnswer(request));
  }
  console.log(
    `node -e 0       ${median(bare).toFixed(0).padStart(4)} ms          (medians of ${rounds})`,
  );
  for (const [name, measured] of times) {
    const ratio = (median(measured) / median(bare)).toFixed(1);
    console.log(
      `${name.padEnd(15)} ${median(measured).toFixed(0).padStart(4)} ms  ratio ${ratio.padStart(5)}  fastest ${Math.min(...measured).toFixed(0)} ms`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function bareMilliseconds(): number {
  const started = performance.now();
  execFileSync(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  return performance.now() - started;
}

/** Measures until the answer has been read, including the handshake that clients do first. */
async function firstAnswer(request: {
  readonly method: string;
  readonly params: object;
}): Promise<number> {
  const started = performance.now();
  const server = spawn(process.execPath, [ktx, 'mcp', 'serve', '--project-dir', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface(server.stdout)[Symbol.asyncIterator]();
  const send = (message: object) =>
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({ id: 1, method: 'initialize', params: hello });
  await answers.next();
  send({ method: 'notifications/initialized' });
  send({ id: 2, ...request });
  const { value } = await answers.next();
  const elapsed = performance.now() - started;
  server.stdin.end();
  const { result } = JSON.parse(String(value)) as { result?: { isError?: boolean } };
  if (result === undefined || result.isError === true)
    throw new Error(`no answer: ${String(value)}`);
  await new Promise((ended) => server.once('exit', ended));
  return elapsed;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
