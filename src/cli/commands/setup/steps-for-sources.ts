import { resolve } from 'node:path';
import { lookForSources } from '../../../project/setup/look-around.ts';
import type { NextStep } from '../../command.ts';
import { readExistingConfig } from './setup-llm.ts';

/** How to add each dbt project and each folder of documents beside `ktx.yaml` that it lacks. */
export async function stepsForSources(dir: string): Promise<readonly NextStep[]> {
  const connections = Object.values((await readExistingConfig(dir))?.connections ?? {});
  const known = connections.flatMap((connection) =>
    'path' in connection && connection.path !== undefined ? [resolve(dir, connection.path)] : [],
  );
  return lookForSources(dir)
    .filter(({ folder }) => !known.includes(resolve(dir, folder)))
    .map(({ where, what, next }) => [`ktx ${next}`, `reads ${where}: ${what}`] as const);
}
