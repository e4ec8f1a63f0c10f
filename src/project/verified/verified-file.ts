import { mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { shortHash } from '../../lib/hash.ts';
import { parseJson } from '../../lib/json.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { readText, removeFile, undefinedIfMissing, writeAtomically } from '../../store/files.ts';
import { cacheByStamp, readFileStamp } from '../open/file-cache.ts';

const verifiedSchema = z.object({
  version: z.literal(1),
  /** Of its case: `<set>/<id>`. */
  id: z.string(),
  /** The question set. */
  file: z.string(),
  question: z.string(),
  connection: z.string(),
  answer: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('query'), query: querySchema }),
    z.object({ kind: z.literal('sql'), sql: z.string() }),
  ]),
  /** Paths of the files of the semantic layer that the answer rests on, sorted. */
  uses: z.array(z.string()),
  /** The tables that it reads. */
  tables: z.array(
    z.object({ catalog: z.string().optional(), schema: z.string(), table: z.string() }),
  ),
  /** Hash of the case and of all that it uses, when it passed. */
  basis: z.string(),
  /** The eval run in which it passed. */
  run: z.string(),
  /** When, as ISO 8601. */
  at: z.string(),
});

/**
 * A question whose answer passed its eval case, with what answers it. One file of `.ktx/verified`
 * each, so that cases which end at the same time do not wait for each other.
 */
export type VerifiedQuestion = z.infer<typeof verifiedSchema>;

const pathOf = (dir: string, id: string): string =>
  join(projectPaths(dir).verified, `${shortHash(id, 24)}.json`);

export async function writeVerified(dir: string, question: VerifiedQuestion): Promise<void> {
  mkdirSync(ensureStateDirectory(dir).verified, { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify(question, undefined, 1)}\n`;
  await writeAtomically(pathOf(dir, question.id), text, { within: dir });
}

/** Does nothing if the question is not verified. */
export async function removeVerified(dir: string, id: string): Promise<void> {
  await removeFile(pathOf(dir, id), dir);
}

const cachedQuestions = cacheByStamp<readonly VerifiedQuestion[]>();

/** All of them, also those that do not hold any more. What cannot be read is left out. */
export function readAllVerified(dir: string): Promise<readonly VerifiedQuestion[]> {
  const folder = projectPaths(dir).verified;
  const stamp = readFileStamp(dir, '.ktx/verified')?.stamp;
  return cachedQuestions(dir, [stamp], async () => {
    const names = (await readdir(folder).catch(undefinedIfMissing)) ?? [];
    const files = names.filter((name) => name.endsWith('.json')).sort();
    const texts = await Promise.all(files.map((name) => readText(join(folder, name), dir)));
    return texts.flatMap((text) => verifiedSchema.safeParse(parseJson(text ?? '')).data ?? []);
  });
}
