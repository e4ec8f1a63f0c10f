import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../store/git-project.ts';
import { bringIn, takeBack } from './bring-in.ts';
import {
  columnOf,
  fileOfTable,
  ingest,
  makeChange,
  metricOf,
  page,
  startProject,
  tableOf,
  termOf,
  workOnBranch,
} from './changes.ts';
import type { Change, History } from './history.ts';
import { personsWords, valuesOf } from './known-values.ts';

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

/** Plays a history. Throws if a file is not as after one sequence, or if a person's is lost. */
export async function tryHistory(history: History): Promise<void> {
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
  assert.deepEqual(
    [...words].filter((word) => !kept.has(word)),
    [],
    'words of people are lost',
  );
  assert.equal(await ingest(dir), false, 'a second ingest has something to commit');
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
  assert.deepEqual(differences, []);
}

/** What became of the files, by place. */
interface Taken {
  /** What the files said after the last merge, before the last ingest. */
  readonly merged: ReadonlyMap<string, string>;
  readonly path: string;
}

/** True if a person took the value at the path out. */
function isRemoved({ ours, others }: History, taken: Taken): boolean {
  const changes = [...ours, ...others.flatMap((other) => other.changes)];
  const isAbsent = !taken.merged.has(taken.path);
  return changes.some(
    (change) =>
      isJoinToGone(change, taken) ||
      isMovedAway(change, taken) ||
      (isAbsent && (isTakenBy(change, taken.path) || isInGoneFile(change, taken))),
  );
}

/** True if the change takes the value out of its file. */
function isTakenBy(change: Change, path: string): boolean {
  const [table, column] = columnOf(change);
  const file = fileOfTable(table);
  const places: Partial<Record<Change['kind'], string>> = {
    removal: `${file}.fields.${column}.description`,
    'no column': `${file}.fields.${column}.`,
    'no metric': `${file}.metrics.${metricOf(change)}.`,
    'no section': `${page} ${termOf(change)}`,
  };
  const place = places[change.kind];
  return place !== undefined && (place.endsWith('.') ? path.startsWith(place) : path === place);
}

/** The file that the change takes out, or puts under another name. */
function goneFileOf(change: Change): string | undefined {
  if (change.kind === 'no page' || change.kind === 'moved page') return page;
  return change.kind.endsWith(' dataset') ? fileOfTable(tableOf(change)) : undefined;
}

/** True if the dataset is still in the file that it was put into: ktx writes no second one. */
function isMovedAway(change: Change, { merged, path }: Taken): boolean {
  const isIn = change.kind === 'moved dataset' && path.startsWith(fileOfTable(tableOf(change)));
  return (
    isIn &&
    [...merged].some(
      ([place, text]) => /person_[^/]*\.yaml\.dataset$/.test(place) && text === tableOf(change),
    )
  );
}

function isInGoneFile(change: Change, { merged, path }: Taken): boolean {
  const file = goneFileOf(change);
  if (file === undefined || !path.startsWith(file)) return false;
  return ![...merged.keys()].some((place) => place.startsWith(file));
}

/** True for the joins of others to a dataset that is gone, and not only its file. */
function isJoinToGone(change: Change, { merged, path }: Taken): boolean {
  const file = goneFileOf(change);
  const isGone = file === fileOfTable('customers') && change.kind !== 'moved dataset';
  if (!isGone || !path.includes('.yaml.relationships.')) return false;
  return ![...merged.keys()].some((place) => place.startsWith(file));
}
