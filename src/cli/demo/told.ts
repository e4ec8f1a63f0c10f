import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, dump } from 'js-yaml';
import { z } from 'zod';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { explainSubject } from '../../project/answer/explain.ts';
import type { Project } from '../../project/open/open.ts';
import { loadReviewedConflicts } from '../../project/review/review.ts';
import { readText } from '../../store/files.ts';

/** What a source says of something, and which line of it. */
export interface Told {
  readonly subject: string;
  readonly says: string;
  /** `dbt/models/sales.yml line 12` */
  readonly place: string;
}

/** Of the things worth a look, what counts and who says so. */
export async function toldIn(project: Project, signal: AbortSignal): Promise<readonly Told[]> {
  const wanted = JSON.parse(
    readFileSync(new URL('told.json', import.meta.url), 'utf8'),
  ) as readonly (readonly [string, string])[];
  const told = wanted.map(async ([subject, kind]) => {
    const explained = await explainSubject(
      project,
      { subject, measure: false },
      { signal, onProgress: () => undefined },
    );
    const claim = explained
      .flatMap(({ claims }) => claims)
      .find((one) => one.kind === kind && one.shown);
    const { item = '', location = '' } = claim?.evidence[0] ?? {};
    return claim === undefined
      ? []
      : [
          {
            subject,
            says: inLine(claim.body),
            place: `${item.replace('sources/', '')} ${location}`,
          },
        ];
  });
  return (await Promise.all(told)).flat();
}

/** Terms and rules that a model read in prose, and which line of it. */
export async function readByModel({ dir }: Project): Promise<readonly Told[]> {
  const { claims } = parseClaims(
    wikiClaimsPath,
    (await readText(join(dir, wikiClaimsPath), dir)) ?? '',
  );
  return claims.flatMap(({ subject, kind, body, evidence }) => {
    const by = evidence.find(({ origin, item }) => origin === 'model' && item !== undefined);
    const isSaid = by !== undefined && (kind === 'definition' || kind === 'rule');
    return isSaid
      ? [
          {
            subject,
            says: inLine(body),
            place: `${by.item?.replace('sources/', '')} ${by.location ?? ''}`,
          },
        ]
      : [];
  });
}

/** The versions of a contested metric, what is shown first; undefined once somebody decided. */
export interface TwoTruths {
  readonly subject: string;
  readonly versions: readonly {
    readonly by: string;
    readonly says: string;
    readonly gives: number;
  }[];
}

export async function twoTruths(project: Project): Promise<TwoTruths | undefined> {
  const found = (await loadReviewedConflicts(project)).find(({ kind }) => kind === 'metric');
  if (found === undefined) return undefined;
  const versions = found.variants.map(({ says, evidence, number }) => {
    return {
      by: evidence[0]?.split(',')[0] ?? '',
      says: inLine(says),
      gives: Number(number?.value),
    };
  });
  return { subject: found.subject, versions };
}

const ratioSchema = z.object({
  ratio: z.object({ numerator: z.string(), denominator: z.string() }),
});

function inLine(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(String).join(', ');
  const { ratio } = ratioSchema.safeParse(value).data ?? {};
  if (ratio !== undefined) return `${ratio.numerator} / ${ratio.denominator}`;
  const text = dump(value, { schema: CORE_SCHEMA, flowLevel: 0, lineWidth: -1 });
  return text.trim().replace(/^\{(.*)\}$/s, '$1');
}
