import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { sha256 } from '../../src/lib/hash.ts';
import { listAuditedCalls } from '../../src/mcp/audit/list-audit.ts';
import { openAuditLog } from '../../src/mcp/audit/audit-log.ts';
import { redactArguments } from '../../src/mcp/audit/redact-arguments.ts';
import { verifyAudit } from '../../src/mcp/audit/verify-audit.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { connect, endless, serveRegions } from './http-shop.ts';

const revenue = { metrics: ['orders.revenue'], where: ["orders.region = 'canary-dach'"] };
const scopes: ('read' | 'query' | 'write')[] = ['read', 'query'];

const auditFiles = (dir: string) => globSync(join(dir, '.ktx/audit/*.jsonl')).sort();
const auditText = (dir: string) =>
  auditFiles(dir)
    .map((file) => readFileSync(file, 'utf8'))
    .join('');
const verify = (dir: string) => verifyAudit(dir, { env: process.env });

describe('the audit of the server over HTTP', () => {
  it('has a line for each call, with who asked and no value', async () => {
    await using served = await serveRegions();
    const { token, text } = await served.tokens.create({ name: 'ann', role: 'dach', scopes });
    await using session = await connect(served.url, text);
    await session.call('query_metrics', revenue);
    await session.call('run_sql', { sql: 'SELECT region FROM orders' });
    await session.call('remember', { text: 'the canary-dach sings' });
    await session.client.readResource({ uri: 'ktx://dataset/shop/cities' });
    const none = { uri: 'ktx://dataset/shop/none' };
    await expect(session.client.readResource(none)).rejects.toThrow('not found');
    const calls = await listAuditedCalls(served.dir, { limit: 100 });
    const ann = { person: 'ann', token: token.id, role: 'dach', client: 'test 1' };
    expect(calls).toMatchObject([
      { ...ann, tool: 'query_metrics', connection: 'shop', rows: 1, outcome: 'ok' },
      { ...ann, tool: 'run_sql', outcome: 'row_rules' },
      { ...ann, tool: 'remember', outcome: 'scope_missing', bytes: 0 },
      { ...ann, tool: 'resources/read', outcome: 'ok' },
      { ...ann, tool: 'resources/read', outcome: '-32602' },
    ]);
    expect(calls[0]?.arguments_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(calls[0]?.sql_hash).toMatch(/^[0-9a-f]{64}$/);
    const written = auditText(served.dir);
    expect(written).not.toContain('canary');
    expect(written).not.toContain(text.slice(-64));
    // A hash without a key could be found by trying.
    expect(written).not.toContain(sha256(JSON.stringify(revenue)));
    expect((await verify(served.dir)).state).toBe('whole');
  });

  it('has a line before a query runs, and one before its answer leaves', async () => {
    await using served = await serveRegions();
    await using session = await connect(served.url);
    const gone = new AbortController();
    const { promise: runs, resolve: onprogress } = Promise.withResolvers<void>();
    const options = { signal: gone.signal, onprogress };
    const call = session.call('run_sql', { sql: endless }, options).catch(String);
    await runs;
    const list = () => listAuditedCalls(served.dir, { limit: 10 });
    // Progress begins before the call has all that it needs.
    await expect.poll(list).toMatchObject([{ tool: 'run_sql', outcome: 'no answer' }]);
    gone.abort();
    await call;
    await expect.poll(list).toMatchObject([{ tool: 'run_sql', outcome: 'cancelled' }]);
  });

  it('keeps names and no literals where the project says so', async () => {
    await using served = await serveRegions({}, { audit: { arguments: 'redacted' } });
    await using session = await connect(served.url);
    await session.call('query_metrics', revenue);
    await session.call('find_values', { text: 'canary-us' });
    expect(await listAuditedCalls(served.dir, { limit: 10 })).toMatchObject([
      { arguments: { metrics: ['orders.revenue'], where: ['orders.region = ?'] } },
      { arguments: { text: '<9 characters>' } },
    ]);
    expect(auditText(served.dir)).not.toContain('canary');
  });

  it('holds back every answer whose line could not be written', async () => {
    await using served = await serveRegions();
    const { text } = await served.tokens.create({ name: 'ann', role: 'dach', scopes });
    await using session = await connect(served.url, text);
    const { uri } = { uri: 'ktx://dataset/shop/orders' };
    const folder = join(served.dir, '.ktx/audit');
    await session.call('query_metrics', revenue);
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, '');
    for (const [tool, input] of [
      ['query_metrics', revenue],
      ['read_context', { name: 'orders' }],
      ['search_context', { text: 'orders' }],
    ] as const) {
      const answer = await session.call(tool, input);
      expect(answer).toMatchObject({ isError: true, structured: undefined });
      expect(answer.text).toMatch(/^Error audit_unwritten\n/);
      expect(answer.text).not.toMatch(/canary|revenue|region|ktx-http/);
    }
    await expect(session.client.readResource({ uri })).rejects.toThrow('could not be written');
    await expect(session.client.listResources()).rejects.toThrow('could not be written');
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    expect((await session.call('query_metrics', revenue)).text).toContain('30');
    expect((await verify(served.dir)).state).toBe('whole');
  });
});

