import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inaccessible } from './files.ts';

export interface ProjectPaths {
  /** Absolute path of the folder that holds `ktx.yaml`. */
  readonly dir: string;
  readonly config: string;
  /** `.ktx`: local, never in git. */
  readonly state: string;
  readonly stateDb: string;
  readonly lockDb: string;
  readonly cache: string;
  readonly logs: string;
  readonly semanticLayer: string;
  readonly claims: string;
  readonly sources: string;
}

/** Where everything of a project is, as absolute paths. Creates nothing. */
export function projectPaths(dir: string): ProjectPaths {
  const state = join(dir, '.ktx');
  return {
    dir,
    config: join(dir, 'ktx.yaml'),
    state,
    stateDb: join(state, 'state.db'),
    lockDb: join(state, 'lock.db'),
    cache: join(state, 'cache'),
    logs: join(state, 'logs'),
    semanticLayer: join(dir, 'semantic-layer'),
    claims: join(dir, 'claims'),
    sources: join(dir, 'sources'),
  };
}

/** Makes `.ktx` with an ignore file of its own, so that nothing in it can reach git and no ignore file of a person is edited. */
export function ensureStateDirectory(dir: string): ProjectPaths {
  const paths = projectPaths(dir);
  try {
    mkdirSync(paths.state, { recursive: true });
    const ignoreFile = join(paths.state, '.gitignore');
    if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, '*\n');
  } catch (error) {
    throw inaccessible('written', paths.state, error);
  }
  return paths;
}
