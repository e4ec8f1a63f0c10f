import { z } from 'zod';
import { proposeCorrection } from '../project/learn/propose-correction.ts';
import { readNoteStatus, remember } from '../project/learn/remember.ts';
import { carriesNone, type ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  text: z.string().optional(),
  corrects: z.string().optional(),
  status_of: z.string().optional().describe('Note id'),
});

export const rememberNote: ToolDefinition<typeof inputSchema> = {
  name: 'remember',
  description: 'Saves what users say about the data: terms, rules, corrections. No guesses.',
  effect: 'write',
  inputSchema,
  itemsName: 'text',
  isShort: true,
  async run({ text = '', corrects, status_of: id }, { project, signal, loops }) {
    const options = { signal, tools: loops };
    const note =
      id !== undefined
        ? await readNoteStatus(project, id)
        : corrects === undefined
          ? await remember(project, text, options)
          : await proposeCorrection(project, { corrects, words: text }, options);
    return {
      summary:
        note.status === 'proposed'
          ? `Note ${note.id}: proposed. It counts once a person accepts it: ktx review accept ${note.id}`
          : `Note ${note.id}: ${note.status}.`,
      trust: { status: 'ad_hoc' },
      items: [JSON.stringify(note)],
      values: carriesNone,
    };
  },
};
