import { basename, extname, join } from 'node:path';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import {
  findExplanations,
  markShownClaims,
  type Explanation,
  type Provenance,
} from '../../context/compile/explain.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { applyModelDecisions } from '../../context/claims/model-decisions.ts';
import { parseSubject, parseWikiSubject } from '../../context/claims/subject.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { UserError } from '../../lib/error.ts';
import { didYouMean, nearest } from '../../lib/suggest.ts';
import type { ScanOptions } from '../../scan/scan.ts';
import { readText } from '../../store/files.ts';
import { readConflicts } from '../review/conflicts.ts';
import { listFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { scanProject } from '../learn/scan.ts';
import { listStaleSubjects } from '../review/stale.ts';
import { traceToSubjects } from './trace-answer.ts';
import { readWikiSections } from './wiki.ts';

type Run = Pick<ScanOptions, 'signal' | 'onProgress'>;

interface Asked {
  readonly subject: string;
  readonly connection?: string | undefined;
  /** Scan too: adds what is not accepted, and the exact measurements. */
  readonly measure: boolean;
}

/** From a fact, a number or a sentence back to what justifies it; with what about it nobody has decided yet. */
export async function explainAnything(project: Project, asked: Asked, run: Run) {
  const subjects = (await traceToSubjects(project, asked.subject)) ?? [asked.subject];
  const explained = (
    await Promise.all(
      subjects.map((subject) => explainSubject(project, { ...asked, subject }, run)),
    )
  ).flat();
  const [conflicts, changed] = await Promise.all([
    readConflicts(project.dir),
    listStaleSubjects(project),
  ]);
  return explained.map((one) => {
    const about = new Set([one.subject, ...one.claims.map(({ subject }) => subject)]);
    const stale = changed.filter(({ subject }) => about.has(subject));
    return { ...one, contested: conflicts.filter(({ subject }) => subject === one.subject), stale };
  });
}

/** From a fact back to what justifies it: the files first; what they do not know is looked for in a scan. */
export async function explainSubject(
  project: Project,
  asked: Asked,
  run: Run,
): Promise<Explanation[]> {
  const { subject } = asked;
  if (parseWikiSubject(subject)) return [await explainTopic(project, subject)];
  const named = asked.connection ?? parseSubject(subject)?.connection;
  const all = project.warehouses;
  const names = named === undefined && all.length > 1 ? all : [project.connection(named).name];
  const written = await Promise.all(
    names.map(async (connection) => ({
      connection,
      datasets: await provenance(project.dir, connection),
    })),
  );
  const tries = written.map((one) => ({ one, ...attempt(subject, one) }));
  const knowing = tries.filter(({ failure }) => failure === undefined);
  if (knowing.length > 0 && !asked.measure) return knowing.flatMap(({ found }) => found);
  const measured: Attempt[] = [];
  for (const { one } of knowing.length > 0 ? knowing : tries) {
    const findings = await scanProject(project, { connection: one.connection, ...run });
    measured.push(attempt(subject, { ...one, findings }));
  }
  const failures = measured.flatMap(({ failure }) => failure ?? []);
  // Where none knows it, the one with a guess says so.
  if (failures.length === measured.length)
    throw failures.find(({ hint }) => hint?.startsWith('Did you mean')) ?? failures[0];
  return measured.flatMap(({ found }) => found);
}

interface Attempt {
  readonly found: readonly Explanation[];
  /** The connection does not know the subject. */
  readonly failure?: UserError;
}

function attempt(subject: string, known: Provenance): Attempt {
  try {
    return { found: findExplanations(subject, known) };
  } catch (error) {
    if (error instanceof UserError && error.code === 'subject_unknown')
      return { found: [], failure: error };
    throw error;
  }
}

/** Every dataset that has claims or a file. */
async function provenance(dir: string, connection: string): Promise<Provenance['datasets']> {
  const claimed = await listFiles(dir, `claims/${connection}`, /\.jsonl$/);
  const artifacts = await listFiles(dir, `semantic-layer/${connection}`, /\.ya?ml$/);
  const datasets = Map.groupBy([...claimed, ...artifacts], (path) => basename(path, extname(path)));
  const read = async (path: string) => (path === '' ? undefined : readText(join(dir, path), dir));
  return Promise.all(
    [...datasets].map(async ([dataset, paths]) => {
      const [claims, path] = [
        claimsPath(connection, dataset),
        paths.find((each) => artifacts.includes(each)) ?? '',
      ];
      const [lines = '', text] = await Promise.all([read(claims), read(path)]);
      return {
        dataset,
        claims: parseClaims(claims, lines),
        artifact: text === undefined ? undefined : { path, text },
      };
    }),
  );
}

/** A term or a rule under the name that holds: what is claimed of it, by whatever name, and by which line of which item. */
async function explainTopic(project: Project, asked: string): Promise<Explanation> {
  const { dir } = project;
  const [lines = '', decided] = await Promise.all(
    [wikiClaimsPath, pinsPath].map((path) => readText(join(dir, path), dir)),
  );
  const [{ claims }, { pins }] = [parseClaims(wikiClaimsPath, lines), parsePins(decided)];
  const { canonical } = applyModelDecisions(claims, pins);
  const nameOf = (subject: string) => canonical.get(subject) ?? subject;
  const subject = nameOf(asked);
  const own = markShownClaims(
    claims.filter((claim) => nameOf(claim.subject) === subject),
    pins,
  );
  const section = (await readWikiSections(project)).find((entry) => entry.subject === subject);
  if (own.length === 0 && section === undefined) {
    const known = [...new Set(claims.map((claim) => claim.subject))];
    const hint = didYouMean(subject, known) ?? 'ktx search finds terms';
    throw new UserError('subject_unknown', `Nothing is known of \`${subject}\` in the wiki.`, {
      hint,
      exitCode: 2,
      details: { nearest: nearest(subject, known) },
    });
  }
  const value = section && {
    key: 'section',
    value: section.text,
    by: section.by,
    path: section.path,
    line: section.line,
  };
  return { subject, values: value ? [value] : [], claims: own, findings: [] };
}
