import { join } from 'node:path';
import type { Claim } from '../../context/claims/claim.ts';
import { parseClaims, renderClaims, uniteClaims } from '../../context/claims/claims-file.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { isDecisionEvidence } from '../../context/claims/model-decisions.ts';
import { UserError } from '../../lib/error.ts';
import { commitFiles, refreshIndex } from '../../store/commit.ts';
import { readText, removeFile, writeAtomically } from '../../store/files.ts';
import {
  filesAt,
  headCommit,
  ignoredPaths,
  openRepository,
  operationUnderWay,
} from '../../store/git.ts';
import type { PublishStep } from '../event.ts';
import type { CommitReport, EditReport, FileReport, IngestReport, Quarantined } from '../report.ts';
import { readProjectFiles, isSameTree, type FileTree } from './project-files.ts';

/** A file as it shall be once it is its turn; of a path that is written twice, the last is how it shall stay. */
export interface Write {
  readonly step: 'file_written' | 'base_recorded' | 'claims_written';
  readonly path: string;
  /** Undefined removes it. */
  readonly text: string | undefined;
  /** The dataset file that it is, or is about; absent for what is generated from a whole connection. */
  readonly artifact?: string;
}

/** All that ktx wants to change, given the files of one place. */
export interface Rendering extends EditReport {
  /** In an order that a kill cannot spoil; see `publish`. */
  readonly writes: readonly Write[];
  readonly quarantined: readonly Quarantined[];
  readonly conflicts: readonly Conflict[];
  /** All that stand, as they were said, with what is ruled about them. */
  readonly claims: readonly Claim[];
}

interface Publication {
  readonly dir: string;
  readonly runId: string;
  readonly message: string;
  /** Folders (or files) that this run owns: `semantic-layer/<connection>`… Nothing else is read or written. */
  readonly folders: readonly string[];
  /** The files on disk as they were read last. */
  readonly files: FileTree;
  /** Pure: the files of one place in, the same place as it shall be out. */
  readonly render: (view: FileTree) => Rendering;
  readonly onStep: (step: PublishStep, path?: string) => void;
}

/** Why there is no commit where none is due. */
export const noCommitReasons = {
  unchanged: 'unchanged',
  restored: 'the files are again as they are committed',
  ignored: 'git ignores what changed',
  beside: 'only in the working tree, beside your uncommitted edits',
} as const;

type Published = Pick<
  IngestReport,
  keyof EditReport | 'setAside' | 'commit' | 'files' | 'conflicts'
>;

/**
 * Brings the working tree and then git up to date; `standing` are the files as they are then. The caller holds the project's lock.
 *
 * Two places are rendered separately: the working tree with whatever a person changed in it, and HEAD. So the commit has
 * ktx's changes on top of what is committed, and a person's uncommitted edit stays uncommitted, in the merged file.
 *
 * Killed at any point, nothing is lost and the next run ends where an unkilled one would have:
 * - A file is replaced as a whole; the text that was read is compared once more before, and a difference starts over.
 * - Per dataset the claims get the interim base first, then the artifact changes, then the claims become final. Before the
 *   first step the base fits the old artifact, in between it fits both, after the last it fits the new one: at no moment
 *   can a value of ktx's own be taken for a person's, or a value that was not written yet for one that a person removed.
 * - What was written and not committed differs from HEAD, and HEAD's own rendering commits it in the next run.
 * - The commit is one compare-and-swap of HEAD. Where the run ended before the person's index had its entries, those that
 *   still are as before the commit are refreshed at the next start.
 */
