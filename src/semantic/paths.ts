import type { UserError } from '../lib/error.ts';
import { timeGrains } from '../sql/dialect.ts';
import { ambiguous, notSupported, refused, unknownDataset, unknownName } from './errors.ts';
import { columnIdentity, fieldNamed, type ModelDataset, type ModelRelationship, type SemanticModel, type Step } from './model.ts';

export type Path = readonly Step[];

/** Enough to be ambiguous. */
const pathLimit = 12;

function stepsFrom(model: SemanticModel, dataset: string): readonly Step[] {
  return model.datasets.get(dataset)?.steps ?? [];
}

/** Follows role names from a dataset, up to the last name, which is that of a field. */
export function pathByNames(model: SemanticModel, dataset: string, names: readonly string[]): Path {
  const path: Step[] = [];
  const last = names.at(-1) ?? '';
  for (const [index, name] of names.slice(0, -1).entries()) {
    const at = path.at(-1)?.to ?? dataset;
    const steps = stepsFrom(model, at);
    const [step, ...more] = steps.filter((candidate) => candidate.name === name);
    if (step === undefined) {
      const { type = '', hidden = false } = model.datasets.get(at)?.fields.get(name) ?? {};
      if (index === names.length - 2 && type.startsWith('date') && !hidden) {
        throw unknownName({ what: `grain of ${at}.${name}`, name: last, candidates: timeGrains });
      }
      throw unknownName({ what: `relationship of ${at}`, name, candidates: steps.map((candidate) => candidate.name) });
    }
    if (more.length > 0) {
      const paths = [step, ...more].map((one) => [...path, one]);
      throw ambiguousPath([dataset, ...names.slice(0, -1)].join('.'), paths);
    }
    path.push(step);
  }
  return path;
}

/** The unique to-one path to a dataset, or to the hop of a role; else an error that lists the choices, or says why there is none. */
export function uniquePath(model: SemanticModel, from: string, target: { name: string; field: string }): Path {
  const { name, field } = target;
  if (name === from) return [];
  const isDataset = model.datasets.has(name);
  const paths = pathsWhere(model, from, (step) => (isDataset ? step.to : step.name) === name);
  const [only] = paths;
  if (only === undefined) throw isDataset ? unreachable(model, from, name) : unknownDataset(model, name);
  if (paths.length > 1) throw ambiguousPath(`${name}.${field}`, paths, field);
  return only;
}

export function reaches(model: SemanticModel, from: string, to: string): boolean {
  return from === to || reachable(model, from).has(to);
}

/** Refuses a hop whose target columns are no key of the target: joining it could multiply rows. */
export function checkFan(step: Step, target: ModelDataset): void {
  const { equal } = step.relationship;
  const names = equal.flatMap(({ own, target: joined }) => (step.reversed ? own : joined) ?? []);
  const columns = names.map((name) => columnIdentity(target, name));
  if (target.keys.some((key) => key.every((column) => columns.includes(column)))) return;
  throw refused(
    'fan_risk',
    `Joining ${step.from} to ${step.to} could multiply rows: ${columns.join(', ') || 'no column by equality'} is not a declared key of ${step.to}`,
    `If it is unique, declare it in ${target.file}: primary_key or unique_keys: [[${columns.join(', ')}]].`,
  );
}

const families = {
  string: 'text',
  integer: 'number',
  decimal: 'number',
  boolean: 'boolean',
  date: 'time',
  datetime: 'time',
  datetime_tz: 'time',
};

/** Refuses a hop between declared types that an engine would convert: to the number 1, the texts '1' and '01' are one key. */
export function checkTypes({ relationship, reversed, from, to }: Step, source: ModelDataset, target: ModelDataset): void {
  for (const pair of relationship.equal) {
    const [own, joined] = reversed ? [pair.target, pair.own] : [pair.own, pair.target];
    if (own === undefined || joined === undefined) continue;
    const [left, right] = [fieldNamed(source, own)?.type ?? 'unknown', fieldNamed(target, joined)?.type ?? 'unknown'];
    if (left === 'unknown' || right === 'unknown' || families[left] === families[right]) continue;
    throw refused(
      'fan_risk',
      `Joining ${from} to ${to} could multiply rows: ${from}.${own} is ${left}, ${to}.${joined} is ${right}`,
      `Correct the type that is wrong, or join by a field of ${source.file} like {name: ${own}_key, type: ${right}, expr: CAST(${own} AS …)}.`,
    );
  }
}

