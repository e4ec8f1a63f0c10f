import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { ktx, ktxJson, shopDatabase } from './run-cli.ts';
import { partsOfAnswer } from '../support/answer-parts.ts';

let cwd: string;
const read = (path: string) => readFileSync(join(cwd, path), 'utf8');
const page = (formula: string) =>
  `| Metric | Meaning | Formula |\n|---|---|---|\n| Revenue | ${formula}, in words. | \`${formula}\` |\n`;
const subject = 'metric:warehouse.orders.revenue';

interface Listed {
  readonly conflicts: readonly {
    subject: string;
    kind: string;
    variants: readonly { id: string; says: unknown; number?: object }[];
  }[];
}

async function listed(): Promise<Listed['conflicts']> {
  const { code, envelope } = await ktxJson(['review', 'list'], { cwd });
  expect(code).toBe(0);
  return (envelope.data as Listed).conflicts;
}

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('a disagreement of two documents', () => {
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'ktx-review-'));
    shopDatabase(join(cwd, 'shop.db'));
    await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
    mkdirSync(join(cwd, 'docs'));
    writeFileSync(join(cwd, 'docs/a.md'), page("sum(orders.amount) where status = 'paid'"));
    writeFileSync(join(cwd, 'docs/b.md'), page('sum(orders.amount)'));
    const { code, stderr } = await ktx(
      ['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'],
      { cwd },
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining('ingest handbook')]);
    expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  });

  test('is listed with the number that each version gives', async () => {
    const conflict = (await listed()).find((one) => one.subject === subject);
    expect(conflict?.variants.map(({ number }) => number)).toEqual(
      expect.arrayContaining([{ value: 13500 }, { value: 18300 }]),
    );
    expect(await ktx(['review'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('= 18300') as unknown,
    });
  });

  test('has no numbers where row rules hold: whoever looks at a conflict would see those of hidden rows', async () => {
    const own = 'semantic-layer/warehouse/orders.yaml';
    const before = read(own);
    writeFileSync(join(cwd, own), `${before}access: [{role: clerk, where: "status = 'paid'"}]\n`);
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
    const numbers = (await listed())
      .find((one) => one.subject === subject)
      ?.variants.map(({ number }) => number);
    expect(numbers).toEqual(
      Array.from({ length: 2 }, () => ({
        failure: expect.stringContaining('row rules') as unknown,
      })),
    );
    writeFileSync(join(cwd, own), before);
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  });

  test('is marked wherever it is met: search, reads, receipts, and over the tools of agents', async () => {
    const { envelope: search } = await ktxJson(['search', 'revenue'], { cwd });
    const hits = (search.data as { hits: readonly { subject: string; contested?: boolean }[] })
      .hits;
    const marked = hits.filter((hit) => hit.contested === true).map((hit) => hit.subject);
    expect(marked).toEqual(expect.arrayContaining([subject, 'term:revenue']));
    const { envelope: asked } = await ktxJson(['sl', 'query', '-m', 'orders.revenue'], { cwd });
    expect(asked.data).toMatchObject({ receipt: { contested: [subject] } });
    const { envelope: unmarked } = await ktxJson(['sl', 'query', '-m', 'orders.count'], { cwd });
    expect(unmarked.data).toMatchObject({ receipt: { contested: [] } });
    for (const derived of [
      ['-m', 'share=orders.revenue / orders.count'],
      ['-m', 'orders.count', '--having', 'orders.revenue > 0'],
    ]) {
      const { envelope } = await ktxJson(['sl', 'query', ...derived], { cwd });
      expect(envelope.data).toMatchObject({ receipt: { contested: [subject] } });
    }
    expect((await ktx(['explain', 'orders.revenue'], { cwd })).stdout).toMatch(
      /^ {2}contested metric: [0-9a-f]+ or [0-9a-f]+$/m,
    );
    expect((await ktx(['explain', 'orders.count'], { cwd })).stdout).not.toContain('contested');
    expect((await ktx(['sl', 'read', 'orders'], { cwd })).stderr).toContain(
      `contested: ${subject}`,
    );
    const project = await openProject(cwd);
    const tools = openToolbox(project).tools(new AbortController().signal);
    const call = async (name: string, input: object) => {
      const result = await tools.find((tool) => tool.name === name)?.execute(input);
      return partsOfAnswer(result?.markdown);
    };
    expect(await call('search_context', { text: 'revenue' })).toMatchObject({
      trust: { contested: expect.arrayContaining([subject]) as unknown },
    });
    expect(await call('query_metrics', { metrics: ['orders.revenue'] })).toMatchObject({
      trust: { contested: [subject] },
    });
    expect(await call('read_context', { name: 'orders' })).toMatchObject({
      trust: { contested: [subject] },
    });
    const found = (await call('review_status', {})).untrusted.text;
    const [counts, ...waiting] = found.split('\n').map((line) => JSON.parse(line) as object);
    expect(counts).toMatchObject({ contested: 2, left_out: 0, pending: 0 });
    expect(waiting).toContainEqual(
      expect.objectContaining({
        contested: subject,
        resolve: expect.stringContaining(`ktx review choose "${subject}"`) as unknown,
        versions: expect.arrayContaining([expect.objectContaining({ gives: 18300 })]) as unknown,
      }),
    );
    const term = await call('read_context', { name: 'term:revenue' });
    expect(term).toMatchObject({ trust: { contested: ['term:revenue'] } });
    expect(JSON.stringify(term)).toContain('sum(orders.amount), in words.');
    await project.close();
  });

  test('is decided by a pin, which holds until something new is said', async () => {
    const conflict = (await listed()).find((one) => one.subject === subject);
    const all =
      conflict?.variants.find(({ number }) => JSON.stringify(number) === '{"value":18300}')?.id ??
      '';
    for (const [wrong, code] of [
      [['nothing', all], 'conflict_unknown'],
      [[subject, 'ffffffff'], 'version_unknown'],
      [[subject, 'handbook'], 'version_unknown'],
    ] as const) {
      expect(await ktxJson(['review', 'choose', ...wrong], { cwd })).toMatchObject({
        code: 2,
        envelope: { error: { code } },
      });
    }
    writeFileSync(
      join(cwd, 'docs/z.md'),
      '| Metric | Formula |\n|---|---|\n| Fees | `sum(orders.fees)` |\n',
    );
    expect((await ktx(['ingest', 'handbook'], { cwd })).code).toBe(3);
    const chosen = await ktx(
      ['review', 'choose', 'orders.revenue', all.slice(0, 8), '--why', 'as finance has it'],
      { cwd },
    );
    expect(chosen).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('1 fact still left out'),
    });
    rmSync(join(cwd, 'docs/z.md'));
    expect((await ktx(['ingest', 'handbook'], { cwd })).code).toBe(0);
    expect(read('semantic-layer/warehouse/orders.yaml')).toMatch(
      /name: revenue, agg: sum, of: amount, description/,
    );
    expect(read('pins.yaml')).toContain('why: as finance has it');
    const after = await ktxJson(['ingest'], { cwd });
    expect(after.envelope.data).toMatchObject({ commit: { none: 'unchanged' } });
    expect((await listed()).map((one) => one.subject)).not.toContain(subject);
    writeFileSync(join(cwd, 'docs/c.md'), page('avg(orders.amount)'));
    await ktx(['ingest', 'handbook'], { cwd });
    expect((await listed()).find((one) => one.subject === subject)?.variants).toHaveLength(3);
    expect(read('semantic-layer/warehouse/orders.yaml')).toMatch(
      /name: revenue, agg: sum, of: amount, description/,
    );
    // The chosen source says something else: its new definition is shown, and the question is open.
    writeFileSync(join(cwd, 'docs/b.md'), page('max(orders.amount)'));
    await ktx(['ingest', 'handbook'], { cwd });
    expect(read('semantic-layer/warehouse/orders.yaml')).toMatch(/name: revenue, agg: max/);
    // With what was chosen, and nobody says any more.
    expect((await listed()).find((one) => one.subject === subject)?.variants).toHaveLength(4);
    writeFileSync(join(cwd, 'docs/b.md'), page('sum(orders.amount)'));
    await ktx(['ingest', 'handbook'], { cwd });
    expect(read('semantic-layer/warehouse/orders.yaml')).toMatch(/name: revenue, agg: sum, of: am/);
  });

  test('is decided by what a person writes into the file', async () => {
    const file = 'semantic-layer/warehouse/orders.yaml';
    writeFileSync(
      join(cwd, file),
      read(file).replace(/\{name: revenue, agg: sum/, '{name: revenue, agg: max'),
    );
    await ktx(['ingest'], { cwd });
    expect((await listed()).map((one) => one.subject)).not.toContain(subject);
    expect(read(file)).toContain('{name: revenue, agg: max');
    writeFileSync(join(cwd, 'docs/d.md'), page('min(orders.amount)'));
    await ktx(['ingest'], { cwd });
    expect((await listed()).map((one) => one.subject)).toContain(subject);
    expect(read(file)).toContain('{name: revenue, agg: max');
  });

  test('stays what it is where the pins cannot be read', async () => {
    writeFileSync(join(cwd, 'pins.yaml'), 'pins: {');
    expect(await ktxJson(['ingest'], { cwd })).toMatchObject({
      code: 2,
      envelope: { error: { code: 'pins_unreadable' } },
    });
    const [conflict] = await listed();
    expect(
      await ktxJson(['review', 'choose', subject, conflict?.variants[0]?.id ?? ''], { cwd }),
    ).toMatchObject({
      code: 2,
      envelope: { error: { code: 'pins_unreadable' } },
    });
    expect(read('pins.yaml')).toBe('pins: {');
  });
});

