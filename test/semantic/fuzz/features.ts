import type { Abilities } from './draw-question.ts';
import { datasetNamed, isToOne, type Path, resolvePath } from './paths.ts';
import { aggregatesOf, fieldOf, type Question } from './question.ts';
import { isFiscal } from './times.ts';
import type { Dataset, Link, World } from './world.ts';

/** An answered question, and what it went through. */
interface AnsweredQuestion {
  readonly world: World;
  readonly question: Question;
  readonly text: string;
  readonly owners: readonly Dataset[];
  /** Of the dimensions, of the conditions, of both. */
  readonly grouped: readonly Path[];
  readonly asked: readonly Path[];
  readonly paths: readonly Path[];
  /** Datasets whose rows the answer depends on. */
  readonly touched: readonly Dataset[];
  /** The field and grain of each dimension, as the first owner reads it. */
  readonly times: readonly { readonly field: string; readonly grain: string | undefined }[];
}

const usesAggregate = (name: string) => (use: AnsweredQuestion) =>
  use.text.includes(`"function":"${name}"`);
const named = (name: string) => (use: AnsweredQuestion) => use.text.includes(`"name":"${name}"`);
const usesBalance = (take: Dataset['take']) => (use: AnsweredQuestion) =>
  aggregatesOf(use.question).some(
    (one) => one.function === 'closing' && datasetNamed(use.world, one.owner).take === take,
  );
const usesLink = (is: (link: Link) => boolean) => (use: AnsweredQuestion) =>
  use.paths.some((path) =>
    path.some(({ from, name }) =>
      datasetNamed(use.world, from).links.some((link) => link.role === name && is(link)),
    ),
  );
const runs =
  (...names: readonly string[]) =>
  (use: AnsweredQuestion) =>
    aggregatesOf(use.question).some((one) => names.includes(one.function));
const runsBy = (clock: Dataset['clock']) => (use: AnsweredQuestion) =>
  runs('running', 'trailing', 'to_date', 'earlier', 'followed', 'closing')(use) &&
  use.owners.some((one) => one.clock === clock);
const zoned = ({ question: { zone } }: AnsweredQuestion) => zone !== undefined && zone !== 'UTC';
const cut = (use: AnsweredQuestion, field: string) =>
  use.times.some((one) => one.field === field && one.grain !== undefined);

/**
 * The features that answered questions must use, by the function that draws them: in
 * `draw-world.ts` for the first group, in `draw-question.ts` for the others.
 */
const drawn: Readonly<
  Record<string, Readonly<Record<string, (use: AnsweredQuestion) => boolean>>>
