import type { AggregateNode } from './aggregates.ts';
import { checkMembers } from './members.ts';
import { datasetNamed, isToOne, type Path, resolvePath, Refusal } from './paths.ts';
import { aggregatesOf, type Dimension, type Question, type Test } from './question.ts';
import { conditionsOn, isOfTime, isOwnTime, leastOf, type Resolved, testOf } from './rows.ts';
import { clockDimension, finestTime, grainAt, isRunning } from './running.ts';
import { isFiscal, liesIn } from './times.ts';
import type { World } from './world.ts';

/** Aggregates that read the same groups of one owner's rows, in the order of the question. */
export interface FactQuery {
  readonly owner: string;
  readonly leaves: readonly AggregateNode[];
}

const apart: readonly AggregateNode['function'][] = [
  'closing',
  'each',
  'each_far',
  'most_of_g',
  'earlier',
  'overall',
  'over_g',
  'followed',
  'follow_rate',
  'running',
  'trailing',
  'to_date',
];

/** Aggregates with the same name read the same groups of rows. */
export function factQueryName({ owner, function: name }: AggregateNode): string {
  return `${owner} ${apart.includes(name) ? name : ''}`;
}

/**
 * Throws the first error that the rules demand before any row is read. Returns the owners whose
 * rows are read.
 */
export function check(world: World, question: Question): readonly string[] {
  const { metrics, dimensions, parameters, includeEmpty } = question;
  const defaults = new Set(world.datasets.map(({ least }) => least));
  if ('least' in parameters && defaults.size > 1)
    throw new Refusal('ambiguous_name', 'one name, several parameters');
  if (metrics.length + dimensions.length === 0)
    throw new Refusal('empty_query', 'nothing is asked');
  if (includeEmpty && metrics.length === 0)
    throw new Refusal('unused_option', 'members of nothing');
  const blocks = factQueriesOf(world, question);
  for (const block of blocks) checkFactQuery(world, question, block);
  const totalled = blocks.filter(
    ({ leaves: [first] }) =>
      isPartial(question, first) &&
      !blocks.some((one) => isPlain(question, one) && one.owner === first?.owner),
  );
  for (const { owner } of totalled) checkRows(world, question, { owner, leaves: [] });
  const owners = [...new Set([...totalled, ...blocks].map(({ owner }) => owner))];
  checkScopes(question, owners);
  checkFiscal(world, question, owners);
  clockDimension(world, question, {
    all: owners,
    running: blocks.filter(isRunningQuery).map(({ owner }) => owner),
  });
  return owners;
}

/** Without metrics, one for the dataset that the dimensions belong to. */
export function factQueriesOf(world: World, question: Question): readonly FactQuery[] {
  const groups = Map.groupBy(aggregatesOf(question), factQueryName);
  if (groups.size === 0) return [{ owner: ownerOf(world, question), leaves: [] }];
  const found = [...groups.values()].flatMap((leaves) =>
    leaves[0] === undefined ? [] : [{ owner: leaves[0].owner, leaves }],
  );
  // A conversion rate also reads the rows themselves: they are a fact query of their own if no
  // other aggregate reads them.
  return found.flatMap((block) => {
    const rate = block.leaves[0]?.function === 'follow_rate';
    return rate && !found.some((one) => isPlain(question, one) && one.owner === block.owner)
      ? [block, { ...block, leaves: [{ owner: block.owner, function: 'count_rows' as const }] }]
      : [block];
  });
}

function isRunningQuery({ leaves: [first] }: FactQuery): boolean {
  return first !== undefined && isRunning(first);
}

/** True for a total over fewer dimensions than the question has. */
function isPartial({ dimensions }: Question, leaf: AggregateNode | undefined): boolean {
  if (leaf?.function === 'overall') return dimensions.length > 0;
  return leaf?.function === 'over_g' && dimensions.length > 1;
}

/** True if its groups are those of the unchanged rows. */
function isPlain(question: Question, { leaves: [first] }: FactQuery): boolean {
  return (
    first === undefined ||
    (!isRunning(first) && first.function !== 'earlier' && !isPartial(question, first))
  );
}

