import { isAbsolute } from 'node:path';
import type { ConnectionOptions } from 'mysql2';
import { isSecretReference } from '../../../store/secrets.ts';
import { readCertificateFile } from '../../server/certificate-file.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { MysqlConfig } from './config.ts';
import { partOfUrl } from '../../server-url.ts';

/** The settings of the library's client; `database` is always set. */
export type MysqlSettings = ConnectionOptions & { readonly database: string };

export function mysqlSettings(config: MysqlConfig, context: OpenContext): MysqlSettings {
  const {
    host = 'localhost',
    port = 3306,
    database = '',
    user,
    password,
  } = config.url === undefined ? config : urlParts(config, context);
  const plainPassword = config.password === undefined ? password : context.secrets(config.password);
  return {
    ...(isAbsolute(host) ? { socketPath: host } : { host, port }),
    ...tlsSettings(config, context, isAbsolute(host)),
    database,
    user,
    password: plainPassword,
    charset: 'utf8mb4',
    // The library would compile a function for the columns of each query and keep 15,000 of them.
    disableEval: true,
    connectTimeout: 10_000,
    // Keeps the server from asking for files of this machine.
    flags: ['-LOCAL_FILES'],
    connectAttributes: { program_name: 'ktx' },
  };
}

function urlParts({ url: configured = '' }: MysqlConfig, { connection, secrets }: OpenContext) {
  const text = isSecretReference(configured) ? secrets(configured) : configured;
  const isUrl = /^(mysql|mariadb):\/\//.test(text) && URL.canParse(text);
  const url = isUrl ? new URL(text) : undefined;
  const database = partOfUrl(url?.pathname.slice(1) ?? '');
  if (url === undefined || database === undefined)
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" is not a MySQL URL that names a database.`,
      {
        hint: 'Write it like mysql://user:password@host:3306/database.',
      },
    );
  // A Unix socket is written as the host: mysql://user@%2Frun%2Fmysqld%2Fmysqld.sock/database
  return {
    host: partOfUrl(url.hostname),
    port: url.port === '' ? 3306 : Number(url.port),
    database,
    user: partOfUrl(url.username),
    password: partOfUrl(url.password),
  };
}

function tlsSettings(
  { ssl, ca }: MysqlConfig,
  context: OpenContext,
  isSocket: boolean,
): Pick<ConnectionOptions, 'ssl'> {
  const mode = ssl ?? (isSocket ? 'off' : 'verify');
  if (mode === 'off') return {};
  const isVerified = mode === 'verify';
  const checks = { rejectUnauthorized: isVerified, verifyIdentity: isVerified };
  const certificates = readCertificateFile(ca, context);
  return { ssl: certificates === undefined ? checks : { ...checks, ca: certificates } };
}
