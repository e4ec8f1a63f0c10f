import { LineCounter, isMap, isScalar, parseDocument } from 'yaml';
import { UserError } from '../lib/error.ts';
import type { Json } from '../lib/json.ts';
import { nearest } from '../lib/suggest.ts';
import type { KeyFinding, LinkFinding, ScanFindings } from './catalog.ts';
import type { ProjectFile } from './catalog-files.ts';
import { claimId, subjects, type Claim } from './claim.ts';
import type { ClaimsFile } from './claims-file.ts';
import { judge } from './conflicts.ts';
import { isKtx } from './decide.ts';
import { outline, type Entry, type Leaf } from './leaves.ts';
import { parseArtifact } from './merge.ts';
import { datasetNames } from './names.ts';
import { entrySubject, subjectParts, type Owner } from './subject.ts';

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
  readonly values: readonly ExplainedValue[];
  /** By kind, what is shown first; `edit` claims are what people took out. */
  readonly claims: readonly (Claim & { readonly id: string; readonly shown: boolean })[];
  readonly findings: readonly (KeyFinding | LinkFinding)[];
}

/** A value as its file shows it, whose it is, and where it stands. */
export interface ExplainedValue {
  readonly key: string;
  readonly value: Json;
  readonly by: 'ktx' | 'person';
  readonly path: string;
  readonly line: number;
}

/**
 * Explains a subject, or what its short form means: `orders`, `orders.status`, `orders(customer_id)`. A column that refers
 * to another dataset is explained as a field and as a relationship. What is not known is an error that names the nearest.
 */
export function explain(wanted: string, provenance: Provenance): Explanation[] {
  const known = knownSubjects(provenance);
  const fold = (one: string) => one.toLowerCase().replaceAll(' ', '');
  const found = known.filter((subject) => namesOf(subject).some((name) => fold(name) === fold(wanted)));
  if (found.length > 0) return found.map((subject) => explained(subject, provenance));
  const names = nearest(wanted, known.flatMap(namesOf)); // prettier-ignore
  throw new UserError('subject_unknown', `Nothing is known of \`${wanted}\` in ${provenance.connection}.`, {
    hint: names.length > 0 ? `Did you mean ${names.join(', ')}?` : 'Run `ktx search` to find what there is.',
    exitCode: 2,
    details: { nearest: names },
  });
}

function knownSubjects({ connection, datasets, findings }: Provenance): string[] {
  const claimed = datasets.flatMap(({ claims }) => claims.claims.map(({ subject }) => subject));
  const written = datasets.flatMap(({ dataset, artifact }) => writtenIn(artifact, { connection, dataset }).map(({ subject }) => subject));
  const found = findings ? findingsOf(findings).map(({ subject }) => subject) : [];
  return [...new Set([...claimed, ...written, ...found])].filter((subject) => subjectParts(subject)).sort();
}

/** The ways to write a subject, the short one first. */
function namesOf(subject: string): string[] {
  const { type, connection, dataset, name, columns } = subjectParts(subject) ?? {};
  if (type === undefined) return [];
  const short =
    type === 'relationship' ? [`${dataset}(${columns?.join(',')})`] : [type === 'dataset' ? `${dataset}` : `${dataset}.${name}`];
  if (columns?.length === 1) short.push(`${dataset}.${columns[0]}`);
  return [...short, ...short.map((one) => `${connection}.${one}`), subject];
}

function explained(subject: string, { connection, datasets, findings }: Provenance): Explanation {
  const found = (findings ? findingsOf(findings) : []).filter((one) => one.subject === subject).map(({ finding }) => finding);
  const parts = subjectParts(subject);
  const home = datasets.find(({ dataset }) => dataset === parts?.dataset);
  if (!home) return { subject, values: [], claims: [], findings: found };
  const leaves = writtenIn(home.artifact, { connection, dataset: home.dataset }).filter((one) => one.subject === subject);
  const place = home.artifact ? lineFinder(home.artifact.text) : () => 1;
  const values = leaves.map(({ leaf, entry }): ExplainedValue => {
    const by = isKtx(home.claims.base, leaf.path, leaf.value) ? 'ktx' : 'person';
    return { key: leaf.key, value: leaf.value, by, path: home.artifact?.path ?? '', line: place(leaf, entry) };
  });
  const own = home.claims.claims.filter((claim) => claim.subject === subject);
  const claims = [...Map.groupBy(own, ({ kind }) => kind).values()].flatMap((group) =>
    judge(group, undefined).ranked.map((claim, rank) => ({
      ...claim,
      id: claimId(claim),
      shown: rank === 0 || claim.kind === 'unique_key',
    })),
  );
  return { subject, values, claims, findings: found };
}

interface Written {
  readonly subject: string;
  readonly leaf: Leaf;
  readonly entry: Entry | undefined;
}

/** Every value of a file with its subject. */
function writtenIn(artifact: ProjectFile | undefined, owner: Owner): Written[] {
  const parsed = parseArtifact(artifact?.text ?? '');
  if ('reason' in parsed) return [];
  const { top, entries } = outline(parsed.mapping);
  const subject = subjects.dataset(owner.connection, owner.dataset);
  return [
    ...top.map((leaf) => ({ subject, leaf, entry: undefined })),
    ...entries.flatMap((entry) => entry.leaves.map((leaf) => ({ subject: entrySubject(owner, entry), leaf, entry }))),
  ];
}

function lineFinder(text: string): (leaf: Leaf, entry: Entry | undefined) => number {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  return ({ key }, entry) => {
    const node = entry ? document.getIn([entry.list, entry.index], true) : document.contents;
    const pair = isMap(node) ? node.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;
    const offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
    return offset === undefined ? 1 : lineCounter.linePos(offset).line;
  };
}

function findingsOf({ catalog, primaryKeys, links }: ScanFindings): { subject: string; finding: KeyFinding | LinkFinding }[] {
  const names = datasetNames(catalog);
  return [
    ...primaryKeys.map((finding) => ({ subject: subjects.dataset(catalog.connection, names.dataset(finding.table)), finding })),
    ...links.map((finding) => {
      const { table, columns } = finding.from;
      const own = columns.map((column) => names.field(table, column));
      return { subject: subjects.relationship(catalog.connection, names.dataset(table), own), finding };
    }),
  ];
}
