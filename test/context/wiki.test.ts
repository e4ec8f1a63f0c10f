import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortId, subjects, type Claim } from '../../src/context/claims/claim.ts';
import { uniteBases } from '../../src/context/merge/merge-base.ts';
import { compileWiki } from '../../src/context/wiki/compile-wiki.ts';
import { meaningKey } from '../../src/context/compile/meaning.ts';
import { parsePins, setPin, type Pin } from '../../src/context/claims/pins.ts';
import { mergePage, type WikiMergeResult } from '../../src/context/wiki/merge-page.ts';

function said(title: string, definition: string, item = 'a.md'): Claim {
  const evidence = {
    connection: 'handbook',
    origin: 'code',
    extractor: 'docs@1',
    item,
    location: 'line 1',
    confidence: 0.9,
  } as const;
  return {
    subject: subjects.term(title),
    kind: 'definition',
    body: definition,
    evidence: [evidence],
  };
}

const someClaims = fc.array(
  fc.tuple(
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom('One.', 'one', 'Two.', 'Three.'),
    fc.constantFrom('x.md', 'y.md'),
  ),
  { minLength: 1, maxLength: 14 },
);

describe('terms', () => {
  it('in any order give the same pages and conflicts, and disagree exactly where two meanings stand and no pin covers them', () => {
    let [open, decided] = [0, 0];
    const input = someClaims.chain((told) => {
      const claims = told.map((one) => said(...one));
      const pins = fc.subarray(claims).map((chosen) =>
        chosen.map((claim): Pin => {
          const seen = claims.filter(({ subject }) => subject === claim.subject).map(shortId);
          return { subject: claim.subject, kind: 'definition', choose: shortId(claim), seen };
        }),
      );
      return fc.tuple(
        fc.constant(claims),
        fc.shuffledSubarray(claims, { minLength: claims.length }),
        pins,
      );
    });
    fc.assert(
      fc.property(input, ([claims, shuffled, pins]) => {
        const { pages, conflicts } = compileWiki(claims, pins);
        expect(JSON.stringify(compileWiki(shuffled, pins))).toBe(
          JSON.stringify(compileWiki(claims, pins)),
        );
        for (const [subject, group] of Map.groupBy(claims, (claim) => claim.subject)) {
          const isPinned = pins.some((pin) => pin.subject === subject);
          const isContested = new Set(group.map(meaningKey)).size > 1 && !isPinned;
          expect(conflicts.some((conflict) => conflict.subject === subject)).toBe(isContested);
          if (isContested) open += 1;
          if (isPinned) decided += 1;
        }
        expect(pages.flatMap(({ sections }) => sections).map(({ subject }) => subject)).toEqual(
          [...new Set(claims.map(({ subject }) => subject))].sort(),
        );
      }),
    );
    expect(Math.min(open, decided)).toBeGreaterThan(0);
  });

  it('that refer to a decided metric tell the decision beside what the text says', () => {
    const metric = 'metric:shop.orders.revenue';
    const text = said('Revenue', 'All orders.');
    const refs: Claim = { ...text, kind: 'refs', body: [metric, 'metric:shop.orders.count'] };
    const pin = {
      subject: metric,
      kind: 'metric',
      choose: 'abc',
      seen: ['abc', 'def'],
      said: { agg: 'sum', expr: 'amount', filter: "status = 'paid'" },
      by: 'ann',
      at: '2026-11-04T10:00:00Z',
    };
    const section = (...pins: readonly Pin[]) =>
      compileWiki([text, refs], pins).pages[0]?.sections[0]?.text;
    expect(section()).not.toContain('Decided');
    expect(section(pin)).toContain(
      "> Decided for `metric:shop.orders.revenue` (ann, 2026-11-04): `{agg: sum, expr: amount, filter: status = 'paid'}`",
    );
    expect(section({ ...pin, choose: 'none' })).toContain('no definition holds');
    // Own words that a later choice replaced stay in the file, to hold again once it is undone.
    const own = { ...pin, choose: 'own', said: undefined, says: { agg: 'count' }, by: 'bob' };
    expect(section(own, pin)?.match(/Decided for/g)).toHaveLength(1);
    expect(section(own, pin)).not.toContain('bob');
    expect(section({ ...pin, choose: 'later' })).not.toContain('Decided');
    expect(section({ ...pin, subject: 'metric:shop.orders.other' })).not.toContain('Decided');
  });

  it('that are pinned are open again once something else is said', () => {
    const [one, two, three] = [said('a', 'One.'), said('a', 'Two.'), said('a', 'Three.')];
    const pin = {
      subject: one.subject,
      kind: 'definition',
      choose: shortId(two),
      seen: [one, two].map(shortId),
    };
    expect(compileWiki([one, two], [pin])).toMatchObject({
      conflicts: [],
      pages: [{ sections: [{ text: '## A\n\nTwo.\n' }] }],
    });
    const { conflicts } = compileWiki([one, two, three], [pin]);
    expect(conflicts[0]?.variants[0]?.says).toBe('Two.');
    expect(conflicts[0]?.variants).toHaveLength(3);
    expect(compileWiki([one, three], [pin]).conflicts).toHaveLength(1);
  });
});

