import type { Conflict } from '../../context/compile/conflicts.ts';
import type { IngestReport, Quarantined, UnusedFact } from '../../ingest/report.ts';
import { formatCount } from '../../lib/format-count.ts';
import { checkKeys, type KeyReport } from '../keys/check-keys.ts';
import { ingestProject } from '../learn/ingest.ts';
import { listSources } from '../open/config.ts';
import type { Project } from '../open/open.ts';
import { listSavedQueries } from '../saved/saved-queries.ts';
import { readConflicts } from './conflicts.ts';
import { type DeferredQuestion, type OpenQuestion, readDeferrals } from './decide/deferred.ts';
import { listGoneEdits, readLastLeftOut } from './review-queue.ts';
import { findRowRuleBypasses } from './row-rule-bypass.ts';
import { listStaleSubjects } from './stale.ts';
import { findUnreadableFiles } from './unreadable-files.ts';

interface CheckFinding {
  readonly what: 'invalid' | 'contested' | 'contradicted' | 'stale' | 'left out' | 'no rules';
  /** `path:line:column`, a subject, or the name of a connection. */
  readonly where: string;
  readonly found: string;
  /** The smallest step that fixes it. */
  readonly fix: string;
}

export interface CheckReport {
  readonly findings: readonly CheckFinding[];
  /** What sources declare and ktx cannot represent. Shown for information; it is no finding. */
  readonly unfit: readonly UnusedFact[];
  /** Connections whose keys were not counted, and why. Shown for information. */
  readonly uncounted: KeyReport['uncounted'];
  /** Conflicts that a person put off. Shown for information. */
  readonly deferred: readonly DeferredQuestion[];
}

/**
 * Finds what nobody should rely on: invalid files, conflicts, keys that the rows contradict, stale
 * subjects, and sources that changed since they were ingested. Calls no model and writes nothing
 * but the counts. It reads database files; it connects to a server only if `isAskingServers`.
 */
export async function checkProject(
  project: Project,
  { isAskingServers = false }: { readonly isAskingServers?: boolean },
  signal: AbortSignal,
): Promise<CheckReport> {
  const plan = await planSources(project, signal);
  const plannedLeftOut = plan?.quarantined ?? [];
  // Without a warehouse the dry run cannot try formulas. The last real run in this folder could.
  const lastLeftOut = readLastLeftOut(project).quarantined.filter(
    ({ subject }) => !plannedLeftOut.some((planned) => planned.subject === subject),
  );
  const invalid = await findInvalidFiles(project);
  // An invalid dataset file is one finding, although an ingest also leaves it out.
  const leftOut = [...plannedLeftOut, ...lastLeftOut].filter(
    ({ subject }) => !invalid.some(({ where }) => where.startsWith(`${subject}:`)),
  );
  const { contradicted, uncounted } = await checkKeys(project, { isAskingServers }, signal);
  const findings = [
    ...invalid,
    ...(await findOpenConflicts(project)),
    ...contradicted.map(toKeyFinding),
    ...(await findStaleSubjects(project)),
    ...(await findGoneEdits(project)),
    ...(await findMissingRowRules(project)),
    ...(plan === undefined ? [] : findChangedSources(plan)),
    ...leftOut.map(toLeftOutFinding),
  ];
  findings.sort((a, b) => (`${a.what} ${a.where}` < `${b.what} ${b.where}` ? -1 : 1));
  const deferred = await listDeferred(project);
  return { findings, unfit: plan?.unfit ?? [], uncounted, deferred };
}

/** A dry run of all sources; undefined if there is nothing to compare them with. */
async function planSources(
  project: Project,
  signal: AbortSignal,
): Promise<IngestReport | undefined> {
  const connections = listSources(project.config).map(([name]) => name);
  if (connections.length === 0 || project.warehouses.length === 0) return undefined;
  return ingestProject(project, { connections, dryRun: true, signal });
}

