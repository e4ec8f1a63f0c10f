import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { errorMessage } from '../../../lib/error.ts';
import type { OpenContext } from '../../driver.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { SnowflakeConfig } from './config.ts';

/** The headers of a login; `fresh`: the server took those of the last time no longer. */
export type SnowflakeLogin = (fresh: boolean) => Promise<Readonly<Record<string, string>>>;

/** In seconds. Snowflake takes no token that is good for more than an hour. */
const tokenLife = 3300;
/** In seconds: a token is renewed so long before its end. */
const renewBefore = 300;

/** Reads the secrets now, so that a bad reference fails before anything is sent. */
export function snowflakeLogin(config: SnowflakeConfig, context: OpenContext): SnowflakeLogin {
  const { token, oauth_token: oauth } = config;
  if (token !== undefined) return bearer('PROGRAMMATIC_ACCESS_TOKEN', token, context);
  if (oauth !== undefined) return bearer('OAUTH', oauth, context);
  const key = readKey(config, context);
  const subject = `${accountOfToken(config.account)}.${(config.user ?? '').toUpperCase()}`;
  const issuer = `${subject}.SHA256:${fingerprint(key)}`;
  let current: { readonly headers: Readonly<Record<string, string>>; readonly until: number };
  return async (fresh) => {
    const now = Math.floor(Date.now() / 1000);
    if (fresh || current === undefined || current.until - renewBefore < now) {
      const until = now + tokenLife;
      const jwt = await new SignJWT()
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(subject)
        .setIssuedAt(now)
        .setExpirationTime(until)
        .sign(key);
      current = { headers: loginHeaders('KEYPAIR_JWT', jwt), until };
    }
    return current.headers;
  };
}

/** A token in a file or in the environment may have been replaced since. */
function bearer(kind: string, reference: string, { secrets }: OpenContext): SnowflakeLogin {
  let headers = loginHeaders(kind, secrets(reference).trim());
  return async (fresh) => {
    if (fresh) headers = loginHeaders(kind, secrets(reference).trim());
    return headers;
  };
}

function loginHeaders(kind: string, token: string): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    'x-snowflake-authorization-token-type': kind,
  };
}

/** The account in a token: without region and cloud, in upper case. */
function accountOfToken(account: string): string {
  const isGlobal = account.includes('.global');
  const [name = account] = account.split(isGlobal ? '-' : '.');
  return name.toUpperCase();
}

function readKey(
  { private_key: key = '', private_key_passphrase: passphrase }: SnowflakeConfig,
  { connection, secrets }: OpenContext,
): KeyObject {
  const pem = secrets(key);
  const secret = passphrase === undefined ? {} : { passphrase: secrets(passphrase) };
  try {
    const privateKey = createPrivateKey({ key: pem, format: 'pem', ...secret });
    if (privateKey.asymmetricKeyType === 'rsa') return privateKey;
  } catch (error) {
    const needsPassphrase = /passphrase|interrupted or cancelled/i.test(errorMessage(error));
    throw unreadableKey(
      connection,
      needsPassphrase
        ? 'is encrypted, and no passphrase was given'
        : 'cannot be read with this passphrase, or is no PEM',
    );
  }
  throw unreadableKey(connection, 'is no RSA key');
}

function unreadableKey(connection: string, why: string) {
  return warehouseError('warehouse_auth', `The private key of connection "${connection}" ${why}.`, {
    hint: 'Set private_key to a reference to the PEM text of the key, and private_key_passphrase if it is encrypted.',
  });
}

function fingerprint(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64');
}