describe('pins', () => {
  it('keep the comments of the file, replace the older decision about the same, and survive any words', () => {
    const pin = (why: string, choose = 'a'): Pin => ({
      subject: 'term:x',
      kind: 'definition',
      choose,
      seen: ['a', 'b'],
      why,
    });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (why) => {
        const first = `# mine\n${setPin(undefined, { ...pin('old'), subject: 'term:y' })}`;
        const text = setPin(setPin(first, pin('old')), pin(why, 'b'));
        expect(text).toContain('# mine');
        expect(parsePins(text)).toEqual({
          pins: [{ ...pin('old'), subject: 'term:y' }, pin(why, 'b')],
          deferred: [],
        });
      }),
    );
  });

  it('that put a decision off leave the older decision, and go with the next one', () => {
    const decided = { subject: 'term:x', kind: 'definition', choose: 'a', seen: ['a', 'b'] };
    const later = { ...decided, choose: 'later', seen: ['a', 'b', 'c'], until: '2030-01-31' };
    const text = setPin(setPin(setPin(undefined, decided), later), later);
    expect(parsePins(text)).toEqual({ pins: [decided], deferred: [later] });
    const anew = { ...decided, choose: 'c', seen: ['a', 'b', 'c'] };
    expect(parsePins(setPin(text, anew))).toEqual({ pins: [anew], deferred: [] });
  });
});

describe('a page', () => {
  const page = (definitions: Readonly<Record<string, string>>) =>
    compileWiki(
      Object.entries(definitions).map(([title, text]) => said(title, text)),
      [],
    ).pages[0];
  const merge = (
    definitions: Readonly<Record<string, string>>,
    before?: Partial<WikiMergeResult>,
  ) => {
    const { text, base = new Map(), edits = [] } = before ?? {};
    return mergePage({ page: 'glossary', compiled: page(definitions), text, base, edits });
  };
  const texts = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.constantFrom('One.', 'Two.', '# odd\n## heading\n```\nx', 'l1\nl2'),
  );

  it('keeps every byte that a person wrote, whatever the claims become, and changes nothing in a second run', () => {
    const lines = fc.array(
      fc.constantFrom('mine', '## My own', '', '- list', '### deeper', '```', 'mine too'),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(texts, texts, lines, (before, after, added) => {
        const first = merge(before);
        const mine = `${added.join('\n')}\n`;
        const text = `${first.text ?? '# Glossary\n'}\n## Person\n\n${mine}`;
        const second = merge(after, { ...first, text });
        expect(second.text).toContain(`## Person\n\n${mine.trimEnd()}`);
        const third = merge(after, second);
        const isFenced = added.filter((line) => line === '```').length % 2 === 1;
        expect(third).toMatchObject({
          outcome: isFenced ? 'left_alone' : 'unchanged',
          text: second.text,
        });
        if (isFenced) expect(second.text).toBe(text);
        expect([...third.base]).toEqual([...second.base]);
      }),
    );
  });

  it('shows the words of others as words: none begins HTML, which would hide what follows, or turns the line around', () => {
    const definitions = {
      a: '<!-- of no end',
      b: 'x\n  <script>\ny',
      '\u202Ec\u0007': 'a \u2066b',
      d: 'a < b, 👩‍👩‍👧',
    };
    expect(merge(definitions).text?.replace(/^<!--.*-->/, '')).toBe(
      '\n\n# Glossary\n\n## A\n\n\\<!-- of no end\n\n## B\n\nx\n  \\<script>\ny\n\n## C\n\na b\n\n## D\n\na < b, 👩‍👩‍👧\n',
    );
  });

  it('stays out where one branch took it out and another had one more section', () => {
    const first = merge({ a: 'One.' });
    const ours = merge({ a: 'One.' }, { ...first, text: undefined });
    const theirs = merge({ a: 'One.', b: 'Two.' }, first);
    const definitions = { a: 'One.', b: 'Two.' };
    const base = uniteBases(ours.base, theirs.base);
    const taken = merge(definitions, { text: undefined, base });
    expect(taken).toMatchObject({ text: undefined, edits: ours.edits });
    expect(merge(definitions, taken).text).toBeUndefined();
    // What was taken out is known without what ktx left, too.
    expect(merge(definitions, { text: undefined, edits: ours.edits }).text).toBeUndefined();
    expect(merge(definitions, { text: theirs.text, base, edits: ours.edits }).edits).toEqual([]);
  });

  it('killed between its writes ends as it would have', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const first = merge(before);
        const done = merge(after, first);
        const interim = uniteBases(first.base, done.base);
        for (const text of [first.text, done.text]) {
          const again = merge(after, { text, base: interim, edits: first.edits });
          expect([again.text, again.edits]).toEqual([done.text, done.edits]);
        }
      }),
    );
  });
});
