import { YAMLException } from 'js-yaml';
import type { z } from 'zod';
import { locateFindings } from '../diagnostic.ts';
import { UserError } from '../error.ts';
import { checkSchema, problemText } from '../schema-check.ts';
import { readYaml } from './read-yaml.ts';

interface YamlText {
  /** The path, as the error shows it. */
  readonly file: string;
  readonly text: string;
  /** Code and hint of the error. */
  readonly code: string;
  readonly hint: string;
}

/**
 * Parses YAML and validates it. Throws a `UserError` that lists each problem with file, line,
 * column and the nearest valid name.
 */
export async function parseYaml<T>(schema: z.ZodType<T>, yaml: YamlText): Promise<T> {
  const { data, problems } = checkSchema(schema, loadYaml(yaml));
  if (problems === undefined) return data;
  const findings = problems.map((problem) => ({
    ...problem,
    file: yaml.file,
    severity: 'error' as const,
    hint: undefined,
    message: problemText(problem),
  }));
  throw yamlError(yaml, await locateFindings(yaml.text, findings));
}

function loadYaml(yaml: YamlText): unknown {
  const { file, text } = yaml;
  try {
    return readYaml(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (text.trim() === '')
      throw yamlError(yaml, [{ line: 1, column: 1, message: `${file} is empty` }]);
    // An error without a mark is about a second document.
    const secondDocument = { line: Math.max(text.split('\n').lastIndexOf('---'), 0), column: 0 };
    const { line, column } = error.mark ?? secondDocument;
    const message = `this is not YAML: ${error.reason}`;
    throw yamlError(yaml, [{ line: line + 1, column: column + 1, message }]);
  }
}

function yamlError(
  { file, code, hint }: YamlText,
  located: readonly { line: number; column: number; message: string }[],
): UserError {
  const problems = located.map(({ line, column, message }) => ({ file, line, column, message }));
  const lines = problems.map(
    ({ line, column, message }) => `${file}:${line}:${column}: ${message}`,
  );
  return new UserError(code, lines.join('\n'), { hint, exitCode: 2, details: { problems } });
}
