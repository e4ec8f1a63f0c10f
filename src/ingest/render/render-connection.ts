import { shortId, subjects, type Claim } from '../../context/claims/claim.ts';
import {
  claimsPath,
  parseClaims,
  renderClaims,
  type ClaimsFile,
} from '../../context/claims/claims-file.ts';
import { uniteBases } from '../../context/merge/merge-base.ts';
import { compileDatasets } from '../../context/compile/compile.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { valuesByPath, listEntries } from '../../context/merge/yaml-values.ts';
import {
  artifactPath,
  isFileDeleted,
  mergeDataset,
  parseDatasetFile,
  removedPath,
} from '../../context/merge/merge-dataset.ts';
import type { Pin } from '../../context/claims/pins.ts';
import { isModelDecision, dropOrphans } from '../../context/claims/model-decisions.ts';
import { resolveByEdits, type PersonEdit } from '../../context/merge/resolve-by-edit.ts';
import { parseSubject, type DatasetRef } from '../../context/claims/subject.ts';
import { entrySubject } from '../../context/merge/entry-subject.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import type { KeptEdit } from '../report.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { Write } from '../publish/publish.ts';
import { isReadingEvidence } from '../fetch/readings.ts';

/** What one warehouse's files are made of. */
interface Connection {
  readonly connection: string;
  /** All that this run claims of it: its scan, and the sources. */
  readonly claims: readonly Claim[];
  /** Of the claims that files record, those that stand beside. */
  readonly retained: (claim: Claim) => Claim | undefined;
  /** Connections whose claims this run makes anew. */
  readonly derived: ReadonlySet<string>;
  readonly pins: readonly Pin[];
  readonly failed: ReadonlySet<string>;
}

/** The files of one warehouse's datasets as they shall be. Pure. */
export function renderConnection(input: Connection, view: FileTree) {
  const { connection, claims, retained, derived, pins, failed } = input;
  const prefix = `claims/${connection}/`;
  const recorded = [...view.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length, -'.jsonl'.length));
  // Of what the files record, compiling needs only what this run does not make anew.
  const touched = recorded.flatMap((dataset) => {
    const { claimsAt, text, lines = '' } = filesOf({ connection, dataset }, view);
    return text === undefined || isNeeded(lines, derived)
      ? [{ dataset, text, ...parseClaims(claimsAt, lines) }]
      : [];
  });
  const isSound = (claim: Claim) => isModelDecision(claim) || !failed.has(claim.subject);
  const deleted = new Set(
    touched.filter(isFileDeleted).map(({ dataset }) => subjects.dataset(connection, dataset)),
  );
  const kept = touched.flatMap((file) => file.claims.flatMap((claim) => retained(claim) ?? []));
  const fresh = claims.filter(isSound);
  const standing = [...fresh, ...kept.filter(isSound)];
  const { artifacts, quarantined, conflicts } = compileDatasets(standing, { deleted, pins });
  const compiled = new Map(artifacts.map((one) => [one.dataset, one]));
  // What was paid for stays among the claims, also where it does not work.
  const [lasting, left] = [
    (claim: Claim) => isSound(claim) || claim.evidence.some(isReadingEvidence),
    ({ subject }: Claim) => parseSubject(subject)?.dataset ?? '',
  ];
  const byDataset = Map.groupBy(claims.filter(lasting), left);
  const failing = Map.groupBy(
    claims.filter((claim) => !lasting(claim)),
    left,
  );
  const contested = Map.groupBy(conflicts, ({ subject }) => parseSubject(subject)?.dataset ?? '');
  const names = new Set([...compiled.keys(), ...recorded, ...byDataset.keys()]);
  const datasets = [...names].sort().map((dataset) => {
    const about = {
      connection,
      dataset,
      compiled: compiled.get(dataset),
      conflicts: contested.get(dataset) ?? [],
    };
    return renderDataset(
      about,
      { claims: byDataset.get(dataset) ?? [], failing: failing.get(dataset) ?? [], retained, pins },
      view,
    );
  });
  const damaged = datasets.flatMap((one) => one.damaged);
  return {
    datasets,
    claims: standing,
    conflicts: datasets.flatMap((one) => one.conflicts),
    quarantined: [
      ...quarantined.map(({ claim, reason }) => ({
        subject: claim.subject,
        kind: claim.kind,
        reason,
        claim: shortId(claim),
      })),
      ...damaged.map(({ path, line, reason }) => ({
        subject: path,
        kind: 'line',
        reason,
        location: `${path}:${line}`,
      })),
    ],
  };
}

/** Whether a claims file has anything that people did, or what a connection said that this run did not read. */
function isNeeded(lines: string, derived: ReadonlySet<string>): boolean {
  if (lines.includes('"origin":"person"') || lines.includes('"origin":"model"')) return true;
  return [...lines.matchAll(/"connection":"([^"]*)"/g)].some(
    ([, connection = '']) => !derived.has(connection),
  );
}

/** The dataset's own file and that of its claims. */
function filesOf({ connection, dataset }: DatasetRef, view: FileTree) {
  const [at, claimsAt] = [artifactPath(connection, dataset), claimsPath(connection, dataset)];
  return { at, claimsAt, text: view.get(at), lines: view.get(claimsAt) };
}

