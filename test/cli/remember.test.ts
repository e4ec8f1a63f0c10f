import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { noteId } from '../../src/sources/notes/inbox.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { folder, ktx, ktxJson, shopProject } from './run-cli.ts';

const words = 'Net revenue is after refunds.';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, { cwd, encoding: 'utf8' }).trimEnd();
const notesIn = (text: string) => new Set(text.match(/sources\/notes\/[0-9a-f]{12}\.md/g));

/** `ktx remember` in a process of its own. */
function rememberElsewhere(cwd: string, text: string): ChildProcess {
  const args = [main, 'remember', text, '--project-dir', cwd];
  return spawn(process.execPath, args, { stdio: 'ignore' });
}

describe('several notes', () => {
  test('of commands, an agent and two processes at once are one commit, that of the next ingest', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const head = git(cwd, 'rev-parse', 'HEAD');
    for (const text of ['One.', 'Two.'])
      expect(await ktx(['remember', text], { cwd })).toMatchObject({
        code: 0,
        stderr: expect.not.stringContaining('no commit') as unknown,
      });
    const project = await openProject(cwd);
    const tool = openToolbox(project)
      .tools(new AbortController().signal)
      .find(({ name }) => name === 'remember');
    expect((await tool?.execute({ text: 'Three.' }))?.markdown).not.toContain('warning');
    await project.close();
    const both = [rememberElsewhere(cwd, 'Four.'), rememberElsewhere(cwd, 'Five.')];
    const codes = await Promise.all(both.map(async (child) => (await once(child, 'close'))[0]));
    expect(codes).toEqual([0, 0]);
    expect(git(cwd, 'rev-parse', 'HEAD')).toBe(head);
    await ktx(['ingest', '--no-commit'], { cwd });
    expect(git(cwd, 'rev-parse', 'HEAD')).toBe(head);
    await ktx(['ingest'], { cwd });
    expect(git(cwd, 'rev-list', '--count', `${head}..HEAD`)).toBe('1');
    expect(notesIn(git(cwd, 'show', '--stat=200', 'HEAD'))).toHaveProperty('size', 5);
    expect(git(cwd, 'status', '--porcelain', 'sources', 'claims')).toBe('');
  });

  test('are never committed by ktx where `git: write` says so', async () => {
    const cwd = await shopProject();
    writeFileSync(
      join(cwd, 'ktx.yaml'),
      `${readFileSync(join(cwd, 'ktx.yaml'), 'utf8')}git: write\n`,
    );
    for (const args of [['ingest'], ['remember', 'One.'], ['remember', 'Two.'], ['ingest']])
      expect(await ktx(args, { cwd })).toMatchObject({ code: 0 });
    expect(git(cwd, 'rev-list', '--all')).toBe('');
    expect(notesIn(git(cwd, 'status', '--porcelain', '-uall'))).toHaveProperty('size', 2);
  });

  test('are all in the commit if the processes that took them were killed', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const head = git(cwd, 'rev-parse', 'HEAD');
    for (const text of ['One.', 'Two.', 'Three.']) {
      const child = rememberElsewhere(cwd, text);
      const file = join(cwd, '.ktx/notes', `${noteId(text)}.md`);
      await expect.poll(() => existsSync(file), { interval: 2 }).toBe(true);
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    await ktx(['ingest'], { cwd });
    expect(git(cwd, 'rev-list', '--count', `${head}..HEAD`)).toBe('1');
    expect(notesIn(git(cwd, 'show', '--stat=200', 'HEAD'))).toHaveProperty('size', 3);
  });
});

