import type { Mutant } from './mutant.ts';

/** The files that are split once they are large. */
export const shardMutants: readonly Mutant[] = [
  {
    name: 'shards-never',
    file: 'context/catalog/shards.ts',
    find: 'isSmall || prefix',
    replace: 'bytes >= 0 || prefix',
    why: 'All terms, and all tables of a schema, are in one file of many megabytes.',
    tests: ['context/shards.test.ts'],
  },
  {
    name: 'shards-back-and-forth',
    file: 'context/catalog/shards.ts',
    find: '(isSplit ? limit / 2 : limit)',
    replace: 'limit',
    why: 'A line more or less splits a file and joins it again.',
    tests: ['context/shards.test.ts'],
  },
  {
    name: 'shards-left-behind',
    file: 'ingest/render/render-wiki.ts',
    find: '[...tree.keys(), ...before.keys()]',
    replace: 'tree.keys()',
    why: 'Shards that were written for a moment stay, with claims that no longer hold.',
    tests: ['ingest/wiki-shards.test.ts'],
  },
  {
    name: 'shards-of-branches',
    file: 'ingest/fetch/merged-claims.ts',
    find: 'const others = (texts: LineTexts = []) =>\n    texts.map(parseWikiClaims)',
    replace: 'const others = (texts: LineTexts = []) =>\n    texts.slice(9).map(parseWikiClaims)',
    why: 'After a merge of a branch that split a file, ktx takes its own sections for a person’s.',
    tests: ['ingest/wiki-shards.test.ts'],
  },
  {
    name: 'shards-elsewhere',
    file: 'context/catalog/shards.ts',
    find: '/^([0-9a-f]{1,8})\\.jsonl$/',
    replace: '/^(.+)\\.jsonl$/',
    why: 'A file that is no shard counts as one, and is removed.',
    tests: ['context/shards.test.ts'],
  },
];
