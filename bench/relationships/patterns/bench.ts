import { calibrationError, f1, type Score, total } from '../score.ts';
import { bestF1 } from './baselines.ts';
import { patternFamilies, type PatternUse } from './registry.ts';
import { type PatternScore, scorePatterns } from './score-patterns.ts';

/**
 * `node bench/relationships/patterns/bench.ts <use> [<part>]`
 * scores the discovery of joins on families of databases, or on those with the part in their names,
 * with a line for each database, and what the best thresholds of two simple matchers reach.
 * `--details` lists what was missed or wrong; it is refused for the final, fresh, aside, blind
 * and late families, which nothing may be tuned on.
 */
const [use = 'training', only = ''] = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const isDetailed = process.argv.includes('--details');
if (!isUse(use)) throw new Error(`${Object.keys(patternFamilies).join(', ')}, not ${use}`);
const isSetAside = ['final', 'fresh', 'aside', 'blind', 'late'].includes(use);
if (isDetailed && isSetAside && !process.argv.includes('--after-the-last-rule'))
  throw new Error('these families are only scored: --details is for the others');
const scores = await scorePatterns(use, only);
const columns = ['', 'hidden P', 'R', 'F1', 'known P', 'R', 'F1', 'names', 'containment'];
console.log(columns.join('\t'));
for (const score of scores) console.log(rowOf(score.name, [score]).join('\t'));
console.log(rowOf('micro', scores).join('\t'));
const macro = (read: (score: PatternScore) => number): string =>
  (scores.reduce((sum, score) => sum + read(score), 0) / Math.max(1, scores.length)).toFixed(3);
const hidden = macro((score) => f1(score.hidden));
const known = macro((score) => f1(score.known));
console.log(`macro F1: ${hidden} with keys hidden, ${known} with keys known`);
for (const which of ['hidden', 'known'] as const) {
  const judged = scores.flatMap((score) => score[which].judged);
  console.log(`calibration error, keys ${which}: ${calibrationError(judged).toFixed(3)}`);
  if (isDetailed) printBins(judged);
}
if (isDetailed) printFaults();

function isUse(text: string): text is PatternUse {
  return Object.keys(patternFamilies).includes(text);
}

function rowOf(name: string, list: readonly PatternScore[]): string[] {
  const links = total(list.map((score) => score.hidden)).links;
  const baseline = (read: (score: PatternScore) => PatternScore['baseline']['names']): string =>
    bestF1(list.flatMap(read), links).toFixed(3);
  return [
    name.padEnd(24),
    ...measures(list.map((score) => score.hidden)),
    ...measures(list.map((score) => score.known)),
    baseline((score) => score.baseline.names),
    baseline((score) => score.baseline.containment),
  ];
}

function measures(list: readonly Score[]): string[] {
  const sum = total(list);
  const shares = [sum.hits / Math.max(1, sum.accepted), sum.hits / Math.max(1, sum.links), f1(sum)];
  return shares.map((share) => share.toFixed(3));
}

function printBins(judged: Score['judged']): void {
  const bins = Map.groupBy(judged, ([probability]) => Math.min(9, Math.floor(probability * 10)));
  for (const [bin, pairs] of [...bins].sort(([a], [b]) => a - b)) {
    const mean = pairs.reduce((sum, [probability]) => sum + probability, 0) / pairs.length;
    const right = pairs.filter(([, isTrue]) => isTrue).length / pairs.length;
    console.log(`  .${bin}: ${pairs.length} pairs, said ${mean.toFixed(2)}, ${right.toFixed(2)}`);
  }
}

function printFaults(): void {
  for (const { name, hidden: own, known: other } of scores) {
    const lines = (score: Score, what: string): string[] => [
      ...score.missed.map((text) => `${name} ${what} missed ${text}`),
      ...score.wrong.map((text) => `${name} ${what} wrong ${text}`),
      ...score.wrongKeys.map((text) => `${name} ${what} key ${text}`),
    ];
    for (const line of [...lines(own, 'hidden'), ...lines(other, 'known')]) console.log(line);
  }
}
