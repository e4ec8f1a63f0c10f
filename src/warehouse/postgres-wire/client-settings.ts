import type { ClientConfig } from 'pg';
import { isSecretReference } from '../../store/secrets.ts';
import type { OpenContext } from '../driver.ts';
import { warehouseError } from '../warehouse-error.ts';

/** What the configuration of a server that speaks the protocol of Postgres has. */
export interface WireConfig {
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
  /** A reference. */
  readonly password?: string | undefined;
  readonly ssl?: 'off' | 'verify' | 'no-verify' | undefined;
}

/** What an engine has where the configuration says nothing. */
export interface WireDefaults {
  /** For an error: `Postgres`. */
  readonly title: string;
  /** Undefined for 5432, unless the environment names another. */
  readonly port?: number;
  /** Undefined if the connection is not encrypted. */
  readonly ssl?: 'verify';
}

/** The `pg` client's settings for a connection, with its secrets resolved. */
export function clientSettings(
  config: WireConfig,
  { connection, secrets }: OpenContext,
  defaults: WireDefaults,
): ClientConfig {
  const shared = { application_name: 'ktx', connectionTimeoutMillis: 10_000, keepAlive: true };
  if (config.url === undefined) {
    const { host = 'localhost', port = defaults.port, database, user } = config;
    const password = config.password === undefined ? undefined : secrets(config.password);
    const ssl = sslSettings(config.ssl ?? defaults.ssl);
    return { ...shared, ...ssl, host, port, database, user, password };
  }
  const text = isSecretReference(config.url) ? secrets(config.url) : config.url;
  const plain = text.replace(/^(?:postgres|redshift):/, 'postgresql:');
  if (!plain.startsWith('postgresql:') || !URL.canParse(plain))
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" is not a ${defaults.title} URL.`,
      { hint: `Write it like postgresql://user:password@host:${defaults.port ?? 5432}/database.` },
    );
  const url = new URL(plain);
  if (config.password !== undefined) url.password = secrets(config.password);
  if (url.port === '' && defaults.port !== undefined) url.port = String(defaults.port);
  return { ...shared, ...urlSsl(url, config.ssl, defaults), connectionString: url.href };
}

/** The configuration overrides the URL, and the URL the default. */
function urlSsl(
  url: URL,
  configured: WireConfig['ssl'],
  defaults: WireDefaults,
): Pick<ClientConfig, 'ssl'> {
  const { searchParams } = url;
  if (configured !== undefined) {
    // The library would let the URL decide.
    for (const name of ['ssl', 'sslmode']) searchParams.delete(name);
    return sslSettings(configured);
  }
  const mode = searchParams.get('sslmode') ?? '';
  if (mode === '' && !searchParams.has('ssl')) return sslSettings(defaults.ssl);
  // The library reads these modes as verify-full, and prints a warning unless the URL says so
  // itself.
  const isLibpq = searchParams.get('uselibpqcompat') === 'true';
  if (!isLibpq && /^(prefer|require|verify-ca)$/.test(mode))
    searchParams.set('sslmode', 'verify-full');
  return {};
}

/** Empty for undefined: then the library decides. */
function sslSettings(ssl: WireConfig['ssl']): Pick<ClientConfig, 'ssl'> {
  if (ssl === undefined) return {};
  return { ssl: ssl === 'off' ? false : { rejectUnauthorized: ssl === 'verify' } };
}
