import { resolve } from 'node:path';
import { UserError } from '../../../lib/error.ts';
import type { NoteStatus } from '../../../project/learn/remember.ts';
import { defineCommand, type CommandResult } from '../../command.ts';
import { readInput } from '../../flags/read-input.ts';
import { usageError } from '../../terminal/failure.ts';

export const rememberCommand = defineCommand({
  description:
    'Adds a note to the project: a term, a rule, a correction. The note is saved at once; a model reads it, now ' +
    'or once one is configured. The next ingest commits all notes together. The same text twice is one note.',
  examples: [
    ['ktx remember "Net revenue is after refunds."', 'prints the id of the note'],
    ['ktx remember --file meeting.md', 'a whole file; - reads standard input'],
    ['ktx remember --status 1f0c63a1b2d4', 'shows whether the note was read'],
    [
      'ktx remember --corrects term:revenue "Revenue after refunds."',
      'these words hold in place of what sources say',
    ],
  ],
  define: (command) =>
    command
      .argument('[words...]', 'the note')
      .option('--file <path>', 'read the note from a file; - reads standard input')
      .option('--corrects <subject>', 'words that hold in place of what sources say about it')
      .option('--status <id>', 'show the status of a note'),
  async run({ args: [words], options: { file, status, corrects } }, context) {
    const project = await context.project();
    const [{ readNoteStatus, remember }, { loopTools }] = await Promise.all([
      import('../../../project/learn/remember.ts'),
      import('../../../tools/loop-tools.ts'),
    ]);
    if (status !== undefined) return statusResult(await readNoteStatus(project, status));
    if (words.length > 0 && file !== undefined)
      throw usageError('The note is given twice.', 'pass either words or --file');
    const { stdin, cwd } = context.host;
    const isPiped = words.length === 0 && file === undefined && stdin.isTTY !== true;
    const path = file === undefined || file === '-' ? '-' : resolve(cwd, file);
    const text = file !== undefined || isPiped ? await readInput(path, context) : words.join(' ');
    if (corrects !== undefined) {
      const [{ correctInWords }, { asRequests }] = await Promise.all([
        import('./review/decide.ts'),
        import('./review/open-for-decision.ts'),
      ]);
      return correctInWords(asRequests(project), { named: corrects, text }, context);
    }
    context.progress.update('saving the note');
    const tools = loopTools(project);
    return statusResult(await remember(project, text, { signal: context.signal, tools }));
  },
});

const statusTexts: Readonly<Record<Exclude<NoteStatus['status'], 'unknown'>, string>> = {
  stored: 'saved; the next ingest adds it to the project',
  pending: 'in the project; a model has not read it yet',
  read: 'in the project, and read by a model',
  proposed: 'a correction, which counts once a person accepts it: ktx review',
};

function statusResult(note: NoteStatus): CommandResult {
  const { id, status, path, warning } = note;
  if (status === 'unknown') {
    const hint =
      'ktx remember prints the id of each note; notes in the project are in sources/notes/';
    return {
      data: note,
      failure: new UserError('note_unknown', `There is no note ${id}.`, { hint }),
    };
  }
  const text = `${id}: ${statusTexts[status]}${path === undefined ? '' : ` (${path})`}`;
  return { data: note, text, notes: warning === undefined ? [] : [warning] };
}
