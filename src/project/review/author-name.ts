import { userInfo } from 'node:os';
import { findRepository, gitOutput } from '../../store/git.ts';
import type { Project } from '../open/open.ts';

/** Who decides: the caller of a server, else the person's name in git, else the login name. */
export async function authorName({
  dir,
  person,
}: Pick<Project, 'dir' | 'person'>): Promise<string> {
  if (person !== undefined) return person;
  const repository = await findRepository(dir);
  const name =
    repository && (await gitOutput(repository.root, ['config', 'user.name'], { allow: [1] }));
  return name === undefined || name === '' ? userInfo().username : name;
}
