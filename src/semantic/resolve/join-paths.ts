import type { UserError } from '../../lib/error.ts';
import { timeGrains } from '../../sql/dialect.ts';
import { grains } from '../model/grains.ts';
import {
  ambiguousError,
  queryError,
  unknownDatasetError,
  unknownNameError,
} from '../query/errors.ts';
import { isToOne } from '../model/join-graph.ts';
import {
  columnIdentity,
  findField,
  type Leg,
  type ModelDataset,
  type SemanticModel,
  type Step,
} from '../model/model.ts';

export type JoinPath = readonly Step[];

/** Which hops a name may take: those that never multiply rows, or also those to many. */
export type Reach = 'one' | 'many';

/** Enough to be ambiguous. */
const pathLimit = 12;

function stepsFrom(model: SemanticModel, dataset: string, reach: Reach = 'one'): readonly Step[] {
  const { toOne: steps = [], toMany: ways = [] } = model.datasets.get(dataset) ?? {};
  return reach === 'one' ? steps : [...steps, ...ways];
}

/** Follows role names from a dataset, up to the last name, which is that of a field. */
export function followPathNames(
  model: SemanticModel,
  start: { dataset: string; reach: Reach },
  names: readonly string[],
): JoinPath {
  const path: Step[] = [];
  const last = names.at(-1) ?? '';
  for (const [index, name] of names.slice(0, -1).entries()) {
    const at = path.at(-1)?.to ?? start.dataset;
    const steps = stepsFrom(model, at, start.reach);
    const found = steps.filter((candidate) => candidate.name === name);
    const safe = found.filter(isToOne);
    const [step, ...more] = safe.length > 0 ? safe : found;
    if (step === undefined) {
      const { fields, fiscalYearStart } = model.datasets.get(at) ?? {};
      const { type = '', hidden = false } = fields?.get(name) ?? {};
      const isLast = index === names.length - 2;
      const written = (place: number) => (candidate: string) => [
        [start.dataset, ...names.with(place, candidate)].join('.'),
      ];
      if (isLast && type.startsWith('date') && !hidden) {
        throw unknownNameError({
          what: `grain of ${at}.${name}`,
          name: last,
          candidates: fiscalYearStart === undefined ? timeGrains : grains,
          as: written(index + 1),
        });
      }
      const isGrain = isLast && grains.some((grain) => grain === last);
      const fitting = steps
        .filter((candidate) => leadsTo(model, candidate.to, names[index + 1] ?? ''))
        .map((candidate) => candidate.name);
      const candidates = [...fitting, ...(isGrain ? timeFieldNames(model.datasets.get(at)) : [])];
      throw unknownNameError({
        what: `${isGrain ? 'time field or ' : ''}relationship of ${at}`,
        name,
        candidates,
        as: written(index),
      });
    }
    if (more.length > 0) {
      const paths = [step, ...more].map((one) => [...path, one]);
      throw ambiguousPathError([start.dataset, ...names.slice(0, -1)].join('.'), paths);
    }
    path.push(step);
  }
  return path;
}

/** Whether a name can follow that of the dataset: a field that is not hidden, or a relationship. */
function leadsTo(model: SemanticModel, dataset: string, name: string): boolean {
  const field = model.datasets.get(dataset)?.fields.get(name);
  return (
    (field !== undefined && field.hidden !== true) ||
    stepsFrom(model, dataset, 'many').some((step) => step.name === name)
  );
}

/** Names of the fields that have periods. */
export function timeFieldNames(dataset: ModelDataset | undefined): readonly string[] {
  const fields = [...(dataset?.fields.values() ?? [])];
  return fields
    .filter(({ type, hidden }) => type?.startsWith('date') === true && hidden !== true)
    .map(({ name }) => name);
}

/** The unique path to a dataset, or to the hop of a role; else an error that lists the choices, or says why there is none. */
export function findUniquePath(
  model: SemanticModel,
  from: string,
  target: { name: string; field: string; reach: Reach },
): JoinPath {
  const { name, field, reach } = target;
  if (name === from) return [];
  const isDataset = model.datasets.has(name);
  const safe = pathsWhere(model, from, (step) => (isDataset ? step.to : step.name) === name);
  const paths = safe.length === 0 && reach === 'many' ? pathsToMany(model, from, name) : safe;
  const [only] = paths;
  if (only === undefined && isDataset) throw unreachableError(model, from, target);
  if (only === undefined) {
    const [first = ''] = field.split('.');
    const fits = (dataset: string) =>
      leadsTo(model, dataset, first) && (dataset === from || canReach(model, from, dataset));
    throw unknownDatasetError(model, name, { rest: field, fits });
  }
  if (paths.length > 1) throw ambiguousPathError(`${name}.${field}`, paths, field);
  return only;
}

export function canReach(model: SemanticModel, from: string, to: string): boolean {
  return from === to || reachableFrom(model, from).has(to);
}