export async function publish(
  publication: Publication,
): Promise<Published & { readonly standing: FileTree }> {
  const { dir, runId } = publication;
  const setAside = new Map<string, string>();
  let start: FileTree | undefined;
  for (let tries = 0; tries < 8; tries += 1) {
    const attempt = await begin(
      publication,
      tries === 0 ? publication.files : await readProjectFiles(dir, publication.folders),
    );
    const { before, rendering } = attempt;
    start ??= before;
    for (const { step, path, text = '', artifact } of rendering.writes) {
      const stands = before.get(path) ?? '';
      if (
        path === artifact ||
        step === 'base_recorded' ||
        !hasMore(stands, [text, attempt.committed.get(path) ?? ''])
      )
        continue;
      const copy = `.ktx/kept/${runId}/${path}`;
      await writeAtomically(join(dir, copy), stands, { within: dir });
      setAside.set(path, copy);
    }
    const commit = (await writeWorkingTree(attempt))
      ? await commitRendering({ ...attempt, start })
      : undefined;
    if (commit === undefined) continue;
    const { keptEdits, stale, leftAlone, conflicts } = rendering;
    const copies = [...setAside].map(([path, copy]) => ({ path, copy }));
    const after = new Map<string, string | undefined>([...before, ...finalTexts(rendering.writes)]);
    const standing = new Map(
      [...after].flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])),
    );
    return {
      standing,
      keptEdits,
      stale,
      leftAlone,
      conflicts,
      setAside: copies,
      commit,
      files: fileReport(start, finalTexts(rendering.writes)),
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

type Attempt = Awaited<ReturnType<typeof begin>>;

/** True where a generated text has lines that none of the others has and that do not follow from a dataset's file. */
function hasMore(text: string, others: readonly string[]): boolean {
  if (others.includes(text)) return false;
  const known = new Set(others.flatMap((other) => other.split('\n')));
  return text
    .split('\n')
    .some((line) => !known.has(line) && !/^\{"base":|"extractor":"edit@1"/.test(line));
}

async function begin(publication: Publication, before: FileTree) {
  const { dir, folders, render } = publication;
  const repository = await openRepository(dir);
  await refreshIndex(repository, dir);
  const parent = await headCommit(repository);
  const committed: FileTree =
    parent === undefined ? new Map() : await filesAt(repository, parent, folders);
  return { ...publication, repository, parent, committed, before, rendering: render(before) };
}

/** False where a file changed under ktx's hands: what was done so far stands, the next try goes on. */
async function writeWorkingTree({ dir, onStep, before, rendering }: Attempt): Promise<boolean> {
  const known = new Map<string, string | undefined>(before);
  for (const { step, path, text } of rendering.writes) {
    if (text === known.get(path)) continue;
    const file = join(dir, path);
    const isDue = async () => (await readText(file, dir)) === known.get(path);
    const isDone =
      text === undefined
        ? await isDue()
        : await writeAtomically(file, text, { within: dir, isDue });
    if (!isDone) return false;
    if (text === undefined) await removeFile(file, dir);
    known.set(path, text);
    onStep(text === undefined ? 'file_removed' : step, path);
  }
  return true;
}

/** Undefined where HEAD moved meanwhile. */
async function commitRendering(
  attempt: Attempt & { readonly start: FileTree },
): Promise<CommitReport | undefined> {
  const {
    dir,
    runId,
    message,
    render,
    onStep,
    repository,
    parent,
    committed,
    before,
    rendering,
    start,
  } = attempt;
  const operation = operationUnderWay(repository);
  if (operation !== undefined) return { none: `${operation} under way` };
  const targets = finalTexts(rendering.writes);
  const after = new Map<string, string | undefined>([...before, ...targets]);
  const fresh = [...after.keys()].filter((path) => !committed.has(path));
  const ignored = await ignoredPaths(repository, fresh);
  const head = new Map([...committed, ...[...before].filter(([path]) => ignored.has(path))]);
  const inGit = isSameTree(before, head) ? rendering : render(withRulings(head, before));
  const left = new Set(rendering.leftAlone.map(({ path }) => path));
  const changes = [...finalTexts(inGit.writes.filter(({ artifact = '' }) => !left.has(artifact)))]
    .filter(([path, text]) => head.get(path) !== text && !ignored.has(path))
    .map(([path, text]) => ({ path, text, onDisk: after.get(path) === text }));
  const written = [...targets].filter(([path, text]) => start.get(path) !== text);
  const pending = written.filter(([path, text]) => committed.get(path) !== text);
  const isIgnored = pending.every(([path]) => ignored.has(path));
  const reason = pending.length === 0 ? 'restored' : isIgnored ? 'ignored' : 'beside';
  const none = noCommitReasons[written.length === 0 ? 'unchanged' : reason];
  if (changes.length === 0) return { none };
  const outcome = await commitFiles(repository, dir, { parent, changes, message, runId });
  if (outcome.kind !== 'committed') return outcome.kind === 'raced' ? undefined : { none };
  onStep('commit_made');
  const id = outcome.commit;
  const isRefreshed = await refreshIndex(repository, dir);
  if (!isRefreshed)
    return {
      id,
      warning: 'another git process holds the index; the next ingest brings it up to date',
    };
  onStep('index_refreshed');
  return { id };
}

/** The files with the rulings that only those on disk have: a run that was killed paid for them, and no later one makes them anew. */
function withRulings(head: FileTree, onDisk: FileTree): FileTree {
  const ruled = [...onDisk].flatMap(([path, text]): [string, string][] => {
    if (!path.startsWith('claims/') || head.get(path) === text) return [];
    const { claims, ...file } = parseClaims(path, head.get(path) ?? '');
    const rulings = parseClaims(path, text).claims.filter(({ evidence }) =>
      evidence.some(isDecisionEvidence),
    );
    const united = renderClaims({ ...file, claims: uniteClaims([...claims, ...rulings]) });
    return rulings.length === 0 || united === undefined ? [] : [[path, united]];
  });
  return ruled.length === 0 ? head : new Map([...head, ...ruled]);
}

/** Every file as it shall be once all is written: path → text, undefined where there shall be none. */
export function finalTexts(writes: readonly Write[]): Map<string, string | undefined> {
  return new Map(writes.map(({ path, text }) => [path, text]));
}

function fileReport(before: FileTree, after: ReadonlyMap<string, string | undefined>): FileReport {
  const paths = [...after.keys()].sort().filter((path) => before.get(path) !== after.get(path));
  return {
    added: paths.filter((path) => !before.has(path)),
    changed: paths.filter((path) => before.has(path) && after.get(path) !== undefined),
    removed: paths.filter((path) => after.get(path) === undefined),
  };
}
