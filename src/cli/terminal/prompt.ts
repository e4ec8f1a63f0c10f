import { UserError } from '../../lib/error.ts';
import type { CommandContext } from '../command.ts';
import { withHint } from './failure.ts';

/** Asks a person, with no line of progress below the question; one who leaves the prompt ends the command. */
export async function answer(
  { progress }: Pick<CommandContext, 'progress'>,
  ask: (prompts: typeof import('@clack/prompts')) => Promise<string | symbol>,
): Promise<string> {
  progress.clear();
  const said = await ask(await import('@clack/prompts'));
  if (typeof said !== 'symbol') return said;
  throw new UserError('interrupted', 'Nothing was written.', {
    hint: 'the same command asks again',
    exitCode: 130,
  });
}

/** A question of which the flag is the answer where nobody is there to ask; one who leaves it is told so. */
export async function askInPlaceOf(
  flag: string,
  context: Pick<CommandContext, 'progress'>,
  ask: (prompts: typeof import('@clack/prompts')) => Promise<string | symbol>,
): Promise<string> {
  try {
    return await answer(context, ask);
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'interrupted')) throw error;
    throw withHint(error, `the same command asks again; ${flag} answers without being asked`);
  }
}

/** Tries until it works: where a person answers, a failure is told and the questions come again; they leave with Ctrl-C. */
export async function askingAgain<T>(
  context: CommandContext,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof UserError) || error.code === 'interrupted' || context.signal.aborted)
        throw error;
      context.say(
        [error.message, ...(error.hint === undefined ? [] : [`  ${error.hint}`])].join('\n'),
      );
    }
  }
}
