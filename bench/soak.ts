import {
  boundariesOf,
  openKilling,
  randomFrom,
  randomPoint,
  type Killed,
  type Point,
} from '../test/ingest/killed-project.ts';

/**
 * `npm run soak [-- <kills> [<seed>]]` kills ingests that use a model, first at the end of each
 * stage and then at random. Exits with 1 if the next run loses anything, pays for anything twice,
 * or ends with another result than an ingest that was not killed.
 */
let wanted = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const killing = await openKilling();
const harms = ['lostClaims', 'lostNotes', 'lostEdits', 'paidTwice', 'different'] as const;
const fell = new Map<string, number>();
const outcomes: Killed[] = [];
let kills = 0;
const start = performance.now();
// If it is stopped, it still prints what it has found.
process.once('SIGINT', () => (wanted = 0));
try {
  const boundaries = boundariesOf(killing.events).values();
  const work = async () => {
    // An ingest that ended before it could be killed does not count.
    while (kills < wanted) {
      kills += 1;
      const point = boundaries.next().value ?? randomPoint(killing.events, random);
      const outcome = await killing.kill(point);
      if (outcome.fell === undefined) kills -= 1;
      tell(point, outcome);
    }
  };
  await Promise.all([work(), work()]);
} finally {
  await killing.close();
}
for (const [label, count] of [...fell].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(count).padStart(5)}  after ${label}`);
const early = outcomes.filter((outcome) => outcome.fell === undefined).length;
console.log(
  `${kills} kills in ${Math.round((performance.now() - start) / 1000)} s, seed ${seed}; ${early} runs ended before they could be killed`,
);
const counts = harms.map(
  (harm) => [harm, outcomes.reduce((sum, outcome) => sum + outcome[harm].length, 0)] as const,
);
console.log(counts.map(([harm, count]) => `${harm} ${count}`).join(', '));
process.exitCode = counts.every(([, count]) => count === 0) ? 0 : 1;

function tell(point: Point, outcome: Killed): void {
  outcomes.push(outcome);
  if (outcome.fell !== undefined) fell.set(outcome.fell, (fell.get(outcome.fell) ?? 0) + 1);
  if (harms.some((harm) => outcome[harm].length > 0))
    console.log(JSON.stringify({ point, ...outcome }));
}
