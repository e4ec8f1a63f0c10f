import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder, ktx, ktxJson, shopDatabase } from './run-cli.ts';

test('a source under another name is named until it is forgotten, and what the new one says stays', async () => {
  const cwd = folder();
  const read = (path: string) => readFileSync(join(cwd, path), 'utf8');
  shopDatabase(join(cwd, 'shop.db'));
  mkdirSync(join(cwd, 'docs'));
  writeFileSync(
    join(cwd, 'docs/words.md'),
    '| Term | Definition |\n|---|---|\n| Margin | What is left. |\n',
  );
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  await ktx(['connection', 'add', 'handbook', '--driver', 'docs', '--path', 'docs'], { cwd });
  expect(await ktx(['ingest'], { cwd })).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('no longer in ktx.yaml'),
  });
  expect(await ktx(['ingest', '--forget', 'handbook'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a removed source'),
  });

  writeFileSync(join(cwd, 'ktx.yaml'), read('ktx.yaml').replace('handbook:', 'rules:'));
  const renamed =
    'handbook: no longer in ktx.yaml, but its 1 item still counts. To remove: ktx ingest --forget handbook';
  expect(await ktx(['ingest', 'rules'], { cwd })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(renamed),
  });
  expect((await ktx(['status', '--fast'], { cwd })).stdout).toContain(renamed);
  const evidence = () => read('claims/wiki.jsonl').match(/sources\/\w+\/words.md/g);
  expect(new Set(evidence())).toEqual(
    new Set(['sources/handbook/words.md', 'sources/rules/words.md']),
  );

  const forgotten = await ktxJson(['ingest', '--forget', 'handbook'], { cwd });
  expect(forgotten).toMatchObject({
    code: 0,
    envelope: { data: { former: [], connections: [] } },
  });
  expect(new Set(evidence())).toEqual(new Set(['sources/rules/words.md']));
  expect(read('wiki/glossary.md')).toContain('## Margin');
  expect(existsSync(join(cwd, 'sources/handbook/index.jsonl'))).toBe(false);
  expect((await ktx(['status', '--fast'], { cwd })).stdout).not.toContain('handbook');
});
