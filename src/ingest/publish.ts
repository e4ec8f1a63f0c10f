import { join } from 'node:path';
import { UserError } from '../lib/error.ts';
import { commitFiles, finishRefresh, refreshIndex } from '../store/commit.ts';
import { readText, removeFile, writeAtomically } from '../store/files.ts';
import { filesAt, headCommit, ignoredPaths, openRepository, operationUnderWay, type Repository } from '../store/git.ts';
import type { CommitReport, FileReport, PublishStep, Quarantined } from './event.ts';
import { readProjectFiles, sameView, type FileView } from './project-files.ts';

/** A file as it shall be; `text` undefined removes it. */
export interface FileTarget {
  readonly path: string;
  readonly text: string | undefined;
}

/** An artifact and the claims behind it. They are written in an order that a kill cannot spoil; see `publish`. */
export interface DatasetTarget {
  readonly artifact: FileTarget;
  readonly claims: FileTarget;
  /** The claims as they stand, with a merge base that knows the artifact before and after. Absent where the artifact stays. */
  readonly interim?: string | undefined;
}

/** All that ktx wants to change, given the files of one place. */
export interface Rendering {
  /** Generated files without a part of a person's, in the order in which they are written. */
  readonly generated: readonly FileTarget[];
  readonly datasets: readonly DatasetTarget[];
  /** Files that stay as they are, on disk and in the commit, although there is news for them; with their claims. */
  readonly leftAlone: readonly { readonly path: string; readonly claims: string; readonly reason: string }[];
  /** What people changed and ktx keeps. */
  readonly keptEdits: readonly { readonly path: string; readonly at: string }[];
  /** People's leftovers of what is gone from the warehouse. */
  readonly stale: readonly { readonly path: string; readonly at: string }[];
  readonly quarantined: readonly Quarantined[];
}

export interface Publication {
  readonly dir: string;
  readonly runId: string;
  readonly message: string;
  /** Folders (or files) that this run owns: `semantic-layer/<connection>`… Nothing else is read or written. */
  readonly folders: readonly string[];
  /** Pure: the files of one place in, the same place as it shall be out. */
  readonly render: (view: FileView) => Rendering;
  readonly onStep: (step: PublishStep, path?: string) => void;
}

export interface Published {
  readonly files: FileReport;
  readonly commit: CommitReport;
  /** Uncommitted texts of generated files that were replaced: path and where the copy is. */
  readonly setAside: readonly { readonly path: string; readonly copy: string }[];
  /** Of the working tree. */
  readonly rendering: Rendering;
}

/**
 * Brings the working tree and then git up to date. The caller holds the project's lock.
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
 * - The commit is one compare-and-swap of HEAD. Entries of the person's index that still are as before the last commit of
 *   ktx are refreshed at the next start.
 */
export async function publish(publication: Publication): Promise<Published> {
  let start: FileView | undefined;
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const repository = await openRepository(publication.dir);
    await finishRefresh(repository, publication.folders);
    const places = await readPlaces(publication, repository);
    start ??= places.before;
    const written = await writeWorkingTree(publication, places);
    const commit = written && (await commitRendering(publication, { ...places, repository, rendering: written.rendering }));
    if (commit)
      return {
        files: fileReport(start, written.rendering),
        commit,
        setAside: written.setAside,
        rendering: written.rendering,
      };
  }
  throw new UserError('publish_raced', 'The files or the branch kept changing while ktx published.', {
    hint: 'Run `ktx ingest` again when nothing else works in this folder.',
    retryable: true,
  });
}

interface Places {
  readonly parent: string | undefined;
  /** Files at `parent`. */
  readonly committed: FileView;
  /** Files on disk. */
  readonly before: FileView;
}

async function readPlaces({ dir, folders }: Publication, repository: Repository): Promise<Places> {
  const parent = await headCommit(repository);
  const committed = parent === undefined ? new Map<string, string>() : await filesAt(repository, parent, folders);
  return { parent, committed, before: await readProjectFiles(dir, folders) };
}

