import { join } from 'node:path';
import { configName, findProject } from '../project/open/find-project.ts';
import { readConfinedFileSync } from '../store/confined-file.ts';
import type { CliHost } from './terminal/screen.ts';

const largestConfig = 1_000_000;
const enginePattern = /\bdriver['"]?:\s*['"]?(duckdb|sqlite)\b/g;

/**
 * The engine that a query of the project will need: a guess from the text of the configuration,
 * which is not checked yet. Undefined if the text names none that runs beside ktx, or two.
 */
export function likelyEngine(
  words: readonly string[],
  { cwd, env }: Pick<CliHost, 'cwd' | 'env'>,
): string | undefined {
  try {
    const dir = findProject(cwd, givenProject(words), env);
    const limits = { within: dir, maxBytes: largestConfig };
    const found = readConfinedFileSync(join(dir, configName), limits);
    if (found.kind !== 'read') return undefined;
    const engines = found.bytes.toString('utf8').matchAll(enginePattern);
    const kinds = new Set(Array.from(engines, ([, kind = '']) => kind));
    return kinds.size === 1 ? [...kinds][0] : undefined;
  } catch {
    // The command itself tells what is wrong.
    return undefined;
  }
}

function givenProject(words: readonly string[]): string | undefined {
  const flag = '--project-dir';
  const joined = words.findLast((word) => word.startsWith(`${flag}=`));
  if (joined !== undefined) return joined.slice(flag.length + 1);
  const index = words.lastIndexOf(flag);
  return index === -1 ? undefined : words[index + 1];
}
