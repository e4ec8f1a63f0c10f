import type { Project } from '../../../../project/open/open.ts';
import type { CommandContext } from '../../../command.ts';

interface OpenedDecision {
  readonly named: readonly string[];
  /** What is to hold of the one that is named. */
  readonly definition?: string;
  readonly visible?: true | undefined;
  readonly commit?: true | undefined;
}

/**
 * The project; decisions about it are requests or commits as `asRequests` says. An error if a
 * caller of a server would decide about what they may not see.
 */
export async function openForDecision(
  context: CommandContext,
  { named, definition, visible, commit }: OpenedDecision,
): Promise<Project> {
  const project = asRequests(await context.project(), commit);
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

/**
 * The project, in which decisions are requests where `serve.changes` says so. With `commit` they
 * are commits in its folder, except for a caller of a server.
 */
export function asRequests(project: Project, commit?: true): Project {
  const isAsked = commit !== true && project.config.serve.changes === 'pull_request';
  return { ...project, proposes: project.proposes === true || isAsked };
}
