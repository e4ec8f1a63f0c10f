import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import { openProject } from '../../src/project/open/open.ts';
import { loopTools } from '../../src/tools/loop-tools.ts';
import { read, write } from '../store/git-project.ts';
import { approve } from '../support/approve.ts';
import { fail, type ModelCall, reply, say, type Script } from '../support/model-script.ts';
import { reading, readingAsked, type ReadingAsked } from '../support/reading-model.ts';
import { forgetTimes } from './forget-times.ts';
import { documentedShop, type ModelMachine, openMachine } from './llm-project.ts';

let machine: ModelMachine;
beforeAll(async () => {
  process.env['TEST_KEY'] = 'sk-made-up';
  machine = await openMachine();
});
afterAll(() => machine.close());

/** Ingests with a model that reads units by `script`; returns the report and the first turns. */
async function ingest(
  dir: string,
  script: (unit: ReadingAsked, call: ModelCall) => ReturnType<Script>,
) {
  const units: ReadingAsked[] = [];
  machine.endpoint.fallback = (call: ModelCall) => {
    const unit = readingAsked(call);
    if (unit === undefined) return reading(call);
    if (unit.stage === 'triage') return say('full');
    if (unit.stage !== 'extract') return fail('bad-request');
    if (unit.turn === 1) units.push(unit);
    return script(unit, call);
  };
  await approve(dir);
  const project = await openProject(dir);
  try {
    const report = await ingestProject(project, {
      connections: ['handbook'],
      signal: AbortSignal.timeout(60_000),
      tools: loopTools(project),
    });
    return { report, units };
  } finally {
    await project.close();
  }
}

const shop = (files: Readonly<Record<string, string>>) =>
  documentedShop(machine, 'anthropic', files);
const index = (dir: string) => read(dir, 'sources/handbook/index.jsonl');
const silence = () => say('Done.');

describe('an item', () => {
  test('about which the model says nothing is not read: after three attempts it is set aside until its text changes', async () => {
    const dir = shop({ 'a.md': '# A\n\nThe fee is what a coupon costs.\n' });
    const first = await ingest(dir, silence);
    expect(first.report).toMatchObject({ exitCode: 3, sources: [{ pending: ['a.md'] }] });
    expect(first.report.quarantined).toEqual([
      expect.objectContaining({
        subject: 'sources/handbook/a.md',
        reason: expect.stringContaining('without a claim or a report') as string,
      }),
    ]);
    expect((await ingest(dir, silence)).units).toHaveLength(1);
    const third = await ingest(dir, silence);
    expect(third.units).toEqual([]);
    expect(third.report.quarantined[0]?.reason).toContain('an hour after attempt 2');
    forgetTimes(dir);
    expect((await ingest(dir, silence)).units).toHaveLength(1);
    forgetTimes(dir);
    const last = await ingest(dir, silence);
    expect(last.units).toEqual([]);
    expect(last.report.quarantined[0]?.reason).toContain('set aside after 3 attempts');
    expect(index(dir)).toContain('+pending');
    write(dir, 'docs/a.md', '# A\n\nThe fee is what a coupon costs the shop.\n');
    expect((await ingest(dir, silence)).units).toHaveLength(1);
  });

  test('keeps what was accepted, whatever else was refused; the refused part is named, and nothing is paid again', async () => {
    const text = '# A\n\nThe fee is what a coupon costs. A voucher is a coupon that was sold.\n';
    const dir = shop({ 'a.md': text, 'b.md': '# B\n\nA refund is money that went back.\n' });
    const item = (name: string) => `sources/handbook/${name}.md`;
    const { report } = await ingest(dir, ({ turn }) =>
      turn > 1
        ? say('Done.')
        : reply([
            {
              tool: 'propose_term',
              input: {
                item: item('a'),
                quote: 'The fee is what a coupon costs.',
                title: 'Fee',
                definition: 'What a coupon costs.',
              },
            },
            {
              tool: 'propose_dataset',
              input: {
                item: item('a'),
                quote: 'A voucher is a coupon that was sold.',
                dataset: 'vouchers',
                description: 'Coupons that were sold.',
              },
            },
            {
              tool: 'propose_rule',
              input: { item: item('b'), quote: 'not there at all', title: 'x', rule: 'Y holds.' },
            },
          ]),
    );
    expect(report.sources[0]).toMatchObject({ pending: ['b.md'] });
    expect(read(dir, 'claims/wiki.jsonl')).toContain('term:fee');
    expect(index(dir)).toContain('"reason":"refused"');
    expect(report.quarantined.map(({ reason }) => reason).join()).toContain('propose_rule');
    const second = await ingest(dir, silence);
    expect(second.units.flatMap(({ items }) => items.map((own) => own.item))).toEqual([item('b')]);
  });

  test('that is longer than a prompt is read in parts that overlap, and is read once all of them are', async () => {
    const lines = Array.from(
      { length: 900 },
      (_, n) => `Fact ${n}: thing ${n} is about coupon ${n}.`,
    );
    const dir = shop({ 'long.md': `# Long\n\n${lines.join('\n')}\n` });
    const isLast = ({ items }: ReadingAsked) =>
      items.some(({ passages }) => passages.some(({ text }) => text.includes('Fact 899:')));
    const report = (unit: ReadingAsked) =>
      unit.turn > 1
        ? say('Done.')
        : reply([
            {
              tool: 'report_unmapped',
              input: { item: unit.items[0]?.item, reason: 'ambiguous', what: 'Facts.' },
            },
          ]);
    const first = await ingest(dir, (unit) => (isLast(unit) ? say('Done.') : report(unit)));
    const shown = first.units.map(({ items }) =>
      items[0]?.passages.map(({ text }) => text).join('\n'),
    );
    expect(shown.length).toBeGreaterThan(2);
    for (const text of shown) expect(text?.length).toBeLessThan(20_000);
    for (const line of lines) expect(shown.join('\n')).toContain(line);
    expect(shown[1]?.split('\n').some((line) => line !== '' && shown[0]?.includes(line))).toBe(
      true,
    );
    expect(first.report.sources[0]).toMatchObject({ pending: ['long.md'] });
    const second = await ingest(dir, report);
    expect(second.units).toHaveLength(1);
    expect(second.report).toMatchObject({ exitCode: 0, sources: [{ pending: [] }] });
    expect((await ingest(dir, report)).units).toEqual([]);
  });
});

/** Makes all attempts old, as if an hour had passed. */
