import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { generateScripts } from '../test/differential/generate.ts';
import { openPlayer, type Player } from '../test/differential/player.ts';
import { openaiGaps, type ResponseScript } from '../test/differential/response-script.ts';
import { shrink } from '../test/differential/shrink.ts';
import { judge, type Verdict } from '../test/differential/verdict.ts';

/**
 * `npm run differential [-- --seed=N --only=ID,… --class=WORDS --workers=N --shrink]` plays every
 * generated script of a model provider on each backend. Exits with 1 if two backends differ in a
 * way that docs/llm.md does not name.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    class: { type: 'string' },
    workers: { type: 'string', default: String(Math.max(2, availableParallelism())) },
    minutes: { type: 'string', default: '30' },
    shrink: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const only = values.only?.split(',');
const scripts = generateScripts(seed).filter(
  ({ id, classes }) =>
    (only === undefined || only.includes(id)) &&
    (values.class === undefined || classes.join(' ').includes(values.class)),
);
const deadline = performance.now() + Number(values.minutes) * 60_000;
const verdicts: Verdict[] = [];
const player = await openPlayer();
try {
  // The classes are mixed, so that a run that is out of time has seen something of each.
  const left = scripts.toSorted((a, b) => mixed(a) - mixed(b)).values();
  await Promise.all(Array.from({ length: Number(values.workers) }, () => work(player, left)));
  await playAgain(player);
} finally {
  await player.close();
}
printTable();
process.exitCode =
  verdicts.length === scripts.length && verdicts.every(({ unnamed }) => unnamed.length === 0)
    ? 0
    : 1;

async function work(on: Player, left: Iterator<ResponseScript>): Promise<void> {
  for (;;) {
    const { value: script, done } = left.next();
    if (done === true || performance.now() > deadline) return;
    const verdict = await judge(on, script);
    verdicts.push(verdict);
    if (verdict.unnamed.length > 0) await tell(on, verdict);
    if (only !== undefined)
      console.log(JSON.stringify(Object.fromEntries(verdict.played), null, 2));
  }
}

/**
 * Plays those that differ once more, one at a time: on a busy machine a program may not even start
 * in time. A difference that is none then was of the machine, and both counts are printed.
 */
async function playAgain(on: Player): Promise<void> {
  const differing = verdicts.filter(({ unnamed }) => unnamed.length > 0);
  if (differing.length === 0) return;
  console.log(`\n${differing.length} differ, and are played again, one at a time.`);
  for (const verdict of differing) {
    const again = await judge(on, verdict.script);
    verdicts[verdicts.indexOf(verdict)] = again;
    if (again.unnamed.length > 0) await tell(on, again);
  }
}

function mixed({ id }: ResponseScript): number {
  return (Number(id) * 97) % 449;
}

async function tell(on: Player, { script, unnamed }: Verdict): Promise<void> {
  const fails = async (smaller: ResponseScript): Promise<boolean> =>
    (await judge(on, smaller)).unnamed.length > 0;
  const smallest = values.shrink ? await shrink(script, fails) : script;
  const { id, classes, operation, ...rest } = smallest;
  console.log(`\n${id} ${operation}: ${classes.join(', ')}`);
  for (const { subject, field, expected, actual } of unnamed)
    console.log(
      `  ${subject} ${field}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`,
    );
  console.log(`  ${JSON.stringify(rest)}`);
  console.log(`  npm run differential -- --seed=${seed} --only=${id}`);
}

function printTable(): void {
  const byClass = Map.groupBy(verdicts, ({ script }) => script.classes[0] ?? '');
  console.log('\nclass          scripts  differ  named');
  for (const [name, some] of byClass) {
    const differ = some.filter(({ unnamed }) => unnamed.length > 0).length;
    const named = some.filter((one) => one.named.length > 0).length;
    console.log(`${name.padEnd(14)} ${pad(some.length)}  ${pad(differ, 6)}  ${pad(named, 5)}`);
  }
  for (const [gap, reason] of Object.entries(openaiGaps)) {
    const count = verdicts.filter(({ leftOut }) => leftOut === gap).length;
    console.log(`${count} scripts not over OpenAI's protocol (${gap}): ${reason}`);
  }
  const differ = verdicts.filter(({ unnamed }) => unnamed.length > 0).length;
  const seconds = Math.round(performance.now() / 1000);
  console.log(
    `${verdicts.length} of ${scripts.length} scripts in ${seconds} s, seed ${seed}: ${differ} differ`,
  );
}

function pad(count: number, width = 7): string {
  return String(count).padStart(width);
}