/** The dataset from which every dimension can be reached by one row. */
function ownerOf(world: World, { dimensions }: Question): string {
  if (dimensions.some(({ start }) => start === 'metric_time'))
    throw new Refusal('no_owner', 'the time of nothing');
  const failures: Refusal[] = [];
  const found = [...new Set(dimensions.map(({ start }) => start))].filter((owner) => {
    try {
      for (const of of dimensions) checkPath(world, owner, { of, reach: 'one' });
      return true;
    } catch (error) {
      if (error instanceof Refusal) failures.push(error);
      else throw error;
      return false;
    }
  });
  const [only, ...others] = found;
  if (only === undefined) throw failures[0] ?? new Error('neither found nor refused');
  if (others.length > 0) throw new Refusal('ambiguous_path', 'whose rows');
  return only;
}

function checkPath(
  world: World,
  owner: string,
  { of, reach }: { of: Dimension; reach: 'one' | 'many' },
): Path {
  const path = resolvePath(world, owner, { ...of, reach });
  if (isFiscal(of.grain) && datasetNamed(world, path.at(-1)?.to ?? owner).fiscal === undefined)
    throw new Refusal('fiscal_year', 'no fiscal years');
  return path;
}

function checkFactQuery(world: World, question: Question, block: FactQuery): void {
  const { owner, leaves } = block;
  const name = leaves[0]?.function;
  const plain = { ...question, includeEmpty: false };
  if (name === 'overall' || name === 'over_g') {
    checkRows(world, plain, { owner, leaves: [] });
    const isAsked = question.dimensions.some(
      (of) => of.field === 'g' && resolvePath(world, owner, of).length === 0,
    );
    if (name === 'over_g' && !isAsked)
      throw new Refusal('no_group', 'a total by what is not asked');
    checkRows(world, isPartial(question, leaves[0]) ? plain : question, block);
  } else if (name === 'each' || name === 'each_far' || name === 'most_of_g') {
    const { per } = datasetNamed(world, owner);
    const of = {
      start: owner,
      roles: name === 'each_far' && per !== undefined ? [per] : [],
      field: name === 'each' ? ('t' as const) : ('g' as const),
      grain: undefined,
    };
    checkRows(world, { ...plain, dimensions: [...question.dimensions, of] }, block);
    if (question.includeEmpty) checkRows(world, question, { owner, leaves: [] });
  } else checkRows(world, question, block);
}

/** Checks what the question reads of one owner's rows, in the planner's order. */
function checkRows(world: World, question: Question, { owner, leaves }: FactQuery): void {
  const { dimensions, includeEmpty } = question;
  const [first] = leaves;
  const places = dimensions.map((of) => ({
    of,
    path: checkPath(world, owner, { of, reach: 'many' }),
  }));
  if (first?.function === 'earlier') checkShiftedTime(world, dimensions, owner);
  const runs = first !== undefined && isRunning(first);
  if (runs) checkRunning(world, question, first);
  for (const { of, path } of places) {
    if (runs && of.grain !== undefined && isOwnTime(world, owner, of)) continue;
    touch(world, owner, path);
    touchField(world, question, { owner, path, field: of.field });
  }
  checkConditions(world, question, { owner, runs });
  denied(world, owner);
  if (first !== undefined) {
    const isFanned = places.some(({ path }) => !path.every(isToOne));
    checkSingleAggregate(world, first, isFanned);
  }
  for (const leaf of leaves) checkLeaf(world, question, leaf);
  if (!includeEmpty) return;
  if (runs) checkRows(world, question, { owner, leaves: [] });
  else checkMembers(world, question, owner);
}

/** A value of an earlier period can only be shown by periods. */
function checkShiftedTime(world: World, dimensions: Question['dimensions'], owner: string): void {
  if (dimensions.some((of) => of.grain === undefined && isOwnTime(world, owner, of)))
    throw new Refusal('no_period', 'another time without a period');
}

/**
 * Refuses balances and conversions by a dimension to many rows. The events of a conversion are in
 * the next dataset.
 */
function checkSingleAggregate(
  world: World,
  { owner, function: name }: AggregateNode,
  isFanned: boolean,
) {
  if (name === 'followed' || name === 'follow_rate') {
    const index = world.datasets.findIndex((dataset) => dataset.name === owner);
    denied(world, world.datasets[index + 1]?.name ?? owner);
  }
  const isSingle = ['closing', 'followed', 'follow_rate'].includes(name);
  if (isSingle && isFanned) throw new Refusal('not_supported', 'to many');
}

