import type { UserError } from '../../lib/error.ts';
import { grains } from '../model/grains.ts';
import {
  ambiguousError,
  queryError,
  unknownDatasetError,
  unknownNameError,
} from '../query/errors.ts';
import { findStepsToCopies } from '../model/find-copies.ts';
import { isToOne } from '../model/join-graph.ts';
import { type ModelDataset, type SemanticModel, type Step } from '../model/model.ts';
import { unknownGrainError } from './periods/unknown-grain.ts';

/** Steps from a dataset to another one, each starting where the one before ends. */
export type JoinPath = readonly Step[];

/** Which steps a path may take. `one`: only those that never multiply rows. `many`: all. */
export type Reach = 'one' | 'many';

/**
 * The search stops after this many paths. Two make a name ambiguous; the message lists the others.
 */
const pathLimit = 12;

function stepsFrom(model: SemanticModel, dataset: string, reach: Reach = 'one'): readonly Step[] {
  const { toOne = [], toMany = [] } = model.datasets.get(dataset) ?? {};
  return reach === 'one' ? toOne : [...toOne, ...toMany];
}

/**
 * Follows role names from a dataset. The last name is a field, and is not followed. Throws
 * `unknown_name` or `ambiguous_path`.
 */
export function followPathNames(
  model: SemanticModel,
  start: { dataset: string; reach: Reach },
  names: readonly string[],
): JoinPath {
  const path: Step[] = [];
  for (const [index, name] of names.slice(0, -1).entries()) {
    const dataset = path.at(-1)?.to ?? start.dataset;
    const steps = stepsFrom(model, dataset, start.reach).filter((step) => step.name === name);
    const toOneSteps = fittingSteps(model, steps.filter(isToOne), names[index + 1] ?? '');
    const [step, ...more] = toOneSteps.length > 0 ? toOneSteps : steps;
    if (step === undefined) throw unknownStepError(model, { start, names, dataset, index });
    if (more.length > 0) {
      const paths = [step, ...more].map((last) => [...path, last]);
      throw ambiguousPathError([start.dataset, ...names.slice(0, -1)].join('.'), paths);
    }
    path.push(step);
  }
  return path;
}

/** Of several steps with one role, those whose target has what the path names next. */
function fittingSteps(model: SemanticModel, steps: readonly Step[], next: string): readonly Step[] {
  if (steps.length < 2 || !steps.every(isShared)) return steps;
  return steps.filter((step) => canBeFollowedBy(model, step.to, next));
}

function isShared({ legs: [leg] }: Step): boolean {
  return leg?.relationship.isShared === true;
}

interface UnknownStep {
  readonly start: { readonly dataset: string; readonly reach: Reach };
  readonly names: readonly string[];
  /** The dataset that the path has reached so far. */
  readonly dataset: string;
  /** The position of the unknown name in `names`. */
  readonly index: number;
}

/**
 * Guesses what a name that is not a step should be: a time field before a wrong grain, or another
 * step.
 */
function unknownStepError(model: SemanticModel, unknown: UnknownStep): UserError {
  const { start, names, dataset, index } = unknown;
  const name = names[index] ?? '';
  const nextName = names[index + 1] ?? '';
  const isBeforeLast = index === names.length - 2;
  const withName = (position: number) => (candidate: string) => [
    [start.dataset, ...names.with(position, candidate)].join('.'),
  ];
  const home = model.datasets.get(dataset);
  const isTime = timeFieldNames(home).includes(name);
  if (home !== undefined && isBeforeLast && isTime)
    return unknownGrainError(home, { time: name, grain: nextName, as: withName(index + 1) });
  const isBeforeGrain = isBeforeLast && grains.some((grain) => grain === nextName);
  const steps = stepsFrom(model, dataset, start.reach)
    .filter((step) => canBeFollowedBy(model, step.to, nextName))
    .map((step) => step.name);
  const times = isBeforeGrain ? timeFieldNames(home) : [];
  return unknownNameError({
    what: `${isBeforeGrain ? 'time field or ' : ''}relationship of ${dataset}`,
    name,
    candidates: [...steps, ...times],
    as: withName(index),
  });
}

