import { Dice } from '../../conformance/seeded.ts';
import { doctor, operators, textOf, type DoctoredAnswer } from './doctor.ts';
import { englishTemplates } from './templates-english.ts';
import { otherTemplates } from './templates-other.ts';
import type { HonestAnswer, Template } from './template.ts';

interface DoctoredCase extends HonestAnswer, DoctoredAnswer {
  readonly template: string;
  readonly operator: string;
}

interface HonestCase extends HonestAnswer {
  readonly template: string;
  readonly text: string;
}

export interface AnswerSet {
  readonly honest: readonly HonestCase[];
  readonly doctored: readonly DoctoredCase[];
}

const worldsPerTemplate = 6;

/**
 * Half of the templates, alternating by name. `held` was set aside before the first run; the second
 * version of the grounding was tuned on both.
 */
export function answerSet(half: 'tuning' | 'held'): AnswerSet {
  const templates = [...englishTemplates, ...otherTemplates]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .filter((_, index) => (index % 2 === 0) === (half === 'tuning'));
  const sets = templates.map(setOf);
  return {
    honest: sets.flatMap(({ honest }) => honest),
    doctored: sets.flatMap(({ doctored }) => doctored),
  };
}

/** Each template on several worlds; each answer also with every fault that it can have. */
function setOf(template: Template): AnswerSet {
  const honest: HonestCase[] = [];
  const doctored: DoctoredCase[] = [];
  for (let world = 0; world < worldsPerTemplate; world += 1) {
    const dice = new Dice(seedOf(template.id) + world);
    const answer = template.make(dice);
    honest.push({ ...answer, template: template.id, text: textOf(answer.parts) });
    for (const operator of operators) {
      const faulty = doctor(answer.parts, operator, dice);
      if (faulty !== undefined)
        doctored.push({ ...answer, ...faulty, template: template.id, operator });
    }
  }
  return { honest, doctored };
}

function seedOf(id: string): number {
  return Array.from(id).reduce((seed, character) => (seed * 31 + character.charCodeAt(0)) | 0, 7);
}
