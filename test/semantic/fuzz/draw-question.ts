import * as fc from 'fast-check';
import { datasetNamed } from './paths.ts';
import {
  type Aggregate,
  type Condition,
  type Derived,
  type Dimension,
  functions,
  type Metric,
  nameOfDimension,
  partsOf,
  type Question,
  type StageQuestion,
  type Test,
} from './question.ts';
import { type ReachablePath, findReachable } from './reach.ts';
import { type Grain, grains, isFiscal, liesIn, type Span } from './times.ts';
import type { TimeField, World } from './world.ts';

const rarely = (weight: number) => fc.nat({ max: weight }).map((value) => value === 0);
const maybe = <Value>(value: fc.Arbitrary<Value>, weight: number) =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

/** Metrics, mostly of one dataset: several datasets have few dimensions in common. */
function metricsIn(world: World): fc.Arbitrary<readonly Metric[]> {
  const dataset = fc.constantFrom(...world.datasets.map(({ name }) => name));
  return dataset.chain((home) => {
    const owner = fc.oneof(
      { weight: 7, arbitrary: fc.constant(home) },
      { weight: 1, arbitrary: dataset },
    );
    const name = fc.constantFrom<Aggregate['function']>(
      ...functions,
      'sum',
      'followed',
      'followed',
      'closing',
      'closing',
      'trailing',
      'to_date',
      'earlier',
    );
    const aggregate = fc.record({ owner, function: name });
    const derived = fc.record({
      op: fc.constantFrom('-' as const, '/' as const),
      left: aggregate,
      right: aggregate,
    });
    const named = fc
      .tuple(owner, fc.constantFrom('share' as const, 'ratio' as const, 'growth' as const))
      .map(([of, one]): Derived => {
        const [op, right] = (
          { share: ['/', 'overall'], ratio: ['/', 'count_rows'], growth: ['-', 'earlier'] } as const
        )[one];
        return {
          op,
          name: one,
          left: { owner: of, function: 'sum' },
          right: { owner: of, function: right },
        };
      });
    const adHoc = owner.map((of) => ({ owner: of, function: 'most_of_g' as const }));
    const one = fc.oneof(
      { weight: 10, arbitrary: aggregate },
      { weight: 4, arbitrary: derived },
      { weight: 2, arbitrary: named },
      { weight: 1, arbitrary: adHoc },
    );
    return fc.uniqueArray<Metric, string>(one, {
      minLength: 1,
      maxLength: 3,
      selector: (metric) => JSON.stringify(metric),
    });
  });
}

/** What a question with these metrics must have, and must not have, to be answered. */
interface Needs {
  readonly world: World;
  readonly owners: readonly string[];
  /** True for a question that may also be refused. */
  readonly isFree: boolean;
  readonly hasNoMany: boolean;
  /** Periods that a total to date can be shown in. */
  readonly fits: (grain: Grain) => boolean;
  readonly runs: boolean;
  readonly moves: boolean;
  readonly byGroup: readonly string[];
  /** Datasets in whose rows a metric looks for a partner; grouping by them is a case of its own. */
  readonly below: readonly string[];
}

function needsOf(world: World, metrics: readonly Metric[], isFree: boolean): Needs {
  const leaves = metrics.flatMap(partsOf);
  const owners = [...new Set(leaves.map(({ owner }) => owner))];
  const ownersOf = (...names: readonly string[]) =>
    leaves.filter((leaf) => names.includes(leaf.function)).map(({ owner }) => owner);
  const dated = ownersOf('to_date').map((owner) => datasetNamed(world, owner));
  return {
    world,
    owners,
    isFree,
    hasNoMany: ownersOf('closing', 'followed', 'follow_rate').length > 0,
    fits: (grain) => dated.every(({ since, fiscal }) => liesIn(grain, since, fiscal)),
    runs: ownersOf('running', 'trailing', 'to_date').length > 0,
    moves: ownersOf('earlier', 'closing').length > 0,
    byGroup: [...new Set(ownersOf('over_g'))],
    below: ownersOf('asked').flatMap((owner) => datasetNamed(world, owner).asked?.of ?? []),
  };
}

