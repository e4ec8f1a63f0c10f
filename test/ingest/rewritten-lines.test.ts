import { expect, test } from 'vitest';
import { findOtherLines } from '../../src/ingest/fetch/rewritten-lines.ts';
import { openRepository } from '../../src/store/git.ts';
import { run, temporaryFolder, write } from '../store/git-project.ts';

const hour = 3600;
let clock = 1_700_000_000;

/** A repository with a run of ktx on each of two branches; `main` is checked out. */
function twoLines() {
  const dir = temporaryFolder();
  run(dir, 'init', '-q', '-b', 'main');
  const start = ktxRun(dir, 'start');
  run(dir, 'checkout', '-qb', 'theirs');
  const theirs = ktxRun(dir, 'theirs');
  run(dir, 'checkout', '-q', 'main');
  const ours = ktxRun(dir, 'ours');
  return { dir, start, theirs, ours };
}

/** A commit of claims as a run makes it. */
function ktxRun(dir: string, text: string): string {
  write(dir, 'claims/shop/orders.jsonl', `${text}\n`);
  return commit(dir, `ktx: update shop\n\nKtx-Run: run_${text}`);
}

function commit(dir: string, message: string): string {
  run(dir, 'add', '.');
  at(dir, 'commit', '-qm', message);
  return run(dir, 'rev-parse', 'HEAD');
}

/** An hour later than the command before. */
function at(dir: string, ...args: string[]): void {
  clock += hour;
  const times = { GIT_AUTHOR_DATE: `@${clock} +0000`, GIT_COMMITTER_DATE: `@${clock} +0000` };
  Object.assign(process.env, times);
  try {
    run(dir, ...args);
  } finally {
    for (const name of Object.keys(times)) delete process.env[name];
  }
}

const linesOf = async (dir: string) => (await findOtherLines(await openRepository(dir))).toSorted();

/** Ends what stopped at a conflict, with the claims of the branch that is checked out. */
function endWithOurs(dir: string, ...step: string[]): void {
  expect(() => at(dir, ...step)).toThrow('');
  run(dir, 'checkout', '--ours', '--', '.');
  run(dir, 'add', '.');
}

test('a line without merges, and one that a run followed, has no other', async () => {
  const { dir } = twoLines();
  expect(await linesOf(dir)).toEqual([]);
  write(dir, 'semantic-layer/shop/orders.yaml', 'a person\n');
  commit(dir, 'by hand');
  expect(await linesOf(dir)).toEqual([]);
});

test('a squash leads to the runs of the branch that it took, until the next run', async () => {
  const { dir, start, theirs, ours } = twoLines();
  endWithOurs(dir, 'merge', '-q', '--squash', 'theirs');
  write(dir, 'claims/shop/customers.jsonl', 'theirs\n');
  commit(dir, 'squashed');
  expect(await linesOf(dir)).toEqual([start, theirs, ours].toSorted());
  ktxRun(dir, 'after');
  expect(await linesOf(dir)).toEqual([]);
});

test('a page that was taken out and comes back leads to the branch that it came from', async () => {
  const { dir, start, theirs, ours } = twoLines();
  write(dir, 'wiki/terms.md', 'of ktx\n');
  commit(dir, 'by hand');
  run(dir, 'rm', '-q', 'wiki/terms.md');
  commit(dir, 'taken out');
  write(dir, 'wiki/people.md', 'a person\n');
  commit(dir, 'by hand');
  expect(await linesOf(dir)).toEqual([]);
  write(dir, 'wiki/terms.md', 'of ktx\n');
  commit(dir, 'squashed');
  expect(await linesOf(dir)).toEqual([start, theirs, ours].toSorted());
});

test('a rebase leads to what was there before it', async () => {
  const { dir, start, theirs, ours } = twoLines();
  write(dir, 'semantic-layer/shop/orders.yaml', 'a person\n');
  commit(dir, 'by hand');
  endWithOurs(dir, 'rebase', '-q', 'theirs');
  at(dir, '-c', 'core.editor=true', 'rebase', '--skip');
  expect(await linesOf(dir)).toEqual([start, theirs, ours].toSorted());
});

test('where people commit what ktx writes, their commits are runs', async () => {
  const dir = temporaryFolder();
  run(dir, 'init', '-q', '-b', 'main');
  for (const text of ['one', 'two']) {
    write(dir, 'claims/shop/orders.jsonl', `${text}\n`);
    commit(dir, text);
    run(dir, 'branch', text);
  }
  expect(await linesOf(dir)).toEqual([]);
});
