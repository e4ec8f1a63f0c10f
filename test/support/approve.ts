import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/lib/error.ts';
import { openProject } from '../../src/project/open/open.ts';
import type { HostEnvironment } from '../../src/store/secrets.ts';

/**
 * Approves what a project of a test does on this machine, as `ktx trust --yes` does: in the folder
 * that XDG_CONFIG_HOME names, which is a temporary one in every test (vitest.config.ts). A folder
 * without a valid project is left alone.
 */
export async function approve(dir: string, env: HostEnvironment = process.env): Promise<void> {
  if (!existsSync(join(dir, 'ktx.yaml'))) return;
  const project = await openProject(dir, { env }).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    return undefined;
  });
  if (project === undefined) return;
  await project.trust.approve(await project.trust.report());
  await project.close();
}
