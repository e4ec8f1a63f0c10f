import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { refreshIndex } from '../../store/commit/commit.ts';
import { commitTarget } from '../../store/commit/commit-target.ts';
import { readTextSync, removeFile, stageTexts, writeAtomically } from '../../store/files.ts';
import { readFilesAtCommit, openRepository } from '../../store/git.ts';
import type { PublishStep } from '../event.ts';
import type { CommitReport, EditReport, FileReport, IngestReport } from '../report.ts';
import { commitRendering, noCommitReasons } from './commit-rendering.ts';
import { isSameTree, readProjectFiles, type FileTree } from './project-files.ts';
import { forgetBases, recordBases, recoverBases } from './recorded-bases.ts';
import { applyWrites, finalTexts, type FileWrite, type Rendering } from './rendering.ts';

interface Publication {
  readonly dir: string;
  readonly runId: string;
  readonly message: string;
  /**
   * The folders and files that this run owns: `semantic-layer/<connection>`… Nothing else is read
   * or written.
   */
  readonly folders: readonly string[];
  /** As in `commitRendering`. */
  readonly git: 'commit' | 'write' | undefined;
  /** The branch to commit on, instead of HEAD. */
  readonly branch?: string | undefined;
  /** The files on disk as they were read last. */
  readonly files: FileTree;
  /** What to change in a tree. Pure. */
  readonly render: (tree: FileTree) => Rendering;
  readonly onStep: (step: PublishStep, path?: string) => void;
}

export interface Published
  extends EditReport, Pick<IngestReport, 'setAside' | 'commit' | 'files' | 'conflicts'> {
  /** All files afterwards. */
  readonly filesAfter: FileTree;
  /** True if all of them are in the commit of HEAD, and nothing is left to do. */
  readonly isSettled: boolean;
}

const maximumAttempts = 8;

/**
 * Brings the working tree and then git up to date. The caller holds the project's lock.
 *
 * The working tree, with whatever a person changed in it, and HEAD are rendered separately. So the
 * commit has ktx's changes on top of what is committed, and a person's uncommitted edit stays
 * uncommitted, in the merged file.
 *
 * If the run is killed at any point, nothing is lost and the next run ends where this one would
 * have:
 * - A file is replaced as a whole. Right before, it is compared with the text that was read; if it
 *   differs, publishing starts over.
 * - For each dataset a base that fits the old and the new artifact is first recorded in `.ktx`,
 *   then the artifact changes, then the claims file gets its final base. A run that follows a
 *   killed one begins with what is recorded. So a value of ktx's is never taken for a person's, and
 *   a value that was not written yet is never taken for one that a person removed.
 * - What was written and not committed differs from HEAD, so that the next run commits it when it
 *   renders HEAD.
 * - The commit is one compare-and-swap of HEAD. If the run ended before the person's index had its
 *   entries, the next run refreshes those that are still as they were before the commit.
 */
export async function publish(publication: Publication): Promise<Published> {
  const { dir, files: filesAtStart } = publication;
  const setAside = new Map<string, string>();
  for (let tries = 0; tries < maximumAttempts; tries += 1) {
    if (tries > 0) await recoverBases(dir);
    const before = tries === 0 ? filesAtStart : await readProjectFiles(dir, publication.folders);
    const attempt = await startAttempt(publication, before);
    for (const [path, copy] of await setAsideTexts(attempt)) setAside.set(path, copy);
    const isWritten = await writeWorkingTree(attempt);
    const commit = isWritten ? await commitRendering({ ...attempt, filesAtStart }) : undefined;
    if (commit === undefined) continue;
    const { writes, keptEdits, stale, leftAlone, conflicts } = attempt.rendering;
    return {
      filesAfter: applyWrites(before, writes),
      isSettled: isSettled(attempt, commit),
      keptEdits,
      stale,
      leftAlone,
      conflicts,
      setAside: [...setAside].map(([path, copy]) => ({ path, copy })),
      commit,
      files: reportFiles(filesAtStart, finalTexts(writes)),
    };
  }
  throw new UserError(
    'publish_raced',
    'The files or the branch kept changing while ktx published.',
    {
      hint: 'Run `ktx ingest` again when nothing else works in this folder.',
      retryable: true,
    },
  );
}

/** True if no file had uncommitted changes, and all new ones are committed on HEAD. */
function isSettled({ target, before, committed }: PublishAttempt, commit: CommitReport): boolean {
  const isMade = commit.id !== undefined && commit.warning === undefined;
  const isDone = isMade || commit.none === noCommitReasons.unchanged;
  return isDone && target.ref === 'HEAD' && isSameTree(before, committed);
}

type PublishAttempt = Awaited<ReturnType<typeof startAttempt>>;

async function startAttempt(publication: Publication, before: FileTree) {
  const { dir, folders, render, branch } = publication;
  const repository = await openRepository(dir);
  await refreshIndex(repository, dir);
  const target = await commitTarget(repository, branch);
  const { base } = target;
  const committed: FileTree =
    base === undefined
      ? new Map()
      : await readFilesAtCommit(repository, { commit: base.commit, folders, known: before });
  return { ...publication, repository, target, committed, before, rendering: render(before) };
}

