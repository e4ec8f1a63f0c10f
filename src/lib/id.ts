import { randomBytes } from 'node:crypto';

/** A new id that sorts by time: `<prefix>_<milliseconds in base 36><8 random hex digits>`. */
export function newId(prefix: 'run' | 'q' | 'chat' | 'call'): string {
  return `${prefix}_${Date.now().toString(36)}${randomBytes(4).toString('hex')}`;
}
