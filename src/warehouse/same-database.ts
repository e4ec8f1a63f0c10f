import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { UserError } from '../lib/error.ts';
import { isSecretReference, resolveSecret } from '../store/secrets.ts';
import { drivers, type WarehouseConfig } from './config.ts';

/** True where two connections read the same tables, as far as their configuration tells: a proxy or another name of a host hides it. */
export function isSameDatabase(
  one: WarehouseConfig,
  other: WarehouseConfig,
  projectDir: string,
): boolean {
  if (one.driver !== other.driver) return false;
  const [a, b] = [placeOf(one, projectDir), placeOf(other, projectDir)];
  return a === b || a.startsWith(b + sep) || b.startsWith(a + sep);
}

/** The file or folder, or the server and what one login of it reaches. */
function placeOf(config: WarehouseConfig, projectDir: string): string {
  if ('path' in config) return realPath(resolve(projectDir, config.path));
  const { reaches, port = '' } = drivers.find(({ name }) => name === config.driver)?.server ?? {};
  const url = urlOf(config.url, projectDir);
  const host =
    (url?.searchParams.get('host') ?? url?.hostname ?? config.host ?? 'localhost') || 'localhost';
  const server = [
    /^(127\.0\.0\.1|\[?::1\]?)$/.test(host) ? 'localhost' : host.toLowerCase(),
    url?.port || config.port || port,
  ].join(':');
  const database = url === undefined ? config.database : decodeURIComponent(url.pathname.slice(1));
  return reaches === 'server' ? server : [server, database].join(' ');
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A secret that is not there now tells nothing of the place but its own name. */
function urlOf(url: string | undefined, projectDir: string): URL | undefined {
  if (url === undefined) return undefined;
  try {
    const text = isSecretReference(url) ? resolveSecret(url, projectDir) : url;
    return new URL(text);
  } catch (error) {
    if (!(error instanceof UserError) && !(error instanceof TypeError)) throw error;
    return new URL(`unknown://${encodeURIComponent(url)}`);
  }
}
