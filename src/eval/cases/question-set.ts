import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseYaml } from '../../lib/parse-yaml.ts';
import { locateFindings } from '../../lib/diagnostic.ts';
import { UserError } from '../../lib/error.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { absent, readText } from '../../store/files.ts';
import { registry } from '../../tools/registry.ts';
import {
  questionSetSchema,
  type Expectation,
  type QuestionSetFile,
} from './question-set-schema.ts';

const evalsFolder = 'evals';

/** A file of `evals/`, checked; every case in one shape. */
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
  readonly skip: string | undefined;
}

export interface EvalTurn {
  readonly question: string;
  readonly expect: Expectation | undefined;
}

interface Wanted {
  /** Names of sets; all where it is empty. */
  readonly sets: readonly string[];
  /** Ids of cases, with or without the name of their set; all where it is empty. */
  readonly cases?: readonly string[];
  /** Cases that have one of these; all where it is empty. */
  readonly tags?: readonly string[];
}

/** The question sets that are asked for, with the cases that are; at least one case. */
export async function loadQuestionSets(
  projectDir: string,
  { sets, cases = [], tags = [] }: Wanted,
): Promise<readonly QuestionSet[]> {
  const known = await setNames(projectDir);
  const names =
    sets.length > 0
      ? sets.map((name) => name.replace(/^evals\//, '').replace(/\.yaml$/, ''))
      : known;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined || names.length === 0) throw noSet(unknown, known);
  const all = await Promise.all([...new Set(names)].map((name) => loadSet(projectDir, name)));
  const ids = all.flatMap((set) => set.cases.map(({ id }) => id));
  const isNamed = (id: string, wanted: string): boolean =>
    id === wanted || id.endsWith(`/${wanted}`);
  const missing = cases.find((wanted) => !ids.some((id) => isNamed(id, wanted)));
  if (missing !== undefined) {
    const hint =
      didYouMean(
        missing,
        ids.flatMap((id) => [id, id.split('/')[1] ?? id]),
      ) ?? 'ktx eval check lists them';
    throw new UserError('case_unknown', `There is no case ${missing}.`, { hint, exitCode: 2 });
  }
  const isChosen = (each: EvalCase): boolean =>
    (cases.length === 0 || cases.some((wanted) => isNamed(each.id, wanted))) &&
    (tags.length === 0 || tags.some((tag) => each.tags.includes(tag)));
  const chosen = all
    .map((set) => ({ ...set, cases: set.cases.filter(isChosen) }))
    .filter((set) => set.cases.length > 0);
  if (chosen.length > 0) return chosen;
  throw new UserError('case_unknown', `No case has the tag ${tags.join(' or ')}.`, {
    hint: 'tags: [...] of a case',
    exitCode: 2,
  });
}

async function setNames(projectDir: string): Promise<readonly string[]> {
  const names = (await readdir(join(projectDir, evalsFolder)).catch(absent)) ?? [];
  return names
    .flatMap((name) =>
      /^[a-z0-9][a-z0-9_-]*\.yaml$/.test(name) ? [name.slice(0, -'.yaml'.length)] : [],
    )
    .sort();
}

async function loadSet(projectDir: string, name: string): Promise<QuestionSet> {
  const file = `${evalsFolder}/${name}.yaml`;
  const text = (await readText(join(projectDir, file), projectDir)) ?? '';
  const hint = 'ktx schema eval prints what a question set may have.';
  const { agent, connection, repeat, cases } = await parseYaml(questionSetSchema, {
    file,
    text,
    code: 'eval_invalid',
    hint,
  });
  await checkIds(cases, { file, text });
  await checkTools(cases, { file, text });
  return {
    name,
    file,
    agent,
    cases: cases.map(({ question, expect, turns, ...each }) => ({
      id: `${name}/${each.id}`,
      file,
      connection: each.connection ?? connection,
      turns: (turns ?? [{ question: question ?? '', expect }]).map((turn) => ({
        question: turn.question,
        expect: turn.expect,
      })),
      tags: each.tags,
      repeat: each.repeat ?? repeat,
      skip: each.skip,
    })),
  };
}

interface SetText {
  readonly file: string;
  readonly text: string;
}

/** Reports and baselines know a case by its id. */
async function checkIds(cases: QuestionSetFile['cases'], text: SetText): Promise<void> {
  const twice = cases.findIndex(
    ({ id }, index) => cases.findIndex((each) => each.id === id) < index,
  );
  if (twice === -1) return;
  const problem = {
    message: `there are two cases ${cases[twice]?.id}`,
    hint: 'give one of them another id',
  };
  throw await invalid(text, { ...problem, path: ['cases', twice, 'id'] });
}

/** A tool that does not exist is never called: its `not` would hold for ever. Those of other servers are `<server>__<tool>`. */
async function checkTools(cases: QuestionSetFile['cases'], text: SetText): Promise<void> {
  const known = registry.agents.map(({ name }) => name);
  for (const [at, { expect, turns = [] }] of cases.entries()) {
    const rules = [expect, ...turns.map((turn) => turn.expect)].flatMap(
      (each) => each?.tools ?? [],
    );
    const named = rules.flatMap((rule) =>
      'order' in rule ? rule.order : ['not' in rule ? rule.not : rule.name],
    );
    const unknown = named.find((name) => !known.includes(name) && !name.includes('__'));
    if (unknown === undefined) continue;
    const hint = didYouMean(unknown, known) ?? `one of ${known.join(', ')}`;
    throw await invalid(text, {
      message: `there is no tool ${unknown}`,
      hint,
      path: ['cases', at],
    });
  }
}

async function invalid(
  { file, text }: SetText,
  {
    message,
    hint,
    path,
  }: {
    readonly message: string;
    readonly hint: string;
    readonly path: readonly (string | number)[];
  },
): Promise<UserError> {
  const [place] = await locateFindings(text, [
    { file, severity: 'error', rule: 'schema', hint: undefined, message, path },
  ]);
  const at = `${file}:${place?.line ?? 1}:${place?.column ?? 1}`;
  return new UserError('eval_invalid', `${at}: ${message}.`, { hint, exitCode: 2 });
}

function noSet(unknown: string | undefined, known: readonly string[]): UserError {
  const write = `write ${evalsFolder}/${unknown ?? 'questions'}.yaml, or: ktx eval generate`;
  const hint =
    (unknown !== undefined && didYouMean(unknown, known)) ||
    (known.length === 0 ? write : `one of ${known.join(', ')}`);
  const message =
    unknown === undefined
      ? `There is no question set in ${evalsFolder}/.`
      : `There is no question set ${unknown}.`;
  return new UserError('eval_unknown', message, { hint, exitCode: 2 });
}
