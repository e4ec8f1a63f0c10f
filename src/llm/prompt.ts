import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const promptFolder = join(import.meta.dirname, '../../prompts');

/**
 * Reads `prompts/<name>.md` and fills every `{{variable}}`. Throws if one is missing or unused:
 * that is a bug.
 */
export function readPrompt(name: string, variables: Readonly<Record<string, string>> = {}): string {
  const unused = new Set(Object.keys(variables));
  const text = readFileSync(join(promptFolder, `${name}.md`), 'utf8').trim();
  const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_mark, key: string) => {
    unused.delete(key);
    const value = variables[key];
    if (value === undefined) throw new Error(`prompts/${name}.md needs ${key}`);
    return value;
  });
  if (unused.size > 0) throw new Error(`prompts/${name}.md does not use ${[...unused].join(', ')}`);
  return filled;
}
