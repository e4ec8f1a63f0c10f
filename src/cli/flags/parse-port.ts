import { InvalidArgumentError } from '@commander-js/extra-typings';

export function parsePort(value: string): number {
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port < 65_536) return port;
  throw new InvalidArgumentError('a port from 0 to 65535');
}
