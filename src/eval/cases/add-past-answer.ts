import { readTranscript, transcriptIds } from '../../chat/transcript.ts';
import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import type { Project } from '../../project/open/open.ts';
import { authorName } from '../../project/review/author-name.ts';
import { addAnswerAsCase } from './add-answer-as-case.ts';

interface PastAnswer {
  /** An id, or `last`. */
  readonly conversation: string;
  /** From 1; undefined for the last answer. */
  readonly turn: number | undefined;
  /** The name of a question set. */
  readonly set: string;
  /** True if the person who asks for it has checked the answer. */
  readonly isRight: boolean;
}

/** Makes an answer of a conversation that was kept a case of a question set. */
export async function addPastAnswer(
  project: Project,
  { conversation, turn, set, isRight }: PastAnswer,
) {
  const id = conversation === 'last' ? await lastConversation(project.dir) : conversation;
  const { turns, agent } = await readTranscript(project.dir, id);
  const number = turn ?? turns.length;
  if (number < 1 || number > turns.length)
    throw new UserError('turn_unknown', `Conversation ${id} has no answer ${number}.`, {
      hint: `it has ${formatCount(turns.length, 'answer')}`,
      exitCode: 2,
    });
  const confirmedBy = isRight ? await authorName(project) : undefined;
  const [only, ...others] = project.warehouses;
  const connection = others.length === 0 ? only : turns[number - 1]?.evidence.at(-1)?.connection;
  const asked = { turns: turns.slice(0, number), agent, connection, confirmedBy };
  const added = await addAnswerAsCase(project.dir, set, asked);
  return { ...added, conversation: id, turn: number, confirmedBy };
}

async function lastConversation(projectDir: string): Promise<string> {
  const last = (await transcriptIds(projectDir)).at(-1);
  if (last !== undefined) return last;
  throw new UserError('chat_unknown', 'There are no conversations yet.', {
    hint: 'ask first: ktx chat',
    exitCode: 2,
  });
}
