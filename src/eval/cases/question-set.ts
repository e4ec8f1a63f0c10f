import { join } from 'node:path';
import { locateFindings } from '../../lib/diagnostic.ts';
import { UserError } from '../../lib/error.ts';
import { parseYaml } from '../../lib/yaml/parse-yaml.ts';
import { didYouMean, oneOf } from '../../lib/suggest.ts';
import { listConfinedFolder } from '../../store/confined-file.ts';
import { readText } from '../../store/files.ts';
import { registry } from '../../tools/registry.ts';
import {
  questionSetSchema,
  type Expectation,
  type QuestionSetFile,
} from './question-set-schema.ts';

const evalsFolder = 'evals';

/** A valid file of `evals/`, with defaults filled in and every case as a list of turns. */
export interface QuestionSet {
  readonly name: string;
  readonly file: string;
  readonly agent: string;
  readonly cases: readonly EvalCase[];
}

export interface EvalCase {
  /** `<set>/<id>` */
  readonly id: string;
  readonly file: string;
  readonly connection: string | undefined;
  readonly turns: readonly EvalTurn[];
  readonly tags: readonly string[];
  readonly repeat: number;
  /** Why the case is skipped; undefined if it is asked. */
  readonly skip: string | undefined;
}

export interface EvalTurn {
  /** With the evidence, as the agent gets it. */
  readonly question: string;
  readonly evidence?: string | undefined;
  /** Undefined for a turn that only leads to the next one. */
  readonly expect: Expectation | undefined;
}

/** Which cases to load. An empty list selects all. */
interface CaseSelection {
  /** Names of question sets. */
  readonly sets: readonly string[];
  /** Ids, with or without the name of the set. */
  readonly cases?: readonly string[];
  /** A case with one of these tags is selected. */
  readonly tags?: readonly string[];
}

/**
 * Loads the selected cases, at least one. Throws `eval_unknown`, `eval_invalid` or `case_unknown`.
 */
export async function loadQuestionSets(
  projectDir: string,
  { sets, cases = [], tags = [] }: CaseSelection,
): Promise<readonly QuestionSet[]> {
  const names = await selectSetNames(projectDir, sets);
  const loaded = await Promise.all(names.map((name) => loadSet(projectDir, name)));
  requireKnownCases(loaded, cases);
  const isSelected = ({ id, tags: ownTags }: EvalCase): boolean =>
    (cases.length === 0 || cases.some((wanted) => hasId(id, wanted))) &&
    (tags.length === 0 || tags.some((tag) => ownTags.includes(tag)));
  const selected = loaded
    .map((set) => ({ ...set, cases: set.cases.filter(isSelected) }))
    .filter((set) => set.cases.length > 0);
  if (selected.length > 0) return selected;
  throw new UserError('case_unknown', `No case has the tag ${tags.join(' or ')}.`, {
    hint: 'Cases are tagged in their file: tags: [...]',
    exitCode: 2,
  });
}

