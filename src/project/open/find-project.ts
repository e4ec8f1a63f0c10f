import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UserError } from '../../lib/error.ts';

export const configName = 'ktx.yaml';

/**
 * The project's folder: `--project-dir`, else KTX_PROJECT_DIR, else the nearest `ktx.yaml` upward.
 */
export function findProject(
  cwd: string,
  projectDir: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const named = projectDir ?? (env['KTX_PROJECT_DIR'] || undefined);
  const start = resolve(cwd, named ?? '.');
  for (let dir = start; ; dir = dirname(dir)) {
    if (existsSync(join(dir, configName))) return dir;
    if (named !== undefined)
      throw projectNotFound(
        `in ${dir} (${projectDir === undefined ? 'KTX_PROJECT_DIR' : '--project-dir'})`,
      );
    if (dirname(dir) === dir) throw projectNotFound(`in ${start} or above`);
  }
}

export function projectNotFound(where: string): UserError {
  return new UserError(
    'project_not_found',
    `There is no ktx project here: no ${configName} ${where}`,
    {
      hint: 'ktx setup creates one; ktx demo shows an example',
      exitCode: 2,
    },
  );
}
