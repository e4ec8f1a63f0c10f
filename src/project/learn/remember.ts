import { join } from 'node:path';
import type { LoopTools } from '../../ingest/loop-tools.ts';
import { UserError } from '../../lib/error.ts';
import { noteId, storedNotes, storeNote } from '../../sources/notes/inbox.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { ingestProject } from './ingest.ts';
import { notesName } from '../open/config.ts';
import type { Project } from '../open/open.ts';

const longest = 100_000;

/**
 * `stored`: on this disk, in git with the next ingest. `pending`: in the project, a model has yet to read it. `read`: a model
 * has. `unknown`: no such note.
 */
export interface NoteStatus {
  readonly id: string;
  readonly status: 'stored' | 'pending' | 'read' | 'unknown';
  readonly path?: string;
  /** Why it did not get further, though it is safe. */
  readonly warning?: string;
}

interface Remembering {
  readonly signal: AbortSignal;
  /** With them a model that is configured reads the note at once. */
  readonly tools: LoopTools;
}

/** Keeps a note: on the disk first, then in the project. Handed in twice it is one note. */
export async function remember(
  project: Project,
  text: string,
  { signal, tools }: Remembering,
): Promise<NoteStatus> {
  const said = text.trim();
  if (said === '' || said.length > longest || !said.isWellFormed()) {
    const hint = `a note is text, at most ${longest} characters`;
    throw new UserError(
      'note_unusable',
      said === '' ? 'There is nothing to remember.' : 'This is no text to remember.',
      {
        hint,
        exitCode: 2,
      },
    );
  }
  const id = noteId(said);
  const known = await noteStatus(project, id);
  const isInProject = known.status === 'pending' || known.status === 'read';
  const canRead = project.config.llm.provider.backend !== 'none';
  if (isInProject && (known.status === 'read' || !canRead)) return known;
  // What is in the project may have been corrected there.
  if (!isInProject) await storeNote(project.dir, said);
  if (project.warehouses.length === 0)
    return { id, status: 'stored', warning: 'ktx.yaml has no warehouse yet' };
  try {
    const { commit, stages } = await ingestProject(project, {
      connections: [notesName],
      signal,
      tools,
    });
    const status = await noteStatus(project, id);
    const [failure] = stages.flatMap(({ failures }) => failures);
    if (failure !== undefined && status.status === 'pending')
      return { ...status, warning: failure.message };
    return commit.id === undefined && commit.none !== undefined
      ? { ...status, warning: `no commit: ${commit.none}` }
      : status;
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return { ...(await noteStatus(project, id)), warning: error.message };
  }
}

export async function noteStatus({ dir }: Project, id: string): Promise<NoteStatus> {
  const path = itemPath(notesName, `${id}.md`);
  const index = (await readText(join(dir, itemPath(notesName, 'index.jsonl')), dir)) ?? '';
  const line = index.split('\n').find((one) => one.includes(`"key":"${id}"`));
  if (line !== undefined)
    return { id, status: line.includes('+pending"') ? 'pending' : 'read', path };
  const isStored = (await storedNotes(dir)).some((note) => note.id === id);
  return { id, status: isStored ? 'stored' : 'unknown' };
}
