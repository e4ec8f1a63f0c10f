// Runs the contract suites of the Claude Code backend with several releases of the Agent SDK and of
// the Claude Code program. Not part of `npm test`, because it needs the npm registry and takes
// minutes. Must pass: the pinned SDK, the release on which the design was verified, and the pinned
// SDK with the programs at both ends of `testedVersions`. Other results are only printed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPrograms } from '../src/llm/claude-code/program/find-programs.ts';
import { testedVersions } from '../src/llm/claude-code/program/tested-versions.ts';
import { npm, sdk } from './sdk-matrix/install-sdk.ts';
import { root } from './sdk-matrix/copy-project.ts';
import { runSuites, type MatrixRun, type SuiteResult } from './sdk-matrix/run-suites.ts';

/** The release on which the design was verified. */
const verified = '0.3.142';
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const pinned = manifest.dependencies[sdk] ?? '';

const results = new Map<string, SuiteResult>();
for (const run of matrixRuns(process.argv.slice(2))) {
  const result = runSuites(run);
  results.set(describeRun(run), result);
  printResult(run, result);
}
printDifferences();
const failed = [...results].filter(([, { mustPass, passes }]) => mustPass && !passes);
process.exit(failed.length > 0 ? 1 : 0);

/** All combinations, or those of the SDK releases in the arguments, each with its own program. */
function matrixRuns(requested: readonly string[]): readonly MatrixRun[] {
  if (requested.length > 0)
    return requested.map((version) => ({
      sdk: version,
      program: version,
      mustPass: version === pinned || version === verified,
    }));
  const newest = npm(['view', sdk, 'version']);
  const ends = [testedVersions.oldest, testedVersions.newest].map(sdkOfProgram);
  const others = new Set([newest, verified, ...ends].filter((version) => version !== pinned));
  const [own] = findPrograms({ env: process.env, projectDir: root });
  return [
    { sdk: pinned, program: pinned, mustPass: true },
    { sdk: verified, program: verified, mustPass: true },
    ...(newest === pinned ? [] : [{ sdk: newest, program: newest, mustPass: false }]),
    ...[...others].map((program) => ({ sdk: pinned, program, mustPass: ends.includes(program) })),
    ...(own === undefined ? [] : [{ sdk: pinned, program: own, mustPass: false }]),
  ];
}

/** Release 0.3.142 of the SDK brings version 2.1.142 of the program. */
function sdkOfProgram(version: string): string {
  return version.replace(/^2\.1\./, '0.3.');
}

function describeRun({ sdk: version, program }: MatrixRun): string {
  if (program === version) return `SDK ${version}`;
  return `SDK ${version} with the program of ${program}`;
}

function printResult(run: MatrixRun, { passed, failures, passes, seconds }: SuiteResult): void {
  const verdict = passes ? 'passes' : run.mustPass ? 'FAILS' : 'fails, reported only';
  console.log(
    `${describeRun(run)}: ${verdict}, ${passed} passed, ${failures.length} failed, ${seconds} s`,
  );
  for (const { name, message } of failures) console.log(`  ${name}\n    ${message}`);
}

/** Prints the cases that fail in at least one run, with the runs in which they fail. */
function printDifferences(): void {
  const names = new Set(
    [...results.values()].flatMap(({ failures }) => failures.map(({ name }) => name)),
  );
  if (names.size === 0) return;
  console.log('\nWhat differs:');
  for (const name of names) {
    const failing = [...results].filter(([, { failures }]) =>
      failures.some((failure) => failure.name === name),
    );
    console.log(`  ${name}: fails with ${failing.map(([run]) => run).join('; ')}`);
  }
}
