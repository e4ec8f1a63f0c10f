import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approve } from '../support/approve.ts';
import { childrenOf, memoryOf, peakMemoryOf } from '../support/processes.ts';
import { engines, isThere, makeDatabase, type TestDatabase } from '../support/warehouses.ts';
import { heavyStatements, heavyTable } from '../warehouse/heavy-statements.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
/** What ktx itself may have in memory, in MB. */
const ownLimit = 600;
/** 4 GiB of DuckDB's own, 768 MiB beside it, and what it gets between two looks of the watch. */
const childLimit = 4096 + 768 + 400;
/**
 * `SELECT 1` may take this long: 25 times what the start of a process takes on an idle machine. A
 * longer wait counts if it is also above three times the slowest of ten before and above 25 such
 * starts now. It fails if it comes back each time: a busy machine passes, a blocked server fails.
 */
const answerMs = 1000;
const starts = 25;
const tries = 3;

/** How long the start of a process takes at this moment, in ms. */
function startTime(): number {
  const started = performance.now();
  execFileSync(process.execPath, ['-e', '0']);
  return performance.now() - started;
}

/**
 * The longest wait for `SELECT 1`, the most memory of ktx and of its children: printed at the end.
 */
interface Worst {
  wait: number;
  waitedAfter: string;
  children: number;
}

describe.each(engines.filter(isThere))('the MCP server over %s', (engine) => {
  const statements = heavyStatements[engine];
  const worst: Worst = { wait: 0, waitedAfter: '', children: 0 };
  let database: TestDatabase;
  let client: Client;
  let transport: StdioClientTransport;
  let watch: NodeJS.Timeout;
  let usualMs = 0;
  const server = (): number => transport.pid ?? 0;

  beforeAll(async () => {
    database = await makeDatabase(engine, heavyTable);
    const { folder, config, secret } = database;
    const project = { connections: { wh: config }, query: { timeout_seconds: 2 } };
    writeFileSync(join(folder, 'ktx.yaml'), JSON.stringify(project));
    execFileSync('git', ['init', '--quiet'], { cwd: folder });
    const env = { ...process.env, TEST_URL: secret };
    await approve(folder, env);
    client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', 'serve', '--project-dir', folder],
      env,
      stderr: 'ignore',
    });
    await client.connect(transport);
    watch = setInterval(() => {
      const memory = childrenOf(server()).map(memoryOf);
      worst.children = Math.max(worst.children, ...memory);
    }, 100);
    await runSql('SELECT 1 AS one');
    for (let round = 0; round < 10; round += 1) usualMs = Math.max(usualMs, await answerTime());
  });
  afterAll(async () => {
    clearInterval(watch);
    const own = Math.round(peakMemoryOf(server()));
    console.log(
      `${engine}: SELECT 1 after at most ${Math.round(worst.wait)} ms (${worst.waitedAfter.slice(0, 60)}); ktx at most ${own} MB, a child ${Math.round(worst.children)} MB`,
    );
    await client.close();
    await database.remove();
  });

  async function runSql(sql: string): Promise<{ text: string; isError: boolean }> {
    const result = await client.callTool({ name: 'run_sql', arguments: { sql } });
    const [block] = result.content as { text?: string }[];
    return { text: block?.text ?? '', isError: result.isError === true };
  }

  async function answerTime(): Promise<number> {
    const started = performance.now();
    const answer = await runSql('SELECT 1 AS one');
    expect(answer.isError, answer.text).toBe(false);
    return performance.now() - started;
  }

  test('has forty statements', () => expect(statements).toHaveLength(40));

  test.each(statements.map((sql) => [sql.slice(0, 80), sql] as const))(
    'answers within a second after %s',
    async (_, sql) => {
      let limit = Math.max(answerMs, 3 * usualMs);
      let wait = Infinity;
      for (let attempt = 0; attempt < tries && wait >= limit; attempt += 1) {
        const { text } = await runSql(sql);
        expect(text).not.toContain('Error internal');
        wait = await answerTime();
        if (wait >= limit) limit = Math.max(limit, starts * startTime());
      }
      if (wait > worst.wait) Object.assign(worst, { wait, waitedAfter: sql });
      expect(wait).toBeLessThan(limit);
      expect(peakMemoryOf(server())).toBeLessThan(ownLimit);
      expect(worst.children).toBeLessThan(childLimit);
    },
  );
});
