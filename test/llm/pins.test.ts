import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

test('the Agent SDK is one exact version in manifest and lockfile, and one command tries others [C14]', () => {
  const { peerDependencies: dependencies, scripts } = json('package.json');
  const pinned = dependencies['@anthropic-ai/claude-agent-sdk'];
  expect(pinned).toMatch(/^\d+\.\d+\.\d+$/);
  expect(
    json('package-lock.json').packages['node_modules/@anthropic-ai/claude-agent-sdk'].version,
  ).toBe(pinned);
  expect(scripts['test:sdk-matrix']).toBeDefined();
});

test('the test command checks types, lint, format, dead code and the documentation [Q8]', () => {
  const { scripts } = json('package.json');
  expect(scripts['test']).toContain('npm run -s check');
  for (const part of ['types', 'lint', 'format', 'dead-code'])
    expect(scripts['check']).toContain(`check:${part}`);
  expect(readFileSync(join(root, 'vitest.config.ts'), 'utf8')).toContain(
    'test/${name}/**/*.test.ts',
  );
});
