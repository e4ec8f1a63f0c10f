import { isSecretReference } from '../../../store/secrets.ts';
import { readCertificateFile } from '../../server/certificate-file.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { SqlServerConfig } from './config.ts';
import { partOfUrl } from '../../server-url.ts';

export interface SqlServerSettings {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly login: { readonly user: string; readonly password: string } | { readonly token: string };
  readonly isEncrypted: boolean;
  /** False: any certificate will do. */
  readonly isVerified: boolean;
  /** The certificate of the authority; undefined: those that Node trusts. */
  readonly ca: Buffer | undefined;
}

/** Throws `config_url`, `warehouse_auth` or `warehouse_insecure` before anything is sent. */
export function sqlserverSettings(
  config: SqlServerConfig,
  context: OpenContext,
): SqlServerSettings {
  const {
    host = 'localhost',
    port = 1433,
    database = '',
    user,
    password,
  } = config.url === undefined ? { ...config, password: undefined } : urlParts(config, context);
  const { ssl = 'verify' } = config;
  if (ssl === 'off' && !isThisMachine(host))
    throw warehouseError(
      'warehouse_insecure',
      `Connection "${context.connection}" is not encrypted: ${host} would get its login as plain text.`,
      { hint: 'Leave ssl: off out; ssl: no-verify encrypts without a check of the certificate.' },
    );
  return {
    host,
    port,
    database,
    login: loginOf(config, context, { user: config.user ?? user, password }),
    isEncrypted: ssl !== 'off',
    isVerified: ssl === 'verify',
    ca: readCertificateFile(config.ca, context),
  };
}

interface UrlLogin {
  readonly user: string | undefined;
  readonly password: string | undefined;
}

function loginOf(
  config: SqlServerConfig,
  { connection, secrets }: OpenContext,
  { user, password }: UrlLogin,
): SqlServerSettings['login'] {
  if (config.token !== undefined) {
    const token = secrets(config.token).trim();
    if (/^[\x21-\x7e]+$/.test(token)) return { token };
    throw warehouseError(
      'warehouse_auth',
      `The token of connection "${connection}" is no token: it has white space or other characters that no token has.`,
      { hint: 'Check the variable or file that token names; it must hold the token only.' },
    );
  }
  if (user === undefined)
    throw warehouseError('config_url', `Connection "${connection}" does not say as whom.`, {
      hint: 'Set user and password of the connection, or token.',
    });
  return {
    user,
    password: config.password === undefined ? (password ?? '') : secrets(config.password),
  };
}

function urlParts({ url: configured = '' }: SqlServerConfig, { connection, secrets }: OpenContext) {
  const text = isSecretReference(configured) ? secrets(configured) : configured;
  const isUrl = /^(?:sqlserver|mssql):\/\//.test(text) && URL.canParse(text);
  const url = isUrl ? new URL(text) : undefined;
  const database = partOfUrl(url?.pathname.slice(1) ?? '');
  if (url === undefined || url.hostname === '' || database === undefined)
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" is not a URL of SQL Server that names a database.`,
      { hint: 'Write it like sqlserver://user:password@host:1433/database.' },
    );
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 1433 : Number(url.port),
    database,
    user: partOfUrl(url.username),
    password: partOfUrl(url.password),
  };
}

function isThisMachine(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
}
