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
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { scanProject } from '../learn/scan.ts';
import { listStaleSubjects } from '../review/stale.ts';
import { traceToSubjects } from './trace-answer.ts';
import { readWikiSections } from './wiki.ts';

type ScanCallbacks = Pick<ScanOptions, 'signal' | 'onProgress'>;

interface ExplainRequest {
  readonly subject: string;
  readonly connection?: string | undefined;
  /** Also scans the warehouse, for candidates that were not accepted and for exact measurements. */
  readonly measure: boolean;
}

/** Explains a subject, a query id, a number or a sentence, with its open conflicts and stale evidence. */
export async function explainAnything(
  project: Project,
  request: ExplainRequest,
  callbacks: ScanCallbacks,
) {
  const subjects = (await traceToSubjects(project, request.subject)) ?? [request.subject];
  const explanations = (
    await Promise.all(
      subjects.map((subject) => explainSubject(project, { ...request, subject }, callbacks)),
    )
  ).flat();
  const [conflicts, changed] = await Promise.all([
    readConflicts(project.dir),
    listStaleSubjects(project),
  ]);
  return explanations.map((explanation) => {
    const subjectNames = [explanation.subject, ...explanation.claims.map(({ subject }) => subject)];
    const contested = conflicts.filter(({ subject }) => subject === explanation.subject);
    const stale = changed.filter(({ subject }) => subjectNames.includes(subject));
    return { ...explanation, contested, stale };
  });
}

/** Looks in the project's files first. If they do not know the subject, scans the warehouses. */
export async function explainSubject(
  project: Project,
  request: ExplainRequest,
  callbacks: ScanCallbacks,
): Promise<Explanation[]> {
  const { subject } = request;
  if (parseWikiSubject(subject)) return [await explainTopic(project, subject)];
  const named = request.connection ?? parseSubject(subject)?.connection;
  const all = project.warehouses;
  const names = named === undefined && all.length > 1 ? all : [project.connection(named).name];
  const fromFiles = await Promise.all(
    names.map(async (connection) => ({
      connection,
      datasets: await readProvenance(project.dir, connection),
    })),
  );
  const attempts = fromFiles.map((known) => ({ known, ...tryToExplain(subject, known) }));
  const successes = attempts.filter(({ failure }) => failure === undefined);
  if (successes.length > 0 && !request.measure)
    return successes.flatMap(({ explanations }) => explanations);
  const measured: ExplainAttempt[] = [];
  for (const { known } of successes.length > 0 ? successes : attempts) {
    const findings = await scanProject(project, { connection: known.connection, ...callbacks });
    measured.push(tryToExplain(subject, { ...known, findings }));
  }
  const failures = measured.flatMap(({ failure }) => failure ?? []);
  // If no connection knows it, prefer the error with a suggestion.
  if (failures.length === measured.length)
    throw failures.find(({ hint }) => hint?.startsWith('Did you mean')) ?? failures[0];
  return measured.flatMap(({ explanations }) => explanations);
}

interface ExplainAttempt {
  readonly explanations: readonly Explanation[];
  /** Set if the connection does not know the subject. */
  readonly failure?: UserError;
}

function tryToExplain(subject: string, known: Provenance): ExplainAttempt {
  try {
    return { explanations: findExplanations(subject, known) };
  } catch (error) {
    if (error instanceof UserError && error.code === 'subject_unknown')
      return { explanations: [], failure: error };
    throw error;
  }
}

/** The claims and the file of every dataset that has either. */
async function readProvenance(dir: string, connection: string): Promise<Provenance['datasets']> {
  const claimed = await listProjectFiles(dir, `claims/${connection}`, /\.jsonl$/);
  const artifacts = await listProjectFiles(dir, `semantic-layer/${connection}`, /\.ya?ml$/);
  const datasets = Map.groupBy([...claimed, ...artifacts], (path) => basename(path, extname(path)));
  const read = async (path: string) => (path === '' ? undefined : readText(join(dir, path), dir));
  return Promise.all(
    [...datasets].map(async ([dataset, paths]) => {
      const [claims, path] = [
        claimsPath(connection, dataset),
        paths.find((file) => artifacts.includes(file)) ?? '',
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

/** A term or a rule under its canonical name, with the claims about all its names. */
async function explainTopic(project: Project, name: string): Promise<Explanation> {
  const { dir } = project;
  const [lines = '', pinText] = await Promise.all(
    [wikiClaimsPath, pinsPath].map((path) => readText(join(dir, path), dir)),
  );
  const [{ claims }, { pins }] = [parseClaims(wikiClaimsPath, lines), parsePins(pinText)];
  const { canonicalSubjects } = applyModelDecisions(claims, pins);
  const canonicalName = (alias: string) => canonicalSubjects.get(alias) ?? alias;
  const subject = canonicalName(name);
  const own = markShownClaims(
    claims.filter((claim) => canonicalName(claim.subject) === subject),
    pins,
  );
  const section = (await readWikiSections(project)).find((entry) => entry.subject === subject);
  if (own.length === 0 && section === undefined) {
    const known = [...new Set(claims.map((claim) => claim.subject))];
    const hint = didYouMean(subject, known) ?? 'ktx search finds terms';
    throw new UserError('subject_unknown', `The wiki has nothing about \`${subject}\`.`, {
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
