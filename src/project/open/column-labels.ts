import { join } from 'node:path';
import { type ColumnLabels, readColumnLabels } from '../../context/catalog/column-labels.ts';
import { forgetValues } from '../../scan/profile/forget-values.ts';
import { readTextOrReason } from '../../store/text-or-reason.ts';
import { openState, type State } from '../../store/state.ts';
import { cacheByStamp } from './file-cache.ts';
import { listDatasetFiles } from './model-files.ts';
import type { Project } from './open.ts';

const cachedLabels = cacheByStamp<ColumnLabels>();

/** What people wrote about the columns of a connection in its dataset files. */
export async function loadColumnLabels(dir: string, connection: string): Promise<ColumnLabels> {
  const files = await listDatasetFiles(dir, connection);
  const stamps = JSON.stringify(files);
  return cachedLabels(`${dir} ${connection}`, [stamps], async () =>
    readColumnLabels(
      await Promise.all(
        files.map(
          async ({ path }) => [path, (await readTextOrReason(join(dir, path), dir)) ?? ''] as const,
        ),
      ),
    ),
  );
}

/** The labels under which each state was last cleaned by this process. */
const cleanedUnder = new Map<string, ColumnLabels>();

/** Opens the state. What it has of columns whose values people now keep back is deleted first. */
export async function openCleanState(project: Project): Promise<State> {
  const { dir, warehouses, config } = project;
  const state = openState(dir);
  try {
    for (const connection of warehouses) {
      const labels = await loadColumnLabels(dir, connection);
      const key = `${dir} ${connection}`;
      if (cleanedUnder.get(key) === labels) continue;
      forgetValues(state.db, { settings: config.scan, labels, connection });
      cleanedUnder.set(key, labels);
    }
    return state;
  } catch (error) {
    state.close();
    throw error;
  }
}
