import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { folder, ktx, ktxJson, shopProject } from './run-cli.ts';

const words = 'Net revenue is after refunds.';

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
    const head = execFileSync('git', ['show', '--name-only', '--format=%s', 'HEAD'], {
      cwd,
      encoding: 'utf8',
    });
    expect(head).toContain(path);
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
    expect(
      execFileSync('git', ['show', '--name-only', '--format=%s', 'HEAD'], {
        cwd,
        encoding: 'utf8',
      }),
    ).toBe(head);
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
    expect(readFileSync(join(cwd, 'sources/notes/index.jsonl'), 'utf8')).not.toContain(id);
    expect(execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' })).not.toContain(
      'notes',
    );
    expect(await ktxJson(['remember', '--status', id], { cwd })).toMatchObject({ code: 1 });
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