const oneCall = { kind: 'answered', call: 'c', client: '', tool: 't' } as const;

/** A folder with an audit of ten lines. */
async function tenLines(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-audit-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  using audit = openAuditLog(dir, process.env);
  for (let number = 0; number < 10; number += 1)
    await audit.append({ ...oneCall, call: `x${number}` });
  return dir;
}

/** `blocks`: the largest file that it can write, in kB. `length`: characters of each line. */
function startWriter(
  dir: string,
  prefix: string,
  { count, blocks, length = 0 }: { count: number; blocks?: number; length?: number },
) {
  const writer = join(import.meta.dirname, '../support/audit-writer.ts');
  const node = `exec "$0" "$@"`;
  const limit = blocks === undefined ? node : `ulimit -f ${blocks}; ${node}`;
  const argv = ['-c', limit, process.execPath, writer, dir, prefix, String(count), String(length)];
  const child = spawn('bash', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = Promise.all([readAll(child.stdout), once(child, 'exit')]);
  return {
    child,
    ended: ended.then(([output]) => output.split('\n').filter((line) => line !== '')),
  };
}

async function recorded(dir: string): Promise<readonly string[]> {
  return (await listAuditedCalls(dir, { limit: 10_000 })).map(({ call }) => call);
}

describe('appending', () => {
  it('takes turns with other servers', async () => {
    const dir = await tenLines();
    const writers = ['a', 'b', 'c'].map((prefix) => startWriter(dir, prefix, { count: 60 }));
    const printed = (await Promise.all(writers.map(({ ended }) => ended))).flat();
    expect(printed).toHaveLength(180);
    expect((await recorded(dir)).toSorted()).toEqual(
      [...printed, ...Array.from({ length: 10 }, (_, index) => `x${index}`)].toSorted(),
    );
    expect(await verify(dir)).toMatchObject({ state: 'whole', lines: 190 });
  });

  it('loses nothing that was confirmed when the server is killed, also many times', async () => {
    const dir = await tenLines();
    const confirmed: string[] = [];
    for (let kill = 0; kill < 6; kill += 1) {
      const { child, ended } = startWriter(dir, `k${kill}-`, { count: 100_000 });
      for (let seen = 0; seen < 4 + kill * 7; seen += 1) await once(child.stdout, 'data');
      child.kill('SIGKILL');
      confirmed.push(...(await ended));
      expect((await verify(dir)).problems).toEqual([]);
    }
    await startWriter(dir, 'end', { count: 1 }).ended;
    const verdict = await verify(dir);
    expect(verdict).toMatchObject({ state: 'whole', problems: [] });
    expect(confirmed.length).toBeGreaterThan(50);
    // The last line of a killed process may be cut.
    const calls = new Set(await recorded(dir));
    const whole = confirmed.filter((call) => /^k\d-\d+$/.test(call));
    expect(whole.filter((call) => !calls.has(call)).length).toBeLessThanOrEqual(6);
  });

  it('leaves no half line where the disk is full, and goes on when it is not', async () => {
    const dir = await tenLines();
    // Longer than the files that SQLite needs.
    await startWriter(dir, 'long', { count: 1, length: 8_000_000 }).ended;
    const blocks = Math.ceil(auditText(dir).length / 1024) + 1;
    const printed = await startWriter(dir, 'full', { count: 30, blocks }).ended;
    expect(
      printed.filter((line) => line.includes('could not be written (EFBIG)')).length,
    ).toBeGreaterThan(5);
    const calls = await recorded(dir);
    expect(printed.filter((line) => line.startsWith('full'))).toEqual(
      calls.filter((call) => call.startsWith('full')),
    );
    expect(await verify(dir)).toMatchObject({ state: 'whole', unfinished: [] });
    await startWriter(dir, 'after', { count: 1 }).ended;
    expect(await recorded(dir)).toContain('after0');
  });

  it('says what a crash left behind, and what somebody wrote there meanwhile', async () => {
    const dir = await tenLines();
    const [file = ''] = auditFiles(dir);
    const torn = '{"seq":11,"prev":"ab';
    appendFileSync(file, torn);
    expect(await verify(dir)).toMatchObject({
      state: 'unfinished',
      unfinished: [{ line: 11, bytes: torn.length }],
    });
    await startWriter(dir, 'next', { count: 1 }).ended;
    appendFileSync(file, `${readFileSync(file, 'utf8').split('\n')[3]}\n`);
    await startWriter(dir, 'last', { count: 1 }).ended;
    expect(await verify(dir)).toMatchObject({
      state: 'whole',
      lines: 14,
      unfinished: [{ line: 11, bytes: torn.length }, { line: 14 }],
    });
    expect(await recorded(dir)).toEqual(expect.arrayContaining(['next0', 'last0']));
  });

  it('does not go on from an end that it does not know', async () => {
    const dir = await tenLines();
    const env = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'ktx-audit-')) };
    using audit = openAuditLog(dir, env);
    await expect(audit.append(oneCall)).rejects.toMatchObject({ code: 'audit_end_unknown' });
    expect((await verifyAudit(dir, { env })).state).toBe('damaged');
    const inside = { XDG_CONFIG_HOME: join(dir, 'config') };
    expect(() => openAuditLog(dir, inside)).toThrow('inside of the project');
  });
});

