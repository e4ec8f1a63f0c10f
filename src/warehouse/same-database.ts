import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { UserError } from '../lib/error.ts';
import { isSecretReference, type ReadSecret } from '../store/secrets.ts';
import { driverNamed, type WarehouseConfig } from './config.ts';
import { partOfUrl } from './server-url.ts';

export interface DatabaseSettings {
  readonly config: WarehouseConfig;
  /** Undefined if nobody has approved the connection: its references stay closed. */
  readonly secrets: ReadSecret | undefined;
}

/**
 * True if two connections read the same tables, as far as their configuration shows. A proxy, or
 * two host names of one server, cannot be detected.
 */
export function isSameDatabase(
  first: DatabaseSettings,
  second: DatabaseSettings,
  projectDir: string,
): boolean {
  if (first.config.driver !== second.config.driver) return false;
  const a = databaseAddress(first, projectDir);
  const b = databaseAddress(second, projectDir);
  return a === b || isInside(a, b) || isInside(b, a);
}

function isInside(address: string, folder: string): boolean {
  return address.startsWith(folder + sep);
}

/**
 * The absolute path of a file or folder; or `host:port`, with the database if a login reads only
 * one database of the server.
 */
function databaseAddress({ config, secrets }: DatabaseSettings, projectDir: string): string {
  if ('path' in config) return realPath(resolve(projectDir, config.path));
  const { loginReads, defaultPort, address } = driverNamed(config.driver).server ?? {};
  const settings: Settings = { ...config };
  const url = serverUrl(textOf(settings, 'url'), secrets);
  const isNamed = url === undefined && textOf(settings, 'host') === undefined;
  const host = (isNamed ? address?.(settings) : undefined) ?? serverHost(settings, url);
  const { port: configured } = settings;
  const ownPort = typeof configured === 'number' ? configured : defaultPort;
  const server = `${host}:${url?.port || (ownPort ?? '')}`;
  const database =
    url === undefined
      ? (textOf(settings, 'database') ?? textOf(settings, 'catalog'))
      : partOfUrl(url.pathname.slice(1));
  return loginReads === 'server' ? server : `${server} ${database ?? ''}`;
}

type Settings = Readonly<Record<string, unknown>>;

function textOf(settings: Settings, key: string): string | undefined {
  const value = settings[key];
  return typeof value === 'string' ? value : undefined;
}

function serverHost(settings: Settings, url: URL | undefined): string {
  const named = url?.searchParams.get('host') ?? url?.hostname;
  const host = named ?? textOf(settings, 'host');
  const isLocal = !host || /^(127\.0\.0\.1|\[?::1\]?)$/.test(host);
  return isLocal ? 'localhost' : host.toLowerCase();
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * If the secret that holds the URL is missing, its reference stands for the server: equal
 * references mean equal servers.
 */
function serverUrl(url: string | undefined, secrets: ReadSecret | undefined): URL | undefined {
  if (url === undefined) return undefined;
  try {
    return new URL(isSecretReference(url) ? (secrets?.(url) ?? '') : url);
  } catch (error) {
    if (!(error instanceof UserError) && !(error instanceof TypeError)) throw error;
    return new URL(`unknown://${encodeURIComponent(url)}`);
  }
}
