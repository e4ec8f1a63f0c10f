import type { Claim, ClaimKind } from '../claims/claim.ts';
import { uniteClaims } from '../claims/claims-file.ts';
import { findBodyError, rankByKind, type Compilation } from '../compile/compile.ts';
import { findConflicts } from '../compile/conflicts.ts';
import type { Pin } from '../claims/pins.ts';
import { applyModelDecisions, dropOrphans } from '../claims/model-decisions.ts';
import { parseWikiSubject } from '../claims/subject.ts';
import { buildPages, type WikiPage } from './wiki.ts';

interface WikiCompilation extends Pick<Compilation, 'conflicts' | 'quarantined'> {
  /** Sorted by name. */
  readonly pages: readonly WikiPage[];
}

/** Claims about terms and rules to pages: pure, total, and the same whatever the order of its inputs. */
export function compileWiki(claims: Iterable<Claim>, pins: readonly Pin[]): WikiCompilation {
  const ruled = applyModelDecisions(dropOrphans(uniteClaims(claims), { pins }), pins);
  const judged = uniteClaims(ruled.claims).map((claim) => ({ claim, reason: wikiFault(claim) }));
  const quarantined = judged.flatMap(({ claim, reason }) =>
    reason === undefined ? [] : [{ claim, reason }],
  );
  const sound = judged.flatMap(({ claim, reason }) => (reason === undefined ? [claim] : []));
  const bySubject = [...Map.groupBy(sound, ({ subject }) => subject)];
  const topics = bySubject.map(([subject, group]) => ({
    subject,
    verdicts: rankByKind(group, pins, ruled),
  }));
  const conflicts = findConflicts(topics.flatMap(({ verdicts }) => [...verdicts.values()]));
  return { pages: buildPages(topics), conflicts, quarantined };
}

const wikiKinds: ReadonlySet<ClaimKind> = new Set([
  'title',
  'definition',
  'rule',
  'refs',
  'page',
  'synonyms',
  'tags',
  'description',
]);

function wikiFault({ subject, kind, body }: Claim): string | undefined {
  const type = parseWikiSubject(subject)?.type;
  if (type === undefined) return 'its subject is none of the wiki';
  const isOther =
    (type === 'rule' && kind === 'definition') || (type === 'term' && kind === 'rule');
  if (isOther || !wikiKinds.has(kind)) return `${kind} cannot be said of a ${type}`;
  return findBodyError({ kind, body });
}
