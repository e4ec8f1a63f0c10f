import { LineCounter, isMap, isScalar, parseDocument } from 'yaml';
import { UserError } from '../../lib/error.ts';
import { nearest } from '../../lib/suggest.ts';
import type { KeyFinding, LinkFinding, ScanFindings } from '../catalog/catalog.ts';
import type { ProjectFile } from '../catalog/catalog-files.ts';
import { datasetNames } from '../catalog/dataset-names.ts';
import { claimId, isEditRecord, subjects, type Claim } from '../claims/claim.ts';
import { uniteClaims, type ClaimsFile } from '../claims/claims-file.ts';
import { applyModelDecisions, isModelDecision } from '../claims/model-decisions.ts';
import { findPin, type Pin } from '../claims/pins.ts';
import { parseSubject } from '../claims/subject.ts';
import { entrySubject } from '../merge/entry-subject.ts';
import { isUnedited } from '../merge/merge-base.ts';
import { parseDatasetFile } from '../merge/merge-dataset.ts';
import { hashValue, listEntries } from '../merge/yaml-values.ts';
import { rankClaims } from './claim-precedence.ts';
import type { Authority } from './authority.ts';
import { rankByKind } from './compile.ts';
import { ownDefinitions } from './own-definitions.ts';

/** What an explanation is made from. */
export interface Provenance {
  readonly connection: string;
  readonly datasets: readonly {
    readonly dataset: string;
    readonly claims: ClaimsFile;
    readonly artifact: ProjectFile | undefined;
  }[];
  /**
   * From the last scan: also the keys and links that were not accepted, and the exact measurements.
   */
  readonly findings?: ScanFindings | undefined;
  readonly authority?: Authority | undefined;
  /** What people decided. */
  readonly pins?: readonly Pin[] | undefined;
}

/** Where the values of a subject come from: the file, its claims, what scan measured. */
export interface Explanation {
  readonly subject: string;
  /** The values in the file, with their author and line. */
  readonly values: ReturnType<typeof locateValues>;
  /** By kind, shown claims first; `edit` claims are what people took out. */
  readonly claims: readonly (Claim & { readonly id: string; readonly shown: boolean })[];
  readonly findings: readonly (KeyFinding | LinkFinding)[];
}

/**
 * Explains a subject, given in full or in its short form: `orders`, `orders.status`,
 * `orders(customer_id)`. A column that refers to another dataset is explained as a field and as a
 * relationship. Throws an error with the nearest names if nothing is known.
 */
export function findExplanations(name: string, provenance: Provenance): Explanation[] {
  const { pins = [] } = provenance;
  const stored = provenance.datasets.flatMap((dataset) => dataset.claims.claims);
  const own = ownDefinitions(pins).filter(
    ({ subject }) => parseSubject(subject)?.connection === provenance.connection,
  );
  const claims = [...stored, ...own];
  const values = listFileValues(provenance);
  const findings = provenance.findings ? listScanFindings(provenance.findings) : [];
  const known = [
    ...new Set([...claims, ...values, ...findings].map(({ subject }) => subject)),
  ].sort();
  const fold = (text: string) => text.toLowerCase().replaceAll(' ', '');
  const matches = known.filter((subject) =>
    subjectSpellings(subject).some((spelling) => fold(spelling) === fold(name)),
  );
  if (matches.length === 0)
    throw unknownSubjectError(name, provenance.connection, known.flatMap(subjectSpellings));
  return matches.map((subject) => ({
    subject,
    values: locateValues(values.filter((value) => value.subject === subject)),
    claims: markShownClaims(
      claims.filter((claim) => claim.subject === subject),
      pins,
      provenance.authority,
    ),
    findings: findings.filter((found) => found.subject === subject).map(({ finding }) => finding),
  }));
}

/**
 * The claims, each with its id and whether it is shown: by kind, in the order of precedence. The
 * claims are those about one subject, or about several that models found to be the same.
 */
export function markShownClaims(
  claims: readonly Claim[],
  pins: readonly Pin[] = [],
  authority?: Authority,
): Explanation['claims'] {
  const decided = applyModelDecisions(claims, pins);
  const bySubject = [
    ...Map.groupBy(uniteClaims(decided.claims), ({ subject }) => subject).values(),
  ];
  const ranks = bySubject.flatMap((group) => [
    ...rankByKind(group, { pins, authority }, decided).values(),
  ]);
  const shownIds = new Set(ranks.flatMap(({ shown }) => shown.map(claimId)));
  return [...Map.groupBy(claims, ({ kind }) => kind).values()].flatMap((group) => {
    const [first] = group;
    const pin = first && findPin(pins, first);
    const { ranked, shown } = rankClaims(group, { pin, authority });
    const isShown = (claim: Claim): boolean => {
      if (isEditRecord(claim) || isModelDecision(claim)) return shown.includes(claim);
      const effective = decided.effective(claim);
      return effective !== undefined && shownIds.has(claimId(effective));
    };
    return ranked.map((claim) => ({ ...claim, id: claimId(claim), shown: isShown(claim) }));
  });
}

function unknownSubjectError(
  name: string,
  connection: string,
  known: readonly string[],
): UserError {
  const names = nearest(name, known);
  const hint =
    names.length > 0
      ? `Did you mean ${names.join(', ')}?`
      : 'Run `ktx search` to find what there is.';
  return new UserError('subject_unknown', `Nothing is known about \`${name}\` in ${connection}.`, {
    hint,
    exitCode: 2,
    details: { nearest: names },
  });
}

/** The ways to write a subject, the short one first; none if it is not a subject of a warehouse. */
function subjectSpellings(subject: string): string[] {
  const parts = parseSubject(subject);
  if (!parts) return [];
  const { type, connection, dataset, name, columns } = parts;
  const member = {
    dataset: '',
    field: `.${name}`,
    metric: `.${name}`,
    relationship: `(${columns.join(',')})`,
  }[type];
  const short = [
    `${dataset}${member}`,
    ...(columns.length === 1 ? [`${dataset}.${columns[0]}`] : []),
  ];
  return [...short, ...short.map((spelling) => `${connection}.${spelling}`), subject];
}

/** Every value of every file, with its subject. */
function listFileValues({ connection, datasets }: Provenance) {
  return datasets.flatMap(({ dataset, artifact, claims: { base } }) => {
    const parsed = parseDatasetFile(artifact?.text ?? '');
    if (!artifact || 'reason' in parsed) return [];
    return listEntries(parsed.mapping).flatMap((entry) => {
      const subject = entrySubject({ connection, dataset }, entry);
      return entry.values.map((value) => ({ subject, value, entry, artifact, base }));
    });
  });
}

/** The values of one subject, which are all in one file. */
function locateValues(values: ReturnType<typeof listFileValues>) {
  const lineCounter = new LineCounter();
  const document = parseDocument(values[0]?.artifact.text ?? '', { lineCounter });
  return values.map(({ value: { key, path, value }, entry, artifact, base }) => {
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

function listScanFindings({
  catalog,
  primaryKeys,
  links,
}: ScanFindings): { subject: string; finding: KeyFinding | LinkFinding }[] {
  const names = datasetNames(catalog);
  const keyFindings = primaryKeys.map((finding) => ({
    subject: subjects.dataset(catalog.connection, names.dataset(finding.table)),
    finding,
  }));
  const linkFindings = links.map((finding) => {
    const { table, columns } = finding.from;
    const fields = columns.map((column) => names.field(table, column));
    return {
      subject: subjects.relationship(catalog.connection, names.dataset(table), fields),
      finding,
    };
  });
  return [...keyFindings, ...linkFindings];
}
