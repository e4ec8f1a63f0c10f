import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { outOfStep } from '../scripts/release.ts';
import { registry } from '../src/cli/registry.ts';
import { registry as toolValues } from '../src/tools/registry.ts';
import { committedChannelFiles, releaseFiles } from '../scripts/release/channel-files.ts';

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'ktx-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The rules of the registry's schema of 2025-12-11 for what ktx writes. */
const input = z.strictObject({
  name: z.string(),
  description: z.string(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
});
const registrySchema = z.strictObject({
  $schema: z.literal(
    'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  ),
  name: z
    .string()
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/),
  repository: z.strictObject({ url: z.url(), source: z.literal('github') }),
  packages: z.array(
    z.strictObject({
      registryType: z.enum(['npm', 'oci', 'mcpb']),
      identifier: z.string(),
      version: z.string().regex(/^\d/),
      runtimeHint: z.string(),
      transport: z.strictObject({ type: z.literal('stdio') }),
      packageArguments: z.array(
        z.strictObject({ type: z.literal('positional'), value: z.string() }),
      ),
      environmentVariables: z.array(input),
    }),
  ),
});

describe('a release', () => {
  test('the entry of the registry follows its schema, and names what the package says', () => {
    const files = releaseFiles(manifest, { owner: 'acme', sha256: 'a'.repeat(64) });
    const entry = registrySchema.parse(JSON.parse(files.get('server.json') ?? ''));
    expect(entry).toMatchObject({ name: 'io.github.acme/ktx', version: manifest.version });
    expect(entry.packages[0]).toMatchObject({
      identifier: manifest.name,
      version: manifest.version,
    });
    const secrets = entry.packages[0]?.environmentVariables.filter(({ isSecret }) => isSecret);
    expect(secrets?.map(({ name }) => name)).toEqual(['WAREHOUSE_URL']);
    expect(files.get('ktx.rb')).toContain(`ktx-${manifest.version}.tgz"\n  sha256 "aaaa`);
  });

  test('is refused while anything is out of step, and each place is named', () => {
    const copy = join(folder, 'clone');
    const put = (path: string, content: string) => {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), content);
    };
    const lock = (version: string) => JSON.stringify({ version });
    const released = { ...manifest, version: '3.2.1', mcpName: 'io.github.acme/ktx' };
    const setUp = () => {
      put('package.json', JSON.stringify(released));
      put('package-lock.json', lock('3.2.1'));
      put('CHANGELOG.md', '## [3.2.1] - 2027-01-01\n');
      for (const [path, content] of committedChannelFiles(released)) put(path, content);
    };
    setUp();
    expect(outOfStep(copy, 'acme')).toEqual([]);
    expect(outOfStep(copy, 'other')).toEqual([
      'package.json has mcpName io.github.acme/ktx, not io.github.other/ktx',
    ]);
    put('package-lock.json', lock('3.2.0'));
    put('CHANGELOG.md', '## [Unreleased]\n');
    const plugin = 'channels/claude-code/.claude-plugin/plugin.json';
    put(plugin, readFileSync(join(copy, plugin), 'utf8').replace('3.2.1', '3.2.0'));
    expect(outOfStep(copy, 'acme')).toEqual([
      `${plugin} is not what version 3.2.1 needs: --write`,
      'package-lock.json has version 3.2.0',
      'CHANGELOG.md has no ## [3.2.1]',
    ]);
  });

  test('the files of the channels are those of this version', () => {
    for (const [path, content] of committedChannelFiles(manifest))
      expect(JSON.parse(readFileSync(join(root, path), 'utf8')), path).toEqual(JSON.parse(content));
  });

  test('Claude Code accepts plugin and marketplace', async () => {
    const claude = join(
      root,
      `node_modules/@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
    );
    for (const place of ['.', 'channels/claude-code']) {
      const env = { ...process.env, HOME: folder, CLAUDE_CONFIG_DIR: join(folder, 'claude') };
      const argv = ['plugin', 'validate', place, '--strict'];
      const { stdout } = await run(claude, argv, { cwd: root, env });
      expect(stdout).toContain('Validation passed');
    }
  });

  test('skills and commands name tools and commands that exist', () => {
    const pages = globSync('channels/claude-code/{skills,commands}/**/*.md', { cwd: root }).map(
      (path) => readFileSync(join(root, path), 'utf8'),
    );
    expect(pages).toHaveLength(3);
    const words = pages.flatMap((page) => [...page.matchAll(/`([^`]+)`/g)].map(([, word]) => word));
    const tools = words.filter((word) => /^[a-z]+_[a-z]+$/.test(word ?? ''));
    const known = [...toolValues.agents.map(({ name }) => name), 'trust_required'];
    expect(tools.length).toBeGreaterThan(4);
    expect(tools.filter((name) => !known.includes(name ?? ''))).toEqual([]);
    const commands = words.flatMap(
      (word) => /^npx -y ktx ([a-z]+(?: [a-z]+)?)/.exec(word ?? '')?.[1] ?? [],
    );
    expect(commands.length).toBeGreaterThan(3);
    const paths = registry.map(({ path }) => path);
    const isKnown = (command: string) =>
      paths.includes(command) || paths.includes(command.split(' ')[0] ?? '');
    expect(commands.filter((command) => !isKnown(command))).toEqual([]);
  });
});