> = {
  'worldArbitrary: datasets, links, rows': {
    'self-join': ({ paths }) => paths.some((path) => path.some(({ from, to }) => from === to)),
    bridge: ({ paths }) => paths.some((path) => path.some(({ kind }) => kind === 'bridge')),
    'one to one': ({ paths }) => paths.some((path) => path.some(({ kind }) => kind === 'same')),
    'constant in a relationship': usesLink(({ only }) => only !== undefined),
    'range of numbers': usesLink((link) => link.within?.field === 'v'),
    'validity window': usesLink((link) => link.within?.field === 't'),
    'row rule': ({ touched }) => touched.some(({ rules }) => rules !== undefined),
    'row rule over a join': ({ touched }) =>
      touched.some(({ rules }) => rules?.some(({ role }) => role !== undefined) === true),
    'default time of type datetime': runsBy('m'),
    'default time of type datetime_tz': runsBy('z'),
    'to date of a fiscal period': (use) =>
      aggregatesOf(use.question).some(
        (one) => one.function === 'to_date' && isFiscal(datasetNamed(use.world, one.owner).since),
      ),
  },
  metricsIn: {
    'several facts': ({ owners }) => owners.length > 1,
    'join in a metric': usesAggregate('far'),
    'semi-join in a metric': usesAggregate('asked'),
    average: usesAggregate('avg'),
    median: usesAggregate('median'),
    'distinct count': usesAggregate('count_distinct'),
    ratio: named('ratio'),
    share: named('share'),
    total: usesAggregate('overall'),
    'total by a dimension': usesAggregate('over_g'),
    growth: named('growth'),
    offset: runs('earlier'),
    'running total': runs('running'),
    'trailing window': runs('trailing'),
    'to date': runs('to_date'),
    conversion: runs('followed'),
    'conversion rate': runs('follow_rate'),
    nested: runs('each'),
    'nested by a role': runs('each_far'),
    'nested in the query': runs('most_of_g'),
    'balance, first': usesBalance('first'),
    'balance, last': usesBalance('last'),
    'balance, min': usesBalance('min'),
    'balance, max': usesBalance('max'),
    'balance, avg': usesBalance('avg'),
  },
  dimensionsIn: {
    role: ({ question }) => question.dimensions.some(({ roles }) => roles.length > 0),
    'role of a role': ({ question }) =>
      [...question.dimensions, ...question.where.flatMap(({ tests }) => tests)].some(
        ({ roles }) => roles.length > 1,
      ),
    'dimension to many': ({ grouped }) => grouped.some((path) => !path.every(isToOne)),
    'metric of a row': ({ question, text }) =>
      question.dimensions.some(({ field }) => field === 'n') || text.includes('"op":"n>"'),
    'a dimension for each fact': ({ question }) =>
      question.dimensions.some(({ each }) => each !== undefined),
    'conformed time': ({ question }) =>
      question.dimensions.some(({ start }) => start === 'metric_time'),
    datetime: (use) => cut(use, 'm'),
    datetime_tz: (use) => cut(use, 'z'),
    'fiscal period': ({ times }) => times.some(({ grain }) => isFiscal(grain as 'fiscal_year')),
  },
  conditionIn: {
    'semi-join in a condition': ({ asked }) => asked.some((path) => !path.every(isToOne)),
    'OR in a condition': ({ question }) => question.where.some(({ tests }) => tests.length > 1),
    'condition of one fact': ({ question }) => question.where.some(({ on }) => on !== undefined),
    'structured condition': ({ question }) =>
      question.where.some(
        ({ isStructured, on, tests }) => isStructured && on === undefined && tests.length === 1,
      ),
    'condition on a period': ({ text }) => text.includes('"op":"period"'),
    'condition on the conformed time': ({ question }) =>
      question.where.some(({ tests }) => tests.some(({ start }) => start === 'metric_time')),
  },
  questionArbitrary: {
    'no metrics': ({ question }) => question.metrics.length === 0,
    segment: ({ question }) => question.segments.length > 0,
    'having of what is not shown': ({ question }) =>
      question.having !== undefined && question.extra !== undefined,
  },
  drawnStage: {
    'share of the total': ({ question: { stage } }) => stage?.shareOf?.length === 0,
    'share of a group': ({ question: { stage } }) => (stage?.shareOf?.length ?? 0) > 0,
    comparison: ({ question: { stage } }) => stage?.compareTo !== undefined,
    'comparison in a zone': (use) => use.question.stage?.compareTo !== undefined && zoned(use),
    ...Object.fromEntries(
      ['rank', 'previous', 'next', 'running', 'average', 'to_average'].map((compute) => [
        `${compute} over rows`,
        ({ question: { stage } }: AnsweredQuestion) =>
          stage?.overRows.some((one) => one.compute === compute) === true,
      ]),
    ),
    qualify: ({ question: { stage } }) => stage?.qualify !== undefined,
    top: ({ question: { stage } }) => stage?.top !== undefined,
    'top of each': ({ question: { stage } }) => (stage?.top?.per.length ?? 0) > 0,
    others: ({ question: { stage } }) => stage?.top?.others === true,
    'others of a distinct count': (use) =>
      use.question.stage?.top?.others === true && usesAggregate('count_distinct')(use),
    rollup: ({ question: { stage } }) => stage?.rollup === true,
    'rollup of a ratio': (use) => use.question.stage?.rollup === true && named('ratio')(use),
    'share in a rollup': ({ question: { stage } }) =>
      stage?.rollup === true && stage.shareOf !== undefined,
    'stage over several facts': ({ question: { stage }, owners }) =>
      stage !== undefined && owners.length > 1,
  },
  parametersIn: {
    'parameter that is given': ({ question, text }) =>
      Object.keys(question.parameters).length > 0 && /"above"|"w>"|"field":"w"/.test(text),
    'parameter by default': ({ question, text }) =>
      Object.keys(question.parameters).length === 0 && /"above"|"w>"|"field":"w"/.test(text),
  },
  options: {
    zone: (use) => zoned(use) && cut(use, 'z'),
    'zone of what runs or is moved': (use) =>
      zoned(use) &&
      cut(use, 'z') &&
      runs('running', 'trailing', 'to_date', 'earlier')(use) &&
      use.owners.some(({ clock }) => clock === 'z'),
    'week from Sunday': ({ question, times }) =>
      question.weekStart === 'sunday' && times.some(({ grain }) => grain === 'week'),
    'time fill': ({ question }) => question.fillTime,
    'members without rows': ({ question }) => question.includeEmpty,
    having: ({ question }) => question.having !== undefined,
    'order and limit': ({ question }) => question.order.length > 0 && question.limit !== undefined,
  },
};
const features = new Map(Object.values(drawn).flatMap((some) => Object.entries(some)));

const featuresOfAbility: Readonly<Record<keyof Abilities, readonly string[]>> = {
  correlation: ['others', 'others of a distinct count'],
  zones: ['zone', 'zone of what runs or is moved', 'comparison in a zone'],
  recursion: [],
};

/** Counts the answered questions by feature. Features that the engine lacks are left out. */
export function openCoverage(has: Abilities) {
  const missing = Object.entries(has).flatMap(([ability, isThere]) =>
    isThere ? [] : featuresOfAbility[ability as keyof Abilities],
  );
  const counts = new Map(
    [...features.keys()].filter((name) => !missing.includes(name)).map((name) => [name, 0]),
  );
  return {
    counts,
    add(world: World, question: Question, owners: readonly string[]): void {
      const use = describeUse(world, question, owners);
      for (const [name, count] of counts)
        counts.set(name, count + (features.get(name)?.(use) === true ? 1 : 0));
    },
  };
}

function describeUse(world: World, question: Question, names: readonly string[]): AnsweredQuestion {
  const [owner = ''] = names;
  const grouped = question.dimensions.map((of) => resolvePath(world, owner, of));
  const asked = question.where
    .filter(({ on }) => on === undefined || on === owner)
    .flatMap(({ tests }) => tests.map((of) => resolvePath(world, owner, of)));
  const paths = [...grouped, ...asked];
  const touched = new Set([...names, ...paths.flatMap((path) => path.map(({ to }) => to))]);
  return {
    world,
    question,
    text: JSON.stringify(question),
    owners: names.map((name) => datasetNamed(world, name)),
    grouped,
    asked,
    paths,
    touched: [...touched].map((name) => datasetNamed(world, name)),
    times: question.dimensions.map((of) => ({ field: fieldOf(world, owner, of), grain: of.grain })),
  };
}
