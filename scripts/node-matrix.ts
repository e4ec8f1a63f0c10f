// Checks that the package works under the Node releases that it supports. Fetches the newest
// release of each major (or the versions in the arguments) from the npm registry, installs the
// packed ktx under each, and tries: version, demo, scan, the tools of the MCP server, and a real
// Postgres. Not part of `npm test`, because it needs the registry.
import { type ExecFileOptionsWithStringEncoding, execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from 'pg';
import startPostgres from '../test/support/postgres-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ktx-node-matrix');
const run = promisify(execFile);
const requested = process.argv.slice(2);
const versions = (requested.length > 0 ? requested : ['24', '26']).map(newestRelease);

/** A Node release with ktx installed. */
interface Installation {
  readonly node: string;
  readonly bin: string;
  readonly folder: string;
  readonly env: Record<string, string>;
}

/** The checks, in order. Each returns a line about its result. */
const steps: Readonly<Record<string, (installation: Installation) => Promise<string>>> = {
  async version(installation) {
    const answer = await ktx(installation, '--version');
    const { stdout } = await run(installation.node, ['--version']);
    requireThat(
      `v${String(answer['node'])}` === stdout.trim(),
      `Node ${stdout.trim()}, found ${String(answer['node'])}`,
    );
    return `ktx ${String(answer['version'])} on Node ${String(answer['node'])}`;
  },
  async demo(installation) {
    await ktx(installation, 'demo', '--dir', 'shop');
    const { rows } = await ktx(
      installation,
      'sl',
      'query',
      '-m',
      'orders.revenue',
      '--project-dir',
      'shop',
    );
    return `orders.revenue ${JSON.stringify(rows)}`;
  },
  async 'scan (DuckDB)'(installation) {
    const { tables, links } = await ktx(
      installation,
      'scan',
      '--project-dir',
      'shop',
      '--ignore-declared',
      'all',
    );
    requireThat(Number(tables) > 0, 'tables');
    return `${String(tables)} tables, ${(links as unknown[]).length} links`;
  },
  async mcp({ node, bin, folder, env }) {
    const client = new McpClient({ name: 'node-matrix', version: '1' });
    const args = [bin, 'mcp', 'serve', '--project-dir', join(folder, 'shop')];
    await client.connect(new StdioClientTransport({ command: node, args, env, stderr: 'ignore' }));
    const { tools } = await client.listTools();
    const answer = await client.callTool({
      name: 'query_metrics',
      arguments: { metrics: ['orders.revenue'] },
    });
    await client.close();
    requireThat(
      tools.length > 4 && answer.isError !== true,
      `tools and an answer, found ${JSON.stringify(answer.content)}`,
    );
    return `${tools.length} tools; query_metrics answers`;
  },
  async postgres(installation) {
    await ktx(
      installation,
      'setup',
      '--driver',
      'postgres',
      '--url',
      'env:WAREHOUSE_URL',
      '--project-dir',
      'pg',
    );
    const { links } = await ktx(installation, 'scan', '--project-dir', 'pg');
    const foundLinks = links as { readonly status: string }[];
    requireThat(
      foundLinks.some(({ status }) => status === 'accepted'),
      'an accepted link',
    );
    const { rows } = await ktx(
      installation,
      'sql',
      'SELECT count(*) FROM orders',
      '--project-dir',
      'pg',
    );
    return `${foundLinks.length} links, rows ${JSON.stringify(rows)}`;
  },
};

const scratch = mkdtempSync(join(tmpdir(), 'ktx-node-matrix-'));
const failed: string[] = [];
let postgres = '';
const stop = await startPostgres({
  provide: (_: string, value: unknown) => void (postgres = String(value)),
} as Parameters<typeof startPostgres>[0]);
try {
  await fillPostgres();
  const tarball = packKtx();
  for (const version of versions) if (!(await tryRelease(version, tarball))) failed.push(version);
} finally {
  await stop();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(
  failed.length === 0
    ? `works under ${versions.join(' and ')}`
    : `FAILS under ${failed.join(' and ')}`,
);
process.exit(failed.length === 0 ? 0 : 1);

function newestRelease(version: string): string {
  const found: unknown = JSON.parse(
    execFileSync('npm', ['view', `node@${version}`, 'version', '--json', '--loglevel=error'], {
      encoding: 'utf8',
    }),
  );
  const all = (Array.isArray(found) ? found : [found]).map(String);
  const versionNumber = (release: string): number =>
    release.split('.').reduce((sum, part) => sum * 1000 + Number(part), 0);
  return all.sort((a, b) => versionNumber(a) - versionNumber(b)).at(-1) ?? version;
}

/** The path of the packed ktx. */
function packKtx(): string {
  const text = execFileSync(
    'npm',
    ['pack', '--json', '--loglevel=error', '--pack-destination', scratch],
    { cwd: root, encoding: 'utf8' },
  );
  const [{ filename }] = JSON.parse(text.slice(text.indexOf('[\n'))) as [{ filename: string }];
  return join(scratch, filename);
}

async function fillPostgres(): Promise<void> {
  const client = new Client({ connectionString: postgres });
  await client.connect();
  await client.query(`CREATE TABLE customers (customer_id int, name text); CREATE TABLE orders (order_id int, customer_id int, amount numeric(10,2));
    INSERT INTO customers SELECT i * 7, 'c' || i FROM generate_series(1, 60) i; INSERT INTO orders SELECT i, (i % 60 + 1) * 7, i * 1.5 FROM generate_series(1, 300) i`);
  await client.end();
}

/** Prints a line for each check; false if one fails. */
async function tryRelease(version: string, tarball: string): Promise<boolean> {
  console.log(`\nNode ${version}`);
  try {
    const installation = install(version, tarball);
    for (const [name, step] of Object.entries(steps)) {
      const started = performance.now();
      const result = await step(installation);
      console.log(
        `  ${name.padEnd(14)} ${String(Math.round(performance.now() - started)).padStart(6)} ms  ${result}`,
      );
    }
    return true;
  } catch (error) {
    console.log(`  ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

/**
 * Node comes from the package `node` of the registry and is kept for later runs. ktx and its
 * dependencies are installed each time.
 */
function install(version: string, tarball: string): Installation {
  const home = join(cache, version);
  const node = join(home, 'node_modules/node/bin/node');
  const npm = (args: readonly string[], cwd: string, path = process.env['PATH']): void =>
    void execFileSync(
      'npm',
      ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error', ...args],
      {
        cwd,
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, PATH: path },
      },
    );
  if (!existsSync(node)) {
    mkdirSync(home, { recursive: true });
    writeFileSync(
      join(home, 'package.json'),
      JSON.stringify({ private: true, allowScripts: { [`node@${version}`]: true } }),
    );
    npm([`node@${version}`], home);
  }
  const folder = join(scratch, version);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const path = [dirname(node), process.env['PATH']].join(delimiter);
  npm([tarball], folder, path);
  const env = { ...(process.env as Record<string, string>), PATH: path, WAREHOUSE_URL: postgres };
  return { node, bin: join(folder, 'node_modules/ktx/bin/ktx.js'), folder, env };
}

async function ktx(
  { node, bin, folder, env }: Installation,
  ...args: readonly string[]
): Promise<Record<string, unknown>> {
  const options: ExecFileOptionsWithStringEncoding = {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  };
  const { stdout } = await run(node, [bin, ...args, '--json'], options);
  return (
    JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { data: Record<string, unknown> }
  ).data;
}

function requireThat(holds: boolean, expectation: string): void {
  if (!holds) throw new Error(`expected ${expectation}`);
}
