import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pageRoutes } from '../../src/web/page-routes.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import {
  contestedProject,
  enterPage,
  envelopeOf,
  removeFolder,
  sendTo,
  startPage,
  type StartedPage,
} from './page.ts';

let cwd: string;
let page: StartedPage;
let own: Record<string, string>;
const revenue = 'metric:warehouse.orders.revenue';

beforeAll(async () => {
  cwd = await contestedProject();
  page = await startPage(cwd);
  own = await enterPage(page);
});
afterAll(async () => {
  await page[Symbol.asyncDispose]();
  removeFolder(cwd);
});

const git = (dir: string, ...args: readonly string[]) =>
  execFileSync('git', args, { cwd: dir, encoding: 'utf8' });
const post = (path: string, body: object) =>
  sendTo(`${page.url}${path}`, {
    method: 'POST',
    headers: { ...own, 'content-type': 'application/json' },
    body,
  });

test('a ktx.yaml that cannot be read is named on the page', async () => {
  const path = join(cwd, 'ktx.yaml');
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, 'connections: [');
  const refused = await sendTo(`${page.url}api/status`, { headers: own });
  writeFileSync(path, before);
  expect(refused.status).toBe(500);
  expect(JSON.parse(refused.text)).toMatchObject({
    error: { message: expect.stringMatching(/^ktx\.yaml:1:\d+: /) as string },
  });
});

/** What each route that reads is asked, and the command that a person would type for it. */
const reading: Readonly<
  Record<string, { readonly ask: string | object; readonly typed: string[] }>
> = {
  '/api/status': { ask: '', typed: ['status', '--fast'] },
  '/api/runs': { ask: '', typed: ['status', '--runs'] },
  '/api/usage': { ask: '', typed: ['status', '--usage'] },
  '/api/egress': { ask: '', typed: ['status', '--egress'] },
  '/api/review': { ask: '', typed: ['review', 'list'] },
  '/api/evals': { ask: '', typed: ['eval', 'runs'] },
  '/api/eval': { ask: '?run=last', typed: ['eval', 'report', 'last'] },
  '/api/eval/diff': {
    ask: '?run=last&case=a&attempt=1',
    typed: ['eval', 'diff', 'a', '--run', 'last', '--attempt', '1'],
  },
  '/api/datasets': { ask: '', typed: ['sl', 'list', '--all'] },
  '/api/graph': { ask: '', typed: ['sl', 'graph'] },
  '/api/dataset': { ask: '?dataset=orders', typed: ['sl', 'read', 'orders'] },
  '/api/dimensions': {
    ask: '?metric=orders.revenue&metric=orders.count',
    typed: ['sl', 'dimensions', 'orders.revenue', 'orders.count'],
  },
  '/api/explain': {
    ask: `?subject=${revenue}`,
    typed: ['explain', '--uses', '--origins', revenue],
  },
  '/api/search': { ask: '?words=revenue', typed: ['search', '--limit', '30', 'revenue'] },
  '/api/query': {
    ask: { metrics: ['orders.revenue'], dimensions: ['orders.status'], limit: 2 },
    typed: ['sl', 'query', '-m', 'orders.revenue', '-d', 'orders.status', '--limit', '2'],
  },
};

/** Without what differs between two runs of one command. */
function lasting(data: unknown): unknown {
  const text = JSON.stringify(data ?? null, (key, value: unknown) =>
    ['ms', 'query_id'].includes(key) ? undefined : value,
  );
  return JSON.parse(text) as unknown;
}

describe('a route that reads', () => {
  test('has its command below', () => {
    const routes = Object.entries(pageRoutes).filter(([, { writes }]) => writes !== true);
    expect(Object.keys(reading).sort()).toEqual(routes.map(([path]) => path).sort());
  });

  test('or changes something, and is compared with its command below or beside this file', () => {
    const writing = Object.entries(pageRoutes).filter(([, { writes }]) => writes === true);
    const compared = {
      'routes.test.ts': ['/api/review/choose', '/api/review/edit', '/api/review/defer'],
      'changed.test.ts': ['/api/review/accept', '/api/review/reject', '/api/review/undo'],
      'asking-routes.test.ts': ['/api/ask', '/api/eval/add', '/api/remember'],
    };
    expect(writing.map(([path]) => path).sort()).toEqual(Object.values(compared).flat().sort());
  });

  test.for(Object.keys(reading))('%s answers what the command prints with --json', async (path) => {
    const { ask = '', typed = [] } = reading[path] ?? {};
    const answer =
      typeof ask === 'string'
        ? await sendTo(`${page.url.slice(0, -1)}${path}${ask}`, { headers: own })
        : await post(path.slice(1), ask);
    const { envelope } = await ktxJson(typed, { cwd });
    // Nobody has run an eval here: those routes fail as their commands do.
    expect(envelopeOf(answer).ok).toBe(!path.startsWith('/api/eval/') && path !== '/api/eval');
    expect(envelopeOf(answer).ok).toBe(envelope.ok);
    expect(lasting(envelopeOf(answer).data)).toEqual(lasting(envelope.data));
    expect(envelopeOf(answer).error).toEqual(envelope.error);
  });

  test('fails as the command does', async () => {
    const answer = await sendTo(`${page.url}api/explain?subject=nothing`, { headers: own });
    const { envelope } = await ktxJson(['explain', '--uses', 'nothing'], { cwd });
    expect(envelopeOf(answer)).toMatchObject({ ok: false, error: envelope.error });
  });

  test.for(['?subject=a&other=b', '', '?subject='])('refuses other input: %s', async (ask) => {
    const answer = await sendTo(`${page.url}api/explain${ask}`, { headers: own });
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([400, 'input_invalid']);
  });
});