/** True if the dataset has a visible field or a step of that name. */
function canBeFollowedBy(model: SemanticModel, dataset: string, name: string): boolean {
  const field = model.datasets.get(dataset)?.fields.get(name);
  const isField = field !== undefined && field.hidden !== true;
  return isField || stepsFrom(model, dataset, 'many').some((step) => step.name === name);
}

/** Names of the visible fields that have grains. */
export function timeFieldNames(dataset: ModelDataset | undefined): readonly string[] {
  const fields = [...(dataset?.fields.values() ?? [])];
  return fields
    .filter(({ type, hidden }) => type?.startsWith('date') === true && hidden !== true)
    .map(({ name }) => name);
}

interface PathTarget {
  /** A dataset, or the role of a step. */
  readonly name: string;
  /** The rest of the dotted name after `name`, for messages. */
  readonly field: string;
  readonly reach: Reach;
}

/**
 * The only path from a dataset to another one or to a role. Paths that do not multiply rows win.
 * Throws `unknown_name`, `ambiguous_path` with the choices, or `no_path` with the reason.
 */
export function findUniquePath(model: SemanticModel, from: string, target: PathTarget): JoinPath {
  const { name, field, reach } = target;
  if (name === from) return [];
  const isDataset = model.datasets.has(name);
  const [next = ''] = field.split('.');
  const hasNextName = (dataset: string) => canBeFollowedBy(model, dataset, next);
  if (!isDataset && model.datasets.get(from)?.entity === name && hasNextName(from)) return [];
  const isEnd = (step: Step) =>
    isDataset ? step.to === name : step.name === name && (!isShared(step) || hasNextName(step.to));
  const safe = shortestIfShared(findPaths(model, from, isEnd));
  const paths = safe.length === 0 && reach === 'many' ? findPathsToMany(model, from, name) : safe;
  const [only] = paths;
  if (only === undefined && isDataset) throw unreachableError(model, from, target);
  if (only === undefined) {
    requireNoBarePeriod(model, from, target);
    throw unknownDatasetError(model, name, {
      rest: field,
      fits: (dataset) => hasNextName(dataset) && canReach(model, from, dataset),
    });
  }
  if (paths.length > 1) throw ambiguousPathError(`${name}.${field}`, paths, field);
  // A role that the name tells is no question.
  const unnamed = isDataset ? only : only.slice(0, -1);
  for (const [index, step] of unnamed.entries())
    checkCopies(model, { only, index, copies: findStepsToCopies(model, step) }, target);
  return only;
}

interface PathBesideCopies {
  readonly only: JoinPath;
  /** The position of the step that has copies. */
  readonly index: number;
  readonly copies: readonly Step[];
}

/** Throws `ambiguous_path` if steps by other columns lead to copies of where the path leads. */
function checkCopies(
  model: SemanticModel,
  { only, index, copies }: PathBesideCopies,
  { name, field }: PathTarget,
): void {
  const [before, step] = [only.slice(0, index), only[index]];
  if (copies.length === 0 || step === undefined) return;
  const [next = ''] = [...only.slice(index + 1).map((later) => later.name), ...field.split('.')];
  const beside = copies
    .filter(({ to }) => canBeFollowedBy(model, to, next))
    .map((copy) => [...before, copy, ...only.slice(index + 1)]);
  const ends = [step, ...copies].map(
    ({ to, legs: [leg] }) => `${leg?.relationship.equal.map(({ own }) => own).join()} to ${to}`,
  );
  const message = `${name}.${field} is ambiguous: ${step.from} leads by ${ends.join(' and by ')}, which hold the same things`;
  const choices = [only, ...beside].map((path) => `${formatPath(path)}.${field}`);
  throw ambiguousError('ambiguous_path', message, { written: `${name}.${field}`, choices });
}

/** The shortest paths, if a role is shared: datasets with the same role also form detours. */
function shortestIfShared(paths: readonly JoinPath[]): readonly JoinPath[] {
  if (!paths.flat().some(isShared)) return paths;
  const shortest = Math.min(...paths.map((path) => path.length));
  return paths.filter((path) => path.length === shortest);
}

/** True if a path from one dataset to the other never multiplies rows. */
export function canReach(model: SemanticModel, from: string, to: string): boolean {
  return from === to || reachableFrom(model, from).has(to);
}

/**
 * Paths to a dataset that go straight down, or through one bridge with straight paths on both
 * sides. If `name` is not a dataset, it is a role, and the path is a single step.
 */
