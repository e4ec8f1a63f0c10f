import { UserError } from '../lib/error.ts';
import { columnIdentity, type ModelDataset, type ModelRelationship, type SemanticModel } from './model.ts';
import { notSupported, unknownName } from './errors.ts';

/** One to-one hop: from the many side to the one side, or either way of a one_to_one. */
export interface Step {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly relationship: ModelRelationship;
  readonly reversed: boolean;
}

export type Path = readonly Step[];

const pathLimit = 12;

interface Graph {
  readonly steps: Map<string, readonly Step[]>;
  readonly reach: Map<string, ReadonlySet<string>>;
}

const graphs = new WeakMap<SemanticModel, Graph>();

function graphOf(model: SemanticModel): Graph {
  const known = graphs.get(model);
  if (known !== undefined) return known;
  const graph: Graph = { steps: new Map(), reach: new Map() };
  graphs.set(model, graph);
  return graph;
}

/** The hops that never multiply rows of `dataset`. */
export function stepsFrom(model: SemanticModel, dataset: string): readonly Step[] {
  const { steps } = graphOf(model);
  const known = steps.get(dataset);
  if (known !== undefined) return known;
  const own = model.datasets.get(dataset);
  const forward = own?.relationships.filter((it) => it.cardinality !== 'many_to_many') ?? [];
  const backward = own?.incoming.filter((it) => it.cardinality === 'one_to_one' && it.from !== dataset) ?? [];
  const all = [
    ...forward.map((it) => ({ name: it.name, from: it.from, to: it.to, relationship: it, reversed: false })),
    ...backward.map((it) => ({ name: it.from, from: it.to, to: it.from, relationship: it, reversed: true })),
  ].filter((step) => model.datasets.has(step.to));
  steps.set(dataset, all);
  return all;
}

/** Follows role names from a dataset. */
export function pathByNames(model: SemanticModel, dataset: string, names: readonly string[]): Path {
  const path: Step[] = [];
  let at = dataset;
  for (const name of names) {
    const steps = stepsFrom(model, at);
    const matching = steps.filter((step) => step.name === name);
    const step = matching[0];
    if (step === undefined) {
      throw unknownName({ what: `relationship of ${at}`, name, candidates: steps.map((candidate) => candidate.name) });
    }
    if (matching.length > 1)
      throw ambiguous(
        [dataset, ...names].join('.'),
        matching.map((one) => [...path, one]),
      );
    path.push(step);
    at = step.to;
  }
  return path;
}

/** The unique to-one path; an error that lists the choices, or says why there is none. */
export function uniquePath(model: SemanticModel, from: string, target: { dataset: string; field: string }): Path {
  if (from === target.dataset) return [];
  const paths = pathsWhere(model, from, (step) => step.to === target.dataset);
  const only = paths[0];
  if (only === undefined) throw unreachable(model, from, target.dataset);
  if (paths.length > 1) throw ambiguous(`${target.dataset}.${target.field}`, paths, target.field);
  return only;
}

/** The unique to-one path whose last hop has this role; undefined where no such role can be reached. */
export function pathToRole(model: SemanticModel, from: string, role: { name: string; field: string }): Path | undefined {
  const paths = pathsWhere(model, from, (step) => step.name === role.name);
  if (paths.length > 1) throw ambiguous(`${role.name}.${role.field}`, paths, role.field);
  return paths[0];
}

export function reaches(model: SemanticModel, from: string, to: string): boolean {
  return from === to || reachable(model, from).has(to);
}

/** Refuses a hop whose target columns are no key of the target: joining it could multiply rows. */
export function checkFan(model: SemanticModel, step: Step): void {
  const target = model.datasets.get(step.to);
  if (target === undefined) return;
  const columns = pinnedColumns(model, step);
  const isUnique = target.keys.some((key) => key.every((column) => columns.has(column)));
  if (isUnique) return;
  const found = [...columns].join(', ') || 'no column by equality';
  throw new UserError('fan_risk', `Joining ${step.from} to ${step.to} could multiply rows: ${found} is not a declared key of ${step.to}`, {
    hint: `If it is unique, declare it in ${target.file}: primary_key or unique_keys: [[${[...columns].join(', ')}]].`,
    exitCode: 2,
  });
}

/** Columns of the step's target that one row of its source fixes to one value. */
function pinnedColumns(model: SemanticModel, step: Step): ReadonlySet<string> {
  const target = model.datasets.get(step.to);
  const { on } = step.relationship;
  if (target === undefined) return new Set();
  const names =
    on.kind === 'columns'
      ? on.pairs.map((pair) => (step.reversed ? pair.own : pair.target))
      : pinnedByCondition(on.fragment, (parts) => ownerInCondition(step.relationship, parts) === (step.reversed ? 'own' : 'target'));
  return new Set(names.map((name) => columnIdentity(target, name)));
}

type ConditionFragment = Extract<ModelRelationship['on'], { kind: 'condition' }>['fragment'];

