import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { serveRegions } from '../http-shop.ts';
import { createFixture } from './fixture-server.ts';

/** `node scripts/install-mcp-conformance.mjs` puts it there. */
const suite = join(
  import.meta.dirname,
  '../../../node_modules/.cache/mcp-conformance/node_modules/@modelcontextprotocol/conformance',
);

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** The scenarios that the suite requires of servers of a revision. */
function requiredScenarios(revision: string): readonly string[] {
  const text = readFileSync(join(suite, `requirements/${revision}.yaml`), 'utf8');
  const [, server = ''] = /^server:\n((?: {2}- .*\n)+)/m.exec(text) ?? [];
  return server.match(/[\w-]+(?=\n)/g) ?? [];
}

/** Runs the suite against a server of ktx; what it found, by scenario. */
async function runSuite(
  ...which: readonly string[]
): Promise<ReadonlyMap<string, readonly Check[]>> {
  await using served = await serveRegions({ createServer: createFixture });
  const output = mkdtempSync(join(tmpdir(), 'ktx-conformance-'));
  try {
    const args = ['server', '--url', served.url, ...which, '-o', output];
    // It exits with 1 if a scenario fails, also one that is not required; the checks say which.
    await promisify(execFile)(process.execPath, [join(suite, 'dist/index.js'), ...args], {
      maxBuffer: 64 * 1024 * 1024,
    }).catch(() => undefined);
    const found = readdirSync(output).map((folder) => {
      const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(folder)?.[1] ?? folder;
      const checks = JSON.parse(readFileSync(join(output, folder, 'checks.json'), 'utf8'));
      return [scenario, checks as Check[]] as const;
    });
    return new Map(found);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

/**
 * The official suite over HTTP. It is 52 MB, too much for every clone; `.ci/run` installs it.
 */
describe.skipIf(!existsSync(suite))('the official conformance suite', () => {
  it.for([
    { revision: '2025-11-25', required: 30 },
    { revision: '2026-07-28', required: 37 },
  ])('finds no failure in the $required scenarios of $revision', async (given) => {
    const names = requiredScenarios(given.revision);
    expect(names).toHaveLength(given.required);
    const found = await runSuite('--requirements', given.revision);
    const bad = names.flatMap((name) => {
      const checks = found.get(name) ?? [];
      if (!checks.some(({ status }) => status === 'SUCCESS')) return [`${name}: no check passed`];
      return checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id, status, errorMessage }) => `${name}: ${status} ${id}: ${errorMessage}`);
    });
    expect(bad).toEqual([]);
  });

  // Of the three others, two need a tool that asks in the middle of a task, which none of ktx does,
  // and the third is skipped by the suite itself.
  it.for([
    { name: 'tasks-lifecycle', passed: 9 },
    { name: 'tasks-capability-negotiation', passed: 5 },
    { name: 'tasks-wire-fields', passed: 4 },
    { name: 'tasks-request-state-removal', passed: 3 },
    { name: 'tasks-request-headers', passed: 5 },
    { name: 'tasks-required-task-error', passed: 3 },
    { name: 'tasks-mrtr-composition', passed: 2 },
  ])('passes the $passed checks of $name of the extension for tasks', async ({ name, passed }) => {
    const checks = (await runSuite('--scenario', name)).get(name) ?? [];
    expect(checks.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
    expect(checks).toHaveLength(passed);
  });
});
