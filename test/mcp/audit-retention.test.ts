import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/lib/hash.ts';
import { openAuditHead } from '../../src/mcp/audit/audit-head.ts';
import { openAuditLog } from '../../src/mcp/audit/audit-log.ts';
import { listAuditedCalls } from '../../src/mcp/audit/list-audit.ts';
import { openServerAudit } from '../../src/mcp/audit/shared-audit-log.ts';
import { verifyAudit, verifySharedAudit } from '../../src/mcp/audit/verify-audit.ts';
import { openSharedState } from '../../src/store/shared/shared-state.ts';
import { createDatabase } from '../support/postgres.ts';

const { env } = process;
const oneCall = { kind: 'answered', client: '', tool: 't', outcome: 'ok' } as const;
const newFolder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-retention-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};
const filesOf = (dir: string) => globSync(join(dir, '.ktx/audit/*.jsonl')).sort();
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1);
const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

/** Ten lines: four of one day long ago, three of the next, and three of today. */
async function threeDays(): Promise<string> {
  const dir = newFolder();
  {
    using audit = openAuditLog(dir, env);
    for (let number = 1; number <= 10; number += 1)
      await audit.append({ ...oneCall, call: `call-${number}` });
  }
  const [today = ''] = filesOf(dir);
  let hash = '';
  const lines = linesOf(today).map((text, index) => {
    const days = index < 4 ? '2020-01-01' : '2020-01-02';
    const line = JSON.parse(text) as { readonly at: string };
    const at = index < 7 ? `${days}T08:00:00.000Z` : line.at;
    const moved = JSON.stringify({ ...line, prev: hash, at });
    hash = sha256(moved);
    return moved;
  });
  writeFileSync(join(dir, '.ktx/audit/2020-01-01.jsonl'), textOf(lines.slice(0, 4)));
  writeFileSync(join(dir, '.ktx/audit/2020-01-02.jsonl'), textOf(lines.slice(4, 7)));
  const rest = textOf(lines.slice(7));
  writeFileSync(today, rest);
  const head = openAuditHead(dir, env);
  head.advance((end) => ({ ...end, hash, bytes: rest.length }));
  head.close();
  return dir;
}

async function appendOne(dir: string, keepDays?: number): Promise<void> {
  using audit = openAuditLog(dir, env, keepDays);
  await audit.append({ ...oneCall, call: 'new' });
}

