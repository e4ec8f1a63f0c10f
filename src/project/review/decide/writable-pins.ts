import { join } from 'node:path';
import { pinsPath, requirePins, type ParsedPins } from '../../../context/claims/pins.ts';
import { readText } from '../../../store/files.ts';
import type { Project } from '../../open/open.ts';

/** What people decided so far; an error if the file cannot be read. It is not written then. */
export async function readWritablePins({ dir }: Project): Promise<ParsedPins> {
  return requirePins(await readText(join(dir, pinsPath), dir));
}
