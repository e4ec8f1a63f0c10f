import { afterAll, beforeAll, expect, test } from 'vitest';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import { openProject } from '../../src/project/open/open.ts';
import { loopTools } from '../../src/tools/loop-tools.ts';
import { read, write } from '../store/git-project.ts';
import { approve } from '../support/approve.ts';
import { fail, type ModelCall, reply, say } from '../support/model-script.ts';
import { readingAsked } from '../support/reading-model.ts';
import { documentedShop, type ModelMachine, openMachine } from './llm-project.ts';

let machine: ModelMachine;
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine.close());

function projectWithModels(names: readonly string[]): string {
  const dir = documentedShop(machine, 'anthropic', {});
  const models = 'models: {driver: dbt, path: dbt}';
  const config = read(dir, 'ktx.yaml').replace('handbook: {driver: docs, path: docs}', models);
  write(dir, 'ktx.yaml', config);
  const dbt = 'name: shop\nversion: "1"\nprofile: shop\nmodel-paths: [models]\n';
  write(dir, 'dbt/dbt_project.yml', dbt);
  for (const name of names)
    write(dir, `dbt/models/${name}.sql`, `select distinct id, '${name}' as kind from raw.orders\n`);
  return dir;
}

test('items that are too long together are read by halves, one that is too long alone is named, and nothing is read twice', async () => {
  const dir = projectWithModels(['m1', 'm2', 'm3', 'm4', 'm5', 'm6']);
  const units: string[] = [];
  const reported: string[] = [];
  machine.endpoint.fallback = (call: ModelCall) => {
    const unit = readingAsked(call);
    if (unit?.stage !== 'extract') return fail('bad-request');
    const items = unit.items.map(({ item }) => item.replace(/^.*\/(m\d).*$/, '$1'));
    if (unit.turn === 1) units.push(items.join(' '));
    if (items.includes('m5') && items.length < 3) return fail('too-long');
    if (unit.turn > 1) return items.length > 2 ? fail('too-long') : say('Done.');
    // A long unit gets as far as its second item.
    const told = unit.items.slice(0, 2);
    const finished = items.length > 2 ? items.slice(0, 1) : items;
    reported.push(...finished);
    return reply(
      told.map(({ item }) => ({
        tool: 'report_unmapped',
        input: { item, reason: 'not_computable', what: 'How loyal they are.' },
      })),
    );
  };
  await approve(dir);
  const project = await openProject(dir);
  try {
    const report = await ingestProject(project, {
      connections: ['models'],
      signal: AbortSignal.timeout(60_000),
      tools: loopTools(project),
    });
    const halves = ['m2 m3 m4', 'm3', 'm4', 'm5 m6', 'm5', 'm6'];
    expect(units).toEqual(['m1 m2 m3 m4 m5 m6', ...halves]);
    // Each but the one that is too long alone was read, once.
    expect(reported.toSorted()).toEqual(['m1', 'm2', 'm3', 'm4', 'm6']);
    expect(report.exitCode).toBe(3);
    expect(JSON.stringify(report)).toContain('m5.sql');
    expect(report.stages).toMatchObject([{ stage: 'extract', done: 5, pending: 1 }]);
  } finally {
    await project.close();
  }
});
