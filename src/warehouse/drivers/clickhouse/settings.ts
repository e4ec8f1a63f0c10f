import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isSecretReference } from '../../../store/secrets.ts';
import { readCertificateFile } from '../../server/certificate-file.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { ClickhouseConfig } from './config.ts';
import { partOfUrl } from '../../server-url.ts';

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
  const database = partOfUrl(url?.pathname.slice(1) ?? '');
  if (url === undefined || database === undefined)
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
  return {
    isEncrypted,
    host: url.hostname,
    port: url.port === '' ? defaultPort(isEncrypted) : Number(url.port),
    database,
    user: partOfUrl(url.username),
    password: partOfUrl(url.password),
  };
}

function defaultPort(isEncrypted: boolean): number {
  return isEncrypted ? 8443 : 8123;
}

function tlsSettings({ ssl, ca }: ClickhouseConfig, context: OpenContext) {
  const rejectUnauthorized = ssl !== 'no-verify';
  const certificates = readCertificateFile(ca, context);
  return certificates === undefined
    ? { rejectUnauthorized }
    : { rejectUnauthorized, ca: certificates };
}
