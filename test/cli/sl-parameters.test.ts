import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

test('a value for a parameter comes by a flag or a file, and is shown', async () => {
  const cwd = await shopProject();
  mkdirSync(join(cwd, 'semantic-layer/warehouse'), { recursive: true });
  const file = `dataset: orders
source: orders
primary_key: [id]
parameters: [{name: least, type: integer, default: 1011}]
fields: [{name: id, type: integer}]
metrics: [{name: few, agg: count, where: id >= param.least}, {name: all, agg: count}]
`;
  writeFileSync(join(cwd, 'semantic-layer/warehouse/orders.yaml'), file);
  writeFileSync(
    join(cwd, 'question.yaml'),
    'metrics: [orders.few, orders.all]\nparameters: {least: 1031}\n',
  );
  const asked = ['sl', 'query', '--query-file', join(cwd, 'question.yaml')];
  expect((await ktxJson(asked, { cwd })).envelope.data).toMatchObject({
    rows: [[30, 60]],
    receipt: { parameters: { 'orders.least': 1031 } },
  });
  const flagged = await ktx([...asked, '--parameter', 'orders.least=1051'], { cwd });
  expect(flagged.stdout).toContain('10');
  expect(flagged.stderr).toContain('parameter orders.least = 1051');
  const wrong = await ktx(['sl', 'query', '-m', 'orders.few', '--parameter', 'least=many'], {
    cwd,
  });
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('least is of type integer'),
  });
  const unsaid = await ktx(['sl', 'query', '-m', 'orders.few', '--parameter', 'least'], { cwd });
  expect(unsaid).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Not name=value: least'),
  });
});
