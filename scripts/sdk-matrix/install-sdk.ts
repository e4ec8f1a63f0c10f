import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const sdk = '@anthropic-ai/claude-agent-sdk';

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ktx-sdk-matrix');

/**
 * Installs a release of the Agent SDK into a cache folder, if it is not there. Returns its
 * `node_modules`.
 */
export function installSdk(version: string): string {
  const folder = join(cache, version);
  const packages = join(folder, 'node_modules');
  if (!existsSync(join(packages, sdk, 'package.json'))) {
    mkdirSync(folder, { recursive: true });
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--prefix', folder];
    npm(['install', ...flags, `${sdk}@${version}`]);
  }
  return packages;
}

/** Runs npm and returns what it prints. */
export function npm(args: readonly string[]): string {
  return execFileSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  }).trim();
}
