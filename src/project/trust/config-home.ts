import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { HostEnvironment } from '../../store/secrets.ts';

/**
 * The folder of a person's own files for ktx on this machine: `$XDG_CONFIG_HOME/ktx`, otherwise
 * `~/.config/ktx`.
 */
export function configHome(env: HostEnvironment): string {
  const configured = env['XDG_CONFIG_HOME'] ?? '';
  // The XDG specification says that a relative path is to be ignored.
  const base = isAbsolute(configured) ? configured : join(env['HOME'] || homedir(), '.config');
  return join(base, 'ktx');
}
