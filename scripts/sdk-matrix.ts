// Runs the suites of the Claude Code backend against several releases of the Agent SDK: the pinned one and the one that the
// design was verified on must pass, the newest is reported. Each lives in a cache folder of its own, beside the project's.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sdk = '@anthropic-ai/claude-agent-sdk';
const verified = '0.3.142';
const root = fileURLToPath(new URL('..', import.meta.url));
const suites = ['test/contract/llm-runtime.test.ts', 'test/contract/llm-isolation.test.ts'];
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ktx-sdk-matrix');

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly message: string; readonly assertionResults: readonly Assertion[] }[];
}

interface Assertion {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
const pinned = manifest.dependencies[sdk] ?? '';
const newest = execFileSync('npm', ['view', sdk, 'version'], { encoding: 'utf8', shell: process.platform === 'win32' }).trim();

const asked = process.argv.slice(2);
const versions = asked.length > 0 ? asked : [...new Set([pinned, verified, newest])];
const failed: string[] = [];
for (const version of versions) {
  const mustPass = version === pinned || version === verified;
  const ok = run(version);
  if (!ok && mustPass) failed.push(version);
  console.log(`${version}${version === pinned ? ' (pinned)' : ''}: ${ok ? 'passes' : mustPass ? 'FAILS' : 'fails, reported only'}\n`);
}
process.exit(failed.length > 0 ? 1 : 0);

function run(version: string): boolean {
  const scratch = mkdtempSync(join(tmpdir(), 'ktx-sdk-matrix-'));
  const output = join(scratch, 'report.json');
  const folder = version === pinned ? join(root, 'node_modules', sdk) : install(version);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const filter = ['-t', 'claude-code|Claude Code'];
  try {
    spawnSync(process.execPath, [vitest, 'run', ...suites, ...filter, '--reporter=json', `--outputFile=${output}`], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, KTX_TEST_AGENT_SDK: folder },
    });
    return existsSync(output) && told(version, JSON.parse(readFileSync(output, 'utf8')) as Report);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function told(version: string, { numPassedTests, numFailedTests, testResults }: Report): boolean {
  const assertions = testResults.flatMap((result) => result.assertionResults);
  console.log(`${version}: ${numPassedTests} passed, ${numFailedTests} failed`);
  for (const { fullName, status, failureMessages } of assertions) {
    if (status === 'failed') console.log(`  ${fullName}\n    ${failureMessages[0]?.split('\n')[0] ?? ''}`);
  }
  for (const { message, assertionResults } of testResults)
    if (assertionResults.length === 0) console.log(`  ${message.split('\n')[0] ?? ''}`);
  // Nothing that ran is no success: without a binary everything is skipped.
  return numFailedTests === 0 && numPassedTests > 0 && testResults.every(({ assertionResults }) => assertionResults.length > 0);
}

function install(version: string): string {
  const folder = join(cache, version);
  const installed = join(folder, 'node_modules', sdk);
  if (!existsSync(join(installed, 'package.json'))) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--no-save', '--no-package-lock', `${sdk}@${version}`];
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
  }
  return installed;
}
