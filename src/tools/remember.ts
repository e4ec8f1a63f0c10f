import { z } from 'zod';
import { readNoteStatus, remember } from '../project/learn/remember.ts';
import { carriesNone, type ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  text: z.string().optional(),
  status_of: z.string().optional().describe('Id of a note: returns its status.'),
});

export const rememberNote: ToolDefinition<typeof inputSchema> = {
  name: 'remember',
  description: 'Saves what the user says about the data: terms, rules, corrections. No guesses.',
  effect: 'write',
  inputSchema,
  itemsName: 'text',
  isShort: true,
  async run({ text = '', status_of: id }, { project, signal, loops }) {
    const note =
      id === undefined
        ? await remember(project, text, { signal, tools: loops })
        : await readNoteStatus(project, id);
    return {
      summary: `Note ${note.id}: ${note.status}.`,
      trust: { status: 'ad_hoc' },
      items: [JSON.stringify(note)],
      values: carriesNone,
    };
  },
};