/** Undefined where a file changed under ktx's hands, or HEAD moved: what was done so far stands, the next try goes on. */
async function writeWorkingTree(publication: Publication, { committed, before }: Places) {
  const rendering = publication.render(before);
  const setAside: { path: string; copy: string }[] = [];
  const write = fileWriter(publication, before);
  for (const target of rendering.generated) {
    const uncommitted = before.get(target.path);
    if (uncommitted !== undefined && uncommitted !== committed.get(target.path) && target.text?.startsWith(uncommitted) !== true) {
      const copy = `.ktx/kept/${publication.runId}/${target.path}`;
      await writeAtomically(join(publication.dir, copy), uncommitted, { within: publication.dir });
      setAside.push({ path: target.path, copy });
    }
    if (!(await write(target, 'file_written'))) return undefined;
  }
  for (const { artifact, claims, interim } of rendering.datasets) {
    const isNews = before.get(artifact.path) !== artifact.text;
    if (isNews && interim !== undefined && !(await write({ path: claims.path, text: interim }, 'base_recorded'))) return undefined;
    if (!(await write(artifact, 'file_written'))) return undefined;
    if (!(await write(claims, 'claims_written'))) return undefined;
  }
  return { rendering, setAside };
}

/** Writes what differs from what stands; false where it no longer is what was read. */
function fileWriter({ dir, onStep }: Publication, before: FileView) {
  const known = new Map(before);
  return async ({ path, text }: FileTarget, step: PublishStep): Promise<boolean> => {
    if (text === known.get(path)) return true;
    if ((await readText(join(dir, path), dir)) !== known.get(path)) return false;
    if (text === undefined) {
      await removeFile(join(dir, path), dir);
      known.delete(path);
    } else {
      await writeAtomically(join(dir, path), text, { within: dir });
      known.set(path, text);
    }
    onStep(text === undefined ? 'file_removed' : step, path);
    return true;
  };
}

async function commitRendering(
  { dir, runId, message, folders, render, onStep }: Publication,
  { parent, committed, before, repository, rendering }: Places & { repository: Repository; rendering: Rendering },
): Promise<CommitReport | undefined> {
  const operation = operationUnderWay(repository);
  if (operation !== undefined) return { none: `${operation} under way` };
  const after = new Map(targetsOf(rendering).map(({ path, text }) => [path, text]));
  const ignored = await ignoredPaths(
    repository,
    [...after.keys()].filter((path) => !committed.has(path)),
  );
  const head = new Map([...committed, ...[...before].filter(([path]) => ignored.has(path))]);
  const inGit = sameView(before, head) ? rendering : render(head);
  const left = new Set(rendering.leftAlone.flatMap(({ path, claims }) => [path, claims]));
  const changes = targetsOf(inGit)
    .filter(({ path, text }) => head.get(path) !== text && !ignored.has(path) && !left.has(path))
    .map((target) => ({ ...target, onDisk: after.has(target.path) && after.get(target.path) === target.text }));
  if (changes.length === 0) return { none: 'unchanged' };
  const outcome = await commitFiles(repository, dir, { parent, changes, message, runId });
  if (outcome.kind === 'raced') return undefined;
  if (outcome.kind === 'unchanged') return { none: 'unchanged' };
  onStep('commit_made');
  const refreshed = await refreshIndex(repository, parent, folders);
  if (!refreshed) return { id: outcome.commit, warning: 'another git process holds the index; the next ingest brings it up to date' };
  onStep('index_refreshed');
  return { id: outcome.commit };
}

export function targetsOf({ generated, datasets }: Rendering): FileTarget[] {
  return [...generated, ...datasets.flatMap(({ artifact, claims }) => [artifact, claims])];
}

function fileReport(before: FileView, rendering: Rendering): FileReport {
  const targets = targetsOf(rendering).filter(({ path, text }) => before.get(path) !== text);
  const paths = (wanted: (target: FileTarget) => boolean) =>
    targets
      .filter(wanted)
      .map(({ path }) => path)
      .sort();
  return {
    added: paths(({ path, text }) => text !== undefined && !before.has(path)),
    changed: paths(({ path, text }) => text !== undefined && before.has(path)),
    removed: paths(({ text }) => text === undefined),
  };
}
