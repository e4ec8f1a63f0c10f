import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let isEarly = false;

/**
 * Keeps the memory of a long run small, at the price of processor time. By default, V8 lets garbage
 * pile up to four times what is in use before it collects, and gives up to 130 MB to new objects.
 * From now on, it collects once the heap has grown by so many percent. V8 reads these flags at each
 * collection: they stay for the whole process.
 */
export function collectEarly(percent: number): void {
  for (const flag of [`heap-growing-percent=${percent}`, 'semi-space-growth-factor=1'])
    setFlagsFromString(`--${flag}`);
  isEarly = true;
}

let collect: ((options: object) => void) | undefined;
/** In bytes, of the process: with less, nobody notices what garbage takes. */
const littleMemory = 150_000_000;

/**
 * Collects garbage now, if it is to be collected early: between two stages of a run, when most of
 * what the first one made is no longer in use.
 */
export function collectBetweenStages(): void {
  if (!isEarly || process.memoryUsage.rss() < littleMemory) return;
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as (options: object) => void;
  }
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
