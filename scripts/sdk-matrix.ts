// Runs the test suites of the Claude Code backend against several releases of the Agent SDK. The pinned release and the one on
// which the design was verified must pass; the result of the newest is only printed. Each release is in a cache folder, and the
// suites run in a copy of the project whose `node_modules` differs in that one package.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sdk = '@anthropic-ai/claude-agent-sdk';
const verified = '0.3.142';
const root = fileURLToPath(new URL('..', import.meta.url));
const suites = [
  'llm-runtime',
  'llm-isolation',
  'shared-children',
  'agent-session',
  'claude-agent',
].map((name) => `test/contract/${name}.test.ts`);
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ktx-sdk-matrix');

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly Assertion[];
  }[];
}

interface Assertion {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const pinned = manifest.dependencies[sdk] ?? '';
const newest = execFileSync('npm', ['view', sdk, 'version'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
}).trim();

const asked = process.argv.slice(2);
const versions = asked.length > 0 ? asked : [...new Set([pinned, verified, newest])];
const failed: string[] = [];
for (const version of versions) {
  const mustPass = version === pinned || version === verified;
  const ok = run(version);
  if (!ok && mustPass) failed.push(version);
  console.log(
    `${version}${version === pinned ? ' (pinned)' : ''}: ${ok ? 'passes' : mustPass ? 'FAILS' : 'fails, reported only'}\n`,
  );
}
process.exit(failed.length > 0 ? 1 : 0);

function run(version: string): boolean {
  const scratch = mkdtempSync(join(tmpdir(), 'ktx-sdk-matrix-'));
  const output = join(scratch, 'report.json');
  try {
    const project =
      version === pinned ? root : projectWith(install(version), join(scratch, 'project'));
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    spawnSync(
      process.execPath,
      [
        vitest,
        'run',
        ...suites,
        '-t',
        'claude-code|claude-agent|Claude Code',
        '--reporter=json',
        `--outputFile=${output}`,
      ],
      {
        cwd: project,
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    return (
      existsSync(output) &&
      reportResult(version, JSON.parse(readFileSync(output, 'utf8')) as Report)
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Creates a copy of the project with another Agent SDK. All other packages are the project's own. */
function projectWith(packages: string, folder: string): string {
  for (const entry of [
    'src',
    'test',
    'prompts',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ]) {
    cpSync(join(root, entry), join(folder, entry), { recursive: true });
  }
  const scope = dirname(sdk);
  const ours = join(root, 'node_modules');
  const link = (from: string, name: string): void =>
    symlinkSync(join(from, name), join(folder, 'node_modules', name), 'junction');
  mkdirSync(join(folder, 'node_modules', scope), { recursive: true });
  for (const name of readdirSync(ours)) if (name !== scope) link(ours, name);
  for (const name of readdirSync(join(ours, scope)))
    if (!`${scope}/${name}`.startsWith(sdk)) link(ours, `${scope}/${name}`);
  for (const name of readdirSync(join(packages, scope)))
    if (`${scope}/${name}`.startsWith(sdk)) link(packages, `${scope}/${name}`);
  return folder;
}

function reportResult(
  version: string,
  { numPassedTests, numFailedTests, testResults }: Report,
): boolean {
  const assertions = testResults.flatMap((result) => result.assertionResults);
  console.log(`${version}: ${numPassedTests} passed, ${numFailedTests} failed`);
  for (const { fullName, status, failureMessages } of assertions) {
    if (status === 'failed')
      console.log(`  ${fullName}\n    ${failureMessages[0]?.split('\n')[0] ?? ''}`);
  }
  for (const { message, assertionResults } of testResults)
    if (assertionResults.length === 0) console.log(`  ${message.split('\n')[0] ?? ''}`);
  // A run in which every test was skipped is no success: that happens without a binary.
  return (
    numFailedTests === 0 &&
    numPassedTests > 0 &&
    testResults.every(({ assertionResults }) => assertionResults.length > 0)
  );
}

/** Returns the `node_modules` folder that has the release. */
function install(version: string): string {
  const folder = join(cache, version);
  const packages = join(folder, 'node_modules');
  if (!existsSync(join(packages, sdk, 'package.json'))) {
    mkdirSync(folder, { recursive: true });
    const args = [
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--no-package-lock',
      `${sdk}@${version}`,
    ];
    execFileSync('npm', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
  }
  return packages;
}
