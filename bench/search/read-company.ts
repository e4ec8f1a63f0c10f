import { readFileSync } from 'node:fs';
import type { Company, Concept } from './concept.ts';

/** Something in the systems of a company, in whose tables nobody looks for an answer. */
export interface SystemObject {
  readonly name: string;
  readonly description: string;
  /** What a page about it says. */
  readonly page: string;
}

/** A question and the mart that answers it. */
export interface Question {
  readonly text: string;
  readonly table: string;
  /** True for the questions that ranking had been tuned on before there were two halves. */
  readonly isOld: boolean;
}

export interface WholeCompany {
  readonly name: string;
  readonly concepts: readonly Concept[];
  readonly systems: readonly string[];
  readonly objects: readonly SystemObject[];
  /** Prose that names no table. */
  readonly pages: readonly string[];
  readonly questions: readonly Question[];
}

/** Adds to a company what the files of `questions/` say. */
export function readCompany({ name, systems, concepts }: Company): WholeCompany {
  const sections = readText(`${name}.txt`).split(/^## /m).slice(1).map(readSection);
  const added = sections.filter(({ description }) => description !== '');
  const others = linesOf(readText(`other-${name}.txt`));
  const old = concepts.flatMap(({ table, questions }) =>
    questions.map((text) => ({ text, table, isOld: true })),
  );
  const asked = sections.flatMap(({ table, questions }) =>
    questions.map((text) => ({ text, table, isOld: false })),
  );
  return {
    name,
    systems,
    concepts: [...concepts, ...added],
    objects: others.filter((line) => !line.startsWith('page:')).map(readObject),
    pages: others.flatMap((line) => valuesOf([line], 'page')),
    questions: [...old, ...asked],
  };
}

function readText(file: string): string {
  return readFileSync(new URL(`questions/${file}`, import.meta.url), 'utf8');
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function readSection(section: string): Concept {
  const [table = '', ...lines] = linesOf(section);
  const lists = (key: string) => valuesOf(lines, key).flatMap((value) => value.split('; '));
  return {
    table,
    description: valuesOf(lines, 'text').join(' '),
    columns: lists('columns'),
    metrics: lists('metrics'),
    page: valuesOf(lines, 'page')[0],
    questions: lines.filter((line) => line.startsWith('? ')).map((line) => line.slice(2)),
  };
}

function valuesOf(lines: readonly string[], key: string): readonly string[] {
  const start = `${key}: `;
  return lines.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length));
}

function readObject(line: string): SystemObject {
  const [, name = '', description = '', page = ''] = /^(\w+): (.*) \| (.*)$/.exec(line) ?? [];
  return { name, description, page };
}