/** Straight down, or through one bridge with straight ways on both sides; a name that is no dataset is that of a hop of `from`. */
function pathsToMany(model: SemanticModel, from: string, name: string): readonly JoinPath[] {
  if (!model.datasets.has(name))
    return stepsFrom(model, from, 'many').flatMap((step) => (step.name === name ? [[step]] : []));
  const bridges = [...model.datasets.values()].flatMap(({ toMany: ways }) =>
    ways.filter(({ direction }) => direction === 'bridge'),
  );
  const across = bridges.flatMap((bridge): readonly JoinPath[] => {
    const ends = pathsUp(model, bridge.to, name);
    const starts =
      ends.length === 0
        ? []
        : [...pathsUp(model, from, bridge.from), ...pathsDown(model, from, bridge.from)];
    return starts.flatMap((start) => ends.map((end) => [...start, bridge, ...end]));
  });
  return [...pathsDown(model, from, name), ...across].slice(0, pathLimit);
}

function pathsUp(model: SemanticModel, from: string, to: string): readonly JoinPath[] {
  return from === to ? [[]] : pathsWhere(model, from, (step) => step.to === to);
}

/** The ways up, gone backwards; those of one to one alone are ways up themselves. */
function pathsDown(model: SemanticModel, from: string, to: string): readonly JoinPath[] {
  const back = ({ to: start, legs: [leg] }: Step): readonly Step[] =>
    stepsFrom(model, start, 'many').filter(
      (step) => step.legs.length === 1 && step.legs[0]?.relationship === leg?.relationship,
    );
  if (from === to) return [];
  const paths = pathsWhere(model, to, (step) => step.to === from).map((path) =>
    path.toReversed().flatMap(back),
  );
  return paths.filter((path) => !path.every(isToOne));
}

/** Refuses what goes up and then down to a sibling, or down and then up without a bridge: rows of the start would mean nothing there. */
export function checkPathShape(path: JoinPath, field: string): void {
  const turn = path.findIndex((step, index) => {
    const before = path.slice(0, index).map(({ direction }) => direction);
    if (step.direction === 'down') return before.includes('up') || before.includes('bridge');
    if (step.direction === 'bridge')
      return before.includes('bridge') || (before.includes('up') && before.includes('down'));
    return step.direction === 'up' && before.includes('down') && !before.includes('bridge');
  });
  const step = path[turn];
  if (step === undefined) return;
  const why =
    step.direction === 'up'
      ? 'goes down and up again'
      : 'goes up and down again: it crosses one_to_many';
  const { from, to } = { from: path[0]?.from ?? '', to: step.to };
  const hint = `Ask for fields of ${step.from}, or declare a many_to_many from ${from} to ${to} with via: and the dataset between them.`;
  throw queryError(
    'no_path',
    `${formatPath(path)}.${field} is no path: at ${step.name} it ${why}`,
    hint,
  );
}

/** Refuses a join whose target columns are no key of the target: it could multiply rows. */
export function checkFanOut(leg: Leg, target: ModelDataset): void {
  const { equal, within } = leg.relationship;
  if (within !== undefined && !leg.reversed) return;
  const names = equal.flatMap(({ own, target: joined }) => (leg.reversed ? own : joined) ?? []);
  const columns = names.map((name) => columnIdentity(target, name));
  if (target.keys.some((key) => key.every((column) => columns.includes(column)))) return;
  throw queryError(
    'fan_risk',
    `Joining ${leg.from} to ${leg.to} could multiply rows: ${columns.join(', ') || 'no column by equality'} is not a declared key of ${leg.to}`,
    `If it is unique, declare it in ${target.file}: primary_key or unique_keys: [[${columns.join(', ')}]].`,
  );
}

const typeFamilies: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'number',
  decimal: 'number',
  boolean: 'boolean',
  date: 'time',
  datetime: 'time',
  datetime_tz: 'time',
};

/** Types of one family compare; undefined where the type is not known. */
export function typeFamilyOf(type: string | undefined): string | undefined {
  return typeFamilies[type ?? ''];
}

/** Refuses a join between declared types that an engine would convert: to the number 1, the texts '1' and '01' are one key. */
export function checkJoinTypes(
  { relationship, reversed, from, to }: Leg,
  source: ModelDataset,
  target: ModelDataset,
): void {
  for (const pair of relationship.equal) {
    const [own, joined] = reversed ? [pair.target, pair.own] : [pair.own, pair.target];
    if (own === undefined || joined === undefined) continue;
    const [left, right] = [
      findField(source, own)?.type ?? 'unknown',
      findField(target, joined)?.type ?? 'unknown',
    ];
    if (left === 'unknown' || right === 'unknown' || typeFamilies[left] === typeFamilies[right])
      continue;
    throw queryError(
      'fan_risk',
      `Joining ${from} to ${to} could multiply rows: ${from}.${own} is ${left}, ${to}.${joined} is ${right}`,
      `Correct the type that is wrong, or join by a field of ${source.file} like {name: ${own}_key, type: ${right}, expr: CAST(${own} AS …)}.`,
    );
  }
}

