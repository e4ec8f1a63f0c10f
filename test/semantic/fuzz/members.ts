import {
  type Binding,
  datasetNamed,
  followPath,
  isToOne,
  nameOf,
  type Path,
  resolvePath,
  Refusal,
} from './paths.ts';
import type { Question } from './question.ts';
import { cellAt, cellsOf, conditionsOn, fits } from './rows.ts';
import type { Cell, Row, World } from './world.ts';

/** Cells of some of the dimensions of a group, by the number of the dimension. */
type MemberCells = ReadonlyMap<number, Cell>;

/**
 * The groups that `include_empty` adds for an owner: all combinations of the rows of the datasets
 * that dimensions belong to (one set of rows for each relationship of the owner) and of the cells
 * of the owner's own dimensions that the result has.
 */
export function membersOf(
  world: World,
  question: Question,
  { owner, found }: { owner: string; found: readonly string[] },
): readonly string[] {
  const places = question.dimensions.map((of) => resolvePath(world, owner, of));
  const sets = [...Map.groupBy(places.keys(), (index) => places[index]?.[0]?.name ?? '')];
  if (sets.every(([first]) => first === '')) return [];
  const parts = sets.map(([first, indexes]): readonly MemberCells[] => {
    if (first === '')
      return found.map(
        (group) => new Map(indexes.map((index) => [index, cellsOf(group)[index] ?? null])),
      );
    return membersIn(world, question, { owner, places, indexes });
  });
  const combined = parts.reduce<readonly MemberCells[]>(
    (all, some) => all.flatMap((one) => some.map((other) => new Map([...one, ...other]))),
    [new Map()],
  );
  return combined.map((part) => JSON.stringify(places.map((_, index) => part.get(index) ?? null)));
}

interface ResolvedDimensions {
  readonly owner: string;
  readonly places: readonly Path[];
}

/**
 * The rows of the dataset that all dimensions of a set pass through. Only conditions on this
 * dataset, and on datasets that the dimensions lead to, filter them.
 */
function membersIn(
  world: World,
  question: Question,
  { owner, places, indexes }: ResolvedDimensions & { indexes: readonly number[] },
): readonly MemberCells[] {
  const paths = indexes.map((index) => places[index] ?? []);
  const prefix = commonPrefix(paths);
  const seen = { world, question, owner, shift: undefined };
  const own = conditionsOn(world, question, owner).filter((tests) =>
    tests.every(({ path }) => isWithin(prefix, path) && isBound(path, places)),
  );
  const start = (row: Row): Binding =>
    new Map([
      ...['', ...prefix.map((_, index) => nameOf(prefix.slice(0, index + 1)))].map(
        (name): [string, Row | undefined] => [name, undefined],
      ),
      [nameOf(prefix), row],
    ]);
  const paths2 = [...paths, ...own.flat().map(({ path }) => path)];
  const cellIn = (binding: Binding, index: number): Cell => {
    const path = places[index] ?? [];
    return cellAt(seen, binding.get(nameOf(path)), { of: dimensionAt(question, index), path });
  };
  return datasetNamed(world, prefix.at(-1)?.to ?? '').rows.flatMap((row) => {
    const bindings = paths2.reduce<readonly Binding[]>(
      (all, path) => all.flatMap((one) => followPath(one, path, 'inner')),
      [start(row)],
    );
    return bindings
      .filter((one) =>
        own.every((tests) => tests.some((test) => fits(seen, one.get(nameOf(test.path)), test))),
      )
      .map((one) => new Map(indexes.map((index) => [index, cellIn(one, index)])));
  });
}

/** Refuses a condition on several dimensions: it does not say which combinations it allows. */
export function checkMembers(world: World, question: Question, owner: string): void {
  const places = question.dimensions.map((of) => resolvePath(world, owner, of));
  const firsts = new Set(places.map((path) => path[0]?.name ?? ''));
  if ([...firsts].every((first) => first === '')) return;
  for (const tests of conditionsOn(world, question, owner)) {
    const touched = new Set(
      tests
        .map(({ path }) => joined(path, places)[0]?.name ?? '')
        .filter((name) => firsts.has(name)),
    );
    if (touched.size > 1) throw new Refusal('not_supported', 'a condition across dimensions');
  }
}

/** The start of the path, up to the first hop to many rows that no dimension follows. */
function joined(path: Path, places: readonly Path[]): Path {
  const end = path.findIndex(
    (hop, index) =>
      !isToOne(hop) && !places.some((place) => isWithin(path.slice(0, index + 1), place)),
  );
  return end === -1 ? path : path.slice(0, end);
}

function isBound(path: Path, places: readonly Path[]): boolean {
  return joined(path, places).length === path.length;
}

function isWithin(prefix: Path, path: Path): boolean {
  return prefix.every(({ name }, index) => path[index]?.name === name);
}

function commonPrefix([first = [], ...others]: readonly Path[]): Path {
  const length = first.findIndex((hop, index) =>
    others.some((path) => path[index]?.name !== hop.name),
  );
  return length === -1 ? first : first.slice(0, length);
}

function dimensionAt({ dimensions }: Question, index: number): Question['dimensions'][number] {
  const found = dimensions[index];
  if (found === undefined) throw new Error(`no dimension ${index}`);
  return found;
}
