import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeDecision, requestBody } from '../../src/project/propose/change-text.ts';
import { sql } from '../ingest/ingest-project.ts';
import { run } from '../store/git-project.ts';
import { contestedProject, removeFolder } from '../web/page.ts';
import { ktx as runKtx } from '../cli/run-cli.ts';
import { itemOf, serveTeam, token } from './changes-shop.ts';

const ktx = (dir: string, ...argv: readonly string[]) => runKtx(argv, { cwd: dir });

const text = 'Net revenue is revenue without tax.';
const commits = ({ log }: { readonly log: readonly string[] }) =>
  log.filter((line) => line.startsWith('POST /acme/data.git/git-receive-pack')).length;

describe.each(['github', 'gitlab'] as const)('a note through the server, at %s', (kind) => {
  test('is a branch and a request in the name of who wrote it, and the folder stays as it is', async () => {
    const { host, clientOf, isClean } = await serveTeam(kind);
    const ann = await clientOf('ann@example.com');
    const { branch, request, state } = itemOf((await ann.call('remember', { text })).text);
    expect(state).toBe('open');
    expect(branch).toMatch(/^ktx\/ann-note-[0-9a-f]{12}$/);
    const path = kind === 'github' ? 'pull' : '-/merge_requests';
    expect(request).toBe(`${host.url}/acme/data/${path}/1`);
    expect(host.git('log', '-1', '--format=%an <%ae> %cn <%ce>', String(branch))).toBe(
      'ann <ktx@localhost> ktx <ktx@localhost>',
    );
    expect(host.git('rev-parse', `${String(branch)}^`)).toBe(host.git('rev-parse', 'main'));
    const files = host.git('diff', '--name-only', 'main', String(branch)).split('\n');
    expect(files).toEqual([
      expect.stringMatching(/^sources\/notes\/[0-9a-f]{12}\.jsonl$/),
      expect.stringMatching(/^sources\/notes\/[0-9a-f]{12}\.md$/),
    ]);
    const [made] = host.requests;
    expect(made).toMatchObject({ branch, base: 'main', state: 'open' });
    expect(made?.title).toMatch(/^ktx: Note [0-9a-f]{12}$/);
    expect(made?.body).toContain(`\`\`\`text\n${text}\n\`\`\``);
    for (const file of files) expect(made?.body).toContain(file);
    expect(made?.body).not.toContain('example.com');
    expect(isClean()).toBe(true);
  });

  test('is the same request again, also on a base that has moved', async () => {
    const { dir, host, clientOf, isClean } = await serveTeam(kind);
    const ann = await clientOf('ann');
    const first = itemOf((await ann.call('remember', { text })).text);
    const branch = String(first['branch']);
    const tip = host.git('rev-parse', branch);
    const again = await ann.call('remember', { text: `  ${text.toUpperCase()}\n` });
    expect(itemOf(again.text)).toEqual({ ...first, branch });
    expect([commits(host), host.requests.length]).toEqual([1, 1]);

    moveBase(dir, host.bare);
    await ann.call('remember', { text });
    expect(host.requests).toHaveLength(1);
    expect(host.git('rev-parse', `${branch}^`)).toBe(host.git('rev-parse', 'main'));
    expect(host.git('rev-parse', branch)).not.toBe(tip);
    expect(host.git('show', `${branch}:README.md`)).toBe('moved');
    // The server's own folder is brought up to date by whoever runs it, not by a proposal.
    expect(isClean()).toBe(true);
  });

  test('merges with that of another note in any order, also at a host that reads no attributes', async () => {
    const { host, clientOf } = await serveTeam(kind);
    const branches: string[] = [];
    for (const name of ['ann', 'bo', 'cy']) {
      const person = await clientOf(name);
      const { branch } = itemOf((await person.call('remember', { text: `${text} ${name}` })).text);
      branches.push(String(branch));
    }
    const write = (args: readonly string[], input: string): string =>
      execFileSync('git', args, { cwd: host.bare, input, encoding: 'utf8' }).trim();
    const emptyTree = write(['mktree'], '');
    const own = ['-c', 'user.name=host', '-c', 'user.email=host@localhost'];
    /** Throws where two sides changed the same place. */
    const merge = (ours: string, theirs: string): string => {
      const attributes = `attr.tree=${emptyTree}`;
      const [tree = ''] = host.git('-c', attributes, 'merge-tree', ours, theirs).split('\n');
      const parents = ['-p', ours, '-p', theirs];
      return host.git(...own, 'commit-tree', tree, ...parents, '-m', 'merged');
    };
    const merged = (order: readonly string[]) =>
      host.git('rev-parse', `${order.reduce(merge, host.git('rev-parse', 'main'))}^{tree}`);
    const tree = merged(branches);
    expect(merged(branches.toReversed())).toBe(tree);
    const files = host.git('ls-tree', '--name-only', `${tree}:sources/notes`).split('\n');
    expect(files).toHaveLength(2 * branches.length);
    // What the line of a note was once: a common file, which hosts find in conflict.
    const withFile = (line: string): string => {
      const blob = write(['hash-object', '-w', '--stdin'], `${line}\n`);
      const listed = write(['mktree'], `100644 blob ${blob}\tindex.jsonl\n`);
      return host.git(...own, 'commit-tree', listed, '-p', 'main', '-m', line);
    };
    expect(() => merge(withFile('a'), withFile('b'))).toThrow();
  });

  test('has nothing of what a killed run of somebody else left', async () => {
    const { dir, host, clientOf } = await serveTeam(kind);
    const ann = await clientOf('ann');
    await ann.call('remember', { text });
    const tree = join(dir, '.ktx/worktree');
    mkdirSync(join(tree, '.ktx/notes'), { recursive: true });
    writeFileSync(join(tree, '.ktx/notes/0123456789ab.md'), 'half a note\n');
    writeFileSync(join(tree, 'ktx.yaml'), 'half a file');
    writeFileSync(join(tree, 'wiki.tmp'), 'left over');
    const bo = await clientOf('bo');
    const { branch } = itemOf((await bo.call('remember', { text: 'A note of bo.' })).text);
    expect(host.git('diff', '--name-only', 'main', String(branch)).split('\n')).toEqual([
      expect.stringMatching(/^sources\/notes\/(?!0123456789ab)[0-9a-f]{12}\.jsonl$/),
      expect.stringMatching(/^sources\/notes\/(?!0123456789ab)[0-9a-f]{12}\.md$/),
    ]);
  });

  test('that is merged is in the project, and asking again proposes nothing', async () => {
    const { dir, host, clientOf } = await serveTeam(kind);
    const ann = await clientOf('ann');
    const { branch } = itemOf((await ann.call('remember', { text })).text);
    host.git('update-ref', 'refs/heads/main', `refs/heads/${String(branch)}`);
    Object.assign(host.requests[0] ?? {}, { state: 'merged' });
    const list = () => ktx(dir, 'mcp', 'changes', '--json');
    expect((await list()).stdout).toContain('"state":"merged"');
    expect((await list()).stdout).toContain('"changes":[]');
    expect(itemOf((await ann.call('remember', { text })).text)).toMatchObject({
      state: 'unchanged',
    });
    expect(host.requests).toHaveLength(1);
  });
});

