import { readFileStamp } from '../project/open/file-cache.ts';
import type { Project } from '../project/open/open.ts';

interface ProjectLease {
  readonly project: Project;
  release(): Promise<void>;
}

/** A project, as long as a command uses it. */
interface ProjectGeneration {
  readonly opening: Promise<Project>;
  readonly stamp: string | undefined;
  users: number;
  isRetired: boolean;
}

/**
 * One open project for all commands of a page, so that models and warehouses are opened once. It is
 * opened again when `ktx.yaml` has changed; what runs ends with the project that it began with.
 */
export function shareProject(dir: string, open: () => Promise<Project>) {
  let current: ProjectGeneration | undefined;
  const closeIfIdle = async (generation: ProjectGeneration): Promise<void> => {
    if (!generation.isRetired || generation.users > 0) return;
    await generation.opening.then(
      (project) => project.close(),
      () => undefined,
    );
  };
  const begin = (): ProjectGeneration => {
    const stamp = readFileStamp(dir, 'ktx.yaml')?.stamp;
    if (current !== undefined && current.stamp === stamp) return current;
    const last = current;
    current = { opening: open(), stamp, users: 0, isRetired: false };
    if (last !== undefined) {
      last.isRetired = true;
      void closeIfIdle(last);
    }
    return current;
  };
  return {
    async take(): Promise<ProjectLease> {
      const generation = begin();
      generation.users += 1;
      const release = async (): Promise<void> => {
        generation.users -= 1;
        await closeIfIdle(generation);
      };
      try {
        return { project: await generation.opening, release };
      } catch (error) {
        // The next call tries again.
        if (current === generation) current = undefined;
        await release();
        throw error;
      }
    },
    async close(): Promise<void> {
      if (current === undefined) return;
      current.isRetired = true;
      await closeIfIdle(current);
      current = undefined;
    },
  };
}
