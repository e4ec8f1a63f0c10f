/**
 * How often the right answer is among the first hits, for questions of three companies of more than
 * 500 tables, beside plain BM25 and without each part of the search; and how long a search takes.
 * Run it with `npm run bench:search`; `--misses` lists what was not found of the tuned questions.
 * Those set aside are counted only, or they would be tuned on: `--spoil-set-aside` lists them too.
 */
import { answerQuestions, type Answered, lanes, type Ranking, recall } from './search/score.ts';
import { timeSearches } from './search/time-searches.ts';

const answers = answerQuestions();
const isNew = ({ isOld }: Answered) => !isOld;
const groups = {
  'set aside': answers.filter(({ isSetAside }) => isSetAside),
  'tuned, new': answers.filter((answer) => isNew(answer) && !answer.isSetAside),
  'tuned, old': answers.filter(({ isOld }) => isOld),
  'no word of the name': answers.filter(({ isIndirect }) => isIndirect),
};
const rankings: readonly Ranking[] = ['ktx', 'bm25', 'bm25WithPages'];
const figures = (of: readonly Answered[], by: Ranking) =>
  [1, 3, 10].map((first) => recall(of, by, first).toFixed(3));
const rows = Object.entries(groups).flatMap(([group, of]) =>
  rankings.map((by) => [group, String(of.length), by, ...figures(of, by)]),
);
const withoutRows = lanes.flatMap((lane) => {
  const without = answerQuestions(lane).filter(isNew);
  return [true, false].map((aside) => {
    const of = without.filter(({ isSetAside }) => isSetAside === aside);
    const group = aside ? 'set aside' : 'tuned, new';
    return [group, String(of.length), `without ${lane}`, ...figures(of, 'ktx')];
  });
});
const lines = [['questions', 'n', 'search', 'first', '3', '10'], ...rows, ...withoutRows];
for (const [group = '', ...cells] of lines)
  process.stdout.write(`${group.padEnd(22)}${cells.map((cell) => cell.padEnd(18)).join('')}\n`);
const isListed = process.argv.includes('--spoil-set-aside')
  ? () => true
  : ({ isSetAside }: Answered) => !isSetAside;
const missed = answers.filter((answer) => (answer.ktx < 0 || answer.ktx > 2) && isListed(answer));
if (process.argv.includes('--misses'))
  for (const { company, text, table, ktx } of missed)
    process.stdout.write(`${company}: ${text} → ${table}, at ${ktx}\n`);
process.stdout.write(`${timeSearches()}\n`);