/** A commit on the base that the folder of the server does not have. */
function moveBase(dir: string, bare: string): void {
  const clone = mkdtempSync(join(tmpdir(), 'ktx-mover-'));
  onTestFinished(() => removeFolder(clone));
  run(dir, 'clone', '-q', bare, clone);
  writeFileSync(join(clone, 'README.md'), 'moved\n');
  run(clone, 'add', '.');
  run(clone, 'commit', '-qm', 'a person works on');
  run(clone, 'push', '-q', 'origin', 'HEAD:main');
}

describe('what the host does not take', () => {
  const reset = String(Math.ceil(Date.now() / 1000) + 900);
  const api = /GET \/api\/v3\/repos\/acme\/data$/;
  const faults = [
    ['a token that ended', { match: api, status: 401 }, 'git_login_refused'],
    ['a token without the right', { match: api, status: 403 }, 'git_host_forbidden'],
    [
      'a limit that is used up',
      {
        match: api,
        status: 403,
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      },
      'git_host_busy',
    ],
    [
      'a longer wait than a person has',
      { match: api, status: 429, headers: { 'retry-after': '3600' } },
      'git_host_unreachable',
    ],
    ['a repository that is not there', { match: api, status: 404 }, 'git_repository_unknown'],
    [
      'a repository that has moved',
      { match: api, status: 301, headers: { location: 'http://127.0.0.1:1/' } },
      'git_request_refused',
    ],
    ['an answer that is none', { match: api, status: 200, body: '<html>' }, 'git_request_refused'],
    [
      'a request that the host refuses',
      { match: /POST .*\/pulls$/, status: 422, body: `{"message":"no, ${token}"}` },
      'git_request_refused',
    ],
    ['a login that git refuses', { match: /git-upload-pack/, status: 403 }, 'git_login_refused'],
    ['a push that fails', { match: /git-receive-pack/, status: 500 }, 'git_host_unreachable'],
  ] as const;

  test('is kept, is told, and is sent later, whatever the host says', async () => {
    const { dir, host, clientOf, isClean } = await serveTeam();
    const ann = await clientOf('ann');
    for (const [name, fault, code] of faults) {
      host.faults.push({ ...fault, times: 1 });
      const answer = await ann.call('remember', { text: `A note in spite of ${name}.` });
      const kept = itemOf(answer.text);
      const problem = expect.stringContaining(code) as string;
      expect([name, kept]).toMatchObject([name, { state: 'kept', problem }]);
      expect(kept['next']).toContain('ktx mcp changes --send');
      expect(answer.text).toContain('Not proposed yet');
      expect(answer.text).not.toContain(token);
      expect([host.requests.length, isClean()]).toEqual([0, true]);
    }
    expect((await ktx(dir, 'status', '--fast')).stdout).toContain('not sent  note of ann');

    const { stdout } = await ktx(dir, 'mcp', 'changes', '--send', '--json');
    const sent = faults.map(
      () => expect.objectContaining({ state: 'open', author: 'ann' }) as object,
    );
    expect(JSON.parse(stdout)).toMatchObject({ data: { changes: sent } });
    expect(host.requests).toHaveLength(faults.length);
    for (const { branch } of host.requests)
      expect(host.git('log', '-1', '--format=%an', branch)).toBe('ann');
    for (const command of [['status', '--fast'], ['review', 'list'], ['review']]) {
      const shown = await ktx(dir, ...command);
      expect(shown.stdout).toContain(`proposed  note of ann: ${host.url}/acme/data/pull/1`);
    }
  });

  test('a host that is away keeps nobody from the next proposal', async () => {
    const { dir, host, clientOf } = await serveTeam();
    const ann = await clientOf('ann');
    await host.close();
    expect(itemOf((await ann.call('remember', { text })).text)).toMatchObject({
      state: 'kept',
      problem: expect.stringContaining('git_host_unreachable') as string,
    });
    expect((await ktx(dir, 'review', 'list')).stdout).toContain('not sent  note of ann');
  });

  test('a branch on which somebody else works stays as they left it', async () => {
    const { dir, host, clientOf } = await serveTeam();
    const ann = await clientOf('ann');
    const { branch } = itemOf((await ann.call('remember', { text })).text);
    const clone = mkdtempSync(join(tmpdir(), 'ktx-mover-'));
    onTestFinished(() => removeFolder(clone));
    run(dir, 'clone', '-q', '-b', String(branch), host.bare, clone);
    run(clone, 'commit', '-q', '--allow-empty', '-m', 'my own work');
    run(clone, 'push', '-q', 'origin', 'HEAD');
    const theirs = host.git('rev-parse', String(branch));
    moveBase(dir, host.bare);
    expect(itemOf((await ann.call('remember', { text })).text)).toMatchObject({
      state: 'kept',
      problem: expect.stringContaining('change_taken_over') as string,
    });
    expect(host.git('rev-parse', String(branch))).toBe(theirs);
  });

  test('a base without the project is an error for who asks', async () => {
    const { host, clientOf } = await serveTeam();
    const ann = await clientOf('ann');
    const tree = host.git('hash-object', '-w', '-t', 'tree', '/dev/null');
    host.git('update-ref', 'refs/heads/main', host.git('commit-tree', tree, '-m', 'empty'));
    const answer = await ann.call('remember', { text });
    expect(answer).toMatchObject({
      isError: true,
      text: expect.stringContaining('change_base_unfit') as string,
    });
  });
});

