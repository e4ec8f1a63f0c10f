import { describe, test } from 'vitest';
import { hasSlowCases } from '../slow-suites.ts';
import { drawHistory, parseHistory, type History } from './branches/history.ts';
import { tryHistory } from './branches/play-history.ts';

// People on two or three branches, any resolution that git offers, then an ingest: the files are
// as if one had done everything in sequence, and nothing of theirs is lost.
//
// KTX_HISTORIES plays that many, KTX_HISTORY_SEED is the first seed. KTX_HISTORY plays one: a seed,
// or what a failure printed, from which steps may be taken out by hand.

function histories(): [name: string, history: History][] {
  const given = process.env['KTX_HISTORY'];
  if (given?.startsWith('{')) return [['the given one', parseHistory(given)]];
  const first = Number(given ?? process.env['KTX_HISTORY_SEED'] ?? 1);
  const count = given ? 1 : Number(process.env['KTX_HISTORIES'] ?? (hasSlowCases ? 25 : 4));
  return Array.from({ length: count }, (_, index) => [
    `seed ${first + index}`,
    drawHistory(first + index),
  ]);
}

describe('two or three branches and their merges', () => {
  test.for(histories())(
    'end in the files of one sequence, whatever the resolution: %s',
    async ([, history]) => {
      try {
        await tryHistory(history);
      } catch (error) {
        throw new Error(`KTX_HISTORY='${JSON.stringify(history)}'`, { cause: error });
      }
    },
  );
});