function findPathsToMany(model: SemanticModel, from: string, name: string): readonly JoinPath[] {
  if (!model.datasets.has(name)) {
    const steps = stepsFrom(model, from, 'many').filter((step) => step.name === name);
    return steps.map((step) => [step]);
  }
  const bridges = [...model.datasets.values()].flatMap(({ toMany }) =>
    toMany.filter(({ direction }) => direction === 'bridge'),
  );
  const throughBridges = bridges.flatMap((bridge): readonly JoinPath[] => {
    const ends = findPathsUp(model, bridge.to, name);
    if (ends.length === 0) return [];
    const starts = [
      ...findPathsUp(model, from, bridge.from),
      ...findPathsDown(model, from, bridge.from),
    ];
    return starts.flatMap((start) => ends.map((end) => [...start, bridge, ...end]));
  });
  return [...findPathsDown(model, from, name), ...throughBridges].slice(0, pathLimit);
}

function findPathsUp(model: SemanticModel, from: string, to: string): readonly JoinPath[] {
  return from === to ? [[]] : findPaths(model, from, (step) => step.to === to);
}

/**
 * The paths up from `to`, reversed. Leaves out paths that have only one_to_one steps, because those
 * are also paths up.
 */
function findPathsDown(model: SemanticModel, from: string, to: string): readonly JoinPath[] {
  if (from === to) return [];
  const reverse = ({ to: start, legs: [leg] }: Step): readonly Step[] =>
    stepsFrom(model, start, 'many').filter(
      (step) => step.legs.length === 1 && step.legs[0]?.relationship === leg?.relationship,
    );
  return findPaths(model, to, (step) => step.to === from)
    .map((path) => path.toReversed().flatMap(reverse))
    .filter((path) => !path.every(isToOne));
}

/**
 * Throws `no_path` for a path that goes up and then down to a sibling, or down and then up without
 * a bridge. It would pair rows that have nothing to do with each other.
 */
export function checkPathShape(path: JoinPath, field: string): void {
  const turn = path.find((step, index) => {
    const before = path.slice(0, index).map(({ direction }) => direction);
    const wentUp = before.includes('up');
    const wentDown = before.includes('down');
    const crossedBridge = before.includes('bridge');
    if (step.direction === 'down') return wentUp || crossedBridge;
    if (step.direction === 'bridge') return crossedBridge || (wentUp && wentDown);
    return step.direction === 'up' && wentDown && !crossedBridge;
  });
  if (turn === undefined) return;
  const reason =
    turn.direction === 'up'
      ? 'goes down and up again'
      : 'goes up and down again: it crosses one_to_many';
  throw queryError(
    'no_path',
    `${formatPath(path)}.${field} is not a valid path: at ${turn.name} it ${reason}`,
    `Ask for fields of ${turn.from}, or declare a many_to_many from ${path[0]?.from ?? ''} to ` +
      `${turn.to} with via: and the dataset between them.`,
  );
}

/**
 * Paths that visit no dataset twice and whose last step satisfies `isEnd`; only steps that do not
 * multiply rows.
 */
function findPaths(
  model: SemanticModel,
  from: string,
  isEnd: (step: Step) => boolean,
): readonly JoinPath[] {
  const paths: JoinPath[] = [];
  const endsAt = (dataset: string): boolean => stepsFrom(model, dataset).some(isEnd);
  const leadsOn = (dataset: string): boolean =>
    endsAt(dataset) || [...reachableFrom(model, dataset)].some(endsAt);
  const visit = (dataset: string, path: JoinPath): void => {
    for (const step of stepsFrom(model, dataset)) {
      if (paths.length >= pathLimit) return;
      const isNew = step.to !== from && !path.some((earlier) => earlier.to === step.to);
      if (isEnd(step)) paths.push([...path, step]);
      else if (isNew && leadsOn(step.to)) visit(step.to, [...path, step]);
    }
  };
  visit(from, []);
  return paths;
}

const reachableCache = new WeakMap<SemanticModel, Map<string, ReadonlySet<string>>>();

