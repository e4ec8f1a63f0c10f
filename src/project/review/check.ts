import { join } from 'node:path';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import type { IngestReport, Quarantined, UnusedFact } from '../../ingest/event.ts';
import { readText } from '../../store/files.ts';
import { listSources } from '../open/config.ts';
import { readLastLeftOut } from './review-queue.ts';
import { readConflicts } from './conflicts.ts';
import { ingestProject } from '../learn/ingest.ts';
import type { Project } from '../open/open.ts';
import { listStaleSubjects } from './stale.ts';
import { findRowRuleBypasses } from './row-rule-bypass.ts';

interface CheckFinding {
  readonly what: 'invalid' | 'contested' | 'stale' | 'left out' | 'no rules';
  /** A place `path:line:column`, a subject, or a source. */
  readonly where: string;
  readonly found: string;
  /** The least to do about it. */
  readonly fix: string;
}

export interface CheckReport {
  readonly findings: readonly CheckFinding[];
  /** What sources say that has no place in ktx: named, and no fault. */
  readonly unfit: readonly UnusedFact[];
}

/**
 * What must not be relied on: files that are not valid, what sources say differently, sources that say something else than when
 * they were ingested. Asks no warehouse and no model, and writes nothing.
 */
export async function checkProject(project: Project, signal: AbortSignal): Promise<CheckReport> {
  const names = listSources(project.config).map(([name]) => name);
  const isPlanned = names.length > 0 && project.warehouses.length > 0;
  const plan = isPlanned
    ? await ingestProject(project, { connections: names, dryRun: true, signal })
    : undefined;
  const planned = plan?.quarantined ?? [];
  // Without a warehouse the plan cannot try what a formula gives; the last run here did.
  const tried = readLastLeftOut(project).quarantined.filter(
    ({ subject }) => !planned.some((one) => one.subject === subject),
  );
  const read = [
    ...(plan === undefined ? [] : staleSources(plan)),
    ...[...planned, ...tried].map(leftOut),
  ];
  const findings = [
    ...(await invalid(project)),
    ...(await contested(project)),
    ...(await staleSubjects(project)),
    ...(await unruled(project)),
    ...read,
  ];
  findings.sort((a, b) => (`${a.what} ${a.where}` < `${b.what} ${b.where}` ? -1 : 1));
  return { findings, unfit: plan?.unfit ?? [] };
}

async function invalid(project: Project): Promise<CheckFinding[]> {
  const loaded = await Promise.all(project.warehouses.map((name) => project.model(name)));
  // A name that the catalog does not have leaves a dataset usable, yet is a fault until someone looks.
  const errors = loaded
    .flatMap(({ diagnostics }) => diagnostics)
    .filter(({ severity, rule }) => severity === 'error' || rule === 'unknown_name');
  const files = errors.map(({ file, line, column, message, hint }): CheckFinding => {
    return {
      what: 'invalid',
      where: `${file}:${line}:${column}`,
      found: message,
      fix: hint ?? `correct ${file}`,
    };
  });
  const { fault } = parsePins(await readText(join(project.dir, pinsPath), project.dir));
  return fault === undefined
    ? files
    : [...files, { what: 'invalid', where: pinsPath, found: fault, fix: `correct ${pinsPath}` }];
}

async function contested({ dir }: Project): Promise<CheckFinding[]> {
  return (await readConflicts(dir)).map(({ subject, kind, variants }) => {
    const found = `${kind}: ${variants.map(({ says }) => JSON.stringify(says)).join(' or ')}`;
    return {
      what: 'contested',
      where: subject,
      found,
      fix: `ktx review choose ${JSON.stringify(subject)} ${variants[0]?.id}`,
    };
  });
}

async function unruled(project: Project): Promise<CheckFinding[]> {
  return (await findRowRuleBypasses(project)).map(({ connection, ruled }) => {
    const found = `reads the same database as ${ruled}, without its row rules`;
    return {
      what: 'no rules',
      where: connection,
      found,
      fix: `give the datasets of ${connection} access:, or remove the connection from ktx.yaml`,
    };
  });
}

function leftOut({ subject, kind, reason, location }: Quarantined): CheckFinding {
  return {
    what: 'left out',
    where: location ?? subject,
    found: `${subject}: ${reason}`,
    fix: kind === 'reading' ? 'ktx ingest' : `ktx explain ${JSON.stringify(subject)}`,
  };
}

async function staleSubjects(project: Project): Promise<CheckFinding[]> {
  const hasModel = project.config.llm.provider.backend !== 'none';
  const fix = hasModel ? 'ktx ingest' : 'ktx setup --llm-backend <name>, then ktx ingest';
  return (await listStaleSubjects(project)).map(({ subject, why }) => ({
    what: 'stale',
    where: subject,
    found: why,
    fix,
  }));
}

function staleSources({ sources }: IngestReport): CheckFinding[] {
  return sources.flatMap(({ connection, items, failure }): CheckFinding[] => {
    const fix = `ktx ingest ${connection}`;
    if (failure)
      return [
        { what: 'stale', where: connection, found: failure.message, fix: failure.hint ?? fix },
      ];
    const { added = [], changed = [], gone = [] } = items ?? {};
    const moved = Object.entries({ added, changed, gone }).flatMap(([word, keys]) =>
      keys.length === 0
        ? []
        : [
            `${keys.length} ${word} (${keys.slice(0, 3).join(', ')}${keys.length > 3 ? ', …' : ''})`,
          ],
    );
    return moved.length === 0
      ? []
      : [{ what: 'stale', where: connection, found: moved.join(', '), fix }];
  });
}
