import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { dirname, resolve } from 'node:path';
import { realpathSync } from 'node:fs';
import { readConfinedFileSync } from '../../../store/confined-file.ts';
import { isSecretReference } from '../../../store/secrets.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { ClickhouseConfig } from './config.ts';

export interface ClickhouseSettings {
  /** `https://host:8443`, for the library's client. */
  readonly origin: string;
  readonly agent: HttpAgent | HttpsAgent;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}

export function clickhouseSettings(
  config: ClickhouseConfig,
  context: OpenContext,
): ClickhouseSettings {
  const parts = config.url === undefined ? fieldParts(config) : urlParts(config, context);
  const { isEncrypted, host, port, database, user, password } = parts;
  return {
    origin: `${isEncrypted ? 'https' : 'http'}://${host}:${port}`,
    agent: isEncrypted
      ? new HttpsAgent({ ...tlsSettings(config, context), ...agentSettings })
      : new HttpAgent(agentSettings),
    database,
    user: user ?? 'default',
    password: (config.password === undefined ? password : context.secrets(config.password)) ?? '',
  };
}

const agentSettings = { keepAlive: true, maxSockets: 10 };

interface Address {
  readonly isEncrypted: boolean;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

function fieldParts({
  host = 'localhost',
  port,
  database = '',
  user,
  ssl,
}: ClickhouseConfig): Address {
  const isEncrypted = ssl !== 'off';
  const isV6 = host.includes(':') && !host.startsWith('[');
  return {
    isEncrypted,
    host: isV6 ? `[${host}]` : host,
    port: port ?? defaultPort(isEncrypted),
    database,
    user,
  };
}

function urlParts(
  { url: configured = '', ssl }: ClickhouseConfig,
  { connection, secrets }: OpenContext,
): Address {
  const text = isSecretReference(configured) ? secrets(configured) : configured;
  const isUrl = /^https?:\/\//.test(text) && URL.canParse(text);
  const url = isUrl ? new URL(text) : undefined;
  const database = decodeURIComponent(url?.pathname.slice(1) ?? '');
  if (url === undefined || database === '')
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" is not a ClickHouse URL that names a database.`,
      { hint: 'Write it like https://user:password@host:8443/database.' },
    );
  const isEncrypted = url.protocol === 'https:' && ssl !== 'off';
  if (url.protocol === 'http:' && ssl !== undefined && ssl !== 'off')
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" begins with http, but ssl is ${ssl}.`,
      { hint: 'Begin it with https, or set ssl: off.' },
    );
  const decode = (part: string): string | undefined =>
    part === '' ? undefined : decodeURIComponent(part);
  return {
    isEncrypted,
    host: url.hostname,
    port: url.port === '' ? defaultPort(isEncrypted) : Number(url.port),
    database,
    user: decode(url.username),
    password: decode(url.password),
  };
}

function defaultPort(isEncrypted: boolean): number {
  return isEncrypted ? 8443 : 8123;
}

/** In bytes. */
const largestCertificates = 10_000_000;

function tlsSettings({ ssl, ca }: ClickhouseConfig, { connection, projectDir }: OpenContext) {
  const rejectUnauthorized = ssl !== 'no-verify';
  if (ca === undefined) return { rejectUnauthorized };
  try {
    const path = resolve(projectDir, ca);
    const within = dirname(realpathSync(path));
    const found = readConfinedFileSync(path, { within, maxBytes: largestCertificates });
    if (found.kind !== 'read') throw new Error(found.kind);
    return { rejectUnauthorized, ca: found.bytes };
  } catch {
    throw warehouseError(
      'warehouse_not_found',
      `The certificate file ${ca} of connection "${connection}" cannot be read.`,
      { hint: 'Check ca of the connection in ktx.yaml; relative paths start at its folder.' },
    );
  }
}
