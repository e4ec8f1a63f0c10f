import { scan, type ScanOptions, type ScanResult } from '../../scan/scan.ts';
import { openState } from '../../store/state.ts';
import type { Project } from '../open/open.ts';

type ScanRequest = { readonly connection: string } & Pick<
  ScanOptions,
  'ignoreDeclared' | 'budget' | 'signal' | 'onProgress'
>;

/** Scans one connection of the project. Profiles are kept in `.ktx`; nothing else is written. */
export async function scanProject(
  project: Project,
  { connection, ...options }: ScanRequest,
): Promise<ScanResult> {
  const { name, scope } = project.connection(connection);
  await project.trust.requireQueryLogs();
  const warehouse = await project.warehouse(name, options.signal);
  const state = openState(project.dir);
  try {
    const { dir, config } = project;
    return await scan({ warehouse, scope, state, config: config.scan, dir, ...options });
  } finally {
    state.close();
  }
}
