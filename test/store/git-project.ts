import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of its own in the system's temporary folder. */
export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'ktx-store-')));
}

/** Runs git as a person would, with a person's identity. */
export function run(dir: string, ...args: string[]): string {
  const identity = [
    '-c',
    'user.name=Ada',
    '-c',
    'user.email=ada@example.org',
    '-c',
    'commit.gpgsign=false',
    '-c',
    'core.hooksPath=',
  ];
  return execFileSync('git', [...identity, ...args], {
    cwd: dir,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

export function write(dir: string, path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

export function read(dir: string, path: string): string {
  return readFileSync(join(dir, path), 'utf8');
}
