// Measures the time from the start of an MCP server to its first answer, ktx beside DBHub, on one
// SQLite file. Fetches DBHub into a temporary folder; each round starts both, in turns.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ktx = join(root, 'bin/ktx.js');
const rounds = Number(process.argv[2] ?? 15);
/** What ktx may take of the time that DBHub takes. */
const goal = 0.35;

execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'ktx-first-answer-'));
try {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', '--prefix', folder, ...options, '@bytebase/dbhub@1.4.0'], {
    stdio: ['ignore', 2, 2],
  });
  const file = join(folder, 'shop.db');
  const db = new DatabaseSync(file);
  db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT)');
  db.exec("INSERT INTO orders VALUES (1, 'paid'), (2, 'refunded')");
  db.close();
  const project = ['--project-dir', folder];
  execFileSync(process.execPath, [ktx, 'setup', '--driver', 'sqlite', '--path', file, ...project]);
  execFileSync(process.execPath, [ktx, 'ingest', '--quiet', ...project]);
  const dbhub = join(folder, 'node_modules/@bytebase/dbhub/dist/index.js');
  const servers = [
    { tool: 'execute_sql', args: [dbhub, '--transport', 'stdio', '--dsn', `sqlite://${file}`] },
    { tool: 'run_sql', args: [ktx, 'mcp', 'serve', ...project] },
  ];
  const times = servers.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, server] of servers.entries()) times[index]?.push(await firstAnswer(server));
  const [peer = Number.NaN, own = Number.NaN] = times.map(median);
  const ratio = own / peer;
  console.log(`DBHub ${peer.toFixed(0)} ms, ktx ${own.toFixed(0)} ms (medians of ${rounds})`);
  console.log(`ratio ${ratio.toFixed(2)}, goal ${goal}${ratio > goal ? ', missed' : ''}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Until a client has the rows of its first statement, with the handshake before. */
async function firstAnswer({
  tool,
  args,
}: {
  readonly tool: string;
  readonly args: readonly string[];
}): Promise<number> {
  const started = performance.now();
  const server = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const answers = createInterface(server.stdout)[Symbol.asyncIterator]();
  const send = (message: object) =>
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  send({ id: 1, method: 'initialize', params: hello });
  await answers.next();
  send({ method: 'notifications/initialized' });
  const sql = 'SELECT status, count(*) FROM orders GROUP BY status';
  send({ id: 2, method: 'tools/call', params: { name: tool, arguments: { sql } } });
  const { value } = await answers.next();
  const taken = performance.now() - started;
  if (!String(value).includes('refunded')) throw new Error(`${tool} answered ${String(value)}`);
  server.kill('SIGKILL');
  return taken;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
