import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  boundariesOf,
  openKilling,
  randomFrom,
  randomPoint,
  type Killed,
  type Killing,
  type Point,
} from '../ingest/killed-project.ts';

let killing: Killing;
beforeAll(async () => {
  killing = await openKilling();
});
afterAll(() => killing.close());

/**
 * Steps in the midst of publishing at which a model makes no difference; `publish-crash.test.ts`
 * kills at every one of them.
 */
const killedWithoutModel = ['file_written', 'base_recorded', 'file_removed', 'index_refreshed'].map(
  (step) => `publish_step ${step}`,
);

const nothing = { lostEdits: [], lostNotes: [], lostClaims: [], paidTwice: [], different: [] };

/** Two at a time. */
async function killedAt(points: readonly Point[]): Promise<[Point, Killed][]> {
  const queue = points.values();
  const outcomes: [Point, Killed][] = [];
  const work = async () => {
    for (const point of queue) outcomes.push([point, await killing.kill(point)]);
  };
  await Promise.all([work(), work()]);
  return outcomes;
}

describe('an ingest with a model that is killed', () => {
  test('at the end of any stage loses nothing and pays for nothing twice; the next run ends where an unkilled one does', async () => {
    const points = boundariesOf(killing.events).filter(
      ({ label }) => !killedWithoutModel.includes(label),
    );
    expect(points.map(({ label }) => label)).toEqual([
      'scan_progressed links',
      'description_progressed',
      'items_fetched',
      'work_unit_finished triage',
      'work_unit_finished light',
      'work_unit_step',
      'work_unit_finished extract',
      'curate_step',
      'reconcile_step',
      'publish_step claims_written',
      'publish_step commit_made',
      'published',
      'work_unit_step',
      'llm_usage',
    ]);
    for (const [point, outcome] of await killedAt(points))
      expect(outcome, JSON.stringify(point)).toEqual({ fell: point.label, ...nothing });
  });

  test('at any other point does so too', async () => {
    const seed = Number(process.env['KTX_SOAK_SEED'] ?? Date.now() % 1_000_000);
    console.log(`killed at random: KTX_SOAK_SEED=${seed}`);
    const random = randomFrom(seed);
    const points = Array.from({ length: 10 }, () => randomPoint(killing.events, random));
    for (const [point, outcome] of await killedAt(points))
      expect(outcome, `seed ${seed}, ${JSON.stringify(point)}`).toMatchObject(nothing);
  });
});
