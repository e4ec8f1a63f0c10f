import type { Project } from '../../../../project/open/open.ts';
import type { CommandContext } from '../../../command.ts';

/** The project; an error if a caller of a server would decide about what they may not see. */
export async function openForDecision(
  context: CommandContext,
  { named, visible }: { readonly named: readonly string[]; readonly visible?: true | undefined },
): Promise<Project> {
  const project = await context.project();
  if (visible !== true) return project;
  const { requireVisible } = await import('../../../../project/visible/review-visible.ts');
  await requireVisible(project, named);
  return project;
}
