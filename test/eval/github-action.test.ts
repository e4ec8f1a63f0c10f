import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { attach, buildProgram } from '../../src/cli/program.ts';
import { registry } from '../../src/cli/registry.ts';

const workflowSchema = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.looseObject({ ktx: z.looseObject({ steps: z.array(z.looseObject({ run: z.string().optional(), if: z.string().optional() })) }) }),
});

test('the example workflow runs commands and flags that exist, and comments though the run failed', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../examples/github-action/ktx.yml'), 'utf8');
  const { jobs, permissions } = workflowSchema.parse(load(text));
  const runs = jobs.ktx.steps.flatMap(({ run }) => run ?? []).join('\n');
  const lines = [...runs.matchAll(/^\s*ktx (.+)$/gm)].map(([, line = '']) => line);
  const paths = registry.map(({ path }) => path).toSorted((a, b) => b.length - a.length);
  expect(lines.map((line) => paths.find((path) => `${line} `.startsWith(`${path} `)))).toEqual(['check', 'eval check', 'eval run']);
  const entry = registry.find(({ path }) => path === 'eval run');
  const command =
    entry &&
    (await attach(
      buildProgram(() => undefined),
      entry,
      () => Promise.resolve(),
    ));
  const known = command?.options.map(({ long }) => long) ?? [];
  const used = [...runs.matchAll(/(?<=eval run.*|baseline=')(--[a-z-]+)/g), ...runs.matchAll(/(--fail-[a-z-]+)/g)].map(
    ([, flag = '']) => flag,
  );
  expect(used.length).toBeGreaterThan(3);
  expect(used.filter((flag) => !known.includes(flag))).toEqual([]);
  expect(permissions).toEqual({ contents: 'read', 'pull-requests': 'write' });
  expect(jobs.ktx.steps.find(({ run }) => run?.includes('gh pr comment'))?.if).toMatch(/^always\(\)/);
});