interface Step {
  readonly path: string;
  readonly input: (version: string, seen: readonly string[]) => object;
  readonly typed: (version: string) => string[];
}

const steps: Readonly<Record<string, Step>> = {
  choose: {
    path: 'api/review/choose',
    input: (version, seen) => ({
      subject: revenue,
      kind: 'metric',
      version,
      why: 'finance says so',
      seen,
    }),
    typed: (version) => ['review', 'choose', revenue, version, '--why', 'finance says so'],
  },
  edit: {
    path: 'api/review/edit',
    input: (_version, seen) => ({
      subject: revenue,
      kind: 'metric',
      definition: 'sum(amount) - 1',
      seen,
    }),
    typed: () => ['review', 'edit', revenue, 'sum(amount) - 1', '--kind', 'metric'],
  },
  defer: {
    path: 'api/review/defer',
    input: (_version, seen) => ({
      subject: revenue,
      kind: 'metric',
      until: '2999-01-31',
      why: '-- later',
      seen,
    }),
    typed: () => [
      'review',
      'defer',
      revenue,
      '--kind',
      'metric',
      '--until',
      '2999-01-31',
      '--why=-- later',
    ],
  },
};

const madeSchema = z.object({ pin: z.object({ choose: z.string() }) });

describe('a decision of the page', () => {
  test.for(Object.keys(steps))('%s is the commit that the command makes', async (name) => {
    const { path = '', input, typed } = steps[name] ?? {};
    const listed = await ktxJson(['review', 'list'], { cwd });
    const { conflicts } = listed.envelope.data as {
      conflicts: { subject: string; variants: { id: string }[] }[];
    };
    const conflict = conflicts.find(({ subject }) => subject === revenue);
    const version = conflict?.variants[1]?.id ?? '';
    const seen = conflict?.variants.map(({ id }) => id) ?? [];
    const copy = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-web-copy-')));
    cpSync(cwd, copy, { recursive: true });
    const before = git(cwd, 'rev-parse', 'HEAD');
    const answer = await post(path, input?.(version, seen) ?? {});
    expect(envelopeOf(answer)).toMatchObject({ ok: true });
    expect(await ktx(typed?.(version) ?? [], { cwd: copy })).toMatchObject({ code: 0 });
    expect(git(cwd, 'rev-parse', 'HEAD')).not.toBe(before);
    // The same tree and the same subject: only the run's id and the time differ.
    const commit = (dir: string) => git(dir, 'log', '-1', '--format=%s %an %ae %T');
    expect(commit(cwd)).toBe(commit(copy));
    removeFolder(copy);
    const { pin } = madeSchema.parse(envelopeOf(answer).data);
    const undone = await post('api/review/undo', {
      subjects: [revenue],
      kind: 'metric',
      seen: [pin.choose],
    });
    expect(envelopeOf(undone)).toMatchObject({ ok: true });
    expect(git(cwd, 'log', '-1', '--format=%s').trim()).toBe(`ktx: reopen ${revenue}`);
    expect(git(cwd, 'diff', '--name-only', before.trim(), 'HEAD')).toMatch(/^(?:pins\.yaml\n)?$/);
    const after = await ktxJson(['review', 'list'], { cwd });
    expect(after.envelope.data).toEqual(listed.envelope.data);
  });

  test.for(['choose', 'edit', 'defer', 'undo'])(
    '%s says what was seen, or is refused',
    async (verb) => {
      const inputs: Readonly<Record<string, object>> = {
        choose: { subject: revenue, version: 'ade0f976' },
        edit: { subject: revenue, definition: 'sum(amount)' },
        defer: { subject: revenue },
        undo: { subjects: [revenue] },
      };
      const answer = await post(`api/review/${verb}`, inputs[verb] ?? {});
      expect([answer.status, envelopeOf(answer).error?.code]).toEqual([400, 'input_invalid']);
    },
  );

  test('cannot be taken back twice', async () => {
    const answer = await post('api/review/undo', { subjects: [revenue], seen: ['none'] });
    expect(envelopeOf(answer).error).toMatchObject({ code: 'decision_unknown' });
  });
});
