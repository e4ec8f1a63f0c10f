import { type Binding, datasetNamed, expanded, nameOf, type Path, placeOf, Refused } from './paths.ts';
import type { Dimension, Question, Test } from './question.ts';
import { type Clock, cutTo, later } from './times.ts';
import type { Cell, Row, World } from './world.ts';

/** The rows of each group, by the group's cells as JSON. */
export type Groups = ReadonlyMap<string, readonly Row[]>;

/** Whose rows, how far moved on in time, and whether conditions on the time decide which count. */
export interface Asked {
  readonly owner: string;
  readonly isEarlier: boolean;
  readonly ignoresTime: boolean;
}

interface Placed<Of> {
  readonly of: Of;
  readonly path: Path;
}

export function clockOf({ zone = 'UTC', weekStart }: Question): Clock {
  return { zone, weekStart };
}

export function cellsOf(group: string): readonly Cell[] {
  return JSON.parse(group) as Cell[];
}

/** The conditions of a query on an owner's rows: one test of each has to hold. Its segment, too. */
export function conditionsOn(world: World, question: Question, owner: string): readonly (readonly Placed<Test>[])[] {
  const { role, above } = datasetNamed(world, owner).chosen;
  const segment: Test = { start: owner, roles: role === undefined ? [] : [role], op: '>', value: above };
  const own = question.where.filter(({ on }) => on === undefined || on === owner);
  const all = [...own.map(({ tests }) => tests), ...(question.segments.includes(owner) ? [[segment]] : [])];
  return all.map((tests) => tests.map((of) => ({ of, path: placeOf(world, owner, of) })));
}

/** True for a condition on nothing but the time that runs: it says which periods are shown, not which rows count. */
function isAboutTime(tests: readonly Placed<Test>[]): boolean {
  const own = tests.filter(({ of, path }) => path.length === 0 && of.op === 't>=');
  if (own.length > 0 && own.length < tests.length) throw new Refused('time beside others');
  return own.length > 0;
}

/** The owner's rows of each group. Without dimensions there is one group, even of no rows. */
export function groupsOf(world: World, question: Question, { owner, isEarlier, ignoresTime }: Asked): Groups {
  const { dimensions } = question;
  const clock = clockOf(question);
  const places = dimensions.map((of) => ({ of, path: placeOf(world, owner, of) }));
  const conditions = conditionsOn(world, question, owner).filter((tests) => !ignoresTime || !isAboutTime(tests));
  const groups = new Map<string, Row[]>(dimensions.length === 0 ? [['[]', []]] : []);
  for (const row of datasetNamed(world, owner).rows) {
    const moved = isEarlier ? { ...row, t: monthLater(row['t'] ?? null) } : row;
    // What the query calls the owner's time is moved; its joins are not.
    const seen = (binding: Binding, path: Path): Row | undefined => (path.length === 0 ? moved : binding.get(nameOf(path)));
    let bindings: readonly Binding[] = [new Map([['', row]])];
    for (const { path } of places) bindings = bindings.flatMap((binding) => expanded(binding, path, 'inner'));
    for (const binding of bindings) {
      if (!conditions.every((tests) => tests.some((test) => holds(binding, test, seen)))) continue;
      const key = JSON.stringify(places.map(({ of, path }) => cellOf(seen(binding, path), of, clock)));
      const group = groups.get(key) ?? [];
      if (!group.includes(row)) group.push(row);
      groups.set(key, group);
    }
  }
  return groups;
}

/** A test beyond a hop to many that is not bound asks whether any row fits. */
function holds(binding: Binding, { of, path }: Placed<Test>, seen: (binding: Binding, path: Path) => Row | undefined): boolean {
  const first = path.findIndex((hop, index) => hop.kind !== 'up' && !binding.has(nameOf(path.slice(0, index + 1))));
  const root = first === -1 ? path : path.slice(0, first + 1);
  const rows = expanded(binding, root, 'inner').flatMap((one) => expanded(one, path, 'left'));
  return rows.some((one) => fits(seen(one, path), of));
}

/** As SQL: what compares with NULL is not true. */
export function fits(row: Row | undefined, { op, value }: Test): boolean {
  const { g = null, v = null, n = null, t = null } = row ?? {};
  if (op === 'n>') return n !== null && n > value;
  if (op === 't>=') return t !== null && t >= value;
  if (op === 'null') return v === null;
  if (op === '>') return v !== null && v > value;
  return g !== null && (op === '=') === (g === value);
}

function monthLater(cell: Cell): Cell {
  return typeof cell === 'string' ? later(cell, { count: 1, unit: 'month' }) : cell;
}

export function cellOf(row: Row | undefined, { field, grain }: Pick<Dimension, 'field' | 'grain'>, clock: Clock): Cell {
  const cell = row?.[field] ?? null;
  return grain === undefined || typeof cell !== 'string' ? cell : cutTo(grain, cell, clock);
}

/** Which dimensions are the owner's own time. */
export function timesOf(world: World, { dimensions }: Question, owner: string): readonly number[] {
  return [...dimensions.keys()].filter((index) => {
    const of = dimensions[index];
    return of?.field === 't' && placeOf(world, owner, of).length === 0;
  });
}
