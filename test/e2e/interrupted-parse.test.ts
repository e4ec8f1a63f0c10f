import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ktxJson, shopProject } from '../cli/run-cli.ts';
import { startKtx } from '../support/ktx-process.ts';

test('Ctrl-C ends an ingest while files are parsed', async () => {
  const cwd = await shopProject();
  mkdirSync(join(cwd, 'docs'));
  const add = ['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'];
  expect((await ktxJson(add, { cwd })).envelope.error).toBeUndefined();
  const words = '| Term | Meaning |\n|---|---|\n| a | b |\n\nSome words that a person wrote.\n\n';
  const page = words.repeat(Math.floor(1_900_000 / words.length));
  for (let index = 0; index < 40; index += 1) writeFileSync(join(cwd, `docs/${index}.md`), page);
  const started = startKtx(['ingest', 'handbook', '--json'], { cwd, env: process.env });
  let isOver = false;
  void started.ended.then(() => (isOver = true));
  // Parsing 76 MB takes at least several times as long as this, and the ingest reaches it earlier.
  await new Promise((done) => setTimeout(done, 8000));
  expect(isOver).toBe(false);
  const start = performance.now();
  started.interrupt();
  const { code } = await started.ended;
  expect(code).toBe(130);
  expect(performance.now() - start).toBeLessThan(15_000);
});