interface About extends DatasetRef {
  readonly compiled: Dataset | undefined;
  readonly conflicts: readonly Conflict[];
}

interface Own extends Pick<Connection, 'claims' | 'retained' | 'pins'> {
  /** Claims that are left out because their subjects failed: what is ruled about them stays. */
  readonly failing: readonly Claim[];
}

function renderDataset(about: About, { claims, failing, retained, pins }: Own, view: FileTree) {
  const { at, claimsAt, text, lines } = filesOf(about, view);
  const fresh = mergeDataset({ ...about, text: undefined, base: new Map(), edits: [] });
  // Byte for byte as ktx writes it anew: then nothing of a person's can be in it, and nothing has to be parsed.
  const isAsWritten =
    text === fresh.text && lines === renderClaims({ ...nothingRecorded, base: fresh.base, claims });
  if (isAsWritten) return { ...about, at, result: fresh, writes: [], damaged: [] };
  const file = parseClaims(claimsAt, lines ?? '');
  const edits = file.claims.filter(({ kind }) => kind === 'edit');
  const result = mergeDataset({ ...about, text, base: file.base, edits });
  const records = file.claims.filter(({ kind }) => kind === 'settled');
  const { open, settled } = resolveByEdits(about.conflicts, records, (conflict) =>
    personsWord(about, at, { conflict, ...result }),
  );
  const all = [...claims, ...file.claims.flatMap((claim) => retained(claim) ?? [])];
  const now = {
    ...file,
    base: result.base,
    claims: [...dropOrphans(all, { beside: failing, pins }), ...result.edits, ...settled],
  };
  const interim = renderClaims({ ...file, base: uniteBases(file.base, result.base) });
  const writes: Write[] = [
    { step: 'base_recorded', path: claimsAt, text: interim, artifact: at },
    { step: 'file_written', path: at, text: result.text, artifact: at },
    { step: 'claims_written', path: claimsAt, text: renderClaims(now), artifact: at },
  ];
  const isDue = { left_alone: [], unchanged: writes.slice(2), written: writes, deleted: writes };
  return {
    ...about,
    conflicts: open,
    at,
    result,
    writes: isDue[result.outcome],
    damaged: file.damaged,
  };
}

const nothingRecorded: ClaimsFile = { base: new Map(), claims: [], damaged: [] };

type Merged = Pick<ReturnType<typeof mergeDataset>, 'text' | 'kept' | 'edits'> & {
  readonly conflict: Conflict;
};

/** What a person has in the file in place of what the conflict is about. */
function personsWord(
  owner: DatasetRef,
  at: string,
  { conflict, text, kept, edits }: Merged,
): PersonEdit | undefined {
  if (kept.length + edits.length === 0) return undefined;
  const parsed = parseDatasetFile(text ?? '');
  const entries =
    'mapping' in parsed
      ? listEntries(parsed.mapping).filter(
          (entry) => entrySubject(owner, entry) === conflict.subject,
        )
      : [];
  const key = ['type', 'primary_key', 'unit'].find((one) => one === conflict.kind);
  const leaves = entries.flatMap((entry) =>
    entry.values.filter((leaf) => key === undefined || leaf.key === key),
  );
  const isTheirs = ({ path }: { readonly path: string }) =>
    kept.some((one) => one === path || path.startsWith(`${one}.`));
  const removed = edits.filter(
    ({ subject, body }) =>
      subject === conflict.subject && (body === null || key === undefined || key in Object(body)),
  );
  if (!leaves.some(isTheirs) && removed.length === 0) return undefined;
  const value = shortHash(
    canonicalJson([leaves.map((leaf) => [leaf.key, leaf.value]), removed.map(({ body }) => body)]),
    16,
  );
  return { value, item: at, location: entries[0]?.path ?? conflict.subject };
}

/** What people changed, and what they took out that ktx would have there. */
export function listKeptEdits({
  dataset,
  at,
  result,
  compiled,
}: ReturnType<typeof renderDataset>): KeptEdit[] {
  const { kept, edits, text = '' } = result;
  if (kept.length + edits.length === 0) return [];
  const file = kept.length === 0 ? { reason: 'not needed' } : parseDatasetFile(text);
  const sides = [
    listEntries('mapping' in file ? file.mapping : {}),
    listEntries(compiled ?? {}),
  ].map((side) => [...valuesByPath(side)]);
  const valuesAt = (path: string) =>
    sides.map((side) => side.filter(([one]) => one === path || one.startsWith(`${path}.`)));
  const edit = (path: string, isRemoval: boolean): KeptEdit => {
    const mark = shortHash(canonicalJson([at, path, isRemoval, valuesAt(path)]), 16);
    return { path: path === '' ? dataset : `${dataset}.${path}`, at, isRemoval, mark };
  };
  const removed = edits
    .map(removedPath)
    .filter((path) => path === '' || valuesAt(path).some((values) => values.length > 0));
  return [
    ...[...new Set(kept)].map((path) => edit(path, false)),
    ...removed.map((path) => edit(path, true)),
  ];
}