/** The lines with the hashes that they would have if nobody had changed anything. */
function chainAgain(lines: readonly string[]): readonly string[] {
  let prev = '';
  return lines.map((text, index) => {
    const line = JSON.stringify({ ...JSON.parse(text), seq: index + 1, prev });
    prev = sha256(line);
    return line;
  });
}

const swap = (lines: readonly string[], index: number) =>
  lines.with(index, lines[index + 1] ?? '').with(index + 1, lines[index] ?? '');

describe('verifying', () => {
  test.for<[string, (lines: readonly string[]) => readonly string[], object]>([
    ['a changed line', (all) => all.with(4, (all[4] ?? '').replace('x4', 'y4')), { line: 6 }],
    ['a changed last line', (all) => all.with(9, (all[9] ?? '').replace('x9', 'y9')), { line: 0 }],
    ['a removed line', (all) => all.toSpliced(4, 1), { line: 5, kind: 'missing' }],
    ['a removed first line', (all) => all.slice(1), { line: 1, kind: 'missing' }],
    ['a removed last line', (all) => all.slice(0, -1), { line: 0, kind: 'missing' }],
    ['a torn last line', (all) => all.with(9, (all[9] ?? '').slice(0, 30)), { kind: 'no_line' }],
    ['an empty file', () => [], { line: 0, kind: 'missing' }],
    ['swapped lines', (all) => swap(all, 4), { line: 5, kind: 'missing' }],
    ['a repeated line', (all) => all.toSpliced(4, 0, all[3] ?? ''), { kind: 'out_of_order' }],
    ['an inserted text', (all) => all.toSpliced(4, 0, 'nothing'), { line: 5, kind: 'no_line' }],
    ['a changed space', (all) => all.with(4, `${all[4]} `), { line: 6, kind: 'changed' }],
    [
      'a changed line with all hashes made again',
      (all) => chainAgain(all.with(4, (all[4] ?? '').replace('x4', 'y4'))),
      { line: 0, kind: 'changed' },
    ],
    [
      'a removed line with all hashes made again',
      (all) => chainAgain(all.toSpliced(4, 1)),
      { line: 0, kind: 'missing' },
    ],
    [
      'a line that is passed off as what a crash left',
      (all) => {
        const body = { kind: 'resumed', unfinished_bytes: 0, unfinished_sha256: sha256('') };
        const at = new Date().toISOString();
        return chainAgain([...all.slice(0, 9), JSON.stringify({ seq: 0, prev: '', at, ...body })]);
      },
      { line: 0, kind: 'changed' },
    ],
  ])('finds %s', async ([, change, problem]) => {
    const dir = await tenLines();
    const [file = ''] = auditFiles(dir);
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    writeFileSync(
      file,
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    const verdict = await verify(dir);
    expect(verdict.state).toBe('damaged');
    expect(verdict.problems[0]).toMatchObject(problem);
  });

  it('finds a removed file, and a line that was noted down', async () => {
    const dir = await tenLines();
    const { head } = await verify(dir);
    await startWriter(dir, 'more', { count: 3 }).ended;
    const env = process.env;
    expect((await verifyAudit(dir, { env, expect: head })).state).toBe('whole');
    const other = { seq: head.seq, hash: sha256('') };
    expect((await verifyAudit(dir, { env, expect: other })).state).toBe('damaged');
    for (const file of auditFiles(dir)) rmSync(file);
    expect(await verify(dir)).toMatchObject({ state: 'damaged', problems: [{ kind: 'missing' }] });
  });

  it('goes on from one day to the next', async () => {
    const dir = await tenLines();
    const [file = ''] = auditFiles(dir);
    expect(await verify(dir)).toMatchObject({ state: 'whole', lines: 10 });
    // As if the last lines had been written on a later day than the clock says now.
    const later = join(dir, '.ktx/audit/2999-01-01.jsonl');
    await moveEnd(dir, { from: file, to: later });
    expect(await verify(dir)).toMatchObject({ state: 'whole', lines: 10 });
    await startWriter(dir, 'back', { count: 2 }).ended;
    expect(readFileSync(later, 'utf8')).toContain('back1');
    expect(await verify(dir)).toMatchObject({ state: 'whole', lines: 12 });
  });
});

/** Moves the last four lines to another file, as a server does that writes past midnight. */
async function moveEnd(dir: string, { from, to }: { readonly from: string; readonly to: string }) {
  const { openAuditHead } = await import('../../src/mcp/audit/audit-head.ts');
  const lines = readFileSync(from, 'utf8').split('\n').slice(0, -1);
  const [first, last] = [lines.slice(0, 6), lines.slice(6)].map((part) =>
    part.map((line) => `${line}\n`).join(''),
  );
  writeFileSync(from, first ?? '');
  writeFileSync(to, last ?? '');
  const head = openAuditHead(dir, process.env);
  const [file, bytes] = ['2999-01-01.jsonl', (last ?? '').length];
  head.advance((end) => ({ ...end, file, bytes }));
  head.close();
}

describe('ktx audit', () => {
  it('lists and verifies, as text and as JSON', async () => {
    await using served = await serveRegions();
    const { text } = await served.tokens.create({ name: 'ann', role: 'dach', scopes });
    await using session = await connect(served.url, text);
    await session.call('query_metrics', revenue);
    await session.call('search_context', { text: 'orders' });
    const cwd = served.dir;
    const list = await ktx(['audit', 'list', '--person', 'ann', '--tool', 'query_metrics'], {
      cwd,
    });
    expect(list.stdout).toMatch(/^at +person +role +client +tool +connection +rows +ms +outcome/);
    expect(list.stdout).toMatch(/ann +dach +test 1 +query_metrics +shop +1 +\d+ +ok/);
    expect(list.stdout).not.toContain('search_context');
    expect((await ktx(['audit', 'list', '--person', 'bob'], { cwd })).stdout).not.toContain('ann');
    const json = await ktxJson(['audit', 'list', '--limit', '1'], { cwd });
    expect(json.envelope.data).toMatchObject({
      calls: [{ tool: 'search_context', person: 'ann' }],
    });
    const whole = await ktx(['audit', 'verify'], { cwd });
    expect([whole.code, whole.stdout]).toEqual([
      0,
      expect.stringMatching(/^3 lines\nlast line: 3:[0-9a-f]{64}\n$/),
    ]);
    const noted = whole.stdout.trim().split(' ').at(-1) ?? '';
    expect((await ktx(['audit', 'verify', '--expect', noted], { cwd })).code).toBe(0);
    const [file = ''] = auditFiles(cwd);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"rows":1', '"rows":9'));
    const damaged = await ktx(['audit', 'verify'], { cwd });
    expect(damaged.code).toBe(1);
    expect(damaged.stdout).toContain('.jsonl:3: the line before it, 2, is not as it was written.');
    expect(damaged.stderr).toContain('audit_damaged');
    const report = await ktxJson(['audit', 'verify'], { cwd });
    expect(report.envelope).toMatchObject({ data: { state: 'damaged', problems: [{ line: 3 }] } });
  });
});

test('the redaction keeps no literal of any kind', () => {
  const secret = 'hush';
  for (const given of [
    { sql: `SELECT '${secret}', "${secret}", $$${secret}$$, $a$${secret}$a$, E'x\\'${secret}'` },
    { sql: `SELECT 1 -- ${secret}\n/* ${secret} */ FROM t WHERE x = '${secret}` },
    { where: [{ field: 'orders.region', op: 'in', value: [secret, 7] }] },
    { parameters: { [secret]: secret } },
    { text: secret, [`${secret}!`]: 1, deep: [[{ note: secret }]] },
    { cursor: secret, status_of: secret },
  ])
    expect(JSON.stringify(redactArguments(given))).not.toContain(secret);
});
