import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasSlowCases } from '../slow-suites.ts';
import { run } from '../store/git-project.ts';
import { bringIn, takeBack } from './branches/bring-in.ts';
import {
  columnOf,
  ingest,
  makeChange,
  page,
  startProject,
  termOf,
  workOnBranch,
} from './branches/changes.ts';
import { drawHistory, parseHistory, type History } from './branches/history.ts';
import { personsWords, valuesOf } from './branches/known-values.ts';

// People on two or three branches, any resolution that git offers, then an ingest: the files are
// as if one had done everything in sequence, and nothing of theirs is lost.
//
// KTX_HISTORIES plays that many, KTX_HISTORY_SEED is the first seed. KTX_HISTORY plays one: a seed,
// or what a failure printed, from which steps may be taken out by hand.

const names = ['theirs', 'third'];

async function playHistory(dir: string, history: History): Promise<void> {
  if (!history.hasAttributes) {
    run(dir, 'rm', '-q', '.gitattributes');
    run(dir, 'commit', '-qm', 'no attributes');
    run(dir, 'tag', '-f', 'start');
  }
  for (const [index, { changes }] of history.others.entries())
    await workOnBranch(dir, names[index] ?? '', changes);
  await workOnBranch(dir, 'ours', history.ours);
  if (history.isIntoMain) {
    run(dir, 'checkout', '-q', 'main');
    run(dir, 'merge', '-q', '--no-ff', '--no-edit', 'ours');
  }
  for (const [index, incoming] of history.others.entries()) {
    const { resolution, isIngested, isReverted } = incoming;
    bringIn(dir, names[index] ?? '', incoming);
    const commit = run(dir, 'rev-parse', 'HEAD');
    const isLast = index === history.others.length - 1;
    if (isIngested && (!isLast || isReverted)) await ingest(dir, codesAfter(resolution));
    if (isReverted) takeBack(dir, commit, resolution);
  }
}

/** Conflict markers that were committed are named, once. */
const codesAfter = (resolution: string) => (resolution === 'markers' ? [0, 3] : [0]);

/** The files as a project that knows nothing of what was there before gets them. */
async function ingestAnew(dir: string): Promise<void> {
  // Branches and the reflog remember what people took out, also what they put back since then.
  for (const path of ['semantic-layer', 'claims', 'sources', 'wiki', 'conflicts.yaml', '.git'])
    rmSync(join(dir, path), { recursive: true, force: true });
  await ingest(dir);
}

async function tryHistory(history: History): Promise<void> {
  const dir = await startProject();
  await playHistory(dir, history);
  const merged = valuesOf(dir);
  const words = personsWords(dir);
  if (history.movesOn) {
    await makeChange(dir, { kind: 'document', at: 3, isIngested: true }, 'the future');
    await makeChange(dir, { kind: 'term', at: 0, isIngested: true }, 'the future');
    run(dir, 'commit', '-qam', 'goes on', '--allow-empty');
  }
  const hasClaims = history.others.every(({ resolution }) => resolution !== 'no claims');
  const isMarked = history.others.some(({ resolution }) => resolution === 'markers');
  await ingest(dir, isMarked ? [0, 3] : [0]);
  const result = valuesOf(dir);
  const kept = personsWords(dir);
  expect([...words].filter((word) => !kept.has(word))).toEqual([]);
  expect(await ingest(dir), 'a second ingest has nothing to commit').toBe(false);
  await ingestAnew(dir);
  const wanted = valuesOf(dir);
  rmSync(dir, { recursive: true });
  const paths = [...new Set([...merged.keys(), ...wanted.keys(), ...result.keys()])].sort();
  const expected = (path: string) => {
    const text = merged.get(path);
    const isPersons = /person[ _]/.test(`${path} ${text}`);
    if (isPersons) return text;
    // Without claims nobody remembers what people took out.
    if (isRemoved(history, { merged, path })) return hasClaims ? undefined : result.get(path);
    return wanted.get(path);
  };
  const differences = paths
    .filter((path) => result.get(path) !== expected(path))
    .map((path) => `${path}: ${result.get(path)}, wanted: ${expected(path)}`);
  expect(differences).toEqual([]);
}

/** True if a person took the value at the path out. */
function isRemoved(
  { ours, others }: History,
  { merged, path }: { readonly merged: ReadonlyMap<string, string>; readonly path: string },
): boolean {
  const changes = [...ours, ...others.flatMap((other) => other.changes)];
  const isPageGone = ![...merged.keys()].some((place) => place.startsWith(page));
  const isTaken = changes.some((change) => {
    const [table, column] = columnOf(change);
    if (change.kind === 'removal')
      return path === `semantic-layer/shop/${table}.yaml.fields.${column}.description`;
    if (change.kind === 'no section') return path === `${page} ${termOf(change)}`;
    return change.kind === 'no page' && isPageGone && path.startsWith(page);
  });
  return isTaken && !merged.has(path);
}

function histories(): [name: string, history: History][] {
  const given = process.env['KTX_HISTORY'];
  if (given?.startsWith('{')) return [['the given one', parseHistory(given)]];
  const first = Number(given ?? process.env['KTX_HISTORY_SEED'] ?? 1);
  const count = given ? 1 : Number(process.env['KTX_HISTORIES'] ?? (hasSlowCases ? 25 : 4));
  return Array.from({ length: count }, (_, index) => [
    `seed ${first + index}`,
    drawHistory(first + index),
  ]);
}

describe('two or three branches and their merges', () => {
  test.for(histories())(
    'end in the files of one sequence, whatever the resolution: %s',
    async ([, history]) => {
      try {
        await tryHistory(history);
      } catch (error) {
        throw new Error(`KTX_HISTORY='${JSON.stringify(history)}'`, { cause: error });
      }
    },
  );
});
