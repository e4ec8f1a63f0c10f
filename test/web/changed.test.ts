import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import {
  enterPage,
  envelopeOf,
  type Received,
  removeFolder,
  sendTo,
  startPage,
  type StartedPage,
  waitingProject,
} from './page.ts';

// What a page shows may be old: another person decides, an ingest brings a new version. And what
// is selected together is decided together.

let cwd: string;
let page: StartedPage;
let own: Record<string, string>;
const revenue = 'metric:warehouse.orders.revenue';

beforeEach(async () => {
  cwd = await waitingProject();
  page = await startPage(cwd);
  own = await enterPage(page);
});
afterEach(async () => {
  await page[Symbol.asyncDispose]();
  removeFolder(cwd);
});

const post = (path: string, body: object): Promise<Received> =>
  sendTo(`${page.url}api/review/${path}`, {
    method: 'POST',
    headers: { ...own, 'content-type': 'application/json' },
    body,
  });
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' });
const head = () => git('rev-parse', 'HEAD');

const listSchema = z.object({
  conflicts: z.array(
    z.object({ subject: z.string(), variants: z.array(z.object({ id: z.string() })) }),
  ),
  joins: z.array(z.object({ id: z.string(), subject: z.string() })),
  unreviewed: z.array(z.object({ id: z.string(), subject: z.string() })),
});

async function listed(): Promise<z.infer<typeof listSchema>> {
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  return listSchema.parse(envelope.data);
}

async function versions(): Promise<readonly string[]> {
  const { conflicts } = await listed();
  return conflicts.find(({ subject }) => subject === revenue)?.variants.map(({ id }) => id) ?? [];
}

async function run(...argv: readonly string[]): Promise<void> {
  const { code, stderr } = await ktx(argv, { cwd });
  if (code !== 0) throw new Error(stderr);
}

/** What the server says to a decision about what it no longer has. */
function refusal(answer: Received): readonly [number, string | undefined, string] {
  const { error } = envelopeOf(answer);
  return [answer.status, error?.code, String(error?.['message'])];
}

