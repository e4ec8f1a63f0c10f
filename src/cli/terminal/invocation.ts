import { relative } from 'node:path';
import type { CliHost } from './screen.ts';

/**
 * `ktx` as a person has to type it to reach this program: from a clone, through npx, or installed.
 */
export function ktxInvocation({ env, cwd }: CliHost, projectDir: string | undefined): string {
  const script = env['npm_lifecycle_event'] ?? '';
  const entry = shortPath(cwd, process.argv[1] ?? '');
  const clone = process.cwd();
  const isInsideClone = !relative(clone, cwd).startsWith('..');
  const npmRun = isInsideClone
    ? 'npm run -s ktx --'
    : `npm --prefix ${quoteForShell(clone)} run -s ktx --`;
  const fromClone = ['demo', 'ktx'].includes(script) ? npmRun : `node ${entry}`;
  const ktx = entry.endsWith('.ts') ? fromClone : script === 'npx' ? 'npx ktx' : 'ktx';
  if (projectDir === undefined) return ktx;
  return `${ktx} --project-dir ${quoteForShell(projectDir)}`;
}

/** The path relative to `cwd`, or unchanged if it lies outside. */
export function shortPath(cwd: string, path: string): string {
  const short = relative(cwd, path);
  return short === '' ? '.' : short.startsWith('..') ? path : short;
}

function quoteForShell(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}
