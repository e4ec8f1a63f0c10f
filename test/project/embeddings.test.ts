import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { egressReport } from '../../src/llm/egress/report.ts';
import { usageReport } from '../../src/llm/governor/usage.ts';
import { openProject } from '../../src/project/open/open.ts';
import { readEmbeddingsStatus } from '../../src/project/setup/embeddings-status.ts';
import { describeEmbeddings } from '../../src/cli/terminal/embeddings-text.ts';
import { ktx } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';
import { openEmbeddingEndpoint, refuse } from '../support/embedding-endpoint.ts';

const env = { ...process.env, EMBEDDING_KEY: 'sk-made-up' };

async function projectWith(url: string, more = '') {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-embeddings-'));
  const embeddings = `{provider: openai, model: small, api_key: env:EMBEDDING_KEY, base_url: '${url}'}`;
  writeFileSync(join(dir, 'ktx.yaml'), `ingest:\n  embeddings: ${embeddings}\n${more}`);
  const open = async () => {
    const project = await openProject(dir, { env });
    onTestFinished(() => project.close());
    return project;
  };
  return { dir, open };
}

const orders = {
  text: 'status: open, closed',
  values: [
    { connection: 'shop', source: 'orders', column: 'status', kind: 'frequent', count: 2 },
  ] as const,
};

test('nothing is embedded before a person has approved the provider', async () => {
  await using endpoint = await openEmbeddingEndpoint();
  const { dir, open } = await projectWith(endpoint.url);
  const project = await open();
  await expect(project.embeddings()).rejects.toMatchObject({ code: 'trust_required', exitCode: 4 });
  expect(await project.trust.isEmbeddingsApproved()).toBe(false);
  const { grants } = await project.trust.report();
  expect(grants.map(({ place, effects }) => [place, ...effects.map(({ text }) => text)])).toEqual([
    [
      'ingest.embeddings',
      'embeddings by openai (OpenAI, or any endpoint that speaks its protocol)',
      'provider: openai',
      'env:EMBEDDING_KEY (api_key)',
      new URL(endpoint.url).host,
      `base_url: ${endpoint.url}`,
    ],
  ]);
  await approve(dir, env);
  expect(await project.trust.isEmbeddingsApproved()).toBe(true);
  expect(endpoint.requests).toEqual([]);
});

test('an approval is for one host: another needs another', async () => {
  await using endpoint = await openEmbeddingEndpoint();
  const { dir, open } = await projectWith(endpoint.url);
  await approve(dir, env);
  const file = `ingest:\n  embeddings: {provider: openai, model: small, base_url: 'http://127.0.0.1:9/v1'}\n`;
  writeFileSync(join(dir, 'ktx.yaml'), file);
  await expect((await open()).embeddings()).rejects.toMatchObject({ code: 'trust_required' });
});

test('usage is in the journal, values are in the ledger, and the chat backend stays none', async () => {
  await using endpoint = await openEmbeddingEndpoint();
  const prices = 'llm: {prices: {small: {input: 10, output: 0}}}\n';
  const { dir, open } = await projectWith(endpoint.url, prices);
  await approve(dir, env);
  const project = await open();
  expect(await project.llm()).toBeUndefined();
  const embeddings = await project.embeddings({ id: 'run-1' });
  await embeddings?.embed({ texts: [orders], purpose: 'document', stage: 'index' });
  expect(endpoint.requests[0]?.headers['authorization']).toBe('Bearer sk-made-up');
  expect(usageReport(project.journal().db)).toMatchObject([
    { role: 'embedding', backend: 'openai', model: 'small', calls: 1, input: 1, costUsd: 0.00001 },
  ]);
  expect(egressReport(project.egress().db, 'call')).toMatchObject([
    { run: 'run-1', stage: 'index', source: 'orders', column: 'status', values: 2 },
  ]);
});

test('a project without a provider has no embeddings', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-embeddings-'));
  writeFileSync(join(dir, 'ktx.yaml'), 'llm: {}\n');
  const project = await openProject(dir, { env });
  onTestFinished(() => project.close());
  expect(await project.embeddings()).toBeUndefined();
});

const chat = 'llm: {provider: {backend: claude-code}, models: {default: sonnet}}\n';

test('status and doctor name the provider, the model and the length of its vectors', async () => {
  await using endpoint = await openEmbeddingEndpoint();
  const { dir, open } = await projectWith(endpoint.url);
  const project = await open();
  const { signal } = new AbortController();
  expect(await readEmbeddingsStatus(project, false, signal)).toMatchObject({ state: 'unapproved' });
  expect(endpoint.requests).toEqual([]);
  await approve(dir, env);
  expect(await readEmbeddingsStatus(project, true, signal)).toEqual({
    state: 'unverified',
    provider: 'openai',
    model: 'small',
  });
  expect(endpoint.requests).toEqual([]);
  const ready = await readEmbeddingsStatus(project, false, signal);
  expect(describeEmbeddings(ready)).toEqual([
    'embeddings: openai (small, 64 dimensions): reachable',
  ]);
  expect(endpoint.requests).toHaveLength(1);
  endpoint.play(() => refuse(401, { code: 'invalid_api_key' }));
  const broken = await readEmbeddingsStatus(project, false, signal);
  expect(broken).toMatchObject({ state: 'broken', error: { code: 'llm_auth', exitCode: 4 } });
  const { code, stdout } = await ktx(['doctor'], { cwd: dir, env });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /broken {3}embeddings: Embeddings by small: .* The provider says: refused\n.*ingest\.embeddings/,
  );
});

test('a project with a language model and no embeddings is told once in status and doctor', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-embeddings-'));
  writeFileSync(join(dir, 'ktx.yaml'), chat);
  const status = await ktx(['status', '--fast'], { cwd: dir, env });
  const warnings = `${status.stdout}${status.stderr}`.match(/no embeddings/g);
  expect(warnings).toHaveLength(1);
  const doctor = await ktx(['doctor'], { cwd: dir, env });
  expect(`${doctor.stdout}${doctor.stderr}`.match(/no embeddings/g)).toHaveLength(1);
  writeFileSync(join(dir, 'ktx.yaml'), 'llm: {}\n');
  expect((await ktx(['status', '--fast'], { cwd: dir, env })).stdout).not.toContain(
    'no embeddings',
  );
});