async function findInvalidFiles(project: Project): Promise<CheckFinding[]> {
  const models = await Promise.all(project.warehouses.map((name) => project.model(name)));
  // A name that the catalog does not have leaves the dataset usable, but somebody has to look at
  // it.
  const saved = await listSavedQueries(project);
  const faults = [...models.flatMap(({ diagnostics }) => diagnostics), ...saved.faults].filter(
    ({ severity, rule }) => severity === 'error' || rule === 'unknown_name',
  );
  const findings = faults.map(({ file, line, column, message, hint }): CheckFinding => ({
    what: 'invalid',
    where: `${file}:${line}:${column}`,
    found: message,
    fix: hint ?? `correct ${file}`,
  }));
  const unreadable = await findUnreadableFiles(project.dir);
  return [
    ...findings,
    ...unreadable.map(({ path, reason, fix }): CheckFinding => ({
      what: 'invalid',
      where: path,
      found: `This file is not read: ${reason}`,
      fix,
    })),
  ];
}

async function listDeferred(project: Project): Promise<readonly DeferredQuestion[]> {
  const { list } = await readDeferrals(project);
  return list((await readConflicts(project.dir)).map(toQuestion));
}

function toQuestion({ subject, kind, variants }: Conflict): OpenQuestion {
  return { subject, kind, ids: variants.map(({ id }) => id) };
}

/** Without those that a person put off. */
async function findOpenConflicts(project: Project): Promise<CheckFinding[]> {
  const { isDeferred } = await readDeferrals(project);
  const conflicts = (await readConflicts(project.dir)).filter(
    (conflict) => !isDeferred(toQuestion(conflict)),
  );
  return conflicts.map(({ subject, kind, variants }) => ({
    what: 'contested',
    where: subject,
    found: `${kind}: ${variants.map(({ id, says }) => `${id} ${JSON.stringify(says)}`).join(' or ')}`,
    fix: `ktx review choose ${JSON.stringify(subject)} ${variants[0]?.id}`,
  }));
}

function toKeyFinding({ key, found, file }: KeyReport['contradicted'][number]): CheckFinding {
  return {
    what: 'contradicted',
    where: file,
    found: `${key} is declared to identify a row; in ${formatCount(found ?? 0, 'case')} it does not`,
    fix: `correct the data, or the key in ${file}`,
  };
}

async function findMissingRowRules(project: Project): Promise<CheckFinding[]> {
  return (await findRowRuleBypasses(project)).map(({ connection, ruled }) => ({
    what: 'no rules',
    where: connection,
    found: `reads the same database as ${ruled}, without its row rules`,
    fix: `give the datasets of ${connection} access:, or remove the connection from ktx.yaml`,
  }));
}

function toLeftOutFinding({ subject, kind, reason, location }: Quarantined): CheckFinding {
  return {
    what: 'left out',
    where: location ?? subject,
    found: location?.startsWith(subject) ? reason : `${subject}: ${reason}`,
    fix:
      kind === 'reading'
        ? 'ktx ingest'
        : `correct it at its source, then ktx ingest; ktx explain ${JSON.stringify(subject)} shows the source`,
  };
}

async function findStaleSubjects(project: Project): Promise<CheckFinding[]> {
  const hasModel = project.config.llm.provider.backend !== 'none';
  const fix = hasModel ? 'ktx ingest' : 'ktx setup --llm-backend <name>, then ktx ingest';
  return (await listStaleSubjects(project)).map(({ subject, why }) => ({
    what: 'stale',
    where: subject,
    found: why,
    fix,
  }));
}

async function findGoneEdits(project: Project): Promise<CheckFinding[]> {
  return (await listGoneEdits(project)).map(({ path, at, why }) => ({
    what: 'stale',
    where: at,
    found: `${path}: ${why}`,
    fix: `delete it from ${at}, or the whole file if its table is gone; then ktx ingest`,
  }));
}

function findChangedSources({ sources }: IngestReport): CheckFinding[] {
  return sources.flatMap(({ connection, items, failure }): CheckFinding[] => {
    const finding = { what: 'stale', where: connection } as const;
    const fix = `ktx ingest ${connection}`;
    if (failure) return [{ ...finding, found: failure.message, fix: failure.hint ?? fix }];
    const { added = [], changed = [], gone = [] } = items ?? {};
    const changes = [
      ...describeKeys('added', added),
      ...describeKeys('changed', changed),
      ...describeKeys('gone', gone),
    ];
    return changes.length === 0 ? [] : [{ ...finding, found: changes.join(', '), fix }];
  });
}

/** `2 added (a.md, b.md)`; at most three keys are named. */
function describeKeys(word: string, keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return [];
  const more = keys.length > 3 ? ', …' : '';
  return [`${keys.length} ${word} (${keys.slice(0, 3).join(', ')}${more})`];
}
