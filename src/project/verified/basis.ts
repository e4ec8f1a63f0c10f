import { join } from 'node:path';
import { z } from 'zod';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { readYaml } from '../../lib/yaml/read-yaml.ts';
import { tableKey } from '../../sql/dialect.ts';
import { readAnyText } from '../../store/files.ts';
import { openCachedReader } from '../open/file-cache.ts';
import type { Project } from '../open/open.ts';
import type { VerifiedQuestion } from './verified-file.ts';

/** As much of a question set as says what its cases are; `eval/` checks the rest. */
const questionSetSchema = z.looseObject({
  agent: z.unknown().optional(),
  connection: z.unknown().optional(),
  cases: z.array(z.looseObject({ id: z.string() })),
});

/** The hash of each case by its id. Tags do not change what a case asks. */
const readCaseHashes = openCachedReader((text = ''): ReadonlyMap<string, string> => {
  const { data } = questionSetSchema.safeParse(loadOrNothing(text));
  const { agent, connection, cases = [] } = data ?? {};
  return new Map(
    cases.map((each) => [
      each.id,
      shortHash(canonicalJson({ agent, connection, ...each, tags: undefined }), 32),
    ]),
  );
});

/** `ktx eval check` says what is wrong with a file; nothing in such a file is verified. */
function loadOrNothing(text: string): unknown {
  try {
    return readYaml(text);
  } catch {
    return undefined;
  }
}

/**
 * Hash of the case of a question and of all that its answer uses: files of the semantic layer, and
 * the columns of its tables as the catalog has them. Undefined if there is no such case.
 */
export async function hashBasis(
  project: Project,
  {
    id,
    file,
    connection,
    uses,
    tables,
  }: Pick<VerifiedQuestion, 'id' | 'file' | 'connection' | 'uses' | 'tables'>,
): Promise<string | undefined> {
  const { dir } = project;
  const ownId = id.slice(id.indexOf('/') + 1);
  const caseHash = (await readCaseHashes(dir, file)).get(ownId);
  if (caseHash === undefined) return undefined;
  const texts = await Promise.all(uses.map((path) => readAnyText(join(dir, path), dir)));
  const catalog = await project.catalog(connection);
  const known = new Map(catalog?.tables.map((table) => [tableKey(table), table]));
  const columns = tables.map((table) =>
    known.get(tableKey(table))?.columns.map(({ name, type }) => [name, type]),
  );
  return shortHash(canonicalJson([caseHash, uses, texts, tables, columns]), 32);
}
