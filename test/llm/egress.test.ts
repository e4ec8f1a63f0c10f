import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { llmConfigSchema } from '../../src/llm/config.ts';
import { destinationHost } from '../../src/llm/egress/destination.ts';
import { openEgressLedger } from '../../src/llm/egress/ledger.ts';
import { egressReport } from '../../src/llm/egress/report.ts';
import { ktx } from '../cli/run-cli.ts';
import {
  documentedShop,
  ingestCommand,
  type ModelMachine,
  openMachine,
  twoBackends,
} from '../ingest/llm-project.ts';
import { describing, tablesAsked } from '../support/describing-model.ts';
import { type Answer, say, type Script, use } from '../support/model-script.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'ktx-egress-'));
const to = { backend: 'anthropic', host: 'api.anthropic.com', model: 'm' };
const from = { connection: 'shop', source: 'main.orders' };

describe('the ledger of what leaves the machine', () => {
  test('stays small over 100,000 calls of many runs, and loses no value of the sums', () => {
    const dir = folder();
    const ledger = openEgressLedger(dir, { maxLines: 2000 });
    ledger.db.exec('PRAGMA synchronous = OFF');
    for (let call = 0; call < 100_000; call += 1)
      ledger.record({
        run: `run-${Math.floor(call / 100)}`,
        call: `call-${call}`,
        stage: 'describe',
        tool: '',
        ...to,
        values: [{ ...from, column: `c${call % 40}`, kind: 'frequent', count: 3 }],
      });
    const { lines } = ledger.db.prepare('SELECT count(*) AS lines FROM sent').get() ?? {};
    expect(Number(lines)).toBeLessThan(2600);
    const report = egressReport(ledger.db);
    expect(report.length).toBeLessThanOrEqual(41);
    expect(report.reduce((sum, { values }) => sum + values, 0)).toBe(300_000);
    expect(report.reduce((sum, { sent }) => sum + sent, 0)).toBe(100_000);
    expect(egressReport(ledger.db, 'call')[0]).toMatchObject({ call: 'call-99999' });
    ledger.close();
    expect(statSync(join(dir, '.ktx/egress.db')).size).toBeLessThan(3_000_000);
    rmSync(dir, { recursive: true });
  });

  test('takes the lines of several processes at once, and only its owner can read it', async () => {
    const dir = folder();
    const child = new URL('egress-child.ts', import.meta.url).pathname;
    const names = ['a', 'b', 'c'];
    const run = promisify(execFile);
    await Promise.all(names.map((name) => run(process.execPath, [child, dir, name, '400'])));
    const ledger = openEgressLedger(dir);
    const [line] = egressReport(ledger.db);
    expect(line).toMatchObject({ ...from, column: 'status', values: 2400, sent: 1200 });
    ledger.close();
    expect(statSync(join(dir, '.ktx/egress.db')).mode & 0o777).toBe(0o600);
    rmSync(dir, { recursive: true });
  });

  test('goes on in a new file where .ktx was removed under a server', async () => {
    const dir = folder();
    const ledger = openEgressLedger(dir);
    const entry = {
      run: 'run',
      call: 'call',
      stage: 'mcp',
      tool: 'query_metrics',
      ...to,
      values: [{ ...from, column: 'status', kind: 'row' as const, count: 2 }],
    };
    ledger.record(entry);
    const remove = () => rmSync(join(dir, '.ktx'), { recursive: true });
    const keptLines = () => {
      const kept = openEgressLedger(dir);
      const lines = egressReport(kept.db);
      kept.close();
      return lines;
    };
    const one = [{ column: 'status', values: 2, sent: 1 }];
    remove();
    ledger.record(entry);
    expect(keptLines()).toMatchObject(one);
    remove();
    await ledger.recordTogether(entry);
    expect(keptLines()).toMatchObject(one);
    ledger.close();
    rmSync(dir, { recursive: true });
  });

  test('writes what many record at once together, before any of them goes on', async () => {
    const dir = folder();
    const [ledger, other] = [openEgressLedger(dir), openEgressLedger(dir)];
    const entry = (call: string) => ({
      run: 'run',
      call,
      stage: 'mcp',
      tool: 'query_metrics',
      ...to,
      values: [{ ...from, column: 'status', kind: 'row' as const, count: 1 }],
    });
    const calls = Array.from({ length: 50 }, (_, number) => `call-${number}`);
    const [first] = calls.map((call) => ledger.recordTogether(entry(call)));
    await first;
    expect(egressReport(other.db, 'call')).toHaveLength(50);
    ledger.db.exec('DROP TABLE sent');
    const failed = await Promise.allSettled(
      calls.map((call) => ledger.recordTogether(entry(call))),
    );
    expect(failed.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    ledger.close();
    other.close();
    rmSync(dir, { recursive: true });
  });

  test('names the host that a configuration sends to', () => {
    const host = (provider: object, env = {}) =>
      destinationHost(
        llmConfigSchema.parse({ provider, models: { default: 'sonnet' } }).provider,
        env,
      );
    const key = { api_key: 'env:KEY' };
    const local = { ...key, base_url: 'http://localhost:11434/v1' };
    const agent = { backend: 'claude-agent' };
    expect([
      host({ backend: 'anthropic', anthropic: key }),
      host({ backend: 'openai', openai: local }),
      host({ backend: 'anthropic', anthropic: { ...key, base_url: 'env:URL' } }),
      host({ backend: 'vertex', vertex: { project: 'p', location: 'europe-west1' } }),
      host({ backend: 'bedrock', bedrock: { region: 'eu-central-1' } }),
      host({ backend: 'claude-code' }),
      host({ ...agent, auth: 'bedrock' }, { AWS_REGION: 'us-east-1' }),
    ]).toEqual([
      'api.anthropic.com',
      'localhost:11434',
      'env:URL',
      'europe-west1-aiplatform.googleapis.com',
      'bedrock-runtime.eu-central-1.amazonaws.com',
      'api.anthropic.com',
      'bedrock-runtime.us-east-1.amazonaws.com',
    ]);
  });
});

describe('what a run sends', () => {
  let machine: ModelMachine;
  beforeAll(async () => {
    machine = await openMachine();
  });
  afterAll(() => machine.close());

  /** Read as another process sees it, while the run goes on. */
  function linesOf(dir: string) {
    const db = new DatabaseSync(join(dir, '.ktx/egress.db'), { readOnly: true });
    try {
      return egressReport(db, 'call');
    } finally {
      db.close();
    }
  }
  /** One answer a request, in order. */
  function answering(...answers: readonly Answer[]): Script {
    let asked = 0;
    return () => answers[asked++] ?? say('Done.');
  }
  const page = { 'nothing.md': '# Nothing\n\nSay nothing of it.\n' };

  test.each(twoBackends)('is in the ledger before the request arrives, on %s', async (backend) => {
    const dir = documentedShop(machine, backend, page);
    const seen: (readonly string[])[] = [];
    machine.endpoint.fallback = (call) => {
      const asked = call.objectTaken ? [] : tablesAsked(call);
      if (asked.some(({ table }) => table === 'orders'))
        seen.push(
          linesOf(dir)
            .filter(({ source }) => source === 'main.orders')
            .map(({ column, kind }) => `${column} ${kind}`),
        );
      return call.system.includes('You sort pages') ? say('skip') : describing(call);
    };
    const { code } = await ingestCommand(machine, dir);
    expect(code).toBe(0);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toEqual(
      expect.arrayContaining(['status frequent', 'amount range', 'amount aggregate']),
    );
    const { stdout } = await ktx(['status', '--egress', '--json', '--project-dir', dir], {
      cwd: dir,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      data: {
        egress: expect.arrayContaining([
          expect.objectContaining({
            connection: 'shop',
            source: 'main.orders',
            column: 'status',
            kind: 'frequent',
            values: 2,
            sent: 1,
            backend,
            host:
              backend === 'anthropic' ? new URL(machine.endpoint.url).host : 'api.anthropic.com',
          }),
        ]),
      },
    });
  });

  test('is there after a kill that came before the answer', async () => {
    const dir = documentedShop(machine, 'anthropic', page);
    let end: (signal: 'SIGKILL') => void = () => undefined;
    machine.endpoint.fallback = ({ system }) => {
      // The run tries the model first, with nothing of the project.
      if (system === '') return say('ready');
      end('SIGKILL');
      return say('too late', { hang: 'at-start' });
    };
    const { code } = await ingestCommand(machine, dir, { onStart: (kill) => (end = kill) });
    expect(code).toBeNull();
    expect(linesOf(dir).length).toBeGreaterThan(0);
  });

  test('is not sent if it cannot be recorded', async () => {
    const dir = documentedShop(machine, 'anthropic', page);
    await ktx(['status', '--egress', '--project-dir', dir], { cwd: dir });
    rmSync(join(dir, '.ktx/egress.db-wal'), { force: true });
    writeFileSync(join(dir, '.ktx/egress.db'), 'this is no database, whatever its name says');
    chmodSync(join(dir, '.ktx/egress.db'), 0o600);
    const asked: unknown[] = [];
    machine.endpoint.fallback = (call) => {
      asked.push(...tablesAsked(call));
      return call.system.includes('You sort pages') ? say('skip') : describing(call);
    };
    const { data } = await ingestCommand(machine, dir);
    expect(JSON.stringify(data)).toContain('egress_unrecorded');
    expect(asked).toEqual([]);
  });

  test('for a question has each column of the rows, by tool', async () => {
    const dir = documentedShop(machine, 'anthropic', page);
    machine.endpoint.fallback = answering(
      use('run_sql', { sql: 'SELECT id, status FROM orders LIMIT 3' }),
      use('run_sql', { sql: 'SELECT abs(-9223372036854775807 - 1) AS n FROM orders' }),
      say('Three.'),
    );
    const args = [
      'ask',
      '--permissions',
      'acceptAll',
      '--project-dir',
      dir,
      'Which orders are there?',
    ];
    expect((await ktx(args, { cwd: dir, env: { TEST_KEY: 'sk-made-up' } })).code).toBe(0);
    expect(
      linesOf(dir).map(({ stage, source, column, kind, values }) => [
        stage,
        source,
        column,
        kind,
        values,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['chat', 'main.orders', 'id', 'row', 3],
        ['chat', 'main.orders', 'status', 'row', 3],
        ['chat', '', '', 'error', 1],
      ]),
    );
    const table = await ktx(['status', '--egress', '--by', 'stage', '--project-dir', dir], {
      cwd: dir,
    });
    expect(table.stdout).toMatch(/stage +connection.*\n[^]*chat +shop +row +6/);
    expect(table.stdout).not.toMatch(/paid|open/);
  });

  test('for a question has no row with llm.send_rows: off', async () => {
    const dir = documentedShop(machine, 'anthropic', { ...page, settings: '  send_rows: off\n' });
    const results: string[] = [];
    const script = answering(
      use('run_sql', { sql: "SELECT id, status || 'canary' AS s FROM orders LIMIT 3" }),
      use('run_sql', { sql: 'SELECT abs(-9223372036854775807 - 1) AS n FROM orders' }),
      use('find_values', { text: 'paid' }),
      say('Three [q1].'),
    );
    machine.endpoint.fallback = (call) => {
      results.push(...call.results.map(({ text }) => text));
      return script(call);
    };
    const args = [
      'ask',
      '--json',
      '--permissions',
      'acceptAll',
      '--project-dir',
      dir,
      'Which orders are there?',
    ];
    const { code, stdout } = await ktx(args, { cwd: dir, env: { TEST_KEY: 'sk-made-up' } });
    expect(code).toBe(0);
    expect(results).toHaveLength(3);
    expect(results.join('\n')).not.toMatch(/(paid|open)canary/);
    expect(results[0]).toContain('llm.send_rows: off');
    expect(stdout).toMatch(/(paid|open)canary/);
    const egress = await ktx(['status', '--egress', '--project-dir', dir], { cwd: dir });
    expect(egress.stdout).toContain('No value of a warehouse');
  });
});