function pinnedByCondition(fragment: ConditionFragment, isTarget: (parts: readonly string[]) => boolean): readonly string[] {
  const pinned: string[] = [];
  for (const conjunct of fragment.conjuncts) {
    const inside = fragment.tokens.filter((token) => token.start >= conjunct.start && token.end <= conjunct.end);
    const references = fragment.references.filter((reference) => reference.start >= conjunct.start && reference.end <= conjunct.end);
    const covered = references.reduce((sum, reference) => sum + reference.parts.length * 2 - 1, 0);
    const rest = inside.filter((token) => !references.some((it) => token.start >= it.start && token.end <= it.end));
    const isPlain = rest[0]?.text === '=' || rest[1]?.text === '=';
    const isLiteral = rest.every((token) => token.text === '=' || token.kind === 'string' || token.kind === 'number');
    const targets = references.filter((reference) => isTarget(reference.parts));
    if (!isPlain || !isLiteral || covered + rest.length !== inside.length) continue;
    if (targets.length === 1 && references.length + rest.length === 3) pinned.push(targets[0]?.parts.at(-1) ?? '');
  }
  return pinned;
}

/** Bare names of a condition are the own dataset's; the target goes by its name or role, which wins in a self-join. */
export function ownerInCondition(relationship: ModelRelationship, parts: readonly string[]): 'own' | 'target' | undefined {
  if (parts.length === 1) return 'own';
  if (parts.length > 2) return undefined;
  if (parts[0] === relationship.to || parts[0] === relationship.name) return 'target';
  return parts[0] === relationship.from ? 'own' : undefined;
}

/** Simple paths (no dataset twice) whose last hop satisfies `isEnd`; at most a dozen, which is enough to be ambiguous. */
function pathsWhere(model: SemanticModel, from: string, isEnd: (step: Step) => boolean): readonly Path[] {
  const found: Path[] = [];
  const endsAt = (dataset: string): boolean => stepsFrom(model, dataset).some(isEnd);
  const leadsOn = (dataset: string): boolean => endsAt(dataset) || [...reachable(model, dataset)].some(endsAt);
  const visit = (dataset: string, path: Path): void => {
    for (const step of stepsFrom(model, dataset)) {
      if (found.length >= pathLimit) return;
      const next = [...path, step];
      const isNew = step.to !== from && !path.some((earlier) => earlier.to === step.to);
      if (isEnd(step)) found.push(next);
      else if (isNew && leadsOn(step.to)) visit(step.to, next);
    }
  };
  visit(from, []);
  return found;
}

function reachable(model: SemanticModel, from: string): ReadonlySet<string> {
  const { reach } = graphOf(model);
  const known = reach.get(from);
  if (known !== undefined) return known;
  const seen = new Set<string>();
  const queue = [from];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const { to } of stepsFrom(model, at)) {
      if (seen.has(to)) continue;
      seen.add(to);
      queue.push(to);
    }
  }
  reach.set(from, seen);
  return seen;
}

/** The path as it can be pasted into a query: `orders.buyer.regions`. */
export function dottedPath(path: Path): string {
  return [path[0]?.from, ...path.map((step) => step.name)].join('.');
}

function ambiguous(asked: string, paths: readonly Path[], field?: string): UserError {
  const suffix = field === undefined ? '' : `.${field}`;
  const forms = [...new Set(paths.map((path) => dottedPath(path) + suffix))];
  const ends = [...new Set(paths.map((path) => `${path.at(-1)?.from} to ${path.at(-1)?.to}`))].join(' and ');
  return new UserError('ambiguous_path', `${asked} is ambiguous: ${paths.length} paths lead there: ${forms.join(', ')}`, {
    hint:
      forms.length < paths.length
        ? `Give each relationship from ${ends} a role of its own, then name the role in the path.`
        : `Write one of: ${forms.join(', ')}.`,
    exitCode: 2,
    details: { choices: forms },
  });
}

function unreachable(model: SemanticModel, from: string, to: string): UserError {
  if (reaches(model, to, from)) {
    return notSupported('to-many path', `${to} is on the many side of ${from}: one row of ${from} has many of ${to}`);
  }
  const bridge = bridgeBetween(model, from, to);
  if (bridge !== undefined) {
    return notSupported('many_to_many', `${from} reaches ${to} only through many_to_many ${bridge.from} → ${bridge.to}`);
  }
  const shared = [...model.datasets.keys()].find(
    (name) => name !== from && name !== to && reaches(model, from, name) && reaches(model, to, name),
  );
  const neighbours = stepsFrom(model, from).map((step) => step.to);
  if (shared !== undefined) {
    return new UserError(
      'no_path',
      `${to} cannot be reached from ${from}: up to ${shared} and down again crosses one_to_many, which would fan out the rows of ${from}`,
      {
        hint: `Ask for fields of ${[from, shared].join(' or ')}, or add a relationship from ${from} to ${to}.`,
        exitCode: 2,
      },
    );
  }
  return new UserError('no_path', `${to} cannot be reached from ${from}: no relationship leads there`, {
    hint: `From ${from} lead: ${neighbours.join(', ') || 'no relationships'}. Add one to its YAML, or ask for other fields.`,
    exitCode: 2,
  });
}

/** A declared many_to_many on the way: each of its ends reached by to-one or to-many hops. */
function bridgeBetween(model: SemanticModel, from: string, to: string): ModelRelationship | undefined {
  const straight = (a: string, b: string): boolean => reaches(model, a, b) || reaches(model, b, a);
  const all = [...model.datasets.values()].flatMap((dataset: ModelDataset) => dataset.relationships);
  return all.find(
    (it) =>
      it.cardinality === 'many_to_many' &&
      ((straight(from, it.from) && straight(it.to, to)) || (straight(from, it.to) && straight(it.from, to))),
  );
}