/** Fiscal grains only if every dataset has the same fiscal years. */
function grainsOf({ world, isFree }: Needs, ends: readonly string[]): readonly Grain[] {
  const years = new Set(ends.map((end) => datasetNamed(world, end).fiscal));
  const isKnown = isFree || (years.size === 1 && !years.has(undefined));
  return grains.filter((grain) => isKnown || !isFiscal(grain));
}

function pathsFor(
  { world, owners, isFree, hasNoMany }: Needs,
  weightOfMany: number,
): fc.Arbitrary<ReachablePath> {
  const { one, many, all } = findReachable(world, owners);
  const free = { weight: isFree ? 10 : 0, arbitrary: fc.constantFrom(...all) };
  const [first] = one;
  if (first === undefined) return free.arbitrary;
  const some =
    many.length === 0 || hasNoMany
      ? []
      : [{ weight: weightOfMany, arbitrary: fc.constantFrom(...many) }];
  // Long paths mostly lead to no row.
  const near = one.filter(({ place, end }) => place.roles.length === 0 || owners.includes(end));
  const closer = near.length === 0 ? [] : [{ weight: 6, arbitrary: fc.constantFrom(...near) }];
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...one) }, ...closer, ...some, free);
}

const timeField = fc.constantFrom<TimeField>('t', 't', 'm', 'z', 'z');
const plain = (field: 'g' | 'n' | 'w' | 't') => fc.constant({ field, grain: undefined });

function dimensionIn(needs: Needs): fc.Arbitrary<Dimension> {
  const { world } = needs;
  const own = pathsFor(needs, 2).chain(({ place, end }) => {
    const periods = fc.record({
      field: timeField,
      grain: fc.constantFrom(
        ...grainsOf(needs, [end]),
        'month' as const,
        'day' as const,
        'week' as const,
      ),
    });
    const rows =
      datasetNamed(world, end).measure === undefined ? [] : [{ weight: 3, arbitrary: plain('n') }];
    const raw = needs.runs ? [] : [{ weight: 1, arbitrary: plain('t') }];
    return fc
      .oneof<fc.WeightedArbitrary<Pick<Dimension, 'field' | 'grain'>>[]>(
        { weight: 6, arbitrary: plain('g') },
        { weight: 6, arbitrary: periods },
        { weight: 1, arbitrary: plain('w') },
        ...raw,
        ...rows,
      )
      .map((what): Dimension => ({ ...place, ...what }));
  });
  return fc.oneof(
    { weight: 6, arbitrary: own },
    { weight: needs.owners.length === 0 ? 0 : 1, arbitrary: conformed(needs) },
    ...sharedDimension(needs),
  );
}

/** One dimension with a path of its own for each owner, and for a dataset that has no metric. */
function sharedDimension({ world, owners, isFree, runs }: Needs) {
  const named = isFree ? owners.slice(1) : owners;
  const all = [...named, ...world.datasets.map(({ name }) => name)];
  const starts = [...new Set(all)].slice(0, Math.max(2, named.length));
  const paths = starts.map((owner) =>
    findReachable(world, [owner]).one.filter(({ place }) => place.start === owner),
  );
  if (named.length === 0 || runs || paths.some((found) => found.length === 0)) return [];
  const arbitrary = fc
    .tuple(
      fc.tuple(...paths.map((found) => fc.constantFrom(...found))),
      fc.constantFrom(
        { field: 'g' as const, grain: undefined },
        { field: 't' as const, grain: 'month' as const },
        { field: 'z' as const, grain: 'day' as const },
      ),
    )
    .map(([ends, what]): Dimension => {
      const each = new Map(ends.map(({ place }) => [place.start, place]));
      return { ...(ends[0] as ReachablePath).place, ...what, each };
    });
  return [{ weight: named.length > 1 ? 6 : 1, arbitrary }];
}

