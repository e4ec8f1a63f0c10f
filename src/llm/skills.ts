import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/error.ts';
import { didYouMean } from '../lib/suggest.ts';

const skillDirectory = join(import.meta.dirname, '../../skills');

/** An instruction that a loop can load when it needs it: `skills/<name>.md`. */
interface Skill {
  readonly name: string;
  readonly description: string;
  /** Stages that it is offered to. */
  readonly stages: readonly string[];
  readonly content: string;
}

export function listSkills(stage: string): Skill[] {
  const names = readdirSync(skillDirectory).flatMap((file) => /^(.+)\.md$/.exec(file)?.[1] ?? []);
  return names
    .sort()
    .map(readSkill)
    .filter(({ stages }) => stages.includes(stage));
}

/** The skill as a tool hands it out. */
export function loadSkill(
  name: string,
  stage: string,
): { readonly name: string; readonly content: string; readonly skillDirectory: string } {
  const skills = listSkills(stage);
  const found = skills.find((skill) => skill.name === name);
  if (found !== undefined) return { name, content: found.content, skillDirectory };
  const names = skills.map((skill) => skill.name);
  throw new UserError(
    'skill_unknown',
    `There is no skill ${name}. ${didYouMean(name, names) ?? `There are ${names.join(', ')}.`}`,
  );
}

function readSkill(name: string): Skill {
  const text = readFileSync(join(skillDirectory, `${name}.md`), 'utf8');
  const [, head = '', content = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];
  const value = (key: string) => new RegExp(`^${key}: (.+)$`, 'm').exec(head)?.[1]?.trim() ?? '';
  if (value('name') !== name || value('description') === '')
    throw new Error(`skills/${name}.md needs its name and a description`);
  return {
    name,
    description: value('description'),
    stages: value('stages').split(/[, ]+/),
    content: content.trim(),
  };
}
