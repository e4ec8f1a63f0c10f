import { parseSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import { explainAnything } from '../answer/explain.ts';
import { findOrigins, type SubjectOrigin } from '../graph/find-origins.ts';
import { findUses, type SubjectUse } from '../graph/find-uses.ts';
import type { Project } from '../open/open.ts';
import { openVisibleSubjects, type VisibleSubjects } from './visible-subjects.ts';

type AnyExplanation = Awaited<ReturnType<typeof explainAnything>>[number];

interface VisibleExplanation extends AnyExplanation {
  readonly uses: readonly SubjectUse[];
  readonly origins: readonly SubjectOrigin[];
}

interface VisibleSubjectRequest {
  /** In full, as `ktx search` prints it. */
  readonly subject: string;
  readonly connection?: string | undefined;
}

/**
 * Explains a subject as callers of a server may see it: nothing about what is hidden, no row rules,
 * and nothing that a warehouse or the questions of others would have to be asked for.
 */
export async function explainVisible(
  project: Project,
  { subject, connection }: VisibleSubjectRequest,
  signal: AbortSignal,
): Promise<readonly VisibleExplanation[]> {
  const visible = await openVisibleSubjects(project);
  if (!visible.isVisible(subject)) throw unknownSubject(subject);
  const request = { subject, connection, measure: false, onlyFiles: true };
  const found = await explainAnything(project, request, {
    signal,
    onProgress: () => undefined,
  }).catch((error: unknown) => {
    // The hint of the error may name what is hidden.
    throw error instanceof UserError ? unknownSubject(subject) : error;
  });
  const shown = found.filter((own) => visible.isVisible(own.subject));
  if (shown.length === 0) throw unknownSubject(subject);
  return Promise.all(
    shown.map(async (own) => ({
      ...withoutHidden(own, visible),
      uses: visibleUses(await findUses(project, own.subject), own, visible),
      origins: visibleOrigins(await findOrigins(project, withoutHidden(own, visible)), visible),
    })),
  );
}

function unknownSubject(subject: string): UserError {
  return new UserError('subject_unknown', `Nothing is known about ${subject}.`, {
    hint: 'search for it, and take the subject in full: metric:shop.orders.revenue',
    exitCode: 2,
  });
}

/** Of a dataset as a whole. Its row rules and segments have other keys. */
const datasetKeys: ReadonlySet<string> = new Set(
  'dataset source sql description synonyms tags owner layer entity primary_key default_time'.split(
    ' ',
  ),
);

function withoutHidden(own: AnyExplanation, visible: VisibleSubjects): AnyExplanation {
  const { type } = parseSubject(own.subject) ?? {};
  const showsValues = type !== 'field' || declaresValues(own.subject, visible);
  const isShownKey = (key: string): boolean => {
    if (type === 'dataset') return datasetKeys.has(key);
    return key !== 'extensions' && (key !== 'values' || showsValues);
  };
  return {
    ...own,
    values: own.values.filter(({ key }) => isShownKey(key)),
    claims: own.claims.filter(
      ({ kind }) => !unshownKinds.has(kind) && (kind !== 'values' || showsValues),
    ),
    stale: own.stale.filter(({ subject }) => visible.isVisible(subject)),
    findings: [],
  };
}

/** Row rules of other tools, conditions, and what people took out: they may name what is hidden. */
const unshownKinds: ReadonlySet<string> = new Set(['possible_access', 'constraint', 'edit']);

/** False if the file says that the values of the field are personal. */
function declaresValues(subject: string, visible: VisibleSubjects): boolean {
  const { connection = '', dataset = '', name } = parseSubject(subject) ?? {};
  const { fields = [] } = visible.dataset(connection, dataset)?.dataset ?? {};
  return fields.find((field) => field.name === name)?.values !== undefined;
}

/** What depends on something hidden is hidden, too. */
function visibleUses(
  uses: readonly SubjectUse[],
  own: AnyExplanation,
  visible: VisibleSubjects,
): readonly SubjectUse[] {
  return uses
    .filter((use) => isVisibleUse(use, own, visible))
    .map((use) =>
      use.uses === undefined ? use : { ...use, uses: visibleUses(use.uses, own, visible) },
    );
}

/** Without what is hidden, and what that is made of. */
function visibleOrigins(
  origins: readonly SubjectOrigin[],
  visible: VisibleSubjects,
): readonly SubjectOrigin[] {
  return origins
    .filter(({ subject }) => subject === undefined || visible.isVisible(subject))
    .map((origin) => ({ ...origin, from: visibleOrigins(origin.from, visible) }));
}

/** Of metrics, those that are not hidden. A verified question may name values. */
function isVisibleUse(
  { kind, name }: SubjectUse,
  { subject }: AnyExplanation,
  visible: VisibleSubjects,
): boolean {
  const { connection = '' } = parseSubject(subject) ?? {};
  if (kind === 'metric') return visible.isVisible(`metric:${connection}.${name}`);
  return kind !== 'verified question' || visible.mayShowNumbers(subject);
}
