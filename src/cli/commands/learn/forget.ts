import { formatCount } from '../../../lib/format-count.ts';
import type { KnownNote } from '../../../project/open/known-notes.ts';
import { defineCommand } from '../../command.ts';
import { escapeControls } from '../../terminal/text-width.ts';

export const forgetCommand = defineCommand({
  description:
    'Removes a note from the project, with every term and rule that only this note supports, and commits that. Without an id, it lists ' +
    'the notes. git keeps the text.',
  examples: [
    ['ktx forget', 'lists all notes with their ids'],
    ['ktx forget 1f0c63a1', 'the note is gone, and what only it said'],
  ],
  define: (command) => command.argument('[note]', 'id of the note, or the beginning of it'),
  async run({ args: [id] }, context) {
    const project = await context.project();
    const { forgetNote } = await import('../../../project/learn/notes.ts');
    const { listNotes } = await import('../../../project/open/known-notes.ts');
    if (id === undefined) {
      const notes = await listNotes(project);
      return {
        data: { notes },
        text: notes.length === 0 ? 'There are no notes.' : notes.map(noteLine).join('\n'),
        notes: [formatCount(notes.length, 'note')],
        next: notes.slice(0, 1).map((note) => [`ktx forget ${note.id}`, 'removes a note'] as const),
      };
    }
    context.progress.update('removing the note');
    const note = await forgetNote(project, id, context);
    const { uncommitted } = note;
    const notes = uncommitted === undefined ? [] : [`no commit: ${uncommitted}`];
    return { data: { forgotten: note }, text: `${note.id}: forgotten`, notes };
  },
});

const longestLine = 90;

function noteLine({ id, text, path }: KnownNote): string {
  const [line = ''] = text.trim().split('\n');
  const shown = line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
  return `${id}  ${escapeControls(shown)}${path === undefined ? '  (not in the project yet)' : ''}`;
}