/** The datasets that can be reached without multiplying rows. */
function reachableFrom(model: SemanticModel, from: string): ReadonlySet<string> {
  const byStart = reachableCache.get(model) ?? new Map<string, ReadonlySet<string>>();
  const known = byStart.get(from);
  if (known !== undefined) return known;
  const reachable = new Set<string>();
  const queue = [from];
  for (let dataset = queue.pop(); dataset !== undefined; dataset = queue.pop()) {
    const unvisited = stepsFrom(model, dataset).filter(({ to }) => !reachable.has(to));
    for (const { to } of unvisited) reachable.add(to);
    queue.push(...unvisited.map(({ to }) => to));
  }
  reachableCache.set(model, byStart.set(from, reachable));
  return reachable;
}

/** The path as a query can write it: `orders.buyer.regions`. */
export function formatPath(path: JoinPath): string {
  return [path[0]?.from, ...path.map((step) => step.name)].join('.');
}

/**
 * The visible fields with a name that can be reached without multiplying rows, as a query can write
 * them.
 */
export function reachableFieldsNamed(
  model: SemanticModel,
  from: string,
  field: string,
): readonly string[] {
  const [name = '', ...rest] = field.split('.');
  if (rest.length > 1) return [];
  const hasField = (dataset: string) => {
    const candidate = model.datasets.get(dataset)?.fields.get(name);
    return candidate !== undefined && candidate.hidden !== true;
  };
  return [from, ...reachableFrom(model, from)].filter(hasField).flatMap((dataset) => {
    const paths = dataset === from ? [[]] : findPaths(model, from, (step) => step.to === dataset);
    return paths.map((path) => [path.length === 0 ? dataset : formatPath(path), field].join('.'));
  });
}

/** Throws if the name is one of a time field without its dataset: `placed_at.month`. */
function requireNoBarePeriod(model: SemanticModel, from: string, target: PathTarget): void {
  const { name, field } = target;
  if (!grains.some((grain) => grain === field)) return;
  const choices = reachableFieldsNamed(model, from, `${name}.${field}`);
  if (choices.length === 0) return;
  throw queryError('unknown_name', `There is no dataset or role named ${name}`, { choices });
}

/** Lists the paths, or asks for roles if the paths cannot be told apart by their names. */
function ambiguousPathError(name: string, paths: readonly JoinPath[], field?: string): UserError {
  const suffix = field === undefined ? [] : [field];
  const choices = new Set(paths.map((path) => [formatPath(path), ...suffix].join('.')));
  const message = `${name} is ambiguous: ${paths.length} paths lead there`;
  if (choices.size === paths.length)
    return ambiguousError('ambiguous_path', message, { written: name, choices: [...choices] });
  const ends = new Set(paths.map((path) => `${path.at(-1)?.from} to ${path.at(-1)?.to}`));
  return queryError(
    'ambiguous_path',
    message,
    `Give each relationship from ${[...ends].join(' and ')} a role, then name it in the path.`,
  );
}

/** Says why no path leads to a dataset: it is to-many, a sibling, or not connected. */
function unreachableError(model: SemanticModel, from: string, target: PathTarget): UserError {
  const { name: to, field, reach } = target;
  const pathsToMany = reach === 'one' ? findPathsToMany(model, from, to) : [];
  const start = `${to} cannot be reached from ${from}:`;
  if (pathsToMany.length > 0) {
    return queryError('no_path', `${start} one row of ${from} has many rows of ${to}`, {
      hint: `They can be used in a dimension or a condition of a metric of ${from}.`,
      choices: pathsToMany.map((path) => `${formatPath(path)}.${field}`),
    });
  }
  const choices = reachableFieldsNamed(model, from, field);
  const shared = [...model.datasets.keys()].find(
    (name) => canReach(model, from, name) && canReach(model, to, name),
  );
  if (shared !== undefined) {
    const reason =
      `up to ${shared} and down again crosses one_to_many, ` +
      `which would fan out the rows of ${from}`;
    const other = `or add a relationship from ${from} to ${to}`;
    const hint = `Ask for fields of ${from} or ${shared}, ${other}.`;
    return queryError('no_path', `${start} ${reason}`, { hint, choices });
  }
  const neighbours = [...new Set(stepsFrom(model, from).map((step) => step.to))];
  const hint =
    `${from} leads to: ${neighbours.join(', ') || 'nothing'}. ` +
    'Add a relationship to its YAML, or ask for other fields.';
  return queryError('no_path', `${start} no relationship leads there`, { hint, choices });
}
