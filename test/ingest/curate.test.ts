import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shortId, subjects, type Claim, type Evidence } from '../../src/context/claims/claim.ts';
import { curate } from '../../src/ingest/decide/curate/curate.ts';
import { findCurationCandidates } from '../../src/ingest/decide/curate/candidates.ts';
import { openCurationSession } from '../../src/ingest/decide/curate/curation-session.ts';
import { write } from '../store/git-project.ts';
import { fail, say, type Script } from '../support/model-script.ts';
import { place, rulingModel, withRoomFor } from '../support/ruling-model.ts';
import { forgetTimes } from './forget-times.ts';
import { nothingYet, scriptedReader } from './reader.ts';

function term(title: string, definition: string, origin: Evidence['origin'] = 'model'): Claim[] {
  const evidence = [
    {
      connection: 'handbook',
      origin,
      extractor: 'test@1',
      item: 'a.md',
      location: 'line 1',
      confidence: 0.5,
    },
  ] as const;
  const subject = subjects.term(title);
  return [
    { subject, kind: 'title', body: title, evidence },
    { subject, kind: 'definition', body: definition, evidence },
  ];
}

describe('candidates', () => {
  const arr = [
    ...term('ARR', 'One.'),
    ...term('Annual recurring revenue', 'One.', 'code'),
    ...term('Margin', 'Two.', 'code'),
  ];

  test('are what models read, and what code read where two share a name; the same in any order', () => {
    const found = findCurationCandidates(arr, []).candidates;
    expect(found.map(({ subject }) => subject).sort()).toEqual([
      'term:annual_recurring_revenue',
      'term:arr',
    ]);
    expect(found.find(({ subject }) => subject === 'term:arr')?.namesakes).toEqual([
      'term:annual_recurring_revenue',
    ]);
    expect(found.map(({ id }) => id)).toEqual(found.map(({ id }) => id).sort());
    fc.assert(
      fc.property(fc.shuffledSubarray(arr, { minLength: arr.length }), (shuffled) => {
        expect(findCurationCandidates(shuffled, []).candidates).toEqual(found);
      }),
    );
  });

  test('are no candidates once they are decided, until something else is said of what was rejected', () => {
    const decided = (kind: 'page' | 'same_as', body: string): Claim => ({
      subject: 'term:arr',
      kind,
      body,
      evidence: [],
    });
    expect(
      findCurationCandidates([...arr, decided('page', 'money')], []).candidates.map(
        ({ subject }) => subject,
      ),
    ).not.toContain('term:arr');
    expect(
      findCurationCandidates([...arr, decided('same_as', 'term:margin')], []).candidates,
    ).toHaveLength(1);
    const own = term('ARR', 'One.');
    const rejected: Claim = {
      subject: 'term:arr',
      kind: 'rejected',
      body: { claims: own.map(shortId), why: 'x' },
      evidence: [],
    };
    expect(findCurationCandidates([...own, rejected], []).candidates).toEqual([]);
    expect(
      findCurationCandidates([...own, ...term('ARR', 'Else.'), rejected], []).candidates,
    ).toHaveLength(1);
  });
});

describe('a curation session', () => {
  const wiki = findCurationCandidates(
    [
      ...term('ARR', 'One.'),
      ...term('Annual recurring revenue', 'One.', 'code'),
      ...term('Lunch', 'At noon.'),
    ],
    [],
  );
  const open = () =>
    openCurationSession({
      wiki,
      page: wiki.candidates,
      save: () => undefined,
      snapshot: nothingYet,
    });

  test('refuses what does not hold, and says what would', () => {
    const session = open();
    expect(() => session.place('term:ar', 'money')).toThrow('Did you mean term:arr?');
    expect(() => session.place('term:arr', '../../etc')).toThrow('letters, digits');
    expect(() => session.merge('term:arr', 'term:arr')).toThrow('itself');
    expect(() => session.merge('term:arr', 'term:annual_recuring_revenue')).toThrow(
      'Did you mean term:annual_recurring_revenue?',
    );
    expect(() => session.merge('term:arr', 'rule:lunch')).toThrow('not a known term');
    expect(() => session.reject('term:annual_recurring_revenue', 'x')).toThrow('code read');
    expect(session.decisions().size).toBe(0);
  });

  test('takes the first decision about each, and lists what is left', () => {
    const session = open();
    expect(session.list().candidates).toHaveLength(3);
    expect(session.merge('term:arr', 'term:annual_recurring_revenue')).toContain('2 of 3');
    expect(() => session.place('term:arr', 'money')).toThrow('decided already');
    session.reject('term:lunch', 'no\nterm');
    session.place('term:annual_recurring_revenue', 'money');
    expect(session.list().candidates).toEqual([]);
    expect(
      [...session.decisions().values()].find(({ kind }) => kind === 'rejected')?.body,
    ).toMatchObject({ why: 'no term' });
  });
});

