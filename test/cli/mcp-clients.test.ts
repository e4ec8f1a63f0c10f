import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { claudeBinary } from '../support/claude-home.ts';
import { startKtx } from '../support/ktx-process.ts';
import { folder, shopDatabase } from './run-cli.ts';

const run = promisify(execFile);
const canary = 'pg-password-canary-7361';

/** A project with a variable that it needs, and a machine with nothing on it. */
let project: string;
beforeEach(() => {
  project = folder();
  shopDatabase(join(project, 'shop.db'));
  writeFileSync(
    join(project, 'ktx.yaml'),
    'connections:\n  shop: {driver: sqlite, path: shop.db}\n  wh: {driver: postgres, host: 127.0.0.1, port: 1, database: d, password: env:WH_PASSWORD}\n',
  );
});

function machine(...folders: readonly string[]) {
  const home = folder();
  for (const path of folders) mkdirSync(join(home, path), { recursive: true });
  const { PATH, LANG, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, LANG, NODE_COMPILE_CACHE, HOME: home, WH_PASSWORD: canary };
  return {
    home,
    at: (path: string) => join(home, path),
    read: (path: string) => readFileSync(join(home, path), 'utf8'),
    write: (path: string, text: string) => {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    },
    ktx: (...argv: readonly string[]) => startKtx(argv, { cwd: project, env }).ended,
    env,
  };
}

/** Every file below a folder, as one text. */
function everything(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

test('ktx is added to all clients that are there, names its variables, and answers from each', async () => {
  const { home, read, ktx, write } = machine('.cursor', '.codex', '.config/zed');
  write(
    '.cursor/mcp.json',
    '\uFEFF{\n  "mcpServers": {\n    "a": {"command": "x"} // mine\n  }\n}\n',
  );
  const added = await ktx('mcp', 'install', '--all');
  expect(added.stderr).not.toContain('error');
  expect(added.code).toBe(0);
  for (const title of ['Codex', 'Cursor', 'Zed'])
    expect(added.stdout).toMatch(
      new RegExp(`${title}: installed, answered in [\\d.]+ s with 8 tools`),
    );
  expect(added.stderr).toContain(
    "Zed hands on no variables: put WH_PASSWORD into the project's .env.",
  );
  expect(read('.cursor/mcp.json')).toContain('"WH_PASSWORD": "${env:WH_PASSWORD}"');
  expect(read('.codex/config.toml')).toContain('env_vars = ["WH_PASSWORD"]');
  expect(read('.cursor/mcp.json')).toMatch(/^\uFEFF\{\n/);
  expect(read('.cursor/mcp.json')).toContain('"a": {"command": "x"} // mine');
  expect(read('.cursor/mcp.json.bak')).toContain('"a": {"command": "x"} // mine\n  }\n}\n');
  expect(everything(home)).not.toContain(canary);

  const before = everything(home);
  const again = await ktx('mcp', 'install', 'cursor');
  expect(again.stdout).toMatch(/^Cursor: was installed already, answered in/);
  expect(everything(home)).toBe(before);

  const status = await ktx('mcp', 'status', '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({
    data: {
      clients: [
        { client: 'codex', state: 'installed', project },
        { client: 'cursor', state: 'installed', project },
        { client: 'zed', state: 'installed', project },
      ],
    },
  });

  const removed = await ktx('mcp', 'uninstall', 'cursor');
  expect(removed.stdout).toMatch(/^Cursor: removed\n/);
  expect(read('.cursor/mcp.json')).toBe(
    '\uFEFF{\n  "mcpServers": {\n    "a": {"command": "x"} // mine\n  }\n}\n',
  );
});

test('what is not ktx, or cannot be edited, stays as it is, and the others are installed', async () => {
  const { ktx, read, write, at } = machine('.gemini', '.cursor', '.codex', '.codeium/windsurf');
  write('.gemini/settings.json', '{ "mcpServers": ');
  write('.codex/config.toml', '[mcp_servers.ktx]\ncommand = "something else"\n');
  write('.codeium/windsurf/mcp_config.json', '{}');
  chmodSync(at('.codeium/windsurf/mcp_config.json'), 0o444);
  const mixed = await ktx('mcp', 'install', '--all');
  expect(mixed.code).toBe(3);
  expect(mixed.stdout).toContain('Cursor: installed');
  expect(mixed.stdout).toContain('Codex: Codex has another server under ktx.');
  expect(mixed.stdout).toContain('it is no valid JSON: line 1');
  expect(mixed.stdout).toContain('it may only be read');
  expect(read('.gemini/settings.json')).toBe('{ "mcpServers": ');
  expect(read('.codex/config.toml')).toBe('[mcp_servers.ktx]\ncommand = "something else"\n');
  expect(read('.codeium/windsurf/mcp_config.json')).toBe('{}');
  const replaced = await ktx('mcp', 'install', 'codex', '--replace');
  expect(replaced.code).toBe(0);
  expect(read('.codex/config.toml.bak')).toContain('something else');
  expect(read('.codex/config.toml')).not.toContain('something else');
});

test('a dry run shows the change; a link of a dotfiles folder stays a link', async () => {
  const { ktx, read, write, at } = machine('.cursor');
  write('dotfiles/mcp.json', '{\n  "mcpServers": {}\n}\n');
  symlinkSync(at('dotfiles/mcp.json'), at('.cursor/mcp.json'));
  const dry = await ktx('mcp', 'install', 'cursor', '--dry-run');
  expect(dry.stdout).toContain('+     "ktx": {');
  expect(read('dotfiles/mcp.json')).toBe('{\n  "mcpServers": {}\n}\n');
  await ktx('mcp', 'install', 'cursor');
  expect(lstatSync(at('.cursor/mcp.json')).isSymbolicLink()).toBe(true);
  expect(read('dotfiles/mcp.json')).toContain('"ktx": {');
});

test('a cloned folder whose file leads elsewhere writes nothing there', async () => {
  const { ktx, read, write, at } = machine('.cursor');
  write('.cursor/mcp.json', '{}\n');
  symlinkSync(at('.cursor/mcp.json'), join(project, '.mcp.json'));
  const { code, stderr } = await ktx('mcp', 'install', 'claude-code', '--scope', 'project');
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('path_outside_project'),
  });
  expect(read('.cursor/mcp.json')).toBe('{}\n');
});

