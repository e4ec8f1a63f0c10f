import { scan, type ScanOptions, type ScanResult } from '../scan/scan.ts';
import { openState } from '../store/state.ts';
import { scopeOf } from './config.ts';
import type { Project } from './project.ts';

type Asked = { readonly connection: string } & Pick<ScanOptions, 'ignoreDeclared'>;

/** Scans one connection of the project; profiles are kept in `.ktx`, nothing else is written. */
export async function scanProject(project: Project, asked: Asked, run: Pick<ScanOptions, 'signal' | 'onProgress'>): Promise<ScanResult> {
  const { connection, ignoreDeclared } = asked;
  const config = project.config.connections[connection];
  const warehouse = await project.warehouse(connection, run.signal);
  const state = openState(project.dir);
  try {
    const scope = config === undefined ? {} : scopeOf(config);
    return await scan({ warehouse, scope, state, config: project.config.scan, ignoreDeclared, ...run });
  } finally {
    state.close();
  }
}
