import { join } from 'node:path';
import type { Json } from '../../lib/json.ts';

/** How a client starts ktx. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Names of environment variables that ktx needs; never their values. */
  readonly variables: readonly string[];
}

/** A server that the client reaches over HTTP, and the variable that holds its token. */
export interface ServerAddress {
  readonly url: string;
  readonly tokenVariable: string | undefined;
}

export interface ClientPlace {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which a person works: files of the scope `project` are there. */
  readonly workFolder: string;
}

/** What a client's file says of one server. */
export type ClientEntry = Readonly<Record<string, Json>>;

export type ClientScope = 'user' | 'project';

/** A program that talks to MCP servers, and the file in which it keeps them. */
export interface McpClient {
  readonly name: string;
  readonly title: string;
  readonly format: 'json' | 'toml' | 'yaml';
  /** The keys that lead to the servers in its file. */
  readonly keys: readonly string[];
  /** The folder that exists where the client is installed. */
  readonly folder: (place: ClientPlace) => string;
  /** Its file; undefined if it has none of this scope. */
  readonly file: (scope: ClientScope, place: ClientPlace) => string | undefined;
  readonly stdioEntry: (server: ServerCommand, name: string) => ClientEntry;
  /** Undefined if its file takes no servers over HTTP. */
  readonly httpEntry?: (server: ServerAddress) => ClientEntry;
  /** True if its file can name variables that it hands on to servers. */
  readonly passesVariables: boolean;
  /** What makes it read its file again; undefined if it does by itself. */
  readonly reload?: string;
}

type Spelling = (name: string) => string;

const dollarBraces: Spelling = (name) => `\${${name}}`;
const envBraces: Spelling = (name) => `\${env:${name}}`;

/** `command`, `args` and `env`, as most clients have them; each spells a variable its own way. */
function commonEntry(spell?: Spelling) {
  return ({ command, args, variables }: ServerCommand): ClientEntry => ({
    command,
    args: [...args],
    ...(spell && variables.length > 0 && { env: variablesAs(variables, spell) }),
  });
}

function variablesAs(variables: readonly string[], spell: Spelling) {
  return Object.fromEntries(variables.map((name) => [name, spell(name)]));
}

/** The URL under `key`, and the token as a header. */
function commonAddress(key: string, spell: Spelling, more: Readonly<Record<string, Json>> = {}) {
  return ({ url, tokenVariable }: ServerAddress): ClientEntry => ({
    ...more,
    [key]: url,
    ...(tokenVariable !== undefined && {
      headers: { Authorization: `Bearer ${spell(tokenVariable)}` },
    }),
  });
}

/** The folder for settings of programs of this user. */
function settingsFolder({ home, platform, env }: ClientPlace): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME'] || join(home, '.config');
}

/** Zed, Goose and opencode keep to `~/.config` on macOS too. */
function unixSettings({ home, env }: ClientPlace): string {
  return env['XDG_CONFIG_HOME'] || join(home, '.config');
}

const codexHome = ({ env, home }: ClientPlace) => env['CODEX_HOME'] || join(home, '.codex');
const zedFolder = (place: ClientPlace) =>
  join(place.platform === 'win32' ? settingsFolder(place) : unixSettings(place), 'zed');
const gooseFolder = (place: ClientPlace) =>
  place.platform === 'win32'
    ? join(settingsFolder(place), 'Block', 'goose', 'config')
    : join(unixSettings(place), 'goose');

/**
 * Each as its own documentation describes it: names of files and keys, and how a variable is
 * written.
 */
