import type { TlsSettings } from '../../../http/send-once.ts';
import { readCertificateFile } from '../../server/certificate-file.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import { trinoAddress } from './address.ts';
import type { TrinoConfig } from './config.ts';

export interface TrinoSettings {
  /** `https://host:8443` */
  readonly origin: string;
  readonly catalog: string;
  /** Where the server looks names up that have no schema. */
  readonly schema: string;
  /** Undefined selects every schema of the catalog. */
  readonly schemas: readonly string[] | undefined;
  /** Undefined if the token says who it is. */
  readonly user: string | undefined;
  /** The header `Authorization`; empty where the server asks for none. */
  readonly login: Readonly<Record<string, string>>;
  readonly tls: TlsSettings | undefined;
}

/** Throws `config_url` or `warehouse_insecure` before anything is sent. */
export function trinoSettings(config: TrinoConfig, context: OpenContext): TrinoSettings {
  const address = trinoAddress(config, context);
  const { isEncrypted, host, port, catalog } = address;
  const secrets = {
    password: config.password === undefined ? address.password : context.secrets(config.password),
    token: config.token === undefined ? undefined : context.secrets(config.token),
  };
  const user = config.user ?? address.user;
  checkHeaders({ user, catalog, schema: address.schema ?? config.schemas?.[0] }, context);
  checkLogin({ ...secrets, user, isEncrypted, host }, context);
  const schemas = config.schemas ?? (address.schema === undefined ? undefined : [address.schema]);
  const certificates = readCertificateFile(config.ca, context);
  return {
    origin: `${isEncrypted ? 'https' : 'http'}://${host}:${port}`,
    catalog,
    schema: address.schema ?? schemas?.[0] ?? 'default',
    schemas,
    user,
    login: loginHeaders({ ...secrets, user }),
    tls: isEncrypted
      ? {
          rejectUnauthorized: config.ssl !== 'no-verify',
          ...(certificates && { ca: certificates }),
        }
      : undefined,
  };
}

/** They are sent as headers, which take no other characters. */
function checkHeaders(
  values: Readonly<Record<string, string | undefined>>,
  { connection }: OpenContext,
): void {
  for (const [name, value = ''] of Object.entries(values))
    if (!/^[\x20-\x7e]*$/.test(value))
      throw warehouseError(
        'config_url',
        `The ${name} of connection "${connection}" has characters that cannot be sent to Trino.`,
        { hint: 'Only printable ASCII characters can: letters, digits, signs.' },
      );
}

interface TrinoLogin {
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
}

function loginHeaders({
  user = '',
  password,
  token,
}: TrinoLogin): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (password === undefined) return {};
  const pair = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
  return { authorization: `Basic ${pair}` };
}

interface CheckedLogin extends TrinoLogin {
  readonly isEncrypted: boolean;
  readonly host: string;
}

function checkLogin(login: CheckedLogin, { connection }: OpenContext): void {
  const { user, password, token, isEncrypted, host } = login;
  if (user === undefined && token === undefined)
    throw warehouseError('config_url', `Connection "${connection}" does not say as whom.`, {
      hint: 'Set user of the connection, or token.',
    });
  if (user?.includes(':') === true && password !== undefined)
    throw warehouseError(
      'config_url',
      `The user of connection "${connection}" has a colon, which no login with a password can have.`,
    );
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw warehouseError(
      'warehouse_auth',
      `The token of connection "${connection}" is no token: it has white space or other characters that no header takes.`,
      { hint: 'Check the variable or file that token names; it must hold the token only.' },
    );
  const hasSecret = password !== undefined || token !== undefined;
  if (!isEncrypted && hasSecret)
    throw warehouseError(
      'warehouse_insecure',
      `Connection "${connection}" is not encrypted: ${host} would get its login as plain text.`,
      { hint: 'Write a url with https, or leave ssl: off out; port 8443 is usual.' },
    );
}
