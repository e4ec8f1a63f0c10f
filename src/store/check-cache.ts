import { existsSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../lib/hash.ts';
import { canonicalJson, isRecord, parseJson } from '../lib/json.ts';
import { projectPaths } from './directories.ts';
import { readTextOrNothing, writeAtomically } from './files.ts';

/** Results of checks that cost time or money, kept in `.ktx` for a while. */
export interface CheckCache {
  /**
   * The kept value for exactly this key; undefined if there is none or it is older than `maxAgeMs`.
   */
  read(key: unknown, maxAgeMs: number): KeptCheck | undefined;
  write(key: unknown, value: unknown): Promise<void>;
  /** Forgets all of this name. */
  clear(): void;
}

interface KeptCheck {
  readonly value: unknown;
  readonly at: Date;
}

/**
 * The checks named `name` of a project. A project without `.ktx` keeps none: looking at it creates
 * nothing. One file for each key, so that two processes do not disturb each other.
 */
export function openCheckCache(dir: string, name: string): CheckCache {
  const folder = (): string => join(projectPaths(dir).cache, 'checks');
  const fileOf = (key: unknown): string =>
    join(folder(), `${name}-${sha256(canonicalJson(key))}.json`);
  const isKept = existsSync(join(dir, '.ktx'));
  return {
    read(key, maxAgeMs) {
      const kept = isKept ? parseJson(readTextOrNothing(fileOf(key), dir)) : undefined;
      if (!isRecord(kept) || typeof kept['at'] !== 'string') return undefined;
      const at = new Date(kept['at']);
      const age = Date.now() - at.getTime();
      return age >= 0 && age < maxAgeMs ? { value: kept['value'], at } : undefined;
    },
    async write(key, value) {
      if (!isKept) return;
      const text = `${JSON.stringify({ at: new Date().toISOString(), value })}\n`;
      // What cannot be kept, on a full disk for example, is checked again.
      await writeAtomically(fileOf(key), text, { within: dir }).catch(() => false);
    },
    clear() {
      if (!isKept) return;
      for (const file of globSync(`${name}-*.json`, { cwd: folder() }))
        rmSync(join(folder(), file), { force: true });
    },
  };
}
