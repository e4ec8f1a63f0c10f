import type { ClientConfig } from 'pg';
import { isSecretReference } from '../../../store/secrets.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { PostgresConfig } from './config.ts';

/** The `pg` client's settings for a connection, with its secrets resolved. */
export function clientSettings(
  config: PostgresConfig,
  { connection, secrets }: OpenContext,
): ClientConfig {
  const shared = {
    application_name: 'ktx',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    ...sslSettings(config),
  };
  if (config.url === undefined) {
    const { host = 'localhost', port, database, user } = config;
    const password = config.password === undefined ? undefined : secrets(config.password);
    return { ...shared, host, port, database, user, password };
  }
  const text = isSecretReference(config.url) ? secrets(config.url) : config.url;
  if (!/^postgres(ql)?:/.test(text) || !URL.canParse(text))
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" is not a Postgres URL.`,
      { hint: 'Write it like postgresql://user:password@host:5432/database.' },
    );
  const url = new URL(text);
  if (config.password !== undefined) url.password = secrets(config.password);
  // The library reads these modes as verify-full, and prints a warning unless the URL says so
  // itself.
  const mode = url.searchParams.get('sslmode') ?? '';
  const isLibpq = url.searchParams.get('uselibpqcompat') === 'true';
  if (!isLibpq && /^(prefer|require|verify-ca)$/.test(mode))
    url.searchParams.set('sslmode', 'verify-full');
  return { ...shared, connectionString: url.href };
}

/** Empty if the URL decides. */
function sslSettings({ ssl }: PostgresConfig): Pick<ClientConfig, 'ssl'> {
  if (ssl === undefined) return {};
  return { ssl: ssl === 'off' ? false : { rejectUnauthorized: ssl === 'verify' } };
}