/**
 * Copies generated files with lines of a person's that publishing would lose. Returns the path of
 * each copy by path.
 */
async function setAsideTexts({
  dir,
  runId,
  before,
  committed,
  rendering,
}: PublishAttempt): Promise<Map<string, string>> {
  const copies = new Map<string, string>();
  for (const { step, path, text = '', artifact } of rendering.writes) {
    const current = before.get(path) ?? '';
    const isMerged = path === artifact || step === 'base_recorded';
    const others = [text, committed.get(path) ?? ''];
    if (isMerged || !hasForeignLines(current, others)) continue;
    if (path.startsWith('claims/') && !hasForeignClaims(current, others)) continue;
    const copy = `.ktx/kept/${runId}/${path}`;
    await writeAtomically(join(dir, copy), current, { within: dir });
    copies.set(path, copy);
  }
  return copies;
}

/** What a claims file says of the dataset's file and of the catalog. */
const derivedLine = /^\["|^\{"(?:base|field|item|left|table)":|"extractor":"edit@1"/;

/**
 * True if a generated text has lines that none of the others has and that ktx cannot derive from a
 * dataset's file.
 */
function hasForeignLines(text: string, others: readonly string[]): boolean {
  if (others.includes(text)) return false;
  const known = new Set(others.flatMap((otherText) => otherText.split('\n')));
  return text.split('\n').some((line) => !known.has(line) && !derivedLine.test(line));
}

/**
 * True if one of the claims in the text is in none of the others, however its line is written and
 * however much of the item it quotes.
 */
function hasForeignClaims(text: string, others: readonly string[]): boolean {
  const known = new Set(others.flatMap(claimsOf));
  return claimsOf(text).some((line) => !known.has(line) && !derivedLine.test(line));
}

function claimsOf(text: string): readonly string[] {
  const { claims, damaged } = parseClaims('', text);
  return [
    ...claims.flatMap(({ evidence, ...claim }) =>
      evidence.map(({ quote: _quote, ...item }) => canonicalJson({ ...claim, evidence: item })),
    ),
    ...damaged.map((line) => line.text),
  ];
}

/**
 * False if a file changed in the meantime. What was written until then stays, and the next attempt
 * goes on from there.
 */
async function writeWorkingTree(attempt: PublishAttempt): Promise<boolean> {
  const { dir, onStep, before, rendering } = attempt;
  const { writes } = rendering;
  const known = new Map<string, string | undefined>(before);
  const firstBase = writes.findIndex(isBase);
  const others = firstBase === -1 ? writes : writes.slice(0, firstBase);
  if (!(await writeFiles(attempt, others, known))) return false;
  for (const path of await recordBases(dir, rendering, before)) onStep('base_recorded', path);
  const artifacts = writes.slice(others.length).filter((write) => !isBase(write));
  if (!(await writeFiles(attempt, artifacts, known))) return false;
  forgetBases(dir);
  return true;
}

function isBase({ step }: FileWrite): boolean {
  return step === 'base_recorded';
}

/** `known` are the texts on disk; they change with what is written. */
async function writeFiles(
  { dir, onStep }: PublishAttempt,
  writes: readonly FileWrite[],
  known: Map<string, string | undefined>,
): Promise<boolean> {
  const changes = changesOf(writes, known);
  for (let from = 0; from < changes.length; from += stagedTogether) {
    const together = changes.slice(from, from + stagedTogether);
    const texts = together.map(({ path, text }) => ({ path: join(dir, path), text }));
    using staged = await stageTexts(texts, dir);
    for (const [index, { step, path, text }] of together.entries()) {
      const file = join(dir, path);
      const isUnchanged = () => readTextSync(file, dir) === known.get(path);
      const isDone = text === undefined ? isUnchanged() : await staged.replace(index, isUnchanged);
      if (!isDone) return false;
      if (text === undefined) await removeFile(file, dir);
      // Signals and timers get their turn between two files.
      await setImmediate();
      known.set(path, text);
      onStep(text === undefined ? 'file_removed' : step, path);
    }
  }
  return true;
}

/** The writes that change something, in their order. */
function changesOf(
  writes: readonly FileWrite[],
  before: ReadonlyMap<string, string | undefined>,
): readonly FileWrite[] {
  const current = new Map(before);
  return writes.filter(({ path, text }) => {
    const isChange = text !== current.get(path);
    current.set(path, text);
    return isChange;
  });
}

/** How many texts wait beside their files at most. */
const stagedTogether = 64;

function reportFiles(before: FileTree, after: ReadonlyMap<string, string | undefined>): FileReport {
  const paths = [...after.keys()].sort().filter((path) => before.get(path) !== after.get(path));
  return {
    added: paths.filter((path) => !before.has(path)),
    changed: paths.filter((path) => before.has(path) && after.get(path) !== undefined),
    removed: paths.filter((path) => after.get(path) === undefined),
  };
}
