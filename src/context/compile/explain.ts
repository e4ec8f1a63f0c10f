import { LineCounter, isMap, isScalar, parseDocument } from 'yaml';
import { UserError } from '../../lib/error.ts';
import { nearest } from '../../lib/suggest.ts';
import type { KeyFinding, LinkFinding, ScanFindings } from '../catalog/catalog.ts';
import type { ProjectFile } from '../catalog/catalog-files.ts';
import { claimId, isEditRecord, subjects, type Claim } from '../claims/claim.ts';
import { uniteClaims, type ClaimsFile } from '../claims/claims-file.ts';
import { rankByKind } from './compile.ts';
import { rankClaims } from './claim-precedence.ts';
import { isUnedited } from '../merge/merge-base.ts';
import { hashValue, listEntries } from '../merge/yaml-values.ts';
import { parseDatasetFile } from '../merge/merge-dataset.ts';
import { datasetNames } from '../catalog/dataset-names.ts';
import type { Pin } from '../claims/pins.ts';
import { applyModelDecisions, isModelDecision } from '../claims/model-decisions.ts';
import { parseSubject } from '../claims/subject.ts';
import { entrySubject } from '../merge/entry-subject.ts';

/** What there is to explain with. */
export interface Provenance {
  readonly connection: string;
  readonly datasets: readonly {
    readonly dataset: string;
    readonly claims: ClaimsFile;
    readonly artifact: ProjectFile | undefined;
  }[];
  /** Of the last scan: also what is not accepted, and the exact measurements. */
  readonly findings?: ScanFindings | undefined;
}

/** The chain from what a file shows back to what justifies it. */
export interface Explanation {
  readonly subject: string;
  /** As its file shows them, whose they are, and where they stand. */
  readonly values: ReturnType<typeof valuesOf>;
  /** By kind, what is shown first; `edit` claims are what people took out. */
  readonly claims: readonly (Claim & { readonly id: string; readonly shown: boolean })[];
  readonly findings: readonly (KeyFinding | LinkFinding)[];
}

/**
 * Explains a subject, or what its short form means: `orders`, `orders.status`, `orders(customer_id)`. A column that refers
 * to another dataset is explained as a field and as a relationship. What is not known is an error that names the nearest.
 */
export function findExplanations(wanted: string, provenance: Provenance): Explanation[] {
  const claims = provenance.datasets.flatMap((one) => one.claims.claims);
  const written = writtenIn(provenance);
  const findings = provenance.findings ? findingsOf(provenance.findings) : [];
  const known = [
    ...new Set([...claims, ...written, ...findings].map(({ subject }) => subject)),
  ].sort();
  const fold = (name: string) => name.toLowerCase().replaceAll(' ', '');
  const meant = known.filter((subject) =>
    namesOf(subject).some((name) => fold(name) === fold(wanted)),
  );
  if (meant.length === 0)
    throw unknownSubject(wanted, provenance.connection, known.flatMap(namesOf));
  return meant.map((subject) => ({
    subject,
    values: valuesOf(written.filter((one) => one.subject === subject)),
    claims: markShownClaims(claims.filter((claim) => claim.subject === subject)),
    findings: findings.filter((one) => one.subject === subject).map(({ finding }) => finding),
  }));
}

function unknownSubject(wanted: string, connection: string, known: readonly string[]): UserError {
  const names = nearest(wanted, known);
  const hint =
    names.length > 0
      ? `Did you mean ${names.join(', ')}?`
      : 'Run `ktx search` to find what there is.';
  const message = `Nothing is known of \`${wanted}\` in ${connection}.`;
  return new UserError('subject_unknown', message, {
    hint,
    exitCode: 2,
    details: { nearest: names },
  });
}

/** The ways to write a subject, the short one first; none where it is not one of a warehouse. */
function namesOf(subject: string): string[] {
  const parts = parseSubject(subject);
  if (!parts) return [];
  const { type, connection, dataset, name, columns } = parts;
  const own = {
    dataset: '',
    field: `.${name}`,
    metric: `.${name}`,
    relationship: `(${columns.join(',')})`,
  }[type];
  const short = [`${dataset}${own}`, ...(columns.length === 1 ? [`${dataset}.${columns[0]}`] : [])];
  return [...short, ...short.map((one) => `${connection}.${one}`), subject];
}

/** By kind, in the order in which they count: of one subject, or of all that are the same. */
export function markShownClaims(
  claims: readonly Claim[],
  pins: readonly Pin[] = [],
): Explanation['claims'] {
  const ruled = applyModelDecisions(claims, pins);
  const bySubject = [...Map.groupBy(uniteClaims(ruled.claims), ({ subject }) => subject).values()];
  const verdicts = bySubject.flatMap((group) => [...rankByKind(group, pins, ruled).values()]);
  const counts = new Set(verdicts.flatMap(({ shown }) => shown.map(claimId)));
  return [...Map.groupBy(claims, ({ kind }) => kind).values()].flatMap((group) => {
    const { ranked, shown } = rankClaims(group);
    return ranked.map((claim) => {
      const isOther = isEditRecord(claim) || isModelDecision(claim);
      const counted = isOther ? undefined : ruled.counted(claim);
      return {
        ...claim,
        id: claimId(claim),
        shown: isOther
          ? shown.includes(claim)
          : counted !== undefined && counts.has(claimId(counted)),
      };
    });
  });
}

/** Every value of every file with its subject. */
function writtenIn({ connection, datasets }: Provenance) {
  return datasets.flatMap(({ dataset, artifact, claims: { base } }) => {
    const parsed = parseDatasetFile(artifact?.text ?? '');
    if (!artifact || 'reason' in parsed) return [];
    return listEntries(parsed.mapping).flatMap((entry) => {
      const subject = entrySubject({ connection, dataset }, entry);
      return entry.values.map((leaf) => ({ subject, leaf, entry, artifact, base }));
    });
  });
}

/** The values of one subject, and so of one file. */
function valuesOf(written: ReturnType<typeof writtenIn>) {
  const lineCounter = new LineCounter();
  const document = parseDocument(written[0]?.artifact.text ?? '', { lineCounter });
  return written.map(({ leaf: { key, path, value }, entry, artifact, base }) => {
    const node = document.getIn(entry.at, true);
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && item.key.value === key)
      : undefined;
    const offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
    const { line } = lineCounter.linePos(offset ?? 0);
    const by: 'ktx' | 'person' = isUnedited(base, path, hashValue(value)) ? 'ktx' : 'person';
    return { key, value, by, path: artifact.path, line };
  });
}

function findingsOf({
  catalog,
  primaryKeys,
  links,
}: ScanFindings): { subject: string; finding: KeyFinding | LinkFinding }[] {
  const names = datasetNames(catalog);
  return [
    ...primaryKeys.map((finding) => ({
      subject: subjects.dataset(catalog.connection, names.dataset(finding.table)),
      finding,
    })),
    ...links.map((finding) => {
      const { table, columns } = finding.from;
      const own = columns.map((column) => names.field(table, column));
      return {
        subject: subjects.relationship(catalog.connection, names.dataset(table), own),
        finding,
      };
    }),
  ];
}
