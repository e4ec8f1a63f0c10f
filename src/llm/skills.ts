import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/error.ts';
import { didYouMean } from '../lib/suggest.ts';

const skillDirectory = join(import.meta.dirname, '../../skills');

/** An instruction that an agent loop can load when it needs it: `skills/<name>.md`. */
interface Skill {
  readonly name: string;
  readonly description: string;
  /** The stages whose loops can load it. */
  readonly stages: readonly string[];
  readonly content: string;
}

/** The skills of one stage, sorted by name. */
export function listSkills(stage: string): Skill[] {
  const names = readdirSync(skillDirectory).flatMap((file) => /^(.+)\.md$/.exec(file)?.[1] ?? []);
  return names
    .sort()
    .map(readSkill)
    .filter(({ stages }) => stages.includes(stage));
}

/** Loads a skill in the form that a tool returns it. Throws if the stage has no such skill. */
export function loadSkill(
  name: string,
  stage: string,
): { readonly name: string; readonly content: string; readonly skillDirectory: string } {
  const skills = listSkills(stage);
  const skill = skills.find((candidate) => candidate.name === name);
  if (skill !== undefined) return { name, content: skill.content, skillDirectory };
  const names = skills.map((known) => known.name);
  throw new UserError(
    'skill_unknown',
    `There is no skill ${name}. ${didYouMean(name, names) ?? `The skills are ${names.join(', ')}.`}`,
  );
}

function readSkill(name: string): Skill {
  const text = readFileSync(join(skillDirectory, `${name}.md`), 'utf8');
  const [, head = '', content = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];
  const value = (key: string) => new RegExp(`^${key}: (.+)$`, 'm').exec(head)?.[1]?.trim() ?? '';
  if (value('name') !== name || value('description') === '')
    throw new Error(`skills/${name}.md needs a name and a description`);
  return {
    name,
    description: value('description'),
    stages: value('stages').split(/[, ]+/),
    content: content.trim(),
  };
}