export const mcpClients: readonly McpClient[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    keys: ['mcpServers'],
    folder: ({ home }) => join(home, '.claude'),
    file: (scope, { home, workFolder }) =>
      scope === 'user' ? join(home, '.claude.json') : join(workFolder, '.mcp.json'),
    stdioEntry: (server) => ({ type: 'stdio', ...commonEntry(dollarBraces)(server) }),
    httpEntry: commonAddress('url', dollarBraces, { type: 'http' }),
    passesVariables: true,
    reload: 'start a new session of it',
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    keys: ['mcpServers'],
    folder: (place) => join(settingsFolder(place), 'Claude'),
    file: (scope, place) =>
      scope === 'user'
        ? join(settingsFolder(place), 'Claude', 'claude_desktop_config.json')
        : undefined,
    stdioEntry: commonEntry(),
    passesVariables: false,
    reload: 'quit it and start it again',
  },
  {
    name: 'codex',
    title: 'Codex',
    format: 'toml',
    keys: ['mcp_servers'],
    folder: codexHome,
    file: (scope, place) =>
      scope === 'user'
        ? join(codexHome(place), 'config.toml')
        : join(place.workFolder, '.codex', 'config.toml'),
    stdioEntry: ({ command, args, variables }) => ({
      command,
      args: [...args],
      ...(variables.length > 0 && { env_vars: [...variables] }),
    }),
    httpEntry: ({ url, tokenVariable }) => ({
      url,
      ...(tokenVariable !== undefined && { bearer_token_env_var: tokenVariable }),
    }),
    passesVariables: true,
    reload: 'start a new session of it',
  },
  {
    name: 'cursor',
    title: 'Cursor',
    format: 'json',
    keys: ['mcpServers'],
    folder: ({ home }) => join(home, '.cursor'),
    file: (scope, { home, workFolder }) =>
      join(scope === 'user' ? home : workFolder, '.cursor', 'mcp.json'),
    stdioEntry: commonEntry(envBraces),
    httpEntry: commonAddress('url', envBraces),
    passesVariables: true,
    reload: 'switch ktx on in its MCP settings',
  },
  {
    name: 'vscode',
    title: 'VS Code',
    format: 'json',
    keys: ['servers'],
    folder: (place) => join(settingsFolder(place), 'Code'),
    file: (scope, place) =>
      scope === 'user'
        ? join(settingsFolder(place), 'Code', 'User', 'mcp.json')
        : join(place.workFolder, '.vscode', 'mcp.json'),
    stdioEntry: (server) => ({ type: 'stdio', ...commonEntry(envBraces)(server) }),
    httpEntry: commonAddress('url', envBraces, { type: 'http' }),
    passesVariables: true,
    reload: 'choose "Start Server" above the entry in its mcp.json',
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    format: 'json',
    keys: ['mcpServers'],
    folder: ({ home }) => join(home, '.codeium', 'windsurf'),
    file: (scope, { home }) =>
      scope === 'user' ? join(home, '.codeium', 'windsurf', 'mcp_config.json') : undefined,
    stdioEntry: commonEntry(envBraces),
    httpEntry: commonAddress('serverUrl', envBraces),
    passesVariables: true,
    reload: 'refresh the servers in its MCP settings',
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    format: 'json',
    keys: ['mcpServers'],
    folder: ({ home }) => join(home, '.gemini'),
    file: (scope, { home, workFolder }) =>
      join(scope === 'user' ? home : workFolder, '.gemini', 'settings.json'),
    stdioEntry: commonEntry(dollarBraces),
    httpEntry: commonAddress('httpUrl', dollarBraces),
    passesVariables: true,
    reload: 'start a new session of it',
  },
  {
    name: 'opencode',
    title: 'opencode',
    format: 'json',
    keys: ['mcp'],
    folder: (place) => join(unixSettings(place), 'opencode'),
    file: (scope, place) =>
      join(
        scope === 'user' ? join(unixSettings(place), 'opencode') : place.workFolder,
        'opencode.json',
      ),
    stdioEntry: ({ command, args, variables }) => ({
      type: 'local',
      command: [command, ...args],
      enabled: true,
      ...(variables.length > 0 && {
        environment: variablesAs(variables, (name) => `{env:${name}}`),
      }),
    }),
    httpEntry: commonAddress('url', (name) => `{env:${name}}`, { type: 'remote', enabled: true }),
    passesVariables: true,
    reload: 'start a new session of it',
  },
  {
    name: 'goose',
    title: 'Goose',
    format: 'yaml',
    keys: ['extensions'],
    folder: gooseFolder,
    file: (scope, place) =>
      scope === 'user' ? join(gooseFolder(place), 'config.yaml') : undefined,
    stdioEntry: ({ command, args, variables }, name) => ({
      type: 'stdio',
      name,
      enabled: true,
      cmd: command,
      args: [...args],
      envs: {},
      env_keys: [...variables],
      timeout: 300,
    }),
    passesVariables: true,
    reload: 'start a new session of it',
  },
  {
    name: 'zed',
    title: 'Zed',
    format: 'json',
    keys: ['context_servers'],
    folder: zedFolder,
    file: (scope, place) =>
      scope === 'user'
        ? join(zedFolder(place), 'settings.json')
        : join(place.workFolder, '.zed', 'settings.json'),
    stdioEntry: commonEntry(),
    passesVariables: false,
  },
];
