import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readWikiClaims } from '../../project/open/wiki-claims-files.ts';
import { explainSubject } from '../../project/answer/explain.ts';
import type { Project } from '../../project/open/open.ts';
import { loadReviewedConflicts } from '../../project/review/review.ts';
import { formatValue } from '../terminal/value-text.ts';

/** What a source says about a subject, and where. */
export interface SourceFact {
  readonly subject: string;
  readonly says: string;
  /** `dbt/models/sales.yml line 12` */
  readonly place: string;
}

/** Facts from dbt and the handbook about the subjects in `source-facts.json`. */
export async function loadSourceFacts(
  project: Project,
  signal: AbortSignal,
): Promise<readonly SourceFact[]> {
  const file = readFileSync(new URL('source-facts.json', import.meta.url), 'utf8');
  const subjects = JSON.parse(file) as readonly (readonly [subject: string, kind: string])[];
  const facts = subjects.map(async ([subject, kind]) => {
    const explanations = await explainSubject(
      project,
      { subject, measure: false },
      { signal, onProgress: () => undefined },
    );
    const claim = explanations
      .flatMap(({ claims }) => claims)
      .find((candidate) => candidate.kind === kind && candidate.shown);
    if (claim === undefined) return [];
    return [{ subject, says: bodyText(claim.body), place: placeText(claim.evidence[0]) }];
  });
  return (await Promise.all(facts)).flat();
}

/** Terms and rules that a model read in prose. */
export async function loadModelFacts({ dir }: Project): Promise<readonly SourceFact[]> {
  const { claims } = await readWikiClaims(dir);
  return claims
    .filter(({ kind }) => kind === 'definition' || kind === 'rule')
    .flatMap(({ subject, body, evidence }) => {
      const quote = evidence.find(({ origin, item }) => origin === 'model' && item !== undefined);
      return quote === undefined
        ? []
        : [{ subject, says: bodyText(body), place: placeText(quote) }];
    });
}

/** A metric that sources define differently. The first version is the one that queries use. */
export interface MetricConflict {
  readonly subject: string;
  readonly versions: readonly {
    readonly by: string;
    readonly says: string;
    readonly gives: number;
  }[];
}

/** The first contested metric; undefined once all are resolved. */
export async function loadMetricConflict(project: Project): Promise<MetricConflict | undefined> {
  const conflicts = await loadReviewedConflicts(project);
  const conflict = conflicts.find(({ kind }) => kind === 'metric');
  if (conflict === undefined) return undefined;
  const versions = conflict.variants.map(({ says, evidence, number }) => ({
    by: evidence[0]?.split(',')[0] ?? '',
    says: bodyText(says),
    gives: Number(number?.value),
  }));
  return { subject: conflict.subject, versions };
}

const ratioSchema = z.object({
  ratio: z.object({ numerator: z.string(), denominator: z.string() }),
});

/** The body of a claim on one line, without braces. */
function bodyText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  const { ratio } = ratioSchema.safeParse(value).data ?? {};
  if (ratio !== undefined) return `${ratio.numerator} / ${ratio.denominator}`;
  const text = formatValue(value);
  return typeof value === 'string' ? text : text.replace(/^\{(.*)\}$/s, '$1');
}

function placeText(evidence: { readonly item?: string; readonly location?: string } = {}): string {
  return `${(evidence.item ?? '').replace('sources/', '')} ${evidence.location ?? ''}`;
}
