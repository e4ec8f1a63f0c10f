import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const source = join(import.meta.dirname, '../../src');
const files = globSync('**/*.ts', { cwd: source }).map((file) => file.replaceAll('\\', '/'));
const texts = new Map(files.map((file) => [file, readFileSync(join(source, file), 'utf8')]));
const isModelPackage = (name: string): boolean =>
  /^(?:ai|@ai-sdk\/.*|@anthropic-ai\/.*)$/.test(name);

/** What a file imports: all of it, or only what is loaded with the file itself. */
function importsOf(file: string, which: 'any' | 'static'): string[] {
  const text = texts.get(file) ?? '';
  const loaded = [
    ...text.matchAll(/^(?:import|export)(?! type)[^;]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm),
  ];
  if (which === 'static') return loaded.map(([, named, bare]) => named ?? bare ?? '');
  return [...text.matchAll(/(?:\bfrom\s+|\bimport\(\s*|^import\s+)'([^']+)'/gm)].map(
    ([, name = '']) => name,
  );
}

/** Packages that come with a file, through all that it imports statically. */
function packagesWith(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return importsOf(file, 'static').flatMap((name) =>
    name.startsWith('.')
      ? packagesWith(join(dirname(file), name).replaceAll('\\', '/'), seen)
      : [name],
  );
}

describe('model SDKs', () => {
  test('are imported by files of llm/ only [M7]', () => {
    const importers = files.filter((file) => importsOf(file, 'any').some(isModelPackage));
    expect(importers.length).toBeGreaterThan(3);
    expect(importers.filter((file) => !file.startsWith('llm/'))).toEqual([]);
  });

  test('load with no command, only with the dynamic import of a backend [C13 P5]', () => {
    const commands = files.filter((file) => !file.startsWith('llm/'));
    expect(packagesWith('cli/main.ts').length).toBeGreaterThan(0);
    expect(packagesWith('llm/ai-sdk/backend.ts').some(isModelPackage)).toBe(true);
    expect(commands.filter((file) => packagesWith(file).some(isModelPackage))).toEqual([]);
    expect(packagesWith('llm/factory.ts').filter(isModelPackage)).toEqual([]);
  });
});

describe('the port', () => {
  test('is declared once, in one file [P14]', () => {
    const names = [
      'KtxLlmRuntimePort',
      'AgentRunnerPort',
      'KtxRuntimeToolDescriptor',
      'RunLoopParams',
      'RunLoopResult',
    ];
    const declared = names.map((name) =>
      files.filter((file) =>
        new RegExp(`(?:interface|type|class) ${name}\\b[^;]*[{=]`).test(texts.get(file) ?? ''),
      ),
    );
    expect(declared).toEqual(names.map(() => ['llm/port/runtime.ts']));
  });

  test('hides who answers: no file that calls a model names a backend; Claude Code is not a LanguageModel [P4]', () => {
    const callers = files.filter(
      (file) =>
        /\.(?:generateText|generateObject|runAgentLoop|runLoop)\b/.test(texts.get(file) ?? '') &&
        !file.startsWith('llm/'),
    );
    expect(callers.length).toBeGreaterThan(0);
    expect(
      callers.filter((file) =>
        /'(?:claude-code|anthropic|vertex|gateway|openai|bedrock)'/.test(texts.get(file) ?? ''),
      ),
    ).toEqual([]);
    const adapter = files.filter((file) => file.startsWith('llm/claude-code/'));
    expect(adapter.length).toBeGreaterThan(0);
    expect(adapter.filter((file) => /LanguageModel|from 'ai'/.test(texts.get(file) ?? ''))).toEqual(
      [],
    );
  });
});
