import { scan, type ScanOptions, type ScanResult } from '../../scan/scan.ts';
import { openState } from '../../store/state.ts';
import type { Project } from '../open/open.ts';

type Asked = { readonly connection: string } & Pick<ScanOptions, 'ignoreDeclared' | 'budget'>;
type Run = Pick<ScanOptions, 'signal' | 'onProgress'>;

/** Scans one connection of the project; profiles are kept in `.ktx`, nothing else is written. */
export async function scanProject(
  project: Project,
  { connection, ...asked }: Asked,
  run: Run,
): Promise<ScanResult> {
  const { name, scope } = project.connection(connection);
  const warehouse = await project.warehouse(name, run.signal);
  const state = openState(project.dir);
  try {
    return await scan({
      warehouse,
      scope,
      state,
      config: project.config.scan,
      dir: project.dir,
      ...asked,
      ...run,
    });
  } finally {
    state.close();
  }
}
