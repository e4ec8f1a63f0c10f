import { UserError } from '../../lib/error.ts';
import type { CommandContext } from '../command.ts';
import { withHint } from './failure.ts';
import type { Screen } from './screen.ts';
import { wrapText } from './text-width.ts';

type Prompts = typeof import('@clack/prompts');
type AskPrompt = (prompts: Prompts) => Promise<string | symbol>;

/** Asks a person. Leaving the prompt (Ctrl-C, Escape) ends the command with `interrupted`. */
export async function promptUser(
  { progress }: Pick<CommandContext, 'progress'>,
  ask: AskPrompt,
): Promise<string> {
  progress.clear();
  const answer = await ask(await import('@clack/prompts'));
  if (typeof answer !== 'symbol') return answer;
  throw new UserError('interrupted', 'Nothing was written.', {
    hint: 'run the same command to be asked again',
    exitCode: 130,
  });
}

/** Asks for the value of a flag that is missing. If the person leaves, the hint names the flag. */
export async function promptForFlag(
  flag: string,
  context: Pick<CommandContext, 'progress'>,
  ask: AskPrompt,
): Promise<string> {
  try {
    return await promptUser(context, ask);
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'interrupted')) throw error;
    throw withHint(error, `run the same command to be asked again, or pass ${flag}`);
  }
}

/** The question of a text prompt, whose further lines clack leaves without the bar of its frame. */
export function wrapQuestion(message: string, { width }: Pick<Screen, 'width'>): string {
  return wrapText(message, width && width - bar.length).join(`\n${bar}`);
}

const bar = '│  ';

/** Validates an answer that must not be empty. */
export function requireAnswer(value?: string): string | undefined {
  return value ? undefined : 'enter a value';
}

/**
 * Repeats the attempt, with its prompts, until it succeeds or the person presses Ctrl-C. Prints
 * each failure.
 */
export async function retryPrompts<T>(
  context: CommandContext,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof UserError) || error.code === 'interrupted' || context.signal.aborted)
        throw error;
      const hint = error.hint === undefined ? [] : [`  ${error.hint}`];
      context.printNote([error.message, ...hint].join('\n'));
    }
  }
}
