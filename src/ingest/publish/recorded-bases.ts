import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseClaims, renderClaims, uniteFiles } from '../../context/claims/claims-file.ts';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { readTextOrNothing, readTextSync, stageTexts, writeAtomically } from '../../store/files.ts';
import type { FileTree } from './project-files.ts';
import { finalTexts, type Rendering } from './rendering.ts';

const recordedBaseSchema = z.object({
  /** The claims file. */
  path: z.string().regex(/^claims\/(?!(?:.*\/)?\.)[^\0]+\.jsonl$/),
  /** Its text with what ktx left in the artifact and what it will leave there. */
  text: z.string(),
  /** The hash of the claims file once the artifact is written; null for no file. */
  final: z.string().nullable(),
});

type RecordedBase = z.infer<typeof recordedBaseSchema>;

/**
 * Records on disk, before any artifact changes, what ktx left in the artifacts and what it is about
 * to leave there: one file for all, since a file system takes longer to make a file than to fill
 * it. `forgetBases` ends the record once everything is written. `before` are the files on disk.
 * Returns the paths of the claims files.
 */
export async function recordBases(
  dir: string,
  { writes }: Rendering,
  before: FileTree,
): Promise<readonly string[]> {
  const after = finalTexts(writes);
  const records = writes.flatMap(({ step, path, text }): RecordedBase[] => {
    const isNeeded = step === 'base_recorded' && text !== before.get(path);
    return isNeeded && text !== undefined ? [{ path, text, final: hashOf(after.get(path)) }] : [];
  });
  if (records.length === 0) return [];
  ensureStateDirectory(dir);
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  await writeAtomically(projectPaths(dir).publishing, lines.join(''), { within: dir });
  return records.map(({ path }) => path);
}

/** Call it when every artifact and its claims file are written. */
export function forgetBases(dir: string): void {
  if (hasRecord(dir)) rmSync(projectPaths(dir).publishing, { force: true });
}

/**
 * Writes the bases of a run that was ended while it published into the claims files, so that no
 * value of ktx's is taken for a person's. The caller holds the project's lock.
 */
export async function recoverBases(dir: string): Promise<void> {
  const texts = [...readRecordedBases(dir)].map(([path, text]) => ({
    path: join(dir, path),
    text,
  }));
  for (let from = 0; from < texts.length; from += stagedTogether) {
    const together = texts.slice(from, from + stagedTogether);
    using staged = await stageTexts(together, dir);
    for (const index of together.keys()) await staged.replace(index, undefined);
  }
  forgetBases(dir);
}

const stagedTogether = 64;

/**
 * The claims files that a run had not finished when it was ended, with the bases that it had
 * recorded, by path. What was written in them meanwhile stays.
 */
export function readRecordedBases(dir: string): Map<string, string> {
  if (!hasRecord(dir)) return new Map();
  const lines = readTextOrNothing(projectPaths(dir).publishing, dir).split('\n');
  return new Map(
    lines.flatMap((line) => {
      const record = line === '' ? undefined : parseRecord(line);
      const text = record && unfinishedText(dir, record);
      return record === undefined || text === undefined ? [] : [[record.path, text] as const];
    }),
  );
}

function hasRecord(dir: string): boolean {
  return existsSync(join(dir, '.ktx/publishing.jsonl'));
}

/** Undefined for what this program did not write. */
function parseRecord(line: string): RecordedBase | undefined {
  try {
    return recordedBaseSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Undefined if the claims file is finished, or has the base already. */
function unfinishedText(dir: string, { path, text, final }: RecordedBase): string | undefined {
  const current = readUnfinished(dir, path);
  if (hashOf(current) === final) return undefined;
  if (current === undefined) return text;
  const { base } = parseClaims(path, text);
  const recorded = { base, claims: [], damaged: [] };
  const united = renderClaims(uniteFiles([parseClaims(path, current), recorded]));
  return united === current ? undefined : united;
}

/** The text of a claims file; a link in its place has to go first, and the error says how. */
function readUnfinished(dir: string, path: string): string | undefined {
  try {
    return readTextSync(join(dir, path), dir);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, exitCode } = error;
    throw new UserError(
      code,
      `The last ingest was ended before it had finished ${path}. ${message}`,
      {
        hint: `rm ${path} takes the link away, and git checkout -- ${path} puts the committed file back, if there is one. Then ktx ingest finishes it. Or delete .ktx/publishing.jsonl: then what that ingest wrote counts as yours.`,
        exitCode,
        cause: error,
      },
    );
  }
}

function hashOf(text: string | undefined): string | null {
  return text === undefined ? null : sha256(text);
}
