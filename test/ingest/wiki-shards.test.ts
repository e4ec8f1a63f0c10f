import { expect, test } from 'vitest';
import type { ProjectFindings } from '../../src/ingest/fetch/findings.ts';
import type { FileTree } from '../../src/ingest/publish/project-files.ts';
import { upgradeNote } from '../../src/ingest/publish/upgrade-note.ts';
import { renderProject } from '../../src/ingest/render/render.ts';
import { largeFindings, writeLarge } from '../support/large-project.ts';

const whole = 'claims/wiki.jsonl';
const page = 'wiki/glossary.md';
const all = largeFindings({ tables: 1, columns: 2, terms: 2000, termsPerPage: 2000 });

interface Terms {
  readonly first?: number;
  readonly end: number;
  /** What the definition of the first of these terms says. */
  readonly says?: string;
}

/** What an ingest finds while the handbook has these terms. */
function findings({ first = 0, end, says }: Terms): ProjectFindings {
  const sources = all.sources.map((source) => ({
    ...source,
    extractions: source.extractions.map(({ claims, ...extraction }) => ({
      ...extraction,
      // A title and a definition of each.
      claims: claims
        .slice(2 * first, 2 * end)
        .map((claim, at) => (at === 1 && says !== undefined ? { ...claim, body: says } : claim)),
    })),
  }));
  return { ...all, sources };
}

const claimsOf = (tree: FileTree) =>
  new Map([...tree].filter(([path]) => path.startsWith('claims/wiki')));
const withoutClaims = (tree: FileTree) =>
  new Map([...tree].filter(([path]) => !path.startsWith('claims/wiki')));
const contentOf = (tree: FileTree) => Object.fromEntries(tree);

/** The tree after an ingest, which another ingest leaves as it is. */
function ingested(found: ProjectFindings, tree?: FileTree): FileTree {
  const after = writeLarge(found, tree);
  expect(contentOf(writeLarge({ ...found, merged: undefined }, after))).toEqual(contentOf(after));
  return after;
}

test('a file that is too large only while terms are replaced is split once, and leaves nothing', () => {
  const before = ingested(findings({ end: 1390 }));
  expect(Buffer.byteLength(before.get(whole) ?? '')).toBeGreaterThan(970_000);
  const after = ingested(findings({ first: 600, end: 1980 }), before);
  const lines = [...claimsOf(after).values()].join('');
  // One term that left, and one that came.
  expect(lines).not.toMatch(/[:/]\w+_5"/);
  expect(lines).toMatch(/[:/]\w+_1970"/);
});

test('branches of which one has split a file, or both have, come to what one person would have', () => {
  const base = ingested(findings({ end: 1340 }));
  expect(base.has(whole)).toBe(true);
  const ours = ingested(findings({ end: 1600 }), base);
  expect([ours.has(whole), claimsOf(ours).size]).toEqual([false, 16]);
  const theirs = ingested(findings({ end: 1340, says: 'What it said later.' }), base);
  expect(theirs.has(whole)).toBe(true);
  // What git makes of the page: the new terms of one branch, the new text of the other.
  const ownText = 'What the company calls net amount 0, without tax.';
  const merged = new Map([
    ...withoutClaims(ours),
    [page, `${ours.get(page)}`.replace(ownText, 'What it said later.')] as const,
  ]);
  expect(merged.get(page)).not.toBe(ours.get(page));

  const next = findings({ end: 1600, says: 'What it says now.' });
  const branches = { branches: [claimsOf(ours), claimsOf(theirs)], copies: [] };
  const wanted = ingested(next, ours);
  // Either side, or both, of a file that one branch removed and the other changed.
  const resolutions = [claimsOf(ours), new Map([...claimsOf(ours), ...claimsOf(theirs)])];
  for (const claims of resolutions) {
    const tree = new Map([...merged, ...claims]);
    expect(renderProject({ ...next, merged: branches }, tree).keptEdits).toEqual([]);
    const after = ingested({ ...next, merged: branches }, tree);
    expect(contentOf(after)).toEqual(contentOf(wanted));
  }

  // Both have split it: git keeps the lines of both in each shard.
  const other = ingested(findings({ end: 1500, says: 'What it said later.' }), base);
  const united = new Map(
    [...claimsOf(ours)].map(([path, text]) => [path, text + (other.get(path) ?? '')] as const),
  );
  const twoSplit = { ...next, merged: { branches: [claimsOf(ours), claimsOf(other)], copies: [] } };
  const after = ingested(twoSplit, new Map([...merged, ...united]));
  expect(contentOf(after)).toEqual(contentOf(wanted));
});

test('the commit that splits what an earlier version wrote says so', () => {
  const split = ingested(findings({ end: 1500 }));
  const old = new Map([...withoutClaims(split), [whole, [...claimsOf(split).values()].join('')]]);
  expect(upgradeNote(split)).toBeUndefined();
  expect(upgradeNote(old)).toContain('above 1 MB are split');
  expect(contentOf(writeLarge(findings({ end: 1500 }), old))).toEqual(contentOf(split));

  const index = 'sources/shop/index.jsonl';
  const formerLine = '{"hash":"ab3621930fda","key":"main","path":"main.jsonl"}\n';
  const former = new Map([...split, [index, `${split.get(index)?.split('\n')[0]}\n${formerLine}`]]);
  expect(upgradeNote(former)).toContain('no longer has a hash');
  expect(contentOf(writeLarge(findings({ end: 1500 }), former))).toEqual(contentOf(split));
});
