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
  const host = await startGitHost(kind, { token });
  const dir = source ?? (await ingestedShop());
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
  await approve(dir);
  const server = await serveRegions({}, {}, dir);
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await host.close();
  });
  const [head, status] = [run(dir, 'rev-parse', 'HEAD'), run(dir, 'status', '--porcelain')];
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
    /** What must never change: the branch and the files of the server's folder. */
    isClean: () =>
      run(dir, 'rev-parse', 'HEAD') === head && run(dir, 'status', '--porcelain') === status,
  };
}

/** The JSON that a tool answered between its marks. */
export function itemOf(text: string): Readonly<Record<string, unknown>> {
  const line = text.split('\n').find((own) => own.startsWith('{'));
  return JSON.parse(line ?? '{}') as Readonly<Record<string, unknown>>;
}
