import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { parseProjectFile, projectFileName } from '../../sources/dbt/files/project-file.ts';
import { type ProfileConnection, readProfile } from '../../sources/dbt/profile/read-profile.ts';
import { readConfinedFile } from '../../store/confined-file.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { passwordVariable } from './keep-secret.ts';

/** The dbt project whose warehouse a person wants to connect. */
interface DbtProfileRequest {
  /** Of the project of ktx. */
  readonly dir: string;
  /** The folder with `dbt_project.yml`, absolute or relative to `dir`. */
  readonly folder: string;
  readonly profile: string | undefined;
  readonly target: string | undefined;
  /** Of the connection of the warehouse. */
  readonly connection: string;
  readonly env: HostEnvironment;
}

export interface FoundProfile extends ProfileConnection {
  /** The `profiles.yml` that was read. */
  readonly file: string;
  /** The folder of the dbt project as `ktx.yaml` has it. */
  readonly path: string;
}

/** In bytes. */
const largestProfile = 1_000_000;

/**
 * Reads the connection of a dbt project from the `profiles.yml` that dbt would use: in
 * DBT_PROFILES_DIR, in the folder of the project, or in `~/.dbt`.
 */
export async function readDbtProfile({
  dir,
  folder,
  profile,
  target,
  connection,
  env,
}: DbtProfileRequest): Promise<FoundProfile> {
  const projectFolder = resolve(dir, folder);
  const projectText = await readIn(projectFolder, projectFileName);
  if (projectText === undefined)
    throw profileError(`${projectFolder} has no ${projectFileName}.`, {
      hint: '--from-dbt takes the folder of a dbt project',
    });
  const homes = [env['DBT_PROFILES_DIR'], projectFolder, join(env['HOME'] ?? homedir(), '.dbt')];
  const places = homes.flatMap((place) => (place ? [resolve(projectFolder, place)] : []));
  for (const place of places) {
    const text = await readIn(place, 'profiles.yml');
    if (text === undefined) continue;
    const read = readProfile({
      text,
      profile: profile ?? parseProjectFile(projectText).profile,
      target,
      env,
      folder: relative(dir, projectFolder) || '.',
      passwordVariable: passwordVariable(connection),
    });
    const file = join(place, 'profiles.yml');
    if ('fault' in read) throw profileError(`${file}: ${read.fault}.`, read);
    return { ...read, file, path: relative(dir, projectFolder) || '.' };
  }
  throw profileError(`There is no profiles.yml in ${places.join(', ')}.`, {
    hint: 'set DBT_PROFILES_DIR, or give --driver and its flags',
  });
}

async function readIn(folder: string, name: string): Promise<string | undefined> {
  const limits = { within: folder, maxBytes: largestProfile };
  const found = await readConfinedFile(join(folder, name), limits);
  if (found.kind === 'refused')
    throw profileError(`${join(folder, name)} cannot be read: ${found.reason}.`, {
      hint: 'put a plain file in its place',
    });
  return found.kind === 'missing' ? undefined : found.bytes.toString('utf8');
}

function profileError(message: string, { hint }: { readonly hint: string }): UserError {
  return new UserError('dbt_profile', message, { hint, exitCode: 2 });
}
