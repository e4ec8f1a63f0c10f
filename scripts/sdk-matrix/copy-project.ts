import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installSdk, sdk } from './install-sdk.ts';
import type { MatrixRun } from './run-suites.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the suites read of the project. */
const entries = [
  'bin',
  'package.json',
  'prompts',
  'skills',
  'src',
  'test',
  'tsconfig.json',
  'vitest.config.ts',
];
const scope = dirname(sdk);
const platformPackage = `${sdk}-${process.platform}-${process.arch}`;

/**
 * Makes a copy of the project whose `node_modules` differs from this one's in the Agent SDK and in
 * the package with the Claude Code program. All other packages are links to this project's.
 */
export function copyProject(run: MatrixRun, folder: string): void {
  for (const entry of entries) cpSync(join(root, entry), join(folder, entry), { recursive: true });
  const packages = join(folder, 'node_modules');
  mkdirSync(join(packages, scope), { recursive: true });
  const ours = join(root, 'node_modules');
  const link = (name: string, from: string): void =>
    symlinkSync(join(from, name), join(packages, name), 'junction');
  for (const name of readdirSync(ours)) if (name !== scope) link(name, ours);
  for (const name of readdirSync(join(ours, scope)))
    if (!`${scope}/${name}`.startsWith(sdk)) link(`${scope}/${name}`, ours);
  link(sdk, installSdk(run.sdk));
  if (isAbsolute(run.program)) wrapProgram(run.program, join(packages, platformPackage));
  else link(platformPackage, installSdk(run.program));
}

/** Makes a platform package out of a program of this machine. */
function wrapProgram(program: string, folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: platformPackage }));
  symlinkSync(program, join(folder, 'claude'));
}
