import { describe, expect, test } from 'vitest';
import type { LlmRuntime } from '../../src/llm/governor/govern.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { missing, openRuntime, subjects, type TestRuntime } from '../support/llm-runtimes.ts';
import { drop, say } from '../support/model-script.ts';
import { openTestMachine } from '../support/test-machine.ts';

const { endpoint, machine } = await openTestMachine();

const attempts = 4;
const concurrency = 4;
const calls = 30;

const askAll = (runtime: LlmRuntime, prompt: string, count = calls) =>
  Promise.allSettled(
    Array.from({ length: count }, () => runtime.generateText({ role: 'triage', prompt })),
  );
const requests = ({ records }: TestRuntime): number =>
  records.reduce((sum, { metrics }) => sum + metrics.apiCalls, 0);

const ofRun = subjects.filter((subject) => subject !== 'claude-code' || hasSlowCases);

describe.each(ofRun)('a network that is away, on %s', (subject) => {
  const isMissing = missing(subject) !== undefined;
  const open = (retries = {}) =>
    openRuntime(subject, endpoint, {
      machine,
      concurrency,
      retries: { attempts, first_pause_seconds: 0.2, ...retries },
    });

  test.skipIf(isMissing)('is detected by one call for all that wait', async () => {
    const opened = await open();
    const { marker } = endpoint.start(() => drop);
    const ends = await askAll(opened.runtime, `Case ${marker}.`);
    // A later stage tries once more, and waits no more.
    const later = await askAll(opened.runtime, `Case ${marker}.`, 1);
    await opened.runtime.close();
    for (const end of [...ends, ...later])
      expect(end).toMatchObject({
        reason: {
          kind: 'network',
          endsRun: true,
          exitCode: 1,
          message: expect.stringMatching(/^The model provider cannot be reached\./),
          hint: expect.stringContaining('Check the network'),
        },
      });
    // The attempts of one call, the first requests of those beside it, and the later one.
    expect(requests(opened)).toBeLessThanOrEqual(attempts + concurrency - 1 + 1);
    expect(opened.pauses.length).toBeLessThan(attempts);
  });

  test.skipIf(isMissing)('that comes back lets every waiting call go on', async () => {
    const opened = await open();
    const { marker } = endpoint.start(({ n }) => (n <= concurrency + 1 ? drop : say('Done.')));
    const ends = await askAll(opened.runtime, `Case ${marker}.`, 8);
    await opened.runtime.close();
    expect(ends.every(({ status }) => status === 'fulfilled')).toBe(true);
  });

  test.skipIf(isMissing)('is not suspected when only one of the calls fails', async () => {
    const opened = await open();
    const fine = endpoint.start(() => say('Done.'));
    const bad = endpoint.start(() => drop);
    const [[failed], others] = await Promise.all([
      askAll(opened.runtime, `Case ${bad.marker}.`, 1),
      askAll(opened.runtime, `Case ${fine.marker}.`, 4),
    ]);
    await opened.runtime.close();
    expect(others.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(failed).toMatchObject({ reason: { kind: 'network', endsRun: false } });
    expect(bad.calls).toHaveLength(attempts);
  });

  test.skipIf(isMissing)('is not suspected when answers break off', async () => {
    const opened = await open({ attempts: 1 });
    const bothCame = Promise.withResolvers<void>();
    // Both answers have begun before one of them breaks off.
    const { marker } = endpoint.start(async ({ n }) => {
      if (n === 2) bothCame.resolve();
      await bothCame.promise;
      return { ...say('This answer breaks off.'), cut: true, dripMs: 100 };
    });
    const ends = await askAll(opened.runtime, `Case ${marker}.`, 2);
    await opened.runtime.close();
    for (const end of ends)
      expect(end).toMatchObject({ reason: { kind: 'network', endsRun: false } });
  });
});
