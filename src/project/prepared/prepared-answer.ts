import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { isRecord } from '../../lib/json.ts';
import { openCheckCache } from '../../store/check-cache.ts';
import { readPackageStamp } from '../../store/package-stamp.ts';
import { readCatalogStamp } from '../open/catalog-stamp.ts';
import { readFileStamp } from '../open/file-cache.ts';
import { configName } from '../open/find-project.ts';
import { listDatasetFiles } from '../open/model-files.ts';

/** What an answer depends on, besides the files of the project. */
export interface AnswerBasis {
  readonly dir: string;
  /** The command and its options. */
  readonly asked: unknown;
  /** Whose row rules apply, where `ktx.yaml` does not say it. */
  readonly role: string | undefined;
  /** Of `ktx.yaml`, before it was read. */
  readonly configStamp: string | undefined;
}

/** To be taken before the project is opened. */
export function answerBasis(dir: string, asked: unknown, role: string | undefined): AnswerBasis {
  return { dir, asked, role, configStamp: readFileStamp(dir, configName)?.stamp };
}

/**
 * The answer that `prepareAnswer` kept for the same question; undefined once `ktx.yaml`, a file of
 * the semantic layer, a catalog or ktx itself has changed. Opens no project and parses no file of
 * it.
 */
export async function readPrepared(basis: AnswerBasis): Promise<unknown> {
  const kept = readKept(basis);
  if (!isRecord(kept) || !Array.isArray(kept['connections'])) return undefined;
  const stamp = await readStamp(basis, kept['connections'].map(String));
  return stamp === kept['stamp'] ? kept['answer'] : undefined;
}

/**
 * Computes an answer from `ktx.yaml`, and from the semantic layer and the catalogs of the
 * connections that it names, and keeps it. A file that changes meanwhile makes it stale.
 */
export async function prepareAnswer<Answer>(
  basis: AnswerBasis,
  connections: readonly string[],
  compute: () => Promise<Answer>,
): Promise<Answer> {
  const stamp = await readStamp(basis, connections);
  const answer = await compute();
  try {
    const cache = openCheckCache(basis.dir, 'answer');
    await cache.write(keyOf(basis), { connections, stamp, answer });
  } catch (error) {
    requireForeignState(error);
  }
  return answer;
}

function readKept(basis: AnswerBasis): unknown {
  try {
    return openCheckCache(basis.dir, 'answer').read(keyOf(basis), Infinity)?.value;
  } catch (error) {
    return requireForeignState(error);
  }
}

/** A `.ktx` that is not of this machine prepares nothing; the answer needs nothing else of it. */
function requireForeignState(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
}

function keyOf({ asked, role }: AnswerBasis): unknown {
  return { asked, role: role ?? null };
}

async function readStamp(
  { dir, configStamp }: AnswerBasis,
  connections: readonly string[],
): Promise<string> {
  const parts = await Promise.all(
    connections.map(async (name) => [
      await listDatasetFiles(dir, name),
      readCatalogStamp(dir, name),
    ]),
  );
  return sha256(JSON.stringify([readPackageStamp(), configStamp, connections, parts]));
}
