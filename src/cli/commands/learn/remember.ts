import { resolve } from 'node:path';
import { UserError } from '../../../lib/error.ts';
import type { NoteStatus } from '../../../project/learn/remember.ts';
import { defineCommand, type Outcome } from '../../command.ts';
import { usage } from '../../terminal/failure.ts';
import { readInput } from '../query/sql.ts';

export const remember = defineCommand({
  description:
    'Keeps what you tell it: a term, a rule, a correction. The note is safe on the disk at once, becomes an item of the ' +
    'project in git, and waits there for a model to read it. The same words twice are one note.',
  examples: [
    ['ktx remember "Net revenue is after refunds."', 'prints the id of the note'],
    ['ktx remember --file meeting.md', 'a whole file; - reads standard input'],
    ['ktx remember --status 1f0c63a1b2d4', 'how far it came'],
  ],
  define: (command) =>
    command
      .argument('[words...]', 'what to remember')
      .option('--file <path>', 'a file in place of words; - reads standard input')
      .option('--status <id>', 'only say how far a note came'),
  async run({ args: [words], options: { file, status } }, context) {
    const project = await context.project();
    const [{ noteStatus, remember: keep }, { loopTools }] = await Promise.all([
      import('../../../project/learn/remember.ts'),
      import('../../../tools/loop-tools.ts'),
    ]);
    if (status !== undefined) return told(await noteStatus(project, status));
    if (words.length > 0 && file !== undefined)
      throw usage('The note is given twice.', 'either words or --file');
    const isPiped =
      words.length === 0 && file === undefined && context.surroundings.stdin.isTTY !== true;
    const path = file === undefined || file === '-' ? '-' : resolve(context.surroundings.cwd, file);
    const text = file !== undefined || isPiped ? await readInput(path, context) : words.join(' ');
    context.progress.update('keeping the note');
    return told(await keep(project, text, { signal: context.signal, tools: loopTools(project) }));
  },
});

const meanings: Readonly<Record<Exclude<NoteStatus['status'], 'unknown'>, string>> = {
  stored: 'on this disk; the next ingest takes it into the project',
  pending: 'in the project; a model has yet to read it',
  read: 'in the project, and read',
};

function told(found: NoteStatus): Outcome {
  const { id, status, path, warning } = found;
  if (status === 'unknown') {
    const hint =
      'ktx remember prints the id of each note; those of the project are sources/notes/<id>.md';
    return {
      data: found,
      failure: new UserError('note_unknown', `There is no note ${id}.`, { hint }),
    };
  }
  const text = `${id}: ${meanings[status]}${path === undefined ? '' : ` (${path})`}`;
  return { data: found, text, notes: warning === undefined ? [] : [warning] };
}