async function selectSetNames(
  projectDir: string,
  sets: readonly string[],
): Promise<readonly string[]> {
  const known = await listSetNames(projectDir);
  const wanted = sets.map((name) => name.replace(/^evals\//, '').replace(/\.yaml$/, ''));
  const names = wanted.length > 0 ? wanted : known;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined || names.length === 0) throw unknownSetError(unknown, known);
  return [...new Set(names)];
}

async function listSetNames(projectDir: string): Promise<readonly string[]> {
  const entries = await listConfinedFolder(join(projectDir, evalsFolder), projectDir);
  const names = (entries ?? []).map(({ name }) => name);
  return names
    .flatMap((name) =>
      /^[a-z0-9][a-z0-9_-]*\.yaml$/.test(name) ? [name.slice(0, -'.yaml'.length)] : [],
    )
    .sort();
}

function unknownSetError(unknown: string | undefined, known: readonly string[]): UserError {
  const write = `write ${evalsFolder}/${unknown ?? 'questions'}.yaml, or run: ktx eval generate`;
  const suggestion = unknown === undefined ? undefined : didYouMean(unknown, known);
  const choices = known.length === 0 ? write : oneOf(known);
  const message =
    unknown === undefined
      ? `There is no question set in ${evalsFolder}/.`
      : `There is no question set ${unknown}.`;
  return new UserError('eval_unknown', message, { hint: suggestion ?? choices, exitCode: 2 });
}

function hasId(id: string, wanted: string): boolean {
  return id === wanted || id.endsWith(`/${wanted}`);
}

function requireKnownCases(sets: readonly QuestionSet[], wantedIds: readonly string[]): void {
  const ids = sets.flatMap((set) => set.cases.map(({ id }) => id));
  const unknown = wantedIds.find((wanted) => !ids.some((id) => hasId(id, wanted)));
  if (unknown === undefined) return;
  const spellings = ids.flatMap((id) => [id, id.split('/')[1] ?? id]);
  throw new UserError('case_unknown', `There is no case ${unknown}.`, {
    hint: didYouMean(unknown, spellings) ?? 'ktx eval check lists all cases',
    exitCode: 2,
  });
}

async function loadSet(projectDir: string, name: string): Promise<QuestionSet> {
  const file = `${evalsFolder}/${name}.yaml`;
  const text = (await readText(join(projectDir, file), projectDir)) ?? '';
  const { agent, connection, repeat, cases } = await parseYaml(questionSetSchema, {
    file,
    text,
    code: 'eval_invalid',
    hint: 'ktx schema eval prints the keys of a question set.',
  });
  await requireUniqueIds(cases, { file, text });
  await requireKnownTools(cases, { file, text });
  return {
    name,
    file,
    agent,
    cases: cases.map(({ question, evidence, expect, turns, ...rest }) => ({
      id: `${name}/${rest.id}`,
      file,
      connection: rest.connection ?? connection,
      turns: turns?.map((turn) => ({ question: turn.question, expect: turn.expect })) ?? [
        { question: withEvidence(question ?? '', evidence), evidence, expect },
      ],
      tags: rest.tags,
      repeat: rest.repeat ?? repeat,
      skip: rest.skip,
    })),
  };
}

function withEvidence(question: string, evidence: string | undefined): string {
  return evidence === undefined ? question : `${question}\n\n${evidence}`;
}

interface SetText {
  readonly file: string;
  readonly text: string;
}

async function requireUniqueIds(cases: QuestionSetFile['cases'], set: SetText): Promise<void> {
  const ids = cases.map(({ id }) => id);
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) < index);
  if (repeated === -1) return;
  throw await invalidSetError(set, {
    message: `there are two cases ${ids[repeated]}`,
    hint: 'give one of them another id',
    path: ['cases', repeated, 'id'],
  });
}

/**
 * A rule about a misspelled tool would never fail. Tools of MCP servers, `<server>__<tool>`, are
 * not checked.
 */
async function requireKnownTools(cases: QuestionSetFile['cases'], set: SetText): Promise<void> {
  const known = [...registry.agents, ...registry.conversation].map(({ name }) => name);
  for (const [index, { expect, turns = [] }] of cases.entries()) {
    const expectations = [expect, ...turns.map((turn) => turn.expect)];
    const named = expectations
      .flatMap((expectation) => expectation?.tools ?? [])
      .flatMap((rule) => {
        if ('order' in rule) return rule.order;
        return 'not' in rule ? rule.not : rule.name;
      });
    const unknown = named.find((name) => !known.includes(name) && !name.includes('__'));
    if (unknown === undefined) continue;
    throw await invalidSetError(set, {
      message: `there is no tool ${unknown}`,
      hint: didYouMean(unknown, known) ?? oneOf(known),
      path: ['cases', index],
    });
  }
}

interface SetProblem {
  readonly message: string;
  readonly hint: string;
  readonly path: readonly (string | number)[];
}

async function invalidSetError(
  { file, text }: SetText,
  { message, hint, path }: SetProblem,
): Promise<UserError> {
  const [finding] = await locateFindings(text, [
    { file, severity: 'error', rule: 'schema', hint: undefined, message, path },
  ]);
  const position = `${file}:${finding?.line ?? 1}:${finding?.column ?? 1}`;
  return new UserError('eval_invalid', `${position}: ${message}.`, { hint, exitCode: 2 });
}
