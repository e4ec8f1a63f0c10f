import { UserError } from '../lib/error.ts';

/** Asks a person; one who leaves the prompt ends the command. */
export async function answer(ask: (prompts: typeof import('@clack/prompts')) => Promise<string | symbol>): Promise<string> {
  const said = await ask(await import('@clack/prompts'));
  if (typeof said !== 'symbol') return said;
  throw new UserError('interrupted', 'Nothing was written.', { exitCode: 130 });
}
