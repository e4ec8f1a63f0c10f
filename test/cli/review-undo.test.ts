import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ktx, ktxJson, shopDatabase } from './run-cli.ts';

const subject = 'metric:warehouse.orders.revenue';
let cwd: string;

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8' });
const changes = () => git('status', '--short', 'sources', 'pins.yaml', 'semantic-layer');

function document(name: string, formula: string): void {
  const table = `| Metric | Formula |\n|---|---|\n| Revenue | \`${formula}\` |\n`;
  writeFileSync(join(cwd, `docs/${name}.md`), table);
}

/** The ids of the two versions. */
async function versions(): Promise<readonly [first: string, second: string]> {
  const { conflicts } = (await ktxJson(['review', 'list'], { cwd })).envelope.data as {
    readonly conflicts: readonly { readonly variants: readonly { readonly id: string }[] }[];
  };
  const [first = '', second = ''] = conflicts[0]?.variants.map(({ id }) => id) ?? [];
  return [first, second];
}

/** A command that works. */
async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ktx(args, { cwd });
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return stdout + stderr;
}

async function refusal(...args: readonly string[]) {
  return (await ktxJson(args, { cwd })).envelope.error;
}

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-review-undo-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  shopDatabase(join(cwd, 'shop.db'));
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  mkdirSync(join(cwd, 'docs'));
  document('a', "sum(orders.amount) where status = 'paid'");
  document('b', 'sum(orders.amount)');
  await ktx(['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'], { cwd });
  await run('ingest');
});

describe('a decision that is taken back', () => {
  test('is said to be open again only where something is open', async () => {
    const [, second] = await versions();
    expect(await run('review', 'choose', subject, second)).toContain(
      `${subject}: chose ${second}: {agg: sum, of: amount}`,
    );
    expect(await run('review', 'undo', subject)).toContain(`${subject}: open again`);

    await run('review', 'choose', subject, second);
    // Both documents say the same now.
    document('a', 'sum(orders.amount)');
    await run('ingest');
    const undone = await run('review', 'undo', subject);
    expect(undone).toContain(`${subject}: taken back; nothing about it is open without it`);
    expect(undone).not.toContain('open again');
  });

  test('names the decision before it that holds again, and is taken back once only', async () => {
    const [first, second] = await versions();
    await run('review', 'choose', subject, second);
    // As git unites the decisions of two branches.
    const entry = /^ {2}- .*$/m.exec(readFileSync(join(cwd, 'pins.yaml'), 'utf8'))?.[0] ?? '';
    const other = entry
      .replace(`choose: ${second}`, `choose: ${first}`)
      .replace(/by: \w+/, 'by: Cleo');
    appendFileSync(join(cwd, 'pins.yaml'), `${other}\n`);
    await run('ingest');
    expect(await refusal('review', 'undo', subject, subject)).toMatchObject({
      code: 'decision_twice',
      hint: 'name it once: only its newest decision is taken back',
    });
    const before = readFileSync(join(cwd, 'pins.yaml'), 'utf8');
    expect(before).toContain(`${other}\n`);
    expect(await run('review', 'undo', subject)).toMatch(
      new RegExp(`taken back; the decision of .+ before it holds again: ${second}`),
    );
    expect(await run('review', 'undo', subject)).toContain('open again');
  });

  test('is named where another choice is refused because of it', async () => {
    const [first, second] = await versions();
    await run('review', 'choose', subject, second);
    for (const named of [subject, 'orders.revenue'])
      expect(await refusal('review', 'choose', named, first)).toMatchObject({
        code: 'conflict_unknown',
        hint: `somebody has decided: ktx review undo ${subject} takes that back`,
      });
  });
});

describe('a note', () => {
  test('is no decision, and the refusal says how it goes', async () => {
    const id = (await run('remember', 'A basket is one order.')).slice(0, 12);
    expect((await refusal('review', 'undo', id.slice(0, 6)))?.hint).toBe(
      `it is a note: ktx forget ${id} removes it`,
    );
  });

  test('that was forgotten without a commit is said to be, and the next ingest commits it', async () => {
    const id = (await run('remember', 'A basket is one order.')).slice(0, 12);
    await run('ingest');
    expect(git('ls-files', 'sources/notes')).toContain(id);
    const config = readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
    writeFileSync(join(cwd, 'ktx.yaml'), `${config}git: write\n`);
    const forgotten = await run('forget', id);
    expect(forgotten).toContain(`${id}: forgotten`);
    expect(forgotten).toContain('no commit: only written, as you asked');
    expect(changes()).toContain(`D sources/notes/${id}.md`);

    writeFileSync(join(cwd, 'ktx.yaml'), config);
    await run('ingest');
    expect([changes(), git('ls-files', 'sources/notes')]).toEqual(['', '']);
    expect(await run('ingest')).not.toContain('notes: 0 items');
  });
});
