import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const words = 'What was paid, after refunds.';
const field = 'field:warehouse.orders.amount';
let cwd = '';
const read = (path: string) => readFileSync(join(cwd, path), 'utf8');
const dataset = () => read('semantic-layer/warehouse/orders.yaml');

/** A correction that an agent hands in. Returns what the tool answers. */
async function propose(text = words, corrects = 'orders.amount'): Promise<string> {
  const project = await openProject(cwd);
  const tool = openToolbox(project)
    .tools(new AbortController().signal)
    .find(({ name }) => name === 'remember');
  const answer = await tool?.execute({ text, corrects });
  await project.close();
  return answer?.markdown ?? '';
}

interface Proposed {
  readonly subject: string;
  readonly id: string;
  readonly says: string;
  readonly now?: string;
  readonly note: string;
}

async function listed(): Promise<readonly Proposed[]> {
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  return (envelope.data as { corrections: readonly Proposed[] }).corrections;
}

beforeEach(async () => {
  cwd = await shopProject();
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
});

describe('a correction of an agent', () => {
  test('changes nothing, is listed beside what holds, and counts once a person accepts it', async () => {
    expect(await propose()).toMatch(/proposed\. It counts once a person accepts it: ktx review/);
    const before = dataset();
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
    expect(dataset()).toBe(before);
    const [proposed, ...others] = await listed();
    expect([proposed, others]).toMatchObject([{ subject: field, says: words }, []]);
    expect((await ktx(['review', 'list'], { cwd })).stdout).toContain(words);
    expect((await ktx(['search', 'refunds'], { cwd })).stdout).not.toContain(words);
    expect(await ktx(['review', 'accept', proposed?.id ?? ''], { cwd })).toMatchObject({ code: 0 });
    expect(dataset()).toContain(words);
    expect(await listed()).toEqual([]);
  });

  test('overrules no words of a person, whose own command does', async () => {
    const own = 'What the customer owes.';
    await ktx(['remember', '--corrects', 'orders.amount', own], { cwd });
    await propose();
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
    expect(dataset()).toContain(own);
    expect(await listed()).toMatchObject([{ now: own, says: words }]);
    expect(await ktx(['review', 'accept', field], { cwd })).toMatchObject({ code: 0 });
    expect(dataset()).toContain(words);
  });

  test('is gone once a person rejects it', async () => {
    await propose();
    const [proposed] = await listed();
    expect(await ktx(['review', 'reject', proposed?.id ?? ''], { cwd })).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, `sources/notes/${proposed?.note}.md`))).toBe(false);
    expect(await listed()).toEqual([]);
  });

  test('of nothing, or without words, is refused: nobody would find it again', async () => {
    expect(await propose(words, 'orders.amont')).toMatch(/`orders.amont`[^]*orders\.amount/);
    expect(await propose('', 'orders.amount')).toContain('The note is empty.');
    expect(await listed()).toEqual([]);
    expect(existsSync(join(cwd, 'sources/notes'))).toBe(false);
  });

  test('stays in the list when its subject is gone', async () => {
    await propose();
    rmSync(join(cwd, 'semantic-layer'), { recursive: true });
    rmSync(join(cwd, 'claims'), { recursive: true });
    expect(await listed()).toMatchObject([{ subject: field, says: words }]);
  });

  test('can be put off', async () => {
    await propose();
    const [proposed] = await listed();
    expect(await ktx(['review', 'defer', proposed?.id ?? ''], { cwd })).toMatchObject({ code: 0 });
    expect(await listed()).toEqual([]);
  });
});