describe('a project with a source', () => {
  const findings = async () =>
    (
      (await ktxJson(['check'], { cwd })).envelope.data as {
        findings: readonly { what: string; where: string; fix: string }[];
      }
    ).findings;

  test('is checked for CI: each finding with its fix, and nothing written', async () => {
    writeFileSync(join(cwd, 'pins.yaml'), 'pins: []\n');
    await ktx(['ingest'], { cwd });
    const contested = await findings();
    expect(contested.map(({ what }) => what)).toContain('contested');
    expect(contested.every(({ what }) => what === 'contested')).toBe(true);
    for (const { fix } of contested)
      await ktx(fix.replaceAll('"', '').split(' ').slice(1), { cwd });
    expect(await ktxJson(['check'], { cwd })).toMatchObject({
      code: 0,
      envelope: { ok: true, data: { findings: [] } },
    });
    writeFileSync(join(cwd, 'docs/e.md'), '# New\n');
    writeFileSync(
      join(cwd, 'semantic-layer/warehouse/extra.yaml'),
      'dataset: extra\nsauce: orders\n',
    );
    const found = await ktxJson(['check'], { cwd });
    expect(found).toMatchObject({
      code: 1,
      envelope: { ok: false, error: { code: 'check_found' } },
    });
    expect(
      (await findings()).map(({ what, where, fix }) => [
        what,
        where.split(':')[0],
        fix.slice(0, 19),
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['stale', 'handbook', 'ktx ingest handbook'],
        ['invalid', 'semantic-layer/warehouse/extra.yaml', expect.any(String)],
      ]),
    );
  });

  test('is named by status, which sends to the ingest that it waits for; commands are as they are typed here', async () => {
    expect((await ktx(['status', '--fast'], { cwd })).stdout).toMatch(
      /^handbook \(docs\): \d items$/m,
    );
    await ktx(['connection', 'add', 'later', '--driver', 'docs', '--path', 'docs'], { cwd });
    const { stdout, stderr } = await ktx(['status', '--fast', '--project-dir', cwd], {
      cwd: tmpdir(),
    });
    expect([stdout, stderr]).toEqual([
      expect.stringContaining('later (docs): not ingested yet'),
      expect.stringMatching(/next {2}ktx \S+ \S+ ingest/),
    ]);
    expect(stdout).toContain(`ktx --project-dir ${cwd} setup --llm-backend claude-code`);
    expect(await ktxJson(['ingest', 'hanbook'], { cwd })).toMatchObject({
      code: 2,
      envelope: { error: { hint: expect.stringContaining('handbook') as unknown } },
    });
    await ktx(['connection', 'remove', 'later'], { cwd });
  });

  test('explains a number by its query id, a contested number and a sentence back to the line of the document', async () => {
    const asked = (await ktxJson(['sl', 'query', '-m', 'orders.revenue'], { cwd })).envelope
      .data as { query_id: string; rows: readonly number[][] };
    const answered = await ktx(['explain', asked.query_id], { cwd });
    expect(answered).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^metric:warehouse\.orders\.revenue[^]*sources\/handbook\/a\.md line 3/,
      ) as unknown,
    });
    const said = await ktx(['explain', "sum(orders.amount) where   STATUS = 'paid', in words."], {
      cwd,
    });
    expect(said).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^term:revenue[^]*sources\/handbook\/a\.md line 3/m) as unknown,
    });
    for (const [unknown, code] of [
      ['q_0000000000000000', 'query_unknown'],
      ['12345678', 'number_unknown'],
      ['no such words anywhere', 'subject_unknown'],
    ]) {
      expect(await ktxJson(['explain', unknown ?? ''], { cwd })).toMatchObject({
        code: 2,
        envelope: { error: { code } },
      });
    }
    const sql = (await ktxJson(['sl', 'query', '-m', 'max(orders.amount)'], { cwd })).envelope
      .data as { query_id: string };
    expect(await ktxJson(['explain', sql.query_id], { cwd })).toMatchObject({
      code: 2,
      envelope: { error: { code: 'no_definition' } },
    });
  });

  test('explains a metric and a term back to the line of the document', async () => {
    for (const name of ['orders.revenue', 'term:revenue']) {
      const { code, stdout } = await ktx(['explain', name], { cwd });
      expect([code, stdout]).toEqual([0, expect.stringContaining('sources/handbook/a.md line 3')]);
    }
    expect(await ktxJson(['explain', 'term:revenu'], { cwd })).toMatchObject({
      code: 2,
      envelope: { error: { hint: 'Did you mean term:revenue?' } },
    });
  });
});

describe('a formula that does not work', () => {
  test('is named with the line of the source that says so, by ingest and by check', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'ktx-left-out-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    shopDatabase(join(dir, 'shop.db'));
    await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd: dir });
    mkdirSync(join(dir, 'docs'));
    writeFileSync(join(dir, 'docs/a.md'), page('sum(orders.nope)'));
    await ktx(['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'], {
      cwd: dir,
    });
    const where = 'sources/handbook/a.md line 3';
    const { code, envelope } = await ktxJson(['ingest'], { cwd: dir });
    expect(code).toBe(3);
    expect(envelope.data).toMatchObject({ quarantined: [{ subject, location: where }] });
    const checked = await ktxJson(['check'], { cwd: dir });
    expect(checked.code).toBe(1);
    expect(checked.envelope.data).toMatchObject({ findings: [{ what: 'left out', where }] });
  });
});
