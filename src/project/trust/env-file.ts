import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { UserError } from '../../lib/error.ts';
import { readText } from '../../store/files.ts';
import type { EnvFile } from '../../store/secrets.ts';

/** Reads `.env` in the project. A file that leads out of the project is not read. */
export async function readEnvFile(dir: string): Promise<EnvFile> {
  // The project may not exist yet.
  if (!existsSync(join(dir, '.env'))) return { variables: new Map() };
  try {
    const text = await readText(join(dir, '.env'), dir);
    return { variables: new Map(Object.entries(parseEnv(text ?? ''))) as Map<string, string> };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { variables: new Map(), problem: error.message };
  }
}
