import { shortId, subjects, type Claim } from '../../context/claims/claim.ts';
import { claimsPath, renderClaims, type ClaimsFile } from '../../context/claims/claims-file.ts';
import { dropOrphans, isModelDecision } from '../../context/claims/model-decisions.ts';
import type { Pin } from '../../context/claims/pins.ts';
import { parseSubject, type DatasetRef } from '../../context/claims/subject.ts';
import type { Authority } from '../../context/compile/authority.ts';
import { compileDatasets, type Compilation } from '../../context/compile/compile.ts';
import type { Conflict } from '../../context/compile/conflicts.ts';
import { uniteBases } from '../../context/merge/merge-base.ts';
import { artifactPath, isFileDeleted, mergeDataset } from '../../context/merge/merge-dataset.ts';
import { resolveByEdits } from '../../context/merge/resolve-by-edit.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import { parseMergedClaims, type MergedClaims } from '../fetch/merged-claims.ts';
import { isReadingEvidence } from '../fetch/readings.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { FileWrite } from '../publish/rendering.ts';
import { findPersonEdit, listWrittenSynonyms } from './person-edits.ts';

/** What the files of one warehouse are rendered from. */
interface ConnectionInput {
  readonly connection: string;
  /** All claims of this run about the warehouse: from its scan, the sources and models. */
  readonly claims: readonly Claim[];
  /** The part of a recorded claim that stands beside them. */
  readonly retain: (claim: Claim) => Claim | undefined;
  /** Connections whose claims this run makes anew. */
  readonly derived: ReadonlySet<string>;
  readonly pins: readonly Pin[];
  readonly authority: Authority | undefined;
  readonly merged: MergedClaims | undefined;
  /** Subjects that are left out because they failed the check. */
  readonly failed: ReadonlySet<string>;
}

/**
 * Renders the files of one warehouse's datasets: compiles the claims and merges the result with the
 * files. Pure.
 */
export function renderConnection(input: ConnectionInput, tree: FileTree) {
  const { connection, claims, retain, pins, authority, failed, merged } = input;
  const recorded = listRecordedDatasets(connection, tree);
  const recordedFiles = readNeededFiles(input, listKnownDatasets(input, recorded), tree);
  const moved = listMovedDatasets(connection, tree);
  const deleted = listDeletedDatasets(connection, recordedFiles, moved);
  const isSound = (claim: Claim) => isModelDecision(claim) || !isFailed(claim, failed);
  const retained = recordedFiles.flatMap((file) =>
    file.claims.flatMap((claim) => retain(claim) ?? []),
  );
  const standing = [...claims.filter(isSound), ...retained.filter(isSound)];
  const decisions = { deleted, pins, authority };
  // A failed reading stays recorded, since it was paid for.
  const isRecorded = (claim: Claim) => isSound(claim) || claim.evidence.some(isReadingEvidence);
  const datasetOf = ({ subject }: Pick<Claim, 'subject'>) => parseSubject(subject)?.dataset ?? '';
  const claimsByDataset = Map.groupBy(claims.filter(isRecorded), datasetOf);
  const failingByDataset = Map.groupBy(
    claims.filter((claim) => !isRecorded(claim)),
    datasetOf,
  );
  const renderAll = ({ artifacts, conflicts }: Compilation) => {
    const conflictsByDataset = Map.groupBy(conflicts, datasetOf);
    const compiled = new Map(artifacts.map((artifact) => [artifact.dataset, artifact]));
    const names = new Set([...compiled.keys(), ...recorded, ...claimsByDataset.keys()]);
    return [...names].sort().map((dataset) =>
      renderDataset(
        {
          connection,
          dataset,
          compiled: compiled.get(dataset),
          isMoved: moved.has(dataset),
          conflicts: conflictsByDataset.get(dataset) ?? [],
          claims: claimsByDataset.get(dataset) ?? [],
          failing: failingByDataset.get(dataset) ?? [],
          retain,
          pins,
          merged,
        },
        tree,
      ),
    );
  };
  const first = compileDatasets(standing, decisions);
  const rendered = renderAll(first);
  // Which synonyms are a person's is known once the files are merged.
  const written = standing.some(isSynonymOfModel) ? rendered.flatMap(listWrittenSynonyms) : [];
  const datasets =
    written.length === 0
      ? rendered
      : renderAll(compileDatasets(standing, { ...decisions, written }));
  const { quarantined } = first;
  const quarantinedClaims = quarantined.map(({ claim, reason }) => ({
    subject: claim.subject,
    kind: claim.kind,
    reason,
    claim: shortId(claim),
  }));
  return {
    datasets,
    claims: standing,
    conflicts: datasets.flatMap((dataset) => dataset.conflicts),
    quarantined: [
      ...quarantinedClaims,
      ...datasets.flatMap(({ damaged }) => damaged.map(damagedLineFault)),
    ],
  };
}

function isEdit({ kind }: Claim): boolean {
  return kind === 'edit';
}

/** The subjects of the datasets whose files people deleted. */
function listDeletedDatasets(
  connection: string,
  files: ReturnType<typeof readNeededFiles>,
  moved: ReadonlySet<string>,
): ReadonlySet<string> {
  const deleted = files
    .filter((file) => isFileDeleted({ ...file, edits: file.claims.filter(isEdit) }))
    .filter(({ dataset }) => !moved.has(dataset));
  return new Set(deleted.map(({ dataset }) => subjects.dataset(connection, dataset)));
}

/**
 * The datasets that files of other names declare: a person put them there, and ktx writes no second
 * file for one.
 */
