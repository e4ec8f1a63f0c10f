import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileSchemas } from '../src/cli/file-schemas.ts';
import { ignoredLine } from '../src/llm/capabilities.ts';
import { llmConfigSchema } from '../src/llm/config.ts';
import { jsonSchema } from '../src/project/schemas.ts';

const source = join(import.meta.dirname, '../src');
/** Where keys are declared: that is no reading. */
const declares = /(?:config|schema|schemas|dataset|query|metric|runtime)\.ts$|agent-schema\.ts$/;
const readers = globSync('**/*.ts', { cwd: source })
  .filter((file) => !declares.test(file) || /ai-sdk\/cache/.test(file))
  .map((file) => readFileSync(join(source, file), 'utf8'))
  .join('\n');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
}

/** Every key at every depth, with the way to it. */
function keysOf(schema: Schema, path: string): { path: string; key: string }[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => [
    { path: `${path}${key}`, key },
    ...keysOf(inner, `${path}${key}.`),
  ]);
  const others = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])];
  const map = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
  return [...own, ...[...others, ...map].flatMap((inner) => keysOf(inner, path))];
}

test.for(['ktx', 'agent', 'eval'] as const)('every key of %s is read by something', (name) => {
  const keys = keysOf(jsonSchema(fileSchemas[name]) as Schema, '');
  expect(keys.length).toBeGreaterThan(20);
  const unread = keys.filter(({ key }) => !new RegExp(`\\b${key}\\b`).test(readers));
  expect(unread.map(({ path }) => path)).toEqual([]);
});

test('what a backend cannot honour is named in one line', () => {
  const config = (backend: string, rest: object = {}) =>
    llmConfigSchema.parse({
      provider: { backend, ...rest },
      promptCaching: { cacheTools: true, historyTtl: '1h' },
      models: { default: 'sonnet' },
    });
  expect(ignoredLine(config('claude-code'), 'high')).toBe(
    'Set but ignored by claude-code: llm.promptCaching.cacheTools, llm.promptCaching.historyTtl.',
  );
  expect(ignoredLine(config('anthropic', { anthropic: { api_key: 'env:K' } }), 'high')).toBeUndefined();
  const local = config('openai', { openai: { base_url: 'http://localhost:11434/v1' } });
  expect(ignoredLine(local, 'high')).toBe(
    'Set but ignored by openai: llm.promptCaching.cacheTools, llm.promptCaching.historyTtl, model.effort.',
  );
});
