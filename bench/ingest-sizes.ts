import {
  addedBytes,
  bytesBelow,
  changedPaths,
  largeFindings,
  writeLarge,
  type ProjectShape,
} from '../test/support/large-project.ts';

/**
 * `npm run bench:ingest` prints at its end what an ingest commits of a warehouse of 100,000 columns
 * and a handbook of 20,000 terms, beside the dataset files: bytes a column, the largest file, and
 * which files a small change rewrites. The files come from the code that an ingest writes with.
 */
const shape: ProjectShape = { tables: 5000, columns: 20, terms: 20_000 };

for (const comments of ['none', 'half'] as const) {
  const tree = writeLarge(largeFindings({ ...shape, comments }));
  const perColumn = (folder: string) =>
    (bytesBelow(tree, folder) / shape.tables / shape.columns).toFixed(1);
  const [largest] = [...tree]
    .map(([path, text]) => [Buffer.byteLength(text), path] as const)
    .sort(([a], [b]) => b - a);
  console.log(
    `comments on ${comments} of the columns: ${perColumn('claims/shop/')} bytes a column in claims/, ` +
      `${perColumn('sources/shop/')} in sources/; ` +
      `${(bytesBelow(tree, 'claims/wiki') / shape.terms).toFixed(0)} bytes a term; ` +
      `largest file ${largest?.[1]}, ${((largest?.[0] ?? 0) / 1e6).toFixed(2)} MB`,
  );
  if (comments === 'half') continue;
  const changes: readonly (readonly [string, ProjectShape])[] = [
    ['one more term', { ...shape, terms: shape.terms + 1 }],
    ['one changed column', { ...shape, retyped: 17 }],
    ['one table less', { ...shape, tables: shape.tables - 1 }],
  ];
  for (const [what, change] of changes) {
    const after = writeLarge(largeFindings(change), tree);
    const paths = changedPaths(tree, after).join(', ');
    console.log(`${what}: ${addedBytes(tree, after)} bytes of changed lines in ${paths}`);
  }
}