describe('the audit in files', () => {
  it('loses the days that are too old, and is whole without them', async () => {
    const dir = await threeDays();
    await appendOne(dir);
    expect(filesOf(dir)).toHaveLength(3);
    expect(await verifyAudit(dir, { env })).toMatchObject({ state: 'whole', lines: 11 });
    await appendOne(dir, 400);
    expect(filesOf(dir).map((file) => basename(file).slice(0, 4))).not.toContain('2020');
    const verdict = await verifyAudit(dir, { env });
    expect(verdict).toMatchObject({ state: 'whole', lines: 6, problems: [] });
    const calls = (await listAuditedCalls(dir, { limit: 100 })).map(({ call }) => call);
    expect(calls).toEqual(['call-8', 'call-9', 'call-10', 'new']);
    await appendOne(dir, 400);
    expect(await verifyAudit(dir, { env })).toMatchObject({ state: 'whole', lines: 7 });
  });

  it('is damaged if somebody removes days, or more lines than the age took', async () => {
    const removed = await threeDays();
    rmSync(join(removed, '.ktx/audit/2020-01-01.jsonl'));
    expect(await verifyAudit(removed, { env })).toMatchObject({
      state: 'damaged',
      problems: [{ kind: 'missing', line: 1, problem: 'lines 1 to 4 are missing before it.' }],
    });
    const dir = await threeDays();
    await appendOne(dir, 400);
    const [file = ''] = filesOf(dir);
    const lines = linesOf(file);
    writeFileSync(file, textOf(lines.slice(1)));
    expect(await verifyAudit(dir, { env })).toMatchObject({
      state: 'damaged',
      problems: [{ kind: 'missing', problem: 'lines 1 to 8 are missing before it.' }],
    });
    // The line that takes the place of the others, made to cover one more.
    const forged = { through: 8, through_sha256: sha256(lines[0] ?? '') };
    const changed = lines.slice(1).map((line) => {
      const body = JSON.parse(line) as object;
      return 'through' in body ? JSON.stringify({ ...body, ...forged }) : line;
    });
    writeFileSync(file, textOf(changed));
    expect((await verifyAudit(dir, { env })).state).toBe('damaged');
  });

  it('keeps a young day that somebody gave the name of an old one', async () => {
    const dir = await threeDays();
    const [, , today = ''] = filesOf(dir);
    const lines = linesOf(today);
    const [young, last] = [textOf(lines.slice(0, 2)), textOf(lines.slice(2))];
    writeFileSync(join(dir, '.ktx/audit/2020-01-03.jsonl'), young);
    writeFileSync(today, last);
    const head = openAuditHead(dir, env);
    head.advance((end) => ({ ...end, bytes: last.length }));
    head.close();
    await appendOne(dir, 400);
    const calls = (await listAuditedCalls(dir, { limit: 100 })).map(({ call }) => call);
    expect(calls).toEqual(expect.arrayContaining(['call-8', 'call-9', 'call-10', 'new']));
    expect(await verifyAudit(dir, { env })).toMatchObject({ state: 'whole', lines: 11 });
  });

  it('loses them with the next line, if the disk took none when it was their turn', async () => {
    const dir = await threeDays();
    const [, , today = ''] = filesOf(dir);
    using audit = openAuditLog(dir, env, 400);
    renameSync(today, `${today}.aside`);
    mkdirSync(today);
    await expect(audit.append({ ...oneCall, call: 'lost' })).rejects.toMatchObject({
      code: 'audit_unwritten',
    });
    rmdirSync(today);
    renameSync(`${today}.aside`, today);
    expect(filesOf(dir)).toHaveLength(3);
    await audit.append({ ...oneCall, call: 'new' });
    expect(filesOf(dir)).toEqual([today]);
    expect((await verifyAudit(dir, { env })).state).toBe('whole');
  });

  it('is whole with days that could not be removed, and damaged if they were changed', async () => {
    const dir = await threeDays();
    const left = join(dir, '.ktx/audit/2020-01-02.jsonl');
    const text = readFileSync(left, 'utf8');
    await appendOne(dir, 400);
    writeFileSync(left, text);
    expect(await verifyAudit(dir, { env })).toMatchObject({ state: 'whole', lines: 8 });
    writeFileSync(left, text.replace('call-7', 'call-0'));
    expect((await verifyAudit(dir, { env })).state).toBe('damaged');
  });

  it('still knows the last line that is gone, and says of others that they are', async () => {
    const dir = await threeDays();
    const noted = [...linesOf(filesOf(dir)[0] ?? ''), ...linesOf(filesOf(dir)[1] ?? '')].map(
      (line, index) => ({ seq: index + 1, hash: sha256(line) }),
    );
    await appendOne(dir, 400);
    const verify = (line: (typeof noted)[number] | undefined) =>
      verifyAudit(dir, { env, expect: line });
    expect((await verify(noted[6])).state).toBe('whole');
    expect((await verify({ seq: 7, hash: sha256('') })).state).toBe('damaged');
    expect((await verify(noted[2])).problems).toMatchObject([{ kind: 'changed' }]);
  });
});

it('the audit of several servers loses old lines too, and is whole without them', async () => {
  const state = await openSharedState({ kind: 'postgres', url: await createDatabase('audit') });
  onTestFinished(() => state.close());
  const { chain } = state;
  const dir = newFolder();
  const given = { chain, records: async () => state.records, secretKey: async () => undefined };
  const old = '2020-01-01T00:00:00.000Z';
  let prev = '';
  await chain.append(() =>
    Array.from({ length: 7 }, (_, index) => {
      const seq = index + 1;
      const text = JSON.stringify({ seq, prev, at: old, ...oneCall, call: `call-${seq}` });
      prev = sha256(text);
      return { seq, text };
    }),
  );
  {
    using audit = await openServerAudit(dir, env, given);
    for (const call of ['a', 'b']) await audit.append({ ...oneCall, call });
  }
  const verify = () => verifySharedAudit(dir, chain, { env });
  expect(await verify()).toMatchObject({ state: 'whole', lines: 9 });
  {
    using audit = await openServerAudit(dir, env, { ...given, keepDays: 400 });
    for (const call of ['c', 'd']) await audit.append({ ...oneCall, call });
  }
  expect((await chain.read(0))[0]?.seq).toBe(8);
  expect(await verify()).toMatchObject({ state: 'whole', lines: 5, problems: [] });
  await chain.removeThrough(8);
  expect(await verify()).toMatchObject({ state: 'damaged' });
});