function conformed(needs: Needs): fc.Arbitrary<Dimension> {
  const all = [...grainsOf(needs, needs.owners), 'month' as const, 'day' as const];
  const fitting = needs.isFree ? all : all.filter(needs.fits);
  return fc
    .constantFrom(...fitting)
    .map((grain): Dimension => ({ start: 'metric_time', roles: [], field: 't', grain }));
}

/** The dimensions that an answer needs, and others. */
function dimensionsIn(needs: Needs): fc.Arbitrary<readonly Dimension[]> {
  const { isFree, runs, moves, byGroup, below, hasNoMany } = needs;
  const [many] = hasNoMany ? [] : below;
  const groups = isFree
    ? []
    : byGroup.map((start): Dimension => ({ start, roles: [], field: 'g', grain: undefined }));
  const time = conformed(needs).map((one) => [one, ...groups]);
  const often = moves
    ? fc.oneof({ weight: 2, arbitrary: time }, { weight: 1, arbitrary: fc.constant(groups) })
    : fc.constant(groups);
  const needed = isFree ? fc.constant(groups) : runs ? time : often;
  const some = fc.array(dimensionIn(needs), { minLength: 1, maxLength: 3 });
  const others =
    needs.owners.length === 0
      ? some
      : fc.oneof({ weight: 7, arbitrary: some }, { weight: 1, arbitrary: fc.constant([]) });
  const asked = fc.constantFrom<readonly Dimension[]>(
    [],
    many === undefined ? [] : [{ start: many, roles: [], field: 'g', grain: undefined }],
  );
  return fc.tuple(needed, asked, others, fc.boolean()).map(([first, second, more, isTurned]) => {
    // Beside the time of a running total, another time of the dataset is refused.
    const kept =
      runs && !isFree
        ? more.filter((one) => one.grain === undefined || !needs.owners.includes(one.start))
        : more;
    const all = [...first, ...second, ...kept].slice(0, 3);
    return [
      ...new Map(
        (isTurned ? all.toReversed() : all).map((one) => [nameOfDimension(one), one]),
      ).values(),
    ];
  });
}

function testIn(needs: Needs): fc.Arbitrary<Test> {
  return fc.oneof(
    { weight: 7, arbitrary: resolvedTestIn(needs) },
    { weight: needs.runs || needs.moves ? 4 : 1, arbitrary: conformedTest },
  );
}

const since = fc.constantFrom('2024-01-01', '2024-01-15', '2024-02-01', '2024-03-01');
const period = fc.constantFrom(
  { op: 'period' as const, value: '2024-01-01', grain: 'month' as const },
  { op: 'period' as const, value: '2024-02-01', grain: 'month' as const },
  { op: 'period' as const, value: '2024-01-01', grain: 'quarter' as const },
  { op: 'period' as const, value: '2024-01-01', grain: 'year' as const },
);

/** For running totals and earlier periods, it chooses the periods to show. */
const conformedTest = fc.oneof(
  since.map((value): Test => ({ start: 'metric_time', roles: [], op: 'time>=', value })),
  period.map((one): Test => ({ start: 'metric_time', roles: [], ...one })),
);

function resolvedTestIn(needs: Needs): fc.Arbitrary<Test> {
  return pathsFor({ ...needs, hasNoMany: false }, 5).chain(({ place, end }): fc.Arbitrary<Test> => {
    const named = <Given extends Omit<Test, 'start' | 'roles'>>(arbitrary: fc.Arbitrary<Given>) =>
      arbitrary.map((one): Test => ({ ...place, ...one }));
    const number = (op: '>' | 'n>' | 'w>') =>
      named(fc.constantFrom(-4, -3, -2, -1, 0, 1, 3).map((value) => ({ op, value })));
    return fc.oneof(
      {
        weight: 3,
        arbitrary: named(
          fc.record({
            op: fc.constantFrom('=' as const, '<>' as const, '<>' as const, '<>' as const),
            value: fc.constantFrom('a', 'b'),
          }),
        ),
      },
      { weight: 3, arbitrary: number('>') },
      { weight: 1, arbitrary: fc.constant({ ...place, op: 'null' as const, value: 0 }) },
      {
        weight: 2,
        arbitrary: named(
          fc.record({ op: fc.constant('time>=' as const), value: since, field: timeField }),
        ),
      },
      {
        weight: 1,
        arbitrary: named(fc.tuple(period, timeField).map(([one, field]) => ({ ...one, field }))),
      },
      { weight: 1, arbitrary: number('w>') },
      ...(datasetNamed(needs.world, end).measure === undefined
        ? []
        : [{ weight: 2, arbitrary: number('n>') }]),
    );
  });
}

