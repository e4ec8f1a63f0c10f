import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, test } from 'vitest';
import { extractItems } from '../../src/ingest/fetch/extract-items.ts';
import type { FetchedSource } from '../../src/ingest/fetch/read-sources.ts';
import { extractInThread, parseInThread, SlowFile } from '../../src/sources/parser.ts';
import { openClaimCollector } from '../../src/sources/claim-collector.ts';
import { openSource, type OpenSource } from '../../src/sources/registry.ts';
import type { Item } from '../../src/sources/source.ts';
import { ktxJson, shopProject } from '../cli/run-cli.ts';

const context = { connection: 'handbook', catalogs: new Map() };
const { signal } = new AbortController();
const page = (key: string, body: string): Item => ({ key, path: key, body });
const words =
  'Some words that a person wrote about orders.\n\n| Term | Meaning |\n|---|---|\n| a | b |\n\n';
/** No reader is known to take long; so much text does, whatever reads it. */
const slowText = words.repeat(60_000);

const openDocs = () => openSource({ driver: 'docs', path: 'docs' });

describe('the thread that parses files', () => {
  test('gives what the source itself gives', async () => {
    const items = Array.from({ length: 20 }, (_, index) => page(`${index}.md`, words.repeat(40)));
    const docs = await openDocs();
    expect(await extractInThread(docs, items, { context, signal })).toEqual(
      docs.extract(items, context),
    );
  });

  test('gets and gives thousands of items in parts, in their order', async () => {
    const docs = await openDocs();
    const body = (index: number) =>
      `| Term | Meaning |\n|---|---|\n| t${index} | word ${index} |\n`;
    const items = Array.from({ length: 1201 }, (_, index) => page(`${index}.md`, body(index)));
    const inThread = await extractInThread(docs, items, { context, signal });
    expect(inThread.map(({ key }) => key)).toEqual(items.map(({ key }) => key));
    expect(inThread).toEqual(docs.extract(items, context));
    // Nothing of that task is left for the next one.
    const others = items.slice(0, 700);
    expect(await extractInThread(docs, others, { context, signal })).toEqual(
      docs.extract(others, context),
    );
  });

  test('is not kept after much text, whose memory would stay', async () => {
    const docs = await openDocs();
    const large = [page('a.md', words.repeat(12_000))];
    const threads: Worker[] = [];
    const count = (thread: Worker) => threads.push(thread);
    const read = () => parseInThread({ kind: 'yaml', text: 'a: 1' }, { signal });
    await read();
    process.on('worker', count);
    try {
      await read();
      expect(threads.length).toBe(0);
      await extractInThread(docs, large, { context, signal });
      await read();
      await read();
    } finally {
      process.off('worker', count);
    }
    expect(threads.length).toBe(1);
  });

  test('ends with the signal', async () => {
    const docs = await openDocs();
    const controller = new AbortController();
    const work = extractInThread(docs, [page('a.md', slowText)], {
      context,
      signal: controller.signal,
    });
    await new Promise((done) => setTimeout(done, 400));
    const start = performance.now();
    controller.abort(new Error('stopped'));
    await expect(work).rejects.toThrow('stopped');
    expect(performance.now() - start).toBeLessThan(5000);
    const yaml = parseInThread({ kind: 'yaml', text: 'a: [' }, { signal });
    expect(await yaml).toMatchObject({ line: 1 });
  });

  test('ends at the limit of a file, and names it', async () => {
    const docs = await openDocs();
    const items = [page('a.md', words), page('slow.md', slowText), page('z.md', words)];
    const work = extractInThread(docs, items, { context, signal, longest: 300 });
    await expect(work).rejects.toMatchObject({
      index: 1,
      message: expect.stringContaining('0.3 s'),
    });
    await expect(work).rejects.toBeInstanceOf(SlowFile);
  });

  test('tells a fault of an artifact as the reader does', async () => {
    const bytes = Buffer.from('{"nodes": ');
    const work = parseInThread({ kind: 'artifact', name: 'manifest', bytes }, { signal });
    await expect(work).rejects.toThrow('not JSON');
  });
});

describe('an item that takes too long', () => {
  const options = { context, signal, longest: 300 };
  const fetchedFrom = (source: OpenSource, items: Item[], stored: Item[]): FetchedSource => ({
    input: {
      name: 'handbook',
      open: async () => Promise.resolve(source),
      isAsked: true,
      secrets: () => '',
    },
    source,
    items,
    stored,
    recorded: [],
    report: {
      items: {
        listing: { complete: true },
        added: items.map(({ key }) => key).filter((key) => !stored.some((old) => old.key === key)),
        changed: stored.map(({ key }) => key),
        gone: [],
        failed: [],
        unchanged: 0,
      },
    },
  });

  test('is left out if it is new, and stays as it was if it has changed', async () => {
    const docs = await openDocs();
    const [slow, good] = [page('slow.md', slowText), page('good.md', words)];
    const first = await extractItems(fetchedFrom(docs, [good, slow], []), options);
    expect(first.fetched.items).toEqual([good]);
    expect(first.fetched.report.items).toMatchObject({
      added: ['good.md'],
      failed: [{ key: 'slow.md', reason: expect.stringContaining('longer than 0.3 seconds') }],
    });
    const before = page('slow.md', words);
    const second = await extractItems(fetchedFrom(docs, [good, slow], [before]), options);
    expect(second.fetched.items).toEqual([good, before]);
    expect(second.extractions.map(({ key }) => key)).toEqual(['good.md', 'slow.md']);
    expect(second.fetched.report.items).toMatchObject({ changed: [], unchanged: 1 });
  });

  test('is an error if nothing else is there to take its place', async () => {
    const docs = await openDocs();
    const slow = page('slow.md', slowText);
    await expect(extractItems(fetchedFrom(docs, [slow], [slow]), options)).rejects.toMatchObject({
      code: 'source_too_slow',
      message: expect.stringContaining('slow.md'),
    });
  });
});

describe('an ingest', () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await shopProject();
    mkdirSync(join(cwd, 'docs'));
    const add = ['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'];
    expect((await ktxJson(add, { cwd })).envelope.error).toBeUndefined();
  });

  test('parses large documents in the thread, and keeps them', async () => {
    writeFileSync(join(cwd, 'docs/a.md'), words.repeat(2000));
    const { envelope } = await ktxJson(['ingest', 'handbook'], { cwd });
    expect(envelope.error).toBeUndefined();
    expect(readFileSync(join(cwd, 'sources/handbook/a.md'), 'utf8')).toContain('Some words');
  });
});

test('what one line says is one piece of evidence, however many claims it makes', () => {
  const items = [page('a.md', words)];
  const collector = openClaimCollector(items, { connection: 'handbook', extractor: 'docs@1' });
  const claim = { subject: 'term:a', kind: 'title', body: 'a' } as const;
  const places = [{ line: 1 }, { line: 1 }, { line: 1, quote: 'a' }, { line: 2, quote: 'a' }];
  for (const place of places) collector.addClaim({ key: 'a.md', ...place }, claim);
  collector.addClaim({ key: 'a.md', line: 2, quote: 'a' }, { ...claim, confidence: 0.5 });
  const [extraction] = collector.extractions();
  const evidence = (extraction?.claims ?? []).flatMap((made) => made.evidence);
  expect(evidence.map(({ location, quote, confidence }) => [location, quote, confidence])).toEqual([
    ['line 1', undefined, 1],
    ['line 1', undefined, 1],
    ['line 1', 'a', 1],
    ['line 2', 'a', 1],
    ['line 2', 'a', 0.5],
  ]);
  expect(new Set(evidence).size).toBe(4);
});
