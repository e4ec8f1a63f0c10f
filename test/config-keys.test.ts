import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ignoredSettingsWarning } from '../src/llm/ignored-settings.ts';
import { llmConfigSchema } from '../src/llm/config.ts';
import { jsonSchema, projectSchemas } from '../src/project/open/schemas.ts';
import { leafKeys } from './support/config-keys.ts';

const source = join(import.meta.dirname, '../src');
/** Where keys are declared: that is no reading. */
const declares = /(?:config|schema|schemas|dataset|query|metric|runtime)\.ts$|agent-schema\.ts$/;
const readers = globSync('**/*.ts', { cwd: source })
  .filter((file) => !declares.test(file) || /ai-sdk\/cache/.test(file))
  .map((file) => readFileSync(join(source, file), 'utf8'))
  .join('\n');

/**
 * The keys of agents and question sets have a probe each: agent-keys.test.ts, eval-keys.test.ts.
 */
test('every key of ktx.yaml is read by something', () => {
  const paths = leafKeys(jsonSchema(projectSchemas.ktx));
  expect(paths.length).toBeGreaterThan(20);
  const keys = (path: string): string[] =>
    path
      .split('.')
      .map((key) => key.replace('[]', ''))
      .filter((key) => key !== '*');
  const unread = paths.filter(
    (path) => !keys(path).every((key) => new RegExp(`\\b${key}\\b`).test(readers)),
  );
  expect(unread).toEqual([]);
});

test('what a backend cannot honour is named in one line', () => {
  const config = (backend: string, rest: object = {}) =>
    llmConfigSchema.parse({
      provider: { backend, ...rest },
      promptCaching: { cacheTools: true, historyTtl: '1h' },
      models: { default: 'sonnet' },
    });
  expect(ignoredSettingsWarning(config('claude-code'), 'high')).toBe(
    'Set but ignored by claude-code: llm.promptCaching.cacheTools, llm.promptCaching.historyTtl.',
  );
  expect(
    ignoredSettingsWarning(config('anthropic', { anthropic: { api_key: 'env:K' } }), 'high'),
  ).toBeUndefined();
  const local = config('openai', { openai: { base_url: 'http://localhost:11434/v1' } });
  expect(ignoredSettingsWarning(local, 'high')).toBe(
    'Set but ignored by openai: llm.promptCaching.cacheTools, llm.promptCaching.historyTtl, model.effort.',
  );
});
