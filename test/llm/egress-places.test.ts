import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const source = join(import.meta.dirname, '../../src');
const texts = globSync('**/*.ts', { cwd: source })
  .map((file) => file.replaceAll('\\', '/'))
  .map((file) => ({ file, text: readFileSync(join(source, file), 'utf8') }));
const filesWith = (pattern: RegExp) =>
  texts.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

/** Files that make text for a model without values of a warehouse, with what they make it of. */
const textOnly: Readonly<Record<string, string>> = {
  'chat/mcp-client/external-tool.ts': 'the answer of a server that is not of ktx',
  'chat/system-prompt.ts': 'names and types of columns',
  'ingest/extract/show-items.ts': 'passages of items',
  'llm/ai-sdk/tools.ts': 'what the model answered',
  'llm/governor/agent-session.ts': 'earlier turns; it records their values itself',
  'llm/governor/answers/formatted-answer.ts': 'what the model answered',
  'llm/governor/answers/object-answer.ts': 'what the model answered',
  'mcp/resources.ts': 'dataset files, for the client',
  'tools/loops/curate.ts': 'terms and rules',
  'tools/loops/read-item.ts': 'items',
  'tools/loops/read-usage.ts': 'names of tables and columns, and counts in steps',
};

describe('the places where text for a model is made', () => {
  test('name the values in it for the ledger, or have none', () => {
    const makers = filesWith(/import \{[^}]*\b(?:untrustedBlock|untrustedMarks)\b[^}]*\} from/);
    expect(makers.length).toBeGreaterThan(12);
    const unnamed = makers.filter(
      (file) =>
        textOnly[file] === undefined &&
        !/SentValues|noValues|valuesShown|carries: 'values'/.test(
          texts.find((entry) => entry.file === file)?.text ?? '',
        ),
    );
    expect(unnamed).toEqual([]);
    expect(Object.keys(textOnly).filter((file) => !makers.includes(file))).toEqual([]);
  });

  test('reach a model only through the runtime that declares values', () => {
    const callers = filesWith(/\.(?:generateText|generateObject|runAgentLoop|runLoop)\(/);
    const outside = callers.filter((file) => !file.startsWith('llm/'));
    expect(outside.length).toBeGreaterThan(5);
    // It wraps a runtime and passes on what it gets.
    const undeclared = outside
      .filter((file) => file !== 'ingest/run-usage.ts')
      .filter((file) => {
        const text = texts.find((entry) => entry.file === file)?.text ?? '';
        return !/\bvalues(?::|,)/.test(text) || /KtxLlmRuntimePort|LlmRuntime\b/.test(text);
      });
    expect(undeclared).toEqual([]);
  });

  test('get rows and sampled values only where they are named', () => {
    const readers = filesWith(
      /\bmaxRows\b[^]*\.query\(|\.query\([^]*\bmaxRows\b|profile\??\.top\b|\.top\b/,
    );
    const towardsModels = readers.filter((file) =>
      /^(?:tools|chat|ingest\/(?:extract|decide|aggregate)|scan\/describe)\//.test(file),
    );
    // In `dry-run.ts` a query returns no rows, and what `measure-rows.ts` counts is in no answer;
    // `compare-metrics.ts` is for people, and `compare-for-model.ts` for models.
    expect(towardsModels.toSorted()).toEqual([
      'ingest/aggregate/read-cells.ts',
      'ingest/decide/compare-metrics.ts',
      'ingest/extract/proposals/dry-run.ts',
      'ingest/extract/proposals/measure-rows.ts',
      'scan/describe/shown-table.ts',
    ]);
  });
});
