import { readFileSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import type { ConnectionOptions } from 'mysql2';
import { isSecretReference } from '../../../store/secrets.ts';
import type { OpenContext } from '../../driver.ts';
import { failure } from '../../failure.ts';
import type { MysqlConfig } from './config.ts';

/** What the library connects with; `database` is always there. */
export type MysqlSettings = ConnectionOptions & { readonly database: string };

export function mysqlSettings(config: MysqlConfig, context: OpenContext): MysqlSettings {
  const {
    host = 'localhost',
    port = 3306,
    database = '',
    user,
    password,
  } = config.url === undefined ? config : urlParts(config, context);
  const secret = config.password === undefined ? password : context.secrets(config.password);
  return {
    ...placeOf(host, port),
    ...tls(config, context, isAbsolute(host)),
    database,
    user,
    password: secret,
    charset: 'utf8mb4',
    connectTimeout: 10_000,
    // The server may not ask for files of this machine.
    flags: ['-LOCAL_FILES'],
    connectAttributes: { program_name: 'ktx' },
  };
}

/** Of a host without a name the library would have the certificate checked for `localhost`: Node takes the name from the socket. */
function placeOf(host: string, port: number): Partial<ConnectionOptions> {
  if (isAbsolute(host)) return { socketPath: host };
  if (isIP(host) === 0) return { host, port };
  return {
    host,
    port,
    stream: () =>
      Object.assign(connect({ host, port, noDelay: true, keepAlive: true }), { _host: host }),
  };
}

function urlParts({ url: written = '' }: MysqlConfig, { connection, secrets }: OpenContext) {
  const text = isSecretReference(written) ? secrets(written) : written;
  const isUrl = /^(mysql|mariadb):\/\//.test(text) && URL.canParse(text);
  const url = isUrl ? new URL(text) : undefined;
  const database = decodeURIComponent(url?.pathname.slice(1) ?? '');
  if (url === undefined || database === '')
    throw failure(
      'config_url',
      `The url of connection "${connection}" is not a MySQL URL that names a database.`,
      {
        hint: 'It looks like mysql://user:password@host:3306/database.',
      },
    );
  const said = (part: string): string | undefined =>
    part === '' ? undefined : decodeURIComponent(part);
  // A socket stands in place of the host: mysql://user@%2Frun%2Fmysqld%2Fmysqld.sock/database
  return {
    host: said(url.hostname),
    port: url.port === '' ? 3306 : Number(url.port),
    database,
    user: said(url.username),
    password: said(url.password),
  };
}

function tls(
  { ssl, ca }: MysqlConfig,
  { connection, projectDir }: OpenContext,
  isSocket: boolean,
): Pick<ConnectionOptions, 'ssl'> {
  const mode = ssl ?? (isSocket ? 'off' : 'verify');
  if (mode === 'off') return {};
  const isVerified = mode === 'verify';
  if (ca === undefined)
    return { ssl: { rejectUnauthorized: isVerified, verifyIdentity: isVerified } };
  try {
    return {
      ssl: {
        rejectUnauthorized: isVerified,
        verifyIdentity: isVerified,
        ca: readFileSync(resolve(projectDir, ca)),
      },
    };
  } catch {
    throw failure(
      'warehouse_not_found',
      `The certificate file ${ca} of connection "${connection}" cannot be read.`,
      {
        hint: 'Check ca of the connection in ktx.yaml; relative paths start at its folder.',
      },
    );
  }
}
