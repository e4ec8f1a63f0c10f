import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadCatalog } from '../../src/context/catalog/catalog-files.ts';
import { parseItemIndex } from '../../src/ingest/fetch/item-files.ts';
import type { FileTree } from '../../src/ingest/publish/project-files.ts';
import { readWikiClaims } from '../../src/project/open/wiki-claims-files.ts';
import {
  addedBytes,
  bytesBelow,
  changedPaths,
  largeFindings,
  writeLarge,
} from '../support/large-project.ts';

const shape = { tables: 5000, columns: 20, terms: 20_000 };
const columns = shape.tables * shape.columns;

/** Files whose names differ by the shard only. */
const withoutShard = (path: string) => path.replace(/\/[0-9a-f]+\.jsonl$/, '/*.jsonl');

/** The files that an ingest rewrites once the shape has changed. */
function changedBy(before: FileTree, change: Parameters<typeof largeFindings>[0]): string[] {
  const after = writeLarge(largeFindings(change), before);
  // A line of each file; that of a table has all its columns.
  expect(addedBytes(before, after)).toBeLessThan(4000);
  return changedPaths(before, after).map(withoutShard);
}

test('100,000 columns and 20,000 terms: few bytes, no large file, and a change is a small diff', async () => {
  const findings = largeFindings(shape);
  const tree = writeLarge(findings);
  const perColumn = (folder: string) => bytesBelow(tree, folder) / columns;
  expect(perColumn('claims/shop/')).toBeLessThan(85);
  expect(perColumn('claims/shop/') + perColumn('sources/shop/')).toBeLessThan(200);
  const sizes = [...tree].map(([path, text]) => [Buffer.byteLength(text), path] as const);
  expect(sizes.filter(([bytes]) => bytes > 2_000_000)).toEqual([]);
  // Shards, but not one for each term or table.
  expect([...tree.keys()].filter((path) => path.startsWith('claims/wiki/'))).toHaveLength(16);
  expect([...tree.keys()].filter((path) => path.startsWith('sources/shop/main/'))).toHaveLength(16);

  const dir = mkdtempSync(join(tmpdir(), 'ktx-sizes-'));
  for (const [path, text] of tree) {
    if (!/^(sources\/shop|claims\/wiki)\//.test(path)) continue;
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const byName = (tables: readonly { readonly table: string }[] = []) =>
    tables.map(({ table }) => table).sort();
  expect(byName((await loadCatalog(dir, 'shop'))?.tables)).toEqual(
    byName(findings.connections[0]?.catalog.tables),
  );
  const { claims } = await readWikiClaims(dir);
  expect(new Set(claims.map(({ subject }) => subject)).size).toBe(shape.terms);
  rmSync(dir, { recursive: true });

  expect(changedBy(tree, { ...shape, terms: shape.terms + 1 })).toEqual([
    'claims/wiki/*.jsonl',
    'sources/handbook/index.jsonl',
    'sources/handbook/page_100.md',
    'wiki/glossary.md',
  ]);
  const retyped = `${findings.connections[0]?.catalog.tables[17]?.table}`;
  expect(changedBy(tree, { ...shape, retyped: 17 })).toEqual([
    `claims/shop/${retyped}.jsonl`,
    `semantic-layer/shop/${retyped}.yaml`,
    'sources/shop/main/*.jsonl',
  ]);
  const dropped = `${findings.connections[0]?.catalog.tables.at(-1)?.table}`;
  expect(changedBy(tree, { ...shape, tables: shape.tables - 1 })).toEqual([
    `claims/shop/${dropped}.jsonl`,
    `semantic-layer/shop/${dropped}.yaml`,
    'sources/shop/main/*.jsonl',
  ]);
});

test('20,000 terms on as many pages: no large file either', () => {
  const tree = writeLarge(largeFindings({ tables: 1, columns: 2, terms: 20_000, termsPerPage: 1 }));
  const sizes = [...tree].map(([path, text]) => [Buffer.byteLength(text), path] as const);
  expect(sizes.filter(([bytes]) => bytes > 2_000_000)).toEqual([]);
  const index = tree.get('sources/handbook/index.jsonl') ?? '';
  expect(parseItemIndex(index).map(({ path }) => path)).toContain('page_19999.md');
});
