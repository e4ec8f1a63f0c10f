import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../prompts');

/** The text of `prompts/<name>.md`, with every `{{variable}}` filled; a variable too many or too few is a defect. */
export function readPrompt(name: string, variables: Readonly<Record<string, string>> = {}): string {
  const unused = new Set(Object.keys(variables));
  const text = readFileSync(join(folder, `${name}.md`), 'utf8').trim();
  const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_mark, key: string) => {
    unused.delete(key);
    const value = variables[key];
    if (value === undefined) throw new Error(`prompts/${name}.md needs ${key}`);
    return value;
  });
  if (unused.size > 0) throw new Error(`prompts/${name}.md does not use ${[...unused].join(', ')}`);
  return filled;
}
