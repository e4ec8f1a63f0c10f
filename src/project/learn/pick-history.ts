import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { noValues } from '../../llm/egress/sent-values.ts';
import type { DeclaringRuntime } from '../../llm/port/runtime.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { Project } from '../open/open.ts';
import type { ShownHistory } from './history.ts';

const pickSchema = z.object({
  users: z.array(z.object({ name: z.string(), why: z.string() })),
  statements: z.array(z.object({ id: z.string(), why: z.string() })),
});
/** What a model would leave out of a history. */
export type HistoryPick = z.infer<typeof pickSchema>;

/** How many logins and statements a model sees. */
const mostShown = 200;
/** In characters. */
const longestTemplate = 600;

/**
 * Asks the configured model which logins and statements to leave out. It sees names of logins and
 * statements without literals. What it names and is not in the history is dropped. Changes nothing.
 */
export async function pickFromHistory(
  project: Project,
  { users, statements }: Pick<ShownHistory, 'users' | 'statements'>,
  signal: AbortSignal,
): Promise<HistoryPick> {
  const runtime = await project.llm();
  if (runtime === undefined)
    throw new UserError('llm_not_configured', 'No language model is configured to ask.', {
      hint: 'ktx setup --llm-backend <name>; or write history.exclude_users into ktx.yaml yourself.',
      exitCode: 2,
    });
  const input = {
    users: users
      .filter(({ leftOut }) => leftOut === undefined)
      .slice(0, mostShown)
      .map(({ name, runs }) => ({ name, runs })),
    statements: statements.slice(0, mostShown).map(({ id, runs, template }) => ({
      id,
      runs,
      template: template.slice(0, longestTemplate),
    })),
  };
  const declaring: DeclaringRuntime = runtime;
  const pick = await declaring.generateObject({
    role: 'triage',
    stage: 'history',
    values: noValues,
    system: readPrompt('pick-history'),
    prompt: `The history:\n${untrustedBlock('warehouse', JSON.stringify(input, null, 1))}`,
    schema: pickSchema,
    signal,
  });
  const known = {
    users: new Set(input.users.map(({ name }) => name)),
    ids: new Set(input.statements.map(({ id }) => id)),
  };
  return {
    users: pick.users.filter(({ name }) => known.users.has(name)),
    statements: pick.statements.filter(({ id }) => known.ids.has(id)),
  };
}
