import { connect, isIP } from 'node:net';
import type { ConnectionOptions } from 'mysql2';
import type { MysqlSettings } from './settings.ts';

/**
 * The settings for the library's client. They hold a function, so they cannot be sent to another
 * process.
 */
export function connectableSettings(settings: MysqlSettings): ConnectionOptions {
  const { host = '', port = 3306 } = settings;
  if (isIP(host) === 0) return settings;
  return { ...settings, ...socketOfAddress(host, port) };
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
