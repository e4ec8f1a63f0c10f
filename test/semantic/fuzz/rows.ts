import {
  type Binding,
  datasetNamed,
  followPath,
  isToOne,
  nameOf,
  type Path,
  resolvePath,
} from './paths.ts';
import { type Dimension, fieldOf, type Question, type Test } from './question.ts';
import { type Clock, cutTo, later, localTime, type Span } from './times.ts';
import type { Cell, Chosen, Row, World } from './world.ts';

/** The rows of each group, by the group's cells as JSON. */
export type Groups = ReadonlyMap<string, readonly Row[]>;

/**
 * Which rows to group: their owner, whether they are shifted in time, and whether conditions on
 * time are left out.
 */
export interface RowSelection {
  readonly owner: string;
  readonly isEarlier: boolean;
  readonly ignoresTime: boolean;
  /** Moved on by this, instead of by what the dataset says. */
  readonly shift?: Span | undefined;
}

export interface Resolved<Of> {
  readonly of: Of;
  readonly path: Path;
}

/** What is needed to read a cell of an owner's row; `shift` moves its default time. */
interface RowContext {
  readonly world: World;
  readonly question: Question;
  readonly owner: string;
  readonly shift: Span | undefined;
}

export function cellsOf(group: string): readonly Cell[] {
  return JSON.parse(group) as Cell[];
}

export function clockFor(
  world: World,
  { zone = 'UTC', weekStart }: Question,
  dataset: string,
): Clock {
  return { zone, weekStart, fiscal: datasetNamed(world, dataset).fiscal };
}

/** The conditions on an owner's rows, with its segment. One test of each must hold. */
export function conditionsOn(
  world: World,
  question: Question,
  owner: string,
): readonly (readonly Resolved<Test>[])[] {
  const own = question.where.filter(({ on }) => on === undefined || on === owner);
  const segment = testOf(owner, datasetNamed(world, owner).chosen);
  const all = [
    ...own.map(({ tests }) => tests),
    ...(question.segments.includes(owner) ? [[segment]] : []),
  ];
  return all.map((tests) => tests.map((of) => ({ of, path: resolvePath(world, owner, of) })));
}

export function testOf(owner: string, { role, above }: Chosen): Test {
  return { start: owner, roles: role === undefined ? [] : [role], op: '>', value: above };
}

/** Whether a test is of the owner's default time. */
export function isOfTime(world: World, owner: string, { of, path }: Resolved<Test>): boolean {
  if (path.length > 0 || (of.op !== 'time>=' && of.op !== 'period')) return false;
  return of.start === 'metric_time' || of.field === datasetNamed(world, owner).clock;
}

/** The owner's rows of each group. Without dimensions there is one group, even of no rows. */
export function groupsOf(
  world: World,
  question: Question,
  { owner, isEarlier, ignoresTime, shift }: RowSelection,
): Groups {
  const { dimensions, metrics } = question;
  const dataset = datasetNamed(world, owner);
  const moved = shift ?? (isEarlier ? dataset.back : undefined);
  const seen: RowContext = { world, question, owner, shift: moved };
  const placed = (of: Dimension) => ({ of, path: resolvePath(world, owner, of) });
  const places = dimensions.map(placed);
  const excluded = question.excluded?.dimensions.map(placed) ?? [];
  // For a running total, a condition on its time alone chooses the periods to show, not the rows.
  const conditions = conditionsOn(world, question, owner).filter(
    (tests) => !ignoresTime || !tests.every((test) => isOfTime(world, owner, test)),
  );
  const groups = new Map<string, Row[]>(
    dimensions.length === 0 && metrics.length > 0 ? [['[]', []]] : [],
  );
  for (const row of dataset.rows) {
    let bindings: readonly Binding[] = [new Map([['', row]])];
    for (const { path } of [...places, ...excluded])
      bindings = bindings.flatMap((binding) => followPath(binding, path, 'inner'));
    for (const binding of bindings) {
      if (!conditions.every((tests) => tests.some((test) => holds(seen, binding, test)))) continue;
      const keyOf = (all: typeof places) =>
        JSON.stringify(
          all.map(({ of, path }) => cellAt(seen, binding.get(nameOf(path)), { of, path })),
        );
      if (question.excluded?.groups.has(keyOf(excluded)) === true) continue;
      const key = keyOf(places);
      const group = groups.get(key) ?? [];
      if (!group.includes(row)) group.push(row);
      groups.set(key, group);
    }
  }
  return groups;
}