function conditionIn(needs: Needs): fc.Arbitrary<Condition> {
  const { world, owners, isFree } = needs;
  const scopes = isFree || owners.length === 0 ? world.datasets.map(({ name }) => name) : owners;
  const scope =
    isFree || owners.length > 1
      ? maybe(fc.constantFrom(...scopes), isFree ? 4 : 2)
      : fc.constant(undefined);
  return scope.chain((on) => {
    const about = on === undefined || isFree ? needs : { ...needs, owners: [on] };
    const tests = fc.oneof(
      { weight: 2, arbitrary: testIn(about).map((test) => [test]) },
      { weight: 1, arbitrary: fc.array(testIn(about), { minLength: 2, maxLength: 2 }) },
    );
    return fc.record({ on: fc.constant(on), tests, isStructured: rarely(3) });
  });
}

const place = fc.nat({ max: 11 });
const direction = fc.constantFrom('desc' as const, 'desc' as const, 'asc' as const);

/** Places count round: the metrics and dimensions are not known yet. */
const drawnStage = fc.record({
  share: maybe(place, 1),
  compareTo: maybe(
    fc.constantFrom<Span>(
      { count: 1, unit: 'month' },
      { count: 1, unit: 'year' },
      { count: 1, unit: 'week' },
      { count: 2, unit: 'day' },
    ),
    1,
  ),
  overRows: fc.array(
    fc.record({
      compute: fc.constantFrom(
        'rank' as const,
        'previous' as const,
        'next' as const,
        'running' as const,
        'average' as const,
        'to_average' as const,
      ),
      of: place,
      dir: direction,
      per: maybe(place, 1),
    }),
    { maxLength: 2 },
  ),
  top: maybe(
    fc.record({
      count: fc.constantFrom(1, 2, 3),
      by: place,
      dir: direction,
      per: maybe(place, 1),
      others: fc.boolean(),
    }),
    1,
  ),
  rollup: rarely(2),
  qualify: maybe(
    fc.record({
      of: place,
      op: fc.constantFrom('<' as const, '>' as const),
      // No value of the rows is so near that an engine may round to the other side.
      bound: fc.constantFrom(-1.137, 0.137, 1.137, 3.137),
    }),
    1,
  ),
});

/** What can be computed at any grain and of any rows. */
const plainFunctions: readonly string[] = [
  'sum',
  'count',
  'count_rows',
  'avg',
  'min',
  'max',
  'median',
  'count_distinct',
  'rows_in_a',
  'far',
  'above',
];

/** Equal values are equal on every engine. */
function isExact(metric: Metric): boolean {
  if ('left' in metric && metric.op === '/') return false;
  return partsOf(metric).every((one) => one.function !== 'avg' && one.function !== 'median');
}

type DrawnStage = typeof drawnStage extends fc.Arbitrary<infer Value> ? Value : never;

/** `columns` counts the metrics and what is computed over rows. */
function completedBound(bound: DrawnStage['qualify'], columns: number): StageQuestion['qualify'] {
  return bound && { ...bound, of: bound.of % columns };
}

interface Places {
  readonly exactAt: (at: number) => number | undefined;
  readonly perAt: (at: number | undefined) => readonly number[] | undefined;
}

function completedTop(top: DrawnStage['top'], { exactAt, perAt }: Places): StageQuestion['top'] {
  const by = top && exactAt(top.by);
  if (top === undefined || by === undefined) return undefined;
  return { ...top, by, per: perAt(top.per) ?? [] };
}