describe('what has changed since the page showed it', () => {
  test('a new version of an ingest: every decision is refused, and it is named', async () => {
    const seen = await versions();
    const [version = ''] = seen;
    writeFileSync(
      join(cwd, 'docs/c.md'),
      '| Metric | Meaning | Formula |\n|---|---|---|\n| Revenue | Net. | `sum(orders.amount - orders.tax)` |\n',
    );
    await run('ingest');
    const [added = ''] = (await versions()).filter((id) => !seen.includes(id));
    expect(added).not.toBe('');
    const before = head();
    const about = { subject: revenue, kind: 'metric', seen };
    const answers = [
      await post('choose', { ...about, version }),
      await post('edit', { ...about, definition: 'sum(amount)' }),
      await post('defer', { ...about, until: '2999-01-31' }),
    ];
    for (const answer of answers)
      expect(refusal(answer)).toEqual([
        409,
        'question_changed',
        expect.stringContaining(`new: ${added}`),
      ]);
    expect(head()).toBe(before);
    const answer = await post('choose', { ...about, seen: await versions(), version });
    expect([answer.status, envelopeOf(answer).ok]).toEqual([200, true]);
  });

  test('another person decided: who and what is said, and nothing is decided again', async () => {
    const seen = await versions();
    const [first = '', second = ''] = seen;
    git('config', 'user.name', 'Ana Other');
    await run('review', 'choose', revenue, first);
    const before = head();
    const answer = await post('choose', {
      subject: revenue,
      kind: 'metric',
      seen,
      version: second,
    });
    expect(refusal(answer)).toEqual([
      409,
      'question_changed',
      expect.stringContaining(`Ana Other chose ${first}`),
    ]);
    expect(head()).toBe(before);
  });

  test('an accepted join that somebody rejected, and an undo of what is another decision', async () => {
    const [doubt] = (await listed()).joins;
    const { id = '', subject = '' } = doubt ?? {};
    await run('review', 'reject', id);
    const late = await post('accept', { ids: [id], seen: [id] });
    expect(refusal(late).slice(0, 2)).toEqual([409, 'question_changed']);
    const before = head();
    const undone = await post('undo', { subjects: [subject], kind: 'relationship', seen: [id] });
    expect(refusal(undone)).toEqual([409, 'question_changed', expect.stringContaining('none')]);
    expect(head()).toBe(before);
    const right = await post('undo', { subjects: [subject], seen: ['none'] });
    expect([right.status, envelopeOf(right).ok]).toEqual([200, true]);
  });

  test('two pages at once: one decides, the other is refused', async () => {
    const seen = await versions();
    const answers = await Promise.all(
      seen.map((version) => post('choose', { subject: revenue, kind: 'metric', seen, version })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
  });
});

describe('a join of the graph', () => {
  const graphSchema = z.object({
    joins: z.array(
      z.object({
        subject: z.string(),
        id: z.string().optional(),
        role: z.string(),
        state: z.string(),
        seen: z.array(z.string()),
      }),
    ),
  });
  /** As the graph of the page has it. */
  const joinOf = async (column: string) => {
    const { envelope } = await ktxJson(['sl', 'graph'], { cwd });
    const subject = `relationship:warehouse.orders(${column})`;
    const found = graphSchema.parse(envelope.data).joins.find((known) => known.subject === subject);
    return { subject, id: '', state: 'none', role: '', seen: [], ...found };
  };

  test('in doubt is accepted under a name, and gets another one: each is one commit', async () => {
    await run('ingest');
    const doubt = await joinOf('packer');
    expect(doubt.state).toBe('in_doubt');
    const accepted = await post('accept', { ids: [doubt.id], seen: doubt.seen, role: 'packed_by' });
    expect(envelopeOf(accepted).error).toBeUndefined();
    const used = await joinOf('packer');
    expect([used.state === 'in_doubt', used.role]).toEqual([false, 'packed_by']);
    const before = head().trim();
    const renamed = await post('accept', { ids: [used.id], seen: used.seen, role: 'packer_name' });
    expect(envelopeOf(renamed).error).toBeUndefined();
    expect(await joinOf('packer')).toMatchObject({ role: 'packer_name' });
    expect(git('rev-list', '--count', `${before}..HEAD`).trim()).toBe('1');
    expect(git('show', 'HEAD:semantic-layer/warehouse/orders.yaml')).toContain('role: packer_name');
    // As a person types it, and back again.
    await run('review', 'accept', 'warehouse.orders(packer)', '--as', 'packed_by');
    expect(await joinOf('packer')).toMatchObject({ role: 'packed_by' });
  });

  test('in use that somebody rejected or that has new claims is not decided again', async () => {
    await run('ingest');
    const doubt = await joinOf('packer');
    await post('accept', { ids: [doubt.id], seen: doubt.seen });
    const used = await joinOf('packer');
    await run('review', 'reject', 'warehouse.orders(packer)');
    const before = head();
    for (const verb of ['accept', 'reject'])
      expect(refusal(await post(verb, { ids: [used.id], seen: used.seen }))).toEqual([
        409,
        'question_changed',
        expect.stringContaining('rejected it'),
      ]);
    const unseen = await post('reject', { ids: [used.id] });
    expect([unseen.status, envelopeOf(unseen).error?.code]).toEqual([400, 'input_invalid']);
    expect(head()).toBe(before);
  });

  test('keeps its name while something uses it, and takes none that is taken', async () => {
    await run('ingest');
    const doubt = await joinOf('packer');
    const about = { ids: [doubt.id], seen: doubt.seen };
    for (const [role, code] of [
      ['amount', 'role_unusable'],
      ['with space', 'role_unusable'],
    ] as const)
      expect(envelopeOf(await post('accept', { ...about, role })).error?.code).toBe(code);
    await post('accept', { ...about, role: 'packed_by' });
    mkdirSync(join(cwd, 'semantic-layer/warehouse/queries'), { recursive: true });
    writeFileSync(
      join(cwd, 'semantic-layer/warehouse/queries/packers.yaml'),
      'query: packers\nmetrics: [orders.revenue]\ndimensions: [orders.packed_by.name]\n',
    );
    const used = await joinOf('packer');
    const before = head();
    const refused = await post('accept', { ids: [used.id], seen: used.seen, role: 'other' });
    expect(envelopeOf(refused).error).toMatchObject({
      code: 'role_used',
      message: expect.stringContaining('the saved query packers') as unknown,
    });
    expect(head()).toBe(before);
  });
});

describe('several at once', () => {
  test('are one commit, and one undo opens all again', async () => {
    // The files as an ingest leaves them.
    await run('ingest');
    const before = await listed();
    const open = [...before.joins, ...before.unreviewed];
    const ids = open.map(({ id }) => id);
    const start = head().trim();
    const answer = await post('accept', { ids, seen: ids });
    const { pins } = z
      .object({ pins: z.array(z.object({ subject: z.string(), choose: z.string() })) })
      .parse(envelopeOf(answer).data);
    expect(pins.map(({ choose }) => choose)).toEqual(ids);
    expect(git('rev-list', '--count', `${start}..HEAD`).trim()).toBe('1');
    const [first = '', ...others] = open.map(({ subject }) => subject);
    expect(git('log', '-1', '--format=%s').trim()).toBe(`ktx: decide ${first} and 2 more`);
    for (const subject of others) expect(git('log', '-1', '--format=%b')).toContain(subject);
    expect(await listed()).toMatchObject({ joins: [], unreviewed: [] });
    const subjects = pins.map(({ subject }) => subject);
    const undone = await post('undo', { subjects, seen: ids });
    expect(envelopeOf(undone).error).toBeUndefined();
    expect(git('rev-list', '--count', `${start}..HEAD`).trim()).toBe('2');
    expect(await listed()).toEqual(before);
  });

  test.for(['accept', 'reject'] as const)('%s: the commit that the command makes', async (verb) => {
    await run('ingest');
    const { joins, unreviewed } = await listed();
    const ids = [...joins, ...unreviewed].map(({ id }) => id);
    const copy = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-web-copy-')));
    onTestFinished(() => removeFolder(copy));
    cpSync(cwd, copy, { recursive: true });
    const answer = await post(verb, { ids, seen: ids, why: '-- as agreed' });
    expect(envelopeOf(answer).error).toBeUndefined();
    const typed = ['review', verb, ...ids, '--why=-- as agreed'];
    expect(await ktx(typed, { cwd: copy })).toMatchObject({ code: 0 });
    const commitOf = (dir: string) =>
      execFileSync('git', ['log', '-1', '--format=%s %an %T'], { cwd: dir, encoding: 'utf8' });
    expect(commitOf(cwd)).toBe(commitOf(copy));
  });

  test('are all or none: one that is not there leaves the others open', async () => {
    const { joins } = await listed();
    const ids = [...joins.map(({ id }) => id), '00000000'];
    const before = head();
    expect((await ktx(['review', 'reject', ...ids], { cwd })).code).toBe(2);
    const [id = ''] = ids;
    expect((await ktxJson(['review', 'reject', id, id], { cwd })).envelope.error).toMatchObject({
      code: 'decision_twice',
    });
    expect(head()).toBe(before);
  });
});
