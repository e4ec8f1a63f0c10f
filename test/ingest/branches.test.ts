import { describe, test } from 'vitest';
import { hasSlowCases } from '../slow-suites.ts';
import { drawHistory, parseHistory, type History } from './branches/history.ts';
import { tryHistory } from './branches/play-history.ts';

// People on two or three branches, any resolution that git offers, then an ingest: the files are
// as if one had done everything in sequence, and nothing of theirs is lost.
//
// KTX_HISTORIES plays that many, KTX_HISTORY_SEED is the first seed. KTX_HISTORY plays one: a seed,
// or what a failure printed, from which steps may be taken out by hand.

/** The last merge took all claims out, and a branch had taken out a dataset that another joins. */
const foundOnce = `{"ours":[{"kind":"removal","at":4,"isIngested":true}],"others":[
  {"changes":[{"kind":"no dataset","at":3,"isIngested":true}],
   "how":"merge","resolution":"ours","isIngested":true,"isReverted":false},
  {"changes":[{"kind":"term","at":3,"isIngested":true}],
   "how":"merge","resolution":"no claims","isIngested":true,"isReverted":false}],
  "hasAttributes":false,"isIntoMain":false,"movesOn":false}`;

/** A squash brought a value of ktx in, and its conflicts ended with the claims of this side. */
const squashedValue = `{"ours":[{"kind":"document","at":3,"isIngested":true}],"others":[
  {"changes":[{"kind":"document","at":4,"isIngested":true},{"kind":"words","at":3,"isIngested":true}],
   "how":"squash","resolution":"ours","isIngested":true,"isReverted":false},
  {"changes":[{"kind":"new term","at":0,"isIngested":true}],
   "how":"merge","resolution":"no claims","isIngested":true,"isReverted":false}],
  "hasAttributes":false,"isIntoMain":true,"movesOn":false}`;

/** A merge brought back the file that a person had put under another name. */
const fileBack = `{"ours":[{"kind":"document","at":0,"isIngested":true},{"kind":"moved dataset","at":2,"isIngested":true}],
  "others":[{"changes":[{"kind":"document","at":3,"isIngested":true},{"kind":"table","at":2,"isIngested":true}],
   "how":"squash","resolution":"markers","isIngested":false,"isReverted":false}],
  "hasAttributes":false,"isIntoMain":true,"movesOn":false}`;

function histories(): [name: string, history: History][] {
  const given = process.env['KTX_HISTORY'];
  if (given?.startsWith('{')) return [['the given one', parseHistory(given)]];
  const first = Number(given ?? process.env['KTX_HISTORY_SEED'] ?? 1);
  const count = given ? 1 : Number(process.env['KTX_HISTORIES'] ?? (hasSlowCases ? 25 : 3));
  const drawn = Array.from({ length: count }, (_, index): [string, History] => [
    `seed ${first + index}`,
    drawHistory(first + index),
  ]);
  return [
    ['a dataset taken out, and no claims', parseHistory(foundOnce)],
    ['a value that a squash brought in', parseHistory(squashedValue)],
    ['a file that a squash brought back', parseHistory(fileBack)],
    ...drawn,
  ];
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