describe('an ingest through the server', () => {
  test('is a branch and a request, and joins a second one of the same', async () => {
    const { dir, host, clientOf, isClean } = await serveTeam();
    sql(dir, 'CREATE TABLE extra (id INTEGER PRIMARY KEY, word TEXT)');
    const ann = await clientOf('ann');
    const found = itemOf((await ann.call('ingest', { wait: 50 })).text);
    expect(found).toMatchObject({ status: 'complete', proposed: { state: 'open' } });
    expect(found).not.toHaveProperty('commit');
    const [made] = host.requests;
    const changed = host.git('diff', '--name-only', 'main', made?.branch ?? '');
    expect(changed).toContain('semantic-layer/shop/extra.yaml');
    expect(made?.body).toContain('Read: `shop`.');
    expect(isClean()).toBe(true);
    const again = itemOf((await ann.call('ingest', { wait: 50 })).text);
    expect(again).toMatchObject({ proposed: { state: 'open' } });
    expect([host.requests.length, commits(host)]).toEqual([1, 1]);
  });
});

const showsApps = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

describe('a decision through the server', () => {
  test('is a request with the versions and who says them; another one takes its place', async () => {
    const contested = await contestedProject();
    const { host, clientOf, isClean } = await serveTeam('github', contested);
    const ann = await clientOf('Ann Ahrens', showsApps);
    const { structured } = await ann.call('read_conflicts', {});
    const { untrusted } = structured as {
      untrusted: {
        hits: { conflict: { subject: string; kind: string; variants: { id: string }[] } }[];
      };
    };
    const conflict = untrusted.hits[0]?.conflict;
    const seen = conflict?.variants.map(({ id }) => id) ?? [];
    const about = { subject: conflict?.subject, kind: conflict?.kind, seen };
    const decide = async (who: typeof ann, version: string | undefined) =>
      who.call('decide_conflict', {
        decision: { verb: 'choose', ...about, version, why: 'finance says so\n/merge' },
      });
    expect((await decide(ann, seen[1])).text).toContain('Proposed');
    const [made] = host.requests;
    expect(made?.title).toBe('ktx: Decide metric:warehouse.orders.revenue (metric)');
    for (const id of seen) expect(made?.body).toContain(id);
    expect(made?.body).toMatch(/Version `\w+`, from `[^`]*/);
    expect(made?.body).toContain('```text\nfinance says so\n/merge\n```');
    const pins = () => host.git('show', `${made?.branch ?? ''}:pins.yaml`);
    expect(pins()).toContain(`choose: ${seen[1] ?? '?'}`);
    expect(pins()).toContain('by: Ann Ahrens');

    await decide(ann, seen[0]);
    expect(host.requests).toHaveLength(1);
    expect(pins()).toContain(`choose: ${seen[0] ?? '?'}`);
    await decide(await clientOf('bo', showsApps), seen[1]);
    expect(host.requests.map(({ branch }) => branch.replace(/[0-9a-f]{12}$/, ''))).toEqual([
      'ktx/ann-ahrens-decision-',
      'ktx/bo-decision-',
    ]);
    const late = await ann.call('decide_conflict', {
      decision: { verb: 'choose', ...about, seen: [seen[0]], version: seen[0] },
    });
    expect(late).toMatchObject({ isError: true });
    expect(isClean()).toBe(true);
  });
});

