import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readSettings, type Repository } from '../git.ts';

/** What a commit of ktx would go past: it runs no hook and signs nothing. */
export type CommitDemand = 'signature' | 'hook';

const commitHooks = ['pre-commit', 'prepare-commit-msg', 'commit-msg'];

/** What the repository, or the person's git, asks of every commit; undefined if nothing. */
export async function demandOnCommits(repository: Repository): Promise<CommitDemand | undefined> {
  const settings = await ownSettings(repository);
  if (isTrue(settings.get('commit.gpgsign'))) return 'signature';
  const folder = settings.get('core.hookspath') ?? join(repository.commonDir, 'hooks');
  return commitHooks.some((name) =>
    isExecutable(join(resolve(repository.root, expandHome(folder)), name)),
  )
    ? 'hook'
    : undefined;
}

/** The folder of the person, as git reads `~/hooks`. */
function expandHome(folder: string): string {
  return folder.replace(/^~(?=\/|$)/, homedir());
}

/** The last value of each key, without the settings that ktx gives to every call. */
async function ownSettings(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const settings = await readSettings(repository);
  return new Map(
    settings
      .filter(({ scope }) => scope !== 'command')
      .map(({ key, value }) => [key.toLowerCase(), value]),
  );
}

/** A key without a value counts as true, as in git. */
function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(|true|yes|on|1)$/i.test(value);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