/** Behind a hop to many rows that no dimension follows, one row that fits is enough. */
function holds(seen: RowContext, binding: Binding, { of, path }: Resolved<Test>): boolean {
  const first = path.findIndex(
    (hop, index) => !isToOne(hop) && !binding.has(nameOf(path.slice(0, index + 1))),
  );
  const root = first === -1 ? path : path.slice(0, first + 1);
  const rows = followPath(binding, root, 'inner').flatMap((one) => followPath(one, path, 'left'));
  return rows.some((one) => fits(seen, one.get(nameOf(path)), { of, path }));
}

/** Whether a row passes a test of a metric. Times are not shifted. */
export function passes(
  world: World,
  question: Question,
  { owner, row, test }: { owner: string; row: Row; test: Test },
): boolean {
  const placed = { of: test, path: resolvePath(world, owner, test) };
  return holds({ world, question, owner, shift: undefined }, new Map([['', row]]), placed);
}

/** As in SQL, a comparison with NULL is not true. */
export function fits(seen: RowContext, row: Row | undefined, placed: Resolved<Test>): boolean {
  const { of, path } = placed;
  const { op, value } = of;
  if (op === 'time>=' || op === 'period') return fitsTime(seen, row, placed);
  const { g = null, v = null, n = null } = row ?? {};
  if (op === 'null') return v === null;
  if (op === '=' || op === '<>') return g !== null && (op === '=') === (g === value);
  const ownMetric = () =>
    cellAt(seen, row, { of: { start: of.start, field: 'w', grain: undefined }, path });
  const cell = op === 'n>' ? n : op === 'w>' ? ownMetric() : v;
  return cell !== null && cell > value;
}

function fitsTime(
  seen: RowContext,
  row: Row | undefined,
  { of: { op, value, start, field = 't', grain }, path }: Resolved<Test>,
): boolean {
  const isPeriod = op === 'period';
  const time = cellAt(seen, row, {
    of: { start, field, grain: isPeriod ? grain : undefined },
    path,
  });
  if (time === null) return false;
  return isPeriod
    ? time === value
    : localTime(String(time), seen.question.zone ?? 'UTC') >= localTime(String(value), 'UTC');
}

/**
 * What a dimension shows of a row: a time cut to its period; the owner's own time is moved first.
 */
export function cellAt(
  seen: RowContext,
  row: Row | undefined,
  { of, path }: Resolved<Pick<Dimension, 'start' | 'field' | 'grain'>>,
): Cell {
  const { world, question, owner, shift } = seen;
  const field = fieldOf(world, owner, of);
  const home = path.at(-1)?.to ?? owner;
  if (field === 'w') return aboveLeast(row, leastOf(world, question, home));
  const cell = row?.[field] ?? null;
  if (typeof cell !== 'string' || field === 'g') return cell;
  const clock = clockFor(world, question, home);
  const isOwn = path.length === 0 && field === datasetNamed(world, owner).clock;
  const time = shift !== undefined && isOwn ? shiftedTime(cell, clock.zone, shift) : cell;
  return of.grain === undefined ? time : cutTo(of.grain, time, clock);
}

function aboveLeast(row: Row | undefined, least: number | undefined): Cell {
  const value = row?.['v'];
  return typeof value === 'number' ? value - (least ?? 0) : null;
}

/** A moment is shifted in local time, so that its period is that of the zone. */
function shiftedTime(cell: string, zone: string, shift: NonNullable<RowContext['shift']>): string {
  return later(cell.includes('T') ? localTime(cell, zone) : cell, shift);
}

/** The value of a dataset's parameter; undefined if neither query nor model gives one. */
export function leastOf(
  world: World,
  { parameters }: Question,
  dataset: string,
): number | undefined {
  return (
    parameters[`${dataset}.least`] ?? parameters['least'] ?? datasetNamed(world, dataset).least
  );
}

/** Which dimensions are periods of the owner's default time. */
export function timesOf(world: World, { dimensions }: Question, owner: string): readonly number[] {
  return [...dimensions.keys()].filter((index) => {
    const of = dimensions[index];
    return of?.grain !== undefined && isOwnTime(world, owner, of);
  });
}

export function isOwnTime(world: World, owner: string, of: Dimension): boolean {
  return (
    fieldOf(world, owner, of) === datasetNamed(world, owner).clock &&
    resolvePath(world, owner, of).length === 0
  );
}
