import { join } from 'node:path';
import { parsePins, pinsPath, type ParsedPins } from '../../../context/claims/pins.ts';
import { UserError } from '../../../lib/error.ts';
import { readText } from '../../../store/files.ts';
import type { Project } from '../../open/open.ts';

/** What people decided so far; an error if the file cannot be read. It is not written then. */
export async function readWritablePins({ dir }: Project): Promise<ParsedPins> {
  const parsed = parsePins(await readText(join(dir, pinsPath), dir));
  if (parsed.fault === undefined) return parsed;
  throw new UserError('pins_unreadable', `${pinsPath} cannot be read: ${parsed.fault}`, {
    hint: 'Correct the file.',
    exitCode: 2,
  });
}
