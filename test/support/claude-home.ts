import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelEndpoint } from './model-endpoint.ts';

/**
 * A machine of its own for a Claude Code child: an empty HOME, a project folder, and the way to the
 * scripted endpoint.
 */
export interface ClaudeHome {
  readonly home: string;
  readonly projectDir: string;
  /** What the process of ktx would have: nothing of it is on the denylist. */
  readonly env: NodeJS.ProcessEnv;
  remove(): Promise<void>;
}

/** `session: false` leaves out the token: nobody is logged in. */
export async function makeClaudeHome(
  endpoint: ModelEndpoint,
  { session = true }: { session?: boolean } = {},
): Promise<ClaudeHome> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ktx-test-claude-')));
  const home = join(folder, 'home');
  const projectDir = join(folder, 'project');
  const temporary = join(folder, 'tmp');
  await Promise.all([home, projectDir, temporary].map((path) => mkdir(path)));
  return {
    home,
    projectDir,
    env: {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      XDG_STATE_HOME: process.env['XDG_STATE_HOME'],
      HOME: home,
      USERPROFILE: home,
      TMPDIR: temporary,
      HTTPS_PROXY: endpoint.proxy,
      NODE_EXTRA_CA_CERTS: endpoint.caFile,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...(session ? { CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-made-up' } : {}),
    },
    // A child that is just ending may still write into its home.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

/**
 * The real Claude Code program that ships with the Agent SDK; undefined on a platform that has
 * none.
 */
export function claudeBinary(): string | undefined {
  const resolver = createRequire(
    createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk'),
  );
  const program = process.platform === 'win32' ? 'claude.exe' : 'claude';
  const names = [`${process.platform}-${process.arch}`, `${process.platform}-${process.arch}-musl`];
  for (const name of names) {
    try {
      const path = resolver.resolve(`@anthropic-ai/claude-agent-sdk-${name}/${program}`);
      if (existsSync(path)) return path;
    } catch {
      // Not installed for this platform.
    }
  }
  return undefined;
}
