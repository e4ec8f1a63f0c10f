import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { subjects, type Claim } from '../../src/context/claims/claim.ts';
import { parseWikiClaims, renderWikiClaims } from '../../src/context/wiki/wiki-claims.ts';
import { readCatalogStamp } from '../../src/project/open/catalog-stamp.ts';
import { readWikiClaims } from '../../src/project/open/wiki-claims-files.ts';
import { temporaryFolder } from '../store/git-project.ts';

const one = 'claims/wiki.jsonl';
const titleOf = (at: number) => `Term ${at}`;

function termsFile(count: number) {
  const claims = Array.from({ length: count }, (_, at): Claim => ({
    subject: subjects.term(titleOf(at)),
    kind: 'definition',
    body: `What ${titleOf(at)} is: ${'words '.repeat(100)}`,
    evidence: [{ connection: 'handbook', origin: 'code', extractor: 'docs@1', confidence: 0.9 }],
  }));
  const base = new Map(
    Array.from({ length: count }, (_, at) => [`glossary/term_${at}`, ['0123abcd']] as const),
  );
  return { base, claims, damaged: [] };
}

/** The tree once the files are written. */
function written(count: number, tree: ReadonlyMap<string, string> = new Map()) {
  const texts = [...renderWikiClaims(termsFile(count), tree.keys())];
  return new Map(texts.flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])));
}

test('claims of few terms are in one file, those of many in shards, and all are read back', () => {
  expect([...written(20).keys()]).toEqual([one]);
  expect([...written(0).keys()]).toEqual([]);
  const many = written(2000);
  expect(many.size).toBe(16);
  const { base, claims, damaged } = parseWikiClaims(many);
  expect([base.size, claims.length, damaged]).toEqual([2000, 2000, []]);
  const [holder, ...others] = [...many.values()].filter((text) => /[:/]term_7"/.test(text));
  expect(others).toEqual([]);
  expect(holder?.match(/[:/]term_7"/g)).toHaveLength(2);
});

test('files that a merge leaves split and not split are read together and written once', () => {
  const [split, whole] = [written(2000), written(900)];
  const merged = new Map([...split, ...whole]);
  expect(merged.size).toBe(17);
  expect(parseWikiClaims(merged)).toEqual(parseWikiClaims(split));
  const texts = renderWikiClaims(parseWikiClaims(merged), merged.keys());
  // What is removed comes last, so that no line is nowhere if a run is killed.
  expect([...texts].at(-1)).toEqual([one, undefined]);
  texts.delete(one);
  expect(Object.fromEntries(texts)).toEqual(Object.fromEntries(split));
});

test('shards with other line ends, a byte order mark or the lines of others say the same', () => {
  const many = written(2000);
  const texts = [...many];
  const everything = texts.map(([, text]) => text).join('');
  const odd = new Map(
    texts.map(([path, text]) => [path, `\uFEFF${text.replaceAll('\n', '\r\n')}`]),
  );
  expect(parseWikiClaims(odd)).toEqual(parseWikiClaims(many));
  // All lines in a shard where most do not belong, and again in the others.
  const moved = new Map([...many, ['claims/wiki/0.jsonl', everything]]);
  expect(parseWikiClaims(moved)).toEqual(parseWikiClaims(many));
  expect(Object.fromEntries(renderWikiClaims(parseWikiClaims(moved), moved.keys()))).toEqual(
    Object.fromEntries(many),
  );
  // A thousand tiny ones become the few that are needed.
  const lines = everything.split('\n').slice(0, -1);
  const tiny = new Map(lines.map((line, at) => [`claims/wiki/${at.toString(16)}.jsonl`, line]));
  const rendered = [...renderWikiClaims(parseWikiClaims(tiny), tiny.keys())];
  const kept = rendered.filter(([, text]) => text !== undefined);
  expect(parseWikiClaims(new Map(kept.map(([path, text]) => [path, text ?? ''])))).toEqual(
    parseWikiClaims(many),
  );
});

test('a file that is no shard is not read, and no folder is followed out of the project', async () => {
  const dir = temporaryFolder();
  const outside = temporaryFolder();
  const line = [...written(1).values()].join('');
  mkdirSync(join(dir, 'claims/wiki/a'), { recursive: true });
  for (const name of ['orders.jsonl', '012345678.jsonl', 'A.jsonl', '0.jsonl.jsonl', 'a/b.jsonl'])
    writeFileSync(join(dir, 'claims/wiki', name), line);
  writeFileSync(join(outside, '0.jsonl'), line);
  expect((await readWikiClaims(dir)).claims).toEqual([]);
  rmSync(join(dir, 'claims/wiki'), { recursive: true });
  writeFileSync(join(dir, 'claims/wiki'), 'a file');
  writeFileSync(join(dir, one), line);
  expect((await readWikiClaims(dir)).claims).toHaveLength(1);
  rmSync(join(dir, 'claims/wiki'));
  symlinkSync(outside, join(dir, 'claims/wiki'));
  await expect(readWikiClaims(dir)).rejects.toMatchObject({ code: 'path_outside_project' });

  mkdirSync(join(dir, 'sources/shop/main'), { recursive: true });
  writeFileSync(join(dir, 'sources/shop/index.jsonl'), '');
  const stamp = () => readCatalogStamp(dir, 'shop');
  const stamps = [stamp()];
  writeFileSync(join(dir, 'sources/shop/main/0.jsonl'), line);
  stamps.push(stamp());
  expect(new Set(stamps).size).toBe(2);
  symlinkSync('/', join(dir, 'sources/shop/root'));
  writeFileSync(join(dir, 'sources/shop/main/notes.jsonl'), line);
  expect(stamp()).toBe(stamps[1]);
});