function completedStage(
  { metrics, dimensions }: Pick<Question, 'metrics' | 'dimensions'>,
  { share, compareTo, overRows, top, rollup, qualify }: DrawnStage,
): StageQuestion | undefined {
  const isPlain = metrics.flatMap(partsOf).every((one) => plainFunctions.includes(one.function));
  if (!isPlain || metrics.length === 0) return undefined;
  const count = dimensions.length;
  const exact = [...metrics.keys()].filter((index) => {
    const metric = metrics[index];
    return metric !== undefined && isExact(metric);
  });
  const exactAt = (at: number) => exact[at % Math.max(exact.length, 1)];
  const perAt = (at: number | undefined) =>
    at === undefined || count < 2 ? undefined : [at % count];
  const hasTime = dimensions.some((one) => one.start === 'metric_time');
  const isBare = dimensions.some(
    ({ field, grain }) => grain === undefined && ['t', 'm', 'z'].includes(field),
  );
  const windows = overRows.flatMap(({ of, per, ...rest }) => {
    const metric = rest.compute === 'rank' ? exactAt(of) : of % metrics.length;
    return metric === undefined ? [] : [{ ...rest, of: metric, per: perAt(per) }];
  });
  const hasCoarser = (rollup && count > 0) || top?.others === true;
  return {
    shareOf:
      share === undefined ? undefined : count === 0 || share % 2 === 0 ? [] : [share % count],
    compareTo: hasTime && !isBare ? compareTo : undefined,
    overRows: windows,
    top: count === 0 ? undefined : completedTop(top, { exactAt, perAt }),
    rollup: rollup && count > 0,
    qualify: hasCoarser ? undefined : completedBound(qualify, metrics.length + windows.length),
  };
}

const options = fc.record({
  having: maybe(fc.integer({ min: -6, max: 2 }), 6),
  ordered: fc.array(
    fc.record({ at: fc.nat({ max: 6 }), dir: fc.constantFrom('asc' as const, 'desc' as const) }),
    { maxLength: 2 },
  ),
  limit: maybe(fc.constantFrom(1, 2, 3, 4, 4), 9),
  zone: fc.constantFrom(
    undefined,
    'UTC' as const,
    'Europe/Paris' as const,
    'America/New_York' as const,
  ),
  weekStart: fc.constantFrom('monday' as const, 'sunday' as const),
  includeEmpty: rarely(4),
  fillTime: rarely(2),
  stage: maybe(drawnStage, 1),
});

function parametersIn(
  world: World,
  isFree: boolean,
): fc.Arbitrary<Readonly<Record<string, number>>> {
  const isOne = new Set(world.datasets.map(({ least }) => least)).size === 1;
  const value = fc.integer({ min: -2, max: 4 });
  const one = fc
    .tuple(fc.constantFrom(...world.datasets.map(({ name }) => name)), value)
    .map(([name, least]) => ({ [`${name}.least`]: least }));
  const all = value.map((least) => ({ least }));
  // If datasets have different defaults, each is named; without a default, a value is given.
  const every = value.map((least) =>
    Object.fromEntries(world.datasets.map(({ name }) => [`${name}.least`, least])),
  );
  const none = fc.constant({});
  const needed = world.datasets.some(({ least }) => least === undefined) && !isFree;
  if (needed) return isOne ? fc.oneof(all, all, every) : every;
  return isOne || isFree ? fc.oneof(none, all, one) : fc.oneof(none, one, every);
}

