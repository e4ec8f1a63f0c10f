import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ingestedShop } from '../ingest/ingest-project.ts';
import { startGitHost } from '../recorded/git-host/server.ts';
import { run } from '../store/git-project.ts';
import { approve } from '../support/approve.ts';
import { connect, serveRegions } from './http-shop.ts';

export const token = 'ghp_canary0123456789abcdef';
process.env['KTX_TEST_GIT_TOKEN'] = token;

/**
 * A git host, a server whose folder is a clone of its repository, and a client for each person.
 * All end with the test.
 */
export async function serveTeam(kind: 'github' | 'gitlab' = 'github', source?: string) {
  const dir = source ?? (await ingestedShop());
  const host = await startHostOf(dir, kind);
  await approve(dir);
  const server = await serveRegions({}, {}, dir);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const isClean = watchFolder(dir);
  const clientOf = async (name: string, capabilities: object = {}) => {
    const scopes = ['read', 'query', 'write'] as const;
    const { text } = await server.tokens.create({ name, scopes: [...scopes] });
    const client = await connect(server.url, text, { capabilities });
    onTestFinished(() => client[Symbol.asyncDispose]());
    return client;
  };
  return {
    dir,
    host,
    server,
    clientOf,
    isClean,
  };
}

/** A git host with the project of the folder, to which its server proposes changes. */
export async function startHostOf(dir: string, kind: 'github' | 'gitlab') {
  const host = await startGitHost(kind, { token });
  onTestFinished(() => host.close());
  const git = {
    host: kind,
    url: host.url,
    repository: 'acme/data',
    token: 'env:KTX_TEST_GIT_TOKEN',
  };
  const before = readFileSync(join(dir, 'ktx.yaml'), 'utf8');
  const serve = JSON.stringify({ changes: 'pull_request', git });
  writeFileSync(join(dir, 'ktx.yaml'), `${before}\nserve: ${serve}\n`);
  run(dir, 'add', 'ktx.yaml');
  run(dir, 'commit', '-qm', 'propose changes');
  run(dir, 'push', '-q', host.bare, 'HEAD:refs/heads/main');
  return host;
}

/** Whether what must never change is as it is now: the branch and the files of the folder. */
export function watchFolder(dir: string): () => boolean {
  const look = () => `${run(dir, 'rev-parse', 'HEAD')} ${run(dir, 'status', '--porcelain')}`;
  const before = look();
  return () => look() === before;
}

/** The JSON that a tool answered between its marks. */
export function itemOf(text: string): Readonly<Record<string, unknown>> {
  const line = text.split('\n').find((own) => own.startsWith('{'));
  return JSON.parse(line ?? '{}') as Readonly<Record<string, unknown>>;
}
