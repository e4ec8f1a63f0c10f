import { z } from 'zod';
import { carriesNone, type ToolAnswer, type ToolContext, type ToolDefinition } from './tool.ts';

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
  async run({ text = '', corrects, status_of: id }, context) {
    const { project, signal, loops } = context;
    if (id === undefined && project.proposes === true)
      return proposeNote({ text, corrects }, context);
    const { readNoteStatus, remember } = await import('../project/learn/remember.ts');
    const { proposeCorrection } = await import('../project/learn/propose-correction.ts');
    const options = { signal, tools: await loops() };
    const note =
      id !== undefined
        ? await readNoteStatus(project, id)
        : corrects === undefined
          ? await remember(project, text, options)
          : await proposeCorrection(project, { corrects, words: text }, options);
    return answerOf(
      note.status === 'proposed'
        ? `Note ${note.id}: proposed. It counts once a person accepts it: ktx review accept ${note.id}`
        : `Note ${note.id}: ${note.status}.`,
      note,
    );
  },
};

/** On a branch of its own, for people who review it. */
async function proposeNote(
  { text, corrects }: { readonly text: string; readonly corrects: string | undefined },
  { project, signal, loops }: ToolContext,
): Promise<ToolAnswer> {
  const [{ checkNote }, { proposeChange }, { changeDetails, summarizeChange }] = await Promise.all([
    import('../project/learn/remember.ts'),
    import('../project/propose/propose-change.ts'),
    import('./answers/describe-change.ts'),
  ]);
  checkNote(text.trim());
  const proposal = { kind: 'note' as const, text, ...(corrects !== undefined && { corrects }) };
  const { runId } = project;
  const change = await proposeChange(project, proposal, { signal, tools: await loops(), runId });
  return answerOf(summarizeChange(change), changeDetails(change));
}

function answerOf(summary: string, item: object): ToolAnswer {
  const items = [JSON.stringify(item)];
  return { summary, trust: { status: 'ad_hoc' }, items, values: carriesNone };
}
