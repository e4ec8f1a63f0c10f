import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { resolveSettings } from '@anthropic-ai/claude-agent-sdk';
import { errorMessage } from '../../../lib/error.ts';
import { isRecord, parseJson } from '../../../lib/json.ts';
import { managedEffects, startRules, type ManagedEffect } from './effects.ts';

/** What somebody else decided about Claude Code on this machine, as far as it concerns ktx. */
export interface ManagedSettings {
  /** Settings that would take part in calls. */
  readonly effects: readonly ManagedEffect[];
  /** Files that keep Claude Code from starting. */
  readonly blockers: readonly ManagedEffect[];
  /** Rules about the login and the version. A program that does not satisfy them ends at once. */
  readonly rules: readonly ManagedEffect[];
}

export interface ManagedPlaces {
  /** The child's environment: it names the folder of the login. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: the platform's folder. */
  readonly policyFolder?: string | undefined;
}

const policyFolders: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: '/Library/Application Support/ClaudeCode',
  win32: 'C:\\Program Files\\ClaudeCode',
};

/**
 * Reads the files, the profile or registry of the system, and what a server delivered last. Starts
 * nothing of Claude Code.
 */
export async function readManagedSettings({
  env,
  policyFolder = policyFolders[process.platform] ?? '/etc/claude-code',
}: ManagedPlaces): Promise<ManagedSettings> {
  const home = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude');
  const dropIns = join(policyFolder, 'managed-settings.d');
  const names = await readFolder(dropIns);
  const files = [
    join(policyFolder, 'managed-settings.json'),
    ...names.map((name) => join(dropIns, name)),
    join(home, 'remote-settings.json'),
  ];
  const read = await Promise.all([
    ...files.map(readSettingsFile),
    readServerFile(join(policyFolder, 'managed-mcp.json')),
    readDeviceSettings(),
  ]);
  return {
    effects: read.flatMap(({ effects }) => effects),
    blockers: read.flatMap(({ blockers }) => blockers),
    rules: read.flatMap(({ rules }) => rules),
  };
}

const nothing: ManagedSettings = { effects: [], blockers: [], rules: [] };

async function readSettingsFile(file: string): Promise<ManagedSettings> {
  const text = await readIfThere(file);
  if (text instanceof Error) return blocker(file, `cannot be read (${errorMessage(text)})`);
  if (text === undefined || text.trim() === '') return nothing;
  const settings = parseJson(text);
  if (!isRecord(settings)) return blocker(file, 'is not a JSON object');
  // What the server delivers stands in an envelope in some releases.
  const inner = settings['settings'];
  return settingsOf(file, isRecord(inner) ? inner : settings);
}

function settingsOf(file: string, settings: Readonly<Record<string, unknown>>): ManagedSettings {
  return {
    ...nothing,
    effects: managedEffects(file, settings),
    rules: startRules(file, settings),
  };
}

/**
 * With this file Claude Code starts no servers but its own, and ktx gives its tools as a server.
 */
async function readServerFile(file: string): Promise<ManagedSettings> {
  const text = await readIfThere(file);
  return text === undefined ? nothing : blocker(file, 'allows no MCP servers but its own');
}

/** A profile of macOS or the registry of Windows, by the SDK's own reader. */
async function readDeviceSettings(): Promise<ManagedSettings> {
  const { sources, machinePolicy } = await resolveSettings({ settingSources: [] });
  const device = sources.filter(({ policyOrigin }) =>
    ['plist', 'hklm', 'hkcu'].includes(policyOrigin ?? ''),
  );
  const failed = machinePolicy?.didNotLoad;
  const kinds = failed === undefined || failed === false ? [] : failed;
  const found = device.map(({ path, policyOrigin = '', settings }) =>
    settingsOf(path ?? `the device policy (${policyOrigin})`, settings),
  );
  return {
    effects: found.flatMap(({ effects }) => effects),
    rules: found.flatMap(({ rules }) => rules),
    blockers: kinds
      .filter((kind) => kind !== 'file')
      .flatMap((kind) => blocker(`the device policy (${kind})`, 'cannot be read').blockers),
  };
}

function blocker(file: string, effect: string): ManagedSettings {
  return { ...nothing, blockers: [{ file, key: '', effect }] };
}

/** The names that Claude Code reads, in its order. */
async function readFolder(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).toSorted();
}

async function readIfThere(file: string): Promise<string | Error | undefined> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return error instanceof Error ? error : new Error(String(error));
  }
}
