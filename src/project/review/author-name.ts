import { userInfo } from 'node:os';
import { findRepository, gitOutput } from '../../store/git.ts';

/** The person's name in git, else the login name. */
export async function authorName(dir: string): Promise<string> {
  const repository = await findRepository(dir);
  const name =
    repository && (await gitOutput(repository.root, ['config', 'user.name'], { allow: [1] }));
  return name === undefined || name === '' ? userInfo().username : name;
}