interface Recorded {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: string;
  readonly token: string | undefined;
}

describe('the comment of the GitHub Action', () => {
  /** Answers as the API does for a pull request that has these comments. */
  async function comment(comments: readonly { readonly body: string }[], check: object) {
    const calls: Recorded[] = [];
    const answer = async (request: IncomingMessage) => {
      const { method, url, headers } = request;
      calls.push({ method, url, body: await text(request), token: headers.authorization });
      const page = Number(new URL(url ?? '', 'http://a').searchParams.get('page'));
      const listed = comments.map(({ body }, index) => ({ body, url: `${address}/own/${index}` }));
      return method === 'GET' ? listed.slice((page - 1) * 100, page * 100) : { id: 1 };
    };
    const server = createServer((request, response) => {
      void answer(request).then((value) => response.end(JSON.stringify(value)));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const file = join(folder, 'check.json');
    writeFileSync(file, JSON.stringify(check));
    const script = join(root, 'channels/github-action/comment.mjs');
    const env = {
      GITHUB_API_URL: address,
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_TOKEN: 'a-token',
      NUMBER: '7',
    };
    try {
      await run(process.execPath, [script, file, join(folder, 'no-eval.md')], { env });
    } finally {
      server.close();
    }
    return calls;
  }
  const failed = { ok: false, error: { message: '1 conflict is open.', hint: 'ktx review' } };

  test('is written once, with the fix', async () => {
    const calls = await comment([{ body: 'of a person' }], failed);
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /repos/acme/shop/issues/7/comments?per_page=100&page=1',
      'POST /repos/acme/shop/issues/7/comments',
    ]);
    expect(calls[1]?.token).toBe('Bearer a-token');
    expect(JSON.parse(calls[1]?.body ?? '').body).toBe(
      '<!-- ktx -->\n\n**ktx check** failed: 1 conflict is open.\n\nFix: `ktx review`',
    );
  });

  test('is rewritten at the next push, on whatever page it stands', async () => {
    const others = Array.from({ length: 120 }, () => ({ body: 'of a person' }));
    const calls = await comment([...others, { body: '<!-- ktx -->\n\nold' }], { ok: true });
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /repos/acme/shop/issues/7/comments?per_page=100&page=1',
      'GET /repos/acme/shop/issues/7/comments?per_page=100&page=2',
      'PATCH /own/120',
    ]);
  });

  test('no input of the workflow is put into a command', () => {
    const action = load(readFileSync(join(root, 'channels/github-action/action.yml'), 'utf8')) as {
      readonly runs: { readonly steps: readonly { readonly run?: string }[] };
    };
    const commands = action.runs.steps.flatMap(({ run: command }) => command ?? []);
    expect(commands.length).toBeGreaterThan(1);
    expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
  });
});
