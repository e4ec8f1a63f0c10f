import { parseSubject } from '../../context/claims/subject.ts';
import { UserError } from '../../lib/error.ts';
import { readYaml } from '../../lib/yaml/read-yaml.ts';
import type { ModelDataset } from '../../semantic/model/model.ts';
import type { Project } from '../open/open.ts';
import { isNamed } from '../review/decide/find-question.ts';
import { listQuestions, loadQuestions } from '../review/review-queue.ts';

const computedKinds: ReadonlySet<string> = new Set(['metric', 'default_time', 'primary_key']);

/**
 * Throws if what a caller of a server defines would be computed from what is hidden: queries would
 * show it under the name of what is visible.
 */
export async function requireVisibleDefinition(
  project: Project,
  { named, text }: { readonly named: string; readonly text: string },
): Promise<void> {
  const asked = listQuestions(await loadQuestions(project));
  const meant = asked.filter((own) => isNamed(own, named) && computedKinds.has(own.kind));
  const words = `${plainWords(text)} ${plainWords(writtenValues(text))}`;
  for (const { subject } of meant) {
    const { connection = '', dataset = '', name: defined } = parseSubject(subject) ?? {};
    const [{ model }, catalog] = await Promise.all([
      project.model(connection),
      project.catalog(connection),
    ]);
    const columns = (catalog?.tables ?? []).flatMap((table) => table.columns);
    const known = new Set(columns.map(({ name }) => plainWords(name)));
    const datasets = [...model.datasets.values()].map((own) => partsOf(own, known));
    const used = findHidden(words, datasets, dataset);
    if (used === undefined) continue;
    const message = `${defined ?? dataset}: ${used.dataset} has neither a field nor a column named ${used.name}`;
    throw new UserError('definition_unusable', message, {
      hint: `ktx sl read ${used.dataset} shows its fields`,
      exitCode: 2,
    });
  }
}

/** What YAML says in other letters than it is written. */
function writtenValues(text: string): string {
  try {
    return JSON.stringify(readYaml(text)) ?? '';
  } catch {
    return '';
  }
}

/** Names and the dots between them, without quotes and signs. */
function plainWords(text: string): string {
  const words = text.toLowerCase().replaceAll(/[^\p{L}\p{N}_$.]+/gu, ' ');
  return words.replaceAll(/ *\. */g, '.').trim();
}

interface NamedParts {
  readonly dataset: string;
  /** In plain words. */
  readonly shown: ReadonlySet<string>;
  /** With the columns that hidden fields are computed from: a definition may name columns. */
  readonly hidden: ReadonlySet<string>;
}

function partsOf(
  { name: dataset, fields, metrics }: ModelDataset,
  columns: ReadonlySet<string>,
): NamedParts {
  const parts = [...fields.values(), ...metrics.values()];
  const namesOf = (isHidden: boolean) =>
    parts.filter((part) => (part.hidden === true) === isHidden).map(({ name }) => plainWords(name));
  const hiddenFields = [...fields.values()].filter(({ hidden }) => hidden);
  const computed = hiddenFields.flatMap(({ expr }) => plainWords(expr?.text ?? '').split(/[ .]/));
  const hidden = [...namesOf(true), ...computed.filter((word) => columns.has(word))];
  return { dataset, shown: new Set(namesOf(false)), hidden: new Set(hidden) };
}

/** The first hidden name that the words have, read as a definition of the dataset `own`. */
function findHidden(
  words: string,
  datasets: readonly NamedParts[],
  own: string,
): { readonly dataset: string; readonly name: string } | undefined {
  const shown = new Map(datasets.map((parts) => [plainWords(parts.dataset), parts.shown]));
  for (const { dataset, hidden } of datasets) {
    for (const name of hidden) {
      const pattern = `(?:([\\p{L}\\p{N}_$]+)\\.)?(?<![\\p{L}\\p{N}_$])${RegExp.escape(name)}`;
      const places = words.matchAll(new RegExp(`${pattern}(?![\\p{L}\\p{N}_$])`, 'gu'));
      // Behind the name of a join, nobody knows here which dataset is meant.
      const isHidden = ([, of = plainWords(own)]: RegExpExecArray) =>
        shown.get(of)?.has(name) !== true;
      if ([...places].some(isHidden)) return { dataset, name };
    }
  }
  return undefined;
}
