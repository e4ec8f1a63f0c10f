import type { CaseResult, EvalRun } from '../run/run-schema.ts';
import { intervalText, summarizeCases, type RunSummary } from './summary.ts';

/** The figures of the cases that have one thing in common. */
export interface FigureGroup {
  readonly by: 'difficulty' | 'tag' | 'agent' | 'model';
  readonly name: string;
  readonly summary: RunSummary;
}

/** The difficulties of the public question sets, the easiest first; in cases they are tags. */
const difficulties = [
  'simple',
  'easy',
  'moderate',
  'medium',
  'challenging',
  'hard',
  'extra',
  'extra-hard',
];

/**
 * The figures by difficulty, by tag, by agent and by model. An agent or a model that answered all
 * cases is no group: its figures are those of the run.
 */
export function figureGroups({
  cases,
  context,
}: Pick<EvalRun, 'cases' | 'context'>): readonly FigureGroup[] {
  const models = new Map(context.agents.map(({ name, model }) => [name, model]));
  const group = (by: FigureGroup['by'], namesOf: (result: CaseResult) => readonly string[]) => {
    const members = new Map<string, CaseResult[]>();
    for (const result of cases)
      for (const name of new Set(namesOf(result))) {
        const own = members.get(name) ?? [];
        members.set(name, own);
        own.push(result);
      }
    return [...members].map(([name, own]): FigureGroup => ({
      by,
      name,
      summary: summarizeCases(own),
    }));
  };
  const byTag = group('tag', ({ tags }) => tags).map((own): FigureGroup =>
    difficulties.includes(own.name) ? { ...own, by: 'difficulty' } : own,
  );
  const ofDifficulty = byTag
    .filter(({ by }) => by === 'difficulty')
    .toSorted((a, b) => difficulties.indexOf(a.name) - difficulties.indexOf(b.name));
  const ofTag = byTag
    .filter(({ by }) => by === 'tag')
    .toSorted((a, b) => b.summary.cases - a.summary.cases || (a.name < b.name ? -1 : 1));
  const several = (groups: readonly FigureGroup[]) => (groups.length > 1 ? groups : []);
  return [
    ...ofDifficulty,
    ...ofTag,
    ...several(group('agent', ({ agent }) => (agent === undefined ? [] : [agent]))),
    ...several(group('model', ({ agent = '' }) => [models.get(agent) ?? []].flat())),
  ];
}

/** The table that every report shows: a row of titles, then one row for each group. */
export function groupRows(groups: readonly FigureGroup[]): readonly (readonly string[])[] {
  const percent = (value: number) => String(Math.round(value * 100));
  const whole = (value: number) => Math.round(value).toLocaleString('en-US');
  return [
    ['by', '', 'cases', 'pass', 'not graded', 'accuracy', 'tokens', 'cost', 'time'],
    ...groups.map(({ by, name, summary }) => {
      const { cases, counts, accuracy, tokens, cost_usd: cost, ms } = summary;
      const mean = (value: number | undefined, format: (value: number) => string) =>
        value === undefined ? '' : format(value);
      return [
        by,
        name,
        String(cases),
        String(counts.pass),
        String(counts.weak + counts.error + counts.skipped),
        accuracy === undefined ? '' : intervalText(accuracy, { after: ' %', format: percent }),
        mean(tokens?.value, whole),
        mean(cost?.value, (value) => `$${value.toFixed(4)}`),
        mean(ms?.value, (value) => `${(value / 1000).toFixed(1)} s`),
      ];
    }),
  ];
}
