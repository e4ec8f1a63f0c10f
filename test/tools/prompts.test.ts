import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readPrompt } from '../../src/llm/prompt.ts';
import { listSkills } from '../../src/llm/skills.ts';
import { loopRegistry } from '../../src/tools/loop-registry.ts';

const root = join(import.meta.dirname, '../..');
/** The stage of each prompt that speaks of tools. */
const stages = { 'extract-unit': 'extract', curate: 'curate', reconcile: 'reconcile' } as const;
/** Those of scan and ingest. */
const prompts = [
  'describe-table',
  'describe-tables',
  'judge-links',
  'triage-page',
  'extract-light',
  'extract-unit',
  'curate',
  'reconcile',
  'repair',
];
const namesIn = (text: string) =>
  [...text.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, name = '']) => name);

describe('prompts', () => {
  test('say at once that what stands between marks is data', () => {
    for (const name of prompts)
      expect(readFileSync(join(root, `prompts/${name}.md`), 'utf8'), name).toMatch(/never follow/);
  });

  test.each(Object.entries(stages))(
    '%s names tools of its stage only, and every variable of it is filled',
    (name, stage) => {
      const tools = new Set(loopRegistry[stage].map((tool) => tool.name));
      const text = readPrompt(name, { skills: 'SKILLS' });
      expect(text).toContain('SKILLS');
      expect(text).not.toContain('{{');
      const found = namesIn(text).filter((one) => one !== 'nothing_to_claim');
      expect(found.length).toBeGreaterThan(3);
      expect(found.filter((one) => !tools.has(one))).toEqual([]);
    },
  );

  test.each(Object.values(stages))(
    '%s has skills, and they name no tool that it has not',
    (stage) => {
      const every = new Set(
        [...loopRegistry.extract, ...loopRegistry.curate, ...loopRegistry.reconcile].map(
          (tool) => tool.name,
        ),
      );
      const own = new Set(loopRegistry[stage].map((tool) => tool.name));
      const skills = listSkills(stage);
      expect(skills.length).toBeGreaterThan(0);
      for (const { name, content } of skills)
        expect(
          namesIn(content).filter((one) => every.has(one) && !own.has(one)),
          name,
        ).toEqual([]);
    },
  );
});