/** Simple paths (no dataset twice) whose last hop satisfies `isEnd`. */
function pathsWhere(
  model: SemanticModel,
  from: string,
  isEnd: (step: Step) => boolean,
): readonly JoinPath[] {
  const found: JoinPath[] = [];
  const endsAt = (dataset: string): boolean => stepsFrom(model, dataset).some(isEnd);
  const leadsOn = (dataset: string): boolean =>
    endsAt(dataset) || [...reachableFrom(model, dataset)].some(endsAt);
  const visit = (dataset: string, path: JoinPath): void => {
    for (const step of stepsFrom(model, dataset)) {
      if (found.length >= pathLimit) return;
      const isNew = step.to !== from && !path.some((earlier) => earlier.to === step.to);
      if (isEnd(step)) found.push([...path, step]);
      else if (isNew && leadsOn(step.to)) visit(step.to, [...path, step]);
    }
  };
  visit(from, []);
  return found;
}

const reachableCache = new WeakMap<SemanticModel, Map<string, ReadonlySet<string>>>();

function reachableFrom(model: SemanticModel, from: string): ReadonlySet<string> {
  const all = reachableCache.get(model) ?? new Map<string, ReadonlySet<string>>();
  const known = all.get(from);
  if (known !== undefined) return known;
  const seen = new Set<string>();
  const queue = [from];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const fresh = stepsFrom(model, at).flatMap(({ to }) => (seen.has(to) ? [] : [to]));
    for (const dataset of fresh) seen.add(dataset);
    queue.push(...fresh);
  }
  reachableCache.set(model, all.set(from, seen));
  return seen;
}

/** The path as it can be pasted into a query: `orders.buyer.regions`. */
export function formatPath(path: JoinPath): string {
  return [path[0]?.from, ...path.map((step) => step.name)].join('.');
}

function ambiguousPathError(asked: string, paths: readonly JoinPath[], field?: string): UserError {
  const forms = new Set(
    paths.map((path) => [formatPath(path), ...(field === undefined ? [] : [field])].join('.')),
  );
  const message = `${asked} is ambiguous: ${paths.length} paths lead there`;
  if (forms.size === paths.length) return ambiguousError('ambiguous_path', message, [...forms]);
  const ends = new Set(paths.map((path) => `${path.at(-1)?.from} to ${path.at(-1)?.to}`));
  return queryError(
    'ambiguous_path',
    message,
    `Give each relationship from ${[...ends].join(' and ')} a role, then name it in the path.`,
  );
}

function unreachableError(
  model: SemanticModel,
  from: string,
  { name: to, field, reach }: { name: string; field: string; reach: Reach },
): UserError {
  const many =
    reach === 'one'
      ? pathsToMany(model, from, to).map((path) => `${formatPath(path)}.${field}`)
      : [];
  const start = `${to} cannot be reached from ${from}:`;
  if (many.length > 0) {
    const hint = `They can be asked for in a dimension or a condition of a metric of ${from}.`;
    return queryError('no_path', `${start} one row of ${from} has many of ${to}`, {
      hint,
      choices: many,
    });
  }
  const shared = [...model.datasets.keys()].find(
    (name) => canReach(model, from, name) && canReach(model, to, name),
  );
  if (shared !== undefined) {
    const reason = `up to ${shared} and down again crosses one_to_many, which would fan out the rows of ${from}`;
    const hint = `Ask for fields of ${from} or ${shared}, or add a relationship from ${from} to ${to}.`;
    return queryError('no_path', `${start} ${reason}`, {
      hint,
      choices: reachableFieldsNamed(model, from, field),
    });
  }
  const neighbours = stepsFrom(model, from).map((step) => step.to);
  const hint = `From ${from} lead: ${neighbours.join(', ') || 'no relationships'}. Add one to its YAML, or ask for other fields.`;
  return queryError('no_path', `${start} no relationship leads there`, {
    hint,
    choices: reachableFieldsNamed(model, from, field),
  });
}

/** Fields of that name which can be reached, as they can be asked for. */
export function reachableFieldsNamed(
  model: SemanticModel,
  from: string,
  field: string,
): readonly string[] {
  const [name = '', ...rest] = field.split('.');
  if (rest.length > 1) return [];
  const has = (dataset: string) => {
    const found = model.datasets.get(dataset)?.fields.get(name);
    return found !== undefined && found.hidden !== true;
  };
  return [from, ...reachableFrom(model, from)].filter(has).flatMap((dataset) => {
    const paths = dataset === from ? [[]] : pathsWhere(model, from, (step) => step.to === dataset);
    return paths.map((path) => [path.length === 0 ? dataset : formatPath(path), field].join('.'));
  });
}