test('a server that does not answer is not written down', async () => {
  const { ktx, at } = machine('.cursor');
  const failed = await ktx('mcp', 'install', 'cursor', '--http', 'http://127.0.0.1:1/mcp');
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain('ktx did not answer');
  expect(existsSync(at('.cursor/mcp.json'))).toBe(false);
});

test('a local server takes no place of one over HTTP unasked, and a dry run of what is there says so', async () => {
  const { ktx, read, write } = machine('.cursor', '.config/goose');
  const text = '{"mcpServers": {"ktx": {"url": "https://ktx.example.com/mcp"}}}\n';
  write('.cursor/mcp.json', text);
  const refused = await ktx('mcp', 'install', 'cursor');
  expect(refused.stderr).toContain('Cursor has a server over HTTP under ktx.');
  expect(read('.cursor/mcp.json')).toBe(text);
  expect((await ktx('mcp', 'uninstall', 'cursor')).code).toBe(0);
  await ktx('mcp', 'install', 'goose', '--name', 'shop');
  expect(read('.config/goose/config.yaml')).toContain('name: shop');
  const again = await ktx('mcp', 'install', 'goose', '--name', 'shop', '--dry-run');
  expect(again.stdout).toBe('Goose: nothing to change\n');
});

test.each([
  [['mcp', 'install'], 'Which clients?', 'ktx mcp install cursor, or --all'],
  [['mcp', 'install', 'curser'], 'clients cannot be "curser"', 'cursor, vscode'],
  [
    ['mcp', 'install', 'windsurf', '--scope', 'project'],
    'no servers of a single project',
    '--scope',
  ],
  [['mcp', 'install', 'cursor', '--token-env', 'T'], '--token-env is for', '--http'],
  [['mcp', 'install', 'zed', '--http', 'ftp://x'], 'takes an address', 'https://host/mcp'],
  [['mcp', 'install', 'zed', '--http', 'http://127.0.0.1:1/mcp'], 'no server over HTTP', '--http'],
])('%j says what is wrong', async (argv, message, hint) => {
  const { ktx } = machine('.cursor');
  const { code, stderr } = await ktx(...argv);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr.replace(/node \S+main\.ts/g, 'ktx')).toContain(hint);
});

const claude = claudeBinary();
test.skipIf(claude === undefined)("Claude Code's own list says that it is connected", async () => {
  const { ktx, at, env, home } = machine('.claude', 'bin');
  symlinkSync(claude ?? '', at('bin/claude'));
  env.PATH = `${at('bin')}${delimiter}${env.PATH}`;
  const added = await ktx('mcp', 'install', 'claude-code');
  expect(added.stdout).toContain('Claude Code: installed');
  const list = () => run('claude', ['mcp', 'list'], { env, cwd: home });
  expect((await list()).stdout).toMatch(/^ktx: .*main\.ts mcp serve .*Connected/m);
  await ktx('mcp', 'uninstall', 'claude-code');
  expect((await list()).stdout).not.toContain('ktx:');
});
