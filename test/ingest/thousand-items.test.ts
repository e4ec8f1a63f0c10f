import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { IngestEvent } from '../../src/ingest/event.ts';
import { openSource } from '../../src/sources/registry.ts';
import { run, write } from '../store/git-project.ts';
import { ingestHere, shopProject, stateOf } from './ingest-project.ts';

const pages = 1000;
const pageOf = (page: number, definition: string) =>
  `# Page ${page}\n\nProse about page ${page}, which only a model could read.\n\n| Term | Definition |\n|---|---|\n| Word ${page} | ${definition} |\n`;

test('of a thousand items that did not change nothing is done; of one that did, its own work', async () => {
  const dir = shopProject();
  mkdirSync(join(dir, 'docs'));
  for (let page = 0; page < pages; page += 1)
    write(dir, `docs/page${page}.md`, pageOf(page, `What ${page} is.`));
  const ingestDocs = async () => {
    const events: IngestEvent[] = [];
    const sources = [
      {
        name: 'handbook',
        open: () => openSource({ driver: 'docs', path: 'docs' }),
        secrets: () => '',
        isAsked: true,
      },
    ];
    const report = await ingestHere(dir, { sources, onEvent: (event) => events.push(event) });
    return {
      ...report,
      steps: events.flatMap((event) =>
        event.type === 'publish_step' ? [`${event.step} ${event.path ?? ''}`] : [],
      ),
    };
  };
  expect(await ingestDocs()).toMatchObject({
    exitCode: 0,
    sources: [{ total: pages, items: { added: { length: pages } } }],
  });
  const before = stateOf(dir);
  const head = run(dir, 'rev-parse', 'HEAD');

  const unchanged = await ingestDocs();
  expect(unchanged).toMatchObject({
    commit: { none: 'unchanged' },
    steps: [],
    sources: [{ items: { added: [], changed: [], gone: [], unchanged: pages } }],
  });
  // Of the warehouse only its structure and its counts are asked for.
  expect(unchanged.connections).toMatchObject([{ profiled: 0 }]);
  expect(unchanged.queries).toBeLessThan(5);
  expect(stateOf(dir)).toEqual(before);
  expect(run(dir, 'rev-parse', 'HEAD')).toBe(head);

  write(dir, 'docs/page500.md', pageOf(500, 'Another thing altogether.'));
  const changed = await ingestDocs();
  expect(changed.sources).toMatchObject([
    { items: { changed: ['page500.md'], unchanged: pages - 1 } },
  ]);
  expect(changed.files).toEqual({
    added: [],
    removed: [],
    changed: [
      'claims/wiki.jsonl',
      'sources/handbook/index.jsonl',
      'sources/handbook/page500.md',
      'wiki/glossary.md',
    ],
  });
  expect(
    run(dir, 'diff', '--numstat', head.trim(), 'HEAD')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t').slice(0, 2).map(Number)),
  ).toEqual([
    [3, 3],
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
  rmSync(dir, { recursive: true });
});
