/**
 * How often the right table is among the first hits, for questions of three companies of more than
 * 450 tables, beside plain BM25 and without each part of the search; and how long a search takes.
 * Run it with `npm run bench:search`; `--misses` lists what was not found.
 */
import { answerQuestions, type Answered, type Lane, recall } from './search/score.ts';
import { timeSearches } from './search/time-searches.ts';

const answers = answerQuestions();
const halves = {
  'set aside': answers.filter(({ isSetAside }) => isSetAside),
  tuned: answers.filter(({ isSetAside }) => !isSetAside),
  'no word of the name': answers.filter(({ isIndirect }) => isIndirect),
};
const figures = (of: readonly Answered[], by: 'ktx' | 'bm25') =>
  [1, 3, 10].map((first) => recall(of, by, first).toFixed(2));
const rows = Object.entries(halves).flatMap(([half, of]) => [
  [half, String(of.length), 'ktx', ...figures(of, 'ktx')],
  [half, String(of.length), 'BM25', ...figures(of, 'bm25')],
]);
const lanes: readonly Lane[] = ['passages', 'members', 'priors', 'refs'];
const withoutRows = lanes.map((lane) => {
  const of = answerQuestions(lane).filter(({ isSetAside }) => isSetAside);
  return ['set aside', String(of.length), `without ${lane}`, ...figures(of, 'ktx')];
});
const lines = [['questions', 'n', 'search', 'first', '3', '10'], ...rows, ...withoutRows];
for (const [half = '', ...cells] of lines)
  process.stdout.write(`${half.padEnd(22)}${cells.map((cell) => cell.padEnd(18)).join('')}\n`);
const misses = answers.filter(({ ktx }) => ktx < 0 || ktx > 2);
if (process.argv.includes('--misses'))
  for (const { company, question, table, ktx, isSetAside } of misses)
    if (!isSetAside) process.stdout.write(`${company}: ${question} → ${table}, at ${ktx}\n`);
process.stdout.write(`${timeSearches()}\n`);
