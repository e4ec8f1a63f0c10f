import { connect, isIP } from 'node:net';
import { authPlugins, type ConnectionOptions } from 'mysql2';
import { warehouseError } from '../../../warehouse-error.ts';
import type { MysqlSettings } from '../settings.ts';

/**
 * The settings for the library's client. They hold a function, so they cannot be sent to another
 * process.
 */
export function connectableSettings(settings: MysqlSettings): ConnectionOptions {
  const { host = '', port = 3306 } = settings;
  const guarded = { ...settings, authPlugins: safePlugins(settings) };
  if (isIP(host) === 0) return guarded;
  return { ...guarded, ...socketOfAddress(host, port) };
}

/**
 * How a password is sent. A server can ask for the password itself: in clear, or encrypted with a
 * key that the server has just sent, which may be anybody's where nothing checks the server.
 */
function safePlugins({
  host = '',
  ssl,
  socketPath,
}: MysqlSettings): ConnectionOptions['authPlugins'] {
  const refuse = (): never => refusePassword(host);
  const isOwnMachine = socketPath !== undefined || /^(?:localhost|127\.[\d.]+|::1)$/.test(host);
  const isReadable = ssl === undefined && !isOwnMachine;
  return {
    mysql_clear_password: refuse,
    ...(isReadable && {
      caching_sha2_password: authPlugins.caching_sha2_password({ onServerPublicKey: refuse }),
      sha256_password: authPlugins.sha256_password({ onServerPublicKey: refuse }),
    }),
  };
}

function refusePassword(host: string): never {
  throw warehouseError(
    'warehouse_insecure',
    `MySQL at ${host} asks for the password itself. ktx did not send it.`,
    {
      hint: 'Remove ssl: off from the connection, so that the server has to show its certificate, or use a login of the kind mysql_native_password.',
    },
  );
}

/**
 * For an IP address the library would check the certificate against `localhost`: Node takes the
 * host name from the socket.
 */
function socketOfAddress(host: string, port: number): Pick<ConnectionOptions, 'stream'> {
  return {
    stream: () =>
      Object.assign(connect({ host, port, noDelay: true, keepAlive: true }), { _host: host }),
  };
}