/** Simple paths (no dataset twice) whose last hop satisfies `isEnd`. */
function pathsWhere(model: SemanticModel, from: string, isEnd: (step: Step) => boolean): readonly Path[] {
  const found: Path[] = [];
  const endsAt = (dataset: string): boolean => stepsFrom(model, dataset).some(isEnd);
  const leadsOn = (dataset: string): boolean => endsAt(dataset) || [...reachable(model, dataset)].some(endsAt);
  const visit = (dataset: string, path: Path): void => {
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

const reached = new WeakMap<ModelDataset, ReadonlySet<string>>();

function reachable(model: SemanticModel, from: string): ReadonlySet<string> {
  const start = model.datasets.get(from);
  const known = start && reached.get(start);
  if (known !== undefined) return known;
  const seen = new Set<string>();
  const queue = [from];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const fresh = stepsFrom(model, at).flatMap(({ to }) => (seen.has(to) ? [] : [to]));
    for (const dataset of fresh) seen.add(dataset);
    queue.push(...fresh);
  }
  if (start !== undefined) reached.set(start, seen);
  return seen;
}

/** The path as it can be pasted into a query: `orders.buyer.regions`. */
export function dottedPath(path: Path): string {
  return [path[0]?.from, ...path.map((step) => step.name)].join('.');
}

function ambiguousPath(asked: string, paths: readonly Path[], field?: string): UserError {
  const forms = new Set(paths.map((path) => [dottedPath(path), ...(field === undefined ? [] : [field])].join('.')));
  const message = `${asked} is ambiguous: ${paths.length} paths lead there`;
  if (forms.size === paths.length) return ambiguous('ambiguous_path', message, [...forms]);
  const ends = new Set(paths.map((path) => `${path.at(-1)?.from} to ${path.at(-1)?.to}`));
  return refused('ambiguous_path', message, `Give each relationship from ${[...ends].join(' and ')} a role, then name it in the path.`);
}

function unreachable(model: SemanticModel, from: string, to: string): UserError {
  if (reaches(model, to, from)) {
    return notSupported('to-many path', `${to} is on the many side of ${from}: one row of ${from} has many of ${to}`);
  }
  const bridge = bridgeBetween(model, from, to);
  if (bridge !== undefined) {
    return notSupported('many_to_many', `${from} reaches ${to} only through many_to_many ${bridge.from} → ${bridge.to}`);
  }
  const start = `${to} cannot be reached from ${from}:`;
  const shared = [...model.datasets.keys()].find((name) => reaches(model, from, name) && reaches(model, to, name));
  if (shared !== undefined) {
    const reason = `up to ${shared} and down again crosses one_to_many, which would fan out the rows of ${from}`;
    const hint = `Ask for fields of ${from} or ${shared}, or add a relationship from ${from} to ${to}.`;
    return refused('no_path', `${start} ${reason}`, hint);
  }
  const neighbours = stepsFrom(model, from).map((step) => step.to);
  const hint = `From ${from} lead: ${neighbours.join(', ') || 'no relationships'}. Add one to its YAML, or ask for other fields.`;
  return refused('no_path', `${start} no relationship leads there`, hint);
}

/** A declared many_to_many on the way: each of its ends reached by to-one or to-many hops. */
function bridgeBetween(model: SemanticModel, from: string, to: string): ModelRelationship | undefined {
  const straight = (a: string, b: string): boolean => reaches(model, a, b) || reaches(model, b, a);
  return [...model.datasets.values()]
    .flatMap((dataset) => dataset.relationships.filter((it) => it.cardinality === 'many_to_many'))
    .find((it) => (straight(from, it.from) && straight(it.to, to)) || (straight(from, it.to) && straight(it.from, to)));
}
