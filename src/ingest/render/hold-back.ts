import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import type { UserError } from '../../lib/error.ts';
import type { ConnectionFindings, ProjectFindings } from '../fetch/findings.ts';
import type { ProjectFile } from '../../context/catalog/catalog-files.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { Quarantined } from '../report.ts';
import { listProbeStatements, type ModelCheck } from './check-model.ts';

/**
 * What a run would publish although nobody tried it, because the warehouse could not be opened:
 * what the dataset files on disk (`standing`) do not have yet, or have in another way.
 */
export async function listUntriedNews(
  { catalog }: ConnectionFindings,
  { unopened }: ModelCheck,
  standing: readonly ProjectFile[],
): Promise<Quarantined[]> {
  if (unopened === undefined || unopened.untried.length === 0) return [];
  const known = await listProbeStatements(catalog, standing);
  const reason = waitingReason(catalog.connection, unopened.error);
  return unopened.untried
    .filter(({ sql }) => !known.has(sql))
    .map(({ subject, kind, location }) => ({ subject, kind, location, reason, isPassing: true }));
}

function waitingReason(connection: string, { message }: UserError): string {
  return `it waits, because nobody has tried it: ${connection} could not be opened (${message.replace(/\.$/, '')}). The next ingest that reaches it tries it`;
}

/** Of the subjects, those whose definition the claims files have: an earlier run tried it. */
export function listRecorded(subjects: ReadonlySet<string>, files: FileTree): ReadonlySet<string> {
  const read = openRecorded(files);
  return new Set(
    [...subjects].filter((subject) =>
      read(subject).some((claim) => isDefinition(claim, new Set([subject]))),
    ),
  );
}

/**
 * The findings in which the subjects are defined as the claims files have it: a definition that has
 * changed waits, and the one that was tried stays.
 */
export function withRecordedDefinitions(
  found: ProjectFindings,
  subjects: ReadonlySet<string>,
  files: FileTree,
): ProjectFindings {
  if (subjects.size === 0) return found;
  const read = openRecorded(files);
  const hold = <Part extends { readonly claims: readonly Claim[] }>(part: Part): Part => {
    if (!part.claims.some((claim) => isDefinition(claim, subjects))) return part;
    const claims = part.claims.flatMap((claim) => {
      if (!isDefinition(claim, subjects)) return [claim];
      const items = new Set(claim.evidence.map(({ item }) => item));
      return read(claim.subject).filter(
        ({ kind, evidence }) => kind === claim.kind && evidence.some(({ item }) => items.has(item)),
      );
    });
    return { ...part, claims };
  };
  return {
    ...found,
    sources: found.sources.map((source) => ({
      ...source,
      extractions: source.extractions.map(hold),
      readings: new Map([...source.readings].map(([key, reading]) => [key, hold(reading)])),
    })),
  };
}

/** A function that reads the claims about a subject in the claims files. */
function openRecorded(files: FileTree): (subject: string) => readonly Claim[] {
  const byPath = new Map<string, readonly Claim[]>();
  return (subject) => {
    const { connection = '', dataset = '' } = parseSubject(subject) ?? {};
    const path = claimsPath(connection, dataset);
    const claims = byPath.get(path) ?? parseClaims(path, files.get(path) ?? '').claims;
    byPath.set(path, claims);
    return claims.filter((claim) => claim.subject === subject);
  };
}

function isDefinition({ subject, kind }: Claim, subjects: ReadonlySet<string>): boolean {
  return subjects.has(subject) && kind === parseSubject(subject)?.type;
}
