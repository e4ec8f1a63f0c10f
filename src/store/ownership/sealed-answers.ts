import { createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { shortHash } from '../../lib/hash.ts';
import { isRecord, parseJson } from '../../lib/json.ts';
import { readTextOrNothing, writeAtomically } from '../files.ts';
import { readPackageStamp } from '../package-stamp.ts';
import { stateKey } from './state-guard.ts';

/** How many answers a folder keeps; with one more it begins again. */
const mostAnswers = 500;

/**
 * Answers that depend on nothing but their question and the code of ktx, kept in a folder of
 * `.ktx`. Each is signed with the key that only this machine knows: what somebody else wrote there,
 * or another version of ktx, is as if it was not there.
 */
export interface SealedAnswers {
  read(question: string): unknown;
  write(question: string, answer: unknown): Promise<void>;
}

const keepsNothing: SealedAnswers = { read: () => undefined, write: async () => undefined };

/** `cacheDir` is the folder `cache` of `.ktx`. In any other folder nothing is kept. */
export function openSealedAnswers(cacheDir: string, name: string): SealedAnswers {
  // The folder above is a state, and is made private, only if it is called so.
  if (basename(dirname(cacheDir)) !== '.ktx') return keepsNothing;
  const folder = join(cacheDir, name);
  const fileOf = (question: string): string => join(folder, `${shortHash(question, 32)}.json`);
  const signatureOf = (question: string, answer: string): Buffer =>
    createHmac('sha256', stateKey(dirname(cacheDir)))
      .update(JSON.stringify([name, readPackageStamp(), question, answer]))
      .digest();
  return {
    read(question) {
      const kept = parseJson(readTextOrNothing(fileOf(question), folder));
      if (!isRecord(kept)) return undefined;
      const { answer, signature } = kept;
      if (typeof answer !== 'string' || typeof signature !== 'string') return undefined;
      const given = Buffer.from(signature, 'base64');
      const expected = signatureOf(question, answer);
      const isOwn = given.length === expected.length && timingSafeEqual(given, expected);
      return isOwn ? parseJson(answer) : undefined;
    },
    async write(question, answer) {
      if (!existsSync(dirname(cacheDir))) return;
      try {
        const text = JSON.stringify(answer);
        const signature = signatureOf(question, text).toString('base64');
        if (existsSync(folder) && readdirSync(folder).length >= mostAnswers)
          rmSync(folder, { recursive: true, force: true });
        const file = `${JSON.stringify({ answer: text, signature })}\n`;
        await writeAtomically(fileOf(question), file, { within: dirname(cacheDir) });
      } catch {
        // On a full disk, or in a folder that is no state, it is computed again.
      }
    },
  };
}
