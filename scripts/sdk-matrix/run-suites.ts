import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyProject, root } from './copy-project.ts';

export interface MatrixRun {
  /** Release of the Agent SDK. */
  readonly sdk: string;
  /** Release of the SDK that brings the program, or the path of a program of this machine. */
  readonly program: string;
  readonly mustPass: boolean;
}

export interface SuiteResult {
  readonly mustPass: boolean;
  readonly passes: boolean;
  readonly passed: number;
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  readonly seconds: number;
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const suites = [
  'llm-runtime',
  'llm-isolation',
  'shared-children',
  'agent-session',
  'claude-agent',
].map((name) => `test/contract/${name}.test.ts`);
const filter = 'claude-code|claude-agent|Claude Code';
const longestRunMs = 20 * 60 * 1000;

/**
 * Runs the suites in a copy of the project. A run in which a suite did not run at all does not
 * pass.
 */
export function runSuites(run: MatrixRun): SuiteResult {
  const started = performance.now();
  const scratch = mkdtempSync(join(tmpdir(), 'ktx-sdk-matrix-'));
  try {
    const project = join(scratch, 'project');
    const output = join(scratch, 'report.json');
    copyProject(run, project);
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const reporter = ['--reporter=json', `--outputFile=${output}`];
    const flags = ['--maxWorkers=1', '-t', filter, ...reporter];
    spawnSync(process.execPath, [vitest, 'run', ...suites, ...flags], {
      cwd: project,
      env: { ...process.env, KTX_SUITES: 'all' },
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: longestRunMs,
    });
    const seconds = Math.round((performance.now() - started) / 1000);
    if (!existsSync(output)) {
      const failures = [{ name: 'vitest', message: 'It wrote no report, or took too long.' }];
      return { mustPass: run.mustPass, passes: false, passed: 0, failures, seconds };
    }
    const report = JSON.parse(readFileSync(output, 'utf8')) as Report;
    return { mustPass: run.mustPass, ...readReport(report), seconds };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readReport({ numPassedTests, testResults }: Report) {
  const cases = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failedCases = cases.filter(({ status }) => status === 'failed');
  // A suite may be about what an old program cannot do, and says so in the title of its cases.
  const isLeftOut = ({ fullName, status }: (typeof cases)[number]): boolean =>
    status !== 'failed' && fullName.includes('skipped: program');
  const suitesWithoutCase = testResults.filter(
    ({ assertionResults }) =>
      !assertionResults.some(({ status }) => status === 'passed') &&
      !assertionResults.some(isLeftOut),
  );
  const failures = [
    ...failedCases.map(({ fullName, failureMessages }) => ({
      name: fullName,
      message: firstLine(failureMessages[0]),
    })),
    ...suitesWithoutCase.map(({ name, message }) => ({
      name: `${name}: no case passed`,
      message: firstLine(message),
    })),
  ];
  const isWhole = testResults.length === suites.length;
  return { passed: numPassedTests, failures, passes: failures.length === 0 && isWhole };
}

function firstLine(text = ''): string {
  return text.split('\n')[0] ?? '';
}
