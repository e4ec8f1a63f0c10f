import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEmbeddingEndpoint, refuse } from '../support/embedding-endpoint.ts';
import { scriptedEndpoint } from '../llm/ai-sdk-endpoint.ts';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const env = { EMBEDDING_KEY: 'sk-made-up' };
const configOf = (cwd: string): string => readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
const flags = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => [`--embeddings-${name}`, value]);

test('setup tests the embeddings that its flags name, writes them and approves them', async () => {
  await using endpoint = await openEmbeddingEndpoint();
  const cwd = await shopProject();
  const before = configOf(cwd);
  const typed = flags({
    provider: 'openai',
    model: 'small',
    'api-key': 'env:EMBEDDING_KEY',
    'base-url': endpoint.url,
  });
  const { code, stdout, stderr } = await ktx(['setup', ...typed], { cwd, env, approved: false });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('embeddings: openai (small, 64 dimensions): reachable');
  expect(stdout).toContain('ktx.yaml');
  expect(endpoint.requests[0]?.headers['authorization']).toBe('Bearer sk-made-up');
  // What was there stays.
  expect(configOf(cwd)).toContain(before.trim());
  expect(configOf(cwd)).toContain('api_key: env:EMBEDDING_KEY');
  const status = await ktxJson(['status'], { cwd, env, approved: false });
  expect(status.envelope.data).toMatchObject({ embeddings: { state: 'ready', dimensions: 64 } });
  // Other flags take the place of the whole block.
  const again = flags({ provider: 'openai', model: 'large', 'base-url': endpoint.url });
  const { code: second } = await ktx(['setup', ...again], { cwd, env, approved: false });
  expect(second).toBe(0);
  expect(configOf(cwd)).toContain('model: large');
  expect(configOf(cwd)).not.toContain('EMBEDDING_KEY');
});

test('setup takes the flags of every provider, each with its own settings', async () => {
  await using endpoint = await scriptedEndpoint(({ path }) =>
    path === '/embedding-model'
      ? { body: { embeddings: [[1, 2, 3]], usage: { tokens: 1 } } }
      : { status: 404, body: {} },
  );
  const cwd = await shopProject();
  const gateway = { provider: 'gateway', model: 'openai/small', 'base-url': endpoint.url };
  const typed = flags({ ...gateway, 'api-key': 'env:EMBEDDING_KEY', dimensions: '3' });
  const { code, stdout, stderr } = await ktx(['setup', ...typed], { cwd, env, approved: false });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('embeddings: gateway (openai/small, 3 dimensions): reachable');
  const wrong = async (settings: Readonly<Record<string, string>>) => {
    const { envelope } = await ktxJson(['setup', ...flags(settings)], { cwd, env });
    return envelope.error?.message;
  };
  expect(await wrong({ model: 'small' })).toBe('--embeddings-provider is missing.');
  expect(await wrong({ provider: 'vertex', model: 'm' })).toMatch(
    /--embeddings-project: .*--embeddings-location: /,
  );
  expect(await wrong({ provider: 'bedrock', model: 'm' })).toContain('--embeddings-region: ');
  expect(await wrong({ provider: 'bedrock', model: 'm', region: 'r', project: 'p' })).toContain(
    '--embeddings-project does not apply to bedrock',
  );
  expect(await wrong({ provider: 'gateway', model: 'm', 'api-key': 'sk-made-up' })).toContain(
    '--embeddings-api-key: ',
  );
  expect(await wrong({ provider: 'openai', model: 'm' })).toContain('openai needs api_key');
});

test('setup writes nothing if the embeddings cannot be used, and its hint names the flag', async () => {
  await using endpoint = await openEmbeddingEndpoint(() => refuse(401));
  const cwd = await shopProject();
  const before = configOf(cwd);
  const typed = flags({
    provider: 'openai',
    model: 'small',
    'api-key': 'env:EMBEDDING_KEY',
    'base-url': endpoint.url,
  });
  const { code, envelope } = await ktxJson(['setup', ...typed], { cwd, env });
  expect(code).toBe(4);
  expect(envelope.error).toMatchObject({
    code: 'llm_auth',
    hint: 'check that env:EMBEDDING_KEY (--embeddings-api-key) contains a valid key',
  });
  expect(configOf(cwd)).toBe(before);
});