describe('a note', () => {
  test('becomes an item in git, is pending, and is one note however often and however it comes', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const { code, envelope } = await ktxJson(['remember', ...words.split(' ')], { cwd });
    const { id, path } = envelope.data as { id: string; path: string };
    expect([code, envelope.data]).toEqual([
      0,
      { id, path: `sources/notes/${id}.md`, status: 'pending' },
    ]);
    expect(readFileSync(join(cwd, path), 'utf8')).toBe(`${words}\n`);
    expect(readdirSync(join(cwd, '.ktx/notes'))).toEqual([]);
    writeFileSync(join(cwd, 'note.md'), `\n${words}\n\n`);
    for (const [args, stdin] of [
      [['remember', '--file', 'note.md'], ''],
      [['remember'], words],
      [['remember', '--status', id], ''],
    ] as const) {
      expect(await ktxJson(args, { cwd, stdin })).toMatchObject({
        code: 0,
        envelope: { data: { id, status: 'pending' } },
      });
    }
    const project = await openProject(cwd);
    const tool = openToolbox(project)
      .tools(new AbortController().signal)
      .find(({ name }) => name === 'remember');
    expect((await tool?.execute({ text: words }))?.markdown).toContain(`Note ${id}: pending`);
    await project.close();
    await ktx(['ingest'], { cwd });
    expect(git(cwd, 'show', '--name-only', '--format=%s', 'HEAD')).toContain(path);
    const after = await ktxJson(['ingest'], { cwd });
    expect(after.envelope.data).toMatchObject({
      commit: { none: 'unchanged' },
      sources: [{ connection: 'notes', pending: [id] }],
    });
    rmSync(join(cwd, path));
    await ktx(['ingest'], { cwd });
    expect(await ktxJson(['remember', '--status', id], { cwd })).toMatchObject({
      code: 1,
      envelope: {
        ok: false,
        data: { status: 'unknown' },
        error: { code: 'note_unknown', hint: expect.any(String) as unknown },
      },
    });
  });

  test('is one note in any case, is listed, and can be forgotten', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const first = await ktxJson(['remember', words], { cwd });
    const { id, path } = first.envelope.data as { id: string; path: string };
    const again = await ktxJson(['remember', '  net REVENUE  is\nafter refunds.'], { cwd });
    expect(again.envelope.data).toMatchObject({ id });
    await ktx(['remember', 'Another one.'], { cwd });
    const { envelope } = await ktxJson(['forget'], { cwd });
    expect((envelope.data as { notes: unknown[] }).notes).toHaveLength(2);
    expect((await ktx(['forget'], { cwd })).stdout).toContain(`${id}  ${words}`);
    expect(await ktx(['forget', '0000'], { cwd })).toMatchObject({ code: 2 });
    expect(await ktx(['forget', id.slice(0, 6)], { cwd })).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, path))).toBe(false);
    expect(existsSync(join(cwd, `sources/notes/${id}.jsonl`))).toBe(false);
    expect(execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' })).not.toContain(
      'notes',
    );
    expect(await ktxJson(['remember', '--status', id], { cwd })).toMatchObject({ code: 1 });
  });

  test('that an older ktx listed in one file stays, and its line moves with the next ingest', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const { envelope } = await ktxJson(['remember', words], { cwd });
    const { id } = envelope.data as { id: string };
    await ktx(['ingest'], { cwd });
    const [line, index] = [`${id}.jsonl`, 'index.jsonl'].map((name) =>
      join(cwd, 'sources/notes', name),
    );
    const text = readFileSync(line ?? '', 'utf8');
    renameSync(line ?? '', index ?? '');
    execFileSync('git', ['add', '-A'], { cwd });
    execFileSync('git', ['commit', '-qm', 'as before'], { cwd });
    const status = await ktxJson(['remember', '--status', id], { cwd });
    expect(status.envelope.data).toMatchObject({ id, status: 'pending' });
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
    expect(readFileSync(line ?? '', 'utf8')).toBe(text);
    expect(existsSync(index ?? '')).toBe(false);
    const settled = execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' });
    await ktx(['ingest'], { cwd });
    expect(execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' })).toBe(settled);
  });

  test('is kept as a person corrected it', async () => {
    const cwd = await shopProject();
    await ktx(['ingest'], { cwd });
    const { envelope } = await ktxJson(['remember', words], { cwd });
    const path = join(cwd, (envelope.data as { path: string }).path);
    writeFileSync(path, 'Net revenue is before refunds.\n');
    await ktx(['ingest'], { cwd });
    expect(readFileSync(path, 'utf8')).toBe('Net revenue is before refunds.\n');
  });

  test('is safe where nothing more can be done yet', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'ktx.yaml'), 'connections: {}\n');
    const { envelope } = await ktxJson(['remember', words], { cwd });
    const { id } = envelope.data as { id: string };
    expect(envelope.data).toMatchObject({
      status: 'stored',
      warning: expect.any(String) as unknown,
    });
    expect(existsSync(join(cwd, '.ktx/notes', `${id}.md`))).toBe(true);
    expect(await ktxJson(['remember', '--status', id], { cwd })).toMatchObject({
      envelope: { data: { status: 'stored' } },
    });
  });

  test('of nothing is refused', async () => {
    const cwd = await shopProject();
    expect(await ktxJson(['remember'], { cwd, stdin: '  \n' })).toMatchObject({
      code: 2,
      envelope: { error: { code: 'note_unusable' } },
    });
  });
});
