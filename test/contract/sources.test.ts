import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSource } from '../../src/sources/registry.ts';
import { copyOf, ingestHere, shopProject } from '../ingest/ingest-project.ts';
import { read, run, write } from '../store/git-project.ts';
import { apiSources, type FarEnd } from './api-sources.ts';
import { suites } from '../slow-suites.ts';
import { hostilePayloads } from './hostile-payloads.ts';
import { configureSource, ingestInProcess, ingestUntilStep } from './source-process.ts';

let scanned: string;
beforeAll(async () => {
  scanned = shopProject();
  await ingestHere(scanned);
});

interface RunOptions {
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** An ingest of the source alone, over the recorded catalog. */
async function ingest(dir: string, far: FarEnd, { token = far.token, signal }: RunOptions = {}) {
  const open = () => openSource(far.config);
  const report = await ingestHere(dir, {
    names: [],
    otherWarehouses: ['shop'],
    sources: [{ name: 'far', open, secrets: () => token, isAsked: true }],
    ...(signal && { signal }),
  });
  const [source] = report.sources;
  return { ...report, failure: source?.failure, items: source?.items };
}

const head = (dir: string) => run(dir, 'rev-parse', 'HEAD');
const nothing = { added: [], changed: [], gone: [], failed: [] };

describe.each(Object.entries(apiSources))('%s', (_, openFarEnd) => {
  test('gives items for what changed, loses nothing to faults, and removes what a complete listing lacks', async () => {
    const far = await openFarEnd();
    const dir = copyOf(scanned);
    try {
      const first = await ingest(dir, far);
      expect(first.items?.failed).toEqual([]);
      expect(first.exitCode).toBe(0);
      expect(first.items?.added.length).toBeGreaterThan(2);

      const before = head(dir);
      expect((await ingest(dir, far)).items).toMatchObject(nothing);
      far.touch();
      const touched = await ingest(dir, far);
      expect(touched.items).toMatchObject(nothing);
      expect(touched.commit).toEqual({ none: 'unchanged' });
      expect(head(dir)).toBe(before);

      const changed = far.change();
      expect((await ingest(dir, far)).items).toMatchObject({ ...nothing, changed: [changed] });

      const removed = far.remove();
      far.faults.push({ match: far.furtherPage, times: 1, status: 500 });
      const broken = await ingest(dir, far);
      expect(broken.exitCode, JSON.stringify(broken)).toBe(3);
      expect(broken.items?.gone).toEqual([]);
      expect(existsSync(join(dir, 'sources/far', removed)), removed).toBe(true);
      expect((await ingest(dir, far)).items).toMatchObject({ ...nothing, gone: [removed] });
      expect(existsSync(join(dir, 'sources/far', removed))).toBe(false);

      far.expire();
      const refused = await ingest(dir, far);
      expect(refused.exitCode).toBe(4);
      expect(refused.failure?.hint).toContain('ktx connection test far');
      expect(JSON.stringify(refused)).not.toContain(far.token);
      expect(existsSync(join(dir, 'sources/far', changed))).toBe(true);
    } finally {
      await far.close();
    }
  });

  test('goes on after an interruption, and ends in the same files', async () => {
    const far = await openFarEnd();
    const [dir, whole] = [copyOf(scanned), copyOf(scanned)];
    far.addMany(30);
    try {
      const abort = new AbortController();
      const release = far.hold(far.lateBody);
      const interrupted = ingest(dir, far, { signal: abort.signal });
      await expect.poll(() => asked(far, far.lateBody), { timeout: 20_000 }).toBe(1);
      abort.abort(new Error('interrupted'));
      await expect(interrupted).rejects.toThrow('interrupted');
      release();
      const before = asked(far, far.bodies);
      await ingest(dir, far);
      const resumed = asked(far, far.bodies) - before;
      await ingest(whole, far);
      const anew = asked(far, far.bodies) - before - resumed;
      expect(filesOf(dir)).toEqual(filesOf(whole));
      if (far.hasVersions) expect(resumed).toBeLessThan(anew / 3);
    } finally {
      await far.close();
    }
  });

  test('takes hostile texts as texts', async () => {
    const far = await openFarEnd();
    const dir = copyOf(scanned);
    write(dir, 'secret.txt', 'canary');
    try {
      far.addMany(hostilePayloads.length);
      far.plant(hostilePayloads);
      const report = await ingest(dir, far);
      expect([0, 3]).toContain(report.exitCode);
      expect(report.items?.added.length).toBeGreaterThan(hostilePayloads.length);
      expect(foreignFiles(dir)).toEqual([]);
      expect(read(dir, 'secret.txt')).toBe('canary');
      for (const request of far.requests)
        expect(request).toMatch(/^(?:GET|POST) \/[\w/.?=&%:,~+-]*$/);
    } finally {
      await far.close();
    }
  });
});

/** In `npm test`, one source at the last steps: the items that are gone, the index, the commit. */
const published =
  suites === 'all'
    ? Object.entries(apiSources)
    : Object.entries(apiSources).filter(([name]) => name === 'notion');
const kills = suites === 'all' ? 20 : 5;

describe.each(published)('an ingest of %s', (_, openFarEnd) => {
  test('that is killed while it publishes ends in the files of a run that is not', async () => {
    const far = await openFarEnd();
    const whole = copyOf(scanned);
    try {
      await ingestUntilStep(whole, far);
      far.addMany(60);
      far.change();
      far.remove();
      const before = copyOf(whole);
      const steps = (await ingestUntilStep(whole, far)) ?? 0;
      expect(steps).toBeGreaterThan(60);
      const wanted = filesOf(whole);
      for (let kill = 0; kill < kills; kill += 1) {
        const dir = copyOf(before);
        const step = kill < 6 ? steps - kill : 1 + Math.floor(((steps - 6) * (kill - 6)) / 14);
        expect(await ingestUntilStep(dir, far, step)).toBeUndefined();
        await ingestUntilStep(dir, far);
        expect(filesOf(dir), `killed at step ${step} of ${steps}`).toEqual(wanted);
        expect(run(dir, 'status', '--porcelain'), `step ${step}`).toBe('');
      }
    } finally {
      await far.close();
    }
  });
});

/** In MB, of a whole process. */
const mostMemory = 300;

/** `npm run test:sources`: a quarter of an hour. */
describe.runIf(suites === 'all').each(Object.entries(apiSources))(
  '%s as a process',
  (_, openFarEnd) => {
    test('that is killed at 20 moments ends in the files of a run that is not', async () => {
      const far = await openFarEnd();
      far.addMany(60);
      const whole = copyOf(scanned);
      try {
        await configureSource(whole, far);
        const { code, milliseconds } = await ingestInProcess(whole, far);
        expect(code).toBe(0);
        const wanted = filesOf(whole);
        let dir: string | undefined;
        let killed = 0;
        for (let time = 0; killed < 20 && time < 60; time += 1) {
          if (dir === undefined) {
            dir = copyOf(scanned);
            await configureSource(dir, far);
          }
          const moment = milliseconds * (0.2 + 0.8 * Math.random());
          const end = await ingestInProcess(dir, far, moment);
          if (end.code === null) killed += 1;
          if (end.code !== null || killed === 20) {
            expect((await ingestInProcess(dir, far)).code).toBe(0);
            expect(filesOf(dir)).toEqual(wanted);
            // A run after this one would find nothing new, and nothing to be killed at.
            dir = undefined;
          }
        }
        expect(killed).toBe(20);
      } finally {
        await far.close();
      }
    });

    test('reads 10,000 objects in the memory that it may have', async () => {
      const far = await openFarEnd();
      const dir = copyOf(scanned);
      try {
        await configureSource(dir, far);
        far.addMany(10_000);
        const many = await ingestInProcess(dir, far);
        expect(many.code).toBe(0);
        expect(many.megabytes).toBeLessThan(mostMemory);
      } finally {
        await far.close();
      }
    });
  },
);

function asked({ requests }: FarEnd, match: RegExp): number {
  return requests.filter((request) => match.test(request)).length;
}

/** Everything that ktx keeps in git, by path. */
function filesOf(dir: string): Readonly<Record<string, string>> {
  const paths = run(dir, 'ls-files').split('\n');
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
}

/** Files at places that a source must not write to. */
function foreignFiles(dir: string): string[] {
  const own =
    /^(?:sources\/far\/(?:(?:index|settings|usage)\.jsonl|models\/\w+\.model\.lkml|(?:cards|dashboards|databases|looks|pages|segments|snippets|tables)\/\w+\.(?:jsonl|md))|sources\/shop\/[\w.]+|claims\/[\w/]+\.jsonl|semantic-layer\/[\w/]+\.yaml|wiki\/[\w-]+\.md|conflicts\.yaml|\.gitattributes|\.gitignore|ktx\.yaml|secret\.txt|shop\.sqlite)$/;
  return globSync('**/*', { cwd: dir, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\/\.(?:git|ktx)(?:\/|$)/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .filter((path) => !own.test(path));
}
