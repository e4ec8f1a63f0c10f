import type { Project } from '../../../../project/open/open.ts';
import type { CommandContext } from '../../../command.ts';

interface OpenedDecision {
  readonly named: readonly string[];
  /** What is to hold of the one that is named. */
  readonly definition?: string;
  readonly visible?: true | undefined;
}

/** The project; an error if a caller of a server would decide about what they may not see. */
export async function openForDecision(
  context: CommandContext,
  { named, definition, visible }: OpenedDecision,
): Promise<Project> {
  const project = await context.project();
  if (visible !== true) return project;
  const { requireVisible } = await import('../../../../project/visible/review-visible.ts');
  await requireVisible(project, named);
  if (definition === undefined) return project;
  const { requireVisibleDefinition } =
    await import('../../../../project/visible/definition-visible.ts');
  for (const own of named)
    await requireVisibleDefinition(project, { named: own, text: definition });
  return project;
}
