import { isSecretReference } from '../../../store/secrets.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { TrinoConfig } from './config.ts';
import { partOfUrl } from '../../server-url.ts';

export interface TrinoAddress {
  readonly isEncrypted: boolean;
  /** In brackets if it is an address of IPv6. */
  readonly host: string;
  readonly port: number;
  readonly catalog: string;
  readonly schema?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/** Where a connection leads, by its url or by its fields. Throws `config_url`. */
export function trinoAddress(config: TrinoConfig, context: OpenContext): TrinoAddress {
  return config.url === undefined ? fieldAddress(config) : urlAddress(config, context);
}

function fieldAddress(config: TrinoConfig): TrinoAddress {
  const { host = 'localhost', port, catalog = '', user, ssl } = config;
  const isEncrypted = ssl !== 'off';
  const isV6 = host.includes(':') && !host.startsWith('[');
  return {
    isEncrypted,
    host: isV6 ? `[${host}]` : host,
    port: port ?? defaultPort(isEncrypted),
    catalog,
    user,
  };
}

function urlAddress(config: TrinoConfig, { connection, secrets }: OpenContext): TrinoAddress {
  const { url: configured = '', ssl } = config;
  const text = isSecretReference(configured) ? secrets(configured) : configured;
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const path = (url?.pathname ?? '').replace(/^\/|\/$/g, '').split('/');
  const [catalog, schema, ...more] = path.map(partOfUrl);
  if (url === undefined || catalog === undefined || more.length > 0)
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" is not a Trino URL that names a catalog.`,
      { hint: 'Write it like https://user:password@host:8443/catalog/schema.' },
    );
  const isPlain = url.protocol === 'http:';
  if (isPlain && ssl !== undefined && ssl !== 'off')
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" begins with http, but ssl is ${ssl}.`,
      { hint: 'Begin it with https, or set ssl: off.' },
    );
  const isEncrypted = !isPlain && ssl !== 'off';
  return {
    isEncrypted,
    host: url.hostname,
    port: url.port === '' ? defaultPort(isEncrypted) : Number(url.port),
    catalog,
    schema,
    user: partOfUrl(url.username),
    password: partOfUrl(url.password),
  };
}

function defaultPort(isEncrypted: boolean): number {
  return isEncrypted ? 8443 : 8080;
}
