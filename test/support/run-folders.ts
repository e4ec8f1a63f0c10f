import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly configHome: string;
    /** What tests leave in the folder for temporary files is gone after the run. */
    readonly temporaryFolder: string;
  }
}

/**
 * The approvals of temporary projects in the developer's own folder. A test that writes there
 * passes the wrong environment.
 */
function strayApprovals(): readonly string[] {
  const trust = join(homedir(), '.config/ktx/trust');
  try {
    const files = readdirSync(trust, { recursive: true, encoding: 'utf8' });
    return files.filter(
      (file) =>
        file.endsWith('.json') &&
        readFileSync(join(trust, file), 'utf8').includes(`"project": "${tmpdir()}`),
    );
  } catch {
    return [];
  }
}

export default function setup(project: TestProject): () => void {
  const before = new Set(strayApprovals());
  const { configHome, temporaryFolder } = project.getProvidedContext();
  mkdirSync(temporaryFolder, { mode: 0o700 });
  return () => {
    for (const folder of [configHome, temporaryFolder])
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    const stray = strayApprovals().filter((file) => !before.has(file));
    if (stray.length > 0)
      throw new Error(`Tests wrote into ~/.config/ktx/trust: ${stray.join(', ')}`);
  };
}
