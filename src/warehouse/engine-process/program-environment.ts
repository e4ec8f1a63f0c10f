import { getCompileCacheDir } from 'node:module';

/**
 * What a program needs to start: where its libraries, its temporary files and Node's compiled code
 * are.
 */
const neededVariables = [
  'DYLD_LIBRARY_PATH',
  'LD_LIBRARY_PATH',
  'SystemRoot',
  'TEMP',
  'TMP',
  'TMPDIR',
  'TZ',
];

/**
 * The environment of a program of ktx. It has nothing else of this process: no secret, no option of
 * Node.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  const needed = neededVariables.map((name) => [name, process.env[name]] as const);
  const cache = getCompileCacheDir() ?? process.env['NODE_COMPILE_CACHE'];
  return Object.fromEntries(
    [...needed, ['NODE_COMPILE_CACHE', cache] as const].filter(([, value]) => value !== undefined),
  );
}