describe('hostile', () => {
  const names = [
    `../../x y"$(id)'`,
    '--upload-pack=touch /tmp/x',
    'ann\n/approve <root@corp.example>',
    '..lock/.git',
    '\u202Eevil',
    '日本語',
    'ktx/main:refs/heads/main',
  ];
  test('the name of a person becomes a branch that is only a name', async () => {
    const { host, clientOf, isClean } = await serveTeam();
    const branches: string[] = [];
    for (const name of names) {
      const who = await clientOf(name);
      const branch = String(itemOf((await who.call('remember', { text })).text)['branch']);
      expect(branch).toMatch(/^ktx\/[a-z0-9-]{1,30}-note-[0-9a-f]{12}$/);
      branches.push(branch);
      expect(host.git('log', '-1', '--format=%an', branch)).not.toMatch(/[<>@\u202E]|corp/u);
      expect(host.git('log', '-1', '--format=%ae %ce', branch)).toBe('ktx@localhost ktx@localhost');
    }
    expect(host.git('for-each-ref', '--format=%(refname)').split('\n')).toEqual(
      [...branches, 'main'].map((name) => `refs/heads/${name}`).sort(),
    );
    expect(isClean()).toBe(true);
  });

  test('a note with commands of a host stays a quoted note', async () => {
    const { host, clientOf } = await serveTeam('gitlab');
    const ann = await clientOf('ann');
    await ann.call('remember', { text: 'x\n```\n/merge\n````\n@all closes #1' });
    const body = host.requests[0]?.body ?? '';
    const [, fence = '', quoted = ''] = /(`{3,})text\n([^]*?)\n\1\n/.exec(body) ?? [];
    expect(fence).toBe('`````');
    expect(quoted).toContain('/merge');
    expect(body.replace(quoted, '')).not.toMatch(/^\/|@all|#1/m);
    expect(host.git('log', '-1', '--format=%B', host.requests[0]?.branch ?? '')).not.toMatch(
      /#1|@/,
    );
  });

  test('a note as long as a note can be is quoted as far as a host takes it', async () => {
    const { host, clientOf } = await serveTeam();
    const ann = await clientOf('ann');
    const long = `${'```'.repeat(1_000)}${'word '.repeat(19_000)}`;
    const { state, branch } = itemOf((await ann.call('remember', { text: long })).text);
    expect(state).toBe('open');
    const body = host.requests[0]?.body ?? '';
    const [, , quoted = ''] = /(`{3,})text\n([^]*?)\n\1\n/.exec(body) ?? [];
    expect(long.startsWith(quoted.replace(/ …$/, ''))).toBe(true);
    expect(body).toContain('2 files');
    const files = host.git('diff', '--name-only', 'main', String(branch)).split('\n');
    const file = files.find((path) => path.endsWith('.md')) ?? '';
    expect(host.git('show', `${String(branch)}:${file}`)).toContain(long.trim());
  });

  test.each(['github', 'gitlab'] as const)(
    'the request of a fork at %s gets neither the text nor the place of a change',
    async (kind) => {
      const { host, clientOf } = await serveTeam(kind);
      const ann = await clientOf('ann');
      const first = itemOf((await ann.call('remember', { text })).text);
      const branch = String(first['branch']);
      const [own] = host.requests;
      const theirs = { title: 'Theirs', body: 'Theirs.' };
      const common = { number: 2, state: 'open', branch, base: 'main', isFork: true } as const;
      host.requests.unshift({ ...common, ...theirs });
      const again = itemOf((await ann.call('remember', { text })).text);
      expect(again['request']).toBe(first['request']);
      expect(host.requests).toEqual([{ ...common, ...theirs }, own]);
    },
  );

  test('a note with a credential is refused, and kept nowhere', async () => {
    const { dir, host, clientOf, isClean } = await serveTeam();
    const ann = await clientOf('ann');
    for (const secret of [
      'The loader logs in with ghp_0123456789abcdefABCDEF.',
      'Ask with Authorization: Bearer 0123456789abcdef0123',
      'The copy is at postgres://reader:pa55word-of-ann@db.example.com/shop',
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      'The key is AKIAIOSFODNN7EXAMPLE, in us-east-1.',
    ]) {
      const answer = await ann.call('remember', { text: secret });
      expect(answer).toMatchObject({ isError: true });
      expect(answer.text).toMatch(/^Error note_secret\n/);
    }
    expect(host.requests).toEqual([]);
    for (const word of ['0123456789abcdef', 'pa55word', 'OPENSSH', 'AKIAIOSFOD'])
      for (const place of [dir, host.bare])
        expect(() => execFileSync('grep', ['-rqaF', '--', word, place]), word).toThrow();
    expect(isClean()).toBe(true);
  });

  test('what a request shows of sources has no credential', () => {
    const key = 'AKIAIOSFODNN7EXAMPLE';
    const parts = [`Version \`a\`, from \`dbt\`: key ${key}`];
    const body = requestBody({ title: 'Decide', parts }, { author: 'ann', files: [] });
    expect(body).toContain('key [redacted]');
    expect(body).not.toContain(key);
  });

  test('the token is in no file, no message, no address and no argument', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ktx-git-spy-'));
    onTestFinished(() => removeFolder(folder));
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const spied = join(folder, 'arguments');
    writeFileSync(join(folder, 'git'), `#!/bin/sh\necho "$@" >> ${spied}\nexec ${real} "$@"\n`);
    chmodSync(join(folder, 'git'), 0o755);
    const { PATH, GIT_TRACE_CURL } = process.env;
    process.env['PATH'] = `${folder}:${PATH ?? ''}`;
    process.env['GIT_TRACE_CURL'] = join(folder, 'trace');
    onTestFinished(() => {
      process.env['PATH'] = PATH;
      if (GIT_TRACE_CURL === undefined) delete process.env['GIT_TRACE_CURL'];
    });
    const { dir, host, clientOf } = await serveTeam();
    const ann = await clientOf('ann');
    const answers = [await ann.call('remember', { text })];
    host.faults.push({ match: /git-receive-pack/, times: 1, status: 401, body: token });
    answers.push(await ann.call('remember', { text: 'Another note.' }));
    await ktx(dir, 'status', '--fast');
    const pushes = readFileSync(spied, 'utf8');
    expect(pushes).toMatch(/push .*ktx\/ann-note/);
    const secrets = [token, Buffer.from(`x-access-token:${token}`).toString('base64')];
    expect(host.logins.some((login) => login.includes(secrets[1] ?? ''))).toBe(true);
    for (const secret of secrets) {
      expect(pushes).not.toContain(secret);
      expect(JSON.stringify(answers)).not.toContain(secret);
      const places = [dir, folder, host.bare];
      for (const place of places)
        expect(() => execFileSync('grep', ['-rqaF', secret, place])).toThrow();
    }
  });
});

describe('the configuration', () => {
  const base = { host: 'github', repository: 'acme/data', token: 'env:X' };
  const configs = [
    { ...base, repository: `acme/da"ta` },
    { ...base, repository: `acme/$(id)` },
    { ...base, repository: '../data' },
    { ...base, repository: 'acme/-data' },
    { ...base, repository: 'data' },
    { ...base, base: '--upload-pack=x' },
    { ...base, base: 'a..b' },
    { ...base, base: 'main:refs' },
    { ...base, token: 'ghp_literal' },
    { ...base, url: 'https://ann:secret@git.example.com' },
    { ...base, url: 'file:///srv/git' },
    { ...base, host: 'gitea' },
    undefined,
  ];
  test.each(configs)('%j is refused', async (git) => {
    const dir = mkdtempSync(join(tmpdir(), 'ktx-changes-'));
    onTestFinished(() => removeFolder(dir));
    const serve = JSON.stringify({ changes: 'pull_request', ...(git && { git }) });
    writeFileSync(join(dir, 'ktx.yaml'), `serve: ${serve}\n`);
    const { code, stderr } = await ktx(dir, 'status', '--fast');
    expect(code).toBe(2);
    expect(stderr).toContain('serve.git');
    expect(stderr).not.toMatch(/secret@|ghp_literal/);
  });

  test('sends nothing to a host that nobody on this machine approved', async () => {
    const { dir, host } = await serveTeam();
    const config = join(dir, 'ktx.yaml');
    const other = 'http://127.0.0.1:1';
    writeFileSync(config, readFileSync(config, 'utf8').replace(host.url, other));
    const { code, stderr } = await runKtx(['mcp', 'serve', '--http', '--port', '0'], {
      cwd: dir,
      approved: false,
    });
    expect(code).toBe(4);
    expect(stderr).toContain('serve.git');
  });
});

test('a secret at the place where a text is cut stays here as well', () => {
  const decision = {
    verb: 'edit',
    subject: 'metric:shop.a.b',
    kind: 'definition',
    seen: [],
  } as const;
  const address = (length: number) =>
    `${' '.repeat(length)}postgres://ann:hunter2hunter2@db.example/x`;
  const shown = [9_975, 9_980].map((length) => {
    const definition = address(length);
    const change = describeDecision({ ...decision, definition, seen: [] }, undefined);
    return requestBody(change, {
      author: address(175).trim(),
      files: [`${'a'.repeat(180)}${address(0)}`],
    });
  });
  expect(shown.filter((body) => body.includes('hunter'))).toEqual([]);
  const secret = `dapi${'0a1b2c3d'.repeat(4)}`;
  expect(requestBody({ title: 't', parts: [secret] }, { author: 'ann', files: [] })).not.toContain(
    secret,
  );
});