describe('curation', () => {
  const withModel = scriptedReader();
  const claims = Array.from({ length: 45 }, (_, index) =>
    term(`Word ${index} of ${'xyz'[index % 3]}${index * 37}`, `Means ${index}.`),
  ).flat();

  function curated(
    script: Script,
    {
      dir = mkdtempSync(join(tmpdir(), 'ktx-curate-')),
      stepBudget = 8,
      told = claims,
      isAnew = false,
    }: {
      readonly dir?: string;
      readonly stepBudget?: number;
      readonly told?: readonly Claim[];
      readonly isAnew?: boolean;
    } = {},
  ) {
    write(dir, 'ktx.yaml', 'connections: {}\n');
    return withModel(dir, script, async (model) => {
      const steps: unknown[] = [];
      const stage = {
        claims: told,
        pins: [],
        isOver: false,
        isAnew,
        snapshot: async () => nothingYet,
        emit: (event: unknown) => steps.push(event),
        signal: AbortSignal.timeout(30_000),
      };
      return { dir, steps, ...(await curate({ ...stage, model: { ...model, stepBudget } })) };
    });
  }
  const all = rulingModel({
    candidate: ({ candidate }) => place(candidate, 'words'),
    conflict: () => [],
  });

  test('goes through every page; nothing is dropped at the end of one', async () => {
    const { decisions, report } = await curated(all);
    expect(report).toMatchObject({ done: 45, pending: 0, calls: 12, failures: [] });
    expect(new Set(decisions.map(({ subject }) => subject)).size).toBe(45);
  });

  test('tries a page that is too long by halves, and names what is too long alone', async () => {
    const { decisions, report } = await curated(withRoomFor(6, '"Word 7 of y259"', all));
    expect(report).toMatchObject({
      done: 44,
      pending: 1,
      failures: [{ message: expect.stringMatching(/^Word 7 of y259: /) as unknown }],
    });
    expect(new Set(decisions.map(({ subject }) => subject)).size).toBe(44);
  });

  test('leaves to the next run what a loop did not come to, and pays for nothing twice [R11]', async () => {
    const cut = await curated(all, { stepBudget: 1 });
    expect(cut).toMatchObject({ decisions: [], report: { done: 0, pending: 45 } });
    let pages = 0;
    const failing: Script = (call) =>
      (pages += call.results.length === 0 ? 1 : 0) > 1 ? fail('auth') : all(call);
    const half = await curated(failing);
    expect(half.report).toMatchObject({
      done: 20,
      pending: 25,
      calls: 5,
      failures: [{ code: 'llm_auth', exitCode: 4 }],
    });
    // What the first page decided was never published: as if the run had been killed.
    const rest = await curated(all, { dir: half.dir });
    expect(rest.report).toMatchObject({ done: 45, pending: 0, calls: 8 });
    expect(rest.decisions).toEqual((await curated(all)).decisions);
    const nothing = await curated(() => fail('bad-request'), { dir: half.dir });
    expect(nothing.report).toMatchObject({ done: 45, calls: 0 });
  });

  test('is over for what a model left undecided in three runs, until something is said of it', async () => {
    const silent = () => say('Done.');
    const first = await curated(silent);
    expect(first.report).toMatchObject({ done: 0, pending: 45, calls: 3, failures: [] });
    expect(first.refused).toHaveLength(45);
    expect(first.refused[0]?.reason).toBe(
      'the model ended without a decision about it (attempt 1 of 3)',
    );
    const { dir } = first;
    const second = await curated(silent, { dir });
    expect(second.report?.calls).toBe(3);
    const early = await curated(silent, { dir });
    expect(early.report).toBeUndefined();
    expect(early.refused[0]?.reason).toContain('an hour after attempt 2');
    forgetTimes(dir);
    expect((await curated(silent, { dir })).report?.calls).toBe(3);
    forgetTimes(dir);
    const over = await curated(all, { dir });
    expect(over).toMatchObject({ decisions: [], report: undefined });
    expect(over.refused).toHaveLength(45);
    expect(over.refused[0]?.reason).toContain('set aside after 3 attempts');
    const news = term('Word 7 of y259', 'Means something else.');
    const again = await curated(all, { dir, told: [...claims, ...news] });
    expect(again.report).toMatchObject({ done: 1, pending: 44 });
    expect((await curated(all, { dir, isAnew: true })).report).toMatchObject({ done: 45 });
  });

  test('counts no attempt for what a loop had no steps left to come to', async () => {
    const some = rulingModel({
      candidate: ({ candidate }) =>
        candidate.includes('_of_x') ? place(candidate, 'words') : { text: 'Later.' },
      conflict: () => [],
    });
    const { dir, refused, report } = await curated(some, { stepBudget: 2 });
    expect(report).toMatchObject({ done: 15, pending: 30 });
    expect(refused).toEqual([]);
    const rest = await curated(all, { dir });
    expect(rest.report).toMatchObject({ done: 45, pending: 0 });
  });
});
