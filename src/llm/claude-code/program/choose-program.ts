import { open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../../lib/error.ts';
import { openCheckCache } from '../../../store/check-cache.ts';
import type { ProgramReport } from '../../port/backend.ts';
import { askVersion, type VersionAnswer } from './ask-version.ts';
import { findPrograms, isOfProject, type ProgramPlaces } from './find-programs.ts';
import { foreignWriter } from './foreign-writer.ts';
import { placeInRange, testedVersions, type VersionRange } from './tested-versions.ts';

export interface ProgramRequest extends ProgramPlaces {
  /** `llm.provider.program`: `auto`, `bundled` or an absolute path. */
  readonly setting: string;
  /** The program that ships with the Agent SDK; undefined if there is none for this platform. */
  readonly bundled: string | undefined;
  /** Default: `testedVersions`. */
  readonly tested?: VersionRange;
  /** How long a program may take to say its version. */
  readonly limitMs?: number;
}

/** What is wrong with a program that was found, as the end of a sentence about it. */
type Candidate =
  | {
      readonly path: string;
      readonly version: string;
      readonly problem?: undefined;
      readonly advice?: undefined;
    }
  | {
      readonly path: string;
      readonly version?: string;
      readonly problem: string;
      /** Set if the problem is that the program is too old. */
      readonly advice?: string;
    };

/**
 * Chooses the Claude Code program to run. With `auto` that is the first one of the user that is
 * safe and whose version is tested, otherwise the one that ships with the Agent SDK. Throws if a
 * program that was asked for cannot be used, or if there is none. Nothing of the project is
 * started.
 */
export async function chooseProgram(request: ProgramRequest): Promise<ProgramReport> {
  const { setting, bundled } = request;
  if (setting !== 'auto' && setting !== 'bundled') return requiredProgram(request);
  const refused: Candidate[] = [];
  if (setting === 'auto') {
    // Windows has no modes that tell who may write to a file.
    const found = process.platform === 'win32' ? [] : findPrograms(request);
    for (const path of found) {
      const candidate = await inspect(path, request);
      const { version, problem } = candidate;
      const reason = 'it is your own, and ktx is tested with its version';
      if (problem === undefined) return { path: candidate.path, kind: 'own', version, reason };
      refused.push(candidate);
    }
  }
  const reasons = refused.map(({ path, problem = '' }) => `${path} ${problem}`);
  if (bundled === undefined) throw noProgramError(reasons);
  const { version } = await keptVersion(bundled, request);
  const [advice] = refused.flatMap((candidate) => candidate.advice ?? []);
  const reason = bundledReason(setting, reasons);
  return { path: bundled, kind: 'bundled', version, reason, ...(advice && { advice }) };
}

function bundledReason(setting: string, refused: readonly string[]): string {
  if (setting === 'bundled') return 'llm.provider.program is bundled';
  return refused.length === 0 ? 'no other one was found' : refused.join('; ');
}

function noProgramError(refused: readonly string[]): UserError {
  const others = refused.length === 0 ? '' : ` ${refused.join('; ')}.`;
  const message = `There is no Claude Code program for ${process.platform}-${process.arch} that ktx can run.${others}`;
  return new UserError('llm_program', message, {
    hint: 'ktx extras remove claude-code, then ktx extras add claude-code, fetches it again',
    exitCode: 2,
  });
}

/** The program that `ktx.yaml` names. A person approved it, so it may also be a script. */
async function requiredProgram(request: ProgramRequest): Promise<ProgramReport> {
  const { setting } = request;
  const candidate = isAbsolute(setting)
    ? await inspect(setting, request, { mayBeScript: true })
    : { path: setting, problem: 'is not an absolute path' };
  const { path, version, problem } = candidate;
  const reason = 'llm.provider.program names it';
  if (problem === undefined) return { path, kind: 'named', version, reason };
  throw new UserError('llm_program', `llm.provider.program: ${path} ${problem}.`, {
    hint: 'Name another program, or remove llm.provider.program: then ktx chooses one.',
    exitCode: 2,
  });
}

async function inspect(
  found: string,
  request: ProgramRequest,
  { mayBeScript = false } = {},
): Promise<Candidate> {
  const path = await realpath(found).catch(() => undefined);
  if (path === undefined) return { path: found, problem: 'does not exist' };
  const problem =
    (await fileProblem(found, path, request)) ??
    (/\.[cm]?js$/.test(path) || (!mayBeScript && (await isScript(path)))
      ? 'is a script, which ktx could not end reliably'
      : undefined);
  if (problem !== undefined) return { path: found, problem };
  const { version, problem: silence } = await keptVersion(path, request);
  if (version === undefined) return { path: found, problem: silence };
  const { tested = testedVersions } = request;
  const place = placeInRange(version, tested);
  if (place === 'inside') return { path, version };
  const range = `ktx is tested with ${tested.oldest} to ${tested.newest}`;
  const outside = `is version ${version}, but ${range}`;
  return {
    path: found,
    version,
    problem: outside,
    ...(place === 'older' && { advice: updateAdvice }),
  };
}

async function fileProblem(
  found: string,
  path: string,
  places: ProgramPlaces,
): Promise<string | undefined> {
  if (isOfProject(found, places)) return 'belongs to the project';
  const stats = await stat(path);
  if (!stats.isFile() || (stats.mode & 0o111) === 0) return 'is not a program';
  const problem = await foreignWriter(path);
  if (problem !== undefined || found === path) return problem;
  // Whoever can replace the link can choose the program.
  const folder = await realpath(dirname(found));
  const folderProblem = await foreignWriter(folder);
  return folderProblem === undefined ? undefined : `is in ${folder}, which ${folderProblem}`;
}

async function isScript(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString('latin1') === '#!';
  } finally {
    await file.close();
  }
}

const updateAdvice = 'claude update';

const hourMs = 60 * 60 * 1000;
const answerSchema = z.union([
  z.strictObject({ version: z.string() }),
  z.strictObject({ problem: z.string() }),
]);

/**
 * The version of a program. It is asked again when its file changes, and after an hour if it gave
 * none.
 */
async function keptVersion(
  path: string,
  { projectDir, limitMs }: ProgramRequest,
): Promise<VersionAnswer> {
  const { size, mtimeMs, ctimeMs } = await stat(path);
  const cache = openCheckCache(projectDir, 'program');
  const key = { path, size, mtimeMs, ctimeMs };
  const kept = cache.read(key, 24 * 30 * hourMs);
  const { data } = answerSchema.safeParse(kept?.value);
  const isFresh = kept !== undefined && Date.now() - kept.at.getTime() < hourMs;
  if (data !== undefined && ('version' in data || isFresh)) return data;
  const answer = await askVersion(path, { limitMs });
  await cache.write(key, answer);
  return answer;
}