function listMovedDatasets(connection: string, tree: FileTree): ReadonlySet<string> {
  const folder = `semantic-layer/${connection}/`;
  const moved = new Set<string>();
  for (const [path, text] of tree) {
    if (!path.startsWith(folder) || path.includes('/', folder.length)) continue;
    const [, dataset = ''] = /^dataset:[ \t]+["']?(\w+)["']?[ \t]*\r?$/m.exec(text) ?? [];
    if (dataset !== '' && artifactPath(connection, dataset) !== path) moved.add(dataset);
  }
  return moved;
}

/** Whether its subject failed the check, or the query of the subject's dataset. */
function isFailed({ subject }: Claim, failed: ReadonlySet<string>): boolean {
  if (failed.size === 0) return false;
  const { connection = '', dataset = '' } = parseSubject(subject) ?? {};
  return failed.has(subject) || failed.has(subjects.dataset(connection, dataset));
}

function isSynonymOfModel({ kind, evidence }: Claim): boolean {
  return kind === 'synonyms' && evidence.every(({ origin }) => origin === 'model');
}

/** Also those that only branches have which were merged: somebody may have deleted their files. */
function listKnownDatasets(
  { connection, merged }: Pick<ConnectionInput, 'connection' | 'merged'>,
  recorded: readonly string[],
): readonly string[] {
  const others = (merged?.branches ?? []).flatMap((files) =>
    listRecordedDatasets(connection, files),
  );
  return [...new Set([...recorded, ...others])];
}

/** The datasets that have a claims file. */
function listRecordedDatasets(connection: string, tree: FileTree): string[] {
  const prefix = `claims/${connection}/`;
  return [...tree.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length, -'.jsonl'.length));
}

/** The claims files with something that compiling needs and this run does not make anew. */
function readNeededFiles(
  { connection, derived, merged }: ConnectionInput,
  datasets: readonly string[],
  tree: FileTree,
) {
  return datasets.flatMap((dataset) => {
    const path = claimsPath(connection, dataset);
    const text = tree.get(artifactPath(connection, dataset));
    const claimsText = tree.get(path) ?? '';
    return text === undefined || hasUnderivedClaims(claimsText, derived)
      ? [{ dataset, text, ...parseMergedClaims(path, claimsText, merged) }]
      : [];
  });
}

/**
 * True if a claims file holds anything from people, from models, or from a connection that this run
 * did not read.
 */
function hasUnderivedClaims(claimsText: string, derived: ReadonlySet<string>): boolean {
  if (claimsText.includes('"origin":"person"') || claimsText.includes('"origin":"model"'))
    return true;
  return [
    ...claimsText.matchAll(/(?:"connection":|^\{"(?:table|item|column)":\[)"([^"]*)"/gm),
  ].some(([, connection = '']) => !derived.has(connection));
}

/** A line of a claims file that could not be parsed, as a report shows it. */
export function damagedLineFault({ path, line, reason }: ClaimsFile['damaged'][number]) {
  return { subject: path, kind: 'line', reason, location: `${path}:${line}` };
}

interface DatasetInput
  extends DatasetRef, Pick<ConnectionInput, 'claims' | 'retain' | 'pins' | 'merged'> {
  readonly compiled: Dataset | undefined;
  /** True if another file declares the dataset. */
  readonly isMoved: boolean;
  readonly conflicts: readonly Conflict[];
  /** Claims that are left out because their subjects failed. Decisions about them stay. */
  readonly failing: readonly Claim[];
}

function renderDataset(input: DatasetInput, tree: FileTree) {
  const { connection, dataset, compiled, claims, failing, retain, pins } = input;
  const [at, claimsAt] = [artifactPath(connection, dataset), claimsPath(connection, dataset)];
  const [text, claimsText] = [tree.get(at), tree.get(claimsAt)];
  const unedited = mergeDataset({
    ...input,
    isMoved: false,
    text: undefined,
    base: new Map(),
    edits: [],
  });
  const common = { connection, dataset, compiled, at };
  // If the files are byte for byte as ktx writes them, they hold nothing of a person's and need no
  // parsing.
  const uneditedClaims = () => renderClaims({ base: unedited.base, claims, damaged: [] });
  if (text === unedited.text && claimsText === uneditedClaims())
    return { ...common, conflicts: input.conflicts, result: unedited, writes: [], damaged: [] };

  const file = parseMergedClaims(claimsAt, claimsText ?? '', input.merged);
  const edits = file.claims.filter(isEdit);
  const hasPart = file.base.size > 0 || edits.length > 0 || input.isMoved;
  const isNew = text === undefined && !hasPart;
  const result = isNew ? unedited : mergeDataset({ ...input, text, base: file.base, edits });
  const records = file.claims.filter(({ kind }) => kind === 'settled');
  const { open, settled } = resolveByEdits(input.conflicts, records, (conflict) =>
    findPersonEdit(input, conflict, result),
  );
  const allClaims = [...claims, ...file.claims.flatMap((claim) => retain(claim) ?? [])];
  const newClaimsText = renderClaims({
    ...file,
    base: result.base,
    claims: [...dropOrphans(allClaims, { beside: failing, pins }), ...result.edits, ...settled],
  });
  const baseText = renderClaims({ ...file, base: uniteBases(file.base, result.base) });
  const writes: FileWrite[] = [
    { step: 'base_recorded', path: claimsAt, text: baseText, artifact: at },
    { step: 'file_written', path: at, text: result.text, artifact: at },
    { step: 'claims_written', path: claimsAt, text: newClaimsText, artifact: at },
  ];
  const writesByOutcome = {
    left_alone: [],
    unchanged: writes.slice(2),
    written: writes,
    deleted: writes,
  };
  return {
    ...common,
    conflicts: open,
    result,
    writes: writesByOutcome[result.outcome],
    damaged: file.damaged,
  };
}
