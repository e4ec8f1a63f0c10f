import { basename, extname, join } from 'node:path';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import {
  findExplanations,
  markShownClaims,
  type Explanation,
  type Provenance,
} from '../../context/compile/explain.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { ownDefinitions } from '../../context/compile/own-definitions.ts';
import { applyModelDecisions } from '../../context/claims/model-decisions.ts';
import { parseSubject, parseWikiSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import { didYouMean, nearest } from '../../lib/suggest.ts';
import type { ScanOptions } from '../../scan/scan.ts';
import { readText } from '../../store/files.ts';
import { readTextOrReason } from '../../store/text-or-reason.ts';
import { readConflicts } from '../review/conflicts.ts';
import { readAuthority } from '../open/authority.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { readWikiClaims } from '../open/wiki-claims-files.ts';
import { findNamed } from '../../semantic/resolve/synonyms.ts';
import { itemAddress } from '../../sources/registry.ts';
import { listSources } from '../open/config.ts';
import { scanProject } from '../learn/scan.ts';
import { listStaleSubjects } from '../review/stale.ts';
import { explainWritten } from '../saved/explain-written.ts';
import { traceToSubjects } from './trace-answer.ts';
import { readWikiSections } from './wiki.ts';

type ScanCallbacks = Pick<ScanOptions, 'signal' | 'onProgress'>;

interface ExplainRequest {
  readonly subject: string;
  readonly connection?: string | undefined;
  /** Also scans the warehouse, for candidates that were not accepted and for exact measurements. */
  readonly measure: boolean;
  /** True if only the project's files are looked in. */
  readonly onlyFiles?: boolean;
}

/**
 * Explains a subject, a query id, a number or a sentence. Each explanation has its open conflicts
 * and stale evidence.
 */
export async function explainAnything(
  project: Project,
  request: ExplainRequest,
  callbacks: ScanCallbacks,
) {
  const { subject: named, onlyFiles = false } = request;
  const traced = onlyFiles ? undefined : await traceToSubjects(project, named);
  const subjects = traced ?? [named];
  const explanations = await Promise.all(
    subjects.map((subject) => explainSubject(project, { ...request, subject }, callbacks)),
  );
  const [conflicts, staleSubjects] = await Promise.all([
    readConflicts(project.dir),
    listStaleSubjects(project),
  ]);
  const addressOf = openItemAddresses(project);
  const explained = explanations.flat().map(async (explanation) => {
    const subjectNames = [explanation.subject, ...explanation.claims.map(({ subject }) => subject)];
    const contested = conflicts.filter(({ subject }) => subject === explanation.subject);
    const stale = staleSubjects.filter(({ subject }) => subjectNames.includes(subject));
    const items = explanation.claims.flatMap(({ evidence }) =>
      evidence.flatMap(({ item }) => item ?? []),
    );
    const addresses = await Promise.all(
      [...new Set(items)].map(async (item) => ({ item, address: await addressOf(item) })),
    );
    const known = addresses.flatMap(({ item, address }) =>
      address === undefined ? [] : [{ item, address }],
    );
    return { ...explanation, contested, stale, addresses: known };
  });
  return Promise.all(explained);
}

/** Where a person finds an item in the tool that it comes from. */
function openItemAddresses({ config }: Project) {
  const sources = new Map(listSources(config));
  return async (item: string): Promise<string | undefined> => {
    const [, connection = '', key = ''] = /^sources\/([^/]+)\/(.+)$/.exec(item) ?? [];
    const source = sources.get(connection);
    return source && itemAddress(source, key);
  };
}

/**
 * Looks in the project's files first. Scans the warehouses if the files do not know the subject, or
 * if `measure` is set.
 */
export async function explainSubject(
  project: Project,
  request: ExplainRequest,
  callbacks: ScanCallbacks,
): Promise<Explanation[]> {
  const { subject } = request;
  if (parseWikiSubject(subject)) return [await explainTopic(project, subject)];
  const written = await explainWritten(project, subject);
  if (written !== undefined) return [written];
  const { pins } = parsePins(await readText(join(project.dir, pinsPath), project.dir));
  const authority = readAuthority(project.config);
  const fromFiles = await Promise.all(
    connectionsToSearch(project, request).map(async (connection) => {
      const datasets = await readDatasetFiles(project.dir, connection);
      return tryToExplain(subject, { connection, datasets, pins, authority });
    }),
  );
  const successes = fromFiles.filter(({ failure }) => failure === undefined);
  const meant = successes.length > 0 ? undefined : await findMeant(project, request);
  if (meant !== undefined)
    return explainSubject(project, { ...request, subject: meant }, callbacks);
  if (successes.length > 0 && !request.measure)
    return successes.flatMap(({ explanations }) => explanations);
  const [unknown] = fromFiles.flatMap(({ failure }) => failure ?? []);
  if (request.onlyFiles === true && unknown !== undefined) throw unknown;
  const measured: ExplainAttempt[] = [];
  for (const { provenance } of successes.length > 0 ? successes : fromFiles) {
    const { connection } = provenance;
    const findings = await scanProject(project, { connection, ...callbacks });
    measured.push(tryToExplain(subject, { ...provenance, findings }));
  }
  const failures = measured.flatMap(({ failure }) => failure ?? []);
  // If no connection knows the subject, an error with a suggestion helps most.
  if (failures.length === measured.length)
    throw failures.find(({ hint }) => hint?.startsWith('Did you mean')) ?? failures[0];
  return measured.flatMap(({ explanations }) => explanations);
}

/** The subject that a query would take the name for: by a label, a synonym, a name alone. */
async function findMeant(project: Project, request: ExplainRequest): Promise<string | undefined> {
  const { subject } = request;
  for (const connection of connectionsToSearch(project, request)) {
    const { model } = await project.model(connection);
    const named = findNamed(model, subject);
    const meant = named && `${named.type}:${connection}.${named.address}`;
    if (meant !== undefined && meant !== subject) return meant;
  }
  return undefined;
}

/** The connection that the request or its subject names, otherwise all warehouses. */
function connectionsToSearch(
  project: Project,
  { connection, subject }: ExplainRequest,
): readonly string[] {
  const requested = connection ?? parseSubject(subject)?.connection;
  if (requested === undefined && project.warehouses.length > 1) return project.warehouses;
  return [project.connection(requested).name];
}

interface ExplainAttempt {
  /** What the attempt looked in. */
  readonly provenance: Provenance;
  readonly explanations: readonly Explanation[];
  /** Set if the connection does not know the subject. */
  readonly failure?: UserError;
}

function tryToExplain(subject: string, provenance: Provenance): ExplainAttempt {
  try {
    return { provenance, explanations: findExplanations(subject, provenance) };
  } catch (error) {
    if (error instanceof UserError && error.code === 'subject_unknown')
      return { provenance, explanations: [], failure: error };
    throw error;
  }
}

/** Reads the claims and the artifact of every dataset that has either. */
async function readDatasetFiles(dir: string, connection: string): Promise<Provenance['datasets']> {
  const claimPaths = await listProjectFiles(dir, `claims/${connection}`, /\.jsonl$/);
  const artifactPaths = await listProjectFiles(dir, `semantic-layer/${connection}`, /\.ya?ml$/);
  const pathsByDataset = Map.groupBy([...claimPaths, ...artifactPaths], (path) =>
    basename(path, extname(path)),
  );
  return Promise.all(
    [...pathsByDataset].map(async ([dataset, paths]) => {
      const claims = claimsPath(connection, dataset);
      const artifact = paths.find((path) => artifactPaths.includes(path));
      const [claimLines = '', text] = await Promise.all([
        readText(join(dir, claims), dir),
        artifact === undefined ? undefined : readTextOrReason(join(dir, artifact), dir),
      ]);
      return {
        dataset,
        claims: parseClaims(claims, claimLines),
        artifact:
          artifact === undefined || text?.isWellFormed() !== true
            ? undefined
            : { path: artifact, text },
      };
    }),
  );
}

/** Explains a term or a rule under its canonical name, with the claims about all its names. */
async function explainTopic(project: Project, name: string): Promise<Explanation> {
  const { dir } = project;
  const [{ claims }, pinText] = await Promise.all([
    readWikiClaims(dir),
    readText(join(dir, pinsPath), dir),
  ]);
  const { pins } = parsePins(pinText);
  const { canonicalSubjects } = applyModelDecisions(claims, pins);
  const canonicalName = (alias: string) => canonicalSubjects.get(alias) ?? alias;
  const subject = canonicalName(name);
  const topicClaims = claims.filter((claim) => canonicalName(claim.subject) === subject);
  const own = ownDefinitions(pins).filter((claim) => claim.subject === subject);
  const section = (await readWikiSections(project)).find((entry) => entry.subject === subject);
  if (topicClaims.length === 0 && section === undefined) {
    const knownSubjects = [...new Set(claims.map((claim) => claim.subject))];
    throw unknownTopicError(subject, knownSubjects);
  }
  const value = section && {
    key: 'section',
    value: section.text,
    by: section.by,
    path: section.path,
    line: section.line,
  };
  return {
    subject,
    values: value ? [value] : [],
    claims: markShownClaims([...topicClaims, ...own], pins, readAuthority(project.config)),
    findings: [],
  };
}

function unknownTopicError(subject: string, knownSubjects: readonly string[]): UserError {
  return new UserError('subject_unknown', `The wiki has nothing about \`${subject}\`.`, {
    hint: didYouMean(subject, knownSubjects) ?? 'ktx search finds terms',
    exitCode: 2,
    details: { nearest: nearest(subject, knownSubjects) },
  });
}
