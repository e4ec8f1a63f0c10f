import type { Abilities } from './draw-question.ts';
import { datasetNamed, isToOne, type Path, placeOf } from './paths.ts';
import { aggregatesOf, fieldOf, type Question } from './question.ts';
import { isFiscal } from './times.ts';
import type { Dataset, Link, World } from './world.ts';

/** An answered question, and what it went through. */
interface Use {
  readonly world: World;
  readonly question: Question;
  readonly text: string;
  readonly owners: readonly Dataset[];
  /** Of the dimensions, of the conditions, of both. */
  readonly grouped: readonly Path[];
  readonly asked: readonly Path[];
  readonly paths: readonly Path[];
  /** Datasets whose rows matter. */
  readonly touched: readonly Dataset[];
  /** The field and grain of each dimension, by the owner that is asked first. */
  readonly times: readonly { readonly field: string; readonly grain: string | undefined }[];
}

const computes = (name: string) => (use: Use) => use.text.includes(`"function":"${name}"`);
const named = (name: string) => (use: Use) => use.text.includes(`"name":"${name}"`);
const takes = (take: Dataset['take']) => (use: Use) =>
  aggregatesOf(use.question).some(
    (one) => one.function === 'closing' && datasetNamed(use.world, one.owner).take === take,
  );
const linked = (is: (link: Link) => boolean) => (use: Use) =>
  use.paths.some((path) =>
    path.some(({ from, name }) =>
      datasetNamed(use.world, from).links.some((link) => link.role === name && is(link)),
    ),
  );
const runs =
  (...names: readonly string[]) =>
  (use: Use) =>
    aggregatesOf(use.question).some((one) => names.includes(one.function));
const runsBy = (clock: Dataset['clock']) => (use: Use) =>
  runs('running', 'trailing', 'to_date', 'earlier', 'followed', 'closing')(use) &&
  use.owners.some((one) => one.clock === clock);
const zoned = ({ question: { zone } }: Use) => zone !== undefined && zone !== 'UTC';
const cut = (use: Use, field: string) =>
  use.times.some((one) => one.field === field && one.grain !== undefined);

/**
 * What the stream has to hold, by what draws it in `draw-world.ts` (the first) and
 * `draw-question.ts`.
 */
const drawn: Readonly<Record<string, Readonly<Record<string, (use: Use) => boolean>>>> = {
  'worldArbitrary: datasets, links, rows': {
    'self-join': ({ paths }) => paths.some((path) => path.some(({ from, to }) => from === to)),
    bridge: ({ paths }) => paths.some((path) => path.some(({ kind }) => kind === 'bridge')),
    'one to one': ({ paths }) => paths.some((path) => path.some(({ kind }) => kind === 'same')),
    'constant in a relationship': linked(({ only }) => only !== undefined),
    'range of numbers': linked((link) => link.within?.field === 'v'),
    'validity window': linked((link) => link.within?.field === 't'),
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
    'join in a metric': computes('far'),
    'semi-join in a metric': computes('asked'),
    average: computes('avg'),
    median: computes('median'),
    'distinct count': computes('count_distinct'),
    ratio: named('ratio'),
    share: named('share'),
    total: computes('overall'),
    'total by a dimension': computes('over_g'),
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
    'balance, first': takes('first'),
    'balance, last': takes('last'),
    'balance, min': takes('min'),
    'balance, max': takes('max'),
    'balance, avg': takes('avg'),
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
      ['rank', 'previous', 'running', 'average', 'to_average'].map((compute) => [
        `${compute} over rows`,
        ({ question: { stage } }: Use) =>
          stage?.overRows.some((one) => one.compute === compute) === true,
      ]),
    ),
    top: ({ question: { stage } }) => stage?.top !== undefined,
    'top of each': ({ question: { stage } }) => (stage?.top?.per.length ?? 0) > 0,
    others: ({ question: { stage } }) => stage?.top?.others === true,
    'others of a distinct count': (use) =>
      use.question.stage?.top?.others === true && computes('count_distinct')(use),
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

const beyond: Readonly<Record<keyof Abilities, readonly string[]>> = {
  zones: ['zone', 'zone of what runs or is moved'],
  medians: ['median'],
  recursion: [],
};

/** How many answered questions used each; those that the engine cannot have are left out. */
export function openCoverage(has: Abilities) {
  const missing = Object.entries(has).flatMap(([ability, isThere]) =>
    isThere ? [] : beyond[ability as keyof Abilities],
  );
  const counts = new Map(
    [...features.keys()].filter((name) => !missing.includes(name)).map((name) => [name, 0]),
  );
  return {
    counts,
    add(world: World, question: Question, owners: readonly string[]): void {
      const use = useOf(world, question, owners);
      for (const [name, count] of counts)
        counts.set(name, count + (features.get(name)?.(use) === true ? 1 : 0));
    },
  };
}

function useOf(world: World, question: Question, names: readonly string[]): Use {
  const [owner = ''] = names;
  const grouped = question.dimensions.map((of) => placeOf(world, owner, of));
  const asked = question.where
    .filter(({ on }) => on === undefined || on === owner)
    .flatMap(({ tests }) => tests.map((of) => placeOf(world, owner, of)));
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