function checkRunning(
  world: World,
  question: Question,
  { owner, function: name }: AggregateNode,
): void {
  const index = finestTime(world, question, owner);
  const { since, fiscal } = datasetNamed(world, owner);
  if (name === 'to_date' && !liesIn(grainAt(question, index), since, fiscal))
    throw new Refusal('no_period', 'no total to date');
  denied(world, owner);
}

function checkConditions(
  world: World,
  question: Question,
  { owner, runs }: { owner: string; runs: boolean },
): void {
  const isScoped = (on: string | undefined): boolean => on === undefined || on === owner;
  const own = question.where.filter(({ on }) => isScoped(on));
  const build = (test: Test): Resolved<Test> => {
    const path =
      test.op === 'period'
        ? checkPath(world, owner, {
            of: { ...test, field: test.field ?? 't', grain: test.grain },
            reach: 'many',
          })
        : resolvePath(world, owner, test);
    touch(world, owner, path);
    touchField(world, question, {
      owner,
      path,
      field: test.op === 'n>' ? 'n' : test.op === 'w>' ? 'w' : 'g',
    });
    return { of: test, path };
  };
  for (const { tests } of runs ? own : []) {
    const kinds = new Set(tests.map((test) => isOfTime(world, owner, build(test))));
    if (kinds.size > 1) throw new Refusal('mixed_condition', 'time beside others');
  }
  for (const { tests } of own) for (const test of tests) build(test);
  for (const tests of conditionsOn(world, question, owner).slice(own.length))
    for (const { path } of tests) touch(world, owner, path);
}

function checkLeaf(
  world: World,
  question: Question,
  { owner, function: name }: AggregateNode,
): void {
  const { far, asked } = datasetNamed(world, owner);
  if (name === 'above') touchField(world, question, { owner, path: [], field: 'w' });
  if (name === 'far') touch(world, owner, resolvePath(world, owner, testOf(owner, far)));
  if (name === 'asked' && asked !== undefined)
    touch(world, owner, resolvePath(world, owner, { start: asked.of, roles: [] }));
}

/** Throws if the reader may see no row of the dataset. */
function denied(world: World, name: string): void {
  if (datasetNamed(world, name).rules?.length === 0)
    throw new Refusal('no_access', `nobody sees ${name}`);
}

function touch(world: World, owner: string, path: Path): void {
  for (const { kind, to, from } of path) {
    const via = datasetNamed(world, from).links.find(
      (link) => link.via !== undefined && link.to === to,
    )?.via;
    const back = datasetNamed(world, to).links.find(
      (link) => link.via !== undefined && link.to === from,
    )?.via;
    if (kind === 'bridge') denied(world, via ?? back ?? owner);
    denied(world, to);
  }
}

/**
 * A row metric reads the rows of another dataset, and a field with a parameter needs its value.
 */
function touchField(
  world: World,
  question: Question,
  at: { owner: string; path: Path; field: Dimension['field'] },
): void {
  const home = at.path.at(-1)?.to ?? at.owner;
  const { measure } = datasetNamed(world, home);
  if (at.field === 'w' && leastOf(world, question, home) === undefined)
    throw new Refusal('missing_parameter', 'no value');
  if (at.field !== 'n' || measure === undefined) return;
  denied(world, home);
  denied(world, measure.of);
}

function checkScopes({ segments, where }: Question, owners: readonly string[]): void {
  if (segments.some((name) => !owners.includes(name)))
    throw new Refusal('unused_segment', 'a segment of no metric');
  if (where.some(({ on }) => on !== undefined && !owners.includes(on)))
    throw new Refusal('unused_scope', 'a scope of no metric');
}

/** A fiscal period must be the same for all owners. */
function checkFiscal(world: World, { dimensions }: Question, owners: readonly string[]): void {
  for (const of of dimensions.filter(({ grain }) => isFiscal(grain))) {
    const starts = owners.map(
      (owner) => datasetNamed(world, resolvePath(world, owner, of).at(-1)?.to ?? owner).fiscal,
    );
    if (new Set(starts).size > 1) throw new Refusal('fiscal_year', 'several calendars');
  }
}