export function questionArbitrary(world: World): fc.Arbitrary<Question> {
  const metrics = fc.oneof(
    { weight: 14, arbitrary: metricsIn(world) },
    { weight: 1, arbitrary: fc.constant<readonly Metric[]>([]) },
  );
  return fc.tuple(metrics, rarely(9)).chain(([asked, isFree]) => {
    const metricNeeds = needsOf(world, asked, isFree);
    // A question without metrics is about one dataset, too.
    const home = fc
      .constantFrom(...world.datasets.map(({ name }) => name))
      .map((name) => ({ ...metricNeeds, owners: [name] }));
    const needs = asked.length === 0 && !isFree ? home : fc.constant(metricNeeds);
    return needs.chain((known) => {
      const segments = fc.constantFrom(
        ...(known.owners.length === 0 || isFree
          ? world.datasets.map(({ name }) => name)
          : known.owners),
      );
      const extra = fc
        .constantFrom(...(known.owners.length === 0 ? [''] : known.owners))
        .chain((owner) =>
          fc
            .constantFrom<Aggregate['function']>('sum', 'rows_in_a', 'far')
            .map((name): Aggregate => ({ owner, function: name })),
        );
      return fc
        .record({
          metrics: fc.constant(asked),
          extra: asked.length === 0 ? fc.constant(undefined) : maybe(extra, 6),
          dimensions: asked.length === 0 && !isFree ? listed(known) : dimensionsIn(known),
          where: fc.oneof(
            fc.constant([]),
            conditionIn(known).map((one) => [one]),
            fc.array(conditionIn(known), { minLength: 1, maxLength: 2 }),
          ),
          segments: fc.oneof(
            { weight: 4, arbitrary: fc.constant([]) },
            { weight: 1, arbitrary: segments.map((name) => [name]) },
          ),
          parameters: parametersIn(world, isFree),
          options,
        })
        .map((drawn) => completeQuestion(drawn, isFree));
    });
  });
}

/** Dimensions without metrics. The first is a field of the owner, whose rows are then listed. */
function listed(needs: Needs): fc.Arbitrary<readonly Dimension[]> {
  const [owner = ''] = needs.owners;
  const own: Dimension = { start: owner, roles: [], field: 'g', grain: undefined };
  const others = fc.array(dimensionIn({ ...needs, hasNoMany: true }), { maxLength: 2 });
  return others.map((more) => [
    ...new Map(
      [own, ...more]
        .filter(({ start }) => start === owner)
        .map((one) => [nameOfDimension(one), one]),
    ).values(),
  ]);
}

type Drawn = Pick<
  Question,
  'metrics' | 'extra' | 'dimensions' | 'where' | 'segments' | 'parameters'
> & {
  readonly options: typeof options extends fc.Arbitrary<infer Value> ? Value : never;
};

function completeQuestion({ options: given, ...rest }: Drawn, isFree: boolean): Question {
  const { ordered, having, includeEmpty, fillTime, stage, ...others } = given;
  const hasMetrics = rest.metrics.length > 0;
  const width = rest.metrics.length + rest.dimensions.length;
  const isJudged = having !== undefined && hasMetrics;
  const places = width + (rest.extra === undefined ? 0 : 1);
  const order = new Map(places === 0 ? [] : ordered.map(({ at, dir }) => [at % places, dir]));
  const timed = rest.dimensions.filter(({ grain }) => grain !== undefined);
  const isHourly = timed.some(({ grain }) => grain === 'hour');
  // Periods of two times would not be clear.
  const isFilled = fillTime && !isHourly && (isFree || timed.length === 1);
  const question: Question = {
    ...rest,
    ...others,
    having: isJudged ? having : undefined,
    includeEmpty: includeEmpty && (isFree || hasMetrics),
    fillTime: isFilled,
    order: [...order].map(([column, dir]) => ({ column, dir })),
    stage: stage === undefined || isFree ? undefined : completedStage(rest, stage),
  };
  const isUsed = isJudged || order.has(width);
  return isUsed || rest.extra === undefined ? question : { ...question, extra: undefined };
}

/** What an engine has; `recursion` is how periods are filled without a second's work for each. */
export interface Abilities {
  readonly zones: boolean;
  /** Queries inside queries that refer to the rows around them. */
  readonly correlation: boolean;
  readonly recursion: boolean;
}

/** Without what the engine does not have. */
export function withoutUnsupported(question: Question, has: Abilities): Question {
  const { metrics, dimensions, fillTime } = question;
  const isSimple =
    dimensions.length === 1 &&
    dimensions[0]?.grain !== 'day' &&
    !/running|trailing|to_date/.test(JSON.stringify(metrics));
  return {
    ...question,
    zone: has.zones ? question.zone : undefined,
    fillTime: fillTime && (has.recursion || isSimple),
  };
}
